"""`tf.strings`: operations on strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.logging import string_format as format
from .ops.string import (
    as_string,
    hash_bucket as to_hash_bucket,
    reduce_join,
    regex_full_match,
    regex_replace,
    string_join as join,
    string_length as length,
    string_lower as lower,
    string_split_by as split,
    string_strip as strip,
    string_to_hash_bucket_fast as to_hash_bucket_fast,
    string_to_hash_bucket_strong as to_hash_bucket_strong,
    string_to_number as to_number,
    string_upper as upper,
    substr,
)
from .ops.string_join import unsorted_segment_join
from .ops.string_unicode import (
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_script,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "as_string", "format", "join", "length", "lower", "reduce_join", "regex_full_match", "regex_replace",
    "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong",
    "to_number", "unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_script",
    "unicode_split", "unicode_split_with_offsets", "unicode_transcode", "unsorted_segment_join", "upper",
]  # fmt: skip
