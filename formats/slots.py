"""Which variables are an optimizer's own, apart from a model's weights.

The graph's own Apply operations say it: their first input is the variable, the variables among the rest
are its slots. Keras's files keep them in a group of their own. Without either (a checkpoint alone, sparse
updates) it is the name, together with a variable of the rest of the name and of the same shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .graph_facts import VARIABLE_OPS

APPLY = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]\w*")
"""The ops by which optimizers change a variable."""
_SLOT = re.compile(
    r"(?P<base>.+)/(Adam|AdaMax|AMSGrad|Momentum|RMSProp|Adagrad|AdagradDA|Adadelta|Ftrl|ProximalAdagrad|"
    r"ProximalGradientDescent|Nadam|LARSOptimizer|AddSign|PowerSign)(_\d+)?"
)
_POWER = re.compile(r"(.*/)?beta[12]_power(_\d+)?")
_OBJECT_SLOT = re.compile(r"(?P<base>.+)/\.OPTIMIZER_SLOT/.+(?P<attribute>/\.ATTRIBUTES/\w+)")


def slots_of_graph(nodes: Iterable[Any]) -> dict[str, str]:
    """Slot variables by the Apply operations among NodeDefs: the variable that each belongs to."""
    variables: set[str] = set()
    applied = []
    for node in nodes:
        if node.op in VARIABLE_OPS:
            variables.add(node.name)
        elif APPLY.fullmatch(node.op):
            applied.append([name.partition(":")[0] for name in node.input if name[:1] != "^"])
    return {
        slot: inputs[0]
        for inputs in applied
        if inputs and inputs[0] in variables
        for slot in inputs[1:]
        if slot in variables and slot != inputs[0]
    }


def slots_by_name(shapes: Mapping[str, Sequence[int | None] | None]) -> dict[str, str | None]:
    """Slot variables by names and shapes: the variable that each belongs to; None for an optimizer's count.

    Args:
        shapes: The shape of every variable, by name or checkpoint key.
    """
    found: dict[str, str | None] = {}
    for name, shape in shapes.items():
        base = _base(name, shape, shapes)
        if base is not None:
            found[name] = base
    if any("/Adam" in name or "/AdaMax" in name for name in found):
        found |= {name: None for name, shape in shapes.items() if not shape and _POWER.fullmatch(name)}
    return found


def slots_of_keras(
    names: Iterable[str], shapes: Mapping[str, Sequence[int | None] | None]
) -> dict[str, str | None]:
    """What Keras's files keep under `optimizer_weights`: the variable that each belongs to, or None.

    Of old files, which call them `training/Adam/Variable_3`, it is not known which.

    Args:
        names: The names of the optimizer's weights.
        shapes: The shape of every variable and of these, by name.
    """
    own = set(names)
    weights = sorted((name for name in shapes if name not in own), key=len, reverse=True)
    found: dict[str, str | None] = {}
    for name in names:
        flat = f"_{name.replace('/', '_')}_"
        found[name] = next(
            (one for one in weights if f"_{one.replace('/', '_')}_" in flat and shapes[one] == shapes[name]),
            None,
        )
    return found


def _base(name: str, shape: Any, shapes: Mapping[str, Any]) -> str | None:
    tracked = _OBJECT_SLOT.fullmatch(name)
    if tracked:
        return tracked["base"] + tracked["attribute"]
    match = _SLOT.fullmatch(name)
    base = match["base"] if match else ""
    while base:  # the scope that the optimizer was called in comes before the variable's name
        if base in shapes and shapes[base] == shape:
            return base
        base = base.partition("/")[2]
    return None
