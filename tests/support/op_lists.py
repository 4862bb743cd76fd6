"""Writes the lists of op names that `inspect` compares a graph with; `make op-lists` runs it.

    cli/implemented_ops.txt   the ops that can be run here, one a line; a test keeps it equal to the registry
    formats/known_ops.txt     every op of TensorFlow 1.15 and of the installed one, with its attributes

The second is written only where TensorFlow can be imported, and only grows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
IMPLEMENTED = REPOSITORY / "cli" / "implemented_ops.txt"
KNOWN = REPOSITORY / "formats" / "known_ops.txt"


def implemented() -> list[str]:
    """The registry's ops, sorted."""
    from sgtool.graphcore import ops, registry  # noqa: F401

    return [op.name for op in registry.all_ops()]


def tensorflow_ops() -> list[Any]:
    """The OpDefs of the installed TensorFlow."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    buffer = pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    return list(op_def_pb2.OpList.FromString(buffer).op)


def merged(lines: list[str], op_defs: list[Any]) -> list[str]:
    """`Name attribute attribute` of each op of either."""
    found = {name: set(rest) for name, *rest in map(str.split, lines)}
    for op in op_defs:
        found.setdefault(op.name, set()).update(attribute.name for attribute in op.attr)
    return [" ".join([name, *sorted(attributes)]) for name, attributes in sorted(found.items())]


def main(tables: list[str]) -> None:
    """Writes both lists; `tables` are files with a serialized OpList, of other versions of TensorFlow."""
    try:
        op_defs = tensorflow_ops()
    except ImportError:
        IMPLEMENTED.write_text("".join(f"{name}\n" for name in implemented()))
        return
    from tensorflow.core.framework import op_def_pb2

    for table in tables:
        op_defs += op_def_pb2.OpList.FromString(Path(table).read_bytes()).op
    lines = KNOWN.read_text().splitlines() if KNOWN.exists() else []
    KNOWN.write_text("".join(f"{line}\n" for line in merged(lines, op_defs)))


if __name__ == "__main__":
    main(sys.argv[1:])
