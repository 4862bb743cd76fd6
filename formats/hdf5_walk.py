"""The datasets of an HDF5 file of which parts are damaged, found link by link.

HDF5's own visit ends at the first thing that it cannot open.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

Tolerated = Callable[[str], AbstractContextManager[None]]


def datasets(file: Any, tolerated: Tolerated) -> list[Any]:
    """The datasets that can be opened, each once.

    Args:
        file: An open `h5py.File`.
        tolerated: A context manager that takes a path in the file, and notes an error inside.
    """
    import h5py

    found: list[Any] = []
    seen: set[int] = set()
    groups = [file]
    while groups:
        group = groups.pop()
        for path in _children(group, tolerated):
            with tolerated(path):
                node = group[path]
                address = h5py.h5o.get_info(node.id).addr
                if address in seen:
                    continue
                seen.add(address)
                if isinstance(node, h5py.Dataset):
                    found.append(node)
                elif isinstance(node, h5py.Group):
                    groups.append(node)
    return found


def unfollowed_links(file: Any) -> dict[str, str]:
    """The links of a file that lead out of it or nowhere, by path, and what they are."""
    import h5py

    found: dict[str, str] = {}
    seen: set[int] = set()
    groups = [file]
    while groups:  # not with h5py's visititems_links, which ends in a SystemError where a file is damaged
        group = groups.pop()
        for name in group:
            path = f"{group.name.rstrip('/')}/{name}"
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                found[path] = f"it is a link to {link.path} in the file {link.filename}, which is not read"
            elif isinstance(link, h5py.SoftLink):
                if _leads_nowhere(group, name):
                    found[path] = f"it is a link to {link.path}, which is not there"
            elif group.get(name, getclass=True) is h5py.Group:
                inner = group[name]
                address = h5py.h5o.get_info(inner.id).addr
                if address not in seen:
                    seen.add(address)
                    groups.append(inner)
    return found


def _leads_nowhere(group: Any, name: str) -> bool:
    try:
        group[name]
    except (KeyError, OSError, RuntimeError):  # what h5py raises where a path breaks off, or goes round
        return True
    return False


def _children(group: Any, tolerated: Tolerated) -> list[str]:
    """The paths of a group's members, as far as they can be listed."""
    names: list[str] = []
    with tolerated(group.name):
        for name in group:
            names.append(f"{group.name.rstrip('/')}/{name}")  # noqa: PERF401 - those before an error stay
    return names
