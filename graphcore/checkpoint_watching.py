"""`tf.train.checkpoints_iterator`: the checkpoints of a directory as they appear.

Source: tensorflow/python/training/checkpoint_utils.py (r1.15), behaviour only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from . import logging
from .checkpoint_management import latest_checkpoint


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Waits until the latest checkpoint of a directory is another.

    Args:
        checkpoint_dir: The directory.
        last_checkpoint: The prefix of the checkpoint that is known already.
        seconds_to_sleep: From one look to the next.
        timeout: The longest time to wait, in seconds; None for ever.

    Returns:
        The prefix, or None after `timeout`.
    """
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    until = None if timeout is None else time.time() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            logging.info("Found new checkpoint at %s", found)
            return found
        if until is not None and time.time() + seconds_to_sleep > until:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """`tf.train.checkpoints_iterator`: gives the latest checkpoint again and again, each once.

    Args:
        checkpoint_dir: The directory.
        min_interval_secs: The least time from one to the next, in seconds.
        timeout: The longest time to wait for one, in seconds; None for ever.
        timeout_fn: Called after `timeout`; says whether to end. By default it ends.

    Yields:
        Prefixes.
    """
    path: str | None = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if found is None:
            if timeout_fn is None:
                logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start = time.time()
        path = found
        yield found
        rest = start + min_interval_secs - time.time()
        if rest > 0:
            time.sleep(rest)
