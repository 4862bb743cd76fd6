"""`tf.layers.experimental`: layers that share variables by being the same object."""

from __future__ import annotations

from .base_layer import keras_style_scope, set_keras_style

__all__ = ["keras_style_scope", "set_keras_style"]
