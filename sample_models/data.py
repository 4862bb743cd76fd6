"""What the data scripts share: splitting, and writing `train.npz`, `test.npz` and a copy of the spec."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import spec_path

Arrays = dict[str, "np.ndarray[Any, Any]"]
Make = Callable[["np.random.Generator", int], Arrays]


def split(make: Make, train_rows: int, test_rows: int, seed: int = 0) -> tuple[Arrays, Arrays]:
    """Training and held-out data, drawn one after the other from one seeded generator."""
    random = np.random.default_rng(seed)
    return make(random, train_rows), make(random, test_rows)


def write(folder: str | Path, parts: Mapping[str, Arrays]) -> list[str]:
    """Writes `FOLDER/PART.npz` for each part; gives the paths."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, arrays in parts.items():
        path = target / f"{name}.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        paths.append(str(path))
    return paths


def main(make: Make, train_rows: int, test_rows: int) -> None:
    """The command line of a data script: one argument, the folder; the spec comes with the data."""
    name = Path(sys.argv[0]).stem
    if len(sys.argv) != 2:
        sys.exit(f"usage: python -m sgtool.sample_models.{name} FOLDER")
    train, test = split(make, train_rows, test_rows)
    paths = write(sys.argv[1], {"train": train, "test": test})
    spec = Path(sys.argv[1]) / f"{name}.yaml"
    shutil.copy(spec_path(name), spec)
    paths.append(str(spec))
    sys.stdout.write("\n".join(paths) + "\n")
