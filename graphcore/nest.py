"""Nested structures of lists, tuples, named tuples and dicts: `tf.nest`.

A dict's leaves come in the order of its sorted keys. Tensors of several parts (`IndexedSlices`,
`SparseTensor`) are leaves unless `expand_composites` asks for their components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import not_yet
from .errors import InvalidTypeError, InvalidValueError


def is_nested(structure: Any) -> bool:
    """Whether `structure` is a list, tuple or dict, not a leaf."""
    return isinstance(structure, (list, tuple, Mapping))


def _is_composite(value: Any) -> bool:
    return hasattr(value, "_components")


def _children(structure: Any, expand: bool) -> list[Any] | None:
    """The parts of a structure in order, or None for a leaf."""
    if isinstance(structure, Mapping):
        try:
            return [structure[key] for key in sorted(structure)]
        except TypeError:
            raise InvalidTypeError("nest only supports dicts with sortable keys.") from None
    if isinstance(structure, (list, tuple)):
        return list(structure)
    if expand and _is_composite(structure):
        parts: list[Any] = structure._components()
        return parts
    return None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure in order; a leaf alone gives a list of one."""
    children = _children(structure, expand_composites)
    if children is None:
        return [structure]
    return [leaf for child in children for leaf in flatten(child, expand_composites)]


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """`structure` with its leaves replaced, in order, by those of `flat_sequence`.

    Raises:
        TypeError: `flat_sequence` is not a sequence.
        ValueError: There are more or fewer values than leaves.
    """
    if not isinstance(flat_sequence, (list, tuple)):
        raise InvalidTypeError("flat_sequence must be a sequence")
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        if _children(structure, expand_composites) is None:
            raise InvalidValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1"
            )
        raise InvalidValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
            f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence), expand_composites)


def _pack(structure: Any, values: Iterator[Any], expand: bool) -> Any:
    children = _children(structure, expand)
    if children is None:
        return next(values)
    return _like(structure, [_pack(child, values, expand) for child in children])


def _like(structure: Any, parts: list[Any]) -> Any:
    """A structure of the same kind with other parts, which come in the order of `_children`."""
    if isinstance(structure, Mapping):
        made = dict(zip(sorted(structure), parts))
        kind: Any = type(structure)
        return kind((key, made[key]) for key in structure)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*parts)
    if isinstance(structure, (list, tuple)):
        return type(structure)(parts)
    return structure._with_components(parts)


def map_structure(
    func: Callable[..., Any], *structures: Any, check_types: bool = True, expand_composites: bool = False
) -> Any:
    """A structure of what `func` gives for the leaves at each place of the structures.

    Raises:
        TypeError: `func` is not callable, or the kinds of sequences differ.
        ValueError: No structure is given, or their lengths or keys differ.
    """
    if not callable(func):
        raise InvalidTypeError(f"func must be callable, got: {func}")
    if not structures:
        raise InvalidValueError("Must provide at least one structure")
    for other in structures[1:]:
        assert_same_structure(structures[0], other, check_types, expand_composites)
    leaves = zip(*[flatten(structure, expand_composites) for structure in structures])
    return pack_sequence_as(structures[0], [func(*each) for each in leaves], expand_composites)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Checks that two structures are alike but for their leaves.

    Raises:
        TypeError: The kinds of sequences differ.
        ValueError: Lengths or keys differ, or one has a leaf where the other has a sequence.
    """
    problem = _difference(nest1, nest2, check_types, expand_composites)
    if problem is None:
        return
    kind, text = problem
    dots1 = map_leaves(nest1, expand_composites)
    dots2 = map_leaves(nest2, expand_composites)
    raise kind(
        f"The two structures don't have the same nested structure.\n\nFirst structure: "
        f"type={type(nest1).__name__} str={nest1}\n\nSecond structure: type={type(nest2).__name__} "
        f"str={nest2}\n\n{text}\nEntire first structure:\n{dots1}\nEntire second structure:\n{dots2}"
    )


def map_leaves(structure: Any, expand_composites: bool = False) -> Any:
    """The structure with a dot for each leaf, as error messages show it."""
    return _pack_dots(structure, expand_composites)


class _Dot:
    def __repr__(self) -> str:
        return "."


def _pack_dots(structure: Any, expand: bool) -> Any:
    children = _children(structure, expand and not _is_composite(structure))
    return _Dot() if children is None else _like(structure, [_pack_dots(each, expand) for each in children])


def _difference(a: Any, b: Any, check_types: bool, expand: bool) -> tuple[type[Exception], str] | None:
    """The error class and sentence for the first place where two structures differ, or None."""
    first, second = _children(a, expand), _children(b, expand)
    if first is None and second is None:
        return None
    if first is None or second is None:
        one, other, many = ("first", "second", b) if first is None else ("second", "first", a)
        return (
            InvalidValueError,
            f'More specifically: Substructure "type={type(many).__name__} str={many}" is a sequence, while '
            f"the {one} structure has a leaf there, not what the {other} has",
        )
    if check_types and not _same_kind(a, b):
        return (
            InvalidTypeError,
            "The two structures don't have the same sequence type. First structure has type "
            f"{type(a)}, while second structure has type {type(b)}.",
        )
    if isinstance(a, Mapping) and isinstance(b, Mapping) and set(a) != set(b):
        return (
            InvalidValueError,
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(a)}, while second structure has keys {list(b)}",
        )
    if len(first) != len(second):
        return (
            InvalidValueError,
            "The two structures don't have the same number of elements. First structure has "
            f"{len(first)}, second structure has {len(second)}.",
        )
    for one_child, other_child in zip(first, second):
        found = _difference(one_child, other_child, check_types, expand)
        if found is not None:
            return found
    return None


def _same_kind(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return True
    if hasattr(a, "_fields") and hasattr(b, "_fields"):
        return type(a).__name__ == type(b).__name__ and a._fields == b._fields
    return type(a) is type(b)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)
