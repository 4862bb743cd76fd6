"""`tf.test.StubOutForTesting`: attributes replaced for a while.

Source: tensorflow/python/platform/googletest.py (r1.15), behaviour only.
"""

from __future__ import annotations

import inspect
from typing import Any


class StubOutForTesting:
    """Replaces attributes of modules, classes and objects, and puts the old ones back in `CleanUp`.

    A block `with StubOutForTesting() as stubs:` cleans up at its end.
    """

    def __init__(self) -> None:
        self._set: list[tuple[Any, str, Any]] = []
        self._smart: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *exception: object) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        """Puts everything back."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replaces an attribute where it is defined: of an object, that is its class or a base of it.

        Raises:
            AttributeError: There is no such attribute.
        """
        own = not inspect.isclass(obj) and attr_name in vars(obj)
        if inspect.ismodule(obj) or own:
            owner = obj
        else:
            classes = inspect.getmro(obj if inspect.isclass(obj) else type(obj))
            owner = next((each for each in classes if attr_name in vars(each)), None)
            if owner is None:
                raise AttributeError("Attribute not found.")
        self._smart.append((owner, attr_name, vars(owner)[attr_name]))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        """Puts back what `SmartSet` replaced."""
        while self._smart:
            setattr(*self._smart.pop())

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replaces an attribute of `parent` itself.

        Raises:
            AttributeError: There is no such attribute.
        """
        old = vars(parent).get(child_name)
        if not isinstance(old, staticmethod):
            old = getattr(parent, child_name)
        self._set.append((parent, child_name, old))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:
        """Puts back what `Set` replaced, the last first."""
        while self._set:
            setattr(*self._set.pop())
