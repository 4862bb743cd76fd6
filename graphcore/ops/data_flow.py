"""Queues and stacks as ops, and `tf.FIFOQueue` and its kin."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import queues
from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, DType, as_dtype, int64
from ..errors import InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..op import op, raw_ops
from ..queues import Queue
from ..random_seed import get_seed
from ..shapes import Shape, common_shape
from ..tensor_shape import TensorShape
from . import rules

_NAMES = ("container: string = ''", "shared_name: string = ''")
_QUEUE = ("component_types: list(type) >= 1", "shapes: list(shape) >= 0 = []", "capacity: int = -1")
_NO_GRAD = "what goes through a queue is not differentiated"


# Resources of nodes


def named_resource(ctx: Any, kind: str, node: Any, make: Any) -> Any:
    """The queue or reader of a node: shared under its shared name, else the node's own.

    Args:
        ctx: The run's context.
        kind: What kinds of things share their names.
        node: The operation.
        make: From the resource's name, as messages say it, to the resource.
    """
    container, shared = node.attr("container").decode(), node.attr("shared_name").decode()
    if shared:
        return ctx.state.resource(kind, container, shared, lambda: make(shared))
    numbers = ctx.state.resource("resource number", "", "", itertools.count)
    return ctx.state.resource(
        f"{kind} of node", container, node.name, lambda: make(f"_{next(numbers)}_{node.name}")
    )


def _queue_of(ctx: Any, node: Any, kind: type[Queue], *options: Any, lead: Sequence[DType] = ()) -> Queue:
    dtypes = [*lead, *node.attr("component_types")]
    shapes: list[Shape] = [shape.as_tuple() for shape in node.attr("shapes")]
    if lead and len(shapes) < len(dtypes):
        shapes = [() for _ in lead] + shapes
    if shapes and len(shapes) != len(dtypes):
        raise InvalidArgumentError(
            f"Length of component_types and component_shapes must agree: {len(dtypes)} types, "
            f"{len(shapes)} shapes"
        )
    if not kind.padded and any(shape is None or None in shape for shape in shapes):
        raise InvalidArgumentError(
            f"{kind.kind} needs fully defined shapes; a PaddingFIFOQueue may have unknown ones"
        )
    capacity = node.attr("capacity")

    def make(name: str) -> Queue:
        return kind(name, dtypes, shapes, capacity, *options)

    queue: Queue = named_resource(ctx, "queue", node, make)
    queue.check_same(kind.kind, dtypes, shapes, capacity)
    return queue


def _fifo(ctx: Any, *, node: Any) -> Queue:
    """A queue: first in, first out."""
    return _queue_of(ctx, node, Queue)


def _padding(ctx: Any, *, node: Any) -> Queue:
    """A queue whose elements are padded to one shape when several are taken."""
    return _queue_of(ctx, node, queues.PaddingQueue)


def _shuffle(ctx: Any, *, min_after_dequeue: int, seed: int, seed2: int, node: Any) -> Queue:
    """A queue whose elements come out in random order."""
    return _queue_of(ctx, node, queues.ShuffleQueue, min_after_dequeue, (seed, seed2))


def _priority(ctx: Any, *, node: Any) -> Queue:
    """A queue whose elements come out by their first component, the smallest first."""
    return _queue_of(ctx, node, queues.PriorityQueue, lead=[int64])


_RANDOM = ("min_after_dequeue: int = 0", "seed: int = 0", "seed2: int = 0")
_PRIORITY = ("component_types: list(type) >= 0 = []", "shapes: list(shape) >= 0", "capacity: int = -1")
_QUEUES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "FIFOQueue": (_fifo, _QUEUE),
    "PaddingFIFOQueue": (_padding, _QUEUE),
    "RandomShuffleQueue": (_shuffle, (*_QUEUE, *_RANDOM)),
    "PriorityQueue": (_priority, _PRIORITY),
}


def handle_shape(version: str) -> Any:
    """The shape rule of a handle: a scalar, or of first-generation ops a pair of strings."""
    return rules.scalar if version else lambda node: (2,)


def handle_type(version: str) -> str:
    """The type of a handle in declarations: a resource, or of first-generation ops a string reference."""
    return "resource" if version else "Ref(string)"


for _version in ("", "V2"):
    for _name, (_kernel, _attrs) in _QUEUES.items():
        op(
            f"{_name}{_version}",
            f"-> handle: {handle_type(_version)}",
            *_attrs,
            *_NAMES,
            stateful=True,
            no_grad="it has no inputs",
        )(_kernel).shape(handle_shape(_version))


# What is done with a queue: a row each, for handles of both generations.


def _enqueue(ctx: Any, handle: Any, components: list[Any], *, timeout_ms: int) -> None:
    """Adds one element, waiting for room."""
    _check_timeout(timeout_ms)
    handle.enqueue(ctx, components)


def _enqueue_many(ctx: Any, handle: Any, components: list[Any], *, timeout_ms: int) -> None:
    """Adds each row as an element, waiting for room."""
    _check_timeout(timeout_ms)
    handle.enqueue_many(ctx, components)


def _dequeue(ctx: Any, handle: Any, *, timeout_ms: int, node: Any) -> list[Any]:
    """Takes one element, waiting for it."""
    _check_timeout(timeout_ms)
    _check_types(handle, node)
    values: list[Any] = handle.dequeue(ctx)
    return values


def _dequeue_many(ctx: Any, handle: Any, n: Any, *, timeout_ms: int, node: Any) -> list[Any]:
    """Takes `n` elements, stacked."""
    _check_timeout(timeout_ms)
    _check_types(handle, node)
    values: list[Any] = handle.dequeue_many(ctx, int(n))
    return values


def _dequeue_up_to(ctx: Any, handle: Any, n: Any, *, timeout_ms: int, node: Any) -> list[Any]:
    """Takes `n` elements, stacked, or what is left once the queue is closed."""
    _check_timeout(timeout_ms)
    _check_types(handle, node)
    values: list[Any] = handle.dequeue_many(ctx, int(n), fewer=True)
    return values


def _check_timeout(timeout_ms: int) -> None:
    if timeout_ms != -1:
        raise InvalidArgumentError("Timeout not supported yet.")


def _check_types(queue: Queue, node: Any) -> None:
    wanted = node.attr("component_types")
    if wanted != queue.dtypes:
        theirs, ours = (", ".join(dtype.name for dtype in types) for types in (wanted, queue.dtypes))
        raise InvalidArgumentError(
            f"Expected component types [{theirs}], the queue '{queue.name}' has [{ours}]"
        )


def _close(ctx: Any, handle: Any, *, cancel_pending_enqueues: bool) -> None:
    """Lets nothing more into a queue."""
    handle.close(ctx, cancel_pending_enqueues)


def _size(ctx: Any, handle: Any) -> Any:
    """How many elements a queue holds."""
    return np.array(len(handle), np.int32)


def _is_closed(ctx: Any, handle: Any) -> Any:
    """Whether a queue is closed."""
    return np.array(handle.is_closed)


def _component_shapes(node: Any, lead: Shape) -> list[Shape]:
    """The shapes that the queue behind the handle declares, with dimensions in front."""
    source = node.node.inputs[0].op
    while source.type in ("Identity", "RefIdentity") and source.inputs:
        source = source.inputs[0].op
    base = source.type.removesuffix("V2")
    if base not in _QUEUES:
        return [None] * node.num_outputs
    shapes = [shape.as_tuple() for shape in source.attr("shapes")]
    if base == "PriorityQueue" and len(shapes) < node.num_outputs:
        shapes = [(), *shapes]
    if len(shapes) != node.num_outputs or lead is None:
        return [None] * node.num_outputs
    return [None if shape is None else (*lead, *shape) for shape in shapes]


def _shape_of_one(node: Any) -> list[Shape]:
    return _component_shapes(node, ())


def _shape_of_many(node: Any) -> list[Shape]:
    count = node.value(1)
    if count is not None and count < 0:
        raise InvalidValueError(f"n must be >= 0, but is {int(count)}")
    return _component_shapes(node, (None if count is None else int(count),))


def _shape_of_some(node: Any) -> list[Shape]:
    return _component_shapes(node, (None,))


_IN = ("Tcomponents: list(type) >= 1", "timeout_ms: int = -1")
_OUT = ("component_types: list(type) >= 1", "timeout_ms: int = -1")
_ACTIONS: dict[str, tuple[Any, str, tuple[str, ...], Any]] = {
    "QueueEnqueue": (_enqueue, ", components: Tcomponents ->", _IN, rules.nothing),
    "QueueEnqueueMany": (_enqueue_many, ", components: Tcomponents ->", _IN, rules.nothing),
    "QueueDequeue": (_dequeue, "-> components: component_types", _OUT, _shape_of_one),
    "QueueDequeueMany": (_dequeue_many, ", n: int32 -> components: component_types", _OUT, _shape_of_many),
    "QueueDequeueUpTo": (_dequeue_up_to, ", n: int32 -> components: component_types", _OUT, _shape_of_some),
    "QueueClose": (_close, "->", ("cancel_pending_enqueues: bool = false",), rules.nothing),
    "QueueSize": (_size, "-> size: int32", (), rules.scalar),
    "QueueIsClosed": (_is_closed, "-> is_closed: bool", (), rules.scalar),
}

for _name, (_kernel, _signature, _attrs, _shape) in _ACTIONS.items():
    for _version in ("", "V2"):
        op(
            f"{_name}{_version}",
            f"handle: {handle_type(_version)} {_signature}",
            *_attrs,
            stateful=bool(_version),
            ctx=True,
            no_grad=_NO_GRAD,
        )(_kernel).shape(_shape)


@op("FakeQueue", "resource: resource -> handle: Ref(string)", stateful=True, ctx=False, no_grad=_NO_GRAD)
def fake_queue(resource: Any) -> Any:
    """A queue's handle of the second generation as one of the first."""
    return resource


