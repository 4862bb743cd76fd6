"""Least, greatest, mean and deviation of a tensor, in one pass over pieces of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_PIECE = 1 << 18
"""Elements that are converted at a time: what is held besides the array stays small."""


def statistics(pieces: np.ndarray[Any, Any] | Iterable[np.ndarray[Any, Any]]) -> dict[str, Any]:
    """`{"size", "min", "max", "mean", "std", "zeros", "nan", "inf"}` of an array, or of all its pieces.

    Of complex numbers the absolute values count. NaNs are counted and left out of the rest; where
    nothing is left, and for strings (which have a size only), the moments are None or absent. An infinity
    gives an infinite or NaN mean. Pieces are joined by their means and squared deviations, so that neither
    many elements nor a large mean costs precision.

    Source: Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample
    variances" (1979).
    """
    import numpy as np

    least = greatest = None
    size = count = zeros = nan = inf = 0
    mean = squares = 0.0
    numeric = False
    with np.errstate(all="ignore"):  # infinities give NaN
        for raw in _flat_pieces(pieces):
            size += raw.size
            if raw.dtype.kind in "OSU" or not raw.size:
                continue
            numeric = True
            wide = np.abs(raw).astype(np.float64) if raw.dtype.kind == "c" else raw.astype(np.float64)
            known = wide[~np.isnan(wide)]
            nan += wide.size - known.size
            zeros += int((known == 0).sum())
            inf += int(np.isinf(known).sum())
            if not known.size:
                continue
            low, high = float(known.min()), float(known.max())
            least = low if least is None else min(least, low)
            greatest = high if greatest is None else max(greatest, high)
            middle = float(known.mean())
            joined = count + known.size
            delta = middle - mean
            squares += float(np.square(known - middle).sum()) + delta * delta * count * known.size / joined
            mean += delta * known.size / joined
            count = joined
    if not numeric:
        return {"size": size}
    moments = [least, greatest, mean, float(np.sqrt(squares / count))] if count else [None] * 4
    named = dict(zip(("min", "max", "mean", "std"), moments, strict=True))
    return {"size": size, **named, "zeros": zeros, "nan": nan, "inf": inf}


def _flat_pieces(
    pieces: np.ndarray[Any, Any] | Iterable[np.ndarray[Any, Any]],
) -> Iterator[np.ndarray[Any, Any]]:
    import numpy as np

    for piece in [pieces] if isinstance(pieces, np.ndarray) else pieces:
        flat = piece.reshape(-1)
        for start in range(0, flat.size, _PIECE):
            yield flat[start : start + _PIECE]
