"""The programs of tests/programs: run by either system in a folder of their own, and what they leave there.

A program is a TensorFlow 1 script without its import lines: `tf`, `np` and `print` are given to it.

    python tests/support/tutorials.py        writes the golden outputs, in an environment with TensorFlow
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
PROGRAMS = sorted(path.stem for path in (TESTS / "programs").glob("*.py"))
GOLDEN = TESTS / "golden" / "programs"
_NUMBER = re.compile(r"-?\b\d+\.?\d*(?:e[-+]?\d+)?|\bnan\b|\binf\b")


def run(tf: Any, name: str, folder: Path) -> str:
    """What a program prints, run by the module `tf` inside `folder`."""
    path = TESTS / "programs" / f"{name}.py"
    lines: list[str] = []

    def say(*values: Any) -> None:
        lines.append(" ".join(str(value) for value in values))

    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    before = Path.cwd()
    os.chdir(folder)
    try:
        with (
            np.printoptions(precision=5, suppress=True, legacy="1.25"),
            contextlib.redirect_stdout(sys.stderr),
            warnings.catch_warnings(),
            tf.Graph().as_default(),
        ):
            warnings.simplefilter("ignore")  # newer TensorFlows warn of most of what these programs use
            exec(code, {"tf": tf, "np": np, "print": say})
    finally:
        os.chdir(before)
    return "\n".join(lines) + "\n"


def compare(got: str, wanted: str, rtol: float = 1e-3, atol: float = 2e-4) -> None:
    """Two outputs are the same text, but for the last digits of their numbers."""
    words = [_NUMBER.sub("#", text).split() for text in (got, wanted)]
    assert words[0] == words[1], f"got:\n{got}\nwanted:\n{wanted}"
    numbers = [np.array([float(each) for each in _NUMBER.findall(text)]) for text in (got, wanted)]
    np.testing.assert_allclose(
        numbers[0], numbers[1], rtol=rtol, atol=atol, err_msg=f"got:\n{got}\nwanted:\n{wanted}"
    )


def checkpoints(folder: Path) -> dict[str, dict[str, Any]]:
    """All variables of all checkpoints below a folder, by the checkpoints' paths in it."""
    from sgtool import graphcore

    found = {}
    for index in sorted(folder.rglob("*.index")):
        reader = graphcore.train.NewCheckpointReader(str(index)[: -len(".index")])
        names = reader.get_variable_to_shape_map()
        found[index.relative_to(folder).as_posix()] = {each: reader.get_tensor(each) for each in names}
    return found


if __name__ == "__main__":
    from side_by_side import tensorflow

    module = tensorflow()
    GOLDEN.mkdir(exist_ok=True)
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory() as place:
            (GOLDEN / f"{program}.txt").write_text(run(module, program, Path(place)), encoding="utf-8")
