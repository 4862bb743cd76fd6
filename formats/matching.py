"""What of a store fits a model: the one comparison behind `sgtool restore` and `Saver.restore`.

Neutral about graphs: a model is a list of wanted keys with dtype and shape. Names can be mapped before
the comparison, and the moving average of a variable can be asked for in the place of the variable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .errors import InvalidValueError, MissingNameError, bullets, did_you_mean, nearest
from .object_graph import OBJECT_GRAPH_KEY
from .parts import Part
from .store import Store

if TYPE_CHECKING:
    from .dtypes import DTypeInfo
    from .entry import Entry

Shape = tuple[int | None, ...] | None

EMA_SUFFIX = "/ExponentialMovingAverage"
"""What TensorFlow appends to a variable's name for its moving average."""
_NUMBERS = frozenset(("float", "int", "uint", "bool", "complex"))
_NAMED = 50
"""For so many missing names the nearest are looked for: nobody reads more, and each takes time."""
_ALIKE = 0.3
"""How alike a name of the very shape must be to be worth mentioning, as difflib measures."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One key that a model restores.

    Attributes:
        key: The name in the store.
        dtype: The dtype it must have, or None for any.
        shape: The shape of the model's variable (of a part: the part's); None for what is not known.
        part: Which part of the stored tensor it is, or None for all of it.
    """

    key: str
    dtype: DTypeInfo | None
    shape: Shape
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """A key that can be restored from an entry; `cast` says whether its values must be converted."""

    wanted: Wanted
    entry: Entry
    cast: bool = False


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A key whose entry does not fit.

    Attributes:
        wanted: What the model needs.
        entry: What the store has.
        kind: `dtype`, `shape`, or `slice` (the whole that a part belongs to has another shape).
        castable: Only the dtype differs, and one number can be converted to the other.
    """

    wanted: Wanted
    entry: Entry
    kind: str
    castable: bool = False


@dataclass(slots=True)
class Matching:
    """What fits, and what does not.

    Attributes:
        fitting: What can be restored, in the model's order.
        missing: What the store lacks.
        mismatched: What is there with another dtype or shape.
        unused: Names in the store that nothing asked for.
        averaged: Keys that are taken from their moving average.
    """

    fitting: list[Fit] = field(default_factory=list)
    missing: list[Wanted] = field(default_factory=list)
    mismatched: list[Mismatch] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    averaged: list[str] = field(default_factory=list)

    def near(self, store: Mapping[str, Entry]) -> dict[str, list[str]]:
        """For each missing key (the first 50) the names in the store that it may have there.

        Unused names of the very shape, where any is a little alike; else whatever is spelt alike; else
        the few unused names of the very shape, however they are spelt.
        """
        shapes: dict[Shape, list[str]] = {}
        for name in self.unused if self.missing else ():
            shapes.setdefault(store[name].shape, []).append(name)
        return {
            wanted.key: _nearest(wanted, shapes.get(_whole_shape(wanted), ()), store)
            for wanted in self.missing[:_NAMED]
        }


def match(
    wanted: Iterable[Wanted],
    store: Mapping[str, Entry],
    *,
    cast: bool = False,
    reshape: bool = False,
    ema: bool = False,
) -> Matching:
    """Compares what a model wants with what a store has; reads no values.

    Args:
        wanted: The model's keys; those of the parts of one variable may be equal.
        store: Entries by name.
        cast: Numbers of another dtype fit, too.
        reshape: Another shape with as many elements fits, too.
        ema: `KEY/ExponentialMovingAverage` is taken where the store has it, else KEY.
    """
    found = Matching()
    used: set[str] = set()
    for one in wanted:
        entry = store.get(one.key)
        shadow = store.get(one.key + EMA_SUFFIX) if ema else None
        # A checkpoint of TensorFlow 2 finds a variable by its name, too: what is used is the entry's.
        used.update(each.name for each in (entry, shadow) if each is not None)
        if shadow is not None:
            entry = shadow
            found.averaged.append(one.key)
        if entry is None:
            found.missing.append(one)
            continue
        kind = _shape_problem(one, entry, reshape)
        same = one.dtype is None or one.dtype == entry.dtype
        castable = one.dtype is not None and {one.dtype.kind, entry.dtype.kind} <= _NUMBERS
        if not same and not (cast and castable):
            found.mismatched.append(Mismatch(one, entry, "dtype", castable and not kind))
        elif kind:
            found.mismatched.append(Mismatch(one, entry, kind))
        else:
            found.fitting.append(Fit(one, entry, not same))
    found.unused = [name for name in store if name not in used and name != OBJECT_GRAPH_KEY]
    return found


def _whole_shape(wanted: Wanted) -> Shape:
    return wanted.shape if wanted.part is None else wanted.part.full_shape


def _shape_problem(wanted: Wanted, entry: Entry, reshape: bool) -> str:
    if wanted.part is not None:
        if wanted.part.full_shape != entry.shape:
            return "slice"
        return "" if _agree(wanted.shape, wanted.part.shape) else "shape"
    if _agree(wanted.shape, entry.shape):
        return ""
    assert wanted.shape is not None
    known = [dim for dim in wanted.shape if dim is not None]
    whole = len(known) == len(wanted.shape) and math.prod(known) == entry.size
    return "" if reshape and whole else "shape"


def _agree(expected: Shape, shape: tuple[int, ...]) -> bool:
    if expected is None:
        return True
    return len(expected) == len(shape) and all(e in (None, s) for e, s in zip(expected, shape, strict=True))


def _nearest(wanted: Wanted, of_its_shape: Sequence[str], store: Mapping[str, Entry]) -> list[str]:
    from difflib import get_close_matches

    alike = of_its_shape
    if len(alike) > 20:
        alike = nearest(wanted.key, alike, 20)
    first = get_close_matches(wanted.key, alike, 3, _ALIKE) or nearest(wanted.key, store)
    if not first and len(of_its_shape) <= 3 and wanted.shape:  # scalars are many, and of one shape
        return list(of_its_shape)
    return first


# ---- names ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rename:
    r"""One entry of `--map`: a prefix, or a regular expression.

    Attributes:
        text: As it was written.
        pattern: What matches the beginning of a name up to a component's end, or the expression.
        replacement: What takes its place; of an expression it may refer to groups (`\1`).
    """

    text: str
    pattern: re.Pattern[str]
    replacement: str

    def apply(self, name: str) -> str | None:
        """The new name, or None where the old one does not match."""
        new, count = self.pattern.subn(self.replacement, name)
        return new if count else None


def parse_rename(text: str) -> Rename:
    """`OLD=NEW`, a prefix that ends where a component of the name does; or `re:PATTERN=REPLACEMENT`.

    `old=new` renames `old` and `old/w` but not `older`; `old/=` drops the prefix, `=new/` puts one
    before every name. An expression is searched in the name, and all that it matches is replaced, as
    `re.sub` does; it is split from its replacement at the last `=`.

    Raises:
        InvalidValueError: Neither form, or not a regular expression.
    """
    if text.startswith("re:"):
        expression, equals, new = text.removeprefix("re:").rpartition("=")
        if not equals or not expression:
            raise InvalidValueError(f"{text}: write re:PATTERN=REPLACEMENT, as in 're:^block(\\d+)/=b\\1/'.")
        try:
            pattern = re.compile(expression)
            pattern.sub(new, "")
            re.compile(f"{expression}|").sub(new, "")  # a reference to a group that is not there
        except (re.error, IndexError) as error:
            raise InvalidValueError(f"{text}: not a regular expression: {error}.") from error
        return Rename(text, pattern, new)
    old, equals, new = text.partition("=")
    if not equals or not (old or new):
        raise InvalidValueError(f"{text}: write OLD=NEW, as in 'encoder/=net/encoder/'.")
    end = "" if not old or old.endswith("/") else "(?=/|$)"
    if not new and end:
        end = "(?:/|$)"  # a name does not begin with a slash
    return Rename(text, re.compile(f"^{re.escape(old)}{end}"), new.replace("\\", r"\\"))


def rename(store: Mapping[str, Entry], renames: Sequence[Rename]) -> Mapping[str, Entry]:
    """The entries under new names: for each name the first of `renames` that matches counts.

    Of a checkpoint that TensorFlow 2 wrote it is the variables' names that are renamed.

    Raises:
        MissingNameError: Renames that match no name; lists the nearest prefixes of each.
        InvalidValueError: Two names become one.
    """
    if not renames:
        return store
    aliases: dict[str, str] = store.aliases() if isinstance(store, Store) else {}
    names = {key: key for key in store if key != OBJECT_GRAPH_KEY} | {
        key: name for name, key in aliases.items()
    }
    result: dict[str, Entry] = {}
    origin: dict[str, str] = {}
    clashes = []
    for key, name in names.items():
        new = next((to for one in renames if (to := one.apply(name)) is not None), name)
        if new in result:
            clashes.append(f"'{origin[new]}' and '{name}' become '{new}'")
        result[new], origin[new] = replace(store[key], name=new), name
    idle = [one for one in renames if not any(one.pattern.search(name) for name in names.values())]
    if idle:
        lines = unmatched(idle, names.values())
        raise MissingNameError(
            f"These match no name in the store:{bullets(lines)}", maps=[one.text for one in idle]
        )
    if clashes:
        raise InvalidValueError(f"Renaming makes one name of two:{bullets(clashes)}", clashes=clashes)
    return result


def unmatched(renames: Iterable[Rename], names: Iterable[str]) -> list[str]:
    """A line for each rename that matches none of the names: which are near, or how they begin."""
    prefixes = _prefixes(names)
    return [_idle(one, prefixes) for one in renames]


def _idle(one: Rename, prefixes: list[str]) -> str:
    near = "" if one.text.startswith("re:") else did_you_mean(one.text.partition("=")[0], prefixes)
    first = [prefix for prefix in prefixes if prefix.find("/") in (-1, len(prefix) - 1)][:5]
    beginnings = ", ".join(map(repr, first))
    return f"'{one.text}'" + (near or f" The names begin with {beginnings}.")


def _prefixes(names: Iterable[str]) -> list[str]:
    """All beginnings of names that end where a component does, and the names."""
    found: dict[str, None] = {}
    for name in names:
        parts = name.split("/")
        found |= dict.fromkeys("/".join(parts[:count]) + "/" for count in range(1, len(parts)))
        found[name] = None
    return list(found)
