"""Serialized examples, raw bytes, CSV."""

import numpy as np

from sgtool.formats import protos

from . import case, text


def example(**features):
    """A serialized Example: bytes, floats or ints by key; None for a feature of no kind."""
    message = protos.Example()
    for key, values in features.items():
        feature = message.features.feature[key]
        if values is None:
            continue
        kind = {bytes: feature.bytes_list, float: feature.float_list, int: feature.int64_list}[
            type(values[0])
        ]
        kind.value.extend(values)
    return message.SerializeToString()


FIRST = example(a=[1, 2], b=[1.5], c=[b"x", b"yy"])
SECOND = example(a=[3, 4], c=[b"z"], n=None)
LONG = example(a=[1, 2, 3, 4])
INTS, FLOATS, NONE = np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, object)
ONE = {"sparse_keys": ["c"], "dense_keys": ["a", "b"], "sparse_types": [object], "num_sparse": 1}
TYPES = {"dense_shapes": [[2], []]}
DEFAULTS = [INTS, np.float32(-1)]
CSV = text(["1,2.5,a", '3,,"b, ""q"""'])


def index(*pairs):
    return np.array(pairs, np.int64).reshape(len(pairs), -1)


def int64s(*values):
    return np.array(values, np.int64)


CASES = [
    case(
        "ParseSingleExample",
        text(FIRST),
        DEFAULTS,
        **ONE,
        **TYPES,
        expect=(index([0], [1]), text(["x", "yy"]), int64s(2), int64s(1, 2), np.float32(1.5)),
    ),
    case(
        "ParseSingleExample",
        text(SECOND),
        DEFAULTS,
        **ONE,
        **TYPES,
        expect=(index([0]), text(["z"]), int64s(1), int64s(3, 4), np.float32(-1)),
        note="default",
    ),
    case(
        "ParseSingleExample",
        text(LONG),
        [np.int64(0), text("")],
        num_sparse=1,
        sparse_keys=["n"],
        sparse_types=[np.float32],
        dense_keys=["a", "c"],
        dense_shapes=[[None, 2], [None]],
        expect=(np.zeros((0, 1), np.int64), FLOATS, int64s(0), index([1, 2], [3, 4]), NONE),
        note="sequence",
    ),
    case(
        "ParseExample",
        text([FIRST, SECOND]),
        NONE,
        [text("c")],
        [text("a"), text("b")],
        DEFAULTS,
        sparse_types=[object],
        **TYPES,
        expect=(
            index([0, 0], [0, 1], [1, 0]),
            text(["x", "yy", "z"]),
            int64s(2, 2),
            index([1, 2], [3, 4]),
            np.float32([1.5, -1]),
        ),
    ),
    case(
        "ParseExample",
        text([FIRST, SECOND, LONG]),
        text(["one", "two", "three"]),
        [text("n")],
        [text("a"), text("c")],
        [np.int64(0), text("p")],
        sparse_types=[np.int64],
        dense_shapes=[[None, 2], [None]],
        expect=(
            np.zeros((0, 2), np.int64),
            INTS,
            int64s(3, 0),
            np.array([[[1, 2], [0, 0]], [[3, 4], [0, 0]], [[1, 2], [3, 4]]]),
            text([["x", "yy"], ["z", "p"], ["p", "p"]]),
        ),
        note="padded",
    ),
    case(
        "ParseExample",
        NONE,
        NONE,
        [text("c")],
        [text("a"), text("b")],
        DEFAULTS,
        sparse_types=[object],
        **TYPES,
        expect=(np.zeros((0, 2), np.int64), NONE, int64s(0, 0), np.zeros((0, 2), np.int64), FLOATS),
        note="empty",
    ),
    case(
        "ParseExampleV2",
        text([FIRST, SECOND]),
        NONE,
        text(["n"]),
        text(["a", "b"]),
        text(["c", "m"]),
        DEFAULTS,
        num_sparse=1,
        sparse_types=[np.int64],
        ragged_value_types=[object, np.float32],
        ragged_split_types=[np.int64, np.int32],
        **TYPES,
        expect=(
            np.zeros((0, 2), np.int64),
            INTS,
            int64s(2, 0),
            index([1, 2], [3, 4]),
            np.float32([1.5, -1]),
            text(["x", "yy", "z"]),
            np.zeros(0, np.float32),
            int64s(0, 2, 3),
            np.int32([0, 0, 0]),
        ),
    ),
    case(
        "ParseExampleV2",
        text(FIRST),
        NONE,
        text(["c"]),
        text(["a", "b"]),
        text(["m"]),
        DEFAULTS,
        num_sparse=1,
        sparse_types=[object],
        ragged_value_types=[np.float32],
        ragged_split_types=[np.int64],
        **TYPES,
        expect=(
            index([0], [1]),
            text(["x", "yy"]),
            int64s(2),
            int64s(1, 2),
            np.float32(1.5),
            np.zeros(0, np.float32),
            np.zeros(0, np.int64),
        ),
        note="one",
    ),
    case("DecodeRaw", text([b"\1\0\2\0", b"\3\0\4\0"]), out_type=np.int16, expect=[[[1, 2], [3, 4]]]),
    case("DecodeRaw", text(b"\1\0\2\0"), out_type=np.int16, little_endian=False, expect=[[256, 512]]),
    case("DecodeRaw", NONE, out_type=np.int16, expect=[np.zeros((0, 0))]),
    case("DecodeRaw", text([""]), out_type=np.float64, expect=[np.zeros((1, 0))]),
    case("DecodeRaw", text(np.float32([1, -2]).tobytes()), out_type=np.float32, expect=[[1.0, -2.0]]),
    case("DecodeRaw", text(np.complex64([1, 2j]).tobytes()), out_type=np.complex64, expect=[[1, 2j]]),
    case(
        "DecodeCSV",
        CSV,
        [np.int32([0]), np.float32([-1]), text(["z"])],
        expect=([1, 3], [2.5, -1.0], text(["a", 'b, "q"'])),
    ),
    case("DecodeCSV", text("1,2,3"), [np.int32([1]), np.int32([2])], select_cols=[0, 2], expect=(1, 3)),
    case("DecodeCSV", text("1,NA"), [np.int64([1]), np.int64([2])], na_value="NA", expect=(1, 2)),
    case(
        "DecodeCSV",
        text(['"1";2']),
        [text(["x"]), np.int32([2])],
        field_delim=";",
        expect=(text(["1"]), [2]),
    ),
    case(
        "DecodeCSV",
        text('"1",2'),
        [text(["x"]), np.int32([2])],
        use_quote_delim=False,
        expect=(text('"1"'), 2),
    ),
    case(
        "DecodeCSV",
        text([' 1, 2 ,"",']),
        [np.int32([0]), np.float64([0]), text(["d"]), text(["e"])],
        expect=([1], [2.0], text(["d"]), text(["e"])),
    ),
]
