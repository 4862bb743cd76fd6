"""The README's tour and programs, run as they stand there: what they show is what comes out."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
TOUR = README.partition("## A tour")[2].partition("\n## ")[0]
# What differs from run to run.
VARIES = re.compile(r"time\s+.*|\d+\.\d+(e-?\d+)?")


def shown() -> list[tuple[str, str]]:
    """(command, what the README shows of its output) for each command of the tour."""
    found: list[tuple[str, list[str]]] = []
    for line in TOUR.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif line.startswith("    ") and found:
            found[-1][1].append(line[4:])
    return [(command, "\n".join(lines)) for command, lines in found]


def run(command: str) -> str:
    program, *words = shlex.split(command)
    module = ["-m", "sgtool.cli"] if program == "sgtool" else []
    done = subprocess.run([sys.executable, *module, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


def plain(text: str) -> str:
    """Without blank lines and what varies."""
    return VARIES.sub("~", "\n".join(line.rstrip() for line in text.splitlines() if line.strip()))


def test_the_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [(command, output) for command, output in shown() if not any(sign in command for sign in "|<")]
    if importlib.util.find_spec("onnx") is None:
        commands = [(command, output) for command, output in commands if ".onnx" not in command]
    assert len(commands) >= 8
    for command, output in commands:
        # "..." at the end stands for the rest.
        head, dots, _ = plain(output).partition("\n...")
        came = plain(run(command))
        if not output:
            continue
        assert came.startswith(head) if dots else came == head, f"{command}\n{came}"


def test_the_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command, _ in shown()[:3]:
        run(command)
    (line,) = [command for command, _ in shown() if "<" in command]
    assert line.startswith("sgtool ")
    Path("x.npy").write_bytes(npy := _npy())
    run("sgtool train model.meta --feed x:0=train.npz --feed y:0=train.npz --steps 1 -o trained")
    words = line.replace("sgtool", f"{shlex.quote(sys.executable)} -m sgtool.cli", 1)
    subprocess.run(words, shell=True, check=True, timeout=120)
    assert Path("y.npy").read_bytes()[:6] == npy[:6]


def _npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ones((3, 2), np.float32))
    return buffer.getvalue()


def test_the_programs(tmp_path: Path) -> None:
    programs = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(programs) == 2
    for program in programs:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "SGTOOL_MODEL": ""},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "model.ckpt-100.index").is_file()
