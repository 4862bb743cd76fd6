"""What is said of a name of TensorFlow 1's API that is not here."""

from __future__ import annotations


def missing(module: str, name: str) -> AttributeError:
    """The error for attribute `name` of the public module `module` (its `__name__`)."""
    path = ["tf", *module.split(".graphcore.")[1:], name]
    return AttributeError(
        f"module {module!r} has no attribute {name!r}; sgtool may not have {'.'.join(path)} yet"
    )
