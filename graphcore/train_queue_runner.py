"""`tf.train.queue_runner`: the names of queue runners, as a module."""

from __future__ import annotations

from .queue_runner import QueueRunner, add_queue_runner, start_queue_runners

__all__ = ["QueueRunner", "add_queue_runner", "start_queue_runners"]