fake_queue.shape(rules.unknown)


# Stacks: live for one run, as what a loop keeps for its gradient


class Stack:
    """A stack of tensors of one dtype."""

    def __init__(self, dtype: DType, max_size: int, name: str) -> None:
        self.dtype = dtype
        self.max_size = max_size
        self.name = name
        self.closed = False
        self._values: list[Any] = []
        self._lock = threading.Lock()

    def push(self, value: Any) -> None:
        """Puts a tensor on top.

        Raises:
            InvalidArgumentError: It is of another dtype, or the stack is full or closed.
        """
        with self._lock:
            self._check_open()
            if isinstance(value, np.ndarray | np.generic) and value.dtype != self.dtype.np:
                raise InvalidArgumentError(f"Must have type {self.dtype.name} but got {value.dtype}")
            if 0 <= self.max_size <= len(self._values):
                raise InvalidArgumentError(f"Stack[{self.name}] overflowed its max_size ({self.max_size})")
            self._values.append(value)

    def pop(self) -> Any:
        """Takes the tensor on top; errors as `push`."""
        with self._lock:
            self._check_open()
            if not self._values:
                raise InvalidArgumentError(f"Stack[{self.name}] is empty when calling Pop().")
            return self._values.pop()

    def _check_open(self) -> None:
        if self.closed:
            raise InvalidArgumentError(f"Stack[{self.name}] has already been closed.")


