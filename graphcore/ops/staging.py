"""Staging areas and maps as ops: Stage, Unstage, MapStage, OrderedMapStage and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..op import op
from ..shapes import format_shape
from ..staging import StagingArea, StagingMap
from . import rules

_NO_GRAD = "what goes through a staging area is not differentiated"
_BOUNDS = ("capacity: int >= 0 = 0", "memory_limit: int >= 0 = 0")
_NAMES = ("container: string = ''", "shared_name: string = ''")


def _area(ctx: Any, node: Any) -> StagingArea:
    """The area of a node: of its shared name, else its own."""
    name = node.attr("shared_name").decode() or node.name
    area: StagingArea = ctx.state.resource(
        "staging area",
        node.attr("container").decode(),
        name,
        lambda: StagingArea(name, node.attr("capacity"), node.attr("memory_limit")),
    )
    return area


def _map(ctx: Any, node: Any) -> StagingMap:
    ordered = node.type.startswith("Ordered")
    name = node.attr("shared_name").decode() or node.name
    found: StagingMap = ctx.state.resource(
        "ordered staging map" if ordered else "staging map",
        node.attr("container").decode(),
        name,
        lambda: StagingMap(
            name, len(node.attr("dtypes")), node.attr("capacity"), node.attr("memory_limit"), ordered
        ),
    )
    return found


def _stage(ctx: Any, values: list[Any], *, node: Any) -> None:
    """Puts a tuple of tensors."""
    _area(ctx, node).put(ctx, values)


def _unstage(ctx: Any, *, node: Any) -> list[Any]:
    """Takes the oldest tuple."""
    return _checked(_area(ctx, node).get(ctx), node)


def _stage_peek(ctx: Any, index: Any, *, node: Any) -> list[Any]:
    """The tuple at a place, which stays."""
    return _checked(_area(ctx, node).peek(ctx, int(index)), node)


def _stage_size(ctx: Any, *, node: Any) -> Any:
    """How many tuples there are."""
    return np.array(len(_area(ctx, node)), np.int32)


def _stage_clear(ctx: Any, *, node: Any) -> None:
    """Forgets all tuples."""
    _area(ctx, node).clear()


def _checked(values: list[Any], node: Any) -> list[Any]:
    """The values, if they are as many and of the dtypes that the node declares."""
    wanted = [dtype.np for dtype in node.attr("dtypes")]
    found = [getattr(value, "dtype", np.dtype(object)) for value in values]
    if found != wanted:
        raise InvalidArgumentError(
            f"The staging area holds tensors of {', '.join(map(str, found))}, not of "
            f"{', '.join(map(str, wanted))}"
        )
    return values


def _map_stage(ctx: Any, key: Any, indices: Any, values: list[Any], *, node: Any) -> None:
    """Puts a tuple, or parts of one, under a key."""
    _map(ctx, node).put(ctx, _key(key), np.reshape(indices, -1).tolist(), values)


def _map_unstage(ctx: Any, key: Any, indices: Any, *, node: Any) -> list[Any]:
    """Takes parts of a key's tuple."""
    return _parts(ctx, key, indices, node, keep=False)


def _map_peek(ctx: Any, key: Any, indices: Any, *, node: Any) -> list[Any]:
    """Parts of a key's tuple, which stay."""
    return _parts(ctx, key, indices, node, keep=True)


def _parts(ctx: Any, key: Any, indices: Any, node: Any, keep: bool) -> list[Any]:
    places = np.reshape(indices, -1).tolist()
    values = _map(ctx, node).get(ctx, _key(key), places, keep)
    return _matched(values, node)


def _map_unstage_no_key(ctx: Any, indices: Any, *, node: Any) -> list[Any]:
    """Takes parts of some tuple, with its key."""
    key, values = _map(ctx, node).get_any(ctx, np.reshape(indices, -1).tolist())
    return [np.array(key, np.int64), *_matched(values, node)]


def _matched(values: list[Any], node: Any) -> list[Any]:
    count = len(node.attr("dtypes"))
    if len(values) != count:
        raise InvalidArgumentError(f"output/indices size mismatch: {count} vs. {len(values)}")
    return _checked(values, node)


def _map_size(ctx: Any, *, node: Any) -> Any:
    """How many complete tuples there are."""
    return np.array(len(_map(ctx, node)), np.int32)


def _map_incomplete_size(ctx: Any, *, node: Any) -> Any:
    """How many tuples lack a part."""
    return np.array(_map(ctx, node).incomplete_size, np.int32)


def _map_clear(ctx: Any, *, node: Any) -> None:
    """Forgets all tuples."""
    _map(ctx, node).clear()


def _key(key: Any) -> int:
    if np.size(key) != 1:
        raise InvalidArgumentError(f"key must be a scalar, but has shape {format_shape(np.shape(key))}")
    return int(np.reshape(key, -1)[0])


_SOME, _ANY = "dtypes: list(type) >= 1", "dtypes: list(type)"
_TUPLE, _PARTS = "values: dtypes", "key: int64, indices: int32"
# By what follows Stage, or Map and OrderedMap: kernel, signature, attributes, shape rule.
_STAGE: dict[str, tuple[Any, str, tuple[str, ...], Any]] = {
    "Stage": (_stage, f"{_TUPLE} ->", (_SOME,), rules.nothing),
    "Unstage": (_unstage, f"-> {_TUPLE}", (_SOME,), rules.unknown),
    "StagePeek": (_stage_peek, f"index: int32 -> {_TUPLE}", (_SOME,), rules.unknown),
    "StageSize": (_stage_size, "-> size: int32", (_ANY,), rules.scalar),
    "StageClear": (_stage_clear, "->", (_ANY,), rules.nothing),
}
_MAP: dict[str, tuple[Any, str, tuple[str, ...], Any]] = {
    "Stage": (
        _map_stage,
        f"{_PARTS}, values: fake_dtypes ->",
        (_ANY, "fake_dtypes: list(type) >= 1"),
        rules.nothing,
    ),
    "Unstage": (_map_unstage, f"{_PARTS} -> {_TUPLE}", (_SOME,), rules.unknown),
    "UnstageNoKey": (
        _map_unstage_no_key,
        f"indices: int32 -> key: int64, {_TUPLE}",
        (_SOME,),
        rules.unknown,
    ),
    "Peek": (_map_peek, f"{_PARTS} -> {_TUPLE}", (_SOME,), rules.unknown),
    "Size": (_map_size, "-> size: int32", (_ANY,), rules.scalar),
    "IncompleteSize": (_map_incomplete_size, "-> size: int32", (_ANY,), rules.scalar),
    "Clear": (_map_clear, "->", (_ANY,), rules.nothing),
}

for _prefix, _table in (("", _STAGE), ("Map", _MAP), ("OrderedMap", _MAP)):
    for _name, (_kernel, _signature, _attrs, _shape) in _table.items():
        op(
            f"{_prefix}{_name}",
            _signature,
            *_BOUNDS,
            *_attrs,
            *_NAMES,
            stateful=True,
            no_grad=_NO_GRAD,
        )(_kernel).shape(_shape)
