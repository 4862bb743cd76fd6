"""Models of the corpus for the tests of rewrites: opened as messages and entries, and run after a rewrite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus_files import description
from corpus_runs import Model as Recorded

from sgtool import graphcore as tf
from sgtool.cli import rewriting
from sgtool.formats import registry, targets
from sgtool.formats.rewrite import Model


def opened(folder: Path) -> Model:
    """The graph and the variables of a model of the corpus."""
    about = description(folder)
    model = rewriting.read(str(folder / about["source"]))
    if not model.variables and about.get("ckpt") is not None and about["kind"] != "sm":
        prefix = f"{folder}/{about['ckpt']}"
        if about["ckpt"] or Path(f"{prefix}.index").exists():
            model = replace(model, variables=registry.open_store(prefix))
    return model


def run(path: Path, feeds: dict[str, Any], fetches: list[str], init: Any = ()) -> list[Any]:
    """What tensors of a model that was written to `path` are: a checkpoint, a SavedModel or a `.pb`.

    What it is fed and does not have (a placeholder that nothing needs any more) is left out.
    """
    graph = tf.Graph()
    with graph.as_default(), tf.Session(graph=graph) as session:
        if path.is_dir():
            tf.saved_model.load(session, ["serve"], path)
        elif path.suffix in (".pb", ".pbtxt"):
            from sgtool.formats import graph_file

            tf.import_graph_def(graph_file.read_graph(path).message, name="")
        else:
            saver = tf.train.import_meta_graph(f"{path}.meta")
            if Path(f"{path}.index").exists() and saver is not None:
                saver.restore(session, str(path))
        session.run([name for name in init if name in graph._operations])
        there = {name: value for name, value in feeds.items() if name.partition(":")[0] in graph._operations}
        values: list[Any] = session.run(fetches, there)
        return values


def disagreements(
    recorded: Recorded, path: Path, change: Any = lambda name: name, fetches: Any = None
) -> list[str]:
    """A line for each recorded fetch that a rewritten model computes otherwise; `change` renames tensors."""
    names = recorded.fetches if fetches is None else fetches
    feeds = {change(name): value for name, value in recorded.feeds.items()}
    init = [change(name) for name in recorded.about.get("initialised_by_assign", [])]
    values = run(path, feeds, [change(name) for name in names], init)
    lines = [recorded.compare(f"fetch/{name}", value) for name, value in zip(names, values)]
    return [line for line in lines if line]


def written(model: Model, path: Path, name: str | None = None) -> Path:
    """`path`, to which the model is written."""
    targets.write(path, model, name)
    return path