def _stack(ctx: Any, max_size: Any = -1, *, stack_name: str, node: Any) -> Stack:
    """A new stack each time it runs."""
    return Stack(node.attr("elem_type"), int(max_size), stack_name or node.name)


def _stack_push(ctx: Any, handle: Stack, elem: Any) -> Any:
    """Puts a tensor on a stack, and passes it on."""
    # A reference's buffer, or one that a later step reuses, must not change under the stack.
    # What is no array is a handle (of a tensor array, a variable, ...), kept as it is.
    handle.push(elem.copy() if isinstance(elem, np.ndarray) else elem)
    return elem


def _stack_pop(ctx: Any, handle: Stack, *, node: Any) -> Any:
    """Takes the tensor on top of a stack."""
    if node.attr("elem_type") != handle.dtype:
        raise InvalidArgumentError(f"Type mismatch: {node.attr('elem_type').name} vs {handle.dtype.name}")
    return handle.pop()


def _stack_close(ctx: Any, handle: Stack) -> None:
    """Ends the use of a stack."""
    handle.closed = True


for _version in ("", "V2"):
    _handle = f"handle: {handle_type(_version)}"
    op(
        f"Stack{_version}",
        f"{'max_size: int32' if _version else ''} -> {_handle}",
        "stack_name: string = ''",
        elem_type=ANY,
        stateful=True,
        no_grad="it makes a handle",
    )(_stack).shape(lambda node: (2,))  # StackV2's, too, though its handle is a resource
    op(
        f"StackPush{_version}",
        f"{_handle}, elem: T -> output: T",
        "swap_memory: bool = false",
        T=ANY,
        stateful=bool(_version),
        ctx=True,
        no_grad=_NO_GRAD,
    )(_stack_push).shape(rules.same_as(1))
    op(
        f"StackPop{_version}",
        f"{_handle} -> elem: elem_type",
        elem_type=ANY,
        stateful=bool(_version),
        ctx=True,
        no_grad=_NO_GRAD,
    )(_stack_pop).shape(rules.unknown)
    op(f"StackClose{_version}", f"{_handle} ->", stateful=bool(_version), ctx=True, no_grad=_NO_GRAD)(
        _stack_close
    ).shape(rules.nothing)


