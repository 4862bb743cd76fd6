"""Specs: what they build, and what a wrong one is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.errors import InvalidValueError
from sgtool.graphcore.spec import build_spec

GOOD = """
parameters: {scale: 2.0}
inputs:
  x: {dtype: float32, shape: [null, 3]}
variables:
  w: {shape: [3, 1], initializer: {constant: 0.5}}
  steps: {value: 7, dtype: int64, trainable: false}
nodes:
  product: {op: MatMul, inputs: [x, w]}
  scaled: {op: Mul, inputs: [product, $scale]}
  parts: {call: split, inputs: [x, 3], axis: 1}
  second: {call: identity, inputs: ["parts:1"]}
  active: {call: layers.dense, inputs: [scaled], units: 2, activation: nn.relu, kernel_initializer: ones}
outputs: [active]
collections: {favourites: [product, second]}
"""


def write(folder: Path, text: str) -> str:
    path = folder / "model.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_what_a_spec_builds(tmp_path: Path) -> None:
    graph = build_spec(write(tmp_path, GOOD), {"scale": 3.0})
    with graph.as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        x = np.array([[1, 2, 3]], np.float32)
        values = session.run(["scaled:0", "second:0", "active:0", "steps:0"], {"x:0": x})
        assert [np.asarray(value).tolist() for value in values] == [[[9.0]], [[2.0]], [[9.0, 9.0]], 7]
        assert [tensor.name for tensor in tf.get_collection("favourites")] == ["product:0", "second:0"]
        assert [tensor.name for tensor in tf.get_collection("outputs")] == ["active:0"]
        assert [v.op.name for v in tf.trainable_variables()] == ["w", "active/kernel", "active/bias"]


@pytest.mark.parametrize(
    ("change", "line", "key", "says"),
    [
        (("inputs:", "input:"), 3, "input", "Did you mean 'inputs'"),
        (("shape: [null, 3]", "shpae: [null, 3]"), 4, "inputs.x.shpae", "Did you mean 'shape'"),
        (("op: MatMul", "op: Matmul"), 9, "nodes.product.op", "Did you mean 'MatMul'"),
        (("inputs: [x, w]", "inputs: [x, ww]"), 9, "nodes.product.inputs", "Did you mean 'w'"),
        (("inputs: [x, w]", "inputs: [x]"), 9, "nodes.product.inputs", "takes 2 inputs (a, b), not 1"),
        (("shape: [3, 1]", "shape: [4, 1]"), 9, "nodes.product", "Dimensions must be equal, but are 3 and 4"),
        (("$scale", "$skale"), 10, "nodes.scaled.inputs", "Did you mean 'scale'"),
        (("nn.relu", "nn.rellu"), 13, "nodes.active.activation", "Did you mean 'nn.relu'"),
        (("layers.dense", "layers.dens"), 13, "nodes.active.call", "Did you mean 'layers.dense'"),
        (("units: 2", "unit: 2"), 13, "nodes.active.unit", "Did you mean 'units'"),
        (("{constant: 0.5}", "{constent: 0.5}"), 6, "variables.w.initializer", "Did you mean 'constant'"),
        (("outputs: [active]", "outputs: [activ]"), 14, "outputs", "Did you mean 'active'"),
        (("dtype: int64", "dtype: int46"), 7, "variables.steps", "int46"),
        (("op: MatMul, inputs: [x, w]", "inputs: [x, w]"), 9, "nodes.product", "either `op`"),
        (("  second:", "  product:"), 12, "product", "stands twice (first in line 9)"),
        (("parts:1", "parts:5"), 12, "nodes.second.inputs", "only 3 outputs"),
    ],
)
def test_a_wrong_spec_is_refused_with_file_line_and_key(
    tmp_path: Path, change: tuple[str, str], line: int, key: str, says: str
) -> None:
    assert change[0] in GOOD
    path = write(tmp_path, GOOD.replace(*change))
    with pytest.raises(InvalidValueError) as info:
        build_spec(path)
    text = str(info.value)
    assert text.startswith(f"{path}, line {line}"), text
    assert key in text
    assert says in text
    assert info.value.fields["line"] == line


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a spec is a mapping"),
        ("- a\n- b\n", "a spec is a mapping"),
        ("inputs: {x: [\n", "line 2"),
        ("loss: nothing\n", "nothing"),
        ("nodes: {a: {op: NoOp}}\noptimizer: {call: train.AdamOptimizer}\n", "there is no loss to minimise"),
        ("parameters: {a: 1}\nloss: a\nnodes: 3\n", "nodes: must be a mapping"),
    ],
)
def test_what_is_no_spec(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        build_spec(write(tmp_path, text))


def test_an_unknown_override_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"there is no parameter 'skale'\. Did you mean 'scale'"):
        build_spec(write(tmp_path, GOOD), {"skale": 1})


def test_the_seed_decides_the_random_values(tmp_path: Path) -> None:
    text = "variables: {w: {shape: [4], initializer: glorot_uniform}}\n"

    def values(seed: int) -> Any:
        graph = build_spec(write(tmp_path, text), seed=seed)
        with graph.as_default(), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run("w:0").tolist()

    assert values(1) == values(1)
    assert values(1) != values(2)
