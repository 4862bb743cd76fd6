"""What a draw compares besides values: static shapes, gradients, and what errors say.

Each check returns how the two systems differ, or "".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import op_runs
from op_cases import Case

from sgtool import graphcore

Shape = list[int | None] | None

# Ops whose static shapes may disagree, and why. SHAPES has both: where we know less, or more.
_WRONG = "TensorFlow's static shape is not the one that its kernel gives"
SHAPES: dict[str, str] = {
    "AccumulateNV2": "the shape is an attribute, which the inputs need not have",
    "AudioSpectrogram": "TensorFlow 2 checks the window when the op is built",
    "BatchToSpaceND": "TensorFlow refuses a block shape of unknown length, which we take",
    "Conv2DBackpropInput": "1.15 does not take the batch size from the gradient",
    "DebugIdentity": "a gate is closed",
    "DebugNanCount": _WRONG,
    "EditDistance": "TensorFlow 2 checks the sparse tensors when the op is built",
    "ExtractVolumePatches": _WRONG,
    "FractionalAvgPool": _WRONG,
    "FractionalMaxPool": _WRONG,
    "FusedResizeAndPadConv2D": "TensorFlow says that the padding has another rank",
    "FusedPadConv2D": "TensorFlow says that the padding has rank -1",
    "GatherV2": "where the axis is not known, TensorFlow counts the batch axes twice",
    "MaxPool": "the format NCHW_VECT_C, which no kernel for a CPU takes",
    "MaxPoolV2": "the format NCHW_VECT_C, which no kernel for a CPU takes",
    "MatrixDiagV2": "TensorFlow takes sizes that it does not know for the default",
    "ParseExampleV2": "an op that came after 1.15",
    "RFFT2D": "lengths of 0",
    "RaggedTensorToTensor": "an op that came after 1.15",
    "ResizeBilinearGrad": "the batch sizes of gradient and image are not compared",
    "ScaleAndTranslateGrad": "the batch sizes of gradient and image are not compared",
    "SelfAdjointEigV2": _WRONG,
    "SoftmaxCrossEntropyWithLogits": "TensorFlow takes operands that may be broadcast for equal",
    "SpaceToBatchND": "TensorFlow refuses a block shape of unknown length, which we take",
    "Svd": _WRONG,
    "UniqueV2": "TensorFlow 2 checks the axis when the op is built",
}
# Ops whose gradients may disagree.
GRADIENTS: dict[str, str] = {
    "AccumulateNV2": "the shape is an attribute, which the inputs need not have",
    "Betainc": "TensorFlow 2 has xlog1py in it, which has no derivative at 0",
    "EuclideanNorm": "axes of int64, for which TensorFlow 2 has no gradient",
    "IRFFT2D": "lengths that differ from the input's, for which TensorFlow's gradient fails",
    "MaxPoolGrad": "an output that is not the pooling's",
    "RFFT2D": "lengths that differ from the input's, for which TensorFlow's gradient fails",
    "ScaleAndTranslate": "TensorFlow's gradient of integers fails",
    "SparseSegmentMeanWithNumSegments": "TensorFlow leaves rows that nothing fills as they were in memory",
    "Sum": "axes of int64, for which TensorFlow 2 has no gradient",
}
# Sentences of TensorFlow 2's in place of which 1.15 says what we say, by op; patterns.
_SAID_BEFORE = "we refuse it when it is built, TensorFlow when it runs"
_ORDER = "of several faults another one is named"
TEXTS: dict[str, tuple[str, ...]] = {
    "AddManySparseToTensorsMap": ("is out of bounds: need 0 <= index", "out of range", "rows .* must match"),
    "AddSparseToTensorsMap": ("rows .* must match", "is out of bounds: need 0 <= index"),
    "AudioSpectrogram": ("window size must be > 1", "stride must be"),
    "Bincount": ("Input indices and weights must have the same size",),
    "Bitcast": ("Cannot bitcast from [0-9]+ to [0-9]+",),  # names of dtypes by number
    "Concat": ("Dimension [0-9]+ in both shapes must be equal",),
    "ConcatV2": ("Dimension [0-9]+ in both shapes must be equal",),
    "Conv2DBackpropFilter": ("Operation received an exception", "^Conv2DCustomBackpropFilter"),  # oneDNN's
    "Conv3DBackpropFilterV2": ("input and filter must have the same depth", "received an exception"),
    "DataFormatVecPermute": ("must be of size 2 or 4",),
    "FixedUnigramCandidateSampler": ("must be equal to weights size",),  # the process ends in 1.15
    "FractionalAvgPoolGrad": (
        "original input tensor shape must be",
        "seq_tensor must have",
        "sequence tensor",
    ),
    "FusedResizeAndPadConv2D": ("Dimension 0 in both shapes must be equal", "Shape must be rank"),
    "GatherNd": (", node name: ",),
    "MaxPool": ("Shape must be rank 5",),
    "MaxPoolGradV2": ("Expected grad shape to be",),  # refused when it is built
    "MaxPoolV2": ("Shape must be rank 5", "Dimension must be 4"),
    "Mfcc": ("and filterbank_channel_count",),
    "NthElement": ("Input must have last dimension > n", "n must be non-negative"),
    "ParseExampleV2": ("",),  # an op that came after 1.15
    "ParseSingleSequenceExample": ("def_value", "len\\("),
    "ScatterNd": ("must match dimensions",),  # the text of the kernel or of the shape rule, as either sees it
    "SparseTensorDenseAdd": ("are not compatible", "has an invalid index on dimension"),
    "SetSize": ("expected <", "Invalid dim_size"),  # ours says which index of the whole tensor
    "SparseConcat": ("Concat dimension must be", "Input shapes must match"),  # the shapes do not fit either
    "SparseSplit": ("Sparse index tuple",),
    "TensorStridedSliceUpdate": ("into final shape",),
    "TruncateDiv": ("Unexpected error in binary operator",),  # ours says which
    "TruncateMod": ("Unexpected error in binary operator",),
}
# Sentences that TensorFlow 2 has and 1.15 has not, or that ours cannot have.
LATER_TEXTS = (
    "Order length must be SparseTensor rank",
    "Expected shape dimensions to be non-negative",
    "Index rank .* and shape rank .* do not match",
    "Number of elements in indices",
    "Number of values must match first dimension of indices",
    "arguments to a cwise op must have same number of elements",  # refused when it is built
    "Dimension -?[0-9]+ must be >= 0",
    "only supports N(D)?HWC",  # we take the other format, and find another fault
    "does not index into shape",  # of several, that which a thread finds first
    "Dimensions of A: ",  # where the two tell brackets apart
)
# Single differences that may be: op (or "" for all), a pattern of the line that tells it, and why.
KNOWN: tuple[tuple[str, str, str], ...] = (
    ("", "gradient: TensorFlow has none: .*(that does not match type|zero elements|[Ee]mpty)", "we have one"),
    ("UnravelIndex", "received empty tensor indices", "1.15 takes none"),
    ("Reverse", "Invalid input first dimension", "1.15 takes empty ones"),
    ("ReverseV2", "we refuse it: 'axis'", "TensorFlow 2 does not look at axes of an empty tensor"),
    ("SplitV", "shape: .*output", "TensorFlow takes an axis that it does not know for the last one"),
    ("GatherV2", "gradient: TensorFlow has none: data.shape", "TensorFlow's gradient of an empty axis fails"),
    ("MatrixDiagPartV2", "gradient: ", "TensorFlow 2 takes the diagonals for those of the third version"),
    (
        "MatrixSetDiagV2",
        "shape: .*(equal rank, but are|output 0: None)",
        "where k is not known TensorFlow takes a band for one diagonal",
    ),
    ("MatrixSetDiagV2", "text: .*must be equal rank", "the same"),
    ("HistogramFixedWidth", "Histogram has NaN values", "NaN has no bin; 1.15 writes outside of its memory"),
    ("CTCLoss", "value: output", "labels that are all blank, of which TensorFlow reads unset memory"),
    (
        "SparseAdd",
        "value: output 0",
        "TensorFlow misreads a threshold of another dtype",
    ),
    ("AddManySparseToTensorsMap", "is out of order", "1.15 does not look at the order within a tensor"),
    ("ParseExample", "Expected names have the same shape", "1.15's sentence is ours"),
    ("SpaceToBatchND", "must be positive, got value", "the same"),
    ("CTCGreedyDecoder", "inputs must not be empty", "the same"),
    ("Conv3DBackpropFilterV2", "same number of channels. Got", "the same"),
    ("Conv3DBackpropFilterV2", "same batch size", "the sentence is the same, what follows it is not"),
    ("Cholesky", "value: we refuse it", "1.15 refuses what has no decomposition, TensorFlow 2 gives NaN"),
    ("UpperBound", "value: output", "rows that are not sorted, in which libraries search in their own ways"),
    ("ExtractGlimpse", "The uniform_noise", "1.15's sentence is ours"),
    ("ScatterNd", "specified for empty", "the same"),
    ("MaxPoolV2", "gradient: ", "TensorFlow 2 leaves what no window has as it was in memory"),
    (
        "Substr",
        "shape: only TensorFlow refuses it",
        "TensorFlow takes an unknown size for another",
    ),
    ("Where", "No WhereOp available", "1.15 has a kernel"),
)


def is_known(op: str, line: str) -> bool:
    """Whether a difference is one of those that may be."""
    return any(each in ("", op) and re.search(pattern, line) for each, pattern, _ in KNOWN)


LARGEST = 1e15  # what is larger overflows in gradients, in another place in each system


# ---- static shapes -----------------------------------------------------------------------------


class Partly(op_runs.Built):
    """One op of whose inputs a part is known, the same part for the same seed; never run."""

    def __init__(self, tf: Any, case: Case, seed: Sequence[int]) -> None:
        self.rng = np.random.default_rng(seed)
        self.how_known: list[str] = []
        super().__init__(tf, case)

    def tensor(self, value: Any) -> Any:
        """A constant, a placeholder of a partial shape, or a vector with some known entries."""
        way = self.rng.random()
        is_value = value.dtype.kind in "iu" and value.size < 50  # may be a shape, an axis, a size
        if way < (0.5 if is_value else 0.1):
            self.how_known.append("constant")
            return self.tf.constant(value, _dtype(self.tf, value))
        if is_value and value.ndim == 1 and value.size and way < 0.7:
            known = self.rng.random(value.shape) < 0.6
            self.how_known.append(f"{[int(v) if k else None for v, k in zip(value, known, strict=True)]}")
            dtype = _dtype(self.tf, value)
            entries = [
                self.tf.constant(v, dtype) if k else self.tf.placeholder(dtype, [])
                for v, k in zip(value, known, strict=True)
            ]
            return self.tf.raw_ops.Pack(values=entries, axis=0)
        unknown = self.rng.random(value.ndim) < self.rng.choice([0.0, 0.5, 1.0])
        shape: Any = [None if u else int(d) for d, u in zip(value.shape, unknown, strict=True)]
        if self.rng.random() < 0.2:
            shape = None
        self.how_known.append(f"shape {shape}")
        return self.tf.placeholder(_dtype(self.tf, value), shape)


def _dtype(tf: Any, value: np.ndarray) -> Any:
    return tf.string if value.dtype == object else tf.as_dtype(value.dtype)


def _static(tf: Any, case: Case, seed: Sequence[int]) -> tuple[list[str], list[Shape] | Exception]:
    with tf.Graph().as_default():
        try:
            built = Partly(tf, case, seed)
            shapes = [tensor.get_shape() for tensor in built.outputs]
            return built.how_known, [None if s.rank is None else s.as_list() for s in shapes]
        except Exception as error:
            return [], error


def of_shapes(case: Case, tensorflow: Any, seed: Sequence[int], run: Any) -> str:
    """Static shapes less precise than TensorFlow's, or that contradict the run's.

    Args:
        case: The draw.
        tensorflow: The other system.
        seed: Of what is known of the inputs.
        run: What our run of the draw gave: values or an exception.
    """
    known, theirs = _static(tensorflow, case, seed)
    _, ours = _static(graphcore, case, seed)
    failed = isinstance(run, Exception)
    if isinstance(theirs, Exception):
        if isinstance(ours, Exception):
            return of_texts(case.op, ours, theirs)
        return f"only TensorFlow refuses it when it is built: {sentence(theirs)}" if is_rule(theirs) else ""
    if isinstance(ours, Exception):
        return "" if failed else f"{known}: we refuse it when it is built: {ours}"
    for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        where = f"{known}: output {index}: {mine}, TensorFlow {other}"
        if not _as_precise(mine, other):
            return where
        if not failed and not _fits(mine, run[index].shape):
            return f"{where}, run {list(run[index].shape)}"
    return ""


def _as_precise(mine: Shape, other: Shape) -> bool:
    """Whether what TensorFlow knows is known here as well."""
    if other is None:
        return True
    if mine is None or len(mine) != len(other):
        return False
    return all(b is None or a == b for a, b in zip(mine, other, strict=True))


def _fits(mine: Shape, run: Sequence[int]) -> bool:
    return mine is None or (
        len(mine) == len(run) and all(a is None or a == b for a, b in zip(mine, run, strict=True))
    )


# ---- gradients ---------------------------------------------------------------------------------


def is_moderate(case: Case) -> bool:
    """Whether all numbers are finite and none is so large that it overflows."""
    flat = [np.asarray(value) for value in op_runs.flatten(case.inputs) if op_runs.is_smooth(value)]
    with np.errstate(all="ignore"):
        return all(bool((np.abs(value) < LARGEST).all()) for value in flat)


class _Grads:
    """First and second derivatives of one draw in one system."""

    def __init__(self, tf: Any, case: Case, outputs: Sequence[np.ndarray]) -> None:
        self.kinds: list[str] = []
        self.error: Exception | None = None
        self.second_error: Exception | None = None
        self.first: list[np.ndarray] = []
        self.second: list[np.ndarray] = []
        with tf.Graph().as_default() as graph:
            built = op_runs.Built(tf, case)
            rng = op_runs.seeded(case, 0)
            through = [
                (tensor, op_runs.like(rng, value))
                for index, (tensor, value) in enumerate(zip(built.outputs, outputs, strict=True))
                if op_runs.is_smooth(value) and (case.through is None or index in case.through)
            ]
            flat = op_runs.flatten(case.inputs)
            xs = [built.placeholders[i] for i, value in enumerate(flat) if op_runs.is_smooth(value)]
            if not through or not xs:
                return
            seeds = [tf.constant(value, tensor.dtype) for tensor, value in through]
            try:
                found = tf.gradients([tensor for tensor, _ in through], xs, seeds)
            except Exception as error:
                self.error = error
                return
            self.kinds = [type(grad).__name__ if grad is not None else "None" for grad in found]
            self.kinds = [name if name in ("None", "IndexedSlices") else "Tensor" for name in self.kinds]
            dense = [tf.convert_to_tensor(grad) for grad in found if grad is not None]
            again: list[Any] = []
            if case.second is True and dense:
                try:
                    squares = [tf.reduce_sum(tf.multiply(grad, grad)) for grad in dense]
                    again = [grad for grad in tf.gradients(squares, xs) if grad is not None]
                    again = [tf.convert_to_tensor(grad) for grad in again]
                except Exception as error:
                    self.second_error = error
            with tf.Session(graph=graph) as session, np.errstate(all="ignore"):
                try:
                    self.first = session.run(dense, built.feeds)
                except Exception as error:
                    self.error = error
                    return
                try:
                    self.second = session.run(again, built.feeds)
                except Exception as error:
                    self.second_error = error


def of_gradients(
    case: Case,
    tensorflow: Any,
    outputs: Sequence[np.ndarray],
    close: Callable[[np.ndarray, np.ndarray], bool],
) -> str:
    """Gradients by the floating inputs that differ, first and second."""
    ours, theirs = (_Grads(tf, case, outputs) for tf in (graphcore, tensorflow))
    if theirs.error is not None:
        if ours.error is None and not any(word in str(theirs.error) for word in NO_KERNEL):
            return f"TensorFlow has none: {sentence(theirs.error)}"
        return ""
    if ours.error is not None:
        return f"we have none: {type(ours.error).__name__} {str(ours.error)[:200]}"
    if ours.kinds != theirs.kinds:
        return f"{ours.kinds}, TensorFlow {theirs.kinds}"
    difference = _difference(ours.first, theirs.first, close)
    if difference or theirs.second_error is not None:
        return difference
    if ours.second_error is not None:
        return f"second: we have none: {type(ours.second_error).__name__} {str(ours.second_error)[:200]}"
    if len(ours.second) != len(theirs.second):
        return f"second: {len(ours.second)}, TensorFlow {len(theirs.second)}"
    difference = _difference(ours.second, theirs.second, close)
    return difference and f"second: {difference}"


def _difference(
    ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray], close: Callable[[np.ndarray, np.ndarray], bool]
) -> str:
    for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{index}: {a.dtype}{list(a.shape)}, TensorFlow {b.dtype}{list(b.shape)}"
        if not close(a, b):
            text = [np.array2string(v, threshold=12, separator=",").replace("\n", "") for v in (a, b)]
            return f"{index}: {text[0]}, TensorFlow {text[1]}"
    return ""


# ---- errors ------------------------------------------------------------------------------------

NO_KERNEL = (
    "not in list of allowed",
    "duplicate dimension",
    "No OpKernel",
    "no OpKernel",
    "Could not find",
    "not registered",
    "Unimplemented",
    "not implemented",
)
_NOISE = ("Graph execution error", "Detected at node", "File ", "Node: ", "[[", "Original stack")
_NODE = re.compile(r" for '(\{\{node|\S+' \(op:).*")


def is_rule(error: Exception) -> bool:
    """Whether a shape function raised an error of building (and not the check of attributes)."""
    return " for '{{node" in str(error)


def sentence(error: Exception) -> str:
    """What TensorFlow's error says, without where."""
    lines = [line.strip() for line in str(error).splitlines()]
    first = next((line for line in lines if line and not line.startswith(_NOISE)), "")
    return _NODE.sub("", first).removesuffix(".")[:300]


def of_texts(op: str, ours: Exception, theirs: Exception) -> str:
    """What TensorFlow's kernels and shape functions say and we do not."""
    said = sentence(theirs)
    from_kernel = type(theirs).__module__.endswith("errors_impl")
    if not said or not (from_kernel or is_rule(theirs)):
        return ""
    may_differ = (*TEXTS.get(op, ()), *LATER_TEXTS)
    if _plain(said) in _plain(str(ours)) or any(re.search(each, said) for each in may_differ):
        return ""
    return f"{said!r}, we {str(ours).splitlines()[0]!r}"


def _plain(text: str) -> str:
    return " ".join(text.split())
