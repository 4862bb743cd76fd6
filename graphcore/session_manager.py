"""`tf.train.SessionManager`: makes sessions whose variables have values, restored or initialized.

Source: tensorflow/python/training/session_manager.py (r1.15), behaviour only.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import numpy as np

from . import logging
from .checkpoint_management import get_checkpoint_state
from .default import get_default_graph
from .errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidStateError,
    InvalidValueError,
)
from .session import Session


class SessionManager:
    """Makes sessions that are ready for use.

    Args:
        local_init_op: Run in every new session: what no checkpoint holds.
        ready_op: Gives the names of variables without a value; none means ready. By default nobody asks.
        ready_for_local_init_op: The same, for when `local_init_op` may run.
        graph: The graph; by default the default graph.
        recovery_wait_secs: Seconds from one look for a checkpoint, or for a ready model, to the next.
        local_init_run_options: RunOptions for `local_init_op`.

    Raises:
        ValueError: `ready_for_local_init_op` is given without `local_init_op`.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Any = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        if ready_for_local_init_op is not None and local_init_op is None:
            raise InvalidValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )

    def _restore_checkpoint(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """A new session, and whether it was restored."""
        if checkpoint_dir and checkpoint_filename_with_path:
            raise InvalidValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        session = Session(master, graph=self._graph, config=config)
        if saver is None or not (checkpoint_dir or checkpoint_filename_with_path):
            return session, False
        if checkpoint_filename_with_path:
            saver.restore(session, checkpoint_filename_with_path)
            return session, True
        assert checkpoint_dir is not None
        waited = 0.0
        while True:
            state = get_checkpoint_state(checkpoint_dir)
            if state is not None and state.model_checkpoint_path:
                saver.restore(session, state.model_checkpoint_path)
                saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
                return session, True
            if not wait_for_checkpoint or waited >= max_wait_secs:
                return session, False
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Any = None,
    ) -> Session:
        """Makes a session: restored where there is a checkpoint, else initialized.

        Args:
            master: Empty.
            init_op: Run where nothing was restored.
            saver: The Saver that restores.
            checkpoint_dir: Where to look for the latest checkpoint.
            checkpoint_filename_with_path: The checkpoint, in place of `checkpoint_dir`.
            wait_for_checkpoint: Wait until there is one.
            max_wait_secs: How long to wait, in seconds.
            config: A ConfigProto.
            init_feed_dict: Values to feed to `init_op`.
            init_fn: Called with the session after `init_op`.

        Raises:
            RuntimeError: There is nothing to initialize with, or it did not make the model ready; says what
                has no value.
            ValueError: Both `checkpoint_dir` and `checkpoint_filename_with_path` are given.
            OpError: The checkpoint cannot be restored.
        """
        session, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
            max_wait_secs, config,
        )  # fmt: skip
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise InvalidStateError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        trouble = self._run_local_init(session)
        if trouble is not None:
            raise InvalidStateError(
                "Init operations did not make model ready for local_init.  "
                f"Init op: {_name(init_op)}, init fn: {init_fn}, error: {trouble}"
            )
        trouble = self._not_ready(session)
        if trouble is not None:
            raise InvalidStateError(
                f"Init operations did not make model ready.  Init op: {_name(init_op)}, init fn: {init_fn}, "
                f"local_init_op: {self._local_init_op}, error: {trouble}"
            )
        return session

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """Makes a session and restores it where that is possible; arguments as `prepare_session`.

        Returns:
            The session, and whether it was restored and is ready.

        Raises:
            ValueError: Both `checkpoint_dir` and `checkpoint_filename_with_path` are given.
            OpError: The checkpoint cannot be restored.
        """
        session, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
            max_wait_secs, config,
        )  # fmt: skip
        trouble = self._run_local_init(session)
        if not restored:
            return session, False
        where = checkpoint_dir or checkpoint_filename_with_path
        if trouble is not None:
            logging.info(
                "Restoring model from %s did not make model ready for local init: %s", where, trouble
            )
            return session, False
        trouble = self._not_ready(session)
        if trouble is not None:
            logging.info("Restoring model from %s did not make model ready: %s", where, trouble)
            return session, False
        logging.info("Restored model from %s", where)
        return session, True

    def wait_for_session(
        self, master: str, config: Any = None, max_wait_secs: float | None = float("inf")
    ) -> Session:
        """Makes sessions until one is ready, which another must make it.

        Sessions share no variables here, so that only a graph without uninitialized ones becomes ready.

        Args:
            master: Empty.
            config: A ConfigProto.
            max_wait_secs: How long to wait, in seconds; None for ever.

        Raises:
            DeadlineExceededError: It took longer.
        """
        limit = float("inf") if max_wait_secs is None else max_wait_secs
        until = time.time() + limit
        while True:
            session = Session(master, graph=self._graph, config=config)
            local, trouble = self._run_local_init(session), None
            if local is None:
                trouble = self._not_ready(session)
                if trouble is None:
                    return session
            with suppress(Exception):  # the session is given up in any case
                session.close()
            if until - time.time() < self._recovery_wait_secs:
                raise DeadlineExceededError(
                    f"Session was not ready after waiting {max_wait_secs} secs.", waited_for=local or trouble
                )
            logging.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", local, trouble
            )
            time.sleep(self._recovery_wait_secs)

    def _not_ready(self, session: Session) -> str | None:
        return _unready(self._ready_op, session, "Model not ready")

    def _run_local_init(self, session: Session) -> str | None:
        """Runs `local_init_op` if it may run; else says why it may not."""
        if self._local_init_op is None:
            return None
        trouble = _unready(self._ready_for_local_init_op, session, "Model not ready for local init")
        if trouble is None:
            logging.info("Running local_init_op.")
            session.run(self._local_init_op, options=self._local_init_run_options)
            logging.info("Done running local_init_op.")
        return trouble


def _name(item: Any) -> str:
    if item is None:
        return "None"
    return str(item.name) if hasattr(item, "name") else f"<no name for {type(item)}>"


def _unready(op: Any, session: Session, what: str) -> str | None:
    """What a ready-operation says is missing; None where nothing is.

    It gives names, or fails where something has no value (`assert_variables_initialized`), or asks nothing
    (an int32).
    """
    if op is None:
        return None
    try:
        value = session.run(op)
    except (FailedPreconditionError, InvalidArgumentError) as error:
        if "uninitialized" not in str(error):
            logging.warning("%s : error [%s]", what, error)
            raise
        return str(error)
    if value is None or value.dtype == np.int32 or not value.size:
        return None
    return "Variables not initialized: " + ", ".join(name.decode() for name in np.ravel(value))
