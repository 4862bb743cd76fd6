"""`sgtool run`: feeds and fetches on the command line."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from .. import locate, options, render
from ..feeds import Feed


@options.command
@click.argument("model", required=False)
@click.option("--fetch", "fetches", multiple=True, metavar="NAME", help="A tensor, or an operation. Repeatable.")
@options.feed
@click.option("--signature", metavar="NAME", help="Names of --fetch and --feed are those of this signature.")
@options.checkpoint
@click.option("-o", "--output", metavar="PATH", help="Write to .npz, .npy, .h5 or .json; '-': npy on stdout.")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Feed N rows at a time, along axis 0.")
@click.option("--repeat", type=click.IntRange(1), default=1, metavar="N", help="Run N times and show timings.")
@click.option("--profile", is_flag=True, help="Show the time that each op took, on stderr.")
@click.option("--trace", metavar="FILE", help="Write a Chrome trace (chrome://tracing) of the run.")
@options.allow_files
@options.as_json
def command(
    model: str | None,
    fetches: tuple[str, ...],
    feeds: tuple[str, ...],
    signature: str | None,
    checkpoint: str | None,
    output: str | None,
    batch: int | None,
    repeat: int,
    profile: bool,
    trace: str | None,
    allow_files: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run MODEL: feed tensors, fetch tensors.

    The variables come from the checkpoint that belongs to MODEL, or from --checkpoint. Without MODEL
    it is $SGTOOL_MODEL, else the checkpoint or only model of the current directory.

    Examples:
      sgtool run --fetch y:0 --feed x:0=data.npy
      sgtool run model.ckpt-1000 --fetch prob --feed x=batch.npz:images -o prob.npy
      sgtool run saved_model/ --signature serving_default --feed 'x=[[1, 2]]' --json
      sgtool run frozen.pb --fetch y --feed x=- -o - < in.npy > out.npy
      sgtool run model --fetch loss --feed x=big.npy --batch 256

    --json gives {"outputs": {"y:0": {"dtype", "shape", "value"}}} and with --repeat "timings";
    non-finite numbers are "NaN", "Infinity", "-Infinity", bytes their text or {"base64": ...}, a
    complex number is [re, im].
    """
