"""Runs a case of the op table: the op itself, and its gradients, by sgtool or by TensorFlow.

Both have the same API as far as this file uses it, so one function builds either graph.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from op_cases import Case, Quantized, Var

from sgtool import graphcore
from sgtool.graphcore import registry


def definition(case: Case) -> Any:
    """Our declaration of the case's op."""
    found = registry.find(case.op)
    assert found is not None, f"{case.op} is not implemented"
    return found.definition


def is_smooth(value: Any) -> bool:
    """Whether an array's dtype has derivatives."""
    return isinstance(value, np.ndarray) and (value.dtype.kind in "fc" or value.dtype.name == "bfloat16")


def differentiable_inputs(case: Case) -> list[int]:
    """Positions (flat) of the inputs for which the case checks the gradient."""
    if isinstance(case.grad, str):
        return []
    op: Any = registry.find(case.op)
    if op is None or op.grad_fn is None:
        return []
    flat = flatten(case.inputs)
    if case.grad is not None:
        return list(case.grad)
    return [index for index, value in enumerate(flat) if is_smooth(value)]


def flatten(inputs: Sequence[Any]) -> list[Any]:
    """List inputs spread out."""
    flat: list[Any] = []
    for item in inputs:
        if isinstance(item, list):
            flat += item
        else:
            flat.append(item)
    return flat


def apply(tf: Any, op_type: str, arguments: dict[str, Any]) -> Any:
    """The operation of a call by the declaration's own names (TensorFlow's raw_ops have others)."""
    if tf is graphcore:
        return registry.find(op_type).node(None, arguments)
    from tensorflow.python.framework import op_def_library, op_def_registry

    declared = op_def_registry.get(op_type)
    inferred = {
        name for arg in declared.input_arg for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)
    }
    for attr in declared.attr:
        if attr.HasField("default_value") and attr.name not in {*arguments, *inferred}:
            arguments[attr.name] = default_of(attr.default_value)
    parts = op_def_library._apply_op_helper(op_type, name=None, **arguments)
    return next(part for part in parts if hasattr(part, "node_def"))


def default_of(proto: Any) -> Any:
    """The Python value of an AttrValue message."""
    which = proto.WhichOneof("value")
    if which != "list":
        return getattr(proto, which)
    fields = proto.list.ListFields()
    return list(fields[0][1]) if fields else []


class Built:
    """One op in a graph, its inputs fed or constant.

    Attributes:
        operation: The operation.
        outputs: Its output tensors, flat.
        feeds: Values by placeholder.
        placeholders: The input tensors, flat; None for a variable.
    """

    def __init__(self, tf: Any, case: Case, how: str = "fed", inputs: Sequence[Any] | None = None) -> None:
        self.tf, self.case, self.how = tf, case, how
        self.feeds: dict[Any, np.ndarray] = {}
        self.placeholders: list[Any] = []
        self.starts: list[Any] = []
        self.reads: list[Any] = []
        arguments = {}
        declared = definition(case).inputs
        values = case.inputs if inputs is None else inputs
        assert len(declared) == len(values), f"{case.op} takes {[arg.name for arg in declared]}"
        for arg, value in zip(declared, values, strict=True):
            if isinstance(value, Var):
                arguments[arg.name] = self.variable(value.value, arg.is_ref)
            elif arg.is_list and not isinstance(value, list) and not value.size:
                arguments[arg.name] = []  # a list without tensors
            elif isinstance(value, list):
                arguments[arg.name] = [self.tensor(item) for item in value]
            else:
                arguments[arg.name] = self.tensor(value)
        self.operation = apply(tf, case.op, arguments | case.attrs)
        self.outputs = list(self.operation.outputs)

    def tensor(self, value: Any) -> Any:
        """A placeholder or constant of a value; of a quantized one through a Bitcast."""
        if isinstance(value, Quantized):
            # TensorFlow feeds quantized numbers as a structured dtype only.
            plain = self.tensor(value.value)
            return self.tf.raw_ops.Bitcast(input=plain, type=getattr(self.tf, value.dtype))
        dtype = self.tf.string if value.dtype == object else self.tf.as_dtype(value.dtype)
        if self.how == "constant":
            tensor = self.tf.constant(value, dtype)
        else:
            shape: Any = value.shape
            if self.how == "unknown":
                shape = None
            elif self.how == "ranked":
                shape = [None] * value.ndim
            tensor = self.tf.placeholder(dtype, shape)
            self.feeds[tensor] = value
        self.placeholders.append(tensor)
        return tensor

    def variable(self, value: np.ndarray, is_ref: bool) -> Any:
        """A variable's reference or handle, with what initializes and reads it."""
        raw, dtype = self.tf.raw_ops, self.tf.as_dtype(value.dtype)
        self.placeholders.append(None)
        if is_ref:
            ref = raw.VariableV2(shape=value.shape, dtype=dtype)
            self.starts.append(raw.Assign(ref=ref, value=self.tf.constant(value, dtype)))
            self.reads.append(raw.Identity(input=ref))
            return ref
        name = f"var{len(self.starts)}"
        handle = raw.VarHandleOp(dtype=dtype, shape=value.shape, shared_name=name)
        self.starts.append(raw.AssignVariableOp(resource=handle, value=self.tf.constant(value, dtype)))
        self.reads.append(raw.ReadVariableOp(resource=handle, dtype=dtype))
        return handle

    def run(self, session: Any) -> list[np.ndarray]:
        """The outputs, and after them the values of the variables."""
        for start in self.starts:
            session.run(start)
        fetches = self.outputs or self.operation
        results = session.run(fetches, self.feeds)
        outputs = [_unstructured(item) for item in results] if self.outputs else []
        return outputs + [session.run(read) for read in self.reads]


