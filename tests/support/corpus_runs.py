"""Running a corpus model and comparing with what TensorFlow recorded in its `expected.npz`.

Keys of `expected.npz`: `feed/NAME`, `fetch/NAME`, and `after/VARIABLE` once one training step has run.
Of a large array only a sample is kept: `sampleidx_KEY` (flat positions) and `sample_KEY` (the values there).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from corpus_files import description

from sgtool import graphcore as tf
from sgtool.formats import graph_file

RTOL, ATOL = 1e-4, 1e-5


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
            found = graph_file.read_graph(source)
            saver = None
            if found.kind == "graph_def":
                tf.import_graph_def(found.message, name="")
            else:
                saver = tf.train.import_meta_graph(found.meta_graphs[0])
            self.session = tf.Session(graph=self.graph, **session_options)
            if saver is not None:
                saver.restore(self.session, str(folder / self.about["ckpt"]))
            self.session.run(self.about.get("initialised_by_assign", []))

    @property
    def feeds(self) -> dict[str, Any]:
        """The recorded feeds by tensor name."""
        return {row["tensor"]: self.expected[f"feed/{row['tensor']}"] for row in self.about["feeds"]}

    @property
    def fetches(self) -> list[str]:
        """The recorded fetches that do not depend on random ops."""
        skipped = set(self.about.get("random_fetches", ()))
        return [row["tensor"] for row in self.about["fetches"] if row["tensor"] not in skipped]

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
        assert len(keys) == record["variables_after"]
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
            if np.allclose(got, wanted, RTOL, ATOL, equal_nan=True):
                return ""
            return f"{key}: differs by {np.nanmax(np.abs(got - wanted)):.3g}"
        return "" if np.array_equal(got, wanted) else f"{key}: {np.sum(got != wanted)} elements differ"
