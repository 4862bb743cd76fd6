"""`tf.train`: optimizers, savers, checkpoints, steps."""

from __future__ import annotations

from .checkpoint_reader import NewCheckpointReader, list_variables, load_checkpoint, load_variable
from .meta_graph import register_proto_function
from .optimizers.adam import AdamOptimizer
from .optimizers.gradient_descent import GradientDescentOptimizer
from .optimizers.momentum import MomentumOptimizer
from .optimizers.optimizer import Optimizer
from .saver import (
    Saver,
    checkpoint_exists,
    export_meta_graph,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    import_meta_graph,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from .variable_scope import (
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)

__all__ = [
    "AdamOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "NewCheckpointReader",
    "Optimizer",
    "Saver",
    "checkpoint_exists",
    "create_global_step",
    "export_meta_graph",
    "get_checkpoint_mtimes",
    "get_checkpoint_state",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
    "import_meta_graph",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
    "register_proto_function",
    "remove_checkpoint",
    "update_checkpoint_state",
]
