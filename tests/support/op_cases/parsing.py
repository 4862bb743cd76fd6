"""Serialized examples, raw bytes, CSV."""

import gzip
import zlib

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


def sequence(context=None, lists=None):
    """A serialized SequenceExample: values of one kind by key, lists of such by key; None is of no kind."""
    message = protos.SequenceExample()

    def fill(feature, values):
        if values is not None:
            kinds = {bytes: feature.bytes_list, float: feature.float_list, int: feature.int64_list}
            kinds[type(values[0])].value.extend(values)

    for key, values in (context or {}).items():
        fill(message.context.feature[key], values)
    for key, rows in (lists or {}).items():
        message.feature_lists.feature_list[key].SetInParent()
        for values in rows:
            fill(message.feature_lists.feature_list[key].feature.add(), values)
    return message.SerializeToString()


A = sequence(
    {"a": [1, 2], "b": [1.5], "c": [b"x", b"yy"]},
    {"f": [[1, 2], [3], None], "g": [[1.0, 2.0], [3.0, 4.0]], "e": [], "s": [[b"p"], [b"q"]]},
)
B = sequence({"a": [5, 6], "c": None}, {"f": [[7]], "g": [[5.0, 6.0]]})
SEQUENCE_TYPES = {
    "context_sparse_types": [object, np.float32],
    "context_dense_shapes": [[2], []],
    "feature_list_sparse_types": [np.int64, object],
    "feature_list_dense_types": [np.float32, np.int64],
    "feature_list_dense_shapes": [[2], [1, 2]],
}
SEQUENCE_KEYS = {
    "context_sparse_keys": ["c", "zz"],
    "context_dense_keys": ["a", "d"],
    "feature_list_sparse_keys": ["f", "s"],
    "feature_list_dense_keys": ["g", "e"],
}
SEQUENCE_DEFAULTS = [INTS, np.int64(9)]


def texts(*words):
    return [text(word) for word in words]


def feature(key, value):
    """An entry of the map of features, as it is written."""
    entry = b"\n" + bytes([len(key)]) + key.encode() + b"\x12" + bytes([len(value)]) + value
    return b"\n" + bytes([len(entry)]) + entry


