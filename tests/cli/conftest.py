"""Runs the tool in this process, as the console script would."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sgtool.cli.main import run


@dataclass
class Result:
    """What a run of the tool gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error object that `--json` puts last on stderr."""
        result: dict[str, Any] = json.loads(self.err.splitlines()[-1])
        return result


Tool = Callable[..., Result]


@pytest.fixture
def sgtool(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tool:
    """`sgtool("inspect", path)` in an empty directory; keyword `stdin`: the bytes on standard input."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return call


LINEAR = """
def build(tf, units=1, rate=0.1):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    t = tf.placeholder(tf.float32, [None, units], name="t")
    w = tf.get_variable("w", [2, units], initializer=tf.constant_initializer(0.5))
    b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
    y = tf.add(tf.matmul(x, w), b, name="y")
    loss = tf.reduce_mean(tf.squared_difference(y, t), name="loss")
    tf.add_to_collection(tf.GraphKeys.LOSSES, loss)
"""


@pytest.fixture
def linear(tmp_path: Path) -> Path:
    """A Python file that builds y = x w + b, with a loss; w is 0.5 and b is 0 at first."""
    path = tmp_path / "linear.py"
    path.write_text(LINEAR)
    return path