# TensorFlow's Python classes


class QueueBase:
    """A queue in the graph.

    Args:
        dtypes: The dtypes of the components of an element.
        shapes: Their shapes, or None.
        names: Their names; then elements are dictionaries.
        queue_ref: The tensor that is the queue's handle.

    Raises:
        ValueError: There are not as many shapes or names as dtypes.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any) -> None:
        self._dtypes = [as_dtype(dtype) for dtype in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise InvalidValueError(
                f"Queue shapes must have the same length as dtypes, got {len(shapes)} shapes, "
                f"{len(self._dtypes)} dtypes"
            )
        self._shapes = (
            [TensorShape(shape) for shape in shapes] if shapes else [TensorShape(None)] * len(self._dtypes)
        )
        if names is not None and len(names) != len(self._dtypes):
            raise InvalidValueError(
                f"Queue names must have the same length as dtypes, got {len(names)} names, "
                f"{len(self._dtypes)} dtypes"
            )
        self._names = list(names) if names else None
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: Any, queues: list[QueueBase]) -> QueueBase:
        """The queue of number `index`, an integer scalar that is known when the graph runs.

        Raises:
            TypeError: It is no list of queues, or their dtypes or names differ.
        """
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise InvalidTypeError("A list of queues expected")
        first = queues[0]
        if any(queue.dtypes != first.dtypes for queue in queues):
            raise InvalidTypeError("Queues do not have matching component dtypes.")
        if any(queue.names != first.names for queue in queues):
            raise InvalidTypeError("Queues do not have matching component names.")
        shapes = [
            TensorShape(functools.reduce(common_shape, [shape.as_tuple() for shape in each]))
            for each in zip(*[queue.shapes for queue in queues])
        ]
        handles = raw_ops.Pack([queue.queue_ref for queue in queues])
        selected = raw_ops.GatherV2(handles, index, 0)
        return QueueBase(first.dtypes, shapes, first.names, selected)

    @property
    def queue_ref(self) -> Any:
        """The handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's operation."""
        return str(self._queue_ref.op.name)

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of the components, or None."""
        return self._names

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """An operation that adds one element; waits while the queue is full.

        Args:
            vals: A tensor, a list of tensors, or with names a dictionary of them.
            name: Name of the operation.

        Raises:
            ValueError: They are not as many, or not of the shapes, that the queue has.
        """
        with name_scope(name, f"{self._name}_enqueue", [self._queue_ref]) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes):
                tensor.get_shape().assert_is_compatible_with(shape)
            return self._op("QueueEnqueue")(self._queue_ref, tensors, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """An operation that adds each row of the tensors as an element; arguments as `enqueue`."""
        with name_scope(name, f"{self._name}_EnqueueMany", [self._queue_ref]) as scope:
            tensors = self._components(vals)
            count = TensorShape([None])
            for tensor, shape in zip(tensors, self._shapes):
                count = count.merge_with(tensor.get_shape().with_rank_at_least(1)[:1])
                tensor.get_shape()[1:].assert_is_compatible_with(shape)
            return self._op("QueueEnqueueMany")(self._queue_ref, tensors, name=scope)

    def dequeue(self, name: str | None = None) -> Any:
        """One element: a tensor, a list of them, or with names a dictionary; waits while there is none."""
        values = self._op("QueueDequeue")(self._queue_ref, self._dtypes, name=name or f"{self._name}_Dequeue")
        return self._result(values)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """`n` elements, stacked along a new axis 0."""
        name = name or f"{self._name}_DequeueMany"
        values = self._op("QueueDequeueMany")(self._queue_ref, n, self._dtypes, name=name)
        return self._result(values)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As `dequeue_many`; when the queue is closed, what is left."""
        name = name or f"{self._name}_DequeueUpTo"
        values = self._op("QueueDequeueUpTo")(self._queue_ref, n, self._dtypes, name=name)
        return self._result(values)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """An operation that closes the queue: nothing more goes in, what is in may be taken out."""
        name = name or f"{self._name}_Close"
        return self._op("QueueClose")(
            self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name
        )

    def is_closed(self, name: str | None = None) -> Any:
        """A boolean tensor: whether the queue is closed."""
        return self._op("QueueIsClosed")(self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Any:
        """An int32 tensor: how many elements are in the queue."""
        return self._op("QueueSize")(self._queue_ref, name=name or f"{self._name}_Size")

    def _op(self, name: str) -> Any:
        version = "V2" if self._queue_ref.dtype.name == "resource" else ""
        return getattr(raw_ops, name + version)

    def _components(self, vals: Any) -> list[Any]:
        if isinstance(vals, dict):
            if not self._names:
                raise InvalidValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise InvalidValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"{sorted(vals)},Queue: {sorted(self._names)}"
                )
            vals = [vals[key] for key in self._names]
        elif self._names:
            raise InvalidValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        if len(vals) != len(self._dtypes):
            raise InvalidValueError(
                f"The queue has {len(self._dtypes)} components, {len(vals)} values were given"
            )
        return [
            convert_to_tensor(value, dtype, name=f"component_{index}")
            for index, (value, dtype) in enumerate(zip(vals, self._dtypes))
        ]

    def _result(self, values: Any) -> Any:
        if self._names:
            return dict(zip(self._names, values))
        return values[0] if len(values) == 1 else values


