"""`sgtool train`: runs a training operation over fed data, with checkpoints."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from ...formats.errors import FailedPreconditionError
from .. import locate, options, render
from ..feeds import parse_feeds

if TYPE_CHECKING:
    from ..batches import Batches
    from ..training import Training

OPTIMIZERS = ("sgd", "momentum", "adam")


@options.command
@click.argument("model", required=False)
@options.feed
@click.option("--loss", metavar="NAME", help="The scalar to minimise; by default the only one in `losses`.")
@click.option("--optimizer", type=click.Choice(OPTIMIZERS), help="How; by default sgd where --loss is given.")
@click.option(
    "--lr", type=click.FloatRange(min=0, min_open=True), metavar="RATE", help="Learning rate [0.01]."
)
@click.option("--train-op", metavar="NAME", help="Run this operation; by default the only one in `train_op`.")
@click.option(
    "--steps", type=click.IntRange(1), metavar="N", help="Steps to run, over as many epochs as it takes."
)
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Passes over the data [1].")
@click.option("--batch-size", type=click.IntRange(1), metavar="N", help="Rows in a step [32].")
@click.option(
    "--shuffle/--no-shuffle", default=True, help="Take the rows of each epoch in a new order [yes]."
)
@click.option("--seed", type=int, metavar="N", help="Seed of the order, and of initial values and dropout.")
@click.option(
    "--validation", multiple=True, metavar="NAME=VALUE", help="As --feed: the loss of these is reported."
)
@click.option(
    "-o", "--output", metavar="PREFIX", callback=options.prefix_output, help="Save checkpoints here."
)
@click.option("--save-every", type=click.IntRange(1), metavar="N", help="Save PREFIX-STEP every N steps.")
@click.option(
    "--keep", type=click.IntRange(0), default=5, metavar="N", help="Checkpoints to keep; 0: all [5]."
)
@click.option("--resume", is_flag=True, help="Go on from the latest checkpoint of PREFIX, to --steps in all.")
@click.option("--logdir", metavar="DIR", callback=options.file_output, help="Write TensorBoard events.")
@options.overrides
@options.allow_files
@options.as_json
def command(
    model: str | None,
    feeds: tuple[str, ...],
    loss: str | None,
    optimizer: str | None,
    lr: float | None,
    train_op: str | None,
    steps: int | None,
    epochs: int | None,
    batch_size: int | None,
    shuffle: bool,
    seed: int | None,
    validation: tuple[str, ...],
    output: str | None,
    save_every: int | None,
    keep: int,
    resume: bool,
    logdir: str | None,
    overrides: tuple[str, ...],
    allow_files: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train MODEL, a graph with or without a checkpoint, or a spec.

    Variables start from MODEL's checkpoint where it has them, else from their initial values. Arrays
    are cut into batches along axis 0; a scalar is fed to every step. Ctrl-C saves and ends.

    Examples:
      sgtool train model.meta --feed x:0=train.npz:x --feed y:0=train.npz:y --epochs 20 -o out/model
      sgtool train model.meta --feed x=x.npy --loss loss --optimizer adam --lr 1e-3 --steps 500 -o out/m
      sgtool train out/model --feed x=d.npz --feed y=d.npz --validation x=v.npz --validation y=v.npz
      sgtool train model.yaml --set hidden=64 --feed x=d.npz --feed y=d.npz -o out/model

    --json gives {"steps" (in all), "ran" (now), "epochs" (now), "examples", "loss": {"first", "last"},
    "validation", "seconds", "checkpoint", "interrupted", "history": [{"step", "loss", "validation"}]}.
    """
    from .. import batches, sessions, training

    if resume and output is None:
        raise click.UsageError("--resume goes on from the checkpoints of -o PREFIX; say which.")
    if save_every is not None and output is None:
        raise click.UsageError("--save-every needs -o PREFIX.")
    given, held_out = parse_feeds(feeds), parse_feeds(validation)
    plan = training.Plan(loss, optimizer, lr, train_op, seed)
    with ExitStack() as stack:
        run = stack.enter_context(
            training.open_training(
                locate.model_or_default(model),
                plan,
                overrides,
                allow_files,
                output=output,
                keep=keep,
                resume=resume,
            )
        )
        rows = batches.cut(sessions.fed_arrays(run.graph, given, any_rows=True), batch_size)
        held = (
            batches.cut(sessions.fed_arrays(run.graph, held_out, any_rows=True), batch_size)
            if held_out
            else None
        )
        if held is not None and run.loss is None:
            raise click.UsageError("--validation shows the loss, and there is none; name it with --loss.")
        last = _last_step(steps, epochs, rows, run.steps_done, resume)
        log = _event_writer(stack, logdir)
        loop = _Loop(run, rows, held, _order(shuffle, seed), log)
        result = loop.run(last, save_every)
    _show(result, as_json)
    if result.interrupted:
        raise KeyboardInterrupt


def _order(shuffle: bool, seed: int | None) -> Any:
    """The generator that orders rows, or None for their own order."""
    import numpy as np

    return np.random.default_rng(seed) if shuffle else None


def _event_writer(stack: ExitStack, logdir: str | None) -> Any:
    if logdir is None:
        return None
    from ...formats.event_file import EventWriter

    return stack.enter_context(EventWriter(logdir))


