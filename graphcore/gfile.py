"""`tf.gfile`: files, as TensorFlow 1 programs open and list them; only names, see `file_io`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .file_io import (
    FileIO,
    copy as Copy,
    create_dir as MkDir,
    delete_file as Remove,
    delete_recursively as DeleteRecursively,
    file_exists as Exists,
    get_matching_files as Glob,
    is_directory as IsDirectory,
    list_directory as ListDirectory,
    recursive_create_dir as MakeDirs,
    rename as Rename,
    stat as Stat,
    walk as Walk,
)


class GFile(FileIO):
    """`tf.gfile.GFile`: as `FileIO`, opened for reading by default."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        super().__init__(name, mode)


FastGFile = Open = GFile

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory",
    "MakeDirs", "MkDir", "Open", "Remove", "Rename", "Stat", "Walk",
]  # fmt: skip
