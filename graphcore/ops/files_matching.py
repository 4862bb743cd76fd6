"""Names of files that match patterns.

Source: tensorflow/core/kernels/matching_files_op.cc, core/platform/file_system_helper.cc and
kernels/data/experimental/matching_files_dataset_op.cc (r1.15), behaviour only.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...formats import files
from ..datasets import Dataset, Rows, Source
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op
from ..shapes import Shape, format_shape
from .dataset import dataset_op
from .string import text_of

_MAGIC = re.compile(r"[*?\[\\]")


def matching(ctx: Any, pattern: str, who: str) -> list[str]:
    """The names that match, sorted; `*`, `?` and `[...]` match within one directory.

    Args:
        ctx: The run's context, whose policy must allow to read the directory, and each file.
        pattern: The pattern.
        who: Who asks, for messages.
    """
    head, _ = os.path.split(pattern)
    while _MAGIC.search(head):
        head, _ = os.path.split(head)
    ctx.policy.check_read(head or ".", who)
    return sorted(_matches(pattern))


def _matches(pattern: str) -> Iterator[str]:
    head, tail = os.path.split(pattern)
    if not _MAGIC.search(pattern):
        if files.is_file(pattern) or files.is_directory(pattern):
            yield pattern
        return
    heads = _matches(head) if _MAGIC.search(head) else iter([head])
    for directory in heads:
        if not files.is_directory(directory or "."):
            continue
        for name in files.list_directory(directory or "."):
            if fnmatch.fnmatchcase(name, tail):
                yield os.path.join(directory, name)


def _all(ctx: Any, patterns: Any, node: Any) -> list[str]:
    if np.ndim(patterns) > 1:
        raise InvalidArgumentError(
            f"Input patterns tensor must be scalar or vector, but had shape: "
            f"{format_shape(np.shape(patterns))}"
        )
    who = f"node '{node.name}' (op {node.type})"
    found = [matching(ctx, text_of(each), who) for each in np.reshape(patterns, -1).tolist()]
    return sorted(name for names in found for name in names)


@op("MatchingFiles", "pattern: string -> filenames: string", ctx=True, no_grad="strings have no derivative")
def matching_files_op(ctx: Any, pattern: Any, *, node: Any) -> Any:
    """The names of all files that match patterns, sorted."""
    names = _all(ctx, pattern, node)
    result = np.empty(len(names), object)
    result[:] = [name.encode("utf-8", "surrogateescape") for name in names]
    return result


@matching_files_op.shape
def _(node: Any) -> Shape:
    given = node.shape(0)
    if given is not None and len(given) > 1:
        raise InvalidValueError(f"Shape must be at most rank 1 but is rank {len(given)}")
    return (None,)


@dataset_op(
    "MatchingFilesDataset",
    "patterns: string -> handle: variant",
    experimental=True,
    stateful=True,
)
def matching_files_dataset(patterns: Any, *, node: Any) -> Any:
    """The names of all files that match patterns, sorted."""

    def rows(source: Source) -> Rows:
        for name in _all(source.ctx, patterns, node):
            yield (np.array(name.encode("utf-8", "surrogateescape"), object),)

    return Dataset(rows)


def matching_files(pattern: Any, name: str | None = None) -> Any:
    """`tf.io.matching_files`: the names of all files that match patterns, sorted.

    Args:
        pattern: One pattern or a vector; `*`, `?` and `[...]` match within one directory.
        name: Name of the operation.
    """
    return matching_files_op(pattern, name=name)
