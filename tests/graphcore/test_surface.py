"""The public names beside TensorFlow 1.15's: those that are absent say why, and API.md lists them."""

from __future__ import annotations

import operator

import api_table
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore import not_yet


def test_each_absent_symbol_has_a_reason() -> None:
    assert not api_table.absent_by_reason().get(""), "add rows to graphcore/not_yet.py"


def test_each_reason_is_needed() -> None:
    assert set(api_table.absent_by_reason()) == {why for why, _ in not_yet.REASONS}


def test_the_table_is_up_to_date() -> None:
    assert api_table.TABLE.read_text(encoding="utf-8") == api_table.table(), (
        "run python tests/support/api_table.py"
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("keras", "tf.keras: .*use tf.layers"),
        ("GradientTape", "tf.GradientTape: .*use tf.gradients|tf.GradientTape: .*Use tf.gradients"),
        ("train.Supervisor", "tf.train.Supervisor: .*use tf.train.MonitoredTrainingSession"),
        ("train.Server", "tf.train.Server: One process"),
        ("estimator", "tf.estimator: .*MonitoredTrainingSession"),
        ("nn.relux", "no attribute 'relux'. Did you mean 'relu'"),
        ("compat.v1.nn.relux", "no attribute 'relux'. Did you mean 'relu'"),
    ],
)
def test_an_absent_name_says_what_there_is_instead(path: str, text: str) -> None:
    with pytest.raises(AttributeError, match=text):
        operator.attrgetter(path)(tf)
