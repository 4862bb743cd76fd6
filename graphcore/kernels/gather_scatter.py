"""Reading and writing by index: gather, scatter, stitch, partition, top k, one hot.

An index out of range is an error that names the first one, as on TensorFlow's CPU; NumPy would take
a negative one to count from the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, place_text, shape_text
from .heap import unsorted_largest
from .segment import unsorted_segment_sum


def gather(params: Array, indices: Array, axis: int = 0, batch_dims: int = 0) -> Array:
    """TensorFlow's Gather and GatherV2: slices of `params` along `axis`.

    Args:
        params: Any dtype.
        indices: Integers of any shape.
        axis: Of `params`; negative counts from the end.
        batch_dims: Leading axes that `params` and `indices` share.

    Returns:
        An array of shape params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].

    Raises:
        InvalidArgumentError: An index out of range, or an axis or batch_dims that does not exist.
    """
    if params.ndim == 0:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    if not -params.ndim <= axis < params.ndim:
        raise InvalidArgumentError(
            f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {params.ndim}",
            axis=int(axis),
            rank=params.ndim,
        )
    if not -indices.ndim <= batch_dims <= indices.ndim:
        raise InvalidArgumentError(
            f"Expected batch_dims in the range [{-indices.ndim}, {indices.ndim}], but got {batch_dims}"
        )
    axis = axis % params.ndim
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if batch > axis:
        raise InvalidArgumentError(f"batch_dims ({batch}) must be less than or equal to axis ({axis}).")
    for number in range(batch):
        if params.shape[number] != indices.shape[number]:
            raise InvalidArgumentError(
                f"params.shape[{number}]: {params.shape[number]} should be equal to "
                f"indices.shape[{number}]: {indices.shape[number]}"
            )
    _check_range("indices", indices, params.shape[axis])
    if params.shape[axis] == 0:
        return np.empty(params.shape[:axis] + indices.shape[batch:] + params.shape[axis + 1 :], params.dtype)
    if batch == 0:
        return np.take(params, indices, axis=axis, mode="clip")
    leading, between = params.shape[:batch], params.shape[batch:axis]
    rest, chosen = params.shape[axis + 1 :], indices.shape[batch:]
    split = params.reshape(math.prod(leading), math.prod(between), params.shape[axis], math.prod(rest))
    flat = indices.reshape(math.prod(leading), math.prod(chosen))
    picked = split[np.arange(len(flat))[:, None], :, flat].swapaxes(1, 2)
    return picked.reshape(leading + between + chosen + rest)


def gather_nd(params: Array, indices: Array) -> Array:
    """TensorFlow's GatherNd: slices of `params` at tuples of indices.

    Args:
        params: Any dtype.
        indices: (..., depth); each row indexes the first `depth` axes of `params`.

    Returns:
        An array of shape indices.shape[:-1] + params.shape[depth:].

    Raises:
        InvalidArgumentError: A tuple out of range, or longer than `params` has axes.
    """
    if indices.ndim == 0:
        raise InvalidArgumentError("indices must be at least a vector")
    if params.ndim == 0:
        raise InvalidArgumentError("params must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        raise InvalidArgumentError(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.ndim}"
        )
    count = math.prod(indices.shape[:-1])
    if params.size == 0 and count * math.prod(params.shape[depth:]):
        raise InvalidArgumentError(
            f"Requested more than 0 entries, but params is empty.  Params shape: {shape_text(params.shape)}"
        )
    rows = flat_positions(indices, params.shape, "param shape")
    split = params.reshape(math.prod(params.shape[:depth]), math.prod(params.shape[depth:]))
    out = np.take(split, rows, axis=0, mode="clip") if count else split[:0]
    return out.reshape(indices.shape[:-1] + params.shape[depth:])


def scatter_nd(indices: Array, updates: Array, shape: Sequence[int] | Array) -> Array:
    """TensorFlow's ScatterNd: `updates` added up at tuples of indices in an array of zeros.

    Args:
        indices: (..., depth); a vector is taken for (count, 1), as TensorFlow does.
        updates: Of shape indices.shape[:-1] + shape[depth:].
        shape: Of the result.

    Raises:
        InvalidArgumentError: A tuple out of range, or shapes that do not fit.
    """
    sizes = tuple(int(size) for size in np.asarray(shape).reshape(-1))
    indices = indices[:, None] if indices.ndim == 1 else indices
    check_scatter(indices, updates, sizes)
    depth = indices.shape[-1]
    if math.prod(sizes) == 0:
        return np.zeros(sizes, updates.dtype)
    rows = flat_positions(indices, sizes, "shape")
    values = updates.reshape(len(rows), math.prod(sizes[depth:]))
    return unsorted_segment_sum(values, rows, math.prod(sizes[:depth])).reshape(sizes)


def check_scatter(indices: Array, updates: Array, shape: Sequence[int]) -> None:
    """Checks that `updates` fit at `indices` (..., depth) of an array of `shape`.

    Raises:
        InvalidArgumentError: They do not, with TensorFlow's texts.
    """
    if indices.ndim == 0:
        raise InvalidArgumentError("Indices shape must have rank at least one. Found:[]")
    if math.prod(shape) == 0 and indices.size and updates.size:
        raise InvalidArgumentError(
            f"Indices and updates specified for empty output.  indices shape: {shape_text(indices.shape)}"
        )
    outer, depth = indices.ndim - 1, indices.shape[-1]
    check_scattered((0, outer), "indices", indices.shape, (0, outer), updates.shape)
    check_scattered((depth, len(shape)), "input", shape, (outer, updates.ndim), updates.shape)


def check_scattered(
    dims: tuple[int, int],
    what: str,
    shape: Sequence[int | None],
    others: tuple[int, int],
    updates: Sequence[int | None],
    error: type[Exception] = InvalidArgumentError,
) -> None:
    """Checks that dimensions `dims` of `shape` are dimensions `others` of `updates`, as far as known.

    Args:
        dims: First one, and the one behind the last.
        what: What has that shape.
        shape: Sizes, None where unknown.
        others: As `dims`, of the updates.
        updates: The updates' shape.
        error: The class to raise.

    Raises:
        InvalidArgumentError: They are not, with TensorFlow's text.
    """
    first, second = shape[slice(*dims)], updates[slice(*others)]
    sides = [
        f"imensions [{dims[0]},{dims[1]}) of {what}[shape={shape_text(shape)}]",
        f"imensions [{others[0]},{others[1]}) of updates[shape={shape_text(updates)}]",
    ]
    text = f"Shapes must be equal rank, but are {len(first)} and {len(second)}"
    if len(first) == len(second) and dims[0] <= dims[1]:
        apart = [i for i, (a, b) in enumerate(zip(first, second)) if a != b and None not in (a, b)]
        if not apart:
            return
        text = (
            f"Dimension {apart[0]} in both shapes must be equal, but are {first[apart[0]]} and "
            f"{second[apart[0]]}. Shapes are {shape_text(first)} and {shape_text(second)}."
        )
    if error is InvalidArgumentError:  # the run: TensorFlow's kernel says less than its shape rule
        raise error(f"D{sides[0]} must match d{sides[1]}")
    raise error(f"D{sides[0]} = {shape_text(first)} must match d{sides[1]} = {shape_text(second)}: {text}")


def flat_positions(indices: Array, shape: Sequence[int], what: str) -> Array:
    """Tuples of indices (..., depth) as 1-D positions in an array of shape[:depth].

    Raises:
        InvalidArgumentError: A tuple lies outside; `what` names the thing that it indexes.
    """
    depth = indices.shape[-1]
    limits = np.array(shape[:depth], np.int64)
    flat = indices.reshape(-1, depth) if depth else np.zeros((math.prod(indices.shape[:-1]), 0), np.int64)
    outside = ((flat < 0) | (flat >= limits)).any(axis=1)
    if outside.any():
        number = int(np.argmax(outside))
        place = np.unravel_index(number, indices.shape[:-1]) if indices.ndim > 1 else ()
        raise InvalidArgumentError(
            f"indices{place_text(place)} = [{', '.join(map(str, flat[number]))}] does not index into {what} "
            f"{shape_text(shape)}",
            index=[int(i) for i in flat[number]],
            shape=[int(size) for size in shape],
        )
    steps = np.array([math.prod(shape[axis + 1 : depth]) for axis in range(depth)], np.int64)
    return np.asarray(flat.astype(np.int64) @ steps)


def dynamic_stitch(indices: Sequence[Array], data: Sequence[Array]) -> Array:
    """TensorFlow's DynamicStitch: rows of all `data` at their indices; later ones win.

    Args:
        indices: Integer arrays.
        data: One for each; its shape begins with that of its indices, and the rests are equal.

    Returns:
        As many rows as the highest index plus one; rows that nobody wrote are zeros.

    Raises:
        InvalidArgumentError: Shapes that do not fit, or a negative index.
    """
    for number, (places, values) in enumerate(zip(indices, data, strict=True)):
        if values.shape[: places.ndim] != places.shape:
            raise InvalidArgumentError(
                f"data[{number}].shape = {shape_text(values.shape)} does not start with "
                f"indices[{number}].shape = {shape_text(places.shape)}"
            )
        if values.shape[places.ndim :] != data[0].shape[indices[0].ndim :]:
            first = indices[0].ndim
            raise InvalidArgumentError(
                f"Need data[0].shape[{first}:] = data[{number}].shape[{places.ndim}:], got data[0].shape = "
                f"{shape_text(data[0].shape)}, data[{number}].shape = {shape_text(values.shape)}, "
                f"indices[0].shape = {shape_text(indices[0].shape)}, "
                f"indices[{number}].shape = {shape_text(places.shape)}"
            )
        if (places < 0).any():
            place = int(np.argmax(places < 0))  # TensorFlow counts through all axes
            raise InvalidArgumentError(
                f"indices[{place}] is out of range", input=number, index=int(places.reshape(-1)[place])
            )
    rest = data[0].shape[indices[0].ndim :]
    count = max((int(places.max()) + 1 for places in indices if places.size), default=0)
    out = np.zeros((count, *rest), data[0].dtype)
    for places, values in zip(indices, data, strict=True):
        out[places.reshape(-1)] = values.reshape(places.size, *rest)
    return out


def dynamic_partition(data: Array, partitions: Array, num_partitions: int) -> list[Array]:
    """TensorFlow's DynamicPartition: the rows of `data` by their partition number.

    Args:
        data: Its shape begins with that of `partitions`.
        partitions: Integers in [0, num_partitions).
        num_partitions: Length of the result.

    Raises:
        InvalidArgumentError: A number out of range, or shapes that do not fit.
    """
    if data.shape[: partitions.ndim] != partitions.shape:
        raise InvalidArgumentError(
            f"data.shape must start with partitions.shape, got data.shape = {shape_text(data.shape)}, "
            f"partitions.shape = {shape_text(partitions.shape)}"
        )
    _check_range("partitions", partitions, num_partitions)
    flat = partitions.reshape(-1)
    rows = data.reshape(flat.size, *data.shape[partitions.ndim :])
    return [rows[flat == number] for number in range(num_partitions)]


def sparse_to_dense(
    sparse_indices: Array,
    output_shape: Array,
    sparse_values: Array,
    default_value: Array,
    validate_indices: bool = True,
) -> Array:
    """TensorFlow's SparseToDense.

    Args:
        sparse_indices: A scalar, a vector, or (count, rank): where the values go.
        output_shape: Of the result, 1-D.
        sparse_values: A scalar for all places, or one a place.
        default_value: A scalar for all other places.
        validate_indices: Whether indices must be sorted and without repetition.

    Raises:
        InvalidArgumentError: Indices out of range, out of order or repeated, or shapes that do not fit.
    """
    sizes = tuple(int(size) for size in np.asarray(output_shape).reshape(-1))
    count = sparse_indices.shape[0] if sparse_indices.ndim else 1
    places = sparse_indices.reshape(count, sparse_indices.shape[1] if sparse_indices.ndim == 2 else 1)
    if len(sizes) != places.shape[1]:
        raise InvalidArgumentError(
            f"output_shape has incorrect number of elements: {len(sizes)} should be: {places.shape[1]}"
        )
    if sparse_values.shape not in ((), (count,)):
        raise InvalidArgumentError(
            f"sparse_values has incorrect shape {shape_text(sparse_values.shape)}, should be [] or [{count}]"
        )
    if np.ndim(default_value) != 0:
        raise InvalidArgumentError("default_value should be a scalar.")
    outside = ((places < 0) | (places >= np.array(sizes))).any(axis=1)
    if outside.any():
        number = int(np.argmax(outside))
        raise InvalidArgumentError(
            f"indices[{number}] = {shape_text(places[number])} is out of bounds: "
            f"need 0 <= index < {shape_text(sizes)}"
        )
    flat = flat_positions(places, sizes, "shape")
    if validate_indices and (np.diff(flat) <= 0).any():
        number = int(np.argmax(np.diff(flat) <= 0)) + 1
        fault = "repeated" if flat[number] == flat[number - 1] else "out of order"
        hint = " Many sparse ops require sorted indices." if fault == "out of order" else ""
        period = "." if hint else ""
        raise InvalidArgumentError(
            f"indices[{number}] = {shape_text(places[number])} is {fault}{period}{hint}", position=number
        )
    out = np.full(math.prod(sizes), default_value, sparse_values.dtype)
    out[flat] = sparse_values
    return out.reshape(sizes)


def top_k(x: Array, k: int, sorted: bool = True) -> tuple[Array, Array]:
    """TensorFlow's TopK and TopKV2: the k largest of each row (last axis) and where they are.

    Args:
        x: At least 1-D, a real dtype.
        k: How many.
        sorted: Whether in descending order, equal ones by position; else in the order in which
            TensorFlow's heap leaves them (only where 1 < k < the row's length).

    Returns:
        `(values, indices)`, both of shape x.shape[:-1] + (k,), indices int32.

    Raises:
        InvalidArgumentError: k is negative or larger than a row.
    """
    count = int(k)
    if count < 0:
        raise InvalidArgumentError(f"Need k >= 0, got {count}", k=count)
    if x.ndim == 0:
        raise InvalidArgumentError("input must be >= 1-D, got shape []")
    if x.shape[-1] < count:
        raise InvalidArgumentError(
            f"input must have at least k columns. Had {x.shape[-1]}, needed {count}",
            k=count,
            columns=x.shape[-1],
        )
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    if count == 0 or rows.size == 0:
        places = np.zeros((len(rows), count), np.int64)
    elif count == 1:
        places = np.argmax(rows, axis=1)[:, None]
    elif not sorted and count < rows.shape[1]:
        places = np.stack([unsorted_largest(row, count) for row in rows])
    elif count * 8 < rows.shape[1]:
        places = np.stack([_largest(row, count) for row in rows])
    else:
        places = _descending(rows)[:, :count]
    values = np.take_along_axis(rows, places, axis=1)
    shape = (*x.shape[:-1], count)
    return values.reshape(shape), places.reshape(shape).astype(np.int32)


def _descending(rows: Array) -> Array:
    """Positions that sort each row in descending order, equal ones in their own order."""
    backwards = np.argsort(rows[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return np.asarray(rows.shape[-1] - 1 - backwards)


def _largest(row: Array, count: int) -> Array:
    """As `_descending(row)[:count]`, by sorting only what reaches the count-th largest number."""
    threshold = np.partition(row, len(row) - count)[len(row) - count]
    candidates = np.flatnonzero(~(row < threshold))
    return np.asarray(candidates[_descending(row[candidates])[:count]])


def in_top_k(predictions: Array, targets: Array, k: int) -> Array:
    """TensorFlow's InTopK: whether fewer than k predictions of a row exceed that of its target.

    Args:
        predictions: (batch, classes).
        targets: (batch,), class numbers; one out of range gives False.
        k: See above.

    Returns:
        bool, (batch,); False for a row with a prediction that is not finite.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    if predictions.ndim != 2:
        raise InvalidArgumentError("predictions must be 2-dimensional")
    if targets.ndim != 1:
        raise InvalidArgumentError("targets must be 1-dimensional")
    if len(predictions) != len(targets):
        raise InvalidArgumentError(
            f"First dimension of predictions {len(predictions)} must match length of targets {len(targets)}"
        )
    classes = predictions.shape[1]
    if classes == 0:
        return np.zeros(len(targets), np.bool_)
    known = (targets >= 0) & (targets < classes) & np.isfinite(predictions).all(axis=1)
    own = np.take_along_axis(predictions, np.where(known, targets, 0)[:, None], axis=1)
    return np.asarray(known & (np.count_nonzero(predictions > own, axis=1) < k))


