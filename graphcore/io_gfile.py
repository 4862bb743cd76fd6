"""`tf.io.gfile`: files under the names of Python's `os` and `glob`; only names, see `file_io`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import file_io, not_yet
from .file_io import (
    create_dir as mkdir,
    delete_file as remove,
    delete_recursively as rmtree,
    file_exists as exists,
    is_directory as isdir,
    list_directory as listdir,
    recursive_create_dir as makedirs,
    stat,
    walk_v2 as walk,
)
from .gfile import GFile


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """`tf.io.gfile.copy`; errors as `tf.gfile.Copy`."""
    file_io.copy(src, dst, overwrite)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """`tf.io.gfile.rename`; errors as `tf.gfile.Rename`."""
    file_io.rename(src, dst, overwrite)


def glob(pattern: Any) -> list[str]:
    """`tf.io.gfile.glob`: the paths that match a pattern, or any of several."""
    return file_io.get_matching_files(pattern)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "GFile", "copy", "exists", "glob", "isdir", "listdir", "makedirs", "mkdir", "remove", "rename", "rmtree",
    "stat", "walk",
]  # fmt: skip
