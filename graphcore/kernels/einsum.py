"""Einstein summation: sums of products of tensors, told by a letter for each axis.

Two tensors are multiplied as (batches of) matrices, so that BLAS does the work.
"""

from __future__ import annotations

import math
import string

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, is_half, shape_text

ELLIPSIS = "..."


def parse(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of the inputs and of the output; an ellipsis stays as it is.

    Raises:
        InvalidArgumentError: No such equation, or one of another number of inputs.
    """
    text = equation.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if not arrow:
        raise InvalidArgumentError(f"Expecting '->' in the equation, got: {equation}")
    for labels in (*inputs, output):
        plain = labels.replace(ELLIPSIS, "", 1)
        if any(letter not in string.ascii_letters for letter in plain):
            raise InvalidArgumentError(
                f"Expecting only letters and one ellipsis in each subscript of the equation, got: {equation}"
            )
    if len(inputs) != count:
        raise InvalidArgumentError(f"Expected {len(inputs)} inputs for equation {equation} but got: {count}")
    known = set("".join(inputs))
    unknown = [letter for letter in output if letter not in known]
    if unknown:
        raise InvalidArgumentError(
            f"Label {unknown[0]} of the output of equation {equation} is in none of the inputs"
        )
    return inputs, output


def resolve(inputs: list[str], output: str, ranks: list[int]) -> tuple[list[str], str, str]:
    """The labels with letters for what the ellipses stand for, aligned at their ends; and these letters.

    Raises:
        InvalidArgumentError: A rank does not fit its labels.
    """
    used = set("".join([*inputs, output]))
    free = [letter for letter in string.ascii_letters if letter not in used]
    longest, resolved = 0, []
    for labels, rank in zip(inputs, ranks):
        plain = len(labels.replace(ELLIPSIS, ""))
        if (ELLIPSIS not in labels and plain != rank) or plain > rank:
            raise InvalidArgumentError(
                f"Expected input with subscript {labels!r} to have rank {plain}, but its rank is {rank}"
            )
        longest = max(longest, rank - plain)
        resolved.append((labels, rank - plain))
    axes = "".join(free[:longest])
    return (
        [labels.replace(ELLIPSIS, axes[longest - extra :]) for labels, extra in resolved],
        output.replace(ELLIPSIS, axes),
        axes,
    )


def einsum(equation: str, inputs: list[Array]) -> Array:
    """The sum over all labels that the output does not have, of the products.

    Args:
        equation: `"ij,jk->ik"`; `...` stands for axes that broadcast, a repeated label for a diagonal.
        inputs: One or two arrays of one dtype.

    Raises:
        InvalidArgumentError: The equation is none, or the shapes do not fit it.
    """
    dtype = inputs[0].dtype
    labels, output, broadcast = resolve(*parse(equation, len(inputs)), [x.ndim for x in inputs])
    sizes: dict[str, int] = {}
    for names, x in zip(labels, inputs):
        for name, size in zip(names, x.shape):
            fits = name in broadcast and 1 in (size, sizes.get(name, size))
            if sizes.setdefault(name, size) != size and not fits:
                shapes = ", ".join(shape_text(item.shape) for item in inputs)
                raise InvalidArgumentError(
                    f"Expected dimension {sizes[name]} at label {name} of equation {equation} but got "
                    f"dimension {size}; the shapes are {shapes}"
                )
            sizes[name] = max(sizes[name], size) if sizes[name] != 1 else size
    wide = [x.astype(np.float32) if is_half(dtype) else x for x in inputs]
    once = "".join(dict.fromkeys(output))
    if len(wide) == 2:
        result = _product(wide, labels, once)
    else:
        result = np.einsum(",".join(labels) + "->" + once, *wide)
    return np.asarray(_on_diagonals(result, once, output), dtype)


def _product(inputs: list[Array], labels: list[str], output: str) -> Array:
    """Of two arrays, by a matrix product."""
    other = (set(labels[1]), set(labels[0]))
    parts, names = [], []
    for x, own, others in zip(inputs, labels, other):
        kept = "".join(name for name in dict.fromkeys(own) if name in others or name in output)
        parts.append(np.einsum(f"{own}->{kept}", x) if kept != own else x)
        names.append(kept)
    common = [name for name in names[0] if name in names[1]]
    batch = [name for name in common if name in output]
    summed = [name for name in common if name not in output]
    free = [[name for name in own if name not in common] for own in names]
    # of an ellipsis that is summed, an axis of length 1 is stretched first
    for name in summed:
        extents = [part.shape[own.index(name)] for part, own in zip(parts, names)]
        for index, (part, own) in enumerate(zip(parts, names)):
            if part.shape[own.index(name)] != max(extents):
                parts[index] = np.repeat(part, max(extents), own.index(name))
    orders = ([*batch, *free[0], *summed], [*batch, *summed, *free[1]])
    turned = [part.transpose([own.index(n) for n in order]) for part, own, order in zip(parts, names, orders)]
    lead, count = len(batch), len(summed)
    shapes = [part.shape for part in turned]
    inner = math.prod(shapes[1][lead : lead + count])
    rows, columns = shapes[0][lead : len(shapes[0]) - count], shapes[1][lead + count :]
    left = turned[0].reshape(*shapes[0][:lead], math.prod(rows), inner)
    right = turned[1].reshape(*shapes[1][:lead], inner, math.prod(columns))
    product = np.matmul(left, right)
    product = product.reshape((*product.shape[:lead], *rows, *columns))
    order = [*batch, *free[0], *free[1]]
    return np.asarray(product.transpose([order.index(name) for name in output]))


def _on_diagonals(x: Array, once: str, output: str) -> Array:
    """Axes whose label the output repeats become diagonals."""
    if once == output:
        return x
    result = np.zeros([x.shape[once.index(name)] for name in output], x.dtype)
    grids = np.ix_(*(np.arange(size) for size in x.shape)) if x.ndim else ()
    result[tuple(grids[once.index(name)] for name in output)] = x
    return result
