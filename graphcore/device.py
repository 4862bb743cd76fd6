"""Device names: reading, merging and writing `/job:worker/task:0/device:CPU:0`.

Nothing runs on a device other than the CPU here; the names are kept because graphs carry them.
Source: tensorflow/python/framework/device_spec.py (r1.15), behaviour only.
"""

from __future__ import annotations

import re
from typing import Any

from .errors import InvalidValueError

_FIELDS = ("job", "replica", "task", "device")


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
