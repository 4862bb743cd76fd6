"""`tf.train.SyncReplicasOptimizer`: there, to say why it does not work here."""

from __future__ import annotations

from typing import Any

from ..errors import UnimplementedError
from .optimizer import Optimizer


class SyncReplicasOptimizer(Optimizer):
    """An optimizer that averages the gradients of several workers, of which there is one here.

    Raises:
        UnimplementedError: Always.
    """

    def __init__(self, opt: Any, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError(
            "SyncReplicasOptimizer collects the gradients of several workers of a cluster, and sgtool runs "
            f"in one process. Use {type(opt).__name__} itself: with one worker it takes the same steps."
        )
