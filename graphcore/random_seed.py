"""Seeds of random ops: what a graph's seed and an op's seed make together.

Source: tensorflow/python/framework/random_seed.py (r1.15), behaviour only.
"""

from __future__ import annotations

from .default import get_default_graph

DEFAULT_GRAPH_SEED = 87654321
_MAX_SEED = 2**31 - 1


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """`tf.get_seed`: the two seeds of a random op in the default graph.

    With a graph seed alone, the op's seed is the number of operations that the graph has so far, as
    in TensorFlow 1.15. Without any seed both are None: different numbers in each session.

    Args:
        op_seed: The op's own seed, or None.

    Returns:
        `(seed, seed2)`; never (0, 0), which would mean no seed at all.
    """
    graph = get_default_graph()
    if graph.seed is not None:
        seeds = graph.seed % _MAX_SEED, (graph.version if op_seed is None else op_seed) % _MAX_SEED
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed % _MAX_SEED
    else:
        return None, None
    return (0, _MAX_SEED) if seeds == (0, 0) else seeds


def set_random_seed(seed: int | None) -> None:
    """`tf.set_random_seed`: sets the seed of the default graph."""
    get_default_graph().seed = seed
