"""A SPEC argument: the graph that a YAML or JSON spec, a Python file or a graph file describes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from ..formats import files
from ..formats.errors import InvalidValueError, OpError
from . import render

SPEC_SUFFIXES = (".yaml", ".yml", ".json")
PYTHON_SUFFIX = ".py"


def is_spec(path: str) -> bool:
    """Whether a MODEL argument is a spec (or a Python file that builds a graph), by its suffix."""
    return path.endswith((*SPEC_SUFFIXES, PYTHON_SUFFIX)) and files.is_file(path)


def parse_overrides(texts: Sequence[str]) -> dict[str, Any]:
    """`--set KEY=VALUE`: the value is JSON where it parses, else the text as it stands.

    Raises:
        click.UsageError: No `=`, or a key twice.
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.UsageError(f"--set {text}: write KEY=VALUE, as in --set hidden=128.")
        if key in found:
            raise click.UsageError(f"--set {key} is given more than once.")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def check_overrides(model: str, overrides: Sequence[str]) -> None:
    """Refuses `--set` for what is no spec.

    Raises:
        click.UsageError: There is an override, and nothing to override.
    """
    if overrides and not is_spec(model):
        raise click.UsageError(f"--set overrides parameters of a spec; {model} is none.")


@dataclass(frozen=True, slots=True)
class Built:
    """A graph out of a spec.

    Attributes:
        graph: The `graphcore.Graph`.
        saver: The Saver that it came with, or None.
    """

    graph: Any
    saver: Any = None


def build(path: str, overrides: Mapping[str, Any], seed: int | None = None) -> Built:
    """The graph that a spec describes.

    Args:
        path: A spec, a Python file with `def build(tf)`, or a graph file.
        overrides: Values for the spec's parameters, or keyword arguments of `build`.
        seed: The graph's random seed.

    Raises:
        MissingFileError: No such file.
        InvalidValueError: The spec is wrong; says where.
    """
    from .. import graphcore as tf

    path = files.location(path)
    if not files.is_file(path):
        raise files.missing_file(path)
    if path.endswith(PYTHON_SUFFIX) and files.is_remote(path):
        raise InvalidValueError(
            f"{path} is Python code, which is run from local files only: fetch it, read it, name the copy.",
            path=path,
        )
    if path.endswith(SPEC_SUFFIXES):
        from ..graphcore import spec

        return Built(spec.build_spec(path, dict(overrides), seed=seed))
    graph = tf.Graph()
    saver = None
    with graph.as_default():
        if seed is not None:
            tf.set_random_seed(seed)
        if path.endswith(PYTHON_SUFFIX):
            _call_build(path, overrides)
            return Built(graph)
        if overrides:
            raise click.UsageError(f"--set is for specs and Python files; {path} has no parameters.")
        from . import models

        file = models.graph_of(models.find(path))
        if file.meta_graphs:
            saver = tf.train.import_meta_graph(models.serving_graph(file))
        else:
            tf.import_graph_def(file.message, name="")
    return Built(graph, saver)


@render.prints_aside()
def _call_build(path: str, overrides: Mapping[str, Any]) -> None:
    """Runs `build(tf, **overrides)` of a Python file.

    Raises:
        InvalidValueError: No such function, or the file's own code failed; says in which line.
    """
    import runpy
    import traceback

    from .. import graphcore as tf

    try:
        function = runpy.run_path(path).get("build")
        if callable(function):
            function(tf, **overrides)
    except (OpError, MemoryError):
        raise
    except (
        Exception,
        SystemExit,
    ) as error:  # others' code can raise anything, or end all
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path
        ]
        where = f", line {lines[-1]}" if lines else ""
        raise InvalidValueError(f"{path}{where}: {type(error).__name__}: {error}", path=path) from error
    if not callable(function):
        raise InvalidValueError(
            f"{path} has no function `build`; write `def build(tf): ...` in it.", path=path
        )


def saver_of(built: Built) -> Any:
    """The graph's own Saver, else one for all its variables; None where it has none."""
    from .. import graphcore as tf

    with built.graph.as_default():
        if built.saver is not None or not tf.global_variables():
            return built.saver
        return tf.train.Saver()


def write_graph(built: Built, path: str) -> None:
    """Writes a graph as a MetaGraphDef, with its saver; text where `path` ends in .pbtxt."""
    from .. import graphcore as tf

    saver = saver_of(built)
    text = path.endswith(".pbtxt")
    with built.graph.as_default():
        if saver is not None:
            saver.export_meta_graph(path, as_text=text)
        else:
            tf.train.export_meta_graph(path, as_text=text)


def encode_graph(built: Built) -> bytes:
    """The bytes that `write_graph` writes."""
    from .. import graphcore as tf
    from ..formats import protos

    saver = saver_of(built)
    with built.graph.as_default():
        message = saver.export_meta_graph() if saver is not None else tf.train.export_meta_graph()
    encoded: bytes = protos.encode(message)
    return encoded


@render.prints_aside()
def write_initial(built: Built, prefix: str) -> None:
    """Initialises the variables of a graph and saves them, the graph beside them.

    Raises:
        InvalidValueError: The graph has no variables.
        OpError: The files cannot be written.
    """
    from .. import graphcore as tf

    saver = saver_of(built)
    if saver is None:
        raise InvalidValueError("The graph has no variables to initialise.")
    with built.graph.as_default(), tf.Session(graph=built.graph) as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, prefix)
