"""Paths that are URLs: the same results, and no more bytes read than are needed."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from sgtool.formats import checkpoint_state, checkpoint_state_writer, files, registry, remote, summary
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import (
    DataLossError,
    InvalidValueError,
    MissingExtraError,
    MissingFileError,
    OpError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)

fsspec = pytest.importorskip("fsspec")
GOLDEN = Path(__file__).parents[1] / "golden"
ROOT = "memory://remote"


class Log(list[tuple[str, int]]):
    """What was read: (file, bytes) of each request."""

    def of(self, suffix: str) -> int:
        return sum(size for path, size in self if path.endswith(suffix))


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """The golden files in a file system in memory that counts what is read of it."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    for path in GOLDEN.rglob("*"):
        if path.is_file():
            system.pipe_file(f"/remote/{path.relative_to(GOLDEN)}", path.read_bytes())
    read = Log()
    original = type(system).cat_file

    def cat_file(
        self: Any, path: str, start: int | None = None, end: int | None = None, **more: Any
    ) -> bytes:
        data: bytes = original(self, path, start=start, end=end, **more)
        read.append((path, len(data)))
        return data

    monkeypatch.setattr(type(system), "cat_file", cat_file)
    yield read
    system.store.clear()


@pytest.mark.parametrize(
    "form",
    [
        "model/model.ckpt-2",
        "model/model.ckpt-2.index",
        "model/model.ckpt-2.meta",
        "model/model.ckpt-2.data-00000-of-00001",
        "model/checkpoint",
        "model",
        "saved_model",
        "tf2/saved_model",
        "slices_v1",
        "v1",
        "v1/sharded.meta",
        "v1/sharded-?????-of-00002",
        "keras.h5",
        "model/graph.pb",
        "dtypes",
    ],
)
def test_a_url_gives_what_the_file_gives(log: Log, form: str) -> None:
    def neutral(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: neutral(one) for key, one in value.items()}
        return value.replace(str(GOLDEN), ROOT) if isinstance(value, str) else value

    found = neutral(summary.summarise(GOLDEN / form))
    found.pop("checkpoints", None)  # of a remote directory the others are not looked for
    assert summary.summarise(f"{ROOT}/{form}") == found
    if not form.endswith("graph.pb"):
        here, there = registry.open_store(f"{GOLDEN}/{form}"), registry.open_store(f"{ROOT}/{form}")
        assert list(here) == list(there)
        for name, entry in there.items():
            assert entry.read().tolist() == here[name].read().tolist()


def test_inspecting_reads_the_index_only(log: Log) -> None:
    registry.write_store(
        f"{ROOT}/big", [entry_of(f"v{i}", np.full(10_000, i, np.float32)) for i in range(20)]
    )
    log.clear()
    assert len(summary.summarise(f"{ROOT}/big")["variables"]) == 20
    assert log.of(".data-00000-of-00001") == 0
    assert log.of(".index") < 2000


def test_reading_some_reads_their_bytes(log: Log) -> None:
    registry.write_store(
        f"{ROOT}/big", [entry_of(f"v{i}", np.full(10_000, i, np.float32)) for i in range(20)]
    )
    store = registry.open_store(f"{ROOT}/big")
    log.clear()
    assert store["v3"].read()[0] == 3
    assert store["v17"].read()[9_999] == 17
    assert log == [("/remote/big.data-00000-of-00001", 40_000)] * 2


def write_big(name: str, count: int, size: int) -> None:
    entries = [entry_of(f"v{i}", np.full(size, i, np.float32)) for i in range(count)]
    registry.write_store(f"{ROOT}/{name}", entries)


@pytest.mark.parametrize("name", ["big.npz", "big.h5", "big.safetensors"])
def test_archives_are_read_in_part(log: Log, name: str) -> None:
    if name.endswith("safetensors"):
        pytest.importorskip("safetensors")
    registry.write_store(
        f"{ROOT}/{name}", [entry_of(f"v{i}", np.full(50_000, i, np.float32)) for i in range(40)]
    )
    log.clear()
    store = registry.open_store(f"{ROOT}/{name}")
    assert len(store) == 40
    assert store["v3"].read()[0] == 3
    size = files.file_size(f"{ROOT}/{name}")
    assert size > 8_000_000
    assert log.of(name) < size / (2 if name.endswith("npz") else 4)