def _type_list(dtypes: Any) -> list[DType]:
    return [as_dtype(dtype) for dtype in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]


def _shape_list(shapes: Any, known: str = "dimensions") -> list[TensorShape] | None:
    """The shapes of the components; one shape may be given as such.

    Args:
        shapes: A shape or a list of them; or None.
        known: What must be known of each: its `"dimensions"`, or only its `"rank"`.
    """
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)):
        raise InvalidTypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(shape is None or isinstance(shape, int) for shape in shapes):
        shapes = [shapes]
    found = [TensorShape(shape) for shape in shapes]
    if known == "dimensions" and not all(shape.is_fully_defined() for shape in found):
        raise InvalidValueError(f"All shapes must be fully defined: {found}")
    if known == "rank" and any(shape.ndims is None for shape in found):
        raise InvalidValueError(f"All dimensions must have a defined rank: {found}")
    return found


def _name_list(names: Any) -> list[str] | None:
    return None if names is None else list(names) if isinstance(names, (list, tuple)) else [names]


class FIFOQueue(QueueBase):
    """`tf.FIFOQueue`: first in, first out.

    Args:
        capacity: The most elements that it holds.
        dtypes: The dtype of each component, or one dtype.
        shapes: The fully defined shape of each component; needed to take out many at once.
        names: Names of the components; then elements are dictionaries.
        shared_name: Queues with the same shared name in a session are one.
        name: Name of the operation.

    Raises:
        ValueError: A shape is not fully defined, or there are not as many shapes or names as dtypes.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        types, dims = _type_list(dtypes), _shape_list(shapes)
        ref = raw_ops.FIFOQueueV2(
            component_types=types,
            shapes=dims or [],
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, dims, _name_list(names), ref)


class PaddingFIFOQueue(QueueBase):
    """`tf.PaddingFIFOQueue`: a FIFOQueue that pads components of unknown dimensions when taking out many.

    Args:
        capacity: The most elements that it holds.
        dtypes: The dtype of each component, or one dtype.
        shapes: The shape of each component, of known rank.
        names: Names of the components; then elements are dictionaries.
        shared_name: Queues with the same shared name in a session are one.
        name: Name of the operation.

    Raises:
        ValueError: A rank is unknown, or there are not as many shapes or names as dtypes.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types, dims = _type_list(dtypes), _shape_list(shapes, "rank") or []
        if len(types) != len(dims):
            raise InvalidValueError(
                f"Shapes must be provided for all components, but received {len(types)} "
                f"dtypes and {len(dims)} shapes."
            )
        ref = raw_ops.PaddingFIFOQueueV2(
            component_types=types, shapes=dims, capacity=capacity, shared_name=shared_name or "", name=name
        )
        super().__init__(types, dims, _name_list(names), ref)


