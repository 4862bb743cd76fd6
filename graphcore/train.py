"""`tf.train`: optimizers, savers, checkpoints, steps."""

from __future__ import annotations

from typing import Any as _Any

from ..formats.event_file import read_events as summary_iterator
from . import not_yet, train_queue_runner as queue_runner
from .basic_session_run_hooks import (
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    SecondOrStepTimer,
    StopAtStepHook,
)
from .checkpoint_init import init_from_checkpoint, warm_start
from .checkpoint_management import (
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from .checkpoint_reader import NewCheckpointReader, list_variables, load_checkpoint, load_variable
from .checkpoint_watching import checkpoints_iterator
from .cluster import ClusterSpec, replica_device_setter
from .coordinator import Coordinator, LooperThread
from .graph_io import write_graph
from .input_batches import (
    batch,
    batch_join,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    shuffle_batch,
    shuffle_batch_join,
)
from .input_producers import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)
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
from .monitored_session import (
    MonitoredSession,
    MonitoredTrainingSession,
    SingularMonitoredSession,
    basic_train_loop,
)
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
from .saver import Saver, export_meta_graph, import_meta_graph
from .saving_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    ProfilerHook,
    StepCounterHook,
    SummarySaverHook,
)
from .scaffold import ChiefSessionCreator, Scaffold, SessionCreator, WorkerSessionCreator
from .session_manager import SessionManager
from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
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
        "ClusterDef",
        "Example",
        "Feature",
        "FeatureList",
        "FeatureLists",
        "Features",
        "FloatList",
        "Int64List",
        "JobDef",
        "SaverDef",
        "SequenceExample",
        "ServerDef",
    }
)


def __getattr__(name: str) -> _Any:
    """The message class `tf.train.<name>`."""
    if name not in _MESSAGES:
        raise not_yet.missing(__name__, name)
    from ..formats import protos

    return getattr(protos, name)


__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "CheckpointSaverHook",
    "CheckpointSaverListener", "ChiefSessionCreator", "ClusterSpec", "Coordinator",
    "ExponentialMovingAverage", "FeedFnHook", "FinalOpsHook", "FtrlOptimizer", "GlobalStepWaiterHook",
    "GradientDescentOptimizer", "LoggingTensorHook", "LooperThread", "MomentumOptimizer",
    "MonitoredSession", "MonitoredTrainingSession", "NanLossDuringTrainingError", "NanTensorHook",
    "NewCheckpointReader", "Optimizer", "ProfilerHook", "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer", "QueueRunner", "RMSPropOptimizer", "Saver", "Scaffold",
    "SecondOrStepTimer", "SessionCreator", "SessionManager", "SessionRunArgs", "SessionRunContext",
    "SessionRunHook", "SessionRunValues", "SingularMonitoredSession", "StepCounterHook", "StopAtStepHook",
    "SummarySaverHook", "SyncReplicasOptimizer", "WorkerSessionCreator", "add_queue_runner",
    "assert_global_step", "basic_train_loop", "batch", "batch_join", "checkpoint_exists",
    "checkpoints_iterator", "cosine_decay", "cosine_decay_restarts", "create_global_step",
    "exponential_decay", "export_meta_graph", "generate_checkpoint_state_proto", "get_checkpoint_mtimes",
    "get_checkpoint_state", "get_global_step", "get_or_create_global_step", "global_step",
    "import_meta_graph", "init_from_checkpoint", "input_producer",
    "inverse_time_decay", "latest_checkpoint", "limit_epochs", "linear_cosine_decay", "list_variables",
    "load_checkpoint", "load_variable", "match_filenames_once", "maybe_batch", "maybe_batch_join",
    "maybe_shuffle_batch", "maybe_shuffle_batch_join", "natural_exp_decay", "noisy_linear_cosine_decay",
    "piecewise_constant", "piecewise_constant_decay", "polynomial_decay", "queue_runner",
    "range_input_producer", "register_proto_function", "remove_checkpoint", "replica_device_setter",
    "shuffle_batch", "shuffle_batch_join", "slice_input_producer", "start_queue_runners",
    "string_input_producer", "summary_iterator", "update_checkpoint_state", "warm_start",
    "write_graph",
]  # fmt: skip
