"""`tf.data.experimental`: further transformations of datasets, and what goes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .data_csv import make_csv_dataset
from .data_grouping import (
    Reducer,
    bucket_by_sequence_length,
    group_by_reducer,
    group_by_window,
    scan,
    take_while,
)
from .data_options import (
    DistributeOptions,
    MapVectorizationOptions,
    OptimizationOptions,
    StatsOptions,
    ThreadingOptions,
)
from .data_readers import CsvDataset, SqlDataset
from .data_resampling import rejection_resample
from .data_structures import (
    DatasetSpec as DatasetStructure,
    OptionalSpec as OptionalStructure,
    SparseTensorStructure,
    TensorArrayStructure,
    TensorStructure,
    from_variant,
    get_structure,
)
from .data_transformations import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Counter,
    Optional,
    RandomDataset,
    TFRecordWriter,
    bytes_produced_stats,
    cardinality,
    choose_from_datasets,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    ignore_errors,
    latency_stats,
    make_batched_features_dataset,
    map_and_batch,
    map_and_batch as map_and_batch_with_legacy_function,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    sample_from_datasets,
    shuffle_and_repeat,
    to_variant,
    unbatch,
    unique,
)
from .type_spec import TypeSpec as Structure

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Counter", "CsvDataset",
    "DatasetStructure", "DistributeOptions", "MapVectorizationOptions", "OptimizationOptions",
    "Optional", "OptionalStructure", "RandomDataset", "Reducer", "SparseTensorStructure", "SqlDataset",
    "StatsOptions", "Structure", "TFRecordWriter", "TensorArrayStructure", "TensorStructure",
    "ThreadingOptions", "bucket_by_sequence_length", "bytes_produced_stats", "cardinality",
    "choose_from_datasets", "copy_to_device", "dense_to_sparse_batch", "enumerate_dataset",
    "from_variant", "get_next_as_optional", "get_single_element", "get_structure", "group_by_reducer",
    "group_by_window", "ignore_errors", "latency_stats", "make_batched_features_dataset",
    "make_csv_dataset", "map_and_batch", "map_and_batch_with_legacy_function", "parallel_interleave",
    "parse_example_dataset", "prefetch_to_device", "rejection_resample", "sample_from_datasets", "scan",
    "shuffle_and_repeat", "take_while", "to_variant", "unbatch", "unique",
]  # fmt: skip
