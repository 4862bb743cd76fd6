"""`tf.train.load_checkpoint` and its relatives: looking into a checkpoint without a graph."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..formats import checkpoint_state, registry
from ..formats.errors import did_you_mean
from .dtypes import DType, as_dtype
from .errors import MissingFileError, MissingNameError


class CheckpointReader:
    """Reads a checkpoint of either version.

    Args:
        filename: The checkpoint, in any form of its name.

    Raises:
        NotFoundError: There is none.
        DataLossError: It is damaged.
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        try:
            resolved = checkpoint_state.resolve_prefix(filename)
        except MissingFileError as error:
            raise MissingFileError(
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                f"{os.fspath(filename)}. {error}",
                **error.fields,
            ) from error
        self.prefix = resolved.prefix
        self._store = registry.open_checkpoint(resolved)

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether it has a tensor of that name."""
        return tensor_str in self._store

    def get_tensor(self, tensor_str: str) -> Any:
        """The values of a tensor; a scalar as a NumPy scalar or bytes.

        Raises:
            NotFoundError: There is none of that name; the message has the nearest ones.
        """
        if tensor_str not in self._store:
            raise MissingNameError(
                f"Key {tensor_str} not found in checkpoint.{did_you_mean(tensor_str, self._store)}",
                name=tensor_str,
            )
        value = np.array(self._store[tensor_str].read())
        return value if value.ndim else value[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes by name."""
        return {name: list(entry.shape) for name, entry in self._store.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtypes by name."""
        return {name: as_dtype(entry.dtype.number) for name, entry in self._store.items()}

    def debug_string(self) -> bytes:
        """A line for each tensor: name, dtype and shape."""
        lines = [
            f"{name} ({entry.dtype.enum}) [{','.join(map(str, entry.shape))}]\n"
            for name, entry in self._store.items()
        ]
        return "".join(lines).encode()


def NewCheckpointReader(filepattern: str | os.PathLike[str]) -> CheckpointReader:
    """`tf.train.NewCheckpointReader`: a reader of the checkpoint of that prefix."""
    return CheckpointReader(filepattern)


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """`tf.train.load_checkpoint`: a reader of a checkpoint, or of the latest one of a directory."""
    return CheckpointReader(ckpt_dir_or_file)


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> Any:
    """`tf.train.load_variable`: the values of one tensor; a trailing `:0` is left out."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """`tf.train.list_variables`: (name, shape) of every tensor, by name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())
