"""Commands on URLs, with fsspec's file system in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
