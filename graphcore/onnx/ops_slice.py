"""Taking parts: slices, gathers, scatters, choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .blocks import Inexpressible
from .table import Call, translates

_END = 1 << 40


@translates("Slice")
def _slice(call: Call) -> str:
    if call.shape(0) == ():
        return call[0]
    begins, sizes = call.value(1), call.value(2)
    if begins is not None and sizes is not None:
        starts = begins.tolist()
        ends = [_END if size == -1 else start + size for start, size in zip(starts, sizes.tolist())]
        axes = [axis for axis in range(len(starts)) if starts[axis] or ends[axis] != _END]
        if not axes:
            return call[0]
        kept = [call.make.ints(*[one[axis] for axis in axes]) for one in (starts, ends)]
        return call.emit("Slice", call[0], *kept, call.make.ints(*axes))
    start, size = call.ints(1), call.ints(2)
    whole = call.emit("Equal", size, call.make.ints(-1))
    end = call.emit("Where", whole, call.make.ints(_END), call.emit("Add", start, size))
    return call.emit("Slice", call[0], start, end)


@translates("StridedSlice")
def _strided_slice(call: Call) -> str:
    plan = _Strided(call)
    name = call[0]
    if plan.axes:
        name = call.emit(
            "Slice", name, plan.bound(1, plan.starts), plan.bound(2, plan.ends),
            call.make.ints(*plan.axes), call.make.ints(*plan.steps),
        )  # fmt: skip
    name = call.make.squeeze(name, *plan.shrunk)
    return call.make.unsqueeze(name, *plan.new)


class _Strided:
    """The axes of a strided slice by what is done with them.

    Attributes:
        axes: Axes of the input that are cut, with `starts` and `ends` (a number, or the place of a computed
            one in the vector that gives it) and `steps`.
        shrunk: Axes that go.
        new: Axes that are put in, in the result.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.axes: list[int] = []
        self.starts: list[Any] = []
        self.ends: list[Any] = []
        self.steps: list[int] = []
        self.shrunk: list[int] = []
        self.new: list[int] = []
        masks = {
            name: int(call.attr(f"{name}_mask"))
            for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
        }
        begins, ends = call.value(1), call.value(2)
        steps = call.known(3, "stride")
        count = len(steps)
        axis = place = 0
        for index in range(count):
            bit = 1 << index
            if masks["ellipsis"] & bit:
                later = sum(not masks["new_axis"] >> i & 1 for i in range(index + 1, count))
                skipped = call.rank(0) - later - axis
                axis += skipped
                place += skipped
                continue
            if masks["new_axis"] & bit:
                self.new.append(place)
                place += 1
                continue
            self._add(index, bit, axis, masks, begins, ends, int(steps[index]))
            if not masks["shrink_axis"] & bit:
                place += 1
            axis += 1

    def _add(
        self, index: int, bit: int, axis: int, masks: dict[str, int], begins: Any, ends: Any, step: int
    ) -> None:
        begin: Any = (index,) if begins is None else int(begins[index])
        if masks["shrink_axis"] & bit:
            self.shrunk.append(axis)
            end: Any = (index, "next") if begins is None else begin + 1 or _END
            self._cut(axis, begin, end, 1)
            return
        if masks["begin"] & bit:
            begin = 0 if step > 0 else _END
        end = (index,) if ends is None else int(ends[index])
        if masks["end"] & bit:
            end = _END if step > 0 else -_END
        if begin == 0 and end == _END and step == 1:
            return
        self._cut(axis, begin, end, step)

    def _cut(self, axis: int, begin: Any, end: Any, step: int) -> None:
        self.axes.append(axis)
        self.starts.append(begin)
        self.ends.append(end)
        self.steps.append(step)

    def bound(self, source: int, bounds: list[Any]) -> str:
        """A vector of bounds, known ones and computed ones."""
        make = self.call.make
        if all(isinstance(bound, int) for bound in bounds):
            return make.ints(*bounds)
        parts = []
        for bound in bounds:
            if isinstance(bound, int):
                parts.append(make.ints(bound))
                continue
            if bound[1:]:  # the element after the one that begins: of -1 all that is left
                at = make.emit("Gather", self.call.ints(1), make.ints(bound[0]))
                after = make.emit("Add", at, make.ints(1))
                last = make.emit("Equal", after, make.ints(0))
                parts.append(make.emit("Where", last, make.ints(_END), after))
            else:
                parts.append(make.emit("Gather", self.call.ints(source), make.ints(bound[0])))
        return make.emit("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]


@translates("Gather")
def _gather(call: Call) -> str:
    return call.emit("Gather", call[0], call[1], axis=0)


@translates("GatherV2")
def _gather_v2(call: Call) -> str:
    batch = int(call.attr("batch_dims")) if call.op.has_attr("batch_dims") else 0
    axis = int(call.known(2, "axis").reshape(()))
    if not batch:
        return call.emit("Gather", call[0], call[1], axis=axis)
    rank = call.rank(0)
    batch, axis = batch if batch > 0 else batch + call.rank(1), axis % rank
    if axis != batch:
        raise Inexpressible("it gathers in batches along another axis than the first")
    return call.emit("GatherND", call[0], call.make.unsqueeze(call.ints(1), -1), batch_dims=batch)


@translates("GatherNd")
def _gather_nd(call: Call) -> str:
    return call.emit("GatherND", call[0], call.ints(1))


@translates("ScatterNd")
def _scatter_nd(call: Call) -> str:
    zeros = call.emit("Expand", call.like(1, 0), call.ints(2))
    return call.emit("ScatterND", zeros, call.ints(0), call[1], reduction="add")


@translates("UnsortedSegmentSum")
def _segment_sum(call: Call) -> str:
    return _by_segment(call, call.make.reshape(call.ints(2), 1))


@translates("SegmentSum")
def _sorted_segment_sum(call: Call) -> str:
    numbers = call.emit("Concat", call.make.ints(-1), call.ints(1), axis=0)  # of no rows there is none
    last = call.make.slice(numbers, 0, -1, _END)
    return _by_segment(call, call.emit("Add", last, call.make.ints(1)))


def _by_segment(call: Call, count: str) -> str:
    """Sums of the rows of each segment; those of a negative number are left out."""
    rank = call.rank(1)
    rows = call.emit("Slice", call.emit("Shape", call[0]), call.make.ints(rank), call.make.ints(_END))
    more = call.emit("Concat", call.emit("Add", count, call.make.ints(1)), rows, axis=0)
    zeros = call.emit("Expand", call.like(0, 0), more)
    numbers = call.ints(1)
    below = call.emit("Less", numbers, call.const(np.int64(0)))
    numbers = call.emit("Where", below, call.make.squeeze(count, 0), numbers)
    sums = call.emit("ScatterND", zeros, call.make.unsqueeze(numbers, -1), call[0], reduction="add")
    return call.emit("Slice", sums, call.make.ints(0), count, call.make.ints(0))


@translates("TensorScatterUpdate")
def _tensor_scatter(call: Call) -> str:
    return call.emit("ScatterND", call[0], call.ints(1), call[2])


@translates("TensorScatterAdd")
def _tensor_scatter_add(call: Call) -> str:
    return call.emit("ScatterND", call[0], call.ints(1), call[2], reduction="add")


@translates("Where")
def _where(call: Call) -> str:
    given = call[0]
    if call.dtype(0) != np.bool_:
        given = call.make.cast(given, np.bool_)
    return call.make.transpose(call.emit("NonZero", given), [1, 0])


@translates("SelectV2")
def _select_v2(call: Call) -> str:
    return call.emit("Where", *call.names)


@translates("Select")
def _select(call: Call) -> str:
    condition, shape, other = call[0], call.shape(0), call.shape(1)
    if shape is None or (len(shape) == 1 and other is None):
        # Of a vector each element chooses a row: axes of one element behind it, as many as there are.
        own = call.emit("Shape", condition)
        missing = call.emit("Sub", call.emit("Shape", call.emit("Shape", call[1])), call.emit("Shape", own))
        ones = call.emit("Expand", call.make.ints(1), missing)
        condition = call.emit("Reshape", condition, call.emit("Concat", own, ones, axis=0), allowzero=1)
    elif len(shape) == 1:
        condition = call.make.unsqueeze(condition, *range(1, call.rank(1)))
    return call.emit("Where", condition, call[1], call[2])


@translates("OneHot")
def _one_hot(call: Call) -> str:
    # ONNX counts negative indices from the end; TensorFlow has no place for them.
    indices, depth = call.ints(0), call.ints(1)
    inside = call.emit("Less", call.emit("Abs", indices), depth)
    inside = call.emit("And", inside, call.emit("Not", call.emit("Less", indices, call.const(np.int64(0)))))
    indices = call.emit("Where", inside, indices, depth)
    axis, scalar = int(call.attr("axis")), call.rank(0) == 0
    if scalar:
        indices, axis = call.make.reshape(indices, 1), -1
    if call.dtype(2) in (np.float32, np.int64):
        ends = [call.make.reshape(call[index], 1) for index in (3, 2)]
        made = call.emit("OneHot", indices, depth, call.emit("Concat", *ends, axis=0), axis=axis)
    else:
        made = call.emit("OneHot", indices, depth, call.make.ints(0, 1), axis=axis)
        made = call.emit("Where", call.make.cast(made, np.bool_), call[2], call[3])
    return call.make.squeeze(made, 0) if scalar else made


@translates("MatrixBandPart")
def _band(call: Call) -> str:
    lower, upper = call.value(1), call.value(2)
    name = call[0]
    if lower is None or upper is None or int(lower) >= 0:
        keep = call.emit("Neg", call.ints(1))
        if lower is None:
            raise Inexpressible("the width of the band is computed")
        name = call.emit("Trilu", name, keep, upper=1)
    if upper is None:
        raise Inexpressible("the width of the band is computed")
    if int(upper) >= 0:
        name = call.emit("Trilu", name, call.ints(2), upper=0)
    return name


@translates("MatrixDiag", "Diag")
def _matrix_diag(call: Call) -> str:
    if call.op.type == "Diag" and call.rank(0) != 1:
        raise Inexpressible("a diagonal of more than two axes")
    size = call.size_of(0, -1)
    side = call.make.squeeze(size, 0)
    places = call.emit("Range", call.const(np.int64(0)), side, call.const(np.int64(1)))
    same = call.emit("Equal", call.make.unsqueeze(places, 0), call.make.unsqueeze(places, 1))
    return call.emit("Where", same, call.make.unsqueeze(call[0], -1), call.like(0, 0))


@translates("Unique", "UniqueV2")
def _unique(call: Call) -> list[str]:
    if call.op.type == "UniqueV2" and call.rank(0) != 1:
        raise Inexpressible("it compares slices along an axis")
    given, dtype = call[0], call.dtype(0)
    if dtype.kind in "iu" and dtype != np.int64:
        given = call.make.cast(given, np.int64)  # runtimes have it for few dtypes
    values, _, index, _ = call.make.emit_many("Unique", [given], 4, sorted=0)
    return [
        call.make.sizes_as(values, dtype) if given != call[0] else values,
        call.make.sizes_as(index, call.out_dtype(1)),
    ]
