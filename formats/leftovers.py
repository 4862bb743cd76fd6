"""Files that an interrupted save, copy or download left behind, known by their names."""

from __future__ import annotations

import os
import re

from . import files

# What TensorFlow (`.tempstate`, `.tmp` and hexadecimal digits, `PREFIX_temp`), this package, downloaders
# and rsync call a file that is not finished.
_UNFINISHED = re.compile(
    r"""\.tempstate\d* $ | \.tmp[0-9a-f]* $ | \.sgtmp-[0-9a-f]{8} $ | _temp(_[0-9a-f]+)? $
      | \.(crdownload|partial|part|filepart|download) $
      | ^\..+\.(data-\d{5}-of-\d{5}|index|meta|h5|npz|pb)\.[A-Za-z0-9]{6} $""",
    re.VERBOSE,
)


# The name that such a file would have got: a part of a checkpoint, or a store.
_FILE = re.compile(
    r"(?P<name>.+\.(index|meta|data-\d{5}-of-\d{5}|h5|hdf5|npz|safetensors|pb|pbtxt))\.[^.]+", re.DOTALL
)


def is_leftover(name: str) -> bool:
    """Whether the name of a file or directory is one of something unfinished."""
    return _UNFINISHED.search(name) is not None


def explain(path: str) -> str:
    """A sentence about a file that is left over, and what to do with it; "" for other files."""
    folder, name = os.path.split(path)
    match = _FILE.fullmatch(name)
    if match is None or not is_leftover(name):
        return ""
    meant = os.path.join(folder, match["name"].lstrip("."))
    sentence = f"{path} is left over from a save or copy of {meant} that did not finish."
    if files.is_file(meant):
        return f"{sentence} {meant} is there: delete the other."
    return f"{sentence} {meant} is not there: write or copy it again, and delete what is left over."


def unfinished(path: str, harmless: bool = True) -> str:
    """The sentence about something left over beside a checkpoint; `harmless` where that is whole."""
    sentence = f"{path} is left over from a save or copy that did not finish"
    return f"{sentence}; it can be deleted." if harmless else f"{sentence}."


def leftovers(directory: files.Path, base: str = "") -> list[str]:
    """The paths of what is left over in a directory.

    Args:
        directory: Where to look; nothing is found in one that does not exist.
        base: Only what belongs to this base name: `BASE.…`, `BASE_temp…`, with a dot before it or not.
    """
    folder = files.location(directory)
    if not files.is_directory(folder or "."):
        return []
    names = files.list_directory(folder or ".")
    own = tuple(f"{base}{mark}" for mark in "._-") if base else ""
    return [
        os.path.join(folder, one) for one in names if is_leftover(one) and one.lstrip(".").startswith(own)
    ]
