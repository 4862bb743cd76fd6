"""Random draws of op calls, ours against TensorFlow's.

A draw takes a row of the op table and changes what the op's declaration leaves open: dtypes, sizes (also 0),
attributes, and values (NaN, infinity, extremes). Both systems run it. They agree when both give the same
values, or both refuse it. By hand, for some or all ops, a line for each draw that disagrees:

    python tests/support/op_fuzz.py [--draws N] [OP ...]

What it finds becomes a row of the op table.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import op_cases
import op_fuzz_checks
import op_runs
from op_cases import Case, Quantized, Var

from sgtool import graphcore
from sgtool.graphcore import registry

KINDS = "fciub"
# Ops whose draws may disagree, and why. Named on the command line, they are run all the same.
_UNCHECKED = "TensorFlow computes something of inputs that do not fit, which we refuse"
_PADDING = "whether infinity times the zeros of the padding is added depends on the library"
_EMPTY = "TensorFlow 2 gives an empty result the shape of the input"
_UNUSED = "outputs that are not used have other shapes in TensorFlow 2"
_ORDER = "indices out of order, which TensorFlow takes as they come"
_CRASH = "TensorFlow crashes"
EXEMPT: dict[str, str] = {
    "AvgPool3D": "TensorFlow 2 has two kernels, which begin at different elements",
    "AvgPool3DGrad": _UNCHECKED,
    "AvgPoolGrad": _UNCHECKED,
    "BlockLSTM": _CRASH,
    "BlockLSTMGrad": _UNCHECKED,
    "BlockLSTMGradV2": _CRASH,
    "BlockLSTMV2": "TensorFlow leaves what is after the last step as it was in memory",
    "CTCBeamSearchDecoder": "beams in which NaN is compared",
    "ComplexAbs": "TensorFlow refuses other output dtypes at the first run only",
    "Conv2D": _EMPTY,
    "Conv2DBackpropInput": _UNCHECKED,
    "Conv3D": _EMPTY,
    "Conv3DBackpropInputV2": _UNCHECKED,
    "CropAndResizeGradBoxes": _CRASH,
    "DepthwiseConv2dNativeBackpropFilter": _UNCHECKED,
    "DepthwiseConv2dNativeBackpropInput": _UNCHECKED,
    "EditDistance": _ORDER,
    "EncodeWav": "1.15 refuses a sound of no frames, TensorFlow 2 writes its header",
    "Empty": "its values are not defined",
    "FakeQuantWithMinMaxArgs": "TensorFlow 2 multiplies by the inverse of the step: halves round elsewhere",
    "Fingerprint": "TensorFlow 2 leaves the fingerprint of nothing as it was in memory",
    "FractionalMaxPoolGrad": _CRASH,
    "FusedBatchNormGrad": _UNUSED,
    "FusedBatchNormGradV2": _UNUSED,
    "FusedBatchNormGradV3": _UNUSED,
    "FusedBatchNormV3": _UNUSED,
    "IRFFT3D": "TensorFlow 2 leaves what a transform of nothing gives as it was in memory",
    "FusedPadConv2D": "half precision is added up in another order",
    "FusedResizeAndPadConv2D": _EMPTY,
    "InplaceAdd": "rows that occur twice, which TensorFlow adds at the same time",
    "InplaceSub": "rows that occur twice, which TensorFlow adds at the same time",
    "InvGrad": _UNCHECKED,
    "LSTMBlockCellGrad": _UNCHECKED,
    "MatrixTriangularSolve": "1.15 refuses zeros on the diagonal, TensorFlow 2 divides by them",
    "MatrixSolveLs": "numbers of which the squares overflow",
    "MaxPool3D": "TensorFlow 2 has two kernels, which begin at different elements",
    "MaxPool3DGradGrad": "TensorFlow 2 refuses empty ones",
    "MaxPoolGradGrad": _UNCHECKED,
    "MaxPoolGradGradV2": _UNCHECKED,
    "MaxPoolGradWithArgmax": _CRASH,
    "ParameterizedTruncatedNormal": "what is drawn again depends on how TensorFlow's threads share the work",
    "Qr": "of a matrix of less than full rank some columns may be any",
    "QuantizeV2": "TensorFlow 2 nudges the range in another way",
    "RaggedTensorToTensor": _UNCHECKED,
    "RaggedRange": _UNCHECKED,
    "Round": "TensorFlow 2 rounds negative integers wrongly",
    "SparseAddGrad": _ORDER,
    "SparseCross": _ORDER,
    "SparseReduceMax": _UNCHECKED,
    "SparseReduceMaxSparse": _UNCHECKED,
    "SparseReduceSum": _UNCHECKED,
    "SparseReduceSumSparse": _UNCHECKED,
    "SparseSoftmax": _ORDER,
    "SparseSparseMaximum": _ORDER,
    "SparseSparseMinimum": _ORDER,
    "SplitV": "TensorFlow 2 does not look at the sizes of a split in one part",
    "StatelessRandomNormalV2": _UNCHECKED,
    "StatelessRandomUniformFullInt": "seeds of dtypes for which TensorFlow has no kernel",
    "StatelessRandomUniformFullIntV2": _UNCHECKED,
    "StatelessRandomUniformIntV2": _UNCHECKED,
    "StatelessRandomUniformV2": _UNCHECKED,
    "StatelessTruncatedNormalV2": _UNCHECKED,
    "Svd": "the signs of complex singular vectors may be any",
    "StringFormat": "TensorFlow 2 writes nothing for no bools",
    "StringNGrams": "TensorFlow 2 wants splits that end with the data",
    "TridiagonalSolve": "1.15 refuses a zero on the diagonal, TensorFlow 2 divides by it",
    "Unbatch": "batch indices that no Batch gives",
    "UnbatchGrad": "batch indices that no Batch gives",
    "UnicodeDecodeWithOffsets": _CRASH,
    "UnicodeEncode": "TensorFlow 2 wants splits that end with the data",
}
FINITE = {
    "BatchMatMul": "complex infinities",
    "BatchMatMulV2": "complex infinities",
    "DepthwiseConv2dNative": _PADDING,
    "FractionalMaxPool": "which of NaN and a number is the larger one depends on their order",
    "Lu": "which row of NaN is the pivot",
    "KmeansPlusPlusInitialization": "infinity is never the farther one",
    "LRNGrad": "an overflow in one of two orders",
    "MatMul": "complex infinities",
    "MatrixSquareRoot": "there is none of infinity",
    "NearestNeighbors": "infinite distances, one less another",
    "RFFT": "complex infinities",
    "RGBToHSV": "NaN has no place in an order",
    "ScaleAndTranslateGrad": "an overflow in one of two orders",
    "SparseMatMul": "zeros times infinity are left out",
    "TopKV2": "NaN has no place in an order",
}
# Ops whose draws may ask for more memory than there is.
UNBOUNDED = {"Range", "RaggedRange"}
EXEMPT_OF = {"value": EXEMPT, "shape": op_fuzz_checks.SHAPES, "gradient": op_fuzz_checks.GRADIENTS}
TOLERANCE = {"float16": 8e-3, "bfloat16": 2e-2, "float32": 2e-5, "complex64": 2e-5}
EXPECTED = (graphcore.errors.OpError, ValueError, TypeError, NotImplementedError, LookupError)
KINDS_OF_CHECKS = ("value", "shape", "gradient", "text")


def usable(case: Case) -> bool:
    """Whether a row can be varied: its inputs are plain arrays and TensorFlow's values count."""
    plain = all(not isinstance(item, (Var, Quantized)) for item in op_runs.flatten(case.inputs))
    return plain and case.oracle is True