def test_first_generation_reads_blocks(log: Log) -> None:
    content = files.open_content(f"{ROOT}/v1/dtypes")
    log.clear()
    assert content.size == (GOLDEN / "v1" / "dtypes").stat().st_size
    assert bytes(content.view(10, 5)) == (GOLDEN / "v1" / "dtypes").read_bytes()[10:15]
    assert log == [("/remote/v1/dtypes", 5)]


def test_writing_replaces_remote_files(log: Log) -> None:
    registry.write_store(f"{ROOT}/new/m", [entry_of("a", 1.0)], b"graph")
    registry.write_store(f"{ROOT}/new/m", [entry_of("a", 2.0)], b"graph 2")
    assert registry.open_store(f"{ROOT}/new/m")["a"].read() == 2
    assert files.read_bytes(f"{ROOT}/new/m.meta") == b"graph 2"
    assert files.list_directory(f"{ROOT}/new") == ["m.data-00000-of-00001", "m.index", "m.meta"]
    assert checkpoint_state.complete_checkpoints(f"{ROOT}/new") == [f"{ROOT}/new/m"]
    checkpoint_state_writer.write_state(f"{ROOT}/new", f"{ROOT}/new/m")
    assert checkpoint_state.latest_checkpoint(f"{ROOT}/new") == f"{ROOT}/new/m"
    files.remove_file(f"{ROOT}/new/m.meta")
    assert not files.is_file(f"{ROOT}/new/m.meta")
    files.make_directory(f"{ROOT}/else")


def test_a_failed_write_uploads_nothing(log: Log) -> None:
    def write() -> None:
        with files.atomic_files() as replacement:
            replacement.open(f"{ROOT}/half").write(b"x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert not files.is_file(f"{ROOT}/half")


def test_file_urls_are_local_paths(tmp_path: Path) -> None:
    registry.write_store(f"file://{tmp_path}/m", [entry_of("a", 1.0)])
    assert (tmp_path / "m.index").is_file()
    assert registry.open_store(f"file://{tmp_path}/m")["a"].read() == 1
    assert not files.is_remote(f"file://{tmp_path}/m")
    assert summary.summarise(f"file://{tmp_path}/m") == summary.summarise(tmp_path / "m")


def test_missing_files_name_the_nearest(log: Log) -> None:
    with pytest.raises(MissingFileError, match=r"/kears\.h5: no such file. Did you mean 'keras.h5'"):
        files.read_bytes(f"{ROOT}/kears.h5")
    with pytest.raises(MissingFileError, match=r"Looked for memory://remote/nothing\.index"):
        registry.open_store(f"{ROOT}/nothing")


def test_what_a_file_system_raises_becomes_ours(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    system = type(fsspec.filesystem("memory"))
    cases: list[tuple[Exception, type[OpError], str]] = [
        (PermissionError("403"), PermissionDeniedError, "permission denied"),
        (ConnectionResetError("gone"), UnavailableError, "gone"),
        (RuntimeError(), UnavailableError, "RuntimeError"),
        (ImportError("Install s3fs"), MissingExtraError, "Install s3fs"),
    ]
    for error, kind, text in cases:

        def fail(*_: Any, error: Exception = error, **__: Any) -> bytes:
            raise error

        monkeypatch.setattr(system, "cat_file", fail)
        with pytest.raises(kind, match=text) as caught:
            files.read_bytes(f"{ROOT}/keras.h5")
        assert f"{ROOT}/keras.h5" in str(caught.value)
    with pytest.raises(InvalidValueError, match="no file system is called nosuch"):
        files.read_bytes("nosuch://bucket/x")


def test_damage_is_found(log: Log) -> None:
    data = bytearray((GOLDEN / "slices.data-00000-of-00001").read_bytes())
    data[40] ^= 1
    fsspec.filesystem("memory").pipe_file("/remote/slices.data-00000-of-00001", bytes(data))
    with pytest.raises(DataLossError, match="Checksum does not match"):
        registry.open_store(f"{ROOT}/slices")["part"].read()
    fsspec.filesystem("memory").pipe_file("/remote/slices.data-00000-of-00001", bytes(data[:9]))
    with pytest.raises(DataLossError, match="Read less bytes than requested"):
        registry.open_store(f"{ROOT}/slices")["part"].read()


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("s3://b/x", True),
        ("a::s3://b/x", True),
        ("/tmp/a://b", False),
        ("C:\\x", False),
        ("x", False),
        ("://x", False),
    ],
)
def test_what_is_a_url(path: str, url: bool) -> None:
    assert remote.is_url(path) is url


