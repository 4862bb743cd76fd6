"""tf.data's iterators: where a session stands in a dataset.

Source: tensorflow/core/kernels/data/iterator_ops.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..datasets import DatasetIterator, all_rows, as_dataset
from ..errors import InvalidArgumentError, OutOfRangeError
from ..op import op
from . import rules
from .data_flow import named_resource
from .dataset import NO_GRAD, OUT, declared_shapes
from .optional import OptionalValue

_KIND = "iterator"


def _iterator(ctx: Any, *, node: Any) -> DatasetIterator:
    """The iterator of a shared name, or the node's own."""
    found: DatasetIterator = named_resource(ctx, _KIND, node, DatasetIterator)
    _known(ctx)[found.name] = found
    return found


def _known(ctx: Any) -> dict[str, DatasetIterator]:
    """The iterators of a session by name, for string handles."""
    known: dict[str, DatasetIterator] = ctx.state.resource("iterators", "", "", dict)
    return known


for _name in ("Iterator", "IteratorV2"):
    op(
        _name,
        "-> handle: resource",
        "shared_name: string",
        "container: string",
        *OUT,
        stateful=True,
        no_grad=NO_GRAD,
    )(_iterator).shape(rules.scalar)


@op("AnonymousIterator", "-> handle: resource", *OUT, stateful=True, no_grad=NO_GRAD)
def anonymous_iterator(ctx: Any, *, node: Any) -> Any:
    """An iterator for this run."""
    return DatasetIterator(f"AnonymousIterator_{node.name}")


@op(
    "OneShotIterator",
    "-> handle: resource",
    "dataset_factory: func",
    *OUT,
    "container: string = ''",
    "shared_name: string = ''",
    stateful=True,
    no_grad=NO_GRAD,
)
def one_shot_iterator(ctx: Any, *, dataset_factory: Any, node: Any) -> Any:
    """An iterator over the dataset that a function makes at its first use."""
    found: DatasetIterator = named_resource(ctx, _KIND, node, DatasetIterator)
    if not found.is_started:
        made = ctx.call(dataset_factory, [], node.name)
        if len(made) != 1:
            raise InvalidArgumentError(
                "The `dataset_factory` function must return a single scalar of dtype DT_VARIANT."
            )
        found.start(as_dataset(made[0]))
        _known(ctx)[found.name] = found
    return found


def _anonymous_with_deleter(ctx: Any, *, node: Any) -> tuple[Any, Any]:
    """An iterator for this run, and what deletes it."""
    return DatasetIterator(f"AnonymousIterator_{node.name}"), None


op(
    "AnonymousIteratorV2",
    "-> handle: resource, deleter: variant",
    *OUT,
    stateful=True,
    no_grad=NO_GRAD,
)(_anonymous_with_deleter).shape(lambda node: [(), ()])
op("AnonymousIteratorV3", "-> handle: resource", *OUT, stateful=True, no_grad=NO_GRAD)(
    anonymous_iterator.kernel
).shape(rules.scalar)


def _delete(handle: Any, deleter: Any) -> None:
    """Nothing: what nobody holds goes by itself."""


for _name, _input in (
    ("DeleteIterator", "handle: resource, deleter: variant"),
    ("DeleteMemoryCache", "handle: resource, deleter: variant"),
    ("DeleteRandomSeedGenerator", "handle: resource, deleter: variant"),
    ("DeleteSeedGenerator", "handle: resource, deleter: variant"),
):
    op(_name, f"{_input} ->", stateful=True, ctx=False, no_grad=NO_GRAD)(_delete).shape(rules.nothing)


anonymous_iterator.shape(rules.scalar)
one_shot_iterator.shape(rules.scalar)


@op("MakeIterator", "dataset: variant, iterator: resource ->", stateful=True, ctx=False, no_grad=NO_GRAD)
def make_iterator(dataset: Any, iterator: Any) -> None:
    """Sets an iterator to the beginning of a dataset."""
    iterator.start(as_dataset(dataset))


make_iterator.shape(rules.nothing)


def _get_next(ctx: Any, iterator: Any, *, node: Any) -> Any:
    """The next element; OutOfRangeError after the last."""
    row = iterator.next(ctx)
    if row is None:
        raise OutOfRangeError("End of sequence")
    wanted = node.attr("output_types")
    if len(row) != len(wanted):
        raise InvalidArgumentError(
            f"The iterator gives {len(row)} components, '{node.name}' expects {len(wanted)}."
        )
    for index, (value, dtype) in enumerate(zip(row, wanted)):
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype != dtype.np:
            raise InvalidArgumentError(
                f"The iterator gives {value.dtype.name} as component {index}, '{node.name}' expects "
                f"{dtype.name}."
            )
    return list(row)


