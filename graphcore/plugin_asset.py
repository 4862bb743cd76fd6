"""Assets of TensorBoard's plugins: files that a FileWriter writes with a graph.

Source: tensorflow/python/summary/plugin_asset.py (r1.15), behaviour only.
"""

from __future__ import annotations

import abc
from typing import Any

from .default import get_default_graph
from .errors import InvalidValueError

_PREFIX = "__tensorboard_plugin_asset__"


class PluginAsset(abc.ABC):
    """The assets of one plugin.

    Attributes:
        plugin_name: Names the plugin and its folder.
    """

    plugin_name: Any = None

    @abc.abstractmethod
    def assets(self) -> dict[str, Any]:
        """The content of each file (text or bytes) by its name."""
        raise NotImplementedError


def get_plugin_asset(plugin_asset_cls: Any, graph: Any = None) -> Any:
    """The object of a PluginAsset class in a graph, made where there is none.

    Raises:
        ValueError: The class has no name, or another class has its name.
    """
    graph = graph or get_default_graph()
    name = plugin_asset_cls.plugin_name
    if not name:
        raise InvalidValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    found = graph.get_collection(_PREFIX + name)
    if found:
        if not isinstance(found[0], plugin_asset_cls):
            raise InvalidValueError(f"Plugin name collision: {name}")
        return found[0]
    made = plugin_asset_cls()
    graph.add_to_collection(_PREFIX + name, made)
    graph.add_to_collection(_PREFIX, name)
    return made


def get_all_plugin_assets(graph: Any = None) -> list[Any]:
    """The PluginAsset objects of a graph.

    Raises:
        ValueError: A name has not exactly one.
    """
    graph = graph or get_default_graph()
    result = []
    for name in graph.get_collection(_PREFIX):
        found = graph.get_collection(_PREFIX + name)
        if len(found) != 1:
            raise InvalidValueError(f"Collection for {name} should have 1 item but had {len(found)}")
        result.append(found[0])
    return result