CASES += [
    case(
        "ParseSingleSequenceExample",
        text(A),
        text(["e"]),
        texts("c", "zz"),
        texts("a", "d"),
        texts("f", "s"),
        texts("g", "e"),
        SEQUENCE_DEFAULTS,
        text("one"),
        **SEQUENCE_TYPES,
        expect=(
            *(index([0], [1]), np.zeros((0, 1), np.int64)),
            *(text(["x", "yy"]), FLOATS),
            *(int64s(2), int64s(0)),
            *(int64s(1, 2), np.int64(9)),
            *(index([0, 0], [0, 1], [1, 0]), index([0, 0], [1, 0])),
            *(int64s(1, 2, 3), text(["p", "q"])),
            *(int64s(3, 2), int64s(2, 1)),
            *(np.float32([[1, 2], [3, 4]]), np.zeros((0, 1, 2), np.int64)),
        ),
    ),
    case(
        "ParseSingleSequenceExample",
        text(b""),
        text(["g", "e"]),
        texts("c", "zz"),
        texts("a", "d"),
        texts("f", "s"),
        texts("g", "e"),
        [int64s(3, 4), np.int64(9)],
        text(""),
        **SEQUENCE_TYPES,
        expect=(
            *(np.zeros((0, 1), np.int64), np.zeros((0, 1), np.int64)),
            *(NONE, FLOATS),
            *(int64s(0), int64s(0)),
            *(int64s(3, 4), np.int64(9)),
            *(np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64)),
            *(INTS, NONE),
            *(int64s(0, 0), int64s(0, 0)),
            *(np.zeros((0, 2), np.float32), np.zeros((0, 1, 2), np.int64)),
        ),
        note="missing",
    ),
    case(
        "ParseSequenceExample",
        text([A, B]),
        NONE,
        SEQUENCE_DEFAULTS,
        feature_list_dense_missing_assumed_empty=["e"],
        Ncontext_sparse=2,
        Ncontext_dense=2,
        Nfeature_list_sparse=2,
        Nfeature_list_dense=2,
        **SEQUENCE_KEYS,
        **SEQUENCE_TYPES,
        expect=(
            *(index([0, 0], [0, 1]), np.zeros((0, 2), np.int64)),
            *(text(["x", "yy"]), FLOATS),
            *(int64s(2, 2), int64s(2, 0)),
            *(index([1, 2], [5, 6]), int64s(9, 9)),
            *(index([0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]), index([0, 0, 0], [0, 1, 0])),
            *(int64s(1, 2, 3, 7), text(["p", "q"])),
            *(int64s(2, 3, 2), int64s(2, 2, 1)),
            *(np.float32([[[1, 2], [3, 4]], [[5, 6], [0, 0]]]), np.zeros((2, 0, 1, 2), np.int64)),
            *(int64s(2, 1), int64s(0, 0)),
        ),
    ),
    case(
        "ParseSequenceExample",
        NONE,
        NONE,
        SEQUENCE_DEFAULTS[1:],
        feature_list_dense_missing_assumed_empty=[],
        Ncontext_dense=1,
        Nfeature_list_dense=1,
        Ncontext_sparse=1,
        Nfeature_list_sparse=1,
        context_sparse_keys=["c"],
        context_dense_keys=["d"],
        feature_list_sparse_keys=["f"],
        feature_list_dense_keys=["g"],
        context_sparse_types=[object],
        context_dense_shapes=[[]],
        feature_list_sparse_types=[np.int64],
        feature_list_dense_types=[np.float32],
        feature_list_dense_shapes=[[2]],
        expect=(
            np.zeros((0, 2), np.int64),
            NONE,
            int64s(0, 0),
            INTS,
            np.zeros((0, 3), np.int64),
            INTS,
            int64s(0, 0, 0),
            np.zeros((0, 0, 2), np.float32),
            INTS,
        ),
        note="empty",
    ),
    case(
        "DecodePaddedRaw",
        text([b"\1\0\2", b"\3\0\4\0\5\0\6\0", b""]),
        np.int32(4),
        out_type=np.int16,
        expect=np.int16([[1, 2], [3, 4], [0, 0]]),
    ),
    case(
        "DecodePaddedRaw",
        text([[b"\1\0\2\0", b"\3\0\4\0\5\0\6\0"]]),
        np.int32(4),
        out_type=np.int32,
        little_endian=False,
        expect=np.int32([[[0x01000200], [0x03000400]]]),
        note="big_endian",
    ),
    case(
        "DecodePaddedRaw",
        np.zeros((0, 2), object),
        np.int32(8),
        out_type=np.float32,
        expect=np.zeros((0, 2, 2), np.float32),
        note="empty",
    ),
    case(
        "DecodePaddedRaw",
        text(np.float64([1.5]).tobytes()),
        np.int32(16),
        out_type=np.float64,
        expect=np.float64([1.5, 0]),
        note="scalar",
    ),
    case(
        "DecodeCompressed",
        text([[zlib.compress(b"abc" * 99), zlib.compress(b"")]]),
        compression_type="ZLIB",
        expect=text([["abc" * 99, ""]]),
    ),
    case(
        "DecodeCompressed",
        text([gzip.compress(b"abc"), b"", gzip.compress(b"abc" * 50)[:20]]),
        compression_type="GZIP",
        expect=lambda given: text(["abc", "", zlib.decompressobj(31).decompress(given[2])]),
        note="cut_off",
    ),
    case("DecodeCompressed", text("abc"), expect=text("abc")),
    case("DecodeCompressed", NONE, compression_type="GZIP", expect=NONE, note="empty"),
    case(
        "DecodeJSONExample",
        text(
            [
                '{"features": {"feature": {"x": {"int64List": {"value": ["7", 8]}}, '
                '"a": {"floatList": {"value": [1.5]}}, "c": {"bytesList": {"value": ["YWI="]}}}}}',
                "{}",
                '{"features": {}}',
            ]
        ),
        expect=lambda _: text(
            [
                b"\n\x28"
                + feature("x", b"\x1a\x04\x08\x07\x08\x08")
                + feature("a", b"\x12\x05\x0d\0\0\xc0?")
                + feature("c", b"\n\x04\n\x02ab"),
                b"",
                b"\n\0",
            ]
        ),
    ),
    case("DecodeJSONExample", text([[], []]), expect=text([[], []]), note="empty"),
]
