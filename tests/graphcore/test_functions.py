"""Functions of a graph's library: calls, conditionals and loops as TensorFlow 2 writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.formats import graph_file
from sgtool.graphcore.compiler import Options

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
FEEDS = {"n:0": 5, "x:0": [1.0, -2.0, 3.0]}


@pytest.fixture
def message() -> Any:
    return graph_file.read_graph(GOLDEN / "functions.meta").message


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    "options",
    [Options(), Options(fold=False, simplify=False, free=False, reuse=False, specialize=False)],
    ids=["all passes", "no pass"],
)
def test_functions_give_what_tensorflow_computes(message: Any, options: Options) -> None:
    with np.load(GOLDEN / "functions.npz") as archive:
        expected = dict(archive)
    tf.train.import_meta_graph(message)
    with tf.Session(options=options) as session:
        session.run(tf.global_variables_initializer())
        for name, value in zip(expected, session.run(list(expected), FEEDS)):
            assert np.asarray(value).dtype == expected[name].dtype
            np.testing.assert_allclose(value, expected[name], rtol=1e-6, err_msg=name)


def test_other_branches_and_no_iteration(message: Any) -> None:
    tf.train.import_meta_graph(message)
    names = ["chosen:0", "not_chosen:0", "collatz:0", "product:0", "nested:0"]
    with tf.Session() as session:
        chosen, total, *rest = session.run(names, {"n:0": 0, "x:0": [2.0, 4.0]})
        assert chosen.tolist() == [1.0, 3.0]
        assert [total, *rest] == [4.0, 0, 8.0, -1]
        assert session.run("not_chosen:0", {"n:0": 31, "x:0": [2.0, 4.0]}) == 6.0
        assert session.run("collatz:0", {"n:0": 27}) == 111


def test_a_function_changes_variables_each_time(message: Any) -> None:
    tf.train.import_meta_graph(message)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run("counted:0", FEEDS) for _ in range(3)] == [30, 40, 50]


def test_an_error_inside_a_function_names_its_node(message: Any) -> None:
    tf.train.import_meta_graph(message)
    says = r"uninitialized(.|\n)*node AssignAddVariableOp(.|\n)*run by .*node StatefulPartitionedCall"
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match=says):
        session.run("counted:0", FEEDS)


def test_a_missing_function_and_a_missing_op_are_named(message: Any) -> None:
    library = message.graph_def.library
    (double,) = [one for one in library.function if "double" in one.signature.name]
    (node,) = [one for one in double.node_def if one.op == "Mul"]
    node.op = "NoSuchOp"
    (chosen,) = [one for one in message.graph_def.node if one.name == "cond"]
    chosen.attr["then_branch"].func.name = "cond_true_21"
    tf.train.import_meta_graph(message)
    with tf.Session() as session:
        with pytest.raises(tf.errors.UnimplementedError, match=r"The op is not implemented: NoSuchOp"):
            session.run("called:0", FEEDS)
        with pytest.raises(tf.errors.NotFoundError, match=r"cond_true_21 is not defined.*cond_true_"):
            session.run("chosen:0", FEEDS)


def test_the_library_is_exported_unchanged(message: Any, graph: Any) -> None:
    tf.train.import_meta_graph(message)
    assert graph.as_graph_def().library == message.graph_def.library
