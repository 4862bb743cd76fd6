"""Weight files as Keras writes them: a group for each layer, whose weights its attribute lists.

    attributes of the file    layer_names, backend, keras_version
    /<layer>                  attribute weight_names
    /<layer>/<variable>:0     the dataset; a variable's layer is the first component of its name

The reader is `hdf5_store.py`, by `keras_weights.py`. Source: the HDF5 format of Keras's `save_weights`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from . import files
from .entry import Entry
from .errors import InvalidTypeError, InvalidValueError, bullets
from .tensor_bytes import flat_bytes, values_of

_ATTRIBUTE_LIMIT = 64512
"""Bytes of an attribute, beyond which Keras spreads a list over several."""
_VERSION = b"2.2.4-tf"
"""What TensorFlow 1.15's Keras calls itself."""


def refusal(entry: Entry) -> str:
    """Why a weight file of Keras cannot hold an entry; "" where it can."""
    if entry.dtype.name != entry.dtype.numpy_name or entry.dtype.kind in ("string", "handle"):
        return f"a weight file of Keras holds plain numbers, not {entry.dtype.name}"
    name = entry.name
    if not name.isprintable() or ":" in name or any(one in ("", ".", "..") for one in name.split("/")):
        return "HDF5 has no such name"
    return ""


def write_keras_weights(path: files.Path, entries: Iterable[Entry]) -> None:
    """Writes variables to a weight file that Keras reads, atomically; each is read when its turn comes.

    Args:
        path: The file.
        entries: What to write.

    Raises:
        InvalidTypeError: Entries that are no plain numbers; lists all.
        InvalidValueError: Names that HDF5 cannot hold, or that come twice; lists all.
        OpError: The file cannot be written, or an entry not read; the old file stays.
    """
    import h5py
    import numpy as np

    from .hdf5_store import write_errors

    pending = list(entries)
    _check(pending)
    layers: dict[str, list[Entry]] = {}
    for entry in pending:
        layers.setdefault(entry.name.partition("/")[0], []).append(entry)
    with files.atomic_files() as replacement:
        temporary = replacement.reserve(path)
        with write_errors(str(path)), h5py.File(temporary, "w", libver=("v108", "v108")) as file:
            file.attrs["backend"] = np.bytes_(b"tensorflow")
            file.attrs["keras_version"] = np.bytes_(_VERSION)
            _set_names(file, "layer_names", list(layers))
            for layer, weights in layers.items():
                group = file.create_group(layer)
                _set_names(group, "weight_names", [f"{entry.name}:0" for entry in weights])
                for entry in weights:
                    values = values_of(entry)
                    data = flat_bytes(values, entry.dtype).view(entry.dtype.numpy.newbyteorder("<"))
                    group.create_dataset(f"{entry.name}:0", data=data.reshape(values.shape))


def _check(entries: list[Entry]) -> None:
    refused = {entry.name: why for entry in entries if (why := refusal(entry))}
    dtypes = [
        f"{entry.name} ({entry.dtype.name})" for entry in entries if "numbers" in refused.get(entry.name, "")
    ]
    if dtypes:
        raise InvalidTypeError(
            f"A weight file of Keras cannot hold these, which are no plain numbers:{bullets(dtypes)}",
            names=dtypes,
        )
    counts = Counter(entry.name for entry in entries)
    problems = [f"'{name}' comes twice" for name, count in counts.items() if count > 1]
    problems += [f"{name!r}: {why}" for name, why in refused.items()]
    if problems:
        raise InvalidValueError(f"These entries cannot be written:{bullets(problems)}", problems=problems)


def _set_names(node: Any, key: str, names: list[str]) -> None:
    import numpy as np

    encoded = [name.encode() for name in names]
    longest = max(map(len, encoded), default=1)
    if not encoded:
        node.attrs[key] = np.empty(0, "S1")
        return
    if longest * len(encoded) <= _ATTRIBUTE_LIMIT:
        node.attrs[key] = np.array(encoded)
        return
    if longest > _ATTRIBUTE_LIMIT:
        raise InvalidValueError(f"A name of {longest} bytes is longer than an attribute of HDF5 can be.")
    count = _ATTRIBUTE_LIMIT // longest
    for number, at in enumerate(range(0, len(encoded), count)):
        node.attrs[f"{key}{number}"] = np.array(encoded[at : at + count])
