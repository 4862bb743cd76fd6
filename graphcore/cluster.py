"""`tf.train.ClusterSpec` and `replica_device_setter`: names of processes and where operations would go.

Graphs are built with them for many machines; here all runs in one process.

Source: tensorflow/python/training/server_lib.py and device_setter.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..formats import protos
from . import device as devices, logging
from .compat import as_text
from .errors import InvalidTypeError, InvalidValueError
from .importer import as_message

# What is kept on parameter servers.
STANDARD_PS_OPS = (
    "Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
    "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
)  # fmt: skip


class ClusterSpec:
    """The tasks of each job of a cluster, with their addresses.

    Args:
        cluster: A dict from jobs to lists of addresses or to dicts from task numbers to addresses; a
            ClusterDef message; or another ClusterSpec.

    Raises:
        TypeError: It is none of these, or a name or address is no string.
    """

    def __init__(self, cluster: Any) -> None:
        self._jobs: dict[str, dict[int, str]] = {}
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_cluster_def()
        if isinstance(cluster, dict):
            for job, tasks in cluster.items():
                if not isinstance(tasks, (list, tuple, dict)):
                    raise InvalidTypeError(
                        f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
                    )
                pairs = tasks.items() if isinstance(tasks, dict) else enumerate(tasks)
                self._jobs[_text(job, "Job name")] = {
                    number: _text(address, "Task address") for number, address in pairs
                }
        elif getattr(getattr(cluster, "DESCRIPTOR", None), "name", None) == "ClusterDef":
            message = as_message(cluster, protos.ClusterDef, "cluster")
            self._jobs = {job.name: dict(sorted(job.tasks.items())) for job in message.job}
        else:
            raise InvalidTypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, "
                "or a `ClusterDef` protocol buffer"
            )

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    __hash__ = None  # type: ignore[assignment]  # as TensorFlow's

    def __str__(self) -> str:
        jobs = self.as_dict()
        return "ClusterSpec({" + ", ".join(f"{job!r}: {jobs[job]!r}" for job in sorted(jobs)) + "})"

    def as_dict(self) -> dict[str, Any]:
        """A dict as the constructor takes; a job without gaps has a list."""
        result: dict[str, Any] = {}
        for job, tasks in self._jobs.items():
            whole = bool(tasks) and max(tasks) + 1 == len(tasks)
            result[job] = self.job_tasks(job) if whole else dict(sorted(tasks.items()))
        return result

    def as_cluster_def(self) -> Any:
        """A ClusterDef message."""
        message = protos.ClusterDef()
        for job, tasks in sorted(self._jobs.items()):
            definition = message.job.add(name=job)
            for number, address in sorted(tasks.items()):
                definition.tasks[number] = address
        return message

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def _tasks(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise InvalidValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has.

        Raises:
            ValueError: There is no such job, as for the others.
        """
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of a job's tasks."""
        return sorted(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task.

        Raises:
            ValueError: There is no such job or task.
        """
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise InvalidValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by their numbers; None where there is none."""
        tasks = self._tasks(job_name)
        return [tasks.get(number) for number in range(max(tasks, default=-1) + 1)]


def _text(value: Any, what: str) -> str:
    if not isinstance(value, (str, bytes)):
        raise InvalidTypeError(f"{what} {value!r} must be bytes or unicode")
    return as_text(value)


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Iterable[str] | None = None,
    ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], str] | None:
    """`tf.train.replica_device_setter`: a function for `tf.device` that spreads variables over servers.

    Args:
        ps_tasks: How many parameter servers there are.
        ps_device: Their device, without the task.
        worker_device: The device of all other operations.
        merge_devices: Add what is missing to an operation's own device; else leave that as it is.
        cluster: A ClusterSpec or what makes one; gives `ps_tasks`.
        ps_ops: The op types that go to the servers; by default variables and tables.
        ps_strategy: Gives the task of an operation; by default each in turn.

    Returns:
        The function; None where there is no parameter server.

    Raises:
        TypeError: `cluster` or `ps_strategy` is nothing of the kind.
    """
    if cluster is not None:
        jobs = ClusterSpec(cluster).as_dict()
        ps_tasks = len(jobs.get(devices.parse(ps_device).get("job", ""), ()))
    if ps_tasks == 0:
        return None
    if not merge_devices:
        logging.warning("DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter")
    kinds = frozenset(STANDARD_PS_OPS if ps_ops is None else ps_ops)
    turn = 0

    def next_task(_: Any) -> int:
        nonlocal turn
        task, turn = turn, (turn + 1) % ps_tasks
        return task

    choose = next_task if ps_strategy is None else ps_strategy
    if not callable(choose):
        raise InvalidTypeError("ps_strategy must be callable")

    def device_of(operation: Any) -> str:
        own = operation.device or ""
        if own and not merge_devices:
            return str(own)
        fields = devices.parse(own)
        kind = operation.type if hasattr(operation, "type") else operation.op
        outer = devices.parse(worker_device or "")
        if ps_device and kind in kinds:
            outer = devices.parse(ps_device)
            if "job" in outer and fields.get("job", outer["job"]) == outer["job"]:
                outer["task"] = str(choose(operation))
        return devices.format_fields(outer | fields)

    return device_of