@dataclass(slots=True)
class _Result:
    """What a training run came to."""

    steps: int = 0
    before: int = 0
    epochs: float = 0.0
    examples: int = 0
    seconds: float = 0.0
    losses: list[tuple[int, float]] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)
    checkpoint: str | None = None
    interrupted: bool = False

    @property
    def ran(self) -> int:
        """Steps of this run."""
        return self.steps - self.before

    def as_dict(self) -> dict[str, Any]:
        held_out = dict(self.validation)
        document: dict[str, Any] = {"steps": self.steps, "ran": self.ran}
        document |= {"epochs": self.epochs, "examples": self.examples}
        if self.losses:
            document["loss"] = {"first": self.losses[0][1], "last": self.losses[-1][1]}
        if self.validation:
            document["validation"] = self.validation[-1][1]
        history = [
            {"step": step, "loss": loss} | ({"validation": held_out[step]} if step in held_out else {})
            for step, loss in self.losses
        ]
        return document | {
            "seconds": self.seconds,
            "checkpoint": self.checkpoint,
            "interrupted": self.interrupted,
            "history": history,
        }


class _Loop:
    """The steps of one training run."""

    def __init__(
        self, training: Training, batches: Batches, held_out: Batches | None, order: Any, log: Any
    ) -> None:
        self.training = training
        self.batches = batches
        self.held_out = held_out
        self.order = order
        self.log = log
        self.result = _Result(training.steps_done, training.steps_done)

    def run(self, last: int, save_every: int | None) -> _Result:
        """Runs until step `last`; an interrupt ends it early, and the checkpoint is saved all the same.

        Raises:
            FailedPreconditionError: The loss is no number any more.
        """
        result, training = self.result, self.training
        if result.steps >= last:
            result.checkpoint = training.resumed
            return result
        started = time.perf_counter()
        saved_at = -1
        with render.progress("Training", last - result.steps) as bar:
            try:
                for feed, ends_epoch in self._feeds():
                    if result.steps >= last:
                        break
                    self._step(feed)
                    bar.advance(1, self._note(started))
                    if self.held_out is not None and (ends_epoch or result.steps == last):
                        self._validate()
                    if save_every is not None and result.steps % save_every == 0:
                        result.checkpoint, saved_at = training.save(result.steps), result.steps
            except KeyboardInterrupt:
                result.interrupted = True
        result.seconds = time.perf_counter() - started
        if saved_at != result.steps:
            result.checkpoint = training.save(result.steps if save_every is not None else None)
        return result

    def _feeds(self) -> Iterator[tuple[dict[Any, Any], bool]]:
        while True:
            for index, feed in enumerate(self.batches.epoch(self.order), 1):
                yield feed, index == self.batches.per_epoch

    def _step(self, feed: dict[Any, Any]) -> None:
        result = self.result
        loss = self.training.step(feed)
        result.steps += 1
        result.epochs = result.ran / self.batches.per_epoch
        result.examples += len(feed[next(iter(self.batches.rows))]) if self.batches.rows else 0
        if loss is None:
            return
        result.losses.append((result.steps, loss))
        if self.log is not None:
            self.log.scalars(result.steps, {"loss": loss})
        if not math.isfinite(loss):
            raise FailedPreconditionError(
                f"The loss is {loss} at step {result.steps}. Try a smaller --lr; look for NaN in the data.",
                step=result.steps,
                loss=str(loss),
            )

    def _validate(self) -> None:
        assert self.held_out is not None
        loss = self.training.evaluate(self.held_out)
        self.result.validation.append((self.result.steps, loss))
        if self.log is not None:
            self.log.scalars(self.result.steps, {"validation_loss": loss})

    def _note(self, started: float) -> str:
        result = self.result
        loss = f"loss {result.losses[-1][1]:.4g}  " if result.losses else ""
        return f"{loss}{result.ran / max(time.perf_counter() - started, 1e-9):.0f} steps/s"


def _last_step(steps: int | None, epochs: int | None, batches: Batches, done: int, resume: bool) -> int:
    """The number of the step to stop at."""
    if steps is not None:
        return steps if resume else done + steps
    if not batches.rows and epochs is None:
        raise click.UsageError("Nothing is fed, so there are no epochs; say how many --steps.")
    total = (epochs or 1) * batches.per_epoch
    return total if resume else done + total


def _show(result: _Result, as_json: bool) -> None:
    if as_json:
        render.document(result.as_dict())
        return
    if not result.ran and not result.interrupted:
        render.line(
            f"Already at step {result.steps}: nothing to do. (With --resume, --steps counts all steps.)"
        )
        return
    first_last = f"{result.losses[0][1]:.6g} -> {result.losses[-1][1]:.6g}" if result.losses else None
    rate = f"{result.ran / max(result.seconds, 1e-9):.0f} steps/s"
    steps = f"{result.steps}, {result.ran} of them now" if result.before else f"{result.steps}"
    render.facts(
        [
            ("steps", f"{steps} ({result.epochs:.4g} epochs)"),
            ("loss", first_last),
            ("validation loss", f"{result.validation[-1][1]:.6g}" if result.validation else None),
            ("time", f"{result.seconds:.2f} s, {rate}"),
            ("checkpoint", result.checkpoint or "not saved (no -o PREFIX)"),
        ]
    )
