"""`tf.train.Scaffold`: what a training needs of its graph besides the model; and who makes sessions of it.

Source: tensorflow/python/training/monitored_session.py (r1.15), behaviour only.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from . import logging, summary
from .convert import constant
from .default import GraphKeys, add_to_collection, get_collection, get_default_graph, name_scope
from .errors import InvalidStateError, InvalidTypeError
from .op import group, no_op
from .ops.array_join import concat
from .saver import Saver
from .session_manager import SessionManager
from .variables import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)


def _initialize_resources(collection: str) -> Any:
    """An operation that makes the resources of a collection (objects with `create`)."""
    found = get_collection(collection)
    return group(*[item.create for item in found]) if found else no_op(name="init")


def _report_uninitialized_resources() -> Any:
    """No names: resources of this package exist from their first use on."""
    with name_scope("report_uninitialized_resources"):
        return constant([], dtype="string")


def _default_init_op() -> Any:
    return group(global_variables_initializer(), _initialize_resources(GraphKeys.RESOURCES))


def _default_ready_op() -> Any:
    return concat([report_uninitialized_variables(), _report_uninitialized_resources()], 0)


def _default_ready_for_local_init_op() -> Any:
    found = report_uninitialized_variables(global_variables())
    return concat([found, _report_uninitialized_resources()], 0)


def _get_saver_or_default() -> Any:
    """The one Saver of the collection, else a new one in it."""
    found = Scaffold.get_or_default("saver", GraphKeys.SAVERS, lambda: None)
    if found is None:
        found = Saver(sharded=True, allow_empty=True)
        add_to_collection(GraphKeys.SAVERS, found)
    return found


class Scaffold:
    """What a training needs of its graph; `finalize` makes what was not given.

    Each is taken from the graph's collection of that name where there is one element in it.

    Args:
        init_op: Gives all variables their values.
        init_feed_dict: Values to feed to it.
        init_fn: Called with the Scaffold and the session after it.
        ready_op: Gives the names of variables without a value.
        ready_for_local_init_op: The same, for when `local_init_op` may run.
        local_init_op: Gives local variables and tables their values.
        summary_op: All summaries, merged.
        saver: A Saver.
        copy_from_scaffold: A Scaffold that gives what is not given here.

    Raises:
        TypeError: `copy_from_scaffold` is no Scaffold.
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Any = None,
    ) -> None:
        other = copy_from_scaffold
        if other is not None and not isinstance(other, Scaffold):
            raise InvalidTypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(value: Any, name: str) -> Any:
            return getattr(other, name) if value is None and other is not None else value

        self._user_init_fn = given(init_fn, "_user_init_fn")
        self._init_op = given(init_op, "_init_op")
        self._init_feed_dict = given(init_feed_dict, "_init_feed_dict")
        self._ready_op = given(ready_op, "_ready_op")
        self._ready_for_local_init_op = given(ready_for_local_init_op, "_ready_for_local_init_op")
        self._local_init_op = given(local_init_op, "_local_init_op")
        self._summary_op = given(summary_op, "_summary_op")
        self._saver = given(saver, "_saver")

    def finalize(self) -> Scaffold:
        """Makes what is missing, and finalizes the default graph.

        Raises:
            RuntimeError: A collection has several elements.
        """
        for name, make in (
            ("init_op", _default_init_op),
            ("ready_op", _default_ready_op),
            ("ready_for_local_init_op", _default_ready_for_local_init_op),
            ("local_init_op", Scaffold.default_local_init_op),
            ("summary_op", summary.merge_all),
        ):
            if getattr(self, f"_{name}") is None:
                key = getattr(GraphKeys, name.upper())
                setattr(self, f"_{name}", Scaffold.get_or_default(name, key, make))
        if self._saver is None:
            self._saver = _get_saver_or_default()
        self._saver.build()
        self._saver.as_saver_def()  # its nodes, which a MetaGraphDef of the final graph needs
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Any:
        """A function of a session, or None."""
        function = self._user_init_fn
        return (lambda session: function(self, session)) if function else None

    @property
    def init_op(self) -> Any:
        """Gives all variables their values."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """Values to feed to `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """Gives the names of variables without a value."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The same, for when `local_init_op` may run."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """Gives local variables and tables their values."""
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        """All summaries, merged; None where there are none."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """The Saver."""
        return self._saver

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """The element of a collection; where it is empty, what a function makes, which is added.

        Raises:
            RuntimeError: The collection has several elements.
        """
        found = get_collection(collection_key)
        if len(found) > 1:
            raise InvalidStateError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use '
                f"by passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """An operation that gives local variables, tables and local resources their values."""
        return group(
            local_variables_initializer(),
            tables_initializer(),
            _initialize_resources(GraphKeys.LOCAL_RESOURCES),
        )


class SessionCreator(abc.ABC):
    """Makes the session of a monitored session, as often as that needs one."""

    @abc.abstractmethod
    def create_session(self) -> Any:
        """Makes a session."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class _ScaffoldSessionCreator(SessionCreator):
    """What the creators share."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._session_manager: SessionManager | None = None
        self._master = master
        self._config = config

    def _get_session_manager(self) -> SessionManager:
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


class ChiefSessionCreator(_ScaffoldSessionCreator):
    """Makes sessions that it restores or initializes.

    Args:
        scaffold: A Scaffold; by default a new one.
        master: Empty.
        config: A ConfigProto.
        checkpoint_dir: Where to look for the latest checkpoint.
        checkpoint_filename_with_path: The checkpoint, in place of `checkpoint_dir`.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Any:
        """Makes a session; errors as `SessionManager.prepare_session`."""
        self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(_ScaffoldSessionCreator):
    """Waits for a session that somebody else initializes.

    Args:
        scaffold: A Scaffold; by default a new one.
        master: Empty.
        config: A ConfigProto.
        max_wait_secs: How long to wait, in seconds.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 30 * 60,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        """Makes a session; errors as `SessionManager.wait_for_session`."""
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )
