"""Event files that a graph writes itself: writers in resources.

Source: tensorflow/core/kernels/summary_kernels.cc and core/summary/summary_file_writer.cc (r1.15), behaviour
and texts.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from ...formats import event_file, protos
from ..dtypes import ANY, REAL, float16, float32, uint8
from ..errors import DataLossError, InvalidArgumentError, NotFoundError
from ..op import op
from ..shapes import format_shape
from . import rules
from .data_flow import named_resource
from .string import text_of
from .summary import audio_summary_v2, histogram_summary, image_summary, scalar_summary, tensor_summary_v2

_UNDEFINED = "TensorFlow declares none"


class _Writer:
    """A writer of an event file, once it was created.

    Args:
        name: What messages call it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._file: event_file.EventWriter | None = None
        self._waiting: list[Any] = []
        self._limits = (0, 0.0)
        self._flushed = 0.0
        self._lock = threading.Lock()

    def create(self, directory: str, suffix: str, queue: int, seconds: float) -> None:
        """Opens a file, unless there is one."""
        with self._lock:
            if self._file is None:
                self._file = event_file.EventWriter(directory, suffix)
                self._limits = (queue, seconds)
                self._flushed = time.monotonic()

    def _opened(self) -> event_file.EventWriter:
        if self._file is None:
            raise NotFoundError(
                f"Resource localhost/{self.name}/SummaryWriterInterface does not exist: run "
                "CreateSummaryFileWriter first."
            )
        return self._file

    def write(self, event: Any) -> None:
        """Adds an event, which gets the present time where it has none."""
        with self._lock:
            self._opened()
            if not event.wall_time:
                event.wall_time = time.time()
            self._waiting.append(event)
            queue, seconds = self._limits
            if len(self._waiting) > queue or time.monotonic() - self._flushed > seconds:
                self._flush()

    def flush(self) -> None:
        """Writes what waits."""
        with self._lock:
            self._opened()
            self._flush()

    def _flush(self) -> None:
        file = self._opened()
        for event in self._waiting:
            file.write(event)
        self._waiting = []
        file.flush()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Writes what waits and closes the file."""
        with self._lock:
            self._flush()
            self._opened().close()
            self._file = None


def _scalar(value: Any, name: str) -> Any:
    if np.ndim(value):
        raise InvalidArgumentError(f"{name} must be scalar, got shape {format_shape(np.shape(value))}")
    return np.asarray(value).item()


@op(
    "SummaryWriter",
    "-> writer: resource",
    "shared_name: string = ''",
    "container: string = ''",
    stateful=True,
    undefined_grad=_UNDEFINED,
)
def summary_writer(ctx: Any, *, node: Any) -> Any:
    """A writer of an event file, not yet created."""
    return named_resource(ctx, "summary writer", node, _Writer)


summary_writer.shape(rules.scalar)


def _writing(name: str, inputs: str, kernel: Any, *attrs: str, **types: Any) -> None:
    op(
        name,
        f"writer: resource{inputs} ->",
        *attrs,
        stateful=True,
        undefined_grad=_UNDEFINED,
        **types,
    )(kernel).shape(rules.nothing)


def _create(
    ctx: Any, writer: Any, logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any, *, node: Any
) -> None:
    """Opens a new event file in a directory, unless the writer has one."""
    directory = text_of(_scalar(logdir, "logdir"))
    ctx.policy.check_write(directory, f"node '{node.name}' (op {node.type})")
    suffix = text_of(_scalar(filename_suffix, "filename_suffix"))
    seconds = _scalar(flush_millis, "flush_millis") / 1000
    writer.create(directory, suffix, _scalar(max_queue, "max_queue"), seconds)


def _flush(ctx: Any, writer: Any) -> None:
    """Writes what waits."""
    writer.flush()


def _close(ctx: Any, writer: Any) -> None:
    """Writes what waits and closes the file."""
    writer.close()


_writing(
    "CreateSummaryFileWriter",
    ", logdir: string, max_queue: int32, flush_millis: int32, filename_suffix: string",
    _create,
)
_writing("FlushSummaryWriter", "", _flush)
_writing("CloseSummaryWriter", "", _close)


def _add(writer: Any, step: Any, summary: Any) -> None:
    event = protos.Event(step=_scalar(step, "step"))
    event.summary.MergeFromString(np.asarray(summary).item())
    writer.write(event)


def _scalar_summary(ctx: Any, writer: Any, step: Any, tag: Any, value: Any) -> None:
    """Writes a number."""
    _scalar(value, "value")
    _add(writer, step, scalar_summary.kernel(tag, value))


def _histogram_summary(ctx: Any, writer: Any, step: Any, tag: Any, values: Any) -> None:
    """Writes a histogram of all values."""
    _add(writer, step, histogram_summary.kernel(tag, values))


def _image_summary(
    ctx: Any, writer: Any, step: Any, tag: Any, tensor: Any, bad_color: Any, *, max_images: int
) -> None:
    """Writes images as PNG files."""
    _add(writer, step, image_summary.kernel(tag, tensor, max_images=max_images, bad_color=bad_color))


def _audio_summary(
    ctx: Any, writer: Any, step: Any, tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int
) -> None:
    """Writes sound as WAV files."""
    _add(writer, step, audio_summary_v2.kernel(tag, tensor, sample_rate, max_outputs=max_outputs))


def _tensor_summary(ctx: Any, writer: Any, step: Any, tensor: Any, tag: Any, summary_metadata: Any) -> None:
    """Writes a tensor as it is."""
    _add(writer, step, tensor_summary_v2.kernel(tag, tensor, summary_metadata))


def _raw_summary(ctx: Any, writer: Any, step: Any, tensor: Any) -> None:
    """Writes serialized summaries as one event."""
    event = protos.Event(step=_scalar(step, "step"))
    for index, data in enumerate(np.reshape(tensor, -1).tolist()):
        try:
            summary = protos.parse(protos.Summary, data, "a summary")
        except DataLossError as error:
            raise DataLossError(
                f"Bad tf.compat.v1.Summary binary proto tensor string at index {index}"
            ) from error
        event.summary.MergeFrom(summary)
    writer.write(event)


def _graph_summary(ctx: Any, writer: Any, step: Any, tensor: Any) -> None:
    """Writes a serialized graph."""
    data = _scalar(tensor, "tensor")
    try:
        protos.parse(protos.GraphDef, data, "a graph")
    except DataLossError as error:
        raise DataLossError("Bad tf.GraphDef binary proto tensor string") from error
    writer.write(protos.Event(step=_scalar(step, "step"), graph_def=data))


def _import_event(ctx: Any, writer: Any, event: Any) -> None:
    """Writes a serialized event."""
    try:
        made = protos.parse(protos.Event, _scalar(event, "event"), "an event")
    except DataLossError as error:
        raise DataLossError("Bad tf.Event binary proto tensor string") from error
    writer.write(made)


_STEP = ", step: int64"
_writing("WriteScalarSummary", f"{_STEP}, tag: string, value: T", _scalar_summary, T=REAL)
_writing("WriteHistogramSummary", f"{_STEP}, tag: string, values: T", _histogram_summary, T=(REAL, float32))
_writing(
    "WriteImageSummary",
    f"{_STEP}, tag: string, tensor: T, bad_color: uint8",
    _image_summary,
    "max_images: int >= 1 = 3",
    T=((uint8, float32, float16), float32),
)
_writing(
    "WriteAudioSummary",
    f"{_STEP}, tag: string, tensor: float32, sample_rate: float32",
    _audio_summary,
    "max_outputs: int >= 1 = 3",
)
_writing("WriteSummary", f"{_STEP}, tensor: T, tag: string, summary_metadata: string", _tensor_summary, T=ANY)
_writing("WriteRawProtoSummary", f"{_STEP}, tensor: string", _raw_summary)
_writing("WriteGraphSummary", f"{_STEP}, tensor: string", _graph_summary)
_writing("ImportEvent", ", event: string", _import_event)


def session_writer(session: Any, logdir: str, suffix: str, queue: int, seconds: float) -> _Writer:
    """The writer of a directory in a session, which all who ask for it share; errors as `EventWriter`."""
    found: _Writer = session._state.resource(
        "summary writer", "", f"logdir:{logdir}", lambda: _Writer(logdir)
    )
    found.create(logdir, suffix, queue, seconds)
    return found