def rows() -> dict[str, list[Case]]:
    """The usable rows by op."""
    found: dict[str, list[Case]] = {}
    for _, case in op_cases.all_cases():
        if usable(case):
            found.setdefault(case.op, []).append(case)
    return found


def _dtyped(value: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    if value.dtype.kind not in KINDS and value.dtype.name != "bfloat16":
        return value
    if dtype.kind == "u":
        value = np.abs(np.real(value).astype(np.float64)) if value.dtype.kind != "b" else value
    if value.dtype.kind == "c" and dtype.kind != "c":
        value = value.real
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)


def _change_dtypes(rng: np.random.Generator, case: Case) -> Case:
    """Another dtype for one of the type attributes."""
    op = op_runs.definition(case)
    keys = sorted({arg.type_attr for arg in op.inputs if arg.type_attr})
    if not keys:
        return case
    key = keys[rng.integers(len(keys))]
    allowed = [dtype for dtype in op.attrs[key].allowed or () if np.dtype(dtype.as_numpy_dtype).kind in KINDS]
    if key in case.attrs or not allowed:
        return case
    dtype = np.dtype(allowed[rng.integers(len(allowed))].as_numpy_dtype)
    inputs = [
        ([_dtyped(item, dtype) for item in value] if isinstance(value, list) else _dtyped(value, dtype))
        if arg.type_attr == key
        else value
        for arg, value in zip(op.inputs, case.inputs, strict=True)
    ]
    return dataclasses.replace(case, inputs=tuple(inputs))


