"""The state file, and every form of a path that means a checkpoint."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from golden_values import named_values

from sgtool.formats import files, protos, registry
from sgtool.formats.bundle_writer import write_bundle
from sgtool.formats.checkpoint_state import latest_checkpoint, read_state, resolve_prefix
from sgtool.formats.checkpoint_state_writer import write_state
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import DataLossError, MissingFileError

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of TensorFlow's model folder: model.ckpt-1, model.ckpt-2, and a state file that names -2."""
    return Path(shutil.copytree(GOLDEN / "model", tmp_path / "model"))


@pytest.mark.parametrize(
    "form",
    [
        "model.ckpt-2",
        "model.ckpt-2.meta",
        "model.ckpt-2.index",
        "model.ckpt-2.data-00000-of-00001",
        "model.ckpt-2-00000-of-00001",
        "checkpoint",
        "",
        ".",
    ],
)
def test_every_form_is_the_same_checkpoint(folder: Path, form: str) -> None:
    resolved = resolve_prefix(f"{folder}/{form}")
    assert Path(resolved.index).samefile(folder / "model.ckpt-2.index")
    assert resolved.prefix + ".index" == resolved.index
    assert resolved.meta is not None
    assert Path(resolved.meta).samefile(folder / "model.ckpt-2.meta")
    assert sorted(registry.open_store(f"{folder}/{form}")) == sorted(registry.open_store(folder))


def test_relative_paths_and_the_literal_prefix(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert resolve_prefix("model.ckpt-1").prefix == "model.ckpt-1"
    assert resolve_prefix("./model.ckpt-1").prefix == "./model.ckpt-1"
    assert resolve_prefix("checkpoint").prefix == "model.ckpt-2"
    assert latest_checkpoint(".") == "./model.ckpt-2"


@pytest.mark.parametrize("name", ["a[1]*?.ckpt", "dots.in.name.index", "x.meta", "m-00000-of-00001", "ü 1"])
def test_names_are_literal(tmp_path: Path, name: str) -> None:
    write_bundle(tmp_path / name, [entry_of("v", 1.0)])
    assert resolve_prefix(tmp_path / name).prefix == str(tmp_path / name)


def test_empty_base_name(tmp_path: Path) -> None:
    write_bundle(f"{tmp_path}/", [entry_of("v", 1.0)])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".data-00000-of-00001", ".index"]
    for form in (f"{tmp_path}/", str(tmp_path), f"{tmp_path}/.index"):
        assert resolve_prefix(form).prefix == f"{tmp_path}/"
    write_state(tmp_path, "/somewhere/else/")
    assert resolve_prefix(tmp_path).prefix == f"{tmp_path}/"


@pytest.mark.parametrize(
    "named", ["/home/nobody/run/model.ckpt-1", "C:\\Users\\me\\model.ckpt-1", "gone/model.ckpt-1"]
)
def test_a_moved_checkpoint_is_found_beside_its_state_file(folder: Path, named: str) -> None:
    write_state(folder, named)
    resolved = resolve_prefix(folder)
    assert resolved.prefix == str(folder / "model.ckpt-1")
    assert named in resolved.how
    with pytest.warns(
        UserWarning, match=r"Using .*model\.ckpt-1, of the name in .*checkpoint, but beside it"
    ):
        assert latest_checkpoint(folder) == resolved.prefix


def test_else_the_newest_complete_one_and_it_says_so(folder: Path) -> None:
    write_state(folder, "model.ckpt-30")
    os.utime(folder / "model.ckpt-1.index", (2e9, 2e9))
    resolved = resolve_prefix(folder)
    assert resolved.prefix == str(folder / "model.ckpt-1")
    assert "newest complete" in resolved.how
    assert "model.ckpt-30" in resolved.how
    (folder / "model.ckpt-1.data-00000-of-00001").unlink()
    (folder / "checkpoint").unlink()
    assert resolve_prefix(folder).prefix == str(folder / "model.ckpt-2")
    assert latest_checkpoint(folder) is None


