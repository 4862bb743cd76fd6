"""Einstein summation, as one op and as TensorFlow 1's function, which makes products of matrices."""

from __future__ import annotations

import re
import string
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY
from ..errors import InvalidTypeError, InvalidValueError
from ..kernels import einsum as kernels
from ..op import op, raw_ops
from ..shapes import Dim, Shape, merge_dims
from . import rules
from .array_shape import transpose
from .linalg import matmul
from .matrix_diag import trace


@op("Einsum", "inputs: N * T -> output: T", "equation: string", T=ANY)
def einsum_op(inputs: list[Any], *, equation: str) -> Any:
    """Sums of products of tensors, told by a letter for each axis: `ij,jk->ik`."""
    return kernels.einsum(equation, inputs)


@einsum_op.shape
def _(node: Any) -> Shape:
    shapes = node.shapes
    labels, output = rules.as_value_error(kernels.parse, node.attr("equation"), len(shapes))
    if any(shape is None and kernels.ELLIPSIS in names for shape, names in zip(shapes, labels)):
        return None
    shapes = [(None,) * len(names) if shape is None else shape for shape, names in zip(shapes, labels)]
    ranks = [len(shape) for shape in shapes]
    labels, output, broadcast = rules.as_value_error(kernels.resolve, labels, output, ranks)
    sizes: dict[str, Dim] = {}
    for names, shape in zip(labels, shapes):
        for name, size in zip(names, shape):
            if name not in broadcast:
                sizes[name] = merge_dims(sizes.get(name), size)
                continue
            known = sizes.get(name, 1)
            if size is not None and known is not None and size != known and 1 not in (size, known):
                raise InvalidValueError(f"Dimensions must be equal, but are {known} and {size}")
            sizes[name] = known if size == 1 else size if known == 1 or size is not None else known
    return tuple(sizes[name] for name in output)


@einsum_op.grad
def _(node: Any, dy: Any) -> Any:
    """Each operand's: the product of dy with the other one; copied along what the operand alone has."""
    inputs = list(node.inputs)
    labels, output = kernels.parse(node.attr("equation").decode(), len(inputs))
    if len(inputs) > 2:
        raise InvalidValueError("The gradient of Einsum is defined for one or two inputs")
    grads = []
    for index, x in enumerate(inputs):
        others = [rules.conjugate(other) for place, other in enumerate(inputs) if place != index]
        other_labels = [names for place, names in enumerate(labels) if place != index]
        grads.append(_operand_grad(x, labels[index], [dy, *others], [output, *other_labels]))
    return grads


def _operand_grad(x: Any, own: str, factors: list[Any], labels: list[str]) -> Any:
    plain = own.replace(kernels.ELLIPSIS, "")
    there = set("".join(labels))
    missing = [name for name in dict.fromkeys(plain) if name not in there]
    if kernels.ELLIPSIS in own and not any(kernels.ELLIPSIS in names for names in labels):
        missing.append(kernels.ELLIPSIS)
    if missing:
        # ones of the operand's shape along what was summed: a factor more, of an outer product
        grad = raw_ops.OnesLike(x)
        if len(set(plain)) != len(plain):  # a diagonal that was summed
            once = "".join(dict.fromkeys(plain)) + (kernels.ELLIPSIS if kernels.ELLIPSIS in own else "")
            grad = raw_ops.Einsum([grad], equation=f"{own}->{once}")
            first = raw_ops.Einsum([grad], equation=f"{once}->{own}")
            reach = "".join(name for name in once if name in there)
            part = raw_ops.Einsum(factors, equation=f"{','.join(labels)}->{reach}")
            return raw_ops.Einsum([first, part], equation=f"{own},{reach}->{own}")
        reach = "".join(name for name in plain if name in there)
        if kernels.ELLIPSIS in own and kernels.ELLIPSIS not in missing:
            reach = kernels.ELLIPSIS + reach
        part = raw_ops.Einsum(factors, equation=f"{','.join(labels)}->{reach}")
        return _unbroadcast(raw_ops.Einsum([grad, part], equation=f"{own},{reach}->{own}"), x, own)
    if kernels.ELLIPSIS not in own and any(kernels.ELLIPSIS in names for names in labels):
        # an ellipsis must not vanish from an equation: what it stands for is summed behind it
        whole = raw_ops.Einsum(factors, equation=f"{','.join(labels)}->...{own}")
        return raw_ops.Sum(whole, raw_ops.Range(0, raw_ops.Rank(whole) - len(own), 1))
    return _unbroadcast(raw_ops.Einsum(factors, equation=f"{','.join(labels)}->{own}"), x, own)


def _unbroadcast(grad: Any, x: Any, own: str) -> Any:
    if kernels.ELLIPSIS not in own:
        return grad
    return rules.unbroadcast(x, grad, grad, None)[0]


