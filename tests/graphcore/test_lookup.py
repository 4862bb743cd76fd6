"""Lookup tables: values, sizes and errors of hash tables and mutable ones, as TensorFlow gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours
from sgtool.formats.files import FilePolicy

LINES = b"foo\r\nb ar\nbaz"
COLUMNS = b"1,x,2.5\n2,y,3\n"


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "lines": LINES,
        "columns": COLUMNS,
        "gap": b"a\n\nb\n",
        "empty": b"",
        "twice": b"a\nb\na\n",
    }.items():
        Path(name).write_bytes(content)
    with module.Graph().as_default():
        yield module


class Made:
    """A table in the default graph, of either generation, and what is done with it."""

    def __init__(
        self, tf: Any, kind: str, key: str = "string", value: str = "int64", version: str = "V2", **attrs: Any
    ) -> None:
        self.tf, self.version = tf, version
        self.key, self.value = getattr(tf, key), getattr(tf, value)
        make = getattr(tf.raw_ops, kind + version)
        self.handle = make(key_dtype=self.key, value_dtype=self.value, **attrs)

    def op(self, name: str, **arguments: Any) -> Any:
        return getattr(self.tf.raw_ops, name + self.version)(table_handle=self.handle, **arguments)

    def put(self, name: str, keys: Any, values: Any) -> Any:
        return self.op(
            name, keys=self.tf.constant(keys, self.key), values=self.tf.constant(values, self.value)
        )

    def initialize(self, keys: Any, values: Any) -> Any:
        return self.put("InitializeTable", keys, values)

    def load(self, keys: Any, values: Any) -> Any:
        return self.put("LookupTableImport", keys, values)

    def insert(self, keys: Any, values: Any) -> Any:
        return self.put("LookupTableInsert", keys, values)

    def from_file(self, filename: str, key: int, value: int, **attrs: Any) -> Any:
        return self.op(
            "InitializeTableFromTextFile", filename=filename, key_index=key, value_index=value, **attrs
        )

    def find(self, keys: Any, default: Any = -1) -> Any:
        return self.op(
            "LookupTableFind",
            keys=self.tf.constant(keys, self.key),
            default_value=self.tf.constant(default, self.value),
        )

    def remove(self, keys: Any) -> Any:
        return self.op("LookupTableRemove", keys=self.tf.constant(keys, self.key))

    def size(self) -> Any:
        return self.op("LookupTableSize")

    def export(self) -> Any:
        return self.op("LookupTableExport", Tkeys=self.key, Tvalues=self.value)


def run(tf: Any, *steps: Any) -> list[Any]:
    with tf.Session() as session:
        return [session.run(step) for step in steps]


def entries(exported: Any) -> dict[Any, Any]:
    keys, values = exported
    return dict(zip(keys.tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize("version", ["", "V2"])
def test_a_hash_table(tf: Any, version: str) -> None:
    table = Made(tf, "HashTable", version=version)
    before, _, found, size, exported, _, after = run(
        tf,
        table.size(),
        table.initialize(["a", "b"], [1, 2]),
        table.find([["b"], ["z"]]),
        table.size(),
        table.export(),
        table.initialize(["c", "d"], [7, 8]),  # as many: taken for the same entries
        table.find("c"),
    )
    assert (before, size, entries(exported), after) == (0, 2, {b"a": 1, b"b": 2}, -1)
    np.testing.assert_array_equal(found, np.array([[2], [-1]]))
    assert found.dtype == np.int64


@pytest.mark.parametrize("version", ["", "V2"])
def test_import_fills_a_hash_table(tf: Any, version: str) -> None:
    table = Made(tf, "HashTable", "int64", "string", version=version)
    _, found = run(tf, table.load([5, 6, 5], ["five", "six", "five"]), table.find([6, 7, 5], "none"))
    assert found.tolist() == [b"six", b"none", b"five"]


@pytest.mark.parametrize("version", ["", "V2"])
def test_a_mutable_table(tf: Any, version: str) -> None:
    table = Made(tf, "MutableHashTable", version=version)
    empty, missing, _, found, size, _, exported, _, none = run(
        tf,
        table.export(),
        table.find(["a"]),
        table.insert([["a", "b"], ["a", "c"]], [[1, 2], [3, 4]]),
        table.find(["a", "b", "z"], [7, 8, 9]),  # a default for each key
        table.size(),
        table.load(["q"], [5]),
        table.export(),
        table.load([], []),
        table.size(),
    )
    assert [part.shape for part in empty] == [(0,), (0,)]
    assert (missing.tolist(), found.tolist(), size) == ([-1], [3, 2, 9], 3)
    assert (entries(exported), none) == ({b"q": 5}, 0)


def test_remove(tf: Any) -> None:
    table = Made(tf, "MutableHashTable", "int64", "float32")
    *_, exported = run(tf, table.insert([1, 2], [0.1, 0.2]), table.remove([[2], [9]]), table.export())
    assert entries(exported) == {1: float(np.float32(0.1))}


@pytest.mark.parametrize("version", ["", "V2"])
def test_a_table_of_vectors(tf: Any, version: str) -> None:
    table = Made(tf, "MutableHashTableOfTensors", value="float32", version=version, value_shape=[2])
    empty, _, found, (keys, values) = run(
        tf, table.export(), table.insert(["a"], [[1, 2]]), table.find([["a", "q"]], [0, 9]), table.export()
    )
    assert [part.shape for part in empty] == [(0,), (0, 2)]
    np.testing.assert_array_equal(found, np.array([[[1, 2], [0, 9]]], np.float32))
    assert (keys.tolist(), values.tolist()) == ([b"a"], [[1, 2]])


def test_static_shapes(tf: Any) -> None:
    keys = tf.placeholder(tf.string, [None, 3])
    for kind, attrs, expected in (
        ("HashTable", {}, None),
        ("MutableHashTable", {}, [None, 3]),
        ("MutableHashTableOfTensors", {"value_shape": [2]}, [None, 3, 2]),
    ):
        table = Made(tf, kind, **attrs)
        found = table.op("LookupTableFind", keys=keys, default_value=tf.constant(0, tf.int64))
        assert found.shape.ndims is None if expected is None else found.shape.as_list() == expected


def test_sharing(tf: Any) -> None:
    shared = [Made(tf, "HashTable", shared_name="x") for _ in range(2)]
    other = Made(tf, "HashTable", container="c", shared_name="x")
    own = Made(tf, "HashTable", name="node", use_node_name_sharing=True)
    same = Made(tf, "HashTable", shared_name="node")
    alone = Made(tf, "HashTable")
    *_, found, sizes = run(
        tf,
        [shared[0].initialize(["a"], [1]), own.initialize(["a", "b"], [1, 2])],
        shared[1].find(["a"]),
        [table.size() for table in (shared[1], other, same, alone)],
    )
    assert (found.tolist(), sizes) == ([1], [1, 0, 2, 0])


FILES: list[tuple[str, str, str, tuple[int, int], dict[str, Any], dict[Any, Any]]] = [
    ("string", "int64", "lines", (-2, -1), {}, {b"foo": 0, b"b ar": 1, b"baz": 2}),
    ("int64", "string", "lines", (-1, -2), {}, {0: b"foo", 1: b"b ar", 2: b"baz"}),
    ("string", "int64", "lines", (-2, -1), {"vocab_size": 2}, {b"foo": 0, b"b ar": 1}),
    ("string", "float32", "columns", (1, 2), {"delimiter": ","}, {b"x": 2.5, b"y": 3.0}),
    ("string", "int32", "columns", (1, 0), {"delimiter": ","}, {b"x": 1, b"y": 2}),
    ("string", "float64", "columns", (-2, 2), {"delimiter": ","}, {b"1,x,2.5": 2.5, b"2,y,3": 3.0}),
]


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize(("key", "value", "name", "columns", "attrs", "expected"), FILES)
def test_a_text_file(
    tf: Any, key: str, value: str, name: str, columns: Any, attrs: Any, expected: Any, version: str
) -> None:
    table = Made(tf, "HashTable", key, value, version)
    # Another file does no harm once the table is filled.
    _, exported, _, size = run(
        tf,
        table.from_file(name, *columns, **attrs),
        table.export(),
        table.from_file("lines", *columns)
        if name == "lines"
        else table.from_file(name, *columns, delimiter=","),
        table.size(),
    )
    assert (entries(exported), size) == (expected, len(expected))


Steps = Callable[[Any], list[Any]]


def on(kind: str, steps: Callable[[Made], list[Any]], **attrs: Any) -> Steps:
    return lambda tf: steps(Made(tf, kind, **attrs))


def read(
    name: str, key: int, value: int, dtypes: tuple[str, str] = ("string", "int64"), **attrs: Any
) -> Steps:
    return lambda tf: [Made(tf, "HashTable", *dtypes).from_file(name, key, value, **attrs)]


def conflicting(tf: Any) -> list[Any]:
    return [
        Made(tf, "HashTable", shared_name="x").size(),
        Made(tf, "HashTable", value="float32", shared_name="x").size(),
    ]


# The last step fails: what the error is and says, in TensorFlow as in ours.
ERRORS: list[tuple[str, str, Steps]] = [
    ("FailedPrecondition", "Table not initialized", on("HashTable", lambda t: [t.find(["a"])])),
    ("Aborted", "HashTable is not initialized", on("HashTable", lambda t: [t.export()])),
    (
        "FailedPrecondition",
        "Table was already initialized with different data",
        on("HashTable", lambda t: [t.initialize(["a", "b"], [1, 2]), t.initialize(["a"], [1])]),
    ),
    (
        "FailedPrecondition",
        "HashTable has different value for same key. Key a has 1 and trying to add value 2",
        on("HashTable", lambda t: [t.initialize(["a", "a"], [1, 2])]),
    ),
    ("InvalidArgument", "cannot be empty tensors", on("HashTable", lambda t: [t.initialize([], [])])),
    ("InvalidArgument", "cannot be empty tensors", on("HashTable", lambda t: [t.load([], [])])),
    ("Unimplemented", "Insert not supported", on("HashTable", lambda t: [t.insert(["a"], [1])])),
    ("Unimplemented", "Remove not supported", on("HashTable", lambda t: [t.remove(["a"])])),
    (
        "InvalidArgument",
        r"Expected shape \[1\] for value, got \[2\]",
        on("MutableHashTable", lambda t: [t.insert(["a"], [1, 2])]),
    ),
    (
        "InvalidArgument",
        r"Expected shape \[\] or \[1\] for default value, got \[1,1\]",
        on("MutableHashTable", lambda t: [t.find(["a"], [[1]])]),
    ),
    (
        "InvalidArgument",
        "MutableHashTableV2 is not initializable",
        on("MutableHashTable", lambda t: [t.initialize(["a"], [1])]),
    ),
    (
        "InvalidArgument",
        r"Default value must be a vector, got shape \[2,2\]",
        on("MutableHashTableOfTensors", lambda t: [t.size()], value_shape=[2, 2]),
    ),
    (
        "InvalidArgument",
        r"Signature mismatch, have: resource, int32, int64->int64 expected: resource, string, int64->int64",
        on(
            "HashTable",
            lambda t: [t.op("LookupTableFind", keys=[1], default_value=t.tf.constant(0, t.tf.int64))],
        ),
    ),
    (
        "InvalidArgument",
        r"Signature mismatch, have: string_ref, string, float-> expected: string_ref, string, int64->",
        on(
            "MutableHashTable",
            lambda t: [t.op("LookupTableInsert", keys=["a"], values=[1.0])],
            version="",
        ),
    ),
    ("InvalidArgument", "Conflicting key/value dtypes string->float with string-int64", conflicting),
    ("InvalidArgument", "Field 2.5 in line 0 is not a valid int64", read("columns", 1, 2, delimiter=",")),
    (
        "InvalidArgument",
        "Field x in line 0 is not a valid float",
        read("columns", 0, 1, ("string", "float32"), delimiter=","),
    ),
    (
        "InvalidArgument",
        r"Invalid number of columns in columns line 0 \(1,x,2.5\) : expected at least 4 got 3",
        read("columns", 0, 3, delimiter=","),
    ),
    ("InvalidArgument", "delimiter should be only 1 char", read("columns", 0, 1, delimiter=",,")),
    ("InvalidArgument", "Invalid content in gap: empty line found at position 3", read("gap", -2, -1)),
    ("InvalidArgument", "Invalid vocab_size in lines: expected 5", read("lines", -2, -1, vocab_size=5)),
    ("OutOfRange", "Read less bytes|empty has no lines", read("empty", -2, -1)),
    ("OutOfRange", "Finished reading 0 of lines from lines", read("lines", -2, -1, vocab_size=0)),
    ("FailedPrecondition", "Key a has 0 and trying to add value 2", read("twice", -2, -1)),
    ("NotFound", "none", read("none", -2, -1)),
    ("InvalidArgument", "requires table key dtype of int64, got string", read("lines", -1, -1)),
    (
        "InvalidArgument",
        "requires table value dtype of int64, got float",
        read("lines", -2, -1, ("string", "float32")),
    ),
    ("InvalidArgument", "Field foo in line 0 is not a valid int64", read("lines", -2, -2)),
]


@pytest.mark.parametrize(("kind", "message", "build"), ERRORS)
def test_errors(tf: Any, kind: str, message: str, build: Steps) -> None:
    *before, last = build(tf)
    with tf.Session() as session:
        for step in before:
            session.run(step)
        with pytest.raises(getattr(tf.errors, f"{kind}Error"), match=message):
            session.run(last)


def test_shapes_that_the_graph_refuses(tf: Any) -> None:
    table = Made(tf, "HashTable")
    for build in (
        lambda: table.initialize([["a"]], [[1]]),
        lambda: table.initialize(["a"], [1, 2]),
        lambda: table.load(["a"], [1, 2]),
        lambda: table.from_file(["lines"], -2, -1),
    ):
        with pytest.raises(ValueError, match=r"[Dd]imension|rank"):
            build()


def test_a_text_file_must_be_allowed(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(LINES)
    with ours.Graph().as_default():
        step = Made(ours, "HashTable").from_file(str(tmp_path / "lines"), -2, -1)
        with (
            ours.Session(file_policy=FilePolicy("nothing", "nothing")) as session,
            pytest.raises(ours.errors.PermissionDeniedError, match="InitializeTableFromTextFile"),
        ):
            session.run(step)
        with ours.Session(file_policy=FilePolicy((str(tmp_path),), "nothing")) as session:
            session.run(step)