def test_a_policy_knows_urls() -> None:
    policy = files.FilePolicy(allow_read=("memory://a/b",))
    policy.check_read("memory://a/b/c")
    for refused in ("memory://a/bc", "memory://a/b/../c", "s3://a/b", "/a/b"):
        with pytest.raises(PermissionDeniedError):
            policy.check_read(refused)


class Web(http.server.SimpleHTTPRequestHandler):
    """The golden files on the web, by ranges or only whole."""

    ranges = True
    sizes = True
    lists = False
    answer = 404
    """What is said where there is nothing."""
    sent: ClassVar[Log] = Log()
    requests: ClassVar[list[str]] = []

    def log_message(self, *_: Any) -> None:
        """The base class writes each request to stderr."""

    def translate_path(self, path: str) -> str:
        return f"{GOLDEN}{path}"

    def do_HEAD(self) -> None:
        self.requests.append(self.path)
        file = Path(self.translate_path(self.path))
        if file.is_dir() and self.lists:
            super().do_HEAD()
        elif file.is_file():
            self.send_response(200)
            if self.sizes:
                self.send_header("Content-Length", str(file.stat().st_size))
            self.send_header("Accept-Ranges", "bytes" if self.ranges else "none")
            self.end_headers()
        else:
            self.send_error(self.answer)

    def do_GET(self) -> None:
        self.requests.append(self.path)
        file = Path(self.translate_path(self.path))
        if file.is_dir() and self.lists:
            super().do_GET()
            return
        if not file.is_file():
            self.send_error(self.answer)
            return
        body, wanted = file.read_bytes(), self.headers.get("Range")
        if wanted and self.ranges and self.sizes:
            first, last = map(int, wanted.removeprefix("bytes=").split("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
            body = body[first : last + 1]
        else:
            self.send_response(200)
        self.sent.append((self.path, len(body)))
        if self.sizes:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def web() -> Iterator[str]:
    pytest.importorskip("aiohttp")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        Web.sent.clear()
        Web.requests.clear()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize(
    "form", ["slices", "slices.index", "model/model.ckpt-2.meta", "slices_v1", "keras.h5"]
)
def test_files_on_the_web(web: str, monkeypatch: pytest.MonkeyPatch, form: str, ranges: bool) -> None:
    monkeypatch.setattr(Web, "ranges", ranges)
    with files.remembered():
        here, there = registry.open_store(GOLDEN / form), registry.open_store(f"{web}/{form}")
        assert list(here) == list(there)
        for name, entry in there.items():
            assert entry.read().tolist() == here[name].read().tolist()
    if form == "slices" and ranges:  # small files, each read once, and whole
        for kind in ("index", "data-00000-of-00001"):
            assert Web.sent.of(f"slices.{kind}") == (GOLDEN / f"slices.{kind}").stat().st_size


def test_what_is_not_on_the_web(web: str) -> None:
    with pytest.raises(MissingFileError, match=r"Looked for http://.*/nothing\.index\.\nNothing is listed"):
        registry.open_store(f"{web}/nothing")
    with pytest.raises(MissingFileError, match="no such file"):
        files.read_bytes(f"{web}/nothing")


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize("form", ["model", "model/", "model/checkpoint", "saved_model", "saved_model/"])
def test_directories_on_the_web(web: str, monkeypatch: pytest.MonkeyPatch, form: str, lists: bool) -> None:
    monkeypatch.setattr(Web, "lists", lists)
    here, there = summary.summarise(GOLDEN / form), summary.summarise(f"{web}/{form}")
    assert there["variables"] == here["variables"]
    assert there["prefix"].removeprefix(web) == here["prefix"].removeprefix(str(GOLDEN))
    assert files.is_directory(f"{web}/{form}") == (not form.endswith("checkpoint"))


def test_what_a_page_of_the_web_lists(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Web, "lists", True)
    here = registry.open_store(GOLDEN / "v1" / "sharded")  # names of shards are found in the list
    for form in ("v1/sharded", "v1/sharded.meta", "v1/sharded-00000-of-00002"):
        assert list(registry.open_store(f"{web}/{form}")) == list(here), form
    assert "model.ckpt-2.index" in files.list_directory(f"{web}/model")
    with pytest.raises(MissingFileError, match=r"Did you mean 'http://.*/dtypes'"):
        registry.open_store(f"{web}/dtype")
    monkeypatch.setattr(Web, "lists", False)
    assert files.list_directory(f"{web}/model") == []


def test_a_page_is_no_model(web: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Web, "translate_path", lambda self, path: f"{tmp_path}{path}")
    monkeypatch.setattr(Web, "lists", True)
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        MissingFileError, match=r"/empty is a page \(HTML\) or a directory that is not listed"
    ):
        registry.open_store(f"{web}/empty")


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (401, MissingFileError, "nothing.index: the server answers 401 Unauthorized"),
        (403, MissingFileError, "nothing.index: the server answers 403 Forbidden"),
        (500, UnavailableError, "the server answers 500 Internal Server Error"),
        (503, UnavailableError, "the server answers 503 Service Unavailable"),
    ],
)
def test_what_a_server_answers_is_told(
    web: str, monkeypatch: pytest.MonkeyPatch, answer: int, kind: type[OpError], says: str
) -> None:
    monkeypatch.setattr(Web, "answer", answer)
    for look in (registry.open_store, summary.summarise, checkpoint_state.resolve_prefix):
        with pytest.raises(kind, match=says):
            look(f"{web}/nothing")
    if kind is MissingFileError:  # a server that hides what is not there is one to work with
        assert list(registry.open_store(f"{web}/slices")) == list(registry.open_store(GOLDEN / "slices"))
    with pytest.raises((PermissionDeniedError, UnauthenticatedError, UnavailableError), match=says[-20:]):
        files.read_bytes(f"{web}/nothing")


