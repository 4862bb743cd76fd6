"""Why an op of TensorFlow 1.15 that is not implemented here is not: a row for each reason."""

from __future__ import annotations

import re

# (pattern of op types, why, and what to do)
REASONS: tuple[tuple[str, str], ...] = (
    (
        "TPU|^(Infeed|Outfeed|Prelinearize|WorkerHeartbeat)|^(CrossReplicaSum|AllToAll|CollectivePermute)$",
        "it runs on TPUs only; export the model for the CPU (tf.estimator.tpu: export_to_cpu=True)",
    ),
    (
        "^Nccl|^Collective(Bcast|Gather|Reduce)",
        "it exchanges tensors between devices; load the graph that one of them ran",
    ),
    (
        "^CudnnRNN",
        "it runs on NVIDIA's GPUs only; restore the weights into the platform-independent cell "
        "(tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell and the like), which runs here",
    ),
    (
        "^Quantized(Conv2D|DepthwiseConv2D|MatMul)|^RemoteFusedGraphExecute",
        "it has a kernel in builds of TensorFlow for one vendor's library only; load the graph from before "
        "it was rewritten for that library",
    ),
    (
        "BoostedTrees|^TensorForest",
        "trees of tf.estimator are not part of this package; restore their serialized proto with "
        "tf.train.load_checkpoint to read them",
    ),
    (
        "^Sdca",
        "the linear models' own optimizer is not part of this package; another one of tf.train trains them",
    ),
    ("^EagerPyFunc$", "it calls back into the Python process that made the graph; use tf.py_func"),
    ("LMDB", "reading LMDB needs its library; convert the records with tf.python_io.TFRecordWriter"),
    ("^(Rpc|TryRpc)$", "it calls a server; feed its result"),
    ("^(CreateSummaryDbWriter|.*StatsAggregator.*)$", "it writes into a database or summary of its own"),
    ("^Dataset(To|From)Graph$", "a pipeline as a serialized graph is not made here; use its ops"),
    ("^ChooseFastestBranchDataset$", "it chooses by time; use one of its branches"),
    ("^Fact$", "it has no kernel that a graph can ask for"),
)


def why(op_type: str) -> str | None:
    """Why an op is not implemented, or None where no reason is known."""
    return next((reason for pattern, reason in REASONS if re.search(pattern, op_type)), None)
