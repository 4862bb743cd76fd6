"""`tf.flags`: absl's flags, with TensorFlow 1's argument names, parsed when one is first read.

Source: tensorflow/python/platform/flags.py (r1.15), behaviour only.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from absl import flags as _absl
from absl.flags import *  # noqa: F403

_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_old_names(define: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(define)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_RENAMED.get(key, key): value for key, value in kwargs.items()})

    return wrapper


DEFINE_string = _with_old_names(_absl.DEFINE_string)
DEFINE_boolean = _with_old_names(_absl.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _with_old_names(_absl.DEFINE_float)
DEFINE_integer = _with_old_names(_absl.DEFINE_integer)


class _Flags:
    """absl's FLAGS, which parses the command line by itself when a flag is read before it was parsed."""

    def __init__(self, values: Any) -> None:
        self.__dict__["__wrapped"] = values

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            return super().__getattribute__(name)
        return getattr(self.__dict__["__wrapped"], name)

    def __getattr__(self, name: str) -> Any:
        wrapped = self.__dict__["__wrapped"]
        if not wrapped.is_parsed():
            wrapped(sys.argv)
        return getattr(wrapped, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["__wrapped"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["__wrapped"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["__wrapped"])

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["__wrapped"][name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self.__dict__["__wrapped"][name] = flag

    def __iter__(self) -> Any:
        return iter(self.__dict__["__wrapped"])

    def __len__(self) -> int:
        return len(self.__dict__["__wrapped"])

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__["__wrapped"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["__wrapped"](*args, **kwargs)


FLAGS = _Flags(_absl.FLAGS)  # type: ignore[assignment]
