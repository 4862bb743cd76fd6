"""Which tensors are taken for a graph's results: small graphs of each kind, and every corpus model."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from corpus_files import corpus_params, description

from sgtool.formats import protos, summary
from sgtool.formats.graph_facts import graph_facts, output_rows

FLOAT = 1


def graph(*lines: str) -> Any:
    """`name = Op(input, input)`, one node a line."""
    found = protos.GraphDef()
    found.versions.producer = 134
    for line in lines:
        name, _, call = line.partition(" = ")
        op, _, arguments = call.removesuffix(")").partition("(")
        node = found.node.add(name=name, op=op, input=[one for one in arguments.split(", ") if one])
        node.attr["T"].type = node.attr["dtype"].type = FLOAT
    return found


def outputs(*lines: str) -> list[tuple[str, str]]:
    return [(row["name"], row["role"]) for row in graph_facts(graph(*lines)).outputs]


MODEL = (
    "x = Placeholder()",
    "t = Placeholder()",
    "w = VariableV2()",
    "w/read = Identity(w)",
    "logits = MatMul(x, w/read)",
)


def test_a_prediction_that_only_a_loss_consumes() -> None:
    lines = (*MODEL, "sub = Sub(logits, t)", "Square = Square(sub)", "loss = Mean(Square)")
    assert outputs(*lines) == [("logits:0", "result"), ("loss:0", "loss")]
    (x, t) = graph_facts(graph(*lines)).inputs
    assert "label" not in x
    assert t["label"] is True


def test_a_placeholder_that_weights_come_after_is_no_label() -> None:
    lines = ("keep = Placeholder()", *MODEL[:-1], "Div = RealDiv(x, keep)", "y = MatMul(Div, w/read)")
    assert outputs(*lines, "loss = Sub(y, t)") == [("y:0", "result"), ("loss:0", "loss")]


def test_what_iterators_and_queues_give_can_be_fed() -> None:
    lines = (
        "it = IteratorV2()",
        "next = IteratorGetNext(it)",
        "aside = QueueDequeueV2(it)",
        "w = VariableV2()",
        "y = MatMul(next:1, w)",
        "t = Floor(aside)",
    )
    made = graph(*lines)
    made.node[1].attr["output_types"].list.type.extend([3, 1])
    made.node[2].attr["component_types"].list.type.append(1)
    assert graph_facts(made).inputs == [{"name": "next:1", "dtype": "float32", "shape": None, "inner": True}]


def test_what_a_signature_feeds_is_an_input() -> None:
    found = graph_facts(graph(*MODEL, "y = Relu(logits)"), given=["logits:0", "x:0", "gone:0"])
    assert [(row["name"], row.get("inner", False)) for row in found.inputs] == [
        ("x:0", False),
        ("logits:0", True),
    ]
    assert found.outputs[0]["needs"] == ["x:0"]


@pytest.mark.parametrize(
    "lines",
    [
        ("Shape = Shape(logits)", "strided_slice = StridedSlice(Shape)"),
        ("scale = Const()", "noise = RandomUniform(scale)"),
        ("Equal = Equal(logits, x)", "All = All(Equal)", "Assert/Assert = Assert(All, logits)"),
        ("tag = Const()", "Mean = Mean(logits)", "ScalarSummary = ScalarSummary(tag, Mean)"),
        ("save/Const = Const()", "save/SaveV2 = SaveV2(save/Const, save/Const, save/Const, w)"),
        ("gradients/grad = MatMul(logits, x)", "up = ApplyGradientDescent(w, x, gradients/grad)"),
        (
            "v = VariableV2()",
            "AssignMovingAvg/sub = Sub(v, logits)",
            "avg = AssignSub(v, AssignMovingAvg/sub)",
        ),
        ("Print = Print(logits, x)",),
        ("v = VariableV2()", "v/Assign = Assign(v, logits)"),
        ("labels = Placeholder()", "in_top = InTopK(logits, labels)"),
        ("v/Initializer/zeros = Const()", "v = VariableV2()", "v/Assign = Assign(v, v/Initializer/zeros)"),
    ],
)
def test_observers_are_no_consumers_and_no_results(lines: tuple[str, ...]) -> None:
    found = outputs(*MODEL, *lines)
    assert found[0] == ("logits:0", "result") or (found[0][1], found[1][0]) == ("result", "logits:0")
    assert not {name for name, _ in found} & {
        "strided_slice:0",
        "noise:0",
        "All:0",
        "Mean:0",
        "AssignMovingAvg/sub:0",
    }


def test_a_decision_at_the_end_stands_beside_what_it_decides_on() -> None:
    lines = (*MODEL, "prob = Softmax(logits)", "ArgMax = ArgMax(prob)", "class = Cast(ArgMax)")
    assert [name for name, _ in outputs(*lines)] == ["prob:0", "class:0"]
    inside = (*MODEL, "ArgMax = ArgMax(logits)", "y = MatMul(ArgMax, w/read)")
    assert [name for name, _ in outputs(*inside)] == ["y:0"]


def test_what_somebody_named_comes_first_and_what_reads_no_variable_last() -> None:
    lines = (*MODEL, "Relu = Relu(logits)", "aside = Floor(x)", "score = Sigmoid(logits)")
    assert outputs(*lines) == [("score:0", "result"), ("Relu:0", "result"), ("aside:0", "other")]


def test_the_order_of_the_nodes_does_not_matter() -> None:
    chain = [f"n{i} = Tanh({f'n{i - 1}' if i else 'logits'})" for i in range(300)]
    lines = [*MODEL, *chain, "d = Sub(n299, t)", "loss = Mean(d)"]
    assert outputs(*lines[::-1]) == outputs(*lines) == [("n299:0", "result"), ("loss:0", "loss")]


def test_a_source_that_several_consume_is_one() -> None:
    lines = ["x = Placeholder()", "t = Placeholder()", "w = VariableV2()", "a = MatMul(x, w)"]
    lines += ["b = Mul(x, a)", "y = Add(b, x)", "l1 = Sub(y, t)", "l2 = Mul(l1, t)", "loss = Add(l2, t)"]
    assert outputs(*lines) == [("y:0", "result"), ("loss:0", "loss")]


def test_of_an_op_with_several_outputs_the_first_is_a_result() -> None:
    lines = (*MODEL, "bn = FusedBatchNorm(logits)", "v = VariableV2()", "AssignMovingAvg/sub = Sub(v, bn:1)")
    assert ("bn:0", "result") in outputs(*lines)


def test_the_scope_of_a_loss_is_the_loss() -> None:
    lines = (
        *MODEL,
        "xent/Relu = Relu(logits)",
        "xent/mul = Mul(logits, t)",
        "xent/sub = Sub(xent/Relu, xent/mul)",
    )
    assert outputs(*lines) == [("logits:0", "result"), ("xent/sub:0", "loss")]


def test_a_loss_that_is_also_added_up_is_a_loss() -> None:
    lines = (*MODEL, "sub = Sub(logits, t)", "loss = Mean(sub)", "total = VariableV2()")
    assert ("loss:0", "loss") in outputs(*lines, "add = AssignAdd(total, loss)")


def test_inputs_of_any_kind_are_no_failure() -> None:
    names = ["", "a", "b", "c/d", "gradients/e", "save/f", "g/Assign"]
    ops = ["Merge", "Assign", "Identity", "If", "Const", "Placeholder", "VariableV2", "Mean", "Assert", "Odd"]
    ends = ["", ":0", ":1", ":x", ":-1", ":99999999999999999999"]
    chance = random.Random(0)
    for _ in range(500):
        made = protos.GraphDef()
        for _ in range(chance.randrange(9)):
            inputs = [
                chance.choice(["", "^"]) + chance.choice(names) + chance.choice(ends)
                for _ in range(chance.randrange(4))
            ]
            made.node.add(name=chance.choice(names), op=chance.choice(ops), input=inputs)
        json.dumps(graph_facts(made).outputs)


def test_long_chains_and_cycles_end() -> None:
    chain = [f"Floor_{i} = Floor({f'Floor_{i - 1}' if i else 'logits'})" for i in range(3000)]
    assert outputs(*MODEL, *chain, "loss = Sub(Floor_2999, t)")[-1] == ("loss:0", "loss")
    chain = [f"ArgMax_{i} = ArgMax({f'ArgMax_{i - 1}' if i else 'logits'})" for i in range(3000)]
    assert outputs(*MODEL, *chain)
    assert outputs(*MODEL, "a = Add(b, logits)", "b = Cast(a)", "loss = Sub(b, t)")


NOT_LISTED = {
    "chiron_dna": {"CTCLoss:0", "CTCLoss:1", "Mean:0"},  # total_loss:0 is what becomes of them
    "guesslang": {"head/logits/Shape:0"},
    "mtcnn_pnet": {"conv4_1/Softmax:0"},  # cls_prob:0 is the same, squeezed
    "siamese_v1": {"contrastive-loss/Mean:0"},  # its truediv:0
    "siamese_v2": {"contrastive-loss/Mean:0"},
    "txt_nested_while": {"while/Exit_2:0"},
    "txt_tensor_array_loop": {"while/Exit:0"},
    "refdata_uniform_random": {"input_tensor/read:0"},
}
"""Tensors that nothing else in the forward graph consumes, but that are no results."""
FIRST = {
    "refdata_batch_norm": "batch_normalization/FusedBatchNorm:0",
    "refdata_uniform_random": "random_uniform:0",
    "guesslang": "head/Tile:0",  # the classes of the signature that is served
    "mtcnn_pnet": "cls_prob:0",
    "siamese_v1": "model/Flatten/flatten/Reshape:0",
    "siamese_v2": "model/Flatten/flatten/Reshape:0",
    "max_lstm": "lstm_1/mul_9:0",
    "session_bundle_v1_tf115": "Identity:0",
    "session_bundle_v2": "Identity:0",
}


@pytest.mark.parametrize("folder", corpus_params("models/*"))
def test_the_results_of_every_corpus_model(folder: Path) -> None:
    about = description(folder)
    found = summary.summarise(folder / about["source"])
    names = [row["name"] for row in found["outputs"]]
    finals = {one["tensor"] for one in about["fetches"] if one["final"] and "Assign" not in one["op"]}
    assert finals - set(names) == NOT_LISTED.get(folder.name, set())
    assert names[0] == FIRST.get(folder.name, names[0])
    assert folder.name in FIRST or names[0] in finals
    told = {
        one["name"]
        for key, signature in found.get("signatures", {}).items()
        for one in signature["outputs"].values()
        if not key.startswith("__")
    }
    assert told == {row["name"] for row in found["outputs"][: len(told)]}
    kinds = [row["role"] for row in found["outputs"]]
    assert kinds == sorted(kinds, key=["named", "result", "loss", "other"].index)
    noise = ("Shape", "assert_", "save/", "Initializer", "gradients/", "Summary")
    assert not [name for name in names if any(one in name for one in noise)]


def test_every_corpus_op_graph() -> None:
    (first, *_) = params = corpus_params("ops/**/case.json")
    if first.id == "absent":
        pytest.skip(first.marks[1].kwargs["reason"])
    likeliest = 0
    for param in params:
        path = param.values[0]
        names = [row["name"] for row in summary.summarise(path.with_name("graph.pb"))["outputs"]]
        finals = {one if ":" in one else f"{one}:0" for one in json.loads(path.read_text())["finals"]}
        missed = finals - set(names)
        assert not [
            one for one in missed if not re.search(r"/(switch_[tf]|AssertGuard/Merge|Merge(?=:1)):\d$", one)
        ], path
        likeliest += names[0] in finals
    assert likeliest > 0.99 * len(params)


@pytest.mark.parametrize(
    ("node", "rows"),
    [
        ("a = ArgMax(x)", [("a:0", "int64")]),
        ("a = TopKV2(x)", [("a:0", "float32"), ("a:1", "int32")]),
        ("a = Equal(x)", [("a:0", "bool")]),
        ("a = NoOp(x)", []),
        ("a = Somebodys(x)", [("a:0", "float32")]),
    ],
)
def test_outputs_of_a_graph_that_declares_no_ops(node: str, rows: list[tuple[str, str]]) -> None:
    (made,) = graph(node).node
    assert [(row["name"], row["dtype"]) for row in output_rows(made)] == rows


def test_how_many_outputs_an_attribute_says() -> None:
    (made,) = graph("a = Split(x)").node
    made.attr["num_split"].i = 3
    assert [row["name"] for row in output_rows(made)] == ["a:0", "a:1", "a:2"]
    (made,) = graph("a = While(x)").node
    made.attr["T"].list.type.extend([1, 3])
    assert [row["dtype"] for row in output_rows(made)] == ["float32", "int32"]
