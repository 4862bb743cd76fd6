"""JSON values and plain tables."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from sgtool.cli import render
from sgtool.cli.main import run
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "NaN"),
        ([float("inf"), -float("inf"), 1.5], ["Infinity", "-Infinity", 1.5]),
        (b"abc", "abc"),
        ("ä".encode(), "ä"),
        (b"\xff\x00", {"base64": "/wA="}),
        (1 + 2j, [1.0, 2.0]),
        (np.float32(0.1), 0.1),
        (np.array([0.1, np.nan], np.float32), [0.1, "NaN"]),
        (np.array([[1, 2]], np.int64), [[1, 2]]),
        (np.array([True]), [True]),
        (np.array([1 + 2j], np.complex64), [[1.0, 2.0]]),
        (np.array([b"a", b"\xff"], object), ["a", {"base64": "/w=="}]),
        (np.array([0.5], ml_dtypes.bfloat16), [0.5]),
        (np.array([-3], ml_dtypes.int4), [-3]),
        (np.array(7, np.uint8), 7),
        (np.array([2.0**-1074, 1.7e308]), [2.0**-1074, 1.7e308]),
        ({"a": None, "b": (1, 2)}, {"a": None, "b": [1, 2]}),
    ],
)
def test_json_values(value: Any, expected: Any) -> None:
    got = render.json_value(value)
    assert got == expected
    json.dumps(got, allow_nan=False)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1251"])
def test_names_that_cannot_be_encoded_are_escaped(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["\udc8a", "\u00e4"]
    write_bundle(tmp_path / "m", [entry_of(name, np.float32(1)) for name in names])

    def output(*options: str) -> str:
        stream = io.TextIOWrapper(io.BytesIO(), encoding, errors="strict")
        monkeypatch.setattr(sys, "stdout", stream)
        assert run(["inspect", str(tmp_path / "m"), *options]) == 0
        stream.flush()
        return stream.buffer.getvalue().decode(encoding)

    assert "\\udc8a" in output()
    assert {one["name"] for one in json.loads(output("--json"))["variables"]} == set(names)


def test_short_floats_give_the_same_number_back() -> None:
    values = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    again = np.array(json.loads(json.dumps(render.json_value(values))), np.float32)
    np.testing.assert_array_equal(again, values)


def test_a_table_in_a_pipe_is_aligned_text(capsys: pytest.CaptureFixture[str]) -> None:
    render.table("Title", ["name", "bytes"], [["a[0]", 10], ["longer", None]], right=["bytes"])
    assert capsys.readouterr().out == "\nTitle\n  name    bytes\n  a[0]       10\n  longer\n"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**30, "1.0 GiB"), (2**41, "2.0 TiB")],
)
def test_sizes(number: int, text: str) -> None:
    assert render.size(number) == text


def test_one_and_many() -> None:
    assert [render.counted(number, "node") for number in (0, 1, 1234)] == ["0 nodes", "1 node", "1,234 nodes"]


def test_long_tables_are_plain_on_a_terminal_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(render, "on_terminal", lambda: True)
    monkeypatch.setattr(render, "_rich_table", lambda *_: pytest.fail("drawn"))
    render.table("Many", ["number"], [[number] for number in range(1001)])
    assert capsys.readouterr().out.endswith("  1000\n")
