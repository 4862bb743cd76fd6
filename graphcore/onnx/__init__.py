"""Inference graphs as ONNX models.

A model is frozen, its graph goes through the compiler's first passes (`branches.settle`: prune, loops,
order, fold, simplify), each operation that is left is translated by a row of a table (`table.TRANSLATIONS`,
filled by the `ops_*` files), and what came out is tidied: transposes to and from NCHW cancel (`transposes`),
scales become part of convolutions (`tidy`). What has no translation is listed, all of it, before a file is
written.

To add an op: a function in its family's file that takes a `table.Call` and gives names; what it emits on
constants is computed at once.
"""

from __future__ import annotations

from .export import Exported as Exported, export as export, signature as signature
from .schemas import OPSET as OPSET
