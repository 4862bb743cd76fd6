"""Writing the files of a SavedModel: the graph last, all or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import files, protos, registry, saved_model_writer as writer
from sgtool.formats.checkpoint_state import resolve_prefix
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import (
    AlreadyExistsError,
    InvalidValueError,
    MissingFileError,
    PermissionDeniedError,
    ResourceExhaustedError,
)
from sgtool.formats.graph_file import read_graph


def graph(*tags: str) -> Any:
    meta = protos.MetaGraphDef()
    meta.meta_info_def.tags.extend(tags)
    meta.graph_def.node.add(name="a", op="NoOp")
    return meta


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("text", [False, True])
def test_graph_variables_and_assets_are_read_again(tmp_path: Path, text: bool) -> None:
    (tmp_path / "words.txt").write_bytes(b"one\ntwo\n")
    message = writer.saved_model_of([graph("serve"), graph("serve", "gpu")])
    target = tmp_path / "new" / "model"
    path = writer.write_saved_model(
        target,
        message,
        [entry_of("v", np.arange(3.0)), entry_of("w", np.float32(2))],
        {"words.txt": tmp_path / "words.txt"},
        text=text,
    )
    found = read_graph(target)
    assert (found.path, found.text, found.message) == (path, text, message)
    assert tree(target) == [
        "assets/words.txt",
        "saved_model.pbtxt" if text else "saved_model.pb",
        "variables/variables.data-00000-of-00001",
        "variables/variables.index",
    ]
    assert (target / "assets" / "words.txt").read_bytes() == b"one\ntwo\n"
    store = registry.open_checkpoint(resolve_prefix(found.variables_prefix or ""))
    np.testing.assert_array_equal(store["v"].read(), [0.0, 1.0, 2.0])
    assert store["w"].read() == 2


def test_without_variables_or_assets_there_is_the_graph_alone(tmp_path: Path) -> None:
    writer.write_saved_model(tmp_path, writer.saved_model_of([graph("serve")]))
    assert [path.name for path in tmp_path.iterdir()] == ["saved_model.pb"]


def test_a_directory_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    for kind in (AssertionError, AlreadyExistsError):
        with pytest.raises(kind, match=r"already exists, and isn't empty(.|\n)*It has: notes"):
            writer.write_saved_model(tmp_path, writer.saved_model_of([graph("serve")]))
    assert tree(tmp_path) == ["notes"]


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = writer.saved_model_of([graph("serve")])
    target = tmp_path / "a" / "b"
    entries = [entry_of("v", np.zeros(4))]
    with pytest.raises(MissingFileError):
        writer.write_saved_model(target, message, entries, {"x": tmp_path / "nothing"})
    assert not list(tmp_path.iterdir())

    for failing in ("sync", "replace"):

        def fail(step: str, path: str, failing: str = failing) -> None:
            if step == failing and path.endswith(".pb"):
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(files, "fault_hook", fail)
        with pytest.raises(ResourceExhaustedError, match="No space left"):
            writer.write_saved_model(target, message, entries)
        assert not list(tmp_path.iterdir())


def test_assets_stay_in_their_directory(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with pytest.raises(PermissionDeniedError, match="leads out of"):
        writer.write_saved_model(
            tmp_path / "model", writer.saved_model_of([graph("serve")]), assets={"../x": tmp_path / "x"}
        )
    assert tree(tmp_path) == ["x"]


def test_an_asset_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("first")
    writer.write_assets(tmp_path / "model", {"x": tmp_path / "x"})
    (tmp_path / "x").write_text("second")
    writer.write_assets(tmp_path / "model", {"x": tmp_path / "x", "y": tmp_path / "x"})
    assert (tmp_path / "model" / "assets" / "x").read_text() == "first"
    assert (tmp_path / "model" / "assets" / "y").read_text() == "second"


def test_other_files_of_one_name_get_other_names(tmp_path: Path) -> None:
    paths = []
    for folder, content in (("a", "1"), ("b", "1"), ("c", "2"), ("d", "3")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f").write_text(content)
        paths.append(str(tmp_path / folder / "f"))
    assert list(writer.asset_names(paths).values()) == ["f", "f", "f_1", "f_2"]
    assert writer.asset_names(paths[3:], {"f": paths[0]}) == {paths[3]: "f_1"}


def test_graphs_are_told_apart_by_their_tags() -> None:
    with pytest.raises(InvalidValueError, match=r"graph 1 has no tags\n  graph 2 has the tags of another"):
        writer.saved_model_of([graph("serve"), graph(), graph("serve")])