for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    op(_name, "iterator: resource -> components: output_types", *OUT, stateful=True, no_grad=NO_GRAD)(
        _get_next
    ).shape(declared_shapes)


@op(
    "IteratorGetNextAsOptional",
    "iterator: resource -> optional: variant",
    *OUT,
    stateful=True,
    no_grad=NO_GRAD,
)
def iterator_get_next_as_optional(ctx: Any, iterator: Any) -> Any:
    """The next element as a value that is absent after the last."""
    return OptionalValue(iterator.next(ctx))


@op(
    "IteratorToStringHandle",
    "resource_handle: resource -> string_handle: string",
    stateful=True,
    no_grad=NO_GRAD,
)
def iterator_to_string_handle(ctx: Any, resource_handle: Any) -> Any:
    """A string that stands for an iterator in this session."""
    _known(ctx)[resource_handle.name] = resource_handle
    return np.array(resource_handle.name.encode(), object)


def _from_string(ctx: Any, string_handle: Any, *, node: Any) -> Any:
    """The iterator that a string stands for."""
    name = np.asarray(string_handle).item().decode(errors="replace")
    found = _known(ctx).get(name)
    if found is None:
        raise InvalidArgumentError(
            f"'{name}' is no string handle of an iterator of this session; ask for one with "
            "IteratorToStringHandle (Iterator.string_handle()) here."
        )
    return found


for _name in ("IteratorFromStringHandle", "IteratorFromStringHandleV2"):
    op(
        _name,
        "string_handle: string -> resource_handle: resource",
        "output_types: list(type) >= 0 = []",
        "output_shapes: list(shape) >= 0 = []",
        stateful=True,
        no_grad=NO_GRAD,
    )(_from_string).shape(rules.scalar)


def _device(resource: Any) -> Any:
    """The device that an iterator is on: there is one here."""
    return np.array(b"/job:localhost/replica:0/task:0/device:CPU:0", object)


for _name in ("IteratorGetDevice", "ExperimentalIteratorGetDevice"):
    op(_name, "resource: resource -> device: string", stateful=True, ctx=False, no_grad=NO_GRAD)(
        _device
    ).shape(rules.scalar)


class IteratorState:
    """Where an iterator stood: its dataset, and how many elements it had given."""

    shape: tuple[int, ...] = ()  # a scalar variant
    ndim = 0

    def __init__(self, dataset: Any, taken: int) -> None:
        self.dataset, self.taken = dataset, taken


@op(
    "SerializeIterator",
    "resource_handle: resource -> serialized: variant",
    stateful=True,
    ctx=False,
    no_grad=NO_GRAD,
)
def serialize_iterator(resource_handle: Any) -> Any:
    """Where an iterator stands, for this session: a checkpoint cannot hold it."""
    return IteratorState(*resource_handle.position())


@op(
    "DeserializeIterator",
    "resource_handle: resource, serialized: variant ->",
    stateful=True,
    ctx=False,
    no_grad=NO_GRAD,
)
def deserialize_iterator(resource_handle: Any, serialized: Any) -> None:
    """Sets an iterator to where one stood; the elements before are computed again."""
    state = serialized.item() if isinstance(serialized, np.ndarray) else serialized
    if not isinstance(state, IteratorState):
        raise InvalidArgumentError(
            f"DeserializeIterator takes what SerializeIterator gives in the same session, not {state!r}"
        )
    resource_handle.start(state.dataset, state.taken)


serialize_iterator.shape(rules.scalar)
deserialize_iterator.shape(rules.nothing)


@op(
    "DatasetToSingleElement",
    "dataset: variant -> components: output_types",
    *OUT,
    stateful=True,
    no_grad=NO_GRAD,
)
def dataset_to_single_element(ctx: Any, dataset: Any) -> Any:
    """The only element of a dataset."""
    rows = all_rows(as_dataset(dataset), ctx)
    first = next(rows, None)
    if first is None:
        raise InvalidArgumentError("Dataset was empty.")
    if next(rows, None) is not None:
        raise InvalidArgumentError("Dataset had more than one element.")
    return list(first)


iterator_get_next_as_optional.shape(rules.scalar)
iterator_to_string_handle.shape(rules.scalar)
dataset_to_single_element.shape(declared_shapes)
