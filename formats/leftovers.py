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


def is_leftover(name: str) -> bool:
    """Whether the name of a file or directory is one of something unfinished."""
    return _UNFINISHED.search(name) is not None


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
