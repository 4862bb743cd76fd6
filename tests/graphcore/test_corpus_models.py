"""Published models load, restore, and compute what TensorFlow recorded; recorded training steps too."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_files import model_folders
from corpus_runs import Model

from sgtool.graphcore.compiler import Options

# Those that also run without the compiler's passes.
MODELS = ("siamese_v2", "mtcnn_pnet", "t2o_ae0", "t2o_fc", "t2o_gru", "t2o_lstm", "t2o_regression", "lenet")
TRAINED = ("mtcnn_pnet", "mtcnn_rnet", "siamese_v1", "siamese_v2", "t2o_regression", "tdgammon")


# One has a main op that initializes what was restored, in TensorFlow, too.
@pytest.mark.filterwarnings("ignore:These variables were restored")
@pytest.mark.parametrize("folder", model_folders())
def test_a_model_agrees_with_tensorflow(folder: Path) -> None:
    model = Model(folder)
    assert model.fetches
    lines = model.run()
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("folder", model_folders(*MODELS))
def test_a_model_agrees_without_any_compiler_pass(folder: Path) -> None:
    options = Options(fold=False, simplify=False, free=False, reuse=False, specialize=False)
    lines = Model(folder, options=options).run()
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("folder", model_folders(*TRAINED))
def test_a_recorded_training_step_agrees(folder: Path) -> None:
    lines = Model(folder).train()
    assert not lines, "\n".join(lines)
