"""`--feed NAME=VALUE`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import click
import ml_dtypes
import numpy as np
import pytest

from sgtool.cli import feeds
from sgtool.formats.errors import (
    DataLossError,
    InvalidValueError,
    MissingFileError,
    MissingNameError,
    UnimplementedError,
)


def one(text: str) -> feeds.Feed:
    (feed,) = feeds.parse_feeds([text])
    return feed


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("x=1", "x:0", "1"),
        ("x:0=1", "x:0", "1"),
        ("scope/x:2=a=b.npy", "scope/x:2", "a=b.npy"),
        ("x:y=1", "x:y:0", "1"),
    ],
)
def test_names_split_at_the_first_equals_sign(text: str, name: str, value: str) -> None:
    assert one(text) == feeds.Feed(name, value)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["x"], "NAME=VALUE"),
        (["=1"], "NAME=VALUE"),
        (["x="], "NAME=VALUE"),
        (["x=1", "x:0=2"], "more than once"),
        (["x=-", "y=-"], "Standard input"),
    ],
)
def test_usage_errors(texts: list[str], said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        feeds.parse_feeds(texts)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("-3", -3),
        ("[[1,2],[3,4]]", [[1, 2], [3, 4]]),
        ("true", True),
        ('"a b"', "a b"),
        ("[]", []),
    ],
)
def test_json_values(text: str, value: Any) -> None:
    assert feeds.load(one(f"x={text}")) == value


@pytest.mark.parametrize("text", ["null", "{}"])
def test_what_json_has_and_tensors_have_not_is_a_path(text: str) -> None:
    with pytest.raises(MissingFileError):
        feeds.load(one(f"x={text}"))


def test_a_bare_word_says_how_a_string_is_written() -> None:
    with pytest.raises(MissingFileError, match="""--feed 'x:0="hello"'"""):
        feeds.load(one("x=hello"))


def test_a_wrong_path_names_the_nearest_file(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.zeros(3))
    with pytest.raises(MissingFileError, match=r"Did you mean 'data.npy'"):
        feeds.load(one(f"x={tmp_path}/dat.npy"))


def test_a_number_is_a_file_only_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("1.0").write_bytes(b"")
    assert feeds.load(one("x=1.0")) == 1.0
    with pytest.raises(UnimplementedError, match=r"\.npy"):
        feeds.load(one("x=./1.0"))


def test_files(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "a.npy", array)
    (tmp_path / "a.csv").write_text("a,b,c\n0,1,2\n3,4,5\n")
    (tmp_path / "a.json").write_text("[[0,1,2],[3,4,5]]")
    for name in ("a.npy", "a.csv", "a.json"):
        feed = one(f"x={tmp_path / name}")
        got = feeds.to_array(feed, feeds.load(feed), np.dtype(np.float32), [None, 3])
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, array)


def test_npz_and_hdf5(tmp_path: Path) -> None:
    import h5py

    first, second = np.arange(3.0), np.arange(4)
    np.savez(tmp_path / "two.npz", x=first, other=second)
    np.savez(tmp_path / "one.npz", only=second)
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["group/values"] = first
    for text, expected in [
        ("two.npz:other", second),
        ("two.npz", first),  # called as the tensor
        ("one.npz", second),
        ("d.h5:/group/values", first),
        ("d.h5:group/values", first),
        ("d.h5", first),
    ]:
        np.testing.assert_array_equal(feeds.load(one(f"x={tmp_path / text}")), expected)
    with pytest.raises(MissingNameError, match="other"):
        feeds.load(one(f"x={tmp_path}/two.npz:othre"))
    with pytest.raises(InvalidValueError, match="several"):
        feeds.load(one(f"z={tmp_path}/two.npz"))


def test_a_file_called_like_a_container_with_a_key_is_taken_literally(tmp_path: Path) -> None:
    odd = tmp_path / "a.npz:b.npy"
    np.save(odd, np.ones(2))
    np.testing.assert_array_equal(feeds.load(one(f"x={odd}")), np.ones(2))


def test_damaged_files(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY garbage")
    (tmp_path / "a.json").write_text("[1,")
    (tmp_path / "a.csv").write_text("1,2\n3\n")
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 not really")
    pickled = tmp_path / "p.npy"
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    for name, kind in [("a.npy", DataLossError), ("a.json", DataLossError), ("a.csv", InvalidValueError)]:
        with pytest.raises(kind):
            feeds.load(one(f"x={tmp_path / name}"))
    for name in ("p.npy", "a.npz"):
        with pytest.raises(DataLossError):
            feeds.load(one(f"x={tmp_path / name}"))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        ([1, 2], np.float32, [1.0, 2.0]),
        ([1.0, 2.0], np.int32, [1, 2]),
        (True, bool, True),
        ([1, 0], bool, [True, False]),
        ([], np.int64, []),
        (["NaN", "Infinity"], np.float32, [np.nan, np.inf]),
        ([1, 2], ml_dtypes.bfloat16, [1, 2]),
        ([1, -8], ml_dtypes.int4, [1, -8]),
        ([1, 2], np.complex64, [1, 2]),
        (["a", "ä"], object, [b"a", "ä".encode()]),
    ],
)
def test_conversion_to_the_tensor(value: Any, dtype: Any, expected: Any) -> None:
    got = feeds.to_array(one("x=1"), value, np.dtype(dtype), None)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(got, np.array(expected, dtype))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.5, np.int32),  # TensorFlow feeds 1
        (300, np.uint8),
        (-1, np.uint64),
        (2**40, np.int32),
        (9, ml_dtypes.int4),
        (1e60, np.float32),
        (2, bool),
        ([[1, 2], [3]], np.float32),
        ("text", np.float32),
        ([1, 2], object),
        (np.ones(2, np.complex64), np.float32),
    ],
)
def test_values_that_do_not_fit_are_refused(value: Any, dtype: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"--feed x:0=1"):
        feeds.to_array(one("x=1"), value, np.dtype(dtype), None)


def test_a_wrong_shape_is_refused() -> None:
    with pytest.raises(
        InvalidValueError, match=r"Cannot feed value of shape \(2,\).*\[\?, 2\]|cannot feed"
    ) as caught:
        feeds.to_array(one("x=[1,2]"), [1, 2], np.dtype(np.float32), [None, 2])
    assert caught.value.fields["given_shape"] == [2]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    buffer = io.BytesIO()
    np.save(buffer, np.arange(3))
    buffer.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer))
    with click.Context(click.Command("x")):
        np.testing.assert_array_equal(feeds.load(one("x=-")), np.arange(3))


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


NPY = _npy(np.ones((2, 2), np.float32))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "nothing is there"),
        (b"hello", "begins with b'hello'"),
        (b"PK\x03\x04 cut short", "zip or npz archive"),
        (NPY[:-4], "but holds 12"),
        (NPY + b"more", "but holds 20"),
        (_npy(np.array([None, {}])), "pickled Python objects, which are not read"),
        (b'{"a": 1}', "a JSON document"),
    ],
)
def test_what_is_no_npy_is_told_in_our_words(data: bytes, said: str) -> None:
    with pytest.raises(DataLossError, match="standard input") as caught:
        feeds.read_npy(data, "--feed x:0=- (standard input)")
    assert said in str(caught.value)
    assert "allow_pickle" not in str(caught.value)


def test_npy_files_of_every_layout() -> None:
    for array in (
        np.ones((2, 3)),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(True),
        np.zeros((0, 2)),
    ):
        got = feeds.read_npy(_npy(array), "x")
        assert got.dtype == array.dtype
        np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[1,2],[3]]", "this is no float32 array: its lists have different lengths."),
        ('[["a",2]]', "this is no float32 array: it holds 'a'."),
    ],
)
def test_values_that_are_no_array(text: str, said: str) -> None:
    feed = feeds.Feed("x:0", text)
    with pytest.raises(InvalidValueError) as caught:
        feeds.to_array(feed, feeds.load(feed), np.dtype(np.float32), None)
    assert str(caught.value).endswith(said)
