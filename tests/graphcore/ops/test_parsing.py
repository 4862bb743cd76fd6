"""Records that hold features: TensorFlow's functions over them, their errors, ragged variants, encodings."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from op_cases.parsing import FIRST, SECOND, A, B, example, sequence
from op_cases.proto import SOURCE

from sgtool import graphcore as tf
from sgtool.formats.files import FilePolicy


def run(*fetches, feed=None):
    with tf.Session() as session:
        return session.run(list(fetches), feed)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_single_sequence_example():
    context, lists = tf.parse_single_sequence_example(
        A,
        {"a": tf.FixedLenFeature([2], tf.int64), "c": tf.VarLenFeature(tf.string)},
        {"f": tf.VarLenFeature(tf.int64), "g": tf.FixedLenSequenceFeature([2], tf.float32)},
    )
    assert lists["g"].get_shape().as_list() == [None, 2]
    a, c, f, g = run(context["a"], context["c"], lists["f"], lists["g"])
    assert a.tolist() == [1, 2]
    assert c.values.tolist() == [b"x", b"yy"]
    assert f.dense_shape.tolist() == [3, 2]
    assert g.tolist() == [[1, 2], [3, 4]]


def test_a_batch_of_sequence_examples():
    context, lists, lengths = tf.io.parse_sequence_example(
        [A, B],
        {"b": tf.VarLenFeature(tf.float32), "d": tf.FixedLenFeature([], tf.string, "none")},
        {
            "f": tf.VarLenFeature(tf.int64),
            "g": tf.FixedLenSequenceFeature([2], tf.float32),
            "e": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        },
    )
    assert lists["g"].get_shape().as_list() == [2, None, 2]
    b, d, f, g, e, length = run(context["b"], context["d"], lists["f"], lists["g"], lists["e"], lengths["g"])
    assert b.indices.tolist() == [[0, 0]]
    assert d.tolist() == [b"none", b"none"]
    assert f.indices.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert g.tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
    assert e.shape == (2, 0)
    assert length.tolist() == [2, 1]


def single(context=None, lists=None, data=A, **options):
    return tf.parse_single_sequence_example(data, context, lists, **options)


def batch(context=None, lists=None, data=A, **options):
    return tf.io.parse_sequence_example([data], context, lists, **options)


@pytest.mark.parametrize(
    ("parse", "arguments", "sentence"),
    [
        (
            single,
            {"context": {"zz": tf.FixedLenFeature([], tf.int64)}},
            "Name: , Context feature 'zz' is required but could not be found.",
        ),
        (
            single,
            {"context": {"a": tf.VarLenFeature(tf.float32)}, "example_name": "me"},
            "Name: me, Context feature: a.  Data types don't match. Expected type: float  Feature is: int64",
        ),
        (
            single,
            {"context": {"a": tf.FixedLenFeature([3], tf.int64)}},
            "Key: a, Index: 0.  Number of int64 values != expected.  values size: 2 but output shape: [3]",
        ),
        (
            single,
            {"lists": {"zz": tf.FixedLenSequenceFeature([], tf.int64)}},
            "Feature list 'zz' is required but could not be found.  Did you mean to include it in "
            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
        ),
        (
            single,
            {"lists": {"g": tf.VarLenFeature(tf.int64)}},
            "Feature List: g, Index: 0.  Data types don't match. Expected type: int64",
        ),
        (
            single,
            {"lists": {"f": tf.FixedLenSequenceFeature([1], tf.int64)}},
            "Key: f, Index: 0.  Number of int64 values != expected.  values size: 2 but output shape: [1]",
        ),
        (
            single,
            {"lists": {"f": tf.VarLenFeature(tf.int64)}, "data": b"\xff"},
            "Could not parse example input",
        ),
        (
            batch,
            {"context": {"zz": tf.FixedLenFeature([2], tf.int64)}},
            "Inconsistent number of elements for feature zz: 0 vs 2",
        ),
        (
            batch,
            {"context": {"a": tf.VarLenFeature(tf.string)}},
            "Error in context feature a in example <unknown>",
        ),
        (
            batch,
            {"lists": {"f": tf.VarLenFeature(tf.string)}, "example_names": ["me"]},
            "Error in sequence feature f in example me",
        ),
        (
            batch,
            {"lists": {"zz": tf.FixedLenSequenceFeature([], tf.int64)}},
            "Missing feature zz in example <unknown>",
        ),
        (
            batch,
            {"lists": {"f": tf.FixedLenSequenceFeature([2], tf.int64)}},
            "Unexpected number of elements in feature f, example <unknown>",
        ),
        (
            batch,
            {"lists": {"f": tf.VarLenFeature(tf.int64)}, "data": b"\xff"},
            "Invalid protocol message input",
        ),
        (
            batch,
            {"lists": {"f": tf.VarLenFeature(tf.int64)}, "example_names": ["a", "b"]},
            "example_names must be empty or have the correct number of elements",
        ),
    ],
)
def test_what_sequence_examples_lack(parse, arguments, sentence):
    found = parse(**arguments)
    fetches = [tensor for part in found for tensor in part.values()]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(*fetches)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("context", "lists", "sentence"),
    [
        (None, None, "Missing features."),
        ({"a": tf.FixedLenSequenceFeature([], tf.int64)}, None, "Unsupported FixedLenSequenceFeature"),
        (None, {"a": tf.FixedLenFeature([], tf.int64)}, "Unsupported FixedLenFeature"),
        (None, {"a": tf.FixedLenSequenceFeature([], tf.int64, True, 7)}, r"defaults\[a\] must be None"),
        ({"a": tf.FixedLenFeature([None], tf.int64)}, None, "Consider using FixedLenSequenceFeature"),
        ({"a": tf.FixedLenFeature([2, None], tf.int64)}, None, "need to be known but received"),
        ({"a": 3}, None, "Invalid feature a:3."),
    ],
)
def test_features_that_do_not_belong_there(context, lists, sentence):
    for parse in (single, batch):
        with pytest.raises(ValueError, match=sentence):
            parse(context, lists)


def test_a_sparse_feature():
    data = [example(i=[3, 1], j=[0, 2], v=[1.5, 2.5]), example(i=[4], j=[1], v=[3.5])]
    features = {"s": tf.SparseFeature(["i", "j"], "v", tf.float32, [5, 3]), "i": tf.VarLenFeature(tf.int64)}
    found = tf.parse_example(data, features)
    assert sorted(found) == ["i", "s"]
    sparse, ids = run(found["s"], found["i"])
    assert sparse.indices.tolist() == [[0, 1, 2], [0, 3, 0], [1, 4, 1]]
    assert sparse.values.tolist() == [2.5, 1.5, 3.5]
    assert sparse.dense_shape.tolist() == [2, 5, 3]
    assert ids.values.tolist() == [3, 1, 4]
    (one,) = run(tf.parse_single_example(data[0], {"s": tf.SparseFeature("i", "v", tf.float32, 5)})["s"])
    assert one.indices.tolist() == [[1], [3]]
    with pytest.raises(ValueError, match="Conflicting type"):
        tf.parse_example(data, {"s": tf.SparseFeature("i", "i", tf.float32, 5)})


def test_examples_as_json_go_through_the_parser():
    json = '{"features": {"feature": {"a": {"int64List": {"value": ["7"]}}}}}'
    found = tf.parse_single_example(tf.io.decode_json_example(json), {"a": tf.FixedLenFeature([], tf.int64)})
    assert run(found["a"]) == [7]
    for wrong in ("{", '{"nope": 1}', "[1]", '{"features": 3}', '{"features": {"feature": {"a": {"x": 1}}}}'):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Error while parsing JSON"):
            run(tf.io.decode_json_example(wrong))


def test_compressed_strings_that_are_damaged():
    with pytest.raises(tf.errors.DataLossError, match="inflate"):
        run(tf.io.decode_compressed(zlib.compress(b"abc" * 9)[:2] + b"\xff\xff\xff\xff", "ZLIB"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Only ZLIB, GZIP or NONE"):
        run(tf.io.decode_compressed(b"", "BZIP2"))


RAGGED = {
    "flat": ([[0, 2, 2, 5]], [1, 2, 3, 4, 5]),
    "nested": ([[0, 2, 2, 3], [0, 1, 3, 4]], [5, 6, 7, 8]),
    "wide": ([[0, 1, 1, 2]], [[1.5, 2.5], [3.5, 4.5]]),
    "empty": ([[0]], []),
}


@pytest.mark.parametrize("name", RAGGED)
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_ragged_tensors_come_back_from_variants(name, batched, dtype):
    given, numbers = RAGGED[name]
    splits = [tf.constant(each, dtype) for each in given]
    values = tf.constant(numbers, tf.float32)
    variant = tf.raw_ops.RaggedTensorToVariant(splits, values, batched_input=batched)
    back = tf.raw_ops.RaggedTensorFromVariant(
        variant,
        input_ragged_rank=len(given) - int(batched),
        output_ragged_rank=len(given),
        Tvalues=tf.float32,
        Tsplits=dtype,
    )
    found = run(*back.output_nested_splits, back.output_dense_values)
    if name == "empty" and batched:
        assert [each.tolist() for each in found] == [[0], []]
        return
    assert [each.tolist() for each in found] == [*given, np.float32(numbers).tolist()]
    assert found[0].dtype == dtype.as_numpy_dtype


def test_a_row_of_a_batched_variant_and_a_wrong_rank():
    splits = [tf.constant(each, tf.int64) for each in RAGGED["nested"][0]]
    rows = tf.raw_ops.RaggedTensorToVariant(splits, tf.constant([5, 6, 7, 8]), batched_input=True)
    first = tf.raw_ops.RaggedTensorFromVariant(
        rows[0], input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.int32, Tsplits=tf.int64
    )
    assert [each.tolist() for each in run(first.output_nested_splits[0], first.output_dense_values)] == [
        [0, 1, 3],
        [5, 6, 7],
    ]
    for rank, dtype, sentence in (
        (0, tf.int32, "Encoded input Variant must hold either input_ragged_rank"),
        (1, tf.float32, "Expected values Tensor dtype: float32, found: int32"),
    ):
        wrong = tf.raw_ops.RaggedTensorFromVariant(
            rows, input_ragged_rank=rank, output_ragged_rank=rank + 1, Tvalues=dtype, Tsplits=tf.int64
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match=sentence):
            run(wrong.output_dense_values)


def test_characters_of_a_string():
    word = "aé\U0001f60a".encode()
    points, starts = tf.strings.unicode_decode_with_offsets(word, "UTF-8")
    characters, _ = tf.strings.unicode_split_with_offsets(word, "UTF-8")
    found = run(
        points,
        starts,
        characters,
        tf.strings.unicode_encode([[97, 98], [233, 234]], "UTF-8"),
        tf.strings.unicode_encode([97, 98], "UTF-16-BE"),
        tf.strings.unicode_script([97]),
        tf.strings.unicode_transcode([word], "UTF-8", "UTF-16-BE"),
    )
    assert found[0].tolist() == [97, 233, 0x1F60A]
    assert found[1].tolist() == [0, 1, 3]
    assert found[2].tolist() == [b"a", "é".encode(), "\U0001f60a".encode()]
    assert found[3].tolist() == [b"ab", "éê".encode()]
    assert found[4] == b"\0a\0b"
    assert found[5].tolist() == [25]
    assert found[6].tolist() == ["aé\U0001f60a".encode("utf-16-be")]


def test_text_that_is_malformed():
    for make in (
        lambda: tf.strings.unicode_decode(b"\xff", "UTF-8", errors="strict"),
        lambda: tf.strings.unicode_transcode(b"\xff", "UTF-8", "UTF-8", errors="strict"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid formatting on input string"):
            run(make())
    with pytest.raises(tf.errors.InvalidArgumentError, match="Code point value out of valid Unicode range"):
        run(tf.strings.unicode_encode([0x110000], "UTF-8", errors="strict"))
    for encoding in ("nope", "base64", "idna"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not create converter"):
            run(tf.strings.unicode_decode("a", encoding))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="replacement_char out of unicode codepoint range"
    ):
        run(tf.strings.unicode_decode("a", "UTF-8", replacement_char=0x110000))
    with pytest.raises(tf.errors.UnimplementedError, match="RaggedTensor"):
        tf.strings.unicode_decode(["a", "b"], "UTF-8")


@pytest.mark.oracle
def test_tensorflow_parses_what_we_build():
    """The graphs of both functions, run by TensorFlow."""
    tensorflow = pytest.importorskip("tensorflow").compat.v1
    context, lists = tf.parse_single_sequence_example(
        tf.placeholder(tf.string, [], name="one"),
        {"a": tf.FixedLenFeature([2], tf.int64, [0, 0]), "c": tf.VarLenFeature(tf.string)},
        {"g": tf.FixedLenSequenceFeature([2], tf.float32)},
    )
    both = tf.io.parse_sequence_example(
        tf.placeholder(tf.string, [None], name="many"),
        {"a": tf.FixedLenFeature([2], tf.int64)},
        {"g": tf.FixedLenSequenceFeature([2], tf.float32), "f": tf.VarLenFeature(tf.int64)},
    )
    sparse = tf.parse_example(
        tf.placeholder(tf.string, [None], name="examples"),
        {"s": tf.SparseFeature("a", "a", tf.int64, 9), "b": tf.FixedLenFeature([], tf.float32, 0.5)},
    )
    fetches = [context["a"], context["c"].values, lists["g"], both[0]["a"], both[1]["g"], both[2]["g"]]
    fetches += [both[1]["f"].indices, sparse["s"].indices, sparse["b"]]
    feeds = {"one:0": A, "many:0": [A, B], "examples:0": [FIRST, SECOND]}
    with tf.Session() as session:
        ours = session.run(fetches, feeds)
    data = tf.get_default_graph().as_graph_def().SerializeToString()
    with tensorflow.Graph().as_default() as graph:
        tensorflow.import_graph_def(tensorflow.GraphDef.FromString(data), name="")
        with tensorflow.Session(graph=graph) as session:
            theirs = session.run([tensor.name for tensor in fetches], feeds)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.tolist() == other.tolist()


def test_an_empty_record_is_no_error():
    _, lists = single(lists={"g": tf.FixedLenSequenceFeature([2], tf.float32, True)}, data=sequence())
    assert run(lists["g"])[0].shape == (0, 2)


def decoded(source=SOURCE, message="rows.All", names=("int32",), types=(tf.int32,), data=b"", **options):
    return tf.io.decode_proto(data, message, names, types, source, **options)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"message": "rows.Nope"}, "No descriptor found for message type rows.Nope"),
        ({"source": "local://"}, "No descriptor found for message type rows.All"),
        ({"source": b"bytes://\xff"}, "Source does not represent serialized file descriptor set proto."),
        ({"source": "no/such/file"}, "Source does not represent serialized file descriptor set proto"),
        (
            {"names": ["int32", "q", "r"], "types": [tf.int32] * 3},
            "Unknown field: q, r in message type rows.All",
        ),
        ({"types": [tf.float32]}, "Unexpected output type for rows.All.int32: int32 to float32"),
        ({"types": []}, "field_names and output_types attributes must have the same length"),
        ({"message_format": "json"}, "format must be one of binary or text"),
        ({"data": np.zeros(0, object)}, "Bufs argument must contain at least one value"),
    ],
)
def test_messages_that_cannot_be_decoded(arguments, sentence):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(decoded(**arguments).sizes)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b"\x28", {}),
        (b"\x0a\x05a", {}),
        (b"\x0c", {}),
        (b"\x0f", {}),
        (b"\xca\x0c\x03abc", {"names": ["packed_double"], "types": [tf.float64]}),
        (b"\xff" * 11, {}),
        (b"\x28", {"sanitize": True}),
        (b"int32: q", {"message_format": "text"}),
    ],
)
def test_messages_that_are_damaged(data, options):
    with pytest.raises(tf.errors.DataLossError):
        run(decoded(data=data, **options).sizes)


def test_descriptors_of_a_file(tmp_path):
    path = tmp_path / "set.pb"
    path.write_bytes(SOURCE.removeprefix(b"bytes://"))
    data = tf.io.encode_proto([[1]], [[[5]]], ["int32"], "rows.All", str(path))
    assert run(data, decoded(str(path), data=data).values[0])[1].tolist() == [[5]]
    sizes = decoded(str(path)).sizes
    path.write_bytes(b"\xff")
    with pytest.raises(tf.errors.InvalidArgumentError, match="invalid FileDescriptorSet"):
        run(sizes)
    with (
        tf.Session(file_policy=FilePolicy(allow_read="nothing")) as session,
        pytest.raises(tf.errors.PermissionDeniedError, match=r"set\.pb"),
    ):
        session.run(sizes)


@pytest.mark.parametrize(
    ("sizes", "values", "sentence"),
    [
        ([[1]], [[[0.5]]], "Incompatible type for field int32.  Saw dtype: float32 but field type is: int32"),
        ([[1, 1]], [[[1]]], "sizes should be batch_size"),
        (
            [[2]],
            [[[1]]],
            "Size to write must not be larger than value tensor; but saw: 2 > 1 at message 0 field 0",
        ),
    ],
)
def test_values_that_cannot_be_encoded(sizes, values, sentence):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(tf.io.encode_proto(sizes, values, ["int32"], "rows.All", SOURCE))
    assert sentence in str(caught.value)