def one_hot(indices: Array, depth: int, on_value: Array, off_value: Array, axis: int = -1) -> Array:
    """TensorFlow's OneHot.

    Args:
        indices: Integers of any shape; one outside [0, depth) gives no `on_value`.
        depth: Length of the new axis.
        on_value: A scalar; its dtype is that of the result.
        off_value: A scalar.
        axis: Where the new axis goes; -1 is the end.

    Raises:
        InvalidArgumentError: A negative depth, an axis that cannot be, values that are not scalars.
    """
    count = int(depth)
    if not -1 <= axis <= indices.ndim:
        raise InvalidArgumentError(
            f"Expected axis to be -1 or between [0, {indices.ndim + 1}).  But received: {axis}", axis=axis
        )
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        if np.ndim(value) != 0:
            raise InvalidArgumentError(f"{name} must be a scalar, but got: {shape_text(np.shape(value))}")
    if count < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {count}", depth=count)
    where = axis % (indices.ndim + 1)
    classes = np.arange(count).reshape(-1, *[1] * (indices.ndim - where))
    return np.where(np.expand_dims(indices, where) == classes, on_value, off_value)


def _check_range(name: str, indices: Array, limit: int) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= limit):
        outside = (indices < 0) | (indices >= limit)
        place = np.unravel_index(int(np.argmax(outside)), indices.shape) if indices.ndim else ()
        raise InvalidArgumentError(
            f"{name}{place_text(place)} = {indices[place]} is not in [0, {limit})",
            index=int(indices[place]),
            limit=int(limit),
        )
