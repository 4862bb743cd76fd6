"""Tensors and sparse tensors as strings, and kept by handle."""

import numpy as np

from sgtool.formats import protos, tensor_proto

from . import case, floats, ints, text

INDICES = np.array([[0, 1], [1, 0], [1, 2]])
SHAPE = np.array([2, 3])
BYTES = "TensorFlow spells the same tensor in other bytes"


def bytes_of(*arrays):
    result = np.empty(len(arrays), object)
    for index, array in enumerate(arrays):
        result[index] = tensor_proto.from_array(array).SerializeToString()
    return result


def rows(*sparse):
    return np.stack([bytes_of(*each) for each in sparse])


def one(array):
    return bytes_of(array)[0]


VALUES = floats(3)
FIRST = (INDICES[:1, 1:], VALUES[:1], SHAPE[1:])
SECOND = (INDICES[1:, 1:], VALUES[1:], np.array([5]))
CASES = [
    case("SerializeTensor", floats(2, 3), expect=lambda x: np.array(one(x), object), oracle=BYTES),
    case("SerializeTensor", text(["a", "b"]), expect=lambda x: np.array(one(x), object), note="strings"),
    case("ParseTensor", np.array(one(floats(2, 3)), object), out_type=np.float32, expect=floats(2, 3)),
    case(
        "ParseTensor",
        np.array(protos.TensorProto(dtype=3, int_val=[7]).SerializeToString(), object),
        out_type=np.int32,
        expect=np.array(7, np.int32),
        note="scalar",
    ),
    case("SerializeSparse", INDICES, VALUES, SHAPE, expect=lambda *parts: bytes_of(*parts), oracle=BYTES),
    case(
        "SerializeManySparse",
        INDICES,
        VALUES,
        SHAPE,
        expect=lambda *_: rows(FIRST, (*SECOND[:2], SHAPE[1:])),
        oracle=BYTES,
    ),
    case(
        "DeserializeSparse",
        bytes_of(INDICES, VALUES, SHAPE),
        dtype=np.float32,
        expect=(INDICES, VALUES, SHAPE),
    ),
    case(
        "DeserializeSparse",
        rows(FIRST, SECOND, FIRST, SECOND).reshape(2, 2, 3),
        dtype=np.float32,
        expect=(
            [[0, 0, 1], [0, 1, 0], [0, 1, 2], [1, 0, 1], [1, 1, 0], [1, 1, 2]],
            VALUES[[0, 1, 2, 0, 1, 2]],
            [2, 2, 5],
        ),
        note="matrix",
    ),
    case(
        "DeserializeManySparse",
        rows(FIRST, SECOND),
        dtype=np.float32,
        expect=(INDICES, VALUES, [2, 5]),
    ),
    case("AddSparseToTensorsMap", INDICES, ints(3), SHAPE, expect=np.int64(0)),
    case("AddManySparseToTensorsMap", INDICES, ints(3), SHAPE, expect=np.array([0, 1])),
]