def test_of_one_age_the_higher_step_is_newer(tmp_path: Path) -> None:
    for step in (9, 100, 10):
        write_bundle(tmp_path / f"m-{step}", [entry_of("v", 1.0)])
        os.utime(tmp_path / f"m-{step}.index", (1e9, 1e9))
    assert resolve_prefix(tmp_path).prefix == str(tmp_path / "m-100")


@pytest.mark.parametrize("scheme", ["", "file://"])
@pytest.mark.parametrize(
    "form",
    [
        "model/model.ckpt-2",
        "model/model.ckpt-2.index",
        "model/model.ckpt-2.meta",
        "model/model.ckpt-2.data-00000-of-00001",
        "model/model.ckpt-2-00000-of-00001",
        "model/checkpoint",
        "model",
        "saved_model",
        "saved_model/saved_model.pb",
        "saved_model/variables/variables",
    ],
)
def test_a_saver_takes_every_form(form: str, scheme: str) -> None:
    from sgtool import graphcore as tf

    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(str(GOLDEN / "model" / "model.ckpt-2.meta"))
        assert saver is not None
        saver.restore(session, f"{scheme}{GOLDEN / form}")
        assert session.run("layer/w:0").tolist() == [[1], [2]]


@pytest.mark.parametrize(
    "form", ["sharded-?????-of-00002", "sharded-00001-of-00002", "sharded.meta", "", "dtypes"]
)
def test_a_saver_takes_every_form_of_the_first_generation(form: str) -> None:
    from sgtool import graphcore as tf

    with tf.Graph().as_default(), tf.Session() as session:
        name, shape = ("int32/5", [5]) if form == "dtypes" else ("b", [4])
        value = tf.get_variable(name, shape, tf.int32)
        tf.train.Saver().restore(session, f"{GOLDEN}/v1/{form}")
        expected = named_values()[name][1] if form == "dtypes" else np.arange(4)
        assert session.run(value).tolist() == expected.tolist()


@pytest.mark.parametrize("form", ["saved_model.pb", "variables", "variables/", "variables/variables.index"])
def test_every_form_of_a_saved_model(form: str) -> None:
    index = str(GOLDEN / "saved_model/variables/variables.index")
    assert resolve_prefix(GOLDEN / "saved_model" / form).index == index
    assert list(registry.open_store(GOLDEN / "saved_model" / form)) == list(
        registry.open_store(GOLDEN / "saved_model")
    )


@pytest.mark.parametrize("name", ["a[1]*?.ckpt", "x ü", "m-00000-of-00003", "e-?????-of-00001", "x.h5"])
def test_names_of_the_first_generation_are_literal(tmp_path: Path, name: str) -> None:
    shutil.copy(GOLDEN / "slices_v1", tmp_path / name)
    assert "flags" in registry.open_store(tmp_path / name)
    assert resolve_prefix(tmp_path / name).prefix == str(tmp_path / name)


def test_a_moved_first_generation_is_found_beside_its_state_file(tmp_path: Path) -> None:
    for path in (GOLDEN / "v1").glob("sharded*"):
        shutil.copy(path, tmp_path)
    write_state(tmp_path, "/home/nobody/run/sharded-?????-of-00002")
    resolved = resolve_prefix(tmp_path)
    assert resolved.prefix == str(tmp_path / "sharded-?????-of-00002")
    assert "but beside it (/home/nobody/run/sharded-?????-of-00002 does not exist)" in resolved.how
    with pytest.warns(UserWarning, match="but beside it"):
        assert latest_checkpoint(tmp_path) == resolved.prefix
    assert sorted(registry.open_store(tmp_path)) == ["a", "b", "p"]