class RandomShuffleQueue(QueueBase):
    """`tf.RandomShuffleQueue`: gives its elements in random order.

    Args:
        capacity: The most elements that it holds.
        min_after_dequeue: How many stay in until it is closed, for a good mixture.
        dtypes: The dtype of each component, or one dtype.
        shapes: The fully defined shape of each component; needed to take out many at once.
        names: Names of the components; then elements are dictionaries.
        seed: Seed of the order; see `tf.set_random_seed`.
        shared_name: Queues with the same shared name in a session are one.
        name: Name of the operation.

    Raises:
        ValueError: A shape is not fully defined, or there are not as many shapes or names as dtypes.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types, dims = _type_list(dtypes), _shape_list(shapes)
        seeds = get_seed(seed)
        ref = raw_ops.RandomShuffleQueueV2(
            component_types=types,
            shapes=dims or [],
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seeds[0] or 0,
            seed2=seeds[1] or 0,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, dims, _name_list(names), ref)


class PriorityQueue(QueueBase):
    """`tf.PriorityQueue`: smallest priority first: an int64 scalar before the components.

    Args:
        capacity: The most elements that it holds.
        types: The dtypes of the components without the priority.
        shapes: Their fully defined shapes; needed to take out many at once.
        names: Names of the priority and the components; then elements are dictionaries.
        shared_name: Queues with the same shared name in a session are one.
        name: Name of the operation.

    Raises:
        ValueError: A shape is not fully defined, or there are not as many shapes or names as dtypes.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        rest, dims = _type_list(types), _shape_list(shapes)
        ref = raw_ops.PriorityQueueV2(
            component_types=rest,
            shapes=dims or [],
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__([int64, *rest], [TensorShape([]), *dims] if dims else None, _name_list(names), ref)
