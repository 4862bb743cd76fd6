"""`tf.train.write_graph`: a graph into a file, by directory and name."""

from __future__ import annotations

import os
from typing import Any

from ..formats import files, protos
from .graph import Graph


def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Writes a graph.

    Args:
        graph_or_graph_def: A Graph or a GraphDef.
        logdir: The directory, made where it is missing.
        name: The file's name.
        as_text: Write text; else binary.

    Returns:
        The path.

    Raises:
        OpError: The file cannot be written.
    """
    message = graph_or_graph_def
    if isinstance(graph_or_graph_def, Graph):
        message = graph_or_graph_def.as_graph_def()
    if not files.is_remote(logdir):
        files.make_directory(logdir, parents=True)
    path = os.path.join(logdir, name)
    files.write_bytes(path, protos.format_text(message).encode() if as_text else protos.encode(message))
    return path
