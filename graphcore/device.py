"""Device names: reading, merging and writing `/job:worker/task:0/device:CPU:0`.

Nothing runs on a device other than the CPU here; the names are kept because graphs carry them.
Source: tensorflow/python/framework/device_spec.py (r1.15), behaviour only.
"""

from __future__ import annotations

import re
from typing import Any

from ..formats.errors import did_you_mean
from .errors import InvalidValueError

_FIELDS = ("job", "replica", "task", "device")
_COMPONENTS = ("job", "replica", "task", "device_type", "device_index")


def parse(name: str) -> dict[str, str]:
    """The components of a device name: job, replica, task, device (`CPU:0`), those it has.

    Raises:
        InvalidValueError: It is not a device name.
    """
    fields: dict[str, str] = {}
    for part in filter(None, name.split("/")):
        key, _, value = part.partition(":")
        if key in ("job", "replica", "task"):
            fields[key] = value
        elif key == "device":
            kind, _, index = value.partition(":")
            fields["device"] = f"{kind.upper() if kind.lower() in ('cpu', 'gpu') else kind}:{index or '*'}"
        elif key.lower() in ("cpu", "gpu") and re.fullmatch(r"\d+|\*|", value):
            fields["device"] = f"{key.upper()}:{value or '*'}"
        else:
            raise InvalidValueError(f"Unknown attribute: '{key}' in '{name}'")
    return fields


def format_fields(fields: dict[str, str]) -> str:
    """The canonical name of components."""
    text = "".join(f"/{key}:{fields[key]}" for key in _FIELDS if key in fields)
    return text.removesuffix(":*") if fields.get("device", "").endswith(":*") else text


def merge(outer: str, inner: Any) -> str:
    """The name in effect inside `with device(inner)` within `outer`; "" or None clears."""
    if inner is None or inner == "":
        return outer if inner == "" else ""
    return format_fields(parse(outer) | parse(str(inner)))


class DeviceSpec:
    """`tf.DeviceSpec`: a device name, or part of one, in its components.

    Args:
        job: The job's name.
        replica: The replica's index.
        task: The task's index.
        device_type: `CPU` or `GPU`; lower case becomes upper case.
        device_index: The device's index; None for any.
    """

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        self.job, self.replica, self.task = job, replica, task
        self.device_type, self.device_index = device_type, device_index

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _COMPONENTS:
            raise AttributeError(
                f"'DeviceSpec' object has no attribute {name!r}.{did_you_mean(name, _COMPONENTS)}"
            )
        if value is not None:
            value = str(value) if name in ("job", "device_type") else int(value)
        if name == "device_type" and value in ("cpu", "gpu"):
            value = value.upper()
        object.__setattr__(self, name, value)

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """That of a device name.

        Raises:
            ValueError: It is none.
        """
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Takes all components from a device name; those that it has not are None.

        Raises:
            ValueError: It is no device name.
        """
        text = spec or ""
        if len(re.findall(r"(?i)/(?:device:|[cg]pu)", "/" + text)) > 1:
            raise InvalidValueError(f"Cannot specify multiple device types: {text}")
        fields = parse(text)
        kind, _, index = fields.get("device", "").partition(":")
        self.job, self.replica, self.task = (fields.get(key) for key in ("job", "replica", "task"))
        self.device_type = kind or None
        self.device_index = None if index in ("", "*") else index
        return self

    def to_string(self) -> str:
        """The device name: `/job:<name>/replica:<id>/task:<id>/device:<type>:<id>`, as far as given."""
        parts = [(key, getattr(self, key)) for key in ("job", "replica", "task")]
        text = "".join(f"/{key}:{value}" for key, value in parts if value is not None)
        if self.device_type is None:
            return text
        return f"{text}/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}"

    def _components(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _COMPONENTS}

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new one with the components of `dev`, and its own where `dev` has none."""
        given = {name: value for name, value in dev._components().items() if value is not None}
        return DeviceSpec(**(self._components() | given))

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over the components that `dev` has."""
        for name, value in dev._components().items():
            if value is not None:
                setattr(self, name, value)

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A new one with other components, named as for the constructor."""
        return DeviceSpec(**(self._components() | kwargs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={value!r}" for name, value in self._components().items() if value is not None
        )
        return f"DeviceSpec({given})"
