"""`tf.parse_example` and its kin: features of Examples and SequenceExamples as tensors by key.

Source: tensorflow/python/ops/parsing_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

import re
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import sparse
from .convert import constant, convert_to_tensor
from .default import name_scope
from .dtypes import DType, as_dtype, int64, string
from .errors import InvalidValueError
from .op import raw_ops
from .operation import Tensor
from .ops.parsing import parse_example_op, parse_single_example_op
from .ops.parsing_sequence import parse_sequence_example_op, parse_single_sequence_example_op
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape

FixedLenFeature = namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
FixedLenFeature.__doc__ = "A dense feature of a fixed shape; required unless it has a default value."

FixedLenSequenceFeature = namedtuple(
    "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"], defaults=[False, None]
)
FixedLenSequenceFeature.__doc__ = "A dense feature of any number of rows of a fixed shape, padded in a batch."

VarLenFeature = namedtuple("VarLenFeature", ["dtype"])
VarLenFeature.__doc__ = "A feature of any length, parsed to a SparseTensor."

SparseFeature = namedtuple(
    "SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"], defaults=[False]
)
SparseFeature.__doc__ = "A SparseTensor whose indices and values are features of their own."

_CONTEXT = (VarLenFeature, FixedLenFeature)
_LISTS = (VarLenFeature, FixedLenSequenceFeature)
EXAMPLE_FEATURES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


@dataclass
class Wanted:
    """What of a record is asked for, in the terms of the ops.

    Attributes:
        sparse: The dtypes of sparse features by key.
        dense: Dtype, shape and default value of dense features by key.
        merged: The SparseFeatures by key.
    """

    sparse: dict[str, DType] = field(default_factory=dict)
    dense: dict[str, tuple[DType, TensorShape, Any]] = field(default_factory=dict)
    merged: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, features: dict[str, Any], kinds: tuple[type, ...], rows: bool = False) -> Wanted:
        """What features ask for.

        Args:
            features: Features by key.
            kinds: Those that may be there.
            rows: Whether the shape of a FixedLenSequenceFeature gets an unknown first dimension.

        Raises:
            ValueError: A feature is of another kind, or says too little.
        """
        wanted = cls()
        for key in sorted(features):
            feature = features[key]
            if not isinstance(feature, EXAMPLE_FEATURES):
                raise InvalidValueError(f"Invalid feature {key}:{feature}.")
            if not isinstance(feature, kinds):
                raise InvalidValueError(f"Unsupported {type(feature).__name__} {feature}.")
            if isinstance(feature, SparseFeature):
                wanted._merge(key, feature)
                continue
            if not feature.dtype:
                raise InvalidValueError(f"Missing type for feature {key}.")
            if isinstance(feature, VarLenFeature):
                wanted._add(key, as_dtype(feature.dtype))
                continue
            if feature.shape is None:
                raise InvalidValueError(f"Missing shape for feature {key}.")
            shape = TensorShape(feature.shape)
            if isinstance(feature, FixedLenFeature) and not shape.is_fully_defined():
                _refuse(key, shape)
            elif isinstance(feature, FixedLenSequenceFeature) and rows:
                if not feature.allow_missing:
                    raise InvalidValueError(
                        "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
                    )
                shape = TensorShape([None]).concatenate(shape)
            wanted.dense[key] = as_dtype(feature.dtype), shape, feature.default_value
        both = wanted.sparse.keys() & wanted.dense.keys()
        if both:
            raise InvalidValueError(f"Dense and sparse keys must not intersect; intersection: {both}")
        return wanted

    def _add(self, key: str, dtype: DType) -> None:
        if self.sparse.setdefault(key, dtype) != dtype:
            raise InvalidValueError(f"Conflicting type {self.sparse[key]} vs {dtype} for feature {key}.")

    def _merge(self, key: str, feature: Any) -> None:
        for name in ("index_key", "value_key"):
            if not getattr(feature, name):
                raise InvalidValueError(f"Missing {name} for SparseFeature {feature}.")
        if not feature.dtype:
            raise InvalidValueError(f"Missing type for feature {key}.")
        for index in sorted(_index_keys(feature)):
            self._add(index, int64)
        self._add(feature.value_key, as_dtype(feature.dtype))
        self.merged[key] = feature

    def defaults(self, reshape: bool = True) -> list[Any]:
        """A tensor for each dense feature: its default value, or an empty one."""
        tensors = []
        for key, (dtype, shape, value) in self.dense.items():
            name = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
            if shape.ndims and shape[0].value is None:
                if value is None:
                    tensors.append(convert_to_tensor("" if dtype == string else 0, dtype))
                else:
                    tensor = convert_to_tensor(value, dtype, name=f"padding_{name}")
                    tensors.append(raw_ops.Reshape(tensor, np.zeros(0, np.int32)))
            elif value is None:
                tensors.append(constant([], dtype))
            elif isinstance(value, Tensor):
                tensors.append(value)
            else:
                tensor = convert_to_tensor(value, dtype, name=f"key_{name}")
                sizes = np.array(shape.as_list(), np.int32)
                tensors.append(raw_ops.Reshape(tensor, sizes) if reshape else tensor)
        return tensors

    def results(self, outputs: Any, prefix: str = "") -> dict[str, Any]:
        """The outputs of an op by feature."""
        parts = [getattr(outputs, f"{prefix}sparse_{part}") for part in ("indices", "values", "shapes")]
        found: dict[str, Any] = {key: SparseTensor(*triple) for key, triple in zip(self.sparse, zip(*parts))}
        found.update(zip(self.dense, getattr(outputs, f"{prefix}dense_values")))
        return found

    def merge(self, found: dict[str, Any], features: dict[str, Any]) -> dict[str, Any]:
        """`found` with the SparseFeatures, and without what they were made of."""
        for key, feature in self.merged.items():
            ids = [found[index] for index in _index_keys(feature)]
            alone = isinstance(feature.index_key, str)
            found[key] = sparse.merge(
                ids[0] if alone else ids,
                found[feature.value_key],
                feature.size,
                already_sorted=feature.already_sorted,
            )
        return {key: value for key, value in found.items() if key in features}

    def attributes(self) -> dict[str, Any]:
        """The attributes that the ops of Examples have."""
        return {
            "sparse_types": list(self.sparse.values()),
            "Tdense": [dtype for dtype, _, _ in self.dense.values()],
            "dense_shapes": [shape for _, shape, _ in self.dense.values()],
        }


def _index_keys(feature: Any) -> list[str]:
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def _refuse(key: str, shape: TensorShape) -> None:
    if shape.ndims and shape[0].value is None:
        raise InvalidValueError(
            f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature."
        )
    raise InvalidValueError(
        f"All dimensions of shape for feature {key} need to be known but received {shape}."
    )


def _of_example(features: dict[str, Any]) -> Wanted:
    if not features:
        raise InvalidValueError(f"Missing: features was {features}.")
    return Wanted.of(features, EXAMPLE_FEATURES, rows=True)


def parse_single_example(
    serialized: Any, features: dict[str, Any], name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """`tf.parse_single_example`: the features of one serialized Example.

    Args:
        serialized: A scalar string tensor.
        features: A FixedLenFeature, FixedLenSequenceFeature, VarLenFeature or SparseFeature by key.
        name: Name of the operations.
        example_names: Kept for compatibility.

    Returns:
        A tensor, or for a VarLenFeature or SparseFeature a SparseTensor, by key.

    Raises:
        ValueError: `features` is empty, or a feature is none of those or has no shape.
    """
    wanted = _of_example(features)
    with name_scope(name, "ParseSingleExample", [serialized]):
        outputs = parse_single_example_op(
            convert_to_tensor(serialized, string, name="serialized"),
            wanted.defaults(),
            num_sparse=len(wanted.sparse),
            sparse_keys=list(wanted.sparse),
            dense_keys=list(wanted.dense),
            **wanted.attributes(),
        )
        found = wanted.results(outputs)
    return wanted.merge(found, features)


def parse_example(
    serialized: Any, features: dict[str, Any], name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """`tf.parse_example`: the features of a vector of serialized Examples, batched along axis 0.

    Args:
        serialized: A vector of strings.
        features: A FixedLenFeature, FixedLenSequenceFeature, VarLenFeature or SparseFeature by key.
        name: Name of the operations.
        example_names: A vector of names for messages.

    Returns:
        A tensor, or for a VarLenFeature or SparseFeature a SparseTensor, by key.

    Raises:
        ValueError: `features` is empty, or a feature is none of those or has no shape.
    """
    wanted = _of_example(features)
    with name_scope(name, "ParseExample", [serialized]):
        outputs = parse_example_op(
            convert_to_tensor(serialized, string, name="serialized"),
            [] if example_names is None else example_names,
            list(wanted.sparse),
            list(wanted.dense),
            wanted.defaults(),
            Nsparse=len(wanted.sparse),
            Ndense=len(wanted.dense),
            **wanted.attributes(),
        )
        found = wanted.results(outputs)
    return wanted.merge(found, features)


def _wanted(context: dict[str, Any] | None, lists: dict[str, Any] | None) -> tuple[Wanted, Wanted]:
    if not (context or lists):
        raise InvalidValueError("Missing features.")
    found = Wanted.of(context or {}, _CONTEXT), Wanted.of(lists or {}, _LISTS)
    for key, (_, _, value) in found[1].dense.items():
        if value is not None:
            raise InvalidValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return found


def _missing_allowed(features: dict[str, Any] | None) -> list[str]:
    given = sorted((features or {}).items())
    return [key for key, feature in given if getattr(feature, "allow_missing", False)]


def _attributes(context: Wanted, lists: Wanted) -> dict[str, Any]:
    return {
        "context_sparse_types": list(context.sparse.values()),
        "context_dense_shapes": [shape for _, shape, _ in context.dense.values()],
        "feature_list_sparse_types": list(lists.sparse.values()),
        "feature_list_dense_types": [dtype for dtype, _, _ in lists.dense.values()],
        "feature_list_dense_shapes": [shape for _, shape, _ in lists.dense.values()],
    }


def parse_single_sequence_example(
    serialized: Any,
    context_features: dict[str, Any] | None = None,
    sequence_features: dict[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`tf.parse_single_sequence_example`: the features of one serialized SequenceExample.

    Args:
        serialized: A scalar string tensor.
        context_features: A FixedLenFeature or VarLenFeature by key.
        sequence_features: A FixedLenSequenceFeature or VarLenFeature by key.
        example_name: A scalar string, for messages.
        name: Name of the operations.

    Returns:
        The context's tensors by key, and those of the lists, whose first dimension is time; a SparseTensor
        for a VarLenFeature.

    Raises:
        ValueError: There are no features, or one is of a kind that does not belong there.
    """
    context, lists = _wanted(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        outputs = parse_single_sequence_example_op(
            convert_to_tensor(serialized, name="serialized"),
            _missing_allowed(sequence_features),
            list(context.sparse),
            list(context.dense),
            list(lists.sparse),
            list(lists.dense),
            context.defaults(),
            "" if example_name is None else example_name,
            **_attributes(context, lists),
        )
    return context.results(outputs, "context_"), lists.results(outputs, "feature_list_")


def parse_sequence_example(
    serialized: Any,
    context_features: dict[str, Any] | None = None,
    sequence_features: dict[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """`tf.io.parse_sequence_example`: the features of a vector of serialized SequenceExamples, batched.

    Args:
        serialized: A vector of strings.
        context_features: A FixedLenFeature or VarLenFeature by key.
        sequence_features: A FixedLenSequenceFeature or VarLenFeature by key.
        example_names: A vector of names for messages.
        name: Name of the operations.

    Returns:
        The contexts' tensors by key; those of the lists, of dimensions (record, time, ...), filled up with
        zeros or empty strings; and the lengths of the dense lists in each record.

    Raises:
        ValueError: There are no features, or one is of a kind that does not belong there.
    """
    context, lists = _wanted(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        outputs = parse_sequence_example_op(
            convert_to_tensor(serialized, name="serialized"),
            [] if example_names is None else example_names,
            context.defaults(reshape=False),
            feature_list_dense_missing_assumed_empty=_missing_allowed(sequence_features),
            context_sparse_keys=list(context.sparse),
            context_dense_keys=list(context.dense),
            feature_list_sparse_keys=list(lists.sparse),
            feature_list_dense_keys=list(lists.dense),
            Ncontext_sparse=len(context.sparse),
            Ncontext_dense=len(context.dense),
            Nfeature_list_sparse=len(lists.sparse),
            Nfeature_list_dense=len(lists.dense),
            **_attributes(context, lists),
        )
    return (
        context.results(outputs, "context_"),
        lists.results(outputs, "feature_list_"),
        dict(zip(lists.dense, outputs.feature_list_dense_lengths)),
    )