# TensorFlow's Python function


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """`tf.einsum`: sums of products of tensors, made of transposes, products and sums.

    Args:
        equation: `"ij,jk->ik"`; without `->`, the labels that occur once, in order; `...` for any axes.
        *inputs: The tensors.
        **kwargs: `name`, a name for the operations.

    Raises:
        TypeError: Another keyword.
        ValueError: The equation is none, or does not fit the shapes.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise InvalidTypeError("invalid keyword arguments for this function: " + ", ".join(sorted(kwargs)))
    with name_scope(name, "einsum", [equation, inputs]):
        tensors = [convert_to_tensor(x) for x in inputs]
        labels, output = _resolved(equation, [x.get_shape().ndims for x in tensors])
        for names in labels:
            if len(labels) == 1 and names == names[::-1] and len(names) == 2 and "->" not in equation:
                return trace(tensors[0])
            if len(set(names)) != len(names):
                raise InvalidValueError(f"Subscript not supported: an axis appears more than once: {names}")
        total, at = tensors[0], labels[0]
        for index, (x, names) in enumerate(zip(tensors[1:], labels[1:])):
            later = set("".join(labels[index + 2 :])) | set(output)
            total, at = _contracted(total, at, x, names, later)
        missing = [axis for axis, label in enumerate(at) if label not in output]
        if missing:
            total, at = raw_ops.Sum(total, missing), "".join(label for label in at if label in output)
        if sorted(at) != sorted(output):
            raise InvalidValueError(f"Invalid equation: {equation}")
        return _turned(total, [at.index(label) for label in output])


def _resolved(equation: str, ranks: list[int | None]) -> tuple[list[str], str]:
    """The labels of each input and of the output, without ellipses."""
    match = re.fullmatch(r"([a-zA-Z,.]+)(->[a-zA-Z.]*)?", equation.replace(" ", ""))
    if not match:
        raise InvalidValueError(f"Indices have incorrect format: {equation}")
    labels = match[1].split(",")
    output = match[2][2:] if match[2] else None
    if len(labels) != len(ranks):
        raise InvalidValueError(
            f'Got {len(ranks)} arguments for equation "{equation}", expecting {len(labels)}'
        )
    free = [letter for letter in string.ascii_letters if letter not in match[1]]
    longest = ""
    for index, (names, rank) in enumerate(zip(labels, ranks)):
        parts = names.split("...")
        if len(parts) == 1:
            if rank is not None and rank != len(names):
                raise InvalidValueError(
                    f"Input {index} with axes {names} has incorrect number of dimensions "
                    f"(expected {len(names)}, got {rank})"
                )
            continue
        if len(parts) > 2:
            raise InvalidValueError("Unable to resolve ellipsis. Excess number found.")
        if rank is None:
            raise InvalidValueError("Unable to statically infer ellipsis axes.")
        count = rank - len("".join(parts))
        if count < 0:
            raise InvalidValueError("Ellipses lengths do not match.")
        axes = "".join(free[len(free) - count :])
        labels[index] = names.replace("...", axes)
        longest = max(longest, axes, key=len)
    if output is None:
        plain = "".join(label for names in labels for label in names if label not in longest)
        output = longest + "".join(sorted(label for label in set(plain) if plain.count(label) == 1))
    output = output.replace("...", longest)
    if any("." in names for names in (*labels, output)):
        raise InvalidValueError('period "." found outside of ellipsis')
    return labels, output


def _contracted(x: Any, at: str, y: Any, names: str, later: set[str]) -> tuple[Any, str]:
    """The product of two tensors, summed over common labels that nothing needs later."""
    common = sorted(label for label in at if label in names)
    summed = [label for label in common if label not in later]
    kept = [label for label in common if label in later]
    first = sorted(label for label in at if label not in names)
    second = sorted(label for label in names if label not in at)
    x = _turned(x, [at.index(label) for label in [*kept, *first, *summed]])
    y = _turned(y, [names.index(label) for label in [*kept, *summed, *second]])
    labels = "".join([*kept, *first, *second])
    if not summed:
        for _ in second:
            x = raw_ops.ExpandDims(x, -1)
        for _ in first:
            y = raw_ops.ExpandDims(y, len(kept))
        return raw_ops.Mul(x, y), labels
    sizes_x, sizes_y = _sizes(x), _sizes(y)
    lead, inner = len(kept), len(summed)
    rows, columns = sizes_x[lead : lead + len(first)], sizes_y[lead + inner :]
    left = _reshaped(x, [*sizes_x[:lead], _total(rows), _total(sizes_x[lead + len(first) :])])
    right = _reshaped(y, [*sizes_y[:lead], _total(sizes_y[lead : lead + inner]), _total(columns)])
    return _reshaped(matmul(left, right), [*sizes_x[:lead], *rows, *columns]), labels


def _turned(x: Any, perm: list[int]) -> Any:
    return x if perm == list(range(len(perm))) else transpose(x, perm)


def _sizes(x: Any) -> list[Any]:
    """The sizes of the axes, as numbers where they are known."""
    static = x.get_shape().as_list()
    if None not in static:
        return list(static)
    shape = raw_ops.Shape(x)
    return [shape[axis] if size is None else size for axis, size in enumerate(static)]


def _total(sizes: list[Any]) -> Any:
    total: Any = 1
    for size in sizes:
        total = total * size
    return total


def _reshaped(x: Any, sizes: list[Any]) -> Any:
    static = x.static_shape
    if static is not None and list(static) == sizes:
        return x
    if any(hasattr(size, "op") for size in sizes):
        return raw_ops.Reshape(x, raw_ops.Pack([convert_to_tensor(size, np.int32) for size in sizes]))
    return raw_ops.Reshape(x, np.array(sizes, np.int32))
