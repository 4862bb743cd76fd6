"""Checkpoints and files as ops: what the save and restore nodes of a graph do.

All of them go through the session's file policy.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ...formats import bundle_writer, checkpoint_state, files, registry, v1_writer
from ...formats.entry import Entry, entry_of
from ...formats.parts import Part, assemble
from ..dtypes import ANY
from ..errors import InvalidArgumentError, MissingNameError, ResourceExhaustedError
from ..op import op
from ..shapes import Shape, format_shape, merge_dims, with_rank
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
    files.make_directory(os.path.dirname(path) or ".")
    bundle_writer.write_bundle(path, entries)


def _part(spec: str, tensor: Any) -> Part | None:
    part = Part.parse(spec)
    if part is not None and part.shape != tensor.shape:
        raise InvalidArgumentError(
            f"Slice shape mismatch: shape_and_slice {spec} is of shape {format_shape(part.shape)}, "
            "the tensor "
            f"of {format_shape(tensor.shape)}"
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
            f"tensor_name = {name}; shape in shape_and_slice spec {format_shape(part.full_shape)} does not "
            "match the shape "
            f"stored in checkpoint: {format_shape(entry.shape)}"
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


# Checkpoints of the first version


def _save_v1(ctx: Any, node: Any, filename: Any, names: Any, specs: list[str], data: list[Any]) -> None:
    if np.size(filename) != 1:
        raise InvalidArgumentError(
            f"Input 0 (filename) must be a string scalar; got a tensor of {np.size(filename)}elements"
        )
    path = _text(filename)
    ctx.policy.check_write(path, _who(node))
    labels, dtypes = _texts(names), node.attr("T")
    if len(labels) != len(data) or len(specs) != len(data):
        raise InvalidArgumentError(
            f"There are {len(labels)} names and {len(specs)} slices for {len(data)} tensors"
        )
    entries = []
    for label, spec, tensor, dtype in zip(labels, specs, data, dtypes):
        part = Part.parse(spec)
        if part is not None and part.shape != tensor.shape:
            raise InvalidArgumentError(
                "Slice in shape_and_slice specification does not match the shape of the tensor to  save: "
                f"{spec}, tensor: {format_shape(tensor.shape)}"
            )
        entries.append(entry_of(label, tensor, dtype._info, part))
    v1_writer.write_v1(path, entries)


@op(
    "Save",
    "filename: string, tensor_names: string, data: T ->",
    "T: list(type) >= 1",
    stateful=True,
    no_grad=_NO_GRAD,
)
def save(ctx: Any, filename: Any, tensor_names: Any, data: list[Any], *, node: Any) -> None:
    """Writes tensors to a checkpoint of the first version."""
    _save_v1(ctx, node, filename, tensor_names, [""] * len(data), data)


@op(
    "SaveSlices",
    "filename: string, tensor_names: string, shapes_and_slices: string, data: T ->",
    "T: list(type) >= 1",
    stateful=True,
    no_grad=_NO_GRAD,
)
def save_slices(
    ctx: Any, filename: Any, tensor_names: Any, shapes_and_slices: Any, data: list[Any], *, node: Any
) -> None:
    """Writes tensors, or parts of them, to a checkpoint of the first version."""
    _save_v1(ctx, node, filename, tensor_names, _texts(shapes_and_slices), data)


def _save_shape(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 0)
    lead = len(node.shapes) - len(node.attr("T"))
    for index in range(1, lead):
        (count,) = with_rank(node.shape(index), 1)
        merge_dims(count, len(node.attr("T")))
    return []


save.shape(_save_shape)
save_slices.shape(_save_shape)


def _restore_v1(ctx: Any, node: Any, file_pattern: Any, tensor_name: Any, spec: str) -> Any:
    if np.size(file_pattern) != 1:
        raise InvalidArgumentError(
            f"Input 0 (file_pattern) must be a string scalar; got a tensor of {np.size(file_pattern)}elements"
        )
    path, name = _text(file_pattern), _text(tensor_name)
    ctx.policy.check_read(path, _who(node))
    store = registry.open_checkpoint(checkpoint_state.resolve_prefix(path))
    if name not in store:
        raise MissingNameError(
            f'Tensor name "{name}" not found in checkpoint files {path}', name=name, path=path
        )
    wanted, entry = node.attr("dt").base_dtype, store[name]
    if entry.dtype.number != wanted.as_datatype_enum:
        raise InvalidArgumentError(
            f"Expected to restore a tensor of type {wanted.name}, got a tensor of type {entry.dtype.name} "
            f"instead: tensor_name = {name}"
        )
    part = Part.parse(spec)
    if part is not None and part.full_shape != entry.shape:
        raise InvalidArgumentError(
            "Shape in shape_and_slice spec does not match the shape in the save file: "
            f"{format_shape(part.full_shape)}, save file shape: {format_shape(entry.shape)}"
        )
    return read_part(store, name, spec, wanted)


@op(
    "Restore",
    "file_pattern: string, tensor_name: string -> tensor: dt",
    "preferred_shard: int = -1",
    dt=ANY,
    stateful=True,
    no_grad=_NO_GRAD,
)
def restore(ctx: Any, file_pattern: Any, tensor_name: Any, *, node: Any) -> Any:
    """Reads a tensor from a checkpoint of either version."""
    return _restore_v1(ctx, node, file_pattern, tensor_name, "")


@op(
    "RestoreSlice",
    "file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt",
    "preferred_shard: int = -1",
    dt=ANY,
    stateful=True,
    no_grad=_NO_GRAD,
)
def restore_slice(ctx: Any, file_pattern: Any, tensor_name: Any, shape_and_slice: Any, *, node: Any) -> Any:
    """Reads a tensor, or a part of it, from a checkpoint of either version."""
    return _restore_v1(ctx, node, file_pattern, tensor_name, _text(shape_and_slice))


restore.shape(rules.unknown)


@restore_slice.shape
def _(node: Any) -> Shape:
    spec = node.value(2)
    part = None if spec is None else Part.parse(_text(spec))
    return None if part is None else part.shape


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
    for folder in {os.path.dirname(prefix) for prefix in prefixes} - {os.path.dirname(target)}:
        if delete_old_dirs:
            files.remove_directory(folder)


merge_v2_checkpoints.shape(rules.nothing)


@op("ReadFile", "filename: string -> contents: string", ctx=True, no_grad=_NO_GRAD)
def read_file(ctx: Any, filename: Any, *, node: Any) -> Any:
    """The contents of a file."""
    path = _text(filename)
    ctx.policy.check_read(path, _who(node))
    return np.array(files.read_bytes(path), object)


read_file.shape(rules.scalar_inputs_to_scalar)


@op(
    "ImmutableConst",
    "-> tensor: dtype",
    "shape: shape",
    "memory_region_name: string",
    dtype=ANY,
    ctx=True,
    no_grad="a constant depends on nothing",
)
def immutable_const(ctx: Any, *, node: Any) -> Any:
    """The raw bytes at the start of a file, as an array."""
    path = node.attr("memory_region_name").decode("utf-8", "surrogateescape")
    dtype, shape = node.attr("dtype"), node.attr("shape").as_tuple()
    if dtype.name in ("string", "resource", "variant"):
        raise InvalidArgumentError(f"Sorry, {dtype.name} is not currently supported for ImmutableConstOp.")
    if shape is None or None in shape:
        raise InvalidArgumentError("The shape of an ImmutableConst must be known")
    ctx.policy.check_read(path, _who(node))
    data, size = files.read_bytes(path), math.prod(shape) * dtype.np.itemsize
    if len(data) < size:
        raise ResourceExhaustedError(
            f"The file {path} has {len(data)} bytes, but '{node.name}' asks for {size}", path=path
        )
    return np.frombuffer(data[:size], dtype.np).reshape(shape).copy()


immutable_const.shape(lambda node: node.node.attr("shape").as_tuple())


@op("WriteFile", "filename: string, contents: string ->", stateful=True, no_grad=_NO_GRAD)
def write_file(ctx: Any, filename: Any, contents: Any, *, node: Any) -> None:
    """Writes a file."""
    path = _text(filename)
    ctx.policy.check_write(path, _who(node))
    files.write_bytes(path, np.reshape(contents, -1)[0])


write_file.shape(rules.nothing)
