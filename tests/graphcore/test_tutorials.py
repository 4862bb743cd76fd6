"""Programs in the manner of TensorFlow 1's tutorials: what they print and save, in TensorFlow and here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import side_by_side
import tutorials

from sgtool import graphcore as tf


@pytest.mark.parametrize("name", tutorials.PROGRAMS)
def test_prints_what_tensorflow_printed(name: str, tmp_path: Path) -> None:
    golden = (tutorials.GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    tutorials.compare(tutorials.run(tf, name, tmp_path), golden)


@pytest.mark.oracle
@pytest.mark.parametrize("name", tutorials.PROGRAMS)
def test_prints_and_saves_what_tensorflow_does(name: str, tmp_path: Path) -> None:
    folders = tmp_path / "ours", tmp_path / "theirs"
    outputs = []
    for folder, module in zip(folders, (tf, side_by_side.tensorflow())):
        folder.mkdir()
        outputs.append(tutorials.run(module, name, folder))
    tutorials.compare(*outputs)
    ours, theirs = (tutorials.checkpoints(folder) for folder in folders)
    assert ours.keys() == theirs.keys()
    for path, values in ours.items():
        assert values.keys() == theirs[path].keys()
        for key, value in values.items():
            other = theirs[path][key]
            if isinstance(value, bytes) or value.dtype.kind in "Ob":
                np.testing.assert_array_equal(value, other, err_msg=f"{path}: {key}")
                continue
            assert value.dtype == other.dtype
            np.testing.assert_allclose(value, other, rtol=2e-3, atol=2e-4, err_msg=f"{path}: {key}")
