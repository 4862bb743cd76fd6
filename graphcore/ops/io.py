"""Checkpoints and files as ops: what the save and restore nodes of a graph do.

All of them go through the session's file policy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import bundle_writer, checkpoint_state, files, registry
from ...formats.entry import Entry, entry_of
from ...formats.parts import Part, assemble
from ..errors import InvalidArgumentError, MissingNameError
from ..op import op
from ..shapes import Shape
from . import rules

_NO_GRAD = "file operations are not differentiable"


def _text(value: Any) -> str:
    item = (
        np.reshape(value, -1)[0]
        if np.ndim(value)
        else (value.item() if isinstance(value, np.ndarray) else value)
    )
    return item.decode() if isinstance(item, bytes) else str(item)


def _texts(value: Any) -> list[str]:
    return [item.decode() for item in np.reshape(value, -1).tolist()]


def _who(node: Any) -> str:
    return f"node '{node.name}' (op {node.type})"


@op(
    "SaveV2",
    "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes ->",
    "dtypes: list(type) >= 1",
    stateful=True,
    no_grad=_NO_GRAD,
)
def save_v2(
    ctx: Any, prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: list[Any], *, node: Any
) -> None:
    """Writes tensors to a checkpoint of the second version."""
    path = _text(prefix)
    ctx.policy.check_write(path, _who(node))
    names, specs = _texts(tensor_names), _texts(shape_and_slices)
    dtypes = node.attr("dtypes")
    entries = [
        entry_of(name, tensor, dtype._info, _part(spec, tensor))
        for name, spec, tensor, dtype in zip(names, specs, tensors, dtypes)
    ]
    bundle_writer.write_bundle(path, entries)


def _part(spec: str, tensor: Any) -> Part | None:
    part = Part.parse(spec)
    if part is not None and part.shape != tensor.shape:
        raise InvalidArgumentError(
            f"Slice shape mismatch: shape_and_slice {spec} is of shape {list(part.shape)}, the tensor "
            f"of {list(tensor.shape)}"
        )
    return None if part is None or part.is_full else part


save_v2.shape(rules.nothing)


@op(
    "RestoreV2",
    "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes",
    "dtypes: list(type) >= 1",
    stateful=True,
    no_grad=_NO_GRAD,
)
def restore_v2(ctx: Any, prefix: Any, tensor_names: Any, shape_and_slices: Any, *, node: Any) -> list[Any]:
    """Reads tensors from a checkpoint of either version."""
    path = _text(prefix)
    ctx.policy.check_read(path, _who(node))
    names, specs = _texts(tensor_names), _texts(shape_and_slices)
    store = registry.open_checkpoint(checkpoint_state.resolve_prefix(path))
    missing = [name for name in names if name not in store]
    if missing:
        raise MissingNameError(
            "\n".join(f"Key {name} not found in checkpoint" for name in missing), missing=missing, path=path
        )
    return [
        read_part(store, name, spec, dtype) for name, spec, dtype in zip(names, specs, node.attr("dtypes"))
    ]


def read_part(store: Any, name: str, spec: str, dtype: Any) -> Any:
    """A tensor of a checkpoint, or the part of it that `spec` says, checked to be of `dtype`.

    Raises:
        InvalidArgumentError: dtype or shape differ from what is stored.
    """
    entry: Entry = store[name]
    if dtype is not None and entry.dtype.number != dtype.base_dtype.as_datatype_enum:
        raise InvalidArgumentError(
            f"tensor_name = {name}; expected dtype {dtype.base_dtype.name} does not equal original "
            f"dtype {entry.dtype.name}"
        )
    part = Part.parse(spec)
    if part is None:
        return entry.read()
    if part.full_shape != entry.shape:
        raise InvalidArgumentError(
            f"tensor_name = {name}; shape in shape_and_slice spec {list(part.full_shape)} does not "
            "match the shape "
            f"stored in checkpoint: {list(entry.shape)}"
        )
    if hasattr(store, "read_slice"):
        return store.read_slice(name, part.extents)
    whole = Part(entry.shape, tuple((0, -1) for _ in entry.shape))
    return assemble([(whole, entry.read)], part.ranges, entry.dtype, name)


@restore_v2.shape
def _(node: Any) -> list[Shape]:
    specs = node.value(2)
    if specs is None:
        return [None] * node.num_outputs
    parts = [Part.parse(spec) for spec in _texts(specs)]
    return [None if part is None else part.shape for part in parts]


@op(
    "ShardedFilename",
    "basename: string, shard: int32, num_shards: int32 -> filename: string",
    no_grad=_NO_GRAD,
)
def sharded_filename(basename: Any, shard: Any, num_shards: Any) -> Any:
    """`BASE-00000-of-00002`."""
    return np.array(f"{_text(basename)}-{int(shard):05d}-of-{int(num_shards):05d}".encode(), object)


@op("ShardedFilespec", "basename: string, num_shards: int32 -> filename: string", no_grad=_NO_GRAD)
def sharded_filespec(basename: Any, num_shards: Any) -> Any:
    """The pattern of all shards: `BASE-?????-of-00002`."""
    return np.array(f"{_text(basename)}-?????-of-{int(num_shards):05d}".encode(), object)


for _name_op in (sharded_filename, sharded_filespec):
    _name_op.shape(rules.scalar)


@op(
    "MergeV2Checkpoints",
    "checkpoint_prefixes: string, destination_prefix: string ->",
    "delete_old_dirs: bool = true",
    stateful=True,
    no_grad=_NO_GRAD,
)
def merge_v2_checkpoints(
    ctx: Any, checkpoint_prefixes: Any, destination_prefix: Any, *, delete_old_dirs: bool, node: Any
) -> None:
    """Joins the parts of a sharded checkpoint: one data file for each part, one index."""
    target = _text(destination_prefix)
    ctx.policy.check_write(target, _who(node))
    entries, place = [], {}
    prefixes = _texts(checkpoint_prefixes)
    for shard, prefix in enumerate(prefixes):
        ctx.policy.check_read(prefix, _who(node))
        store: Any = registry.open_checkpoint(checkpoint_state.resolve_prefix(prefix))
        for name in store:
            for entry in store.parts(name):
                place[id(entry)] = shard
                entries.append(entry)
    bundle_writer.write_bundle(target, entries, len(prefixes), lambda entry: place[id(entry)])
    for prefix in prefixes if delete_old_dirs else ():
        for path in (f"{prefix}.index", f"{prefix}.data-00000-of-00001"):
            if files.is_file(path):
                files.remove_file(path)


merge_v2_checkpoints.shape(rules.nothing)


@op("ReadFile", "filename: string -> contents: string", ctx=True, no_grad=_NO_GRAD)
def read_file(ctx: Any, filename: Any, *, node: Any) -> Any:
    """The contents of a file."""
    path = _text(filename)
    ctx.policy.check_read(path, _who(node))
    return np.array(files.read_bytes(path), object)


read_file.shape(rules.scalar_inputs_to_scalar)


@op("WriteFile", "filename: string, contents: string ->", stateful=True, no_grad=_NO_GRAD)
def write_file(ctx: Any, filename: Any, contents: Any, *, node: Any) -> None:
    """Writes a file."""
    path = _text(filename)
    ctx.policy.check_write(path, _who(node))
    files.write_bytes(path, np.reshape(contents, -1)[0])


write_file.shape(rules.nothing)
