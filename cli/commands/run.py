"""`sgtool run`: feeds and fetches on the command line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ...formats.errors import InvalidValueError, MissingNameError, bullets, did_you_mean
from .. import exit_codes, expectations, locate, options, render
from ..feeds import Feed

if TYPE_CHECKING:
    from ..sessions import Running


@options.command
@click.argument("model", required=False)
@options.fetch
@options.feed
@click.option("--signature", metavar="NAME", help="Names of --fetch and --feed are those of this signature.")
@options.checkpoint
@click.option("-o", "--output", metavar="PATH", help="Write to .npz, .npy, .h5 or .json; '-': npy on stdout.")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Feed N rows at a time, along axis 0.")
@click.option("--expect", metavar="PATH", help="Compare with .npz, .h5 or .npy; exit 1 if they differ.")
@click.option(
    "--rtol", type=click.FloatRange(0), default=expectations.RTOL, help="Relative, for --expect [1e-4]."
)
@click.option(
    "--atol", type=click.FloatRange(0), default=expectations.ATOL, help="Absolute, for --expect [1e-5]."
)
@click.option(
    "--repeat", type=click.IntRange(1), default=1, metavar="N", help="Run N times and show timings."
)
@click.option("--profile", is_flag=True, help="Show what ops and nodes took, on stderr.")
@click.option(
    "--trace",
    metavar="FILE",
    callback=options.file_output,
    help="Write a Chrome trace (chrome://tracing) of the run.",
)
@options.overrides
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
    expect: str | None,
    rtol: float,
    atol: float,
    repeat: int,
    profile: bool,
    trace: str | None,
    overrides: tuple[str, ...],
    allow_files: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run MODEL: feed tensors, fetch tensors.

    The variables come from the checkpoint that belongs to MODEL, or from --checkpoint. Without MODEL
    it is $SGTOOL_MODEL, else the checkpoint or only model of the current directory. What the model itself
    prints (tf.print, also to stdout) goes to stderr: stdout has the results alone.

    --profile shows what each op and the slowest nodes took in the last of --repeat runs (the first also
    compiles). Nodes that ran as one (a convolution with its bias and activation) are one row, their ops
    joined by "+". GFLOP/s tells how well a product uses the machine; where it is low, look at the bytes:
    such nodes wait for memory. --trace has the same for each node, with start times.

    Examples:
      sgtool run --fetch y:0 --feed x:0=data.npy
      sgtool run model.ckpt-1000 --fetch prob --feed x=batch.npz:images -o prob.npy
      sgtool run saved_model/ --signature serving_default --feed 'x=[[1, 2]]' --json
      sgtool run frozen.pb --fetch y --feed x=- -o - < in.npy > out.npy
      sgtool run model --fetch prob --feed x=big.npy --batch 256 -o prob.npy
      sgtool run model --fetch prob --feed x=x.npy --expect prob.npy && echo same

    --json gives {"outputs": {"y:0": {"dtype", "shape", "value"}}} with --repeat "timings", with
    --expect "expect": [{"name", "agrees", "why", "largest"}];
    non-finite numbers are "NaN", "Infinity", "-Infinity", bytes their text or {"base64": ...}, a
    complex number is [re, im].
    """
    from .. import outputs, pipelines, profiles, sessions
    from ..feeds import parse_feeds

    given = parse_feeds(feeds)
    with sessions.open_model(
        locate.model_or_default(model), checkpoint=checkpoint, overrides=overrides, allow_files=allow_files
    ) as running:
        names, given = _resolved(running, signature, fetches, given)
        wanted = sessions.named(running.graph, names)
        tensors = [name for name, item in zip(names, wanted, strict=True) if sessions.is_tensor(item)]
        if output is not None:
            outputs.check(output, as_json, len(tensors))
        fed = sessions.fed_arrays(running.graph, given, batch)
        graph = running.graph
        metadata = profiles.new_metadata() if profile or trace else None
        values: list[Any] = []
        seconds = []
        with pipelines.running(running.graph, running.session, wanted, {tensor.name for tensor in fed}):
            for _ in range(repeat):
                started = time.perf_counter()
                values = _run_batches(running.session, wanted, names, fed, batch, metadata)
                seconds.append(time.perf_counter() - started)
    results = {name: value for name, value in zip(names, values, strict=True) if name in tensors}
    arrays = {name: outputs.as_array(value) for name, value in results.items()}
    comparisons = expectations.compare(arrays, expect, rtol, atol) if expect is not None else []
    if output is not None:
        outputs.write(output, arrays)
    timings = _timings(seconds) if repeat > 1 else None
    with exit_codes.outliving_reader() if comparisons else nullcontext():
        if as_json:
            extra: dict[str, Any] = {"timings": timings} if timings else {}
            extra |= {"expect": [asdict(one) for one in comparisons]} if comparisons else {}
            render.document(outputs.as_document(arrays) | extra)
        else:
            _show(arrays, [name for name in names if name not in arrays], comparisons, output)
        if timings and not as_json:
            render.message(
                "  ".join(f"{key.removesuffix('_ms')} {value:.3f} ms" for key, value in timings.items())
            )
    if profile:
        profiles.show(metadata, graph)
    if trace:
        profiles.write_trace(trace, metadata, graph)
    if not all(one.agrees for one in comparisons):
        click.get_current_context().exit(exit_codes.ANSWER_IS_NO)


