"""The collections of a graph: lists of variables, losses and whatever else programs keep by name."""

from __future__ import annotations

import re
from typing import Any


class GraphCollections:
    """Collections, and whether they may be changed."""

    def __init__(self) -> None:
        self._collections: dict[Any, list[Any]] = {}
        self._finalized = False

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends `value` to the collection `name`."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends `value` to each of the collections; `names` may be one name."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list behind collection `name` itself; changing it changes the collection."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of collection `name`; with `scope`, the items whose name matches it (`re.match`)."""
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and pattern.match(item.name)]

    def get_all_collection_keys(self) -> list[Any]:
        """The names of all collections."""
        return [name for name in self._collections if isinstance(name, str)]

    @property
    def collections(self) -> list[Any]:
        """The names of all collections."""
        return list(self._collections)

    def clear_collection(self, name: Any) -> None:
        """Drops the collection `name`."""
        self._check_not_finalized()
        self._collections.pop(name, None)

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    @property
    def finalized(self) -> bool:
        """Whether the graph is read-only."""
        return self._finalized
