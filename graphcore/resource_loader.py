"""`tf.resource_loader`: paths of data files that lie beside a script."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..formats import files
from . import not_yet


def _directory_of(frame: Any) -> Path:
    return Path(inspect.getfile(frame)).parent


def get_data_files_path() -> str:
    """The directory of the script that calls this."""
    return str(_directory_of(inspect.currentframe().f_back))  # type: ignore[union-attr]


def get_path_to_datafile(path: str) -> str:
    """A path that is relative to the directory of the script that calls this."""
    return str(_directory_of(inspect.currentframe().f_back) / path)  # type: ignore[union-attr]


def get_root_dir_with_all_resources() -> str:
    """The top directory of a Bazel program's files, or else that of the script that calls this."""
    script = _directory_of(inspect.currentframe().f_back)  # type: ignore[union-attr]
    above = script
    for directory in script.parents:
        if ".runfiles" in directory.name:
            return str(above)
        above = directory
    return str(script)


def load_resource(path: str) -> bytes:
    """The content of a file, its path relative to the directory of the script that calls this.

    Raises:
        NotFoundError: There is none.
    """
    content: bytes = files.read_bytes(_directory_of(inspect.currentframe().f_back) / path)  # type: ignore[union-attr]
    return content


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path as it is."""
    return path


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "get_data_files_path", "get_path_to_datafile", "get_root_dir_with_all_resources", "load_resource",
    "readahead_file_path",
]  # fmt: skip
