"""Activation functions by their names, as layers and recurrent cells take them.

Source: tensorflow/python/keras/activations.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import InvalidValueError
from .ops import math_unary, nn

_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "tanh": math_unary.tanh,
    "sigmoid": math_unary.sigmoid,
    "relu": nn.relu,
    "elu": nn.elu,
    "selu": nn.selu,
    "softmax": nn.softmax,
    "softplus": nn.softplus,
    "softsign": nn.softsign,
    "exponential": math_unary.exp,
    "linear": lambda x: x,
}


def activation_of(activation: Any) -> Any:
    """An activation function, also by its name; tanh by default.

    Raises:
        ValueError: There is none of that name.
    """
    if activation is None or activation == "":
        return _ACTIVATIONS["tanh"]
    if callable(activation):
        return activation
    if activation in _ACTIVATIONS:
        return _ACTIVATIONS[activation]
    raise InvalidValueError(f"Unknown activation function:{activation}; known are {', '.join(_ACTIVATIONS)}")