def test_a_server_that_is_not_there(web: str) -> None:
    with pytest.raises(UnavailableError, match=r"Cannot connect to host 127\.0\.0\.1:9"):
        registry.open_store("http://127.0.0.1:9/m")


@pytest.mark.parametrize("form", ["model/checkpoint", "model/model.ckpt-2", "slices_v1", "saved_model/"])
def test_nothing_is_asked_twice_while_it_is_remembered(web: str, form: str) -> None:
    with files.remembered():
        summary.summarise(f"{web}/{form}")
        list(registry.open_store(f"{web}/{form}"))
    counts = Counter(Web.requests)
    assert max(counts.values()) <= 2, counts  # the headers and the content, of what is there
    asked = len(Web.requests)
    registry.open_store(f"{web}/{form}")
    assert len(Web.requests) > asked


@pytest.mark.parametrize(
    "form", ["slices", "slices_v1", "keras.h5", "model/checkpoint", "model/model.ckpt-2.meta"]
)
def test_a_server_that_says_no_sizes(web: str, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr(Web, "sizes", False)
    with files.remembered():
        there, here = registry.open_store(f"{web}/{form}"), registry.open_store(GOLDEN / form)
        assert list(there) == list(here)
        for name, entry in there.items():
            assert entry.read().tolist() == here[name].read().tolist()
    wholes = Counter(path for path, _ in Web.sent)
    assert max(wholes.values()) <= 3, wholes  # two begin, to ask for the size; one is read


def test_what_was_written_is_not_remembered_as_it_was(log: Log) -> None:
    with files.remembered():
        assert not files.is_file(f"{ROOT}/new.npz")
        registry.write_store(f"{ROOT}/new.npz", [entry_of("a", 1.0)])
        assert registry.open_store(f"{ROOT}/new.npz")["a"].read() == 1
        files.remove_file(f"{ROOT}/new.npz")
        assert not files.is_file(f"{ROOT}/new.npz")


def test_the_web_is_only_read(web: str) -> None:
    def never() -> Any:
        pytest.fail("read before it is known where to write")

    entries = (never() for _ in range(1))
    with pytest.raises(UnimplementedError, match="the web is only read"):
        registry.write_store(f"{web}/x.npz", entries)


@pytest.mark.parametrize(("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs")])
def test_a_missing_driver_is_named(scheme: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=f"{scheme}:// needs a package.*pip install {package}"):
        registry.open_store(f"{scheme}://bucket/m")


def test_local_paths_do_not_import_fsspec() -> None:
    code = (
        "import sys; from sgtool.formats import registry, summary;"
        f"summary.summarise({str(GOLDEN / 'slices')!r}); registry.open_store({str(GOLDEN / 'keras.h5')!r});"
        "print(sorted({'fsspec', 'safetensors'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_mistake_in_code_is_no_answer_of_a_server(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    system = fsspec.filesystem("memory")
    monkeypatch.setattr(type(system), "cat_file", lambda *_, **__: len(None))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        files.read_bytes(f"{ROOT}/slices.index")