def _unstructured(value: Any) -> Any:
    """The integers of an array of TensorFlow's quantized dtypes."""
    dtype = getattr(value, "dtype", None)
    return value if dtype is None or not dtype.names else np.asarray(value).view(dtype[0])


def run(tf: Any, case: Case, how: str = "fed") -> tuple[Built, list[np.ndarray]]:
    """The op alone, run in a new graph."""
    with tf.Graph().as_default() as graph:
        built = Built(tf, case, how)
        with tf.Session(graph=graph) as session:
            return built, built.run(session)


def seeded(case: Case, count: int) -> np.random.Generator:
    """A generator that depends on the case only."""
    return np.random.default_rng([zlib.crc32(case.op.encode()), count])


def like(rng: np.random.Generator, value: np.ndarray) -> np.ndarray:
    """Random numbers of the shape and dtype of `value`, complex where it is."""
    numbers = rng.uniform(-1, 1, value.shape)
    if value.dtype.kind == "c":
        numbers = numbers + 1j * rng.uniform(-1, 1, value.shape)
    return np.asarray(numbers).astype(value.dtype)


def dot(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> float:
    """The real inner product of two lists of arrays."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        wide = [item.astype(np.complex128 if item.dtype.kind == "c" else np.float64) for item in (x, y)]
        total += float(np.sum(np.conj(wide[0]) * wide[1]).real)
    return total


_WIDER = {"float16": np.float64, "bfloat16": np.float64, "float32": np.float64, "complex64": np.complex128}


def widen(case: Case) -> list[Any]:
    """The inputs in double precision, where the op's declaration allows it."""
    op = definition(case)
    allowed = {}
    for name, attr in op.attrs.items():
        names = [dtype.name for dtype in attr.allowed] if attr.kind == "type" else []
        allowed[name] = not names or "float64" in names or "complex128" in names
    result = []
    for arg, value in zip(op.inputs, case.inputs, strict=True):
        key = arg.type_attr or arg.type_list_attr
        if not key or not allowed[key] or key in case.attrs or isinstance(value, (Var, Quantized)):
            result.append(value)
        elif isinstance(value, list):
            result.append([item.astype(_WIDER.get(item.dtype.name, item.dtype)) for item in value])
        else:
            result.append(value.astype(_WIDER.get(value.dtype.name, value.dtype)))
    return result


class Gradients:
    """An op with the gradients of its outputs by its inputs, all outputs' gradients fed.

    Attributes:
        where: Positions of the inputs by which it is differentiated.
        outputs: The floating outputs.
        seeds: Placeholders of their gradients, with random values in `seed_values`.
        grads: The gradients of the inputs; zeros where there is none.
    """

    def __init__(
        self,
        tf: Any,
        case: Case,
        inputs: Sequence[Any],
        output_values: Sequence[np.ndarray],
        how: str = "fed",
    ) -> None:
        self.built = Built(tf, case, how, inputs)
        self.tf, self.case = tf, case
        self.where = differentiable_inputs(case)
        rng = seeded(case, 0)
        pairs = [
            (tensor, np.asarray(value))
            for index, (tensor, value) in enumerate(zip(self.built.outputs, output_values, strict=False))
            if is_smooth(np.asarray(value)) and (case.through is None or index in case.through)
        ]
        self.outputs = [tensor for tensor, _ in pairs]
        self.seed_values = [like(rng, value) for _, value in pairs]
        self.seeds = [tf.placeholder(value.dtype, value.shape) for value in self.seed_values]
        self.inputs = [self.built.placeholders[index] for index in self.where]
        self.values = [flatten(inputs)[index] for index in self.where]
        self.grads = self.of(self.outputs, self.inputs, self.seeds)
        self.feeds = {**self.built.feeds, **dict(zip(self.seeds, self.seed_values, strict=True))}

    def of(self, ys: Sequence[Any], xs: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
        """Dense gradients; zeros for None."""
        found = self.tf.gradients(list(ys), list(xs), grad_ys=list(seeds))
        return [
            self.tf.zeros_like(x) if grad is None else self.tf.convert_to_tensor(grad)
            for x, grad in zip(xs, found, strict=True)
        ]


def run_program(tf: Any, program: Any, inputs: Sequence[Any]) -> tuple[Any, Any, list[Any]]:
    """A program of `tf` and placeholders: value, static shape, gradients of the sum of squares by all."""
    with tf.Graph().as_default() as graph:
        tensors = [tf.placeholder(value.dtype, value.shape) for value in inputs]
        result = program(tf, *tensors)
        grads = []
        if result.dtype.is_floating and tensors:
            grads = [tf.convert_to_tensor(g) for g in tf.gradients(result * result, tensors) if g is not None]
        with tf.Session(graph=graph) as session:
            value, *found = session.run([result, *grads], dict(zip(tensors, inputs, strict=True)))
        return value, result.get_shape().as_list(), found
