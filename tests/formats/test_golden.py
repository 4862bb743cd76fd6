"""Files that TensorFlow wrote, of every kind: the values come back, and the same bytes when written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
import pytest
from golden_values import named_values

from sgtool.formats import protos, registry, summary
from sgtool.formats.bundle import open_bundle
from sgtool.formats.bundle_writer import write_bundle
from sgtool.formats.crc import masked_crc32c
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import DataLossError, InvalidTypeError, UnimplementedError
from sgtool.formats.parts import Part
from sgtool.formats.table import TableWriter, encode_varint
from sgtool.formats.tensor_bytes import decode_tensor
from sgtool.formats.tensor_proto import to_array

GOLDEN = Path(__file__).parents[1] / "golden"
ROWS = np.array([1, 1, 1, 4, 4, 6, 6], np.float32)[:, None].repeat(2, 1)
"""What make_golden.py's variable `p` of three parts holds."""
FORMS = (
    "sharded-?????-of-00002",
    "sharded-00000-of-00002",
    "sharded-00001-of-00002",
    "sharded.meta",
    "checkpoint",
    "",
)


def check(store: Any, names: list[str]) -> None:
    expected = named_values()
    assert list(store) == names
    for name in names:
        info, array = expected[name]
        values = store[name].read()
        assert (store[name].dtype, store[name].shape) == (info, array.shape)
        assert (values.dtype, values.shape) == (array.dtype, array.shape)
        assert values.dtype.isnative
        assert values.tolist() == array.tolist()


def test_big_endian_numbers_and_strings() -> None:
    """The file is made by hand; the script that makes it has TensorFlow read every value."""
    store = open_bundle(GOLDEN / "big_endian")
    assert {"string/5", "string/2x3", "complex128/5", "bool/5", "float16/2x3"} <= set(store)
    check(
        store,
        [
            name
            for name in sorted(named_values())
            if not name.startswith(("bf", "float8", "int4", "uint4", "q"))
        ],
    )


def test_a_damaged_big_endian_string_is_found(tmp_path: Path) -> None:
    data = bytearray((GOLDEN / "big_endian.data-00000-of-00001").read_bytes())
    (tmp_path / "m.index").write_bytes((GOLDEN / "big_endian.index").read_bytes())
    begin = int(open_bundle(GOLDEN / "big_endian")["string/5"].location.split("bytes ")[1].split()[0])
    for at in (begin, begin + 6, begin + 12):
        damaged = data.copy()
        damaged[at] ^= 1
        (tmp_path / "m.data-00000-of-00001").write_bytes(damaged)
        with pytest.raises(DataLossError, match="string/5"):
            open_bundle(tmp_path / "m")["string/5"].read()


def test_variants_are_messages(tmp_path: Path) -> None:
    store = open_bundle(GOLDEN / "variants")
    assert {name: (e.dtype.name, e.shape, e.nbytes) for name, e in store.items()} == {
        "list": ("variant", (), 87),
        "lists": ("variant", (2,), 149),
        "plain": ("int32", (), 4),
    }
    numbers, words = store["lists"].read()
    assert numbers == store["list"].read().item()
    assert numbers.type_name == words.type_name == "tensorflow::TensorList"
    assert [to_array(one).tolist() for one in numbers.tensors] == [[1, 2], [3, 4]]
    assert [to_array(one).item() for one in words.tensors] == [b"a", b"bc"]
    assert summary.summarise(GOLDEN / "variants")["parameters"] == 1
    write_bundle(tmp_path / "variants", store.values())
    for suffix in (".index", ".data-00000-of-00001"):
        assert (tmp_path / f"variants{suffix}").read_bytes() == (GOLDEN / f"variants{suffix}").read_bytes()
    for name in ("x.npz", "x.h5", "x.safetensors"):
        with pytest.raises(InvalidTypeError, match=r"list \(variant\)"):
            registry.write_store(tmp_path / name, store.values())


def test_damaged_variants_are_found() -> None:
    whole = (GOLDEN / "variants.data-00000-of-00001").read_bytes()[87:236]
    entry = open_bundle(GOLDEN / "variants")["lists"]

    def read(data: bytes, big: bool = False) -> Any:
        return decode_tensor(np.frombuffer(data, np.uint8), entry.dtype, (2,), 0, "it", big)

    for at in (0, 10, 84, 87, 100):
        with pytest.raises(DataLossError, match=r"element [01] does not|do not end|Checksum does not match"):
            read(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :])
    with pytest.raises(DataLossError, match="element 1 does not end"):
        read(whole[:-1])
    with pytest.raises(DataLossError, match="1 bytes follow"):
        read(whole + b"x")
    with pytest.raises(UnimplementedError, match="variant of a big-endian machine"):
        read(whole, big=True)


@pytest.mark.parametrize(("name", "parts"), [("partitioned", 3), ("repartitioned", 2)])
def test_partitioned_and_repartitioned(tmp_path: Path, name: str, parts: int) -> None:
    store = open_bundle(GOLDEN / name)
    assert (list(store), store["p"].shape, len(store.parts("p"))) == (["p"], (7, 2), parts)
    np.testing.assert_array_equal(store["p"].read(), ROWS)
    for begin in range(7):
        for end in range(begin, 8):
            np.testing.assert_array_equal(
                store.read_slice("p", [(begin, end - begin), (1, 1)]), ROWS[begin:end, 1:]
            )
    write_bundle(tmp_path / name, store.parts("p"))
    for suffix in (".index", ".data-00000-of-00001"):
        assert (tmp_path / f"{name}{suffix}").read_bytes() == (GOLDEN / f"{name}{suffix}").read_bytes()


