"""Files that are something else are named for what they are, with what to do about it; none is run."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sgtool.formats import registry, sniff, summary
from sgtool.formats.bundle_writer import write_bundle
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import DataLossError, OpError, UnimplementedError

GOLDEN = Path(__file__).parents[1] / "golden"


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("raise SystemExit('a pickle was loaded')",)


def archive(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name in names:
            file.writestr(name, b"x" * 9000)  # so that the names are not all within the first bytes
    return data.getvalue()


def npy() -> bytes:
    data = io.BytesIO()
    np.save(data, np.ones(3))
    return data.getvalue()


FOREIGN = {
    "lfs": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n",
        r"Git LFS pointer.*git lfs pull",
    ),
    "html": (b"\n<!DOCTYPE html><html></html>", r"HTML.*open it in a browser"),
    "pickle": (pickle.dumps({"w": Bomb()}), r"Python pickle, which is not read.*numpy\.savez"),
    "pickle 2": (pickle.dumps([Bomb()], protocol=2), "Python pickle, which is not read"),
    "pickle 0": (pickle.dumps({"w": Bomb()}, protocol=0), "Python pickle, which is not read"),
    "pickle 1": (pickle.dumps([1.5, "a"], protocol=1), "Python pickle, which is not read"),
    "pickle 0 of an array": (pickle.dumps(np.ones(3), protocol=0), "Python pickle, which is not read"),
    "pickle 0 of a tuple": (pickle.dumps((1.5, "a"), protocol=0), "Python pickle, which is not read"),
    "torch": (
        archive("archive/data.pkl", "archive/data/0", "archive/version"),
        r"PyTorch file.*safetensors or npz",
    ),
    "old torch": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", r"PyTorch file \(a pickle\)"),
    "torchscript": (archive("m/data.pkl", "m/constants.pkl", "m/code/a.py"), "TorchScript archive"),
    "keras": (archive("metadata.json", "config.json", "model.weights.h5"), r"Keras 3 model.*unpack it"),
    "zipped model": (
        archive("m/saved_model.pb", "m/variables/variables.index"),
        "a zip archive with a SavedModel",
    ),
    "empty": (b"", r"empty.*fetch it again"),
    "lite": (b"\x1c\x00\x00\x00TFL3" + bytes(40), "TensorFlow Lite model"),
    "onnx": (b"\x08\x07\x12\x07pytorch\x3a\x04\x0a\x02ab\x42\x02\x10\x0b", "ONNX model"),
    "gzip": (gzip.compress(b"x" * 99), r"gzip-compressed; unpack it"),
    "tar": (b"a".ljust(257, b"\0") + b"ustar\x0000" + bytes(300), r"tar archive; unpack it"),
    "npy": (npy(), r"NumPy \.npy array"),
    "zeros": (bytes(500), "nothing but zero bytes"),
    "hdf5 as text": (
        b"\x89HDF\r\r\n\x1a\r\n" + bytes(80),
        "HDF5 file whose line ends were changed.*binary mode",
    ),
    "hdf5 as utf-8": (b"\xef\xbf\xbdHDF\r\n\x1a\n" + bytes(80), "HDF5 file that was read as UTF-8"),
    "chunks": (b"riegeli/records\n" + bytes(80), "riegeli record file"),
}


@pytest.mark.parametrize("suffix", ["", ".pb", ".npz", ".h5", ".ckpt"])
@pytest.mark.parametrize("kind", FOREIGN)
def test_named_under_any_suffix(tmp_path: Path, kind: str, suffix: str) -> None:
    content, text = FOREIGN[kind]
    path = tmp_path / f"thing{suffix}"
    path.write_bytes(content)
    for read in (summary.summarise, registry.open_store):
        with pytest.raises(OpError, match=text) as caught:
            read(path)
        assert str(path) in str(caught.value)


def test_in_place_of_an_index_or_a_data_file(tmp_path: Path) -> None:
    pointer = FOREIGN["lfs"][0]
    (tmp_path / "a.index").write_bytes(pointer)
    with pytest.raises(DataLossError, match=r"a\.index: not an sstable.*Git LFS pointer"):
        registry.open_store(tmp_path / "a")
    write_bundle(tmp_path / "m", [entry_of("w", np.ones(500))])
    for content, text in ((pointer, "It is a Git LFS pointer"), (b"", "It is empty"), (b"<html>", "HTML")):
        (tmp_path / "m.data-00000-of-00001").write_bytes(content)
        with pytest.raises(DataLossError, match=f"Read less bytes than requested.*{text}"):
            registry.open_store(tmp_path / "m")["w"].read()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: data.replace(b"\n", b"\r\n"), "each of its .* line feeds follows a carriage return"),
        (lambda data: data.decode("utf-8", "replace").encode(), "read and written again as text"),
        (lambda data: data.decode("latin-1").encode(), "read and written again as text"),
    ],
)
def test_transfer_as_text_is_recognised(tmp_path: Path, change: object, text: str) -> None:
    assert callable(change)
    for name in ("dtypes.index", "slices_v1"):
        whole = (GOLDEN / name).read_bytes()
        assert b"\n" in whole
        (tmp_path / name).write_bytes(change(whole))
        with pytest.raises(OpError, match=text):
            registry.open_store(tmp_path / name)


def test_what_we_read_is_not_foreign() -> None:
    for path in (
        GOLDEN / "model" / "graph.pb",
        GOLDEN / "model" / "model.ckpt-2.meta",
        GOLDEN / "saved_model/saved_model.pb",
    ):
        data = path.read_bytes()
        assert sniff.describe(data[: sniff.HEAD], data[-sniff.HEAD :]) is None
        assert sniff.text_mode_damage(data) == ""


def test_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "m").write_text(json.dumps({"weights": [1, 2]}))
    with pytest.raises(UnimplementedError, match="a JSON document"):
        registry.open_store(tmp_path / "m")
