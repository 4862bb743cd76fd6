"""Commands on URLs, with fsspec's file system in memory."""

from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

from sgtool.formats import registry

if TYPE_CHECKING:
    from .conftest import Tool

fsspec = pytest.importorskip("fsspec")
GOLDEN = Path(__file__).parents[1] / "golden"
ROOT = "memory://commands"


@pytest.fixture(autouse=True)
def _files() -> Iterator[None]:
    system = fsspec.filesystem("memory")
    for path in (GOLDEN / "model").iterdir():
        system.pipe_file(f"/commands/model/{path.name}", path.read_bytes())
    yield
    system.store.clear()


@pytest.mark.parametrize(
    "form", ["model", "model/model.ckpt-2", "model/model.ckpt-2.index", "model/checkpoint"]
)
def test_inspect_and_run(sgtool: Tool, form: str) -> None:
    found = sgtool("inspect", f"{ROOT}/{form}", "--json").json
    assert found["prefix"] == f"{ROOT}/model/model.ckpt-2"
    assert len(found["variables"]) == 5
    ran = sgtool("run", f"{ROOT}/{form}", "--fetch", "y:0", "--feed", "x:0=[[1, 2]]", "--json").json
    assert ran["outputs"]["y:0"]["value"] == [5.5]


@pytest.mark.parametrize("name", ["x.npz", "x.h5", "x"])
def test_save_and_restore(sgtool: Tool, name: str) -> None:
    assert sgtool("save", f"{ROOT}/model", "-o", f"{ROOT}/out/{name}").code == 0
    model, target = f"{ROOT}/model/model.ckpt-2.meta", f"{ROOT}/out/restored"
    restored = sgtool("restore", model, f"{ROOT}/out/{name}", "-o", target, "--json").json
    assert len(restored["restored"]) == 5
    for suffix in (".index", ".data-00000-of-00001"):
        ours = fsspec.filesystem("memory").cat_file(f"/commands/out/restored{suffix}")
        assert ours == (GOLDEN / "model" / f"model.ckpt-2{suffix}").read_bytes()


def test_what_is_missing(sgtool: Tool) -> None:
    missing = sgtool("inspect", f"{ROOT}/model/model.ckpt-7")
    assert missing.code == 3
    assert f"{ROOT}/model/model.ckpt-7.index" in missing.err
    unknown = sgtool("inspect", "nosuch://x/y")
    assert unknown.code == 5
    assert "no file system is called nosuch" in unknown.err


def test_every_command_reads_and_writes_urls(sgtool: Tool, linear: Path) -> None:
    system = fsspec.filesystem("memory")
    np.savez("data.npz", x=np.ones((8, 2), np.float32), t=np.ones((8, 1), np.float32))
    for name, data in (("linear.py", linear.read_bytes()), ("data.npz", Path("data.npz").read_bytes())):
        system.pipe_file(f"/commands/{name}", data)
    here = sorted(Path().iterdir())
    assert sgtool("build", "linear.py", "-o", f"{ROOT}/w/graph.meta", "--init", f"{ROOT}/w/start").code == 0
    feeds = ("--feed", f"x={ROOT}/data.npz", "--feed", f"t={ROOT}/data.npz")
    trained = sgtool("train", f"{ROOT}/w/graph.meta", *feeds, "--steps", "3", "-o", f"{ROOT}/w/m")
    assert trained.code == 0, trained.err
    ran = sgtool(
        "run", f"{ROOT}/w/m", "--fetch", "y:0", "--feed", f"x={ROOT}/data.npz", "-o", f"{ROOT}/w/y.npz"
    )
    assert ran.code == 0, ran.err
    assert list(registry.open_store(f"{ROOT}/w/y.npz")) == ["y:0"]
    assert sgtool("verify", f"{ROOT}/w/m", "--json").json["whole"]
    assert sgtool("verify", f"{ROOT}/w").code == 0
    assert sgtool("inspect", f"{ROOT}/w/y.npz", "--json").json["format"] == "npz"
    assert sgtool("save", f"{ROOT}/w/m", "-o", f"{ROOT}/w/m.h5").code == 0
    assert (
        sgtool("restore", f"{ROOT}/w/graph.meta", f"{ROOT}/w/m.h5", "-o", f"{ROOT}/w/again", "--partial").code
        == 0
    )
    whole = system.cat_file("/commands/w/m.data-00000-of-00001")
    system.pipe_file("/commands/w/m.data-00000-of-00001", bytes([whole[0] ^ 1]) + whole[1:])
    damaged = sgtool("verify", f"{ROOT}/w/m", "--salvage", f"{ROOT}/w/rescued", "--json")
    assert damaged.code == 4
    assert list(registry.open_store(f"{ROOT}/w/rescued")) == damaged.json["salvaged"]["written"]
    refused = sgtool("verify", f"{ROOT}/w/m", "--salvage", f"{ROOT}/w/rescued")
    assert (refused.code, "is there already" in refused.err) == (5, True)
    assert sorted(Path().iterdir()) == here  # nothing was written beside


