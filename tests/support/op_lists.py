"""Writes the lists of op names that `inspect` compares a graph with; `make op-lists` runs it.

    cli/implemented_ops.txt   the ops that can be run here, one a line; a test keeps it equal to the registry
    formats/known_ops.txt     every op of TensorFlow 1.15 and of the installed one, as `known_ops.py` says

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


def line_of(op: Any, known: str = "") -> str:
    """An op's line; of what an older version had, the attributes are kept and the outputs taken."""
    attributes = dict(word.partition("=")[::2] for word in known.partition(" > ")[0].split()[1:])
    for attribute in op.attr:
        default = attribute.default_value
        kind = default.WhichOneof("value")
        value = {"type": default.type, "i": default.i}.get(kind, "") if kind else ""
        attributes[attribute.name] = str(value) if attribute.name in _named_by_outputs(op) else ""
    words = [f"{name}={value}" if value else name for name, value in sorted(attributes.items())]
    outputs = known.partition(" > ")[2] or " ".join(map(_output, op.output_arg))
    return " ".join([op.name, *words, *([">", outputs] if outputs else [])])


def _named_by_outputs(op: Any) -> set[str]:
    return {name for one in op.output_arg for name in (one.type_attr, one.number_attr, one.type_list_attr)}


def _output(argument: Any) -> str:
    if argument.type_list_attr:
        return f"[{argument.type_list_attr}]"
    dtype = argument.type_attr or str(argument.type)
    return f"{argument.number_attr}*{dtype}" if argument.number_attr else dtype


def merged(lines: list[str], op_defs: list[Any]) -> list[str]:
    """The lines with those of other versions of the ops."""
    found = {line.partition(" ")[0]: line for line in lines}
    for op in op_defs:
        found[op.name] = line_of(op, found.get(op.name, ""))
    return [found[name] for name in sorted(found)]


def main(tables: list[str]) -> None:
    """Writes both lists; `tables` are files with a serialized OpList, of other versions of TensorFlow."""
    try:
        op_defs = tensorflow_ops()
    except ImportError:
        IMPLEMENTED.write_text("".join(f"{name}\n" for name in implemented()))
        return
    from tensorflow.core.framework import op_def_pb2

    lines = KNOWN.read_text().splitlines() if KNOWN.exists() else []
    for table in tables:
        lines = merged(lines, list(op_def_pb2.OpList.FromString(Path(table).read_bytes()).op))
    KNOWN.write_text("".join(f"{line}\n" for line in merged(lines, op_defs)))


if __name__ == "__main__":
    main(sys.argv[1:])
