"""What a target wrote its reader gives back, bit for bit; large checkpoints take little memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from conformance import SPECIAL_NAMES
from golden_values import named_values
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from sgtool.formats import dtypes, keras_weights, protos, registry, targets
from sgtool.formats.entry import Entry, entry_of
from sgtool.formats.errors import InvalidTypeError, InvalidValueError
from sgtool.formats.keras_writer import write_keras_weights
from sgtool.formats.parts import Part
from sgtool.formats.rewrite import Model

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
HOLDING = [one for one in targets.TARGETS if one.variables]
GRAPH = protos.MetaGraphDef()
GRAPH.graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
GRAPH.graph_def.node.add(name="y", op="Identity", input=["x"]).attr["T"].type = 1


def reread(target: targets.Target, folder: str, model: Model) -> Any:
    """The store that a target made of a model."""
    suffix = target.suffixes[0] if target.suffixes else ""
    path = f"{folder}/out{suffix}"
    targets.write(path, model, target.name, skip=True)
    return registry.open_store(f"{path}/variables/variables" if target.name == "saved_model" else path)


def check(target: targets.Target, entries: list[Entry]) -> None:
    model = Model(GRAPH, {entry.name: entry for entry in entries})
    refused = targets.refused(target, model)
    with tempfile.TemporaryDirectory() as folder:
        again = reread(target, folder, model)
        assert sorted(again) == sorted(name for name in model.variables if name not in refused)
        for name in again:
            entry, before = again[name], model.variables[name]
            assert (entry.dtype, entry.shape) == (before.dtype, before.shape)
            values, expected = entry.read(), before.read()
            if entry.dtype.kind == "string":
                assert values.tolist() == expected.tolist()
            else:
                assert values.tobytes() == np.asarray(expected, entry.dtype.numpy).tobytes(), name


@pytest.mark.parametrize("target", HOLDING, ids=lambda one: one.name)
def test_every_dtype_and_name(target: targets.Target) -> None:
    entries = [entry_of(name, array, info) for name, (info, array) in named_values().items()]
    check(target, [entry for entry in entries if entry.dtype.kind != "handle"])
    check(target, [entry_of(name, np.float32(at)) for at, name in enumerate(SPECIAL_NAMES)])


@pytest.mark.parametrize("target", HOLDING, ids=lambda one: one.name)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_drawn_names_and_values(target: targets.Target, data: st.DataObject) -> None:
    names = data.draw(
        st.lists(
            st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
            min_size=1,
            max_size=4,
            unique=True,
        )
    )
    kinds = st.sampled_from(["f4", "f8", "i1", "i4", "i8", "u2", "?", "c8", "f2"])
    values = [
        data.draw(hnp.arrays(np.dtype(data.draw(kinds)), hnp.array_shapes(min_dims=0, max_dims=3)))
        for _ in names
    ]
    check(target, [entry_of(name, value) for name, value in zip(names, values)])


def test_partitioned_variables_stay_in_their_parts(tmp_path: Path) -> None:
    for name in ("partitioned", "repartitioned", "slices"):
        targets.write(tmp_path / name, Model(None, registry.open_store(GOLDEN / name)))
        for suffix in (
            (".index", ".data-00000-of-00001") if name != "slices" else ()
        ):  # saved in another order
            assert (tmp_path / f"{name}{suffix}").read_bytes() == (GOLDEN / f"{name}{suffix}").read_bytes(), (
                name
            )
        targets.write(tmp_path / f"{name}_1", Model(None, registry.open_store(GOLDEN / name)), "v1")
        one, other = (registry.open_store(path) for path in (GOLDEN / name, tmp_path / f"{name}_1"))
        assert list(one) == list(other)
        assert all(np.array_equal(one[key].read(), other[key].read()) for key in one)
    whole = registry.open_store(GOLDEN / "partitioned")
    renamed = {f"n/{key}": whole[key] for key in whole}
    from dataclasses import replace

    model = Model(None, {key: replace(entry, name=key) for key, entry in renamed.items()})
    targets.write(tmp_path / "renamed", model)
    again: Any = registry.open_store(tmp_path / "renamed")
    assert [len(again.parts(f"n/{key}")) for key in whole] == [len(whole[key].stored()) for key in whole]
    assert any(isinstance(entry.part, Part) for key in again for entry in again.parts(key))


def test_all_that_a_target_cannot_hold_is_told_before_a_byte_is_written(tmp_path: Path) -> None:
    handle = Entry("h", dtypes.from_name("resource"), (), 0, "", lambda: np.zeros(()))
    odd = [
        entry_of("s", b"x"),
        entry_of("c", 1j),
        entry_of("q", np.int8(1), "qint8"),
        handle,
        entry_of("f", 1.0),
    ]
    for target in HOLDING:
        model = Model(GRAPH, {entry.name: entry for entry in odd})
        refused = targets.refused(target, model)
        assert "h" in refused
        with pytest.raises(InvalidValueError) as caught:
            targets.write(
                tmp_path / f"out{target.suffixes[0] if target.suffixes else ''}", model, target.name
            )
        assert caught.value.fields["refused"] == refused
    assert not list(tmp_path.iterdir())


def test_keras_weights_are_as_keras_has_them(tmp_path: Path) -> None:
    path = tmp_path / "w.h5"
    names = ["dense/kernel", "dense/bias", "lstm/cell/kernel", "scale"]
    write_keras_weights(
        path, [entry_of(name, np.full((2, 3), at, np.float32)) for at, name in enumerate(names)]
    )
    with h5py.File(path) as file:
        assert list(file.attrs["layer_names"]) == [b"dense", b"lstm", b"scale"]
        assert list(file["dense"].attrs["weight_names"]) == [b"dense/kernel:0", b"dense/bias:0"]
        assert file["lstm/lstm/cell/kernel:0"][0, 0] == 2
        assert file.attrs["backend"] == b"tensorflow"
        assert keras_weights.weight_names(file)["/scale/scale:0"] == "scale"
    long = [entry_of(f"layer_{'x' * 60}_{at}/w", np.float32(at)) for at in range(1200)]
    write_keras_weights(path, long)  # a list of 64 KB and more lies in several attributes
    assert len(registry.open_store(path)) == 1200
    with pytest.raises(InvalidTypeError, match=r"s \(string\)\n.*b \(bfloat16\)"):
        write_keras_weights(path, [entry_of("s", b""), entry_of("b", 1.0, "bfloat16")])
    with pytest.raises(InvalidValueError, match="comes twice"):
        write_keras_weights(path, [entry_of("a", 1.0), entry_of("a", 1.0)])


def test_safetensors_files_are_the_librarys(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy")
    arrays = {
        "b": np.arange(6, dtype=np.int64).reshape(2, 3),
        "é": np.ones(3, np.float32),
        "a": np.zeros((0, 2), np.float64),
        "flag": np.array(True),
        "h": np.ones(5, np.float16),
        'quote"d': np.ones(1, np.uint8),
    }
    library.save_file(arrays, tmp_path / "theirs")
    registry.write_store(tmp_path / "ours.safetensors", [entry_of(name, one) for name, one in arrays.items()])
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs").read_bytes()


SCALE = 256 << 20
"""Bytes of the checkpoint that is converted; CI's small stand-in for 20 GB."""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory by RLIMIT_DATA")
@pytest.mark.parametrize("output", ["copy", "x.h5", "x.npz", "x.safetensors", "x.weights.h5"])
def test_a_checkpoint_is_converted_in_the_memory_of_its_largest_tensor(tmp_path: Path, output: str) -> None:
    """A sparse file of many tensors, in a process that may have memory for a few of them."""
    sparse(f"{tmp_path}/big", SCALE, 32)
    program = f"""
        import resource
        from sgtool.formats import registry, targets, keras_writer, hdf5_store, npz, safetensors_store
        from sgtool.formats.rewrite import Model
        import numpy, h5py, ml_dtypes, google_crc32c
        now = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (now + {SCALE // 32 * 4}, -1))
        targets.write({str(tmp_path / output)!r}, Model(None, registry.open_store({str(tmp_path / "big")!r})))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-1000:]
    again = registry.open_store(tmp_path / output)
    assert len(again) == 32
    assert not again["v31"].read().any()


def sparse(prefix: str, size: int, count: int) -> None:
    """A checkpoint of zeros whose data file takes no room."""
    from sgtool.formats.crc import crc32c, mask
    from sgtool.formats.table import TableWriter

    each = size // count
    header = protos.BundleHeaderProto(num_shards=1)
    header.version.producer = 1
    crc = mask(crc32c(bytes(each)))
    with Path(f"{prefix}.index").open("wb") as file:
        table = TableWriter(file)
        table.add(b"", protos.encode(header))
        for at in sorted(range(count), key=lambda at: f"v{at}"):
            entry = protos.BundleEntryProto(dtype=1, offset=at * each, size=each, crc32c=crc)
            entry.shape.dim.add(size=each // 4)
            table.add(f"v{at}".encode(), protos.encode(entry))
        table.finish()
    with Path(f"{prefix}.data-00000-of-00001").open("wb") as file:
        file.truncate(size)
