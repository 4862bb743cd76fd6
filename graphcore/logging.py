"""`tf.logging`: TensorFlow's logger; written to standard error unless the program configured logging itself.

The logger is the standard library's, named "tensorflow", as in TensorFlow 1.15.
"""

from __future__ import annotations

import logging as _logging
import sys
import threading
from typing import TYPE_CHECKING, Any

from . import not_yet

DEBUG = _logging.DEBUG
INFO = _logging.INFO
WARN = _logging.WARNING
ERROR = _logging.ERROR
FATAL = _logging.FATAL

_lock = threading.Lock()
_logger: _logging.Logger | None = None
_counts: dict[Any, int] = {}


def get_logger() -> _logging.Logger:
    """The logger named "tensorflow"; at the first call it gets a level and, where needed, a handler.

    The level is WARN unless one was set. The handler writes to standard error, and is left out when the root
    logger has handlers, through which messages then go.
    """
    global _logger
    with _lock:
        if _logger is None:
            logger = _logging.getLogger("tensorflow")
            if logger.level == _logging.NOTSET:
                logger.setLevel(WARN)
            if not _logging.getLogger().handlers and not logger.handlers:
                handler = _logging.StreamHandler(sys.stderr)
                handler.setFormatter(_logging.Formatter(_logging.BASIC_FORMAT, None))
                logger.addHandler(handler)
            _logger = logger
    return _logger


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at `level`."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at DEBUG."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at INFO."""
    get_logger().info(msg, *args, **kwargs)


def warn(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at WARN."""
    get_logger().warning(msg, *args, **kwargs)


warning = warn


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at ERROR."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at FATAL; does not end the program."""
    get_logger().fatal(msg, *args, **kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at `level`."""
    get_logger().log(level, msg, *args, **kwargs)


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Logs at `level` if `condition` is true."""
    if condition:
        vlog(level, msg, *args)


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first and then every n-th call from the same place."""
    log_if(level, msg, _count(_caller()) % n == 0, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first `n` calls from the same place."""
    log_if(level, msg, _count(_caller()) < n, *args)


def _caller() -> tuple[str, int]:
    frame = sys._getframe(2)
    return frame.f_code.co_filename, frame.f_lineno


def _count(place: Any) -> int:
    """How often this place has been here before."""
    with _lock:
        _counts[place] = _counts.get(place, -1) + 1
        return _counts[place]


def TaskLevelStatusMessage(msg: str) -> None:
    """Logs at ERROR."""
    error(msg)


def flush() -> None:
    """Does nothing: what is logged is written at once."""


def get_verbosity() -> int:
    """The least level that is logged."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int | str) -> None:
    """Sets the least level that is logged."""
    get_logger().setLevel(v)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "TaskLevelStatusMessage", "debug", "error", "fatal",
    "flush", "get_logger", "get_verbosity", "info", "log", "log_every_n", "log_first_n", "log_if",
    "set_verbosity", "vlog", "warn", "warning",
]  # fmt: skip