def _resolved(
    running: Running, signature: str | None, fetches: Sequence[str], feeds: list[Feed]
) -> tuple[list[str], list[Feed]]:
    """The names to fetch and what to feed, in the graph's own names.

    Raises:
        click.UsageError: There is nothing to fetch.
        MissingNameError: No such signature, input or output.
    """
    if signature is None:
        if not fetches:
            known = (
                f" Signatures (--signature): {', '.join(sorted(running.signatures))}."
                if running.signatures
                else ""
            )
            raise click.UsageError(
                f"Nothing to fetch. Name a tensor with --fetch; `sgtool inspect` lists outputs.{known}"
            )
        return list(dict.fromkeys(fetches)), feeds
    definition = running.signatures.get(signature)
    if definition is None:
        raise MissingNameError(
            f"The model has no signature '{signature}'.{did_you_mean(signature, running.signatures)} "
            f"It has: {', '.join(sorted(running.signatures)) or 'none'}.",
            name=signature,
            signatures=sorted(running.signatures),
        )
    inputs = {key: info.name for key, info in definition.inputs.items()}
    results = {key: info.name for key, info in definition.outputs.items()}
    wrong = [
        f"{what} '{key}'{did_you_mean(key, known)} (there are: {', '.join(sorted(known)) or 'none'})"
        for what, keys, known in (
            ("output", fetches, results),
            ("input", [feed.name.removesuffix(":0") for feed in feeds], inputs),
        )
        for key in keys
        if key not in known
    ]
    if wrong:
        raise MissingNameError(f"Signature '{signature}' has no such:{bullets(wrong)}", signature=signature)
    renamed = [Feed(inputs[feed.name.removesuffix(":0")], feed.text) for feed in feeds]
    return [results[key] for key in (fetches or sorted(results))], renamed


def _run_batches(
    session: Any,
    wanted: list[Any],
    names: list[str],
    fed: dict[Any, Any],
    batch: int | None,
    metadata: Any,
) -> list[Any]:
    """The fetched values; with `batch`, of all batches, joined along axis 0.

    Raises:
        InvalidValueError: The fed arrays have different numbers of rows, or an output has no rows to join.
    """
    from ..profiles import run_options

    def run(feed_dict: dict[Any, Any]) -> list[Any]:
        if metadata is None:
            values: list[Any] = session.run(wanted, feed_dict)
        else:
            values = session.run(wanted, feed_dict, options=run_options(), run_metadata=metadata)
        return values

    if batch is None:
        return run(fed)
    split = {tensor: array for tensor, array in fed.items() if _has_rows(tensor, array, batch)}
    rows = {array.shape[0] for array in split.values()}
    if len(rows) != 1:
        counts = [f"{tensor.name}: {array.shape[0]} rows" for tensor, array in split.items()]
        why = (
            f"the fed arrays have different numbers of rows:{bullets(counts)}"
            if counts
            else "no fed array has rows."
        )
        raise InvalidValueError(f"--batch {batch}: {why}", batch=batch)
    (total,) = rows
    parts = []
    with render.progress("Running", total) as bar:
        for start in range(0, total, batch):
            feed = fed | {tensor: array[start : start + batch] for tensor, array in split.items()}
            parts.append((min(batch, total - start), run(feed)))
            bar.advance(parts[-1][0])
    return _joined(parts, names)


def _has_rows(tensor: Any, array: Any, batch: int) -> bool:
    dims = tensor.get_shape().as_list() if tensor.get_shape().ndims is not None else [None]
    return bool(array.ndim and dims and dims[0] in (None, batch))


def _joined(parts: list[tuple[int, list[Any]]], names: list[str]) -> list[Any]:
    import numpy as np

    if not parts:
        raise InvalidValueError("--batch: the fed arrays have no rows.")
    joined: list[Any] = []
    for index, name in enumerate(names):
        pieces = [values[index] for _, values in parts]
        if pieces[0] is None:
            joined.append(None)
            continue
        odd = next(
            (np.shape(v) for (n, _), v in zip(parts, pieces, strict=True) if np.shape(v)[:1] != (n,)), None
        )
        if odd is not None:
            raise InvalidValueError(
                f"--batch: {name} has shape {odd}, not a row for each row fed: its batches cannot be joined.",
                name=name,
                shape=list(odd),
            )
        joined.append(np.concatenate(pieces))
    return joined


def _timings(seconds: list[float]) -> dict[str, float]:
    """Milliseconds: the first run makes the plan, the others use it."""
    import statistics

    later = [1000 * second for second in seconds[1:]]
    return {"first_ms": 1000 * seconds[0], "min_ms": min(later), "median_ms": statistics.median(later)}


def _show(
    arrays: dict[str, Any],
    operations: list[str],
    comparisons: list[expectations.Comparison],
    output: str | None,
) -> None:
    from .. import outputs

    for one in comparisons:
        largest = f" (largest difference {one.largest:.3g})" if one.largest is not None else ""
        render.line(f"{one.name}: {'as expected' if one.agrees else one.why}{largest}")
    if output is not None and output != outputs.STDOUT:
        render.message(f"Wrote {', '.join(arrays)} to {output}.")
    elif output is None and not comparisons:
        for name, array in arrays.items():
            outputs.show(name, array)
    for name in operations:
        render.message(f"{name}: done.")
