"""Rewrites of models in memory: a graph as a message, together with the entries of its checkpoint.

They know ops by name at most, so graphs with ops that nobody implements are rewritten, too; none changes
what it is given, and values are read only where they become constants or are compared.
"""

from __future__ import annotations

from .difference import Changes as Changes, Difference as Difference, difference as difference
from .extract import Extracted as Extracted, extract as extract
from .freeze import Frozen as Frozen, freeze as freeze, freeze_graph as freeze_graph
from .merge import Merged as Merged, merge as merge
from .model import Model as Model, model_of as model_of
from .rename import Renamed as Renamed, rename as rename
from .shapes import Reshaped as Reshaped, set_shape as set_shape
from .strip import Stripped as Stripped, optimizer_slots as optimizer_slots, strip as strip