def _resized(value: np.ndarray, axis: int, size: int) -> np.ndarray:
    if not value.shape[axis]:
        return value
    taken: np.ndarray = np.take(value, np.arange(size) % value.shape[axis], axis)
    return taken


def _change_sizes(rng: np.random.Generator, case: Case) -> Case:
    """Another size of one axis, in one input or in all that have it there."""
    flat = [item for item in op_runs.flatten(case.inputs) if isinstance(item, np.ndarray) and item.ndim]
    if not flat:
        return case
    chosen = flat[rng.integers(len(flat))]
    axis = int(rng.integers(chosen.ndim))
    old, size = chosen.shape[axis], int(rng.choice([0, 1, 2, 5]))
    alone = rng.random() < 0.3

    def changed(item: Any) -> Any:
        if isinstance(item, list):
            return [changed(each) for each in item]
        if item is chosen or (not alone and item.ndim > axis and item.shape[axis] == old):
            return _resized(item, axis, size)
        return item

    return dataclasses.replace(case, inputs=tuple(changed(item) for item in case.inputs))


def _change_values(rng: np.random.Generator, case: Case) -> Case:
    """Special numbers in some of the inputs: extremes in data, small numbers in what are sizes and places."""

    def changed(item: Any, is_data: bool) -> Any:
        if isinstance(item, list):
            return [changed(each, is_data) for each in item]
        if not item.size or rng.random() < 0.5:
            return item
        if item.dtype.kind == "f":
            special: Any = [np.nan, np.inf, -np.inf, 0.0, -0.0, np.finfo(item.dtype).max, 1.0, 0.5, -1.5]
        elif item.dtype.kind in "iu":
            info = np.iinfo(item.dtype)
            special = [0, 1, *([info.min, info.max] if is_data else [2, 3]), *([-1] if info.min else [])]
        else:
            return item
        places = rng.random(item.shape) < 0.3
        return np.where(places, rng.choice(np.array(special, item.dtype), item.shape), item)

    op = op_runs.definition(case)
    inputs = []
    for arg, value in zip(op.inputs, case.inputs, strict=True):
        allowed = op.attrs[arg.type_attr].allowed if arg.type_attr else None
        is_data = any(dtype.is_floating for dtype in allowed or ())
        inputs.append(changed(value, is_data))
    return dataclasses.replace(case, inputs=tuple(inputs))


def _change_attrs(rng: np.random.Generator, case: Case) -> Case:
    """Another value of an attribute that is a bool, one of a few strings, or a small integer."""
    op = op_runs.definition(case)
    free = [attr for attr in op.attrs.values() if attr.name not in op.inferred_attrs]
    free = [attr for attr in free if attr.kind in ("bool", "int") or (attr.kind == "string" and attr.allowed)]
    if not free:
        return case
    attr = free[rng.integers(len(free))]
    if attr.kind == "bool":
        value: Any = bool(rng.integers(2))
    elif attr.kind == "int":
        value = int(rng.integers(-1, 4))
    else:
        value = attr.allowed[rng.integers(len(attr.allowed))]
        value = value.decode() if isinstance(value, bytes) else value
    return dataclasses.replace(case, attrs=case.attrs | {attr.name: value})


CHANGES = (_change_dtypes, _change_sizes, _change_values, _change_attrs)


def draws(op: str, cases: list[Case], count: int, first: int = 0) -> Iterator[Case]:
    """Changed rows, the same ones each time."""
    for number in range(first, first + count):
        rng = np.random.default_rng([zlib.crc32(op.encode()), number])
        case = cases[rng.integers(len(cases))]
        for change in rng.permutation(len(CHANGES))[: rng.integers(1, 4)]:
            if CHANGES[change] is not _change_values or op not in FINITE:
                case = CHANGES[change](rng, case)
        yield case


def outcome(api: Any, case: Case) -> list[np.ndarray] | Exception:
    """The values, or the error."""
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(value) for value in op_runs.run(api, case)[1]]
    except Exception as error:
        return error