def test_a_sharded_first_generation_is_found_by_its_prefix(tmp_path: Path) -> None:
    for path in (GOLDEN / "v1").glob("sharded-*"):
        shutil.copy(path, tmp_path)
    assert resolve_prefix(tmp_path / "sharded").prefix == str(tmp_path / "sharded-?????-of-00002")
    assert sorted(registry.open_store(tmp_path / "sharded")) == ["a", "b", "p"]
    (tmp_path / "sharded-00001-of-00002").unlink()
    with pytest.raises(MissingFileError):
        resolve_prefix(tmp_path / "sharded")


def test_saved_model_directory() -> None:
    assert resolve_prefix(GOLDEN / "saved_model").index == str(
        GOLDEN / "saved_model/variables/variables.index"
    )


def test_nothing_there_lists_what_was_looked_for_and_found(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError) as caught:
        resolve_prefix(folder / "model.ckpt")
    assert str(folder / "model.ckpt.index") in str(caught.value)
    assert "model.ckpt-1.meta" in caught.value.fields["found"]
    with pytest.raises(MissingFileError, match=r"directory .* does not exist"):
        resolve_prefix(tmp_path / "no" / "m")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingFileError, match="is empty"):
        resolve_prefix(tmp_path / "empty")
    with pytest.raises(MissingFileError, match="is not part of a checkpoint"):
        resolve_prefix(folder / "graph.pb")


def test_a_name_that_does_not_exist_gets_the_nearest_and_no_listing(folder: Path) -> None:
    for wrong, right in [
        ("modle.ckpt-1", "model.ckpt-1"),
        ("grph.pb", "graph.pb"),
        ("model.ckpt-1.mta", "model.ckpt-1.meta"),
    ]:
        with pytest.raises(MissingFileError, match=": no such file or checkpoint") as caught:
            resolve_prefix(folder / wrong)
        assert f"Did you mean '{folder / right}'" in str(caught.value)
        assert " holds" not in str(caught.value)
        assert len(str(caught.value).splitlines()) == 2


def test_an_empty_state_file_is_called_empty(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_bytes(b"")
    with pytest.raises(MissingFileError, match=r"state file .*checkpoint is empty") as caught:
        resolve_prefix(tmp_path)
    assert "Looked for" not in str(caught.value)


def test_broken_state_files(folder: Path) -> None:
    for content in (b'model_checkpoint_path "x', b"\xff\xfe", b"<html>", b'model_checkpoint_pth: "x"'):
        (folder / "checkpoint").write_bytes(content)
        with pytest.raises(DataLossError, match="is not a checkpoint state file"):
            resolve_prefix(folder)
        with pytest.warns(UserWarning, match="is not a checkpoint state file"):
            assert latest_checkpoint(folder) is None
    (folder / "checkpoint").write_bytes(b"")
    assert resolve_prefix(folder).prefix in (str(folder / "model.ckpt-1"), str(folder / "model.ckpt-2"))


def test_state_as_tensorflow_wrote_it(folder: Path) -> None:
    state = read_state(folder)
    assert state is not None
    assert state.model_checkpoint_path == str(folder / "model.ckpt-2")
    assert state.all_model_checkpoint_paths == (str(folder / "model.ckpt-1"), str(folder / "model.ckpt-2"))
    before = (folder / "checkpoint").read_bytes()
    write_state(folder, "model.ckpt-2", ["model.ckpt-1", "model.ckpt-2"])
    assert (folder / "checkpoint").read_bytes() == before
    assert read_state(folder, "other") is None


STATES = [
    ("/d", "/d/m-1", ["/d/m-1"], False),
    ("/d", "/d/m-2", ["/d/m-1"], True),
    ("/d", "m-2", [], False),
    ("sub", "sub/m-2", ["sub/m-1", "sub/m-2"], False),
    ("sub", "sub/m-2", ["sub/m-1"], True),
    ("sub", "other/m-2", [], False),
    ("sub", "/abs/m-2", ["sub/m-1"], False),
    (".", "m-2", ["m-1"], False),
    ("", "m-2", [], False),
]


@pytest.mark.parametrize(("save_dir", "path", "every", "relative"), STATES)
def test_paths_in_the_state_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    save_dir: str,
    path: str,
    every: list[str],
    relative: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    written: list[bytes] = []
    monkeypatch.setattr(files, "write_bytes", lambda path, data: written.append(data))
    write_state(save_dir, path, every, relative)
    stored = protos.parse_text(protos.CheckpointState, written[0].decode(), "")
    expected = {
        "/d": ["/d/m-1"],
        "sub": ["m-1"],
        ".": ["m-1", "m-2"],
        "": ["m-2"],
    }
    if relative or not path.startswith("/"):
        assert not any(map(os.path.isabs, stored.all_model_checkpoint_paths))
    if (save_dir, path) in (("/d", "/d/m-1"), (".", "m-2"), ("", "m-2")):
        assert list(stored.all_model_checkpoint_paths) == expected[save_dir]
    if path == "other/m-2":
        assert stored.model_checkpoint_path == "../other/m-2"
    assert stored.all_model_checkpoint_paths[-1] == stored.model_checkpoint_path


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("save_dir", "path", "every", "relative"), [s for s in STATES if s[0] not in ("/d", "")]
)
def test_state_files_are_tensorflows(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    save_dir: str,
    path: str,
    every: list[str],
    relative: bool,
) -> None:
    import tensorflow.compat.v1 as tf

    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    write_state(save_dir, path, every, relative)
    ours = (tmp_path / save_dir / "checkpoint").read_bytes()
    from tensorflow.python.checkpoint import checkpoint_management

    checkpoint_management.update_checkpoint_state_internal(save_dir, path, list(every), None, relative)
    assert (tmp_path / save_dir / "checkpoint").read_bytes() == ours
    state = read_state(save_dir)
    assert state is not None
    assert tf.train.get_checkpoint_state(save_dir).model_checkpoint_path == state.model_checkpoint_path


