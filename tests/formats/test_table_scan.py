"""Tables whose end is lost: their blocks are found from the beginning, and proved by their checksums."""

from __future__ import annotations

import io
import random
from pathlib import Path
from struct import pack

import cramjam
import pytest

from sgtool.formats.crc import masked_crc32c
from sgtool.formats.errors import DataLossError
from sgtool.formats.files import Content
from sgtool.formats.table import Table, TableWriter, encode_varint, read_table, scan_table
from sgtool.formats.table_scan import Scan

GOLDEN = Path(__file__).parents[1] / "golden"


def content(data: bytes) -> Content:
    return Content(len(data), lambda offset, length: data[offset : offset + length])


def scan(data: bytes) -> Scan:
    return scan_table(content(data), "t")


def table(count: int = 300, block_size: int = 2048) -> bytes:
    file = io.BytesIO()
    writer = TableWriter(file, block_size)
    source = random.Random(3)
    for i in range(count):
        # zeros, too, which look like the list of restarts that ends a block
        writer.add(b"key%05d" % i, source.choice([bytes(50), source.randbytes(40), b"", bytes(3)]))
    writer.finish()
    return file.getvalue()


def compressed(data: bytes) -> bytes:
    """The blocks of a table, each with Snappy, and no index: as of a file that was cut off."""
    out = b""
    for offset, size in scan(data).places:
        block = bytes(cramjam.snappy.compress_raw(data[offset : offset + size])) + b"\1"
        out += block + pack("<I", masked_crc32c(block))
    return out


def test_the_blocks_are_those_that_the_index_lists() -> None:
    data = table()
    found = scan(data)
    assert found.complete
    assert len(found.places) == 5
    whole = Table(content(data), "t")
    again = Table(content(data), "t", found)
    assert again.lost == ""
    for key, value in read_table(data, "t"):
        assert whole.get(key) == again.get(key) == value


@pytest.mark.parametrize("snappy", [False, True])
def test_every_cut_leaves_the_blocks_before_it(snappy: bool) -> None:
    data = compressed(table()) if snappy else table()
    places = scan(data).places
    for keep in range(0, len(data), 7):
        found = scan(data[:keep])
        assert found.places == [(at, size) for at, size in places if at + size + 5 <= keep]
        inside = [at for at, size in places if at < keep < at + size + 5]
        assert found.end in (*inside, keep, places[-1][0] + places[-1][1] + 5)


def test_what_is_before_the_break_is_told_apart() -> None:
    data = table()
    entries = dict(read_table(data, "t"))
    at, size = scan(data).places[2]
    found = scan(data[: at + size // 2])
    assert found.torn
    assert found.torn.items() < entries.items()
    cut = Table(content(data[: at + size // 2]), "t", found)
    assert f"from byte {at} on" in cut.lost
    assert all(cut.get(key) is None for key in found.torn)


def test_a_block_with_a_wrong_checksum_is_passed_over() -> None:
    data = bytearray(table())
    at, size = scan(bytes(data)).places[1]
    data[at + size - 30] ^= 1
    found = scan(bytes(data[:-20]))
    assert len(found.places) == len(scan(table()).places)
    damaged = Table(content(bytes(data)), "t", found)
    with pytest.raises(DataLossError, match="block checksum mismatch") as caught:
        damaged.get(found.last_keys[1])
    assert caught.value.fields["offset"] == at
    assert damaged.get(found.last_keys[2]) is not None


@pytest.mark.parametrize(
    "data", [b"", b"\0", bytes(5000), b"\xff" * 5000, encode_varint(1 << 40) + bytes(99)]
)
def test_what_is_no_table_has_no_blocks(data: bytes) -> None:
    found = scan(data)
    assert (found.places, found.end) == ([], 0)


def test_whatever_is_changed_the_scan_ends() -> None:
    source = random.Random(5)
    for data in (table(), compressed(table()), (GOLDEN / "slices_v1").read_bytes()):
        for _ in range(150):
            changed = bytearray(data)
            for _ in range(source.choice([1, 4, 40])):
                changed[source.randrange(len(data))] = source.randrange(256)
            found = scan(bytes(changed))
            assert len(found.places) == len(found.first_keys) == len(found.last_keys)
            assert found.end <= len(changed)
