"""The corpus's op graphs give TensorFlow's values."""

from pathlib import Path

import pytest
from corpus_files import corpus_params
from corpus_ops import disagreements


@pytest.mark.parametrize("case", corpus_params("ops/**/case.json"))
def test_an_op_graph_agrees_with_tensorflow(case: Path) -> None:
    assert not list(disagreements(case.parent))
