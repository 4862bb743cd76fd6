"""Keras's HDF5 files: which dataset is which weight. Weight files and whole models, Keras 1.2 to 2.x.

    /, or /model_weights of a whole model      attribute layer_names: its layers in order
        <layer>                                attribute weight_names: its weights in order
            <weight name>                      the dataset, often below groups that repeat a scope
    /optimizer_weights                         attribute weight_names (whole models)
    attributes of the whole model              model_config, training_config (JSON), keras_version, backend

A list that is too long for one attribute is spread over `layer_names0`, `layer_names1`, ...
Source: the HDF5 format of Keras's `save_weights` and `save`.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

_MODEL_WEIGHTS = "model_weights"
_OPTIMIZER_WEIGHTS = "optimizer_weights"
_ABOUT = ("keras_version", "backend")
_CONFIGURATIONS = ("model_config", "training_config")


def weight_names(file: Any) -> dict[str, str]:
    """The name of each weight (without `:0`) by the path of its dataset; empty for other HDF5 files.

    A name that several layers use (nested models, Keras 3 writes `kernel` everywhere) gets its layer
    in front.

    Args:
        file: An open `h5py.File`.
    """
    import h5py

    found = []  # (dataset path, layer, name)
    for layer, group, name in _listed(file)[1]:
        dataset = group.get(name)
        if isinstance(dataset, h5py.Dataset):
            found.append((dataset.name, layer, name.removesuffix(":0")))
    counts = Counter(name for _, _, name in found)
    return {path: name if counts[name] == 1 else f"{layer}/{name}" for path, layer, name in found}


def missing_weights(file: Any) -> dict[str, str]:
    """The weights (by layer and name) and layers that a file lists and does not have, and why.

    Args:
        file: An open `h5py.File`.
    """
    import h5py

    found = {}
    layers, listed = _listed(file)
    for layer, group in layers:
        if not isinstance(group, h5py.Group):
            found[layer] = f"The layer '{layer}' is in layer_names, but has no group: its weights are lost."
    for layer, group, name in listed:
        if not isinstance(group.get(name), h5py.Dataset):
            what = (
                f"The weight '{name}' of {group.name} is in its weight_names, but has no dataset: it is lost."
            )
            found[f"{layer}/{name.removesuffix(':0')}"] = what
    return found


def _listed(file: Any) -> tuple[list[tuple[str, Any]], list[tuple[str, Any, str]]]:
    """(layer, group or None) of each layer; (layer, group, name) of each weight, the optimizer's too."""
    import h5py

    root = file.get(_MODEL_WEIGHTS, file)
    names = _names(root.attrs, "layer_names") if isinstance(root, h5py.Group) else []
    layers = [(layer, root.get(layer)) for layer in names]
    weights = [
        (layer, group, name)
        for layer, group in [*layers, (_OPTIMIZER_WEIGHTS, file.get(_OPTIMIZER_WEIGHTS))]
        if isinstance(group, h5py.Group)
        for name in _names(group.attrs, "weight_names")
    ]
    return layers, weights


def is_optimizers(path: str) -> bool:
    """Whether the dataset at a path is an optimizer's, not a layer's."""
    return path.startswith(f"/{_OPTIMIZER_WEIGHTS}/")


def about(file: Any) -> dict[str, Any]:
    """What a file says of itself, JSON-ready: `keras_version`, `backend`, `model_config`, `training_config`.

    A configuration that is no JSON is left out.

    Args:
        file: An open `h5py.File`.
    """
    found: dict[str, Any] = {}
    for place in (file, file.get(_MODEL_WEIGHTS, file)):
        for key in _ABOUT:
            if key in place.attrs:
                found.setdefault(key, _text(place.attrs[key]))
    for key in _CONFIGURATIONS:
        if key in file.attrs:
            try:
                found[key] = json.loads(_text(file.attrs[key]))
            except ValueError:
                continue
    return found


def model_layers(configuration: Any) -> list[tuple[str, str]]:
    """(class, name) of each layer in a `model_config`; Keras 1 lists those of a Sequential without a name."""
    if not isinstance(configuration, dict):
        return []
    config = configuration.get("config", [])
    layers = config.get("layers", []) if isinstance(config, dict) else config
    found = []
    for layer in layers if isinstance(layers, list) else ():
        if isinstance(layer, dict) and isinstance(layer.get("config"), dict):
            name = layer["config"].get("name") or layer.get("name") or ""
            found.append((str(layer.get("class_name", "")), str(name)))
    return found


def _names(attributes: Any, key: str) -> list[str]:
    """A list of names, which may be spread over several attributes."""
    if key in attributes:
        return [_text(one) for one in attributes[key]]
    names: list[str] = []
    number = 0
    while f"{key}{number}" in attributes:
        names += [_text(one) for one in attributes[f"{key}{number}"]]
        number += 1
    return names


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
