"""What every test needs: no ambient settings, and a count of the corpus tests that were skipped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from corpus_files import ABSENT, CORPUS, corpus_present

# A TensorFlow that is asked has TensorFlow 1's layers and cells only with the Keras of its time.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")


@pytest.fixture(autouse=True, scope="session")
def _no_bare_packages() -> Iterator[None]:
    """The folders are importable as `sgtool.…` only: a bare name would be somebody else's module."""
    yield
    bare = {"cli", "formats", "graphcore", "sample_models"} & set(sys.modules)
    assert not bare, f"imported without the `sgtool.` prefix: {sorted(bare)}"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SGTOOL_MODEL", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PYTHONWARNINGS"):
        monkeypatch.delenv(name, raising=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [
        report for report in terminalreporter.stats.get("skipped", []) if ABSENT in str(report.longrepr)
    ]
    state = "present" if corpus_present() else "absent"
    terminalreporter.write_line(f"corpus {state} at {CORPUS}: {len(skipped)} corpus tests skipped")
