"""Running a corpus model and comparing with what TensorFlow recorded in its `expected.npz`.

Keys of `expected.npz`: `feed/NAME`, `fetch/NAME`, and `after/VARIABLE` once one training step has run.
Of a large array only a sample is kept: `sampleidx_KEY` (flat positions) and `sample_KEY` (the values there).
"""

from __future__ import annotations

import base64
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from corpus_files import description

from sgtool import graphcore as tf
from sgtool.cli.sessions import restore_variables
from sgtool.formats import graph_file

RTOL, ATOL = 1e-4, 1e-5
# Rounding errors grow with the terms of a sum, not with what cancellation leaves of them: this model's
# convolutions add 3927 products, and its largest results are about 40. Its ATOL is that many times larger.
# chiron_dna's add 768 and go up to 520; TensorFlow's numbers and ours are equally far from exact ones.
LONG_SUMS = {"MSD_musicnn": 40, "chiron_dna": 5}
# Moving averages that the record of a training step leaves out.
UNRECORDED = {"tdgammon": 3}


class Model:
    """A corpus model, imported into a graph of its own and restored into a session."""

    def __init__(self, folder: Path, **session_options: Any) -> None:
        self.folder = folder
        self.about = description(folder)
        with np.load(folder / "expected.npz") as archive:
            self.expected = {key: archive[key] for key in archive.files}
        self.graph = tf.Graph()
        source = folder / self.about["source"]
        with self.graph.as_default():
            self.session = tf.Session(graph=self.graph, **session_options)
            if self.about["kind"] == "sm":
                tf.saved_model.load(self.session, self.about["tags"], source)
            elif self.about["kind"] == "pb":
                tf.import_graph_def(graph_file.read_graph(source).message, name="")
                if self.about.get("ckpt"):
                    restore_variables(self.graph, self.session, f"{folder}/{self.about['ckpt']}")
            else:
                tf.train.import_meta_graph(source).restore(self.session, f"{folder}/{self.about['ckpt']}")
            self.session.run(self.about.get("initialised_by_assign", []))

    @property
    def feeds(self) -> dict[str, Any]:
        """The recorded feeds by tensor name."""
        feeds: dict[str, Any] = {}
        for row in self.about["feeds"]:
            name = row["tensor"]
            if name in self.about.get("string_feed", ()):
                given = self.about["string_feed"][name]
                values = [base64.b64decode(text) for text in given["values"]]
                feeds[name] = np.array(values, object).reshape(given["shape"])
            else:
                feeds[name] = self.expected[f"feed/{name}"]
        return feeds

    @property
    def fetches(self) -> list[str]:
        """The recorded fetches that depend neither on random ops nor on which assignment comes last."""
        names = [row["tensor"] for row in self.about["fetches"] if not row.get("depends_on_random")]
        written = Counter(self._written(row["tensor"]) for row in self.about["fetches"])
        return [
            name
            for name in names
            if self.recorded(f"fetch/{name}")
            and not (self._written(name) and written[self._written(name)] > 1)
        ]

    def _written(self, name: str) -> str:
        """The variable that a fetched assignment writes, or ""."""
        operation = self.graph.as_graph_element(name)
        operation = getattr(operation, "op", operation)
        return operation.inputs[0].name if operation.type.startswith("Assign") else ""

    def recorded(self, key: str) -> bool:
        """Whether a value, or a sample of it, was recorded."""
        return key in self.expected or f"sample_{key}" in self.expected

    def run(self) -> list[str]:
        """Runs all fetches; gives a line for each that disagrees."""
        values = self.session.run(self.fetches, self.feeds)
        lines = [self.compare(f"fetch/{name}", value) for name, value in zip(self.fetches, values)]
        return [line for line in lines if line]

    def train(self) -> list[str]:
        """Runs the recorded training step; gives a line for each variable, and the loss, that disagrees."""
        record = self.about["train"]
        before = self.session.run(record["loss_tensor"], self.feeds)
        self.session.run(self.graph.get_operation_by_name(record["op"]), self.feeds)
        after = self.session.run(record["loss_tensor"], self.feeds)
        lines = [
            f"{key}: {got} instead of {record[key]}"
            for key, got in (("loss_before", before), ("loss_after", after))
            if not np.allclose(got, record[key], RTOL, ATOL)
        ]
        keys = {key.partition("after/")[2] for key in self.expected if "after/" in key}
        assert len(keys) == record["variables_after"] - UNRECORDED.get(self.folder.name, 0)
        for name in sorted(keys):
            (variable,) = [v for v in self.graph.get_collection("variables") if v.op.name == name]
            lines.append(self.compare(f"after/{name}", self.session.run(variable)))
        return [line for line in lines if line]

    def compare(self, key: str, value: Any) -> str:
        """What disagrees with the recorded value, or ""."""
        got = np.asarray(value)
        if key in self.expected:
            wanted = self.expected[key]
            if got.shape != wanted.shape or got.dtype != wanted.dtype:
                return f"{key}: {got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
        else:
            wanted = self.expected[f"sample_{key}"]
            got = got.reshape(-1)[self.expected[f"sampleidx_{key}"]]
        if wanted.dtype.kind in "fc":
            if np.allclose(got, wanted, RTOL, ATOL * LONG_SUMS.get(self.folder.name, 1), equal_nan=True):
                return ""
            return f"{key}: differs by {np.nanmax(np.abs(got - wanted)):.3g}"
        return "" if np.array_equal(got, wanted) else f"{key}: {np.sum(got != wanted)} elements differ"
