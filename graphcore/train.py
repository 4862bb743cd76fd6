"""`tf.train`: optimizers, savers, checkpoints, steps."""

from __future__ import annotations

from .meta_graph import register_proto_function as register_proto_function
from .optimizers.adam import AdamOptimizer as AdamOptimizer
from .optimizers.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from .optimizers.momentum import MomentumOptimizer as MomentumOptimizer
from .optimizers.optimizer import Optimizer as Optimizer
from .saver import (
    Saver as Saver,
    checkpoint_exists as checkpoint_exists,
    export_meta_graph as export_meta_graph,
    get_checkpoint_mtimes as get_checkpoint_mtimes,
    get_checkpoint_state as get_checkpoint_state,
    import_meta_graph as import_meta_graph,
    latest_checkpoint as latest_checkpoint,
    remove_checkpoint as remove_checkpoint,
    update_checkpoint_state as update_checkpoint_state,
)
from .variable_scope import (
    create_global_step as create_global_step,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
)
