"""What is said of a name of TensorFlow 1's API that is not here: why, and what there is instead.

`REASONS` has a row for each reason, with the names and modules that it holds for; a test demands that each
absent public symbol of TensorFlow 1.15 has one, and `API.md` lists them.
"""

from __future__ import annotations

import sys

from ..formats.errors import did_you_mean

_GRAPHS = "This package is for TensorFlow 1's static graphs"

# (reason, names without "tf."); a name also stands for all that is below it.
REASONS: tuple[tuple[str, str], ...] = (
    (
        f"{_GRAPHS}; use tf.layers, tf.losses, tf.train and tf.metrics instead of Keras.",
        "keras",
    ),
    (
        f"{_GRAPHS}; use tf.train.MonitoredTrainingSession and tf.data instead of estimators.",
        "estimator feature_column train.VocabInfo",
    ),
    (
        "One process on the CPU runs the graph; there is no distribution. tf.train.ClusterSpec and "
        "tf.train.replica_device_setter exist, so that graphs for many machines can be built.",
        "distribute tpu train.Server config.experimental_connect_to_cluster "
        "config.experimental_connect_to_host",
    ),
    (
        "sgtool is not a compiler for devices; export the graph and convert it with TensorFlow.",
        "lite xla mlir",
    ),
    (
        f"{_GRAPHS}; there is no eager mode. Use tf.gradients, tf.while_loop, tf.cond and tf.py_func.",
        "autograph GradientTape function wrap_function py_function vectorized_map "
        "nondifferentiable_batch_function Module config.experimental_run_functions_eagerly "
        "experimental.function_executor_type experimental.output_all_intermediates",
    ),
    (
        "Numbers are computed in the dtypes of the graph; cast with tf.cast.",
        "mixed_precision train.experimental",
    ),
    ("Deprecated in TensorFlow 1.15; use tf.random, tf.math and tf.nn.", "distributions"),
    (
        "Not here yet; use tf.linalg.LinearOperatorFullMatrix and its kin, or matrices with tf.linalg.solve.",
        "linalg.LinearOperatorBlockDiag linalg.LinearOperatorCirculant linalg.LinearOperatorCirculant2D "
        "linalg.LinearOperatorCirculant3D linalg.LinearOperatorHouseholder linalg.LinearOperatorKronecker "
        "linalg.LinearOperatorLowRankUpdate linalg.LinearOperatorToeplitz linalg.LinearOperatorZeros",
    ),
    (
        "Kernels are NumPy functions here, not shared libraries; add an op as CONTRIBUTING.md says.",
        "load_library load_op_library load_file_system_library sysconfig user_ops pywrap_tensorflow "
        "errors.raise_exception_on_not_ok_status",
    ),
    ("Deprecated in TensorFlow 1; use tf.train.MonitoredTrainingSession.", "train.Supervisor"),
    (
        "Quantized training changes a graph for TensorFlow Lite; tf.quantization has the fake_quant ops.",
        "train.do_quantize_training_on_graphdef",
    ),
    (
        "The optimizer of sdca needs kernels that are not here; use the optimizers of tf.train.",
        "train.sdca_optimizer train.sdca_fprint train.sdca_shrink_l1",
    ),
    (
        "Checkpoints of objects are TensorFlow 2's; use tf.train.Saver.",
        "train.Checkpoint train.CheckpointManager data.experimental.CheckpointInputPipelineHook "
        "data.experimental.make_saveable_from_iterator saved_model.save saved_model.experimental "
        "saved_model.load_v2",
    ),
    (
        "Trace a run instead: tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), or tf.train.ProfilerHook.",
        "profiler",
    ),
    (
        "There is one device, the CPU; a tf.ConfigProto is accepted and has no effect.",
        "config debugging.get_log_device_placement debugging.set_log_device_placement",
    ),
    (
        "Not here yet; use tf.SparseTensor, or pad.",
        "RaggedTensor RaggedTensorSpec ragged strings.bytes_split strings.ngrams sparse.cross "
        "sparse.cross_hashed",
    ),
    (
        "TensorFlow 1.15 computes it on GPUs only; use tf.image.non_max_suppression.",
        "image.generate_bounding_box_proposals",
    ),
    ("There is no LMDB reader; convert the data to a TFRecord file.", "LMDBReader"),
    (
        "Not here yet.",
        "data.experimental.RaggedTensorStructure data.experimental.StatsAggregator random.experimental",
    ),
)


# Of its thousands of names none is public API of 1.15 to be counted.
_CONTRIB = (
    "of tf.contrib there is what old scripts cannot do without: in `layers` initializers and regularizers, "
    "in `framework` what finds variables and assigns from checkpoints, in `lookup` tables."
)


def reason(path: str) -> str | None:
    """Why a symbol (`tf.nn.relu`) is absent; None where no row says."""
    name = path.removeprefix("tf.")
    for why, names in REASONS:
        if any(name == one or name.startswith(f"{one}.") for one in names.split()):
            return why
    return None


def missing(module: str, name: str) -> AttributeError:
    """The error for attribute `name` of the public module `module` (its `__name__`)."""
    path = ".".join(["tf", *module.split(".graphcore.")[1:], name])
    why = _CONTRIB if path.startswith("tf.contrib.") else reason(path)
    text = f"module {module!r} has no attribute {name!r}"
    if why is None and name.startswith("__"):
        return AttributeError(text)
    if why is None:
        return AttributeError(f"{text}.{did_you_mean(name, _public(module))}")
    return AttributeError(f"{text}. {path}: {why}")


def _public(module: str) -> list[str]:
    # Not getattr or dir: these modules have a __getattr__ of their own, which calls `missing`.
    names = vars(sys.modules[module]) if module in sys.modules else {}
    return list(names.get("__all__") or [each for each in names if not each.startswith("_")])
