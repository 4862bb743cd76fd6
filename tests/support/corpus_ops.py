"""Running the corpus's op graphs and comparing with what TensorFlow recorded.

By hand, for all of them or for those whose path has a word in it, a line for each that disagrees:

    python tests/support/corpus_ops.py [WORD ...]

A folder has `graph.pb`, `case.json` (`finals`: its outputs, `fail`: those that TensorFlow refuses) and
`expected.npz` (`feed/NAME:0` and `fetch/NAME:0`).
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sgtool import graphcore as tf
from sgtool.formats import graph_file
from sgtool.graphcore import registry

RTOL, ATOL = {"float16": 2e-3, "bfloat16": 2e-2}, 1e-5


def op_folders(corpus: Path) -> list[Path]:
    """The folders of all op graphs, sorted."""
    return sorted(path.parent for path in (corpus / "ops").rglob("case.json"))


def _reaches_chance(operation: Any, seen: set[Any]) -> bool:
    """Whether a value comes from a random op that was given no seed."""
    if operation in seen:
        return False
    seen.add(operation)
    seeds = [operation.attr(key) for key in ("seed", "seed2") if operation.has_attr(key)]
    op = registry.find(operation.type)
    is_stateful = op is not None and op.definition.stateful
    if is_stateful and seeds and not any(seeds):
        return True
    return any(_reaches_chance(tensor.op, seen) for tensor in operation.inputs)


def disagreements(folder: Path) -> Iterator[str]:
    """A line for each output that is not TensorFlow's."""
    about = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    with np.load(folder / "expected.npz") as archive:
        expected = {key: archive[key] for key in archive.files}
    feeds = {key[len("feed/") :]: value for key, value in expected.items() if key.startswith("feed/")}
    fetches = {key[len("fetch/") :]: value for key, value in expected.items() if key.startswith("fetch/")}
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        tf.import_graph_def(graph_file.read_graph(folder / "graph.pb").message, name="")
        for name, value in zip(fetches, session.run(list(fetches), feeds)):
            tensor = graph.as_graph_element(name)
            yield from _compare(name, tensor, np.asarray(value), fetches[name])
        for name in about.get("fail", ()):
            with contextlib.suppress(tf.errors.OpError):  # may be refused here as well, but not crash
                session.run(name, feeds)


def _compare(name: str, tensor: Any, ours: np.ndarray, theirs: np.ndarray) -> Iterator[str]:
    if ours.shape != theirs.shape:
        yield f"{name}: shape {list(ours.shape)}, not {list(theirs.shape)}"
    elif ours.dtype != theirs.dtype and tensor.dtype != tf.bfloat16:
        yield f"{name}: {ours.dtype}, not {theirs.dtype}"
    elif _reaches_chance(tensor.op, set()):
        return
    elif ours.dtype.kind in "iubSO":
        if not np.array_equal(ours, theirs):
            yield f"{name}: {np.sum(ours != theirs)} of {ours.size} differ"
    else:
        rtol = RTOL.get(tensor.dtype.name, 1e-4)
        wide = np.complex128 if ours.dtype.kind == "c" else np.float64
        a, b = ours.astype(wide), theirs.astype(wide)
        if not np.allclose(a, b, rtol=rtol, atol=ATOL, equal_nan=True):
            yield f"{name}: differs by up to {np.nanmax(np.abs(a - b)):.3g}"


def main(words: list[str]) -> int:
    """Runs the graphs; gives the number that disagree."""
    from corpus_files import CORPUS

    totals: Counter[str] = Counter()
    for folder in op_folders(CORPUS):
        where = str(folder.relative_to(CORPUS / "ops"))
        if words and not any(word in where for word in words):
            continue
        try:
            lines = list(disagreements(folder))
        except tf.errors.UnimplementedError as error:
            lines = [str(error).splitlines()[0]]
        totals["disagree" if lines else "agree"] += 1
        for line in lines:
            print(f"{where}: {line}")
    print(f"{totals['agree']} agree, {totals['disagree']} disagree")
    return totals["disagree"]


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
