"""The default-graph and default-session stacks: the only global state, one pair of stacks a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


class DefaultStack(threading.local, Generic[Item]):
    """A per-thread stack of nested defaults."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    @property
    def top(self) -> Item | None:
        """The innermost default, or None."""
        return self.items[-1] if self.items else None

    @contextmanager
    def push(self, item: Item) -> Iterator[Item]:
        """Makes `item` the default inside the block.

        Raises:
            AssertionError: The blocks are not properly nested.
        """
        self.items.append(item)
        try:
            yield item
        finally:
            if self.items and self.items[-1] is item:
                self.items.pop()
            elif item in self.items:
                raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")


graph_stack: DefaultStack[Any] = DefaultStack()
session_stack: DefaultStack[Any] = DefaultStack()
