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
