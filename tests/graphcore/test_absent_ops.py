"""Ops of TensorFlow 1.15 that are not implemented say why, and what to do."""

import pytest

from sgtool import graphcore as tf
from sgtool.formats import protos
from sgtool.graphcore import absent_ops, registry

ABSENT = [
    "AllToAll",
    "BoostedTreesPredict",
    "BoostedTreesEnsembleResourceHandleOp",
    "CollectiveReduce",
    "CrossReplicaSum",
    "CudnnRNNV3",
    "EagerPyFunc",
    "LMDBReader",
    "NcclAllReduce",
    "QuantizedConv2DWithBias",
    "Rpc",
    "SdcaOptimizerV2",
    "TPUReplicatedInput",
    "TensorForestTreePredict",
    "InfeedDequeue",
    "ChooseFastestBranchDataset",
]


@pytest.mark.parametrize("name", ABSENT)
def test_an_absent_op_has_a_reason(name):
    assert registry.find(name) is None
    assert absent_ops.why(name)


def test_no_implemented_op_is_said_to_be_absent_and_others_have_no_reason():
    assert absent_ops.why("MatMul") is None
    assert absent_ops.why("SomebodysOwnOp") is None


def test_the_error_of_a_run_says_the_reason():
    graph_def = protos.GraphDef()
    graph_def.node.add(name="x", op="NcclReduce", input=["c"]).attr["T"].type = 1
    constant = graph_def.node.add(name="c", op="Const")
    constant.attr["dtype"].type = 1
    constant.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(1.0))
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        with pytest.raises(tf.errors.UnimplementedError, match="NcclReduce: it exchanges tensors"):
            session.run(graph.get_operation_by_name("x"))


def _elements(name, **inputs):
    """What a dataset op makes of 0, 1 and 2."""
    with tf.Graph().as_default(), tf.Session() as session:
        types = {"output_types": [tf.int64], "output_shapes": [[]]}
        source = tf.raw_ops.RangeDataset(start=0, stop=3, step=1, **types)
        made = getattr(tf.raw_ops, name)(input_dataset=source, **inputs, **types)
        iterator = tf.raw_ops.Iterator(shared_name="", container="", **types)
        session.run(tf.raw_ops.MakeIterator(dataset=made, iterator=iterator))
        following = tf.raw_ops.IteratorGetNext(iterator=iterator, **types)
        return [int(session.run(following)[0]) for _ in range(3)]


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("AutoShardDataset", {"num_workers": 1, "index": 0}),
        ("ExperimentalAutoShardDataset", {"num_workers": 1, "index": 0}),
        ("RebatchDataset", {"num_replicas": 1}),
        ("ExperimentalRebatchDataset", {"num_replicas": 1}),
        ("SnapshotDataset", {"path": "unused"}),
    ],
)
def test_a_pipeline_of_one_worker_is_that_pipeline(name, inputs):
    assert _elements(name, **inputs) == [0, 1, 2]


def test_a_pipeline_that_several_workers_share_is_refused_with_the_reason():
    with pytest.raises(tf.errors.UnimplementedError, match="among 2 workers"):
        _elements("AutoShardDataset", num_workers=2, index=0)