def test_the_state_file_must_not_be_the_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
        write_state(tmp_path, str(tmp_path / "checkpoint"))


def test_first_generation(tmp_path: Path) -> None:
    value = np.arange(600, dtype=np.float32).reshape(200, 3)
    store = registry.open_store(GOLDEN / "slices_v1")
    assert list(store) == ["flags", "half", "part", "step", "wide"]
    np.testing.assert_array_equal(store["part"].read(), value)
    np.testing.assert_array_equal(store["wide"].read(), value[:4])
    assert store["half"].read().tolist() == [[1.5, -2]]
    assert store["step"].read() == -5
    assert store["flags"].read().tolist() == [True, False]
    shutil.copy(GOLDEN / "slices_v1", tmp_path / "e-00000-of-00001")
    (tmp_path / "e.meta").touch()
    (tmp_path / "notes.txt").write_text("not a checkpoint")
    for form in ("e-?????-of-00001", "e-00000-of-00001", "e.meta", ""):
        assert list(registry.open_store(tmp_path / form)) == list(store)
        assert resolve_prefix(tmp_path / form).version == 1


def test_a_state_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of("w", np.zeros(1))])
    (tmp_path / "checkpoint").write_bytes(b'\xef\xbb\xbfmodel_checkpoint_path: "m"\n')
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m")
    assert resolve_prefix(tmp_path / "checkpoint").prefix == str(tmp_path / "m")


def test_a_prefix_of_empty_base_name_is_literal(tmp_path: Path) -> None:
    for suffix in ("index", "data-00000-of-00001"):
        shutil.copy(GOLDEN / "model" / f"model.ckpt-2.{suffix}", tmp_path / f".{suffix}")
    write_state(tmp_path, "/home/nobody/run/")
    literal = resolve_prefix(f"{tmp_path}/")
    assert (literal.prefix, literal.how, literal.stands_in) == (f"{tmp_path}/", "", False)
    assert resolve_prefix(tmp_path).stands_in  # the directory means what its state file names
