"""What every store of variables is: entries by name, in one order, with errors that name the nearest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .entry import Entry
from .errors import MissingNameError, OpError, bullets, did_you_mean
from .object_graph import OBJECT_GRAPH_KEY, keys_by_name, variable_keys


class Store(Mapping[str, Entry]):
    """The tensors in a file or files by name, lazy, sorted by name.

    A checkpoint that TensorFlow 2 wrote has keys that are paths of Python objects; in it a variable is
    found by its name, too, if no other has it, though iteration gives the keys. `key_of` tells one from
    the other.

    Subclasses fill `_entries`, or override `__getitem__` and what else they keep in another form.

    Attributes:
        where: The path, for messages.
        skipped: What is there but no tensor, and why.
        damaged: What could not be opened, by name, where a damaged store was opened nevertheless.
    """

    where: str
    skipped: dict[str, str]
    damaged: dict[str, OpError]
    _entries: Mapping[str, Any]
    _aliases: dict[str, str] | None = None

    def __getitem__(self, name: str) -> Entry:
        key = self.key_of(name)
        if key is None:
            raise self._missing(name)
        return self._entry_at(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.key_of(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """The entry, or `default`."""
        key = self.key_of(name)
        return default if key is None else self._entry_at(key)

    def key_of(self, name: str) -> str | None:
        """The key of a tensor: `name` itself, or that of the variable of this name; None without one.

        Raises:
            DataLossError: The list of variables that TensorFlow 2 wrote is damaged.
        """
        if name in self._entries:
            return name
        return self.aliases().get(name)

    def aliases(self) -> dict[str, str]:
        """Keys by variable name, where the two differ; empty for what TensorFlow 2 did not write."""
        if self._aliases is None:
            named = variable_keys(self) if OBJECT_GRAPH_KEY in self._entries else {}
            self._aliases = {name: key for name, key in named.items() if name not in self._entries}
        return self._aliases

    def listing(self) -> Iterator[tuple[str, str, list[int], int]]:
        """Key, dtype name, shape and bytes of each entry, which takes less time than making entries."""
        for entry in self.values():
            yield entry.name, entry.dtype.name, list(entry.shape), entry.nbytes

    def _entry_at(self, key: str) -> Entry:
        entry: Entry = self._entries[key]
        return entry

    def _missing(self, name: str) -> MissingNameError:
        return MissingNameError(
            f"'{name}' is not in {self.where}.{self._hint(name)}", name=name, path=self.where
        )

    def _hint(self, name: str) -> str:
        """Why a tensor is not there, or the nearest names."""
        if name in self.skipped:
            return f" It is there, but {self.skipped[name]}."
        if OBJECT_GRAPH_KEY in self._entries:
            keys = keys_by_name(self).get(name)
            if keys:
                return f" {len(keys)} variables have this name; say which by its key:{bullets(keys)}"
        return did_you_mean(name, [*self._entries, *self.aliases()])
