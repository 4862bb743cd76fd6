"""A model ready to be trained: its loss, the operation that trains, variables that have values, a saver."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from ..formats import files
from ..formats.errors import InvalidValueError, MissingFileError, bullets
from . import models, render, sessions, specs

DEFAULT_RATE = 0.01
MOMENTUM = 0.9
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """What the command line says about how to train; None where it says nothing."""

    loss: str | None
    optimizer: str | None
    rate: float | None
    train_op: str | None
    seed: int | None


@dataclass(slots=True)
class Training:
    """A model in a session.

    Attributes:
        graph: Its `graphcore.Graph`.
        session: The session that has its variables.
        train_op: The operation that makes a step.
        loss: The scalar tensor that is shown, or None.
        global_step: The variable that counts steps, or None.
        saver: Saves all variables.
        output: The prefix to save at, or None.
        steps_done: Steps made before, by the checkpoint that it started from.
        resumed: The checkpoint that it goes on from, with `resume`.
    """

    graph: Any
    session: Any
    train_op: Any
    loss: Any
    global_step: Any
    saver: Any
    output: str | None
    steps_done: int = 0
    resumed: str | None = None

    def step(self, feed: dict[Any, Any]) -> float | None:
        """One step; the loss before it, if there is a loss."""
        if self.loss is None:
            self.session.run(self.train_op, feed)
            return None
        _, value = self.session.run([self.train_op, self.loss], feed)
        return float(value)

    def evaluate(self, batches: Any) -> float:
        """The mean loss over all rows, each batch by its number of rows."""
        total = weight = 0.0
        for feed in batches.epoch():
            rows = len(feed[next(iter(batches.rows))]) if batches.rows else 1
            total += rows * float(self.session.run(self.loss, feed))
            weight += rows
        return total / weight

    def save(self, step: int | None) -> str | None:
        """Saves `PREFIX-STEP`, or `PREFIX` without a step; the path, or None where nothing is to be saved."""
        if self.output is None:
            return None
        path: str = self.saver.save(self.session, self.output, global_step=step)
        return path


@contextmanager
def open_training(
    model: str,
    plan: Plan,
    overrides: Sequence[str] = (),
    allow_files: Sequence[str] = (),
    *,
    output: str | None,
    keep: int,
    resume: bool,
) -> Iterator[Training]:
    """Imports or builds a model, finds or makes its training operation, and gives its variables values.

    Raises:
        click.UsageError: What to train cannot be told.
        MissingFileError: No model, or with `resume` no checkpoint.
        InvalidValueError: The loss is no scalar, or there is nothing to train.
    """
    from .. import graphcore as tf

    built, checkpoint, assets = _graph(model, overrides, plan.seed)
    graph = built.graph
    with graph.as_default():
        before = set(tf.global_variables())
        loss = _loss(graph, plan)
        train_op = _train_op(graph, plan, loss)
        variables = tf.global_variables()
        if not variables:
            raise InvalidValueError("The graph has no variables: there is nothing to train.")
        saver = tf.train.Saver(max_to_keep=keep or None)
        global_step = tf.train.get_global_step(graph)
        initializer = [
            tf.global_variables_initializer(),
            tf.local_variables_initializer(),
        ]
    policy = sessions.file_policy(allow_files, assets.values())
    with render.prints_aside(), tf.Session(graph=graph, file_policy=policy) as session:
        session.run(initializer)
        if checkpoint is not None:
            report = sessions.restore_variables(
                graph, session, checkpoint, built.saver, {v.op.name for v in before}, partial=True
            )
            if report.missing:
                render.message(
                    f"Not in {checkpoint}, so they have initial values:{bullets(report.missing, SHOWN)}"
                )
        sessions.run_initial_ops(graph, session, assets)
        done, latest = 0, None
        if resume:
            latest = _latest(str(output))
            sessions.restore_variables(graph, session, latest)
            done = int(session.run(global_step)) if global_step is not None else _step_in_name(latest)
            render.message(f"Going on from {latest} ({done} steps).")
        elif global_step is not None:
            done = int(session.run(global_step))
        yield Training(graph, session, train_op, loss, global_step, saver, output, done, latest)


def _graph(
    model: str, overrides: Sequence[str], seed: int | None
) -> tuple[specs.Built, str | None, dict[str, str]]:
    """The graph of a spec or model, where its variables are, and its assets by the tensor that is fed."""
    specs.check_overrides(model, overrides)
    if specs.is_spec(model):
        return specs.build(model, specs.parse_overrides(overrides), seed), None, {}
    from .. import graphcore as tf

    located = models.find(model)
    models.check_lost(located)
    graph, saver, _, assets = sessions.import_model(located)
    if seed is not None:
        with graph.as_default():
            tf.set_random_seed(seed)
    return specs.Built(graph, saver), located.variables, assets


def _loss(graph: Any, plan: Plan) -> Any:
    """The loss tensor: the one named, else the only one in the collection `losses`, else None."""
    from .. import graphcore as tf

    if plan.loss is not None:
        (loss,) = sessions.named(graph, [plan.loss])
        if not sessions.is_tensor(loss) or loss.get_shape().ndims not in (None, 0):
            shape = render.shape(loss.get_shape().as_list()) if sessions.is_tensor(loss) else "no value"
            raise InvalidValueError(f"--loss {plan.loss} has {shape}; a loss is one number.", name=plan.loss)
        return loss
    losses = [loss for loss in graph.get_collection(tf.GraphKeys.LOSSES) if sessions.is_tensor(loss)]
    return losses[0] if len(losses) == 1 else None


def _train_op(graph: Any, plan: Plan, loss: Any) -> Any:
    """The operation that makes a step, made with an optimizer unless the graph has the one to run.

    Raises:
        click.UsageError: There is none, or more than one, and no loss.
    """
    from .. import graphcore as tf

    wants_optimizer = plan.optimizer is not None or plan.rate is not None
    if plan.train_op is not None:
        if wants_optimizer:
            raise click.UsageError(
                "--train-op runs what the graph has; --optimizer and --lr would make another."
            )
        return sessions.named(graph, [plan.train_op])[0]
    existing = graph.get_collection(tf.GraphKeys.TRAIN_OP)
    if not wants_optimizer and plan.loss is None and len(existing) == 1:
        return existing[0]
    if loss is None:
        losses = [loss.name for loss in graph.get_collection(tf.GraphKeys.LOSSES)]
        candidates = [f"train_op: {op.name}" for op in existing] + [f"loss: {name}" for name in losses]
        found = f" The graph's collections have:{bullets(candidates)}" if candidates else ""
        raise click.UsageError(f"What is to be trained? Name a scalar with --loss, or --train-op.{found}")
    optimizer = _optimizer(plan.optimizer or "sgd", plan.rate if plan.rate is not None else DEFAULT_RATE)
    slots = [f"{variable.op.name}/{optimizer.get_name()}" for variable in tf.trainable_variables()]
    taken = [name for name in slots if name in graph._operations]
    if taken:
        own = ", ".join(f"--train-op {op.name}" for op in existing) or "its operation with --train-op NAME"
        raise click.UsageError(
            f"The graph has an optimizer already, with variables such as {taken[0]}. Leave out --optimizer, "
            f"--lr and --loss, or name {own}."
        )
    return optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())


def _optimizer(name: str, rate: float) -> Any:
    from .. import graphcore as tf

    if name == "momentum":
        return tf.train.MomentumOptimizer(rate, MOMENTUM)
    return {"sgd": tf.train.GradientDescentOptimizer, "adam": tf.train.AdamOptimizer}[name](rate)


def _latest(output: str) -> str:
    """The newest checkpoint that was saved at a prefix.

    Raises:
        MissingFileError: None was.
    """
    from ..formats import checkpoint_state

    folder, base = os.path.split(output)
    folder = folder or "."
    latest = checkpoint_state.latest_checkpoint(folder) if files.is_directory(folder) else None
    if latest is not None and _is_of(latest, base):
        return latest if os.sep in output else latest.removeprefix("./")
    complete = checkpoint_state.complete_checkpoints(folder) if files.is_directory(folder) else []
    own = [prefix for prefix in complete if _is_of(prefix, base)]
    if not own:
        raise MissingFileError(f"--resume: there is no checkpoint {output} or {output}-STEP.", path=output)
    return own[-1]


def _is_of(prefix: str, base: str) -> bool:
    name = os.path.basename(prefix)
    return name == base or (name.startswith(f"{base}-") and name.removeprefix(f"{base}-").isdigit())


def _step_in_name(prefix: str) -> int:
    step = prefix.rpartition("-")[2]
    return int(step) if step.isdigit() else 0
