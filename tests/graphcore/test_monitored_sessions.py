"""`tf.train`: monitored sessions, their hooks, Scaffold, SessionManager, timelines."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.formats.event_file import read_events
from sgtool.graphcore.timeline import Timeline


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    logger = logging.getLogger("tensorflow")
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.propagate = True
    yield lambda: "\n".join(record.getMessage() for record in caplog.records)
    logger.setLevel(level)
    logger.propagate = propagate


def counting() -> Any:
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


def events(folder: Path) -> list[Any]:
    tf.summary.FileWriterCache.clear()
    return [event for path in sorted(folder.glob("events*")) for event in read_events(path)]


class Recorder(tf.train.SessionRunHook):
    """Notes its calls."""

    def __init__(self, args: Any = None) -> None:
        self.calls: list[str] = []
        self.args = args
        self.results: list[Any] = []

    def begin(self) -> None:
        self.calls.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        assert isinstance(coord, tf.train.Coordinator)
        self.calls.append("create")

    def before_run(self, run_context: Any) -> Any:
        self.calls.append("before")
        return self.args

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls.append("after")
        self.results.append(run_values.results)

    def end(self, session: Any) -> None:
        self.calls.append("end")


class Failing(tf.train.SessionRunHook):
    """Raises an error before one run."""

    def __init__(self, error: Exception, at: int) -> None:
        self.error, self.at, self.runs = error, at, 0

    def before_run(self, run_context: Any) -> None:
        self.runs += 1
        if self.runs == self.at:
            raise self.error


class TestMonitoredSession:
    def test_hooks_are_called_in_order_and_get_what_they_ask_for(self) -> None:
        x = tf.placeholder(tf.float32)
        hook = Recorder(tf.train.SessionRunArgs({"twice": 2 * x}, {x: 3.0}))
        y = x + 1
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            assert session.run([y, {"a": x}]) == [4.0, {"a": 3.0}]
            assert not session.should_stop()
        assert hook.calls == ["begin", "create", "before", "after", "end"]
        assert hook.results == [{"twice": 6.0}]
        assert session.should_stop()
        with pytest.raises(RuntimeError, match="Session is already closed"):
            session.close()
        with pytest.raises(RuntimeError, match="Session is already closed"):
            session.run(x)

    def test_the_graph_is_final_while_it_is_open(self, graph: Any) -> None:
        tf.constant(1)
        with tf.train.MonitoredSession() as session:
            assert session.graph is graph
            assert graph.finalized
        assert not graph.finalized
        assert session.graph is None

    @pytest.mark.parametrize("error", [tf.errors.AbortedError, tf.errors.UnavailableError])
    def test_recovers(self, tmp_path: Path, error: Any) -> None:
        step = counting()
        hook = Failing(error(None, None, "gone"), 3)
        recorder = Recorder()
        scaffold = tf.train.Scaffold()
        saving = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, scaffold=scaffold)
        creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=str(tmp_path))
        with tf.train.MonitoredSession(creator, [recorder, saving, hook]) as session:
            assert [session.run(step) for _ in range(3)] == [1, 2, 3]
        assert recorder.calls.count("begin") == 1
        assert recorder.calls.count("create") == 2

    def test_a_singular_one_does_not(self) -> None:
        step = counting()
        hook = Failing(tf.errors.AbortedError(None, None, "gone"), 1)
        session = tf.train.SingularMonitoredSession([hook])
        assert isinstance(session.raw_session(), tf.Session)
        with pytest.raises(tf.errors.AbortedError, match="gone"):
            session.run(step)
        session.close()

    def test_the_end_of_input_ends_the_with(self) -> None:
        rows = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
        seen = []
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                seen.append(session.run(rows))
        assert seen == [0, 1, 2]

    def test_other_errors_leave_it_and_hooks_do_not_end(self) -> None:
        tf.constant(1)
        hook = Recorder()
        with pytest.raises(ValueError, match="mine"), tf.train.MonitoredSession(hooks=[hook]):
            raise ValueError("mine")
        assert "end" not in hook.calls

    def test_an_error_of_a_thread_is_raised(self) -> None:
        x = tf.constant(1)

        class Stops(tf.train.SessionRunHook):
            def after_create_session(self, session: Any, coord: Any) -> None:
                coord.request_stop(ValueError("of a thread"))

        error = pytest.raises(ValueError, match="of a thread")
        with error, tf.train.MonitoredSession(hooks=[Stops()]) as session:
            assert session.should_stop()
            session.run(x)

    def test_feeds_must_not_meet(self) -> None:
        x = tf.placeholder(tf.float32)
        hooks = [tf.train.FeedFnHook(lambda: {x: 1.0}) for _ in range(2)]
        error = pytest.raises(RuntimeError, match="Same tensor is fed by two hooks")
        with tf.train.SingularMonitoredSession(hooks) as session, error:
            session.run(x)
        with tf.train.SingularMonitoredSession(hooks[:1]) as session:
            assert session.run(x) == 1.0
            with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
                session.run(x, {x: 2.0})

    def test_options_are_merged(self) -> None:
        x = tf.constant(1.0) * 2
        hook = Recorder(tf.train.SessionRunArgs(None, options=tf.RunOptions(trace_level=3)))
        metadata = tf.RunMetadata()
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(x, options=tf.RunOptions(timeout_in_ms=5000), run_metadata=metadata)
        assert metadata.step_stats.dev_stats

    def test_step_functions(self) -> None:
        step = counting()
        hook = Recorder()

        def two(step_context: Any) -> Any:
            return step_context.session.run(step), step_context.run_with_hooks(step)

        def stop(step_context: Any) -> None:
            step_context.request_stop()

        with tf.train.MonitoredSession(hooks=[hook]) as session:
            assert session.run_step_fn(two) == (1, 2)
            assert hook.calls.count("before") == 1
            with pytest.raises(ValueError, match="`step_fn` may either have one `step_context` argument"):
                session.run_step_fn(lambda: None)
            session.run_step_fn(stop)
            raise AssertionError("request_stop leaves the with")
        assert session.should_stop()

    def test_plans_are_kept(self) -> None:
        x = tf.placeholder(tf.float32)
        with tf.train.SingularMonitoredSession([Recorder(tf.train.SessionRunArgs([x, {"k": x}]))]) as session:
            for value in range(5):
                session.run([[x], {"a": x}], {x: value})
            assert len(session.raw_session()._calls) <= 6  # those of its making, and one of these


class TestMonitoredTrainingSession:
    def train(self, folder: Path, last: int, **options: Any) -> list[Any]:
        step = counting()
        tf.summary.scalar("twice", 2 * step)
        hooks = [tf.train.StopAtStepHook(last_step=last)]
        seen = []
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(folder), hooks=hooks, log_step_count_steps=2, **options
        ) as session:
            while not session.should_stop():
                seen.append(session.run(step))
        return seen

    def test_saves_and_goes_on(self, tmp_path: Path) -> None:
        with tf.Graph().as_default():
            assert self.train(tmp_path, 3, save_summaries_steps=1, save_checkpoint_steps=2) == [1, 2, 3]
        with tf.Graph().as_default():
            assert self.train(tmp_path, 5) == [4, 5]
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-5")
        assert (tmp_path / "graph.pbtxt").is_file()
        found = events(tmp_path)
        tags = {value.tag for event in found for value in event.summary.value}
        assert tags == {"twice", "global_step/sec"}
        assert any(event.graph_def for event in found)
        assert any(event.meta_graph_def for event in found)
        assert {event.session_log.status for event in found} >= {1, 3}  # START, CHECKPOINT

    def test_who_is_not_chief_only_waits(self) -> None:
        tf.constant(1)
        with tf.train.MonitoredTrainingSession(is_chief=False) as session:
            assert not session.should_stop()

    def test_without_a_directory_nothing_is_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with tf.train.MonitoredTrainingSession() as session:
            assert not session.should_stop()
        assert not list(tmp_path.iterdir())


class TestScaffold:
    def test_makes_what_is_missing(self) -> None:
        v = tf.Variable(1.0, name="v")
        scaffold = tf.train.Scaffold().finalize()
        with tf.Session() as session:
            assert session.run(scaffold.ready_op).tolist() == [b"v"]
            session.run([scaffold.init_op, scaffold.local_init_op])
            assert session.run(scaffold.ready_op).size == 0
            assert session.run(v) == 1.0
        assert tf.get_collection(tf.GraphKeys.INIT_OP) == [scaffold.init_op]
        assert tf.get_collection(tf.GraphKeys.SAVERS) == [scaffold.saver]
        assert scaffold.summary_op is None

    def test_takes_what_collections_hold(self) -> None:
        op = tf.no_op()
        tf.add_to_collection(tf.GraphKeys.INIT_OP, op)
        assert tf.train.Scaffold().finalize().init_op is op
        with tf.Graph().as_default():
            for _ in range(2):
                tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
            with pytest.raises(RuntimeError, match='More than one item in the collection "init_op"'):
                tf.train.Scaffold().finalize()

    def test_init_fn_and_feeds(self) -> None:
        x = tf.placeholder(tf.float32, [])
        v = tf.Variable(x)
        seen = []
        scaffold = tf.train.Scaffold(
            init_feed_dict={x: 7.0}, init_fn=lambda mine, session: seen.append((mine, session.run(v)))
        )
        with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as session:
            assert session.run(v) == 7.0
        assert seen == [(scaffold, 7.0)]

    def test_copies(self) -> None:
        op = tf.no_op()
        first = tf.train.Scaffold(init_op=op, summary_op=op)
        assert tf.train.Scaffold(summary_op="mine", copy_from_scaffold=first).init_op is op
        with pytest.raises(TypeError, match="copy_from_scaffold is not a Scaffold instance"):
            tf.train.Scaffold(copy_from_scaffold=1)

    def test_creators_are_abstract(self) -> None:
        with pytest.raises(TypeError, match="abstract"):
            tf.train.SessionCreator()  # type: ignore[abstract]


class TestSessionManager:
    def test_initializes_or_restores(self, tmp_path: Path) -> None:
        v = tf.Variable(1.0, name="v")
        saver = tf.train.Saver()
        manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
        session, restored = manager.recover_session("", saver, checkpoint_dir=str(tmp_path))
        assert not restored
        session = manager.prepare_session("", v.initializer, saver, str(tmp_path))
        session.run(v.assign(2.0))
        path = saver.save(session, str(tmp_path / "m"))
        session, restored = manager.recover_session("", saver, checkpoint_dir=str(tmp_path))
        assert restored
        assert session.run(v) == 2.0
        session = manager.prepare_session("", saver=saver, checkpoint_filename_with_path=path)
        assert session.run(v) == 2.0
        with pytest.raises(ValueError, match="Can not provide both checkpoint_dir and"):
            manager.prepare_session("", None, saver, str(tmp_path), path)

    def test_says_what_is_missing(self) -> None:
        v = tf.Variable(1.0, name="v")
        w = tf.Variable(1.0, name="w")
        manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
        with pytest.raises(RuntimeError, match=r"Init operations did not make model ready.*initialized: w"):
            manager.prepare_session("", v.initializer)
        with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
            manager.prepare_session("")
        with pytest.raises(ValueError, match="you must also pass a local_init_op"):
            tf.train.SessionManager(ready_for_local_init_op=w)

    def test_waits(self) -> None:
        tf.Variable(1.0, name="v")
        manager = tf.train.SessionManager(
            ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.01
        )
        with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after waiting"):
            manager.wait_for_session("", max_wait_secs=0.05)


class TestHooks:
    def test_stop_at_step(self) -> None:
        step = counting()
        for options, want in (({"num_steps": 2}, 2), ({"last_step": 3}, 3)):
            with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(**options)]) as session:
                while not session.should_stop():
                    got = session.run(step)
            assert got == want
        with pytest.raises(ValueError, match="One of num_steps or last_step must be specified"):
            tf.train.StopAtStepHook()
        with pytest.raises(ValueError, match="Only one of num_steps or last_step"):
            tf.train.StopAtStepHook(1, 2)

    def test_hooks_need_a_global_step(self, tmp_path: Path) -> None:
        for hook, name in (
            (tf.train.StopAtStepHook(1), "StopAtStepHook"),
            (tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1), "CheckpointSaverHook"),
            (tf.train.StepCounterHook(), "StepCounterHook"),
            (tf.train.GlobalStepWaiterHook(1), "_GlobalStepWaiterHook"),
            (tf.train.ProfilerHook(1, output_dir=str(tmp_path)), "ProfilerHook"),
        ):
            with pytest.raises(RuntimeError, match=f"Global step should be created to use {name}"):
                hook.begin()

    def test_logging(self, log: Callable[[], str]) -> None:
        step = counting()
        hook = tf.train.LoggingTensorHook({"step": step, "c": "c"}, every_n_iter=2, at_end=True)
        tf.constant(5, name="c")
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(4):
                session.run(step)
        lines = [line for line in log().splitlines() if line.startswith("c = 5")]
        assert lines[0] == "c = 5, step = 1"
        assert lines[1].startswith("c = 5, step = 3 (")
        assert len(lines) == 3
        for options in ({}, {"every_n_iter": 1, "every_n_secs": 1}):
            with pytest.raises(ValueError, match="exactly one of every_n_iter and every_n_secs"):
                tf.train.LoggingTensorHook([step], **options)
        with pytest.raises(ValueError, match="invalid every_n_iter=0"):
            tf.train.LoggingTensorHook([step], every_n_iter=0)

    def test_logging_formatter(self, log: Callable[[], str]) -> None:
        hook = tf.train.LoggingTensorHook(
            [tf.constant(5, name="c").name], at_end=True, formatter=lambda values: f"is {values['c:0']}"
        )
        with tf.train.MonitoredSession(hooks=[hook]):
            pass
        assert "is 5" in log().splitlines()

    def test_names_of_several_outputs(self) -> None:
        tf.split([1, 2], 2, name="s")
        with pytest.raises(ValueError, match="Name s is ambiguous"):
            tf.train.LoggingTensorHook(["s"], at_end=True).begin()

    def test_nan(self, log: Callable[[], str]) -> None:
        loss = tf.placeholder(tf.float32)
        with tf.train.SingularMonitoredSession([tf.train.NanTensorHook(loss)]) as session:
            session.run(loss, {loss: 1.0})
            with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"):
                session.run(loss, {loss: np.nan})
        with tf.train.SingularMonitoredSession([tf.train.NanTensorHook(loss, False)]) as session:
            session.run(loss, {loss: np.nan})
            assert session.should_stop()
            with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
                session.run(loss, {loss: 1.0})
        assert log().count("Model diverged with loss = NaN.") == 2

    def test_final_ops(self) -> None:
        x = tf.placeholder(tf.float32)
        hook = tf.train.FinalOpsHook([2 * x], {x: 4.0})
        with tf.train.MonitoredSession(hooks=[hook]):
            assert hook.final_ops_values is None
        assert hook.final_ops_values == [8.0]

    def test_waiter(self) -> None:
        step = counting()
        hook = tf.train.GlobalStepWaiterHook(1)
        with tf.train.SingularMonitoredSession([hook]) as session:
            session.raw_session().run(step)
            assert session.run(step) == 2

    def test_timer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        timer = tf.train.SecondOrStepTimer(every_steps=3)
        assert timer.should_trigger_for_step(1)
        assert timer.update_last_triggered_step(1) == (None, None)
        assert [timer.should_trigger_for_step(step) for step in (1, 3, 4)] == [False, False, True]
        assert timer.update_last_triggered_step(4)[1] == 3
        assert timer.last_triggered_step() == 4
        timer.reset()
        assert timer.last_triggered_step() is None
        now = 100.0
        monkeypatch.setattr("time.time", lambda: now)
        timer = tf.train.SecondOrStepTimer(every_secs=2.0)
        timer.update_last_triggered_step(1)
        assert not timer.should_trigger_for_step(2)
        now = 102.0
        assert timer.should_trigger_for_step(2)
        assert not timer.should_trigger_for_step(1)
        with pytest.raises(ValueError, match="Either every_secs or every_steps should be provided"):
            tf.train.SecondOrStepTimer()
        with pytest.raises(ValueError, match="Can not provide both every_secs and every_steps"):
            tf.train.SecondOrStepTimer(1, 1)

    def test_checkpoint_listeners(self, tmp_path: Path) -> None:
        class Listener(tf.train.CheckpointSaverListener):
            def __init__(self) -> None:
                self.calls: list[Any] = []

            def begin(self) -> None:
                self.calls.append("begin")

            def before_save(self, session: Any, global_step_value: Any) -> None:
                self.calls.append(("before", int(global_step_value)))

            def after_save(self, session: Any, global_step_value: Any) -> bool:
                self.calls.append(("after", int(global_step_value)))
                return bool(global_step_value >= 2)

            def end(self, session: Any, global_step_value: Any) -> None:
                self.calls.append(("end", int(global_step_value)))

        listener, step = Listener(), counting()
        hook = tf.train.CheckpointSaverHook(
            str(tmp_path), save_steps=2, saver=tf.train.Saver(), listeners=[listener]
        )
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(step)
        assert listener.calls == [
            "begin", ("before", 0), ("after", 0), ("before", 2), ("after", 2), ("end", 2),
        ]  # fmt: skip
        with pytest.raises(ValueError, match="You cannot provide both saver and scaffold"):
            tf.train.CheckpointSaverHook("d", save_steps=1, saver=1, scaffold=1)

    def test_checkpoints_need_one_saver(self, tmp_path: Path) -> None:
        hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1)
        with pytest.raises(RuntimeError, match="No items in collection savers"):
            hook._get_saver()
        for _ in range(2):
            tf.add_to_collection(tf.GraphKeys.SAVERS, object())
        with pytest.raises(RuntimeError, match="More than one item in collection savers"):
            hook._get_saver()

    def test_a_step_that_stands_still_is_warned_of(self, log: Callable[[], str]) -> None:
        tf.train.create_global_step()
        x = tf.constant(1)
        with tf.train.MonitoredSession(hooks=[tf.train.StepCounterHook(every_n_steps=1)]) as session:
            session.run(x)
            session.run(x)
        assert "global step (tf.train.get_global_step) has not been increased" in log()
        with pytest.raises(ValueError, match="exactly one of every_n_steps and every_n_secs"):
            tf.train.StepCounterHook(every_n_steps=1, every_n_secs=1)

    def test_summaries(self, tmp_path: Path) -> None:
        step = counting()
        op = tf.summary.scalar("twice", 2 * step)
        hook = tf.train.SummarySaverHook(save_steps=2, output_dir=str(tmp_path), summary_op=op)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(5):
                session.run(step)
        found = {
            event.step: event.summary.value[0].simple_value
            for event in events(tmp_path)
            if event.summary.value
        }
        assert found == {1: 2.0, 3: 6.0, 5: 10.0}
        with pytest.raises(ValueError, match="Exactly one of scaffold or summary_op must be provided"):
            tf.train.SummarySaverHook(save_steps=1)

    def test_profiles(self, tmp_path: Path) -> None:
        step = counting()
        hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path), show_memory=True)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(4):
                session.run(step)
        path = tmp_path / "timeline-4.json"
        assert (tmp_path / "timeline-2.json").is_file()
        trace = json.loads(path.read_text())["traceEvents"]
        assert any(event["ph"] == "X" and event["name"] == "AssignAdd" for event in trace)
        assert any(event.tagged_run_metadata.tag == "step_4" for event in events(tmp_path))


def test_timelines() -> None:
    metadata = tf.RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/cpu:0")
    for name, start, label in (("a", 100, "a = Const()"), ("b", 105, "b = Neg(a)"), ("c", 120, "no label")):
        node = device.node_stats.add(
            node_name=name, all_start_micros=start, all_end_rel_micros=10, timeline_label=label
        )
        output = node.output.add().tensor_description.allocation_description
        output.requested_bytes, output.allocator_name = 8, "cpu"
    found = Timeline(metadata.step_stats).analyze_step_stats()
    trace = json.loads(found.chrome_trace.format_to_string())["traceEvents"]
    assert [event["args"]["name"] for event in trace if event["ph"] == "M"] == [
        "Allocators", "/cpu:0 Compute", "/cpu:0 Tensors",
    ]  # fmt: skip
    operations = [(e["args"]["name"], e["name"], e["tid"], e["dur"]) for e in trace if e["ph"] == "X"]
    assert operations == [("a", "Const", 0, 10), ("b", "Neg", 1, 10), ("c", "unknown", 0, 10)]
    flows = [(event["ph"], event["tid"]) for event in trace if event.get("cat") == "DataFlow"]
    assert flows == [("s", 0), ("t", 1)]
    assert found.allocator_maximums["cpu"] == (105, 16, {"a", "b"})
    plain = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format(show_dataflow=False))
    assert {event["ph"] for event in plain["traceEvents"]} == {"M", "X"}


def test_a_trace_says_what_operations_gave() -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.exp(x, name="y")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(y, {x: np.ones((2, 3))}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    (node,) = (n for n in metadata.step_stats.dev_stats[0].node_stats if n.node_name == "y")
    description = node.output[0].tensor_description
    assert [dim.size for dim in description.shape.dim] == [2, 3]
    assert description.allocation_description.requested_bytes == 24


def test_basic_train_loop() -> None:
    class Supervisor:
        """Stops after three steps; its first session is lost."""

        def __init__(self) -> None:
            self.steps, self.sessions = 0, 0

        def managed_session(self, master: str) -> Any:
            self.sessions += 1
            return tf.Session(graph=tf.Graph())

        def should_stop(self) -> bool:
            return self.steps >= 3

    supervisor, seen = Supervisor(), []

    def step(session: Any, first: int, second: int = 0) -> None:
        seen.append((first, second))
        supervisor.steps += 1
        if supervisor.steps == 1:
            raise tf.errors.AbortedError(None, None, "lost")

    tf.train.basic_train_loop(supervisor, step, [1], {"second": 2})
    assert seen == [(1, 2)] * 3
    assert supervisor.sessions == 2
