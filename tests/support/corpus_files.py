"""Where the published models are, for the tests that use them.

The corpus is no part of the repository: `$SGTOOL_CORPUS`, by default `../shared/corpus` beside it.
A test that needs it takes its files through `corpus_params`; where the corpus is absent the test
is skipped, and the run says how many were.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("SGTOOL_CORPUS") or REPOSITORY.parent / "shared" / "corpus")
ABSENT = "corpus absent"
GRAPH_SUFFIXES = frozenset({".meta", ".pb", ".pbtxt", ".index"})


def corpus_present() -> bool:
    """Whether the corpus is on this machine."""
    return (CORPUS / "models").is_dir()


def corpus_params(pattern: str, limit: int | None = None) -> list[Any]:
    """One pytest parameter for each corpus path that matches the glob `pattern`, sorted.

    Where the corpus is absent there is a single parameter that skips; where it is present and
    nothing matches, the collection fails: a pattern that finds nothing tests nothing.
    """
    if not corpus_present():
        skip = pytest.mark.skip(reason=f"{ABSENT}: {CORPUS} (set SGTOOL_CORPUS)")
        return [pytest.param(CORPUS, marks=[pytest.mark.corpus, skip], id="absent")]
    found = sorted(CORPUS.glob(pattern))[:limit]
    if not found:
        raise FileNotFoundError(f"no {pattern} in {CORPUS}")
    return [pytest.param(p, marks=pytest.mark.corpus, id=str(p.relative_to(CORPUS))) for p in found]


def model_folders(*names: str) -> list[Any]:
    """One pytest parameter for each named folder under `models/`, by default for every one."""
    return [param for name in names or ("*",) for param in corpus_params(f"models/{name}")]


def description(folder: Path) -> dict[str, Any]:
    """The `model.json` of a model folder."""
    result: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    return result