def test_specs(sgtool: Tool, linear: Path) -> None:
    system = fsspec.filesystem("memory")
    system.pipe_file("/commands/linear.py", linear.read_bytes())
    refused = sgtool("build", f"{ROOT}/linear.py", "-o", "g.meta")
    assert (refused.code, "run from local files only" in refused.err) == (5, True)
    missing = sgtool("build", f"{ROOT}/none.yaml", "-o", "g.meta")
    assert missing.err == f"Error: Cannot read {ROOT}/none.yaml: no such file.\n"
    spec = Path(__file__).parents[2] / "sample_models" / "linear.yaml"
    system.pipe_file("/commands/linear.yaml", spec.read_bytes())
    assert sgtool("build", f"{ROOT}/linear.yaml", "-o", f"{ROOT}/g.meta").code == 0
    assert sgtool("build", f"file://{linear}", "-o", "g.meta").code == 0


def test_file_urls(sgtool: Tool, tmp_path: Path) -> None:
    root = f"file://{GOLDEN}/model"
    assert sgtool("inspect", f"{root}/model.ckpt-2", "--json").json["prefix"] == str(
        GOLDEN / "model/model.ckpt-2"
    )
    assert sgtool("save", f"{root}/model.ckpt-2", "-o", f"file://{tmp_path}/w.npz").code == 0
    assert sgtool("restore", f"{root}/model.ckpt-2.meta", f"file://{tmp_path}/w.npz", "-o", "again").code == 0
    assert sgtool("verify", f"file://{tmp_path}/again").code == 0
    assert sgtool("run", f"file://{tmp_path}/again", "--fetch", "y:0", "--feed", "x:0=[[1, 2]]").code == 0


@pytest.mark.parametrize(("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs")])
def test_a_missing_driver(scheme: str, package: str, sgtool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for words in (("inspect",), ("verify",), ("run", "--fetch", "y:0"), ("save", "-o", "x.npz")):
        result = sgtool(words[0], f"{scheme}://bucket/m", *words[1:])
        assert result.code == 6
        assert f"Install it: pip install {package}." in result.err


PAGE = b"<!DOCTYPE html><html><body>No such file, with a smile.</body></html>"


class Smiling(http.server.BaseHTTPRequestHandler):
    """Answers 200 with a page where there is no file below the current directory."""

    kind: ClassVar[str] = "text/html"

    def log_message(self, *_: Any) -> None:
        """The base class writes each request to stderr."""

    def do_HEAD(self) -> None:
        self._answer(self.command == "GET")

    do_GET = do_HEAD

    def _answer(self, content: bool) -> None:
        file = Path(self.path.lstrip("/"))
        page = not file.is_file()
        body = PAGE if page else file.read_bytes()
        wanted = None if page else self.headers.get("Range")
        self.send_response(206 if wanted else 200)
        if wanted:
            first, last = map(int, wanted.removeprefix("bytes=").split("-"))
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
            body = body[first : last + 1]
        self.send_header("Content-Type", self.kind if page else "application/octet-stream")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if content:
            self.wfile.write(body)


@pytest.fixture
def smiling() -> Iterator[str]:
    pytest.importorskip("aiohttp")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Smiling) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("kind", ["text/html", "application/octet-stream"])
@pytest.mark.parametrize("gone", ["", ".index", ".data-00000-of-00001", ".meta"])
def test_a_server_with_a_page_for_every_missing_file(
    kind: str, gone: str, smiling: str, sgtool: Tool, linear: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Smiling, "kind", kind)
    assert sgtool("build", linear, "-o", "m.meta", "--init", "m").code == 0
    if gone:
        Path(f"m{gone}").unlink()
    for form in ("m", "m.meta", "m.index"):
        for words in (
            ["inspect", "URL"],
            ["inspect", "URL", "--values", "w"],
            ["verify", "URL"],
            ["save", "URL", "-o", "out"],
            ["run", "URL", "--fetch", "y:0", "--feed", "x:0=[[1, 2]]"],
        ):
            if gone == ".meta" and words[0] == "run":
                continue  # there is no graph to run
            result = sgtool(*(f"{smiling}/{form}" if word == "URL" else word for word in words))
            assert result.code == (0 if gone in ("", ".meta") else 4), (form, words, result.err)
            if gone in (".index", ".data-00000-of-00001"):
                told = result.out + result.err
                assert f"{smiling}/m{gone}" in told
                assert "answers with a page (HTML)" in told
