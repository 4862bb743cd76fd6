"""The scopes that one thread is in while it builds a graph."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .operation import Operation


class Scopes(threading.local):
    """The scopes that one thread is in."""

    def __init__(self) -> None:
        self.name = ""
        self.device = ""
        # With a function among them the devices of all `device` blocks from the last `device(None)` on,
        # outermost first; `device` holds what they come to where all are names.
        self.device_stack: list[str | Callable[[Operation], Any]] = []
        self.has_device_function = False
        self.colocation: list[Operation] = []
        self.control: list[ControlDependencies] = []
        self.attrs: dict[str, Any] = {}
        self.gradient_overrides: dict[str, str] = {}
        self.kernel_labels: dict[str, str] = {}
        self.container = ""
        self.control_flow_context: Any = None


class ControlDependencies:
    """One `control_dependencies` block: what must run first, and what was made inside."""

    def __init__(self, inputs: list[Operation], clears: bool) -> None:
        self.inputs = inputs
        self.clears = clears
        self.made: set[Operation] = set()
