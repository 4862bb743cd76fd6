"""What a restore found, by name: the one report of `sgtool restore`, `sgtool run` and `Saver.restore`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .errors import bullets, suggestion
from .matching import Matching, Mismatch

if TYPE_CHECKING:
    from .dtypes import DTypeInfo
    from .entry import Entry

_UNUSED_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Misfit:
    """A key that the store has with another dtype or shape.

    Attributes:
        name: The key.
        model: Dtype and shape of the variable.
        store: Dtype and shape in the store.
        castable: Only the dtype differs, and one number can be converted to the other.
    """

    name: str
    model: str
    store: str
    castable: bool

    def __str__(self) -> str:
        return f"{self.name}: the model has {self.model}, the store {self.store}"


@dataclass(slots=True)
class RestoreReport:
    """What fits, and what does not.

    Attributes:
        path: The store (of a checkpoint: its prefix).
        restored: Keys that were (or would be) restored.
        averaged: Those of them that are taken from their moving average.
        missing: Keys that the store lacks.
        unused: Keys of the store that no variable asked for.
        mismatched: What is there with another dtype or shape.
        described: Dtype and shape (`float32 [2, 3]`) of each missing and each unused key.
    """

    path: str
    restored: list[str] = field(default_factory=list)
    averaged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    mismatched: list[Misfit] = field(default_factory=list)
    described: dict[str, str] = field(default_factory=dict)
    _found: Matching = field(default_factory=Matching, repr=False, compare=False)
    _store: Mapping[str, Entry] = field(default_factory=dict, repr=False, compare=False)
    _near: dict[str, list[str]] | None = field(default=None, repr=False, compare=False)

    @property
    def near(self) -> dict[str, list[str]]:
        """For missing keys what the store has instead, unused keys of the same shape first."""
        if self._near is None:  # looking for similar names takes a while
            self._near = {key: names for key, names in self._found.near(self._store).items() if names}
        return self._near

    def fields(self) -> dict[str, Any]:
        """The report as JSON-ready facts, as `sgtool restore --json` documents them."""
        return {
            "restored": self.restored,
            "averaged": self.averaged,
            "missing": self.missing,
            "near": self.near,
            "unused": self.unused,
            "mismatched": [
                {
                    "name": one.name,
                    "model": one.model,
                    "store": one.store,
                    "cast": "yes" if one.castable else "",
                }
                for one in self.mismatched
            ],
            "described": self.described,
        }

    def lines(self) -> tuple[list[str], list[str], list[str]]:
        """A line for each missing, each mismatched and each unused key."""
        near = self.near
        missing = [f"{key} {self.described[key]}{suggestion(near.get(key, ()))}" for key in self.missing]
        unused = [f"{key} {self.described[key]}" for key in self.unused]
        return missing, list(map(str, self.mismatched)), unused

    def sections(self, partial: bool = False) -> str:
        """What does not fit, under headings; with `partial` only what is never allowed."""
        missing, mismatched, unused = self.lines()
        parts = []
        if missing and not partial:
            parts.append(f"Missing in {self.path} ({len(missing)}):{bullets(missing)}")
        if mismatched:
            parts.append(f"Of another dtype or shape ({len(mismatched)}):{bullets(mismatched)}")
        if unused and not partial:
            parts.append(f"Not in the model ({len(unused)}):{bullets(unused, _UNUSED_SHOWN)}")
        return "\n".join(parts)


def report_of(found: Matching, store: Mapping[str, Entry], path: str) -> RestoreReport:
    """The report of a comparison.

    Args:
        found: What `matching.match` gave.
        store: What was compared, for dtypes, shapes and nearest names.
        path: What it is called.
    """
    described = {
        one.key: _described(one.dtype, one.shape if one.part is None else one.part.full_shape)
        for one in found.missing
    }
    for name in found.unused:
        described[name] = _described(store[name].dtype, store[name].shape)
    return RestoreReport(
        path,
        list(dict.fromkeys(fit.wanted.key for fit in found.fitting)),
        list(dict.fromkeys(found.averaged)),
        list(dict.fromkeys(one.key for one in found.missing)),
        found.unused,
        list(map(_misfit, found.mismatched)),
        described,
        found,
        store,
    )


def _misfit(one: Mismatch) -> Misfit:
    wanted, entry = one.wanted, one.entry
    shape = wanted.shape if wanted.part is None else wanted.part.full_shape
    model, stored = _described(wanted.dtype, shape), _described(entry.dtype, entry.shape)
    if (
        wanted.part is not None and one.kind == "shape"
    ):  # the whole agrees, the variable has not its part's shape
        model, stored = _described(wanted.dtype, wanted.shape), _described(entry.dtype, wanted.part.shape)
    return Misfit(wanted.key, model, stored, one.castable)


def _described(dtype: DTypeInfo | None, shape: Sequence[int | None] | None) -> str:
    dims = "?" if shape is None else f"[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"
    return f"{dtype.name if dtype else '?'} {dims}"
