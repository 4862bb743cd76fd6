"""Sorted-string tables and the keys of slices."""

from __future__ import annotations

import io
from pathlib import Path

import cramjam
import pytest
from hypothesis import given, strategies as st

from sgtool.formats import ordered_code, table
from sgtool.formats.crc import crc32c, mask, masked_crc32c, unmask
from sgtool.formats.errors import DataLossError, InternalError

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDS = st.dictionaries(st.binary(max_size=300), st.binary(max_size=300), max_size=40)


def written(records: dict[bytes, bytes], block_size: int = table.BLOCK_SIZE) -> bytes:
    out = io.BytesIO()
    writer = table.TableWriter(out, block_size)
    for key in sorted(records):
        writer.add(key, records[key])
    assert writer.finish() == len(out.getvalue())
    return out.getvalue()


@given(RECORDS, st.sampled_from([1, 64, 500, table.BLOCK_SIZE]))
def test_round_trip_in_blocks_of_any_size(records: dict[bytes, bytes], block_size: int) -> None:
    assert list(table.read_table(written(records, block_size), "t")) == sorted(records.items())


@pytest.mark.parametrize(
    "path", [*sorted(GOLDEN.glob("**/*.index")), GOLDEN / "slices_v1"], ids=lambda p: p.name
)
def test_tensorflows_tables_come_out_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    assert written(dict(table.read_table(data, "t"))) == data


def test_snappy_blocks_are_read() -> None:
    records = {f"key{i:03d}".encode(): b"v" * i for i in range(50)}
    plain = written(records)
    block = plain[: plain.index(b"\0" * 4 + b"\1\0\0\0")]  # data block and its trailer, before the metaindex
    packed = bytes(cramjam.snappy.compress_raw(block[:-5]))
    packed += b"\1" + mask(crc32c(packed + b"\1")).to_bytes(4, "little")
    handle = table.encode_varint(0) + table.encode_varint(len(packed) - 5)
    index = table._BlockBuilder(1)
    index.add(b"z", handle)
    content = index.finish()
    trailer = b"\0" + masked_crc32c(content + b"\0").to_bytes(4, "little")
    footer = table.encode_varint(0) + table.encode_varint(0)
    footer += table.encode_varint(len(packed)) + table.encode_varint(len(content))
    assert (
        dict(table.read_table(packed + content + trailer + footer.ljust(40, b"\0") + plain[-8:], "t"))
        == records
    )


def test_damage_is_named() -> None:
    data = written({b"a": b"1", b"b": b"2"})
    with pytest.raises(DataLossError, match="too short to be an sstable"):
        list(table.read_table(data[:20], "t.index"))
    with pytest.raises(DataLossError, match=r"t\.index: not an sstable \(bad magic number\)"):
        list(table.read_table(data[:-1], "t.index"))
    with pytest.raises(DataLossError, match="block checksum mismatch") as caught:
        list(table.read_table(b"\xff" + data[1:], "t.index"))
    assert caught.value.fields["offset"] == 0


def test_keys_must_increase() -> None:
    writer = table.TableWriter(io.BytesIO())
    writer.add(b"b", b"")
    with pytest.raises(InternalError):
        writer.add(b"a", b"")


@given(st.binary(max_size=20), st.integers(0, 2**32 - 1))
def test_masks_are_inverse(data: bytes, crc: int) -> None:
    assert unmask(mask(crc)) == crc
    assert crc32c(data) == crc32c(data[5:], crc32c(data[:5]))


def test_known_checksums() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C
    assert mask(0) == 0xA282EAD8


@pytest.mark.parametrize(
    ("value", "code"),
    [(0, "80"), (4, "84"), (63, "bf"), (64, "c040"), (150, "c096"), (-1, "7f"), (-64, "40"), (-65, "3fbf")],
)
def test_signed_codes(value: int, code: str) -> None:
    assert ordered_code.encode_signed(value).hex() == code


SIGNED = st.integers(-(2**63), 2**63 - 1)


@given(SIGNED, SIGNED)
def test_codes_sort_as_their_values(a: int, b: int) -> None:
    assert (a < b) == (ordered_code.encode_signed(a) < ordered_code.encode_signed(b))


@given(st.binary(), st.lists(st.tuples(SIGNED, SIGNED), max_size=4))
def test_slice_keys_round_trip(name: bytes, extents: list[tuple[int, int]]) -> None:
    assert ordered_code.decode_slice_key(ordered_code.encode_slice_key(name, extents)) == (
        name,
        tuple(extents),
    )


@given(st.binary(max_size=30))
def test_other_keys_are_refused_or_round_trip(key: bytes) -> None:
    try:
        name, extents = ordered_code.decode_slice_key(key)
    except DataLossError:
        return
    assert ordered_code.decode_slice_key(ordered_code.encode_slice_key(name, extents)) == (name, extents)
