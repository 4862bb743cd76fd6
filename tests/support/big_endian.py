"""A checkpoint as a big-endian machine would write it, which no TensorFlow at hand does: made by hand.

Numbers, the lengths in the checksums of strings, and the checksum between lengths and strings are in
the machine's byte order; the index and the crc32c of an entry are not.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sgtool.formats import dtypes, protos
from sgtool.formats.crc import crc32c, mask
from sgtool.formats.table import TableWriter, encode_varint
from sgtool.formats.tensor_proto import shape_to_proto


def write_big_endian(
    prefix: Path, named: Mapping[str, tuple[dtypes.DTypeInfo, np.ndarray[Any, Any]]]
) -> None:
    """Writes the checkpoint `prefix` of these (dtype, array), sorted by name."""
    header = protos.BundleHeaderProto(num_shards=1, endianness=protos.BundleHeaderProto.BIG)
    header.version.producer = 1
    rows = {"": header}
    data = b""
    for name, (info, array) in named.items():
        content, crc = encode(info, array)
        rows[name] = protos.BundleEntryProto(
            dtype=info.number,
            shape=shape_to_proto(array.shape),
            offset=len(data),
            size=len(content),
            crc32c=mask(crc),
        )
        data += content
    Path(f"{prefix}.data-00000-of-00001").write_bytes(data)
    with Path(f"{prefix}.index").open("wb") as file:
        table = TableWriter(file)
        for name in sorted(rows):
            table.add(name.encode(), protos.encode(rows[name]))
        table.finish()


def encode(info: dtypes.DTypeInfo, array: np.ndarray[Any, Any]) -> tuple[bytes, int]:
    """The bytes of a tensor and their unmasked checksum."""
    if info.kind != "string":
        content = array.astype(array.dtype.newbyteorder(">")).tobytes()
        return content, crc32c(content)
    strings = array.reshape(-1).tolist()
    lengths = crc32c(b"".join(struct.pack(">I", len(one)) for one in strings))
    stored, body = struct.pack(">I", mask(lengths)), b"".join(strings)
    content = b"".join(encode_varint(len(one)) for one in strings) + stored + body
    return content, crc32c(body, crc32c(stored, lengths))
