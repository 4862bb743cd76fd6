"""Fed arrays cut into batches along axis 0, in order or shuffled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..formats.errors import InvalidValueError, bullets

DEFAULT_SIZE = 32


@dataclass(frozen=True, slots=True)
class Batches:
    """The feeds of a training or validation run.

    Attributes:
        rows: Arrays that are cut along axis 0, by tensor; all have `count` rows.
        whole: Arrays that every step gets as they are.
        count: Number of rows; 0 without such arrays.
        size: Rows in a batch.
        exact: Whether every batch must have `size` rows (the graph says so): a shorter rest is left out.
    """

    rows: dict[Any, Any]
    whole: dict[Any, Any]
    count: int
    size: int
    exact: bool

    @property
    def per_epoch(self) -> int:
        """Batches that one pass over the rows gives; 1 without rows."""
        if not self.rows:
            return 1
        return self.count // self.size if self.exact else -(-self.count // self.size)

    def epoch(self, random: Any = None) -> Iterator[dict[Any, Any]]:
        """One pass: a feed dict for each batch, rows in a new order where a NumPy generator is given."""
        if not self.rows:
            yield self.whole
            return
        order = random.permutation(self.count) if random is not None else None
        for index in range(self.per_epoch):
            span = slice(index * self.size, (index + 1) * self.size)
            chosen = span if order is None else order[span]
            yield self.whole | {tensor: array[chosen] for tensor, array in self.rows.items()}


def cut(fed: dict[Any, Any], size: int | None) -> Batches:
    """Decides which arrays are rows and which are fed whole.

    An array is cut along axis 0 unless its tensor has rank 0 or a first dimension that is the array's
    own. A tensor whose first dimension is known and smaller fixes the batch size.

    Args:
        fed: Arrays by tensor.
        size: Rows in a batch, or None for what the graph fixes, else 32.

    Raises:
        InvalidValueError: The arrays have different numbers of rows, or the size is not the graph's.
    """
    rows, whole = {}, {}
    fixed: set[int] = set()
    for tensor, array in fed.items():
        shape = tensor.get_shape()
        first = shape.as_list()[0] if shape.ndims else None
        if array.ndim == 0 or shape.ndims == 0 or (first is not None and array.shape[0] == first != size):
            whole[tensor] = array
            continue
        rows[tensor] = array
        if first is not None:
            fixed.add(first)
    counts = {tensor.name: array.shape[0] for tensor, array in rows.items()}
    if len(set(counts.values())) > 1:
        lines = [f"{name}: {count}" for name, count in counts.items()]
        raise InvalidValueError(
            f"The fed arrays have different numbers of rows:{bullets(lines)}", rows=counts
        )
    count = next(iter(counts.values()), 0)
    if rows and not count:
        raise InvalidValueError("The fed arrays have no rows.", rows=counts)
    if fixed and (len(fixed) > 1 or (size is not None and size not in fixed)):
        raise InvalidValueError(
            f"The graph is made for batches of {' and '.join(map(str, sorted(fixed)))} rows"
            + (f", not {size}." if size is not None else "."),
            fixed=sorted(fixed),
        )
    chosen = next(iter(fixed), size or min(DEFAULT_SIZE, count or 1))
    if fixed and chosen > count:
        raise InvalidValueError(
            f"The graph is made for batches of {chosen} rows; only {count} are fed.", rows=counts
        )
    return Batches(rows, whole, count, min(chosen, count or 1), bool(fixed))