def test_repartitioning_gives_tensorflows_bytes(tmp_path: Path) -> None:
    value = open_bundle(GOLDEN / "partitioned")["p"].read()
    specs = ("7 2 0,4:0,2", "7 2 4,3:0,2")
    pieces = [
        entry_of("p", value[:4], part=Part.parse(specs[0])),
        entry_of("p", value[4:], part=Part.parse(specs[1])),
    ]
    write_bundle(tmp_path / "r", pieces)
    assert (tmp_path / "r.index").read_bytes() == (GOLDEN / "repartitioned.index").read_bytes()


def test_first_generation_of_every_dtype() -> None:
    store = registry.open_store(GOLDEN / "v1" / "dtypes")
    lacking = ("bfloat16", "float8", "int4", "uint4", "uint16", "uint32", "uint64", "qint16", "quint16")
    check(store, [name for name in sorted(named_values()) if not name.startswith(lacking)])
    assert all(entry.nbytes == (entry.dtype.size or 0) * entry.size for entry in store.values())


@pytest.mark.parametrize("form", FORMS)
def test_first_generation_in_shards_by_every_form_of_its_name(form: str) -> None:
    store = registry.open_store(f"{GOLDEN}/v1/{form}")
    assert list(store) == ["a", "b", "p"]
    np.testing.assert_array_equal(store["a"].read(), np.arange(5, dtype=np.float32))
    np.testing.assert_array_equal(store["b"].read(), np.arange(4, dtype=np.int32))
    np.testing.assert_array_equal(store["p"].read(), ROWS)
    found = summary.summarise(f"{GOLDEN}/v1/{form}")
    assert {row["name"].partition("/")[0] for row in found["variables"] if row["saved"]} == {"a", "b", "p"}
    assert found["format"] == "meta_graph_def"


def test_a_shard_alone_is_what_it_holds(tmp_path: Path) -> None:
    name = "sharded-00001-of-00002"
    (tmp_path / name).write_bytes((GOLDEN / "v1" / name).read_bytes())
    assert list(registry.open_store(tmp_path / name)) == ["a"]
    (tmp_path / "e-?????-of-00002").write_bytes((GOLDEN / "slices_v1").read_bytes())  # a literal name
    assert "flags" in registry.open_store(tmp_path / "e-?????-of-00002")


def framed(block: bytes, kind: bytes = b"\0") -> bytes:
    """A block of a table with its trailer."""
    return block + kind + masked_crc32c(block + kind).to_bytes(4, "little")


def test_snappy_blocks_and_gaps(tmp_path: Path) -> None:
    """As older TensorFlows wrote them: a compressed data block, and tensors at multiples of 64 bytes."""
    source, whole = open_bundle(GOLDEN / "dtypes"), (GOLDEN / "dtypes.data-00000-of-00001").read_bytes()
    data, rows = b"", {b"": protos.encode(protos.BundleHeaderProto(num_shards=1))}
    for name in source:
        proto = protos.parse(protos.BundleEntryProto, source._entries[name], name)
        content = whole[proto.offset : proto.offset + proto.size]
        data += bytes(-len(data) % 64)
        proto.offset = len(data)
        data += content
        rows[name.encode()] = protos.encode(proto)
    table = io.BytesIO()
    writer = TableWriter(table)
    for key, value in rows.items():
        writer.add(key, value)
    writer.finish()
    plain = table.getvalue()
    meta_index = int.from_bytes(plain[-48:-46], "little")  # a varint of two bytes
    length = (meta_index & 0x7F | meta_index >> 8 << 7) - 5
    assert framed(plain[:length]) == plain[: length + 5]
    block = bytes(cramjam.snappy.compress_raw(plain[:length]))
    assert len(block) < length
    last, handle, tail = b"v", b"\0" + encode_varint(len(block)), bytes(4) + b"\1\0\0\0"
    first, meta = framed(block, b"\1"), framed(tail)
    index = framed(bytes((0, len(last), len(handle))) + last + handle + tail)
    handles = (len(first), 8, len(first) + len(meta), len(index) - 5)
    footer = b"".join(map(encode_varint, handles)).ljust(40, b"\0") + plain[-8:]
    (tmp_path / "m.index").write_bytes(first + meta + index + footer)
    (tmp_path / "m.data-00000-of-00001").write_bytes(data)
    check(open_bundle(tmp_path / "m"), sorted(named_values()))
    broken = framed(b"\xff\xff\xff\xff\x0f" + block[5:], b"\1")  # it says that it is of 4 GiB
    (tmp_path / "m.index").write_bytes(broken + meta + index + footer)
    with pytest.raises(DataLossError, match="the block at 0 is not Snappy"):
        open_bundle(tmp_path / "m")


def test_a_keras_model() -> None:
    store: Any = registry.open_store(GOLDEN / "keras.h5")
    assert {"net/first/kernel", "net/first/bias", "net/second/kernel"} < set(store)
    np.testing.assert_array_equal(
        store["net/first/kernel"].read(), np.arange(6, dtype=np.float32).reshape(2, 3)
    )
    np.testing.assert_array_equal(store["net/second/kernel"].read(), np.full((3, 1), 0.5, np.float32))
    assert store["sgd/learning_rate"].read() == pytest.approx(0.1)
    about = summary.summarise(GOLDEN / "keras.h5")["about"]
    assert about["model_config"]["class_name"] == "Sequential"
    assert about["training_config"]["loss"] == "mse"
    assert about["backend"] == "tensorflow"
