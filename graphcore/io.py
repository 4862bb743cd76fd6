"""`tf.io`: files, records, serialized data and queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import io_gfile as gfile, not_yet
from .example_parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from .graph_io import write_graph
from .image_objects import decode_image, is_jpeg
from .input_producers import match_filenames_once
from .ops.data_flow import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from .ops.files_matching import matching_files
from .ops.image_codec import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
)
from .ops.io import read_file, write_file
from .ops.parsing import decode_csv, decode_raw
from .ops.parsing_decode import decode_compressed, decode_json_example
from .ops.proto import decode_proto, encode_proto
from .ops.sparse_serialize import parse_tensor, serialize_tensor
from .ops.string import decode_base64, encode_base64
from .python_io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator
from .sparse import deserialize_many_sparse, serialize_many_sparse, serialize_sparse

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "PaddingFIFOQueue", "PriorityQueue", "QueueBase",
    "RandomShuffleQueue", "SparseFeature", "TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter",
    "VarLenFeature", "decode_and_crop_jpeg", "decode_base64", "decode_bmp", "decode_compressed",
    "decode_csv", "decode_gif", "decode_image", "decode_jpeg", "decode_json_example", "decode_png",
    "decode_proto", "decode_raw", "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png",
    "encode_proto", "extract_jpeg_shape", "gfile", "is_jpeg", "match_filenames_once",
    "matching_files", "parse_example",
    "parse_sequence_example", "parse_single_example", "parse_single_sequence_example", "parse_tensor",
    "read_file", "serialize_many_sparse", "serialize_sparse", "serialize_tensor", "tf_record_iterator",
    "write_file", "write_graph",
]  # fmt: skip
