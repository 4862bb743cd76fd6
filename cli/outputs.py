"""`-o`: arrays by name, written as the suffix says."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from ..formats.errors import InvalidValueError, UnimplementedError
from . import render

STDOUT = "-"
ONE_ARRAY = (".npy", STDOUT)
SUFFIXES = (".npz", ".npy", ".h5", ".hdf5", ".json")


def check(path: str, as_json: bool, count: int) -> None:
    """Refuses an `-o` that cannot work, before anything is computed.

    Raises:
        click.UsageError: `-` together with `--json`, or several arrays for a file of one.
        UnimplementedError: The suffix is of no kind that is written.
    """
    if path == STDOUT and as_json:
        raise click.UsageError("'-o -' and --json both want standard output; leave one out.")
    if path != STDOUT and not path.endswith(SUFFIXES):
        raise UnimplementedError(
            f"-o {path}: results are written as {', '.join(SUFFIXES)}, or '-' for npy on stdout.", path=path
        )
    if path.endswith(ONE_ARRAY) and count > 1:
        raise click.UsageError(f"-o {path} holds one array, and {count} are fetched; use .npz, .h5 or .json.")


def write(path: str, arrays: Mapping[str, Any]) -> None:
    """Writes arrays by name; a file of one array takes the only one.

    Raises:
        InvalidValueError: The kind of file cannot hold a dtype; lists all such arrays.
        OpError: The file cannot be written.
    """
    from ..formats import files

    if path == STDOUT:
        sys.stdout.buffer.write(_npy(arrays))
        sys.stdout.buffer.flush()
    elif path.endswith(".npy"):
        files.write_bytes(path, _npy(arrays))
    elif path.endswith(".json"):
        import json

        text = json.dumps(render.json_value(as_document(arrays)), ensure_ascii=False, allow_nan=False)
        files.write_bytes(path, f"{text}\n".encode())
    else:
        from ..formats import registry
        from ..formats.entry import entry_of

        # The HDF5 store adds `:0` to every name itself.
        ending = "" if path.endswith(".npz") else ":0"
        entries = [entry_of(name.removesuffix(ending), array) for name, array in arrays.items()]
        registry.write_store(path, entries)


def as_document(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """`{"outputs": {name: {"dtype", "shape", "value"}}}`."""
    return {
        "outputs": {
            name: {"dtype": dtype_name(array), "shape": list(array.shape), "value": array}
            for name, array in arrays.items()
        }
    }


def as_array(value: Any) -> Any:
    """A fetched value as an array: strings, which come as bytes or object arrays, as objects of bytes."""
    import numpy as np

    if isinstance(value, (bytes, str)):
        array = np.empty((), object)
        array[()] = value
        return array
    return np.asarray(value)


def show(name: str, value: Any, limit: int = 200, dtype: str | None = None) -> None:
    """Prints one array: name, dtype and shape, then its values; of more than `limit` the first and last.

    Args:
        name: What it is called.
        value: The array.
        limit: Elements up to which all are printed.
        dtype: TensorFlow's name of its dtype, where NumPy's does not say it (quantized types, variants).
    """
    import numpy as np

    array = as_array(value)
    render.line(f"{name}  {dtype or dtype_name(array)} {render.shape(array.shape)}")
    if array.dtype.kind == "V":  # ml_dtypes: NumPy prints these by way of their repr, without a format
        array = array.astype(np.int32 if "int" in array.dtype.name else np.float32)
    if array.dtype.kind != "O":
        render.line(np.array2string(array, threshold=limit))
    elif array.size <= limit:
        render.line(str(array.tolist()))
    else:
        render.line(f"{array.reshape(-1)[:3].tolist()} and {array.size - 3} more")


def dtype_name(array: Any) -> str:
    """TensorFlow's name of an array's dtype."""
    from ..formats import dtypes

    return dtypes.from_numpy(array.dtype).name


def _npy(arrays: Mapping[str, Any]) -> bytes:
    import io

    import numpy as np

    buffer = io.BytesIO()
    for name, array in arrays.items():
        if array.dtype.kind in "OV":
            raise InvalidValueError(
                f"An npy file cannot hold {name}: its dtype is "
                f"{'string' if array.dtype.kind == 'O' else array.dtype.name}. Use .npz or .json.",
                name=name,
            )
        np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
