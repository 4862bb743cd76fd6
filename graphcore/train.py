"""`tf.train`: optimizers, savers, checkpoints, steps."""

from __future__ import annotations

from typing import Any as _Any

from ..formats.event_file import read_events as summary_iterator
from . import not_yet
from .checkpoint_reader import NewCheckpointReader, list_variables, load_checkpoint, load_variable
from .coordinator import Coordinator, LooperThread
from .learning_rate_decay import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant as piecewise_constant_decay,
    polynomial_decay,
)
from .meta_graph import register_proto_function
from .moving_averages import ExponentialMovingAverage
from .optimizers.adadelta import AdadeltaOptimizer
from .optimizers.adagrad import AdagradOptimizer
from .optimizers.adagrad_da import AdagradDAOptimizer
from .optimizers.adam import AdamOptimizer
from .optimizers.ftrl import FtrlOptimizer
from .optimizers.gradient_descent import GradientDescentOptimizer
from .optimizers.momentum import MomentumOptimizer
from .optimizers.optimizer import Optimizer
from .optimizers.proximal import ProximalAdagradOptimizer, ProximalGradientDescentOptimizer
from .optimizers.rms_prop import RMSPropOptimizer
from .optimizers.sync_replicas import SyncReplicasOptimizer
from .queue_runner import QueueRunner, add_queue_runner, start_queue_runners
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
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)

# Messages are made when they are first asked for: importing protobuf takes longer than all else here.
_MESSAGES = frozenset(
    {
        "BytesList",
        "Example",
        "Feature",
        "FeatureList",
        "FeatureLists",
        "Features",
        "FloatList",
        "Int64List",
        "SaverDef",
        "SequenceExample",
    }
)


def __getattr__(name: str) -> _Any:
    """The message class `tf.train.<name>`."""
    if name not in _MESSAGES:
        raise not_yet.missing(__name__, name)
    from ..formats import protos

    return getattr(protos, name)


__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "Coordinator",
    "ExponentialMovingAverage", "FtrlOptimizer", "GradientDescentOptimizer", "LooperThread",
    "MomentumOptimizer", "NewCheckpointReader", "Optimizer", "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer", "QueueRunner", "RMSPropOptimizer", "Saver",
    "SyncReplicasOptimizer", "add_queue_runner", "assert_global_step", "checkpoint_exists",
    "cosine_decay", "cosine_decay_restarts", "create_global_step", "exponential_decay",
    "export_meta_graph", "get_checkpoint_mtimes", "get_checkpoint_state", "get_global_step",
    "get_or_create_global_step", "global_step", "import_meta_graph", "inverse_time_decay",
    "latest_checkpoint", "linear_cosine_decay", "list_variables", "load_checkpoint", "load_variable",
    "natural_exp_decay", "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay",
    "polynomial_decay", "register_proto_function", "remove_checkpoint", "start_queue_runners",
    "summary_iterator", "update_checkpoint_state",
]  # fmt: skip
