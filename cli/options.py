"""Options that several commands share, each declared once."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from . import completion

F = TypeVar("F", bound=Callable[..., Any])

VERBOSE = "Say more on stderr; a bug shows its traceback."
QUIET = "Say nothing on stderr but errors."

CONTEXT_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@dataclass(slots=True)
class Settings:
    """What the user asked of every command.

    Attributes:
        verbose: How often `-v` was given.
        quiet: No messages and no progress on stderr.
        json: One JSON document on stdout; no progress.
        stdin_for: What has read standard input already, or None.
        stdin_path: The file that stands for a model on standard input, or "".
        told: Messages that were shown: none is shown twice.
    """

    verbose: int = 0
    quiet: bool = False
    json: bool = False
    stdin_for: str | None = None
    stdin_path: str = ""
    told: set[str] = field(default_factory=set)

    @property
    def progress(self) -> bool:
        """Whether progress may be shown."""
        return not (self.quiet or self.json)

    def shown(self, text: str) -> str:
        """`text` with standard input by its name, not by the file that stands for it."""
        return text.replace(self.stdin_path, "standard input") if self.stdin_path else text


def settings() -> Settings:
    """The settings of the running command."""
    return click.get_current_context().ensure_object(Settings)


def read_stdin(what: str) -> bytes:
    """All of standard input, which one thing can have.

    Raises:
        click.UsageError: Something else has read it.
    """
    current = settings()
    if current.stdin_for is not None:
        raise click.UsageError(
            f"Standard input ('-') is given twice: for {current.stdin_for} and for {what}."
        )
    current.stdin_for = what
    return sys.stdin.buffer.read()


def command(function: F) -> click.Command:
    """A click command out of a function, named after its file; it takes `-v` and `-q` as well.

    The docstring from the line `Examples:` on becomes the epilog, the examples verbatim.
    """
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition("Examples:")
    epilog = f"\b\nExamples:{examples}" if examples else None
    name = function.__module__.rpartition(".")[2].replace("_", "-")

    @functools.wraps(function)
    def call(*args: Any, verbose: int, quiet: bool, **kwargs: Any) -> Any:
        current = settings()
        current.verbose += verbose
        current.quiet |= quiet
        current.json = bool(kwargs.get("as_json"))
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if current.stdin_path and hasattr(error, "fields"):  # an OpError of the library's
                _name_standard_input(error, current)
            raise

    made = click.command(name, help=text, epilog=epilog, context_settings=CONTEXT_SETTINGS)(call)
    made.params += [
        click.Option(["-v", "--verbose"], count=True, help=VERBOSE),
        click.Option(["-q", "--quiet"], is_flag=True, help=QUIET),
    ]
    return made


def _name_standard_input(error: Any, current: Settings) -> None:
    error.message = current.shown(str(error.message))
    error.fields = {
        key: current.shown(value) if isinstance(value, str) else value for key, value in error.fields.items()
    }


_STORES = frozenset((".h5", ".hdf5", ".npz", ".safetensors"))
_NOT_WRITTEN = frozenset(
    (
        ".csv",
        ".index",
        ".joblib",
        ".json",
        ".keras",
        ".mat",
        ".meta",
        ".msgpack",
        ".npy",
        ".onnx",
        ".parquet",
        ".pb",
        ".pbtxt",
        ".pickle",
        ".pkl",
        ".pt",
        ".pth",
        ".tflite",
        ".txt",
        ".yaml",
        ".yml",
        ".zip",
    )
)


def store_output(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Callback of an option that names a store to write: a file of arrays, or a checkpoint's prefix.

    Raises:
        click.BadParameter: Standard output, a directory, or the suffix of a format that is not written.
    """
    return _checked_output(
        value, _NOT_WRITTEN, "a checkpoint prefix (model.ckpt-100), .h5, .npz, .safetensors"
    )


def salvage_output(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """As `store_output`, of an option that names what a graph can be written to, too."""
    use = "a checkpoint prefix (rescued), .h5, .npz, .safetensors; of a graph .pb, .pbtxt, .meta"
    return _checked_output(value, _NOT_WRITTEN - {".meta", ".pb", ".pbtxt"}, use)


def model_output(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """As `store_output`, of a graph and its variables: whatever `formats.targets` writes."""
    return _checked_model(context, value, f"{_MODELS} or .safetensors")


def converted_output(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """As `model_output`, of what may be an ONNX model, too."""
    if value is not None and value.endswith(".onnx") and os.path.basename(value) != ".onnx":
        return value
    return _checked_model(context, value, f"{_MODELS}, .safetensors or .onnx")


_MODELS = "a checkpoint prefix, DIRECTORY/ (a SavedModel), .meta, .pb, .pbtxt, .h5, .npz"


def _checked_model(context: click.Context, value: str | None, use: str) -> str | None:
    if value is not None and len(value) > 1 and value.endswith(("/", os.sep)):
        return value
    if value is not None and context.params.get("to") is not None and value not in ("-", ""):
        return value
    return _checked_output(value, _NOT_WRITTEN - {".meta", ".pb", ".pbtxt"}, use)


def prefix_output(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """As `store_output`, of an option that is always the prefix of a checkpoint."""
    use = "a checkpoint prefix (out/model); `sgtool save` makes other files of it"
    return _checked_output(value, _NOT_WRITTEN | _STORES, use)


def _checked_output(value: str | None, refused: Collection[str], use: str) -> str | None:
    # Any name can be a prefix (model.ckpt-100, v1.5): only what is surely meant as something else is refused.
    if value is None:
        return None
    suffix = Path(value).suffix.lower()
    if value == "-":
        raise click.BadParameter(f"this cannot go to standard output; use {use}.")
    if os.path.basename(value) in ("", ".", ".."):
        inside = os.path.join(value, "model")
        raise click.BadParameter(f"'{value}' is a directory; name the checkpoint in it, as in {inside}.")
    if suffix in refused:
        raise click.BadParameter(f"'{value}': a {suffix} file is not written here; use {use}.")
    return value


def file_output(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Callback of an option that names a file or directory which standard output cannot stand for.

    Raises:
        click.BadParameter: Standard output, or nothing.
    """
    if value in ("-", ""):
        raise click.BadParameter(f"'{value}' is no name to write to; this cannot go to standard output.")
    return value


as_json = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout; errors as JSON on stderr."
)

fetch = click.option(
    "--fetch",
    "fetches",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.tensors,
    help="A tensor to compute, or an operation to run. Repeatable.",
)

feed = click.option(
    "--feed",
    "feeds",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=completion.feeds,
    help="A tensor's value: JSON, a path (.npy, .npz[:key], .h5[:/path], .csv, .json), "
    "or '-' for npy on stdin. Repeatable.",
)

checkpoint = click.option(
    "--checkpoint",
    metavar="CHECKPOINT",
    help="Take the variables from this checkpoint instead of the model's own.",
)

allow_files = click.option(
    "--allow-files",
    multiple=True,
    metavar="DIR",
    help="Let the graph's own ops read and write files below DIR; none by default. Repeatable.",
)

overrides = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a parameter of the spec. Repeatable.",
)
