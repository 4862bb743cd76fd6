"""`tf.lookup`: tables from keys to values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import lookup_experimental as experimental, not_yet
from .table_initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from .tables import StaticHashTable, StaticVocabularyTable

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex",
    "TextFileInitializer", "experimental",
]  # fmt: skip