def disagreements(case: Case, tensorflow: Any, seed: Sequence[int], kinds: set[str]) -> Iterator[str]:
    """How the two systems differ, a line for each kind of difference."""
    ours = outcome(graphcore, case)
    if isinstance(ours, Exception) and not isinstance(ours, EXPECTED):
        yield f"crash: {type(ours).__name__}: {ours}"
        return
    if "shape" in kinds:
        difference = op_fuzz_checks.of_shapes(case, tensorflow, seed, ours)
        if difference:
            yield f"shape: {difference}"
    if not kinds & {"value", "gradient", "text"}:
        return
    theirs = outcome(tensorflow, case)
    if isinstance(theirs, Exception) and any(word in str(theirs) for word in op_fuzz_checks.NO_KERNEL):
        return  # TensorFlow has no kernel for these dtypes
    difference = ""
    if isinstance(ours, Exception):
        if not isinstance(theirs, Exception):
            difference = f"value: we refuse it: {str(ours).splitlines()[0]}"
        elif "text" in kinds:
            difference = op_fuzz_checks.of_texts(case.op, ours, theirs)
            difference = difference and f"text: {difference}"
    elif isinstance(theirs, Exception):
        text = op_fuzz_checks.sentence(theirs)
        difference = f"value: TensorFlow refuses it: {type(theirs).__name__}: {text}"
    else:
        difference = _of_values(ours, theirs, case)
        if not difference and "gradient" in kinds and differentiable(case):
            difference = op_fuzz_checks.of_gradients(case, tensorflow, ours, lambda a, b: _close(a, b, case))
            difference = difference and f"gradient: {difference}"
    if difference:
        yield difference


def _of_values(ours: list[np.ndarray], theirs: list[np.ndarray], case: Case) -> str:
    for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"value: output {index}: {a.dtype}{list(a.shape)}, TensorFlow {b.dtype}{list(b.shape)}"
        if a.dtype == object or a.dtype.kind in "SU":
            if op_cases.text(a).tolist() != op_cases.text(b).tolist():
                return f"value: output {index}: other strings"
        elif not _close(a, b, case):
            with np.errstate(all="ignore"):
                where = np.argmax(~np.isclose(_wide(a), _wide(b), equal_nan=True).reshape(-1))
            pair = f"{a.reshape(-1)[where]!r}, TensorFlow {b.reshape(-1)[where]!r}"
            return f"value: output {index}: {pair} at {where}"
    return ""


def differentiable(case: Case) -> bool:
    """Whether a row's gradients are compared."""
    op = registry.find(case.op)
    if op is None or op.grad_fn is None or case.oracle_grad is not True or isinstance(case.grad, str):
        return False
    return op_fuzz_checks.is_moderate(case)


def _wide(value: np.ndarray) -> np.ndarray:
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


def _close(a: np.ndarray, b: np.ndarray, case: Case) -> bool:
    if a.dtype.kind in "iub":
        return bool(np.array_equal(a, b))
    rtol = max(TOLERANCE.get(a.dtype.name, 1e-9), case.rtol)
    with np.errstate(all="ignore"):
        atol = rtol if a.dtype.itemsize == 2 else rtol * 0.1
        return bool(np.allclose(_wide(a), _wide(b), rtol, max(case.atol, atol), equal_nan=True))


def shown(case: Case) -> str:
    """A draw as the call it stands for."""
    inputs = ", ".join(
        f"[{', '.join(map(_array, item))}]" if isinstance(item, list) else _array(item)
        for item in case.inputs
    )
    attrs = "".join(f", {key}={value!r}" for key, value in case.attrs.items())
    return f"{case.op}({inputs}{attrs})"


def _array(value: np.ndarray) -> str:
    body = np.array2string(value, threshold=12, separator=",").replace("\n", "")
    return f"{value.dtype}{list(value.shape)} {body}"


def kinds_for(op: str) -> set[str]:
    """What the draws of an op compare."""
    kinds = set(KINDS_OF_CHECKS) - {kind for kind, table in EXEMPT_OF.items() if op in table}
    return kinds - {"gradient", "text"} if op in EXEMPT else kinds


def main(arguments: list[str]) -> None:
    """Runs the draws; prints each that disagrees."""
    import tensorflow.compat.v1 as tensorflow

    tensorflow.disable_v2_behavior()
    count = int(arguments[arguments.index("--draws") + 1]) if "--draws" in arguments else 20
    first = int(arguments[arguments.index("--first") + 1]) if "--first" in arguments else 0
    names = [each for each in arguments if not each.startswith("--") and not each.isdigit()]
    total = 0
    for op, cases in rows().items():
        if names and op not in names:
            continue
        kinds = set(KINDS_OF_CHECKS) if names else kinds_for(op)
        child = os.fork()  # TensorFlow crashes at some draws
        if not child:
            for number, case in enumerate(draws(op, cases, count, first), first):
                seed = [zlib.crc32(op.encode()), number, 1]
                for difference in disagreements(case, tensorflow, seed, kinds):
                    if op_fuzz_checks.is_known(op, difference) and not names:
                        continue
                    print(f"{op} {number}: {difference}\n    {shown(case)}", flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(f"{op}: TensorFlow crashed", flush=True)
        total += 1
    print(f"{count} draws for each of {total} ops")


if __name__ == "__main__":
    main(sys.argv[1:])
