"""`sgtool demo`: the six commands one after another on a shipped sample."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile

import click

from ...formats import files
from .. import exit_codes, options, render

SAMPLE = "linear"
# What a line shows ("" where it goes with the one before), and the line.
LINES = (
    (
        "A spec, and its data: y = 2 x0 - 3 x1 + 0.5, with noise",
        f"python -m sgtool.sample_models.{SAMPLE} .",
    ),
    ("A graph from its spec", f"sgtool build {SAMPLE}.yaml -o model.meta"),
    ("What is in it", "sgtool inspect model.meta"),
    (
        "Training, with a checkpoint that TensorFlow reads, too",
        "sgtool train model.meta --feed x:0=train.npz --feed y:0=train.npz --epochs 5 --seed 1 -o trained",
    ),
    ("Its variables as HDF5", "sgtool save trained -o weights.h5"),
    ("", "sgtool inspect weights.h5 --values w --values b"),
    ("The same variables in a fresh model", "sgtool restore model.meta weights.h5 -o restored"),
    ("Predictions", "sgtool run restored --fetch prediction:0 --feed 'x:0=[[1, 2], [3, 4]]'"),
)


@options.command
@click.argument("folder", required=False)
def command(folder: str | None) -> None:
    """Show build, inspect, train, save, restore and run on a sample that comes with sgtool.

    Each line is shown before it runs, and can be typed as it stands. The files stay in FOLDER, which
    is made; without it in a new temporary one, which is named.

    Examples:
      sgtool demo
      sgtool demo playground
    """
    place = folder if folder is not None else tempfile.mkdtemp(prefix="sgtool-demo-")
    files.make_directory(place, parents=True)
    render.line(f"cd {shlex.quote(place)}")
    for title, line in LINES:
        render.line(f"\n# {title}\n$ {line}" if title else f"$ {line}")
        sys.stdout.flush()
        program, *words = shlex.split(line)
        module = ["-m", "sgtool.cli"] if program == "sgtool" else []
        done = subprocess.run([sys.executable, *module, *words], cwd=place, check=False)
        if done.returncode != exit_codes.OK:
            click.get_current_context().exit(done.returncode)
    render.line(f"\nThe files are in {place}: {', '.join(files.list_directory(place))}.")
