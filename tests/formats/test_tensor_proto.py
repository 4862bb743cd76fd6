"""TensorProto: TensorFlow's encodings read and written, claims refused before anything is allocated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_values import STORABLE, named_values
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from sgtool.formats import dtypes, graph_file, protos, tensor_proto
from sgtool.formats.errors import InvalidArgumentError, InvalidTypeError, OpError, ResourceExhaustedError

GOLDEN = Path(__file__).parents[1] / "golden"


def proto_of(shape: tuple[int, ...], dtype: str = "float32", **fields: Any) -> Any:
    number = dtypes.BY_NAME[dtype].number
    return protos.TensorProto(dtype=number, tensor_shape=tensor_proto.shape_to_proto(shape), **fields)


def test_tensorflows_constants_read_and_written_back_the_same() -> None:
    graph = graph_file.read_graph(GOLDEN / "constants.pb").message
    expected = named_values()
    seen = 0
    for node in graph.node:
        if node.name == "splat":
            assert tensor_proto.to_array(node.attr["value"].tensor).tolist() == [[7] * 3] * 3
            continue
        info, array = expected[node.name]
        read = tensor_proto.to_array(node.attr["value"].tensor)
        assert (read.dtype, read.shape) == (array.dtype, array.shape)
        assert read.tolist() == array.tolist()
        assert not read.flags.writeable
        assert tensor_proto.from_array(array, info) == node.attr["value"].tensor
        seen += 1
    assert seen > 60


@pytest.mark.parametrize(
    ("proto", "expected"),
    [
        (proto_of((2, 3), float_val=[1, 2]), [[1, 2, 2], [2, 2, 2]]),
        (proto_of((1,), float_val=[1, 2]), [1]),
        (proto_of((3,)), [0, 0, 0]),
        (proto_of((), "string"), b""),
        (proto_of((3,), "string", tensor_content=b"\1\2\0abc"), [b"a", b"bc", b""]),
        (proto_of((2,), "complex64", scomplex_val=[1, 2]), [1 + 2j, 1 + 2j]),
        (proto_of((3,), "int8", int_val=[300, -1]), [44, -1, -1]),
        (proto_of((2,), "float16", half_val=[0x3C00]), [1, 1]),
        (proto_of((2,), "bfloat16", half_val=[0x3F80, 0xBF80]), [1, -1]),
        (proto_of((0, 5)), []),
        (proto_of((2,), "bool", bool_val=[True]), [True, True]),
        (proto_of((2,), "uint64", uint64_val=[2**64 - 1]), [2**64 - 1] * 2),
    ],
)
def test_partial_values(proto: Any, expected: Any) -> None:
    array = tensor_proto.to_array(proto)
    assert array.tolist() == expected
    assert array.shape == tuple(dim.size for dim in proto.tensor_shape.dim)


@pytest.mark.parametrize(
    ("proto", "error"),
    [
        (proto_of((2**60,), float_val=[1, 2]), ResourceExhaustedError),
        (proto_of((2**60,)), ResourceExhaustedError),
        (proto_of((2**60,), tensor_content=b"1234"), InvalidArgumentError),
        (proto_of((2**40, 2**40, 0)), InvalidArgumentError),
        (proto_of((3,), tensor_content=b"12345"), InvalidArgumentError),
        (proto_of((2,), "string", tensor_content=b"\xff\xff\x01a"), InvalidArgumentError),
        (protos.TensorProto(dtype=1, tensor_shape=tensor_proto.shape_to_proto(None)), InvalidArgumentError),
        (
            protos.TensorProto(dtype=1, tensor_shape=tensor_proto.shape_to_proto((None,))),
            InvalidArgumentError,
        ),
        (protos.TensorProto(), InvalidTypeError),
        (protos.TensorProto(dtype=99), InvalidTypeError),
        (proto_of((2,), "resource"), InvalidArgumentError),
    ],
)
def test_claims_are_refused(proto: Any, error: type[OpError]) -> None:
    with pytest.raises(error, match="node 'c'"):
        tensor_proto.to_array(proto, "node 'c'")


# Hypothesis draws no elements of ml_dtypes' types; the golden constants cover those.
DRAWN = [
    row.numpy for row in STORABLE if row.kind not in ("string", "quantized") and row.name == row.numpy_name
]


@given(
    st.sampled_from(DRAWN).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    )
)
def test_round_trip(array: np.ndarray[Any, Any]) -> None:
    back = tensor_proto.to_array(tensor_proto.from_array(array))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_layout_does_not_matter() -> None:
    array = np.arange(12, dtype=">i4").reshape(3, 4).T
    assert tensor_proto.to_array(tensor_proto.from_array(array)).tolist() == array.tolist()


def test_text_is_utf8_and_other_objects_are_refused() -> None:
    assert tensor_proto.from_array(np.array(["é"])).string_val == ["é".encode()]
    with pytest.raises(InvalidTypeError, match="bytes or str"):
        tensor_proto.from_array(np.array([object()]))


@given(st.none() | st.lists(st.none() | st.integers(0, 2**40), max_size=4).map(tuple))
def test_shapes_round_trip(shape: tuple[int | None, ...] | None) -> None:
    assert tensor_proto.shape_from_proto(tensor_proto.shape_to_proto(shape)) == shape
