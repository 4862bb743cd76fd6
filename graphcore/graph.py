"""`tf.Graph`: the container of operations, with names, scopes, collections and versions.

Scopes (name, control dependencies, device, colocation, attributes) are per thread, as in TensorFlow.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from ..formats import protos
from ..formats.errors import did_you_mean
from . import attr_value, device as devices, op_def as op_defs, registry, shape_inference
from .compat import as_text
from .dtypes import DType
from .errors import InvalidTypeError, InvalidValueError, MissingNameError
from .graph_collections import GraphCollections
from .op_def import OpDef
from .operation import Operation, Tensor
from .scopes import ControlDependencies, Scopes
from .shapes import Shape
from .stacks import graph_stack

PRODUCER_VERSION = 134  # TensorFlow 1.15's TF_GRAPH_DEF_VERSION
_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class Graph(GraphCollections):
    """A dataflow graph, built once and run by sessions.

    Attributes:
        versions: The VersionDef message (producer, min_consumer, bad_consumers).
        seed: The graph-level random seed, or None.
    """

    # Whether tensors of a graph around this one may be used in it (a function that is being traced).
    _takes_outside_tensors = False

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._operations: dict[str, Operation] = {}
        self._names: dict[str, int] = {}
        self._scopes = Scopes()
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self._mutations = 0
        self._consumer_index: dict[Tensor, list[Operation]] = {}
        self._consumers_counted = 0
        self._environment = shape_inference.Environment()
        self._functions: MutableMapping[str, Any] = {}
        self._gradient_defs: list[Any] = []
        # SignatureDef messages by name: which tensors callers feed and fetch, as files say it
        self._signatures: dict[str, Any] = {}
        self.versions = protos.VersionDef(producer=PRODUCER_VERSION)
        self.seed: int | None = None

    # Operations

    def _add(self, operation: Operation) -> int:
        """Takes a new operation in; gives its number."""
        self._check_not_finalized()
        with self._lock:
            if operation._name in self._operations:
                raise InvalidValueError(f"Node '{operation._name}' is not unique")
            self._operations[operation._name] = operation
            return len(self._operations) - 1

    def add_node(
        self,
        type_: str,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        name: str,
        definition: OpDef | None = None,
    ) -> Operation:
        """Makes an operation out of checked inputs and decoded attributes, in the current scopes.

        Args:
            type_: The op type.
            inputs: The input tensors, flat.
            attrs: Attributes in decoded form.
            name: The wanted name relative to the current name scope; made unique. A trailing "/"
                takes the name as it stands, without scope.
            definition: The declaration, where the op is not in the registry.

        Raises:
            RuntimeError: The graph is finalized.
            ValueError: The name is invalid, an input is of another graph, or the shapes do not fit.
        """
        self._check_not_finalized()
        scopes = self._scopes
        name = as_text(name)
        with self._lock:
            full = name[:-1] if name.endswith("/") else self.unique_name(name)
            if not _OP_NAME.match(full):
                raise InvalidValueError(f"'{full}' is not a valid node name")
            inputs = [
                tensor if tensor.graph is self else self._from_outside(tensor, full) for tensor in inputs
            ]
            attrs = dict(attrs)
            for key, value in scopes.attrs.items():
                attrs.setdefault(key, value)
            if type_ in scopes.gradient_overrides:
                attrs["_gradient_op_type"] = scopes.gradient_overrides[type_].encode()
            if type_ in scopes.kernel_labels:
                attrs["_kernel"] = scopes.kernel_labels[type_].encode()
            if scopes.container and "container" in attrs and not attrs["container"]:
                attrs["container"] = scopes.container.encode()
            operation = Operation(
                self,
                full,
                type_,
                list(inputs),
                self._control_inputs_for(inputs),
                attrs,
                scopes.device,
                None,
                definition,
            )
            self._names.setdefault(full.lower(), 1)
            try:
                if operation.kind is not None:
                    self._infer_shapes(operation)
            except ValueError:
                del self._operations[full]
                raise
            self._apply_scopes(operation)
        return operation

    def _from_outside(self, tensor: Tensor, operation: str) -> Tensor:
        """What stands in this graph for a tensor of another one."""
        raise InvalidValueError(f"Tensor {tensor} is not from the same graph as operation '{operation}'.")

    def _apply_scopes(self, operation: Operation) -> None:
        scopes = self._scopes
        for block in scopes.control:
            block.made.add(operation)
        if scopes.has_device_function:
            self._apply_device(operation)
        if scopes.colocation:
            groups = set(operation._attrs.get("_class", ()))
            for other in reversed(scopes.colocation):  # of several devices the outermost block's stays
                groups.update(other.colocation_groups())
                operation._device = other._device or operation._device
            operation._attrs["_class"] = sorted(groups)
        operation._control_flow_context = scopes.control_flow_context
        for tensor in operation._inputs:
            made_in = tensor._op._control_flow_context
            if made_in is not None:
                made_in.check_use(operation, tensor._op)
        if scopes.control_flow_context is not None:
            scopes.control_flow_context.add_op(operation)

    @contextmanager
    def _control_flow(self, context: Any) -> Iterator[None]:
        """Puts the operations made inside into a control flow context, or into none."""
        scopes = self._scopes
        old, scopes.control_flow_context = scopes.control_flow_context, context
        try:
            yield
        finally:
            scopes.control_flow_context = old

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType] | None = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """TensorFlow's low-level constructor; `attrs` maps names to AttrValue messages.

        Raises:
            TypeError: An input is not a tensor.
        """
        for index, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise InvalidTypeError(f"Input #{index} is not a tensor: {tensor}")
        decoded = {key: attr_value.from_proto(value) for key, value in (attrs or {}).items()}
        definition = None if registry.find(op_type) or op_def is None else op_defs.from_proto(op_def)
        operation = self.add_node(op_type, inputs, decoded, name or op_type, definition)
        if dtypes is not None and operation.definition is None:
            operation._output_dtypes = list(dtypes)
        return operation

    def get_operations(self) -> list[Operation]:
        """All operations in the order in which they were made."""
        return list(self._operations.values())

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation called `name`.

        Raises:
            TypeError: `name` is not text.
            KeyError: There is none; the message has the nearest names.
        """
        if not isinstance(name, str):
            raise InvalidTypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        found = self.as_graph_element(name, allow_tensor=False, allow_operation=True)
        assert isinstance(found, Operation)
        return found

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor called `name` (`operation:index`).

        Raises:
            TypeError: `name` is not text.
            ValueError: It is not of that form.
            KeyError: There is none; the message has the nearest names.
        """
        if not isinstance(name, str):
            raise InvalidTypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        found = self.as_graph_element(name, allow_tensor=True, allow_operation=False)
        assert isinstance(found, Tensor)
        return found

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation:
        """The tensor or operation that `obj` names or converts to.

        Raises:
            KeyError: No such element.
            TypeError: `obj` is not of an allowed kind.
            ValueError: A name is malformed or the element is of another graph.
        """
        allowed = " or ".join(
            word for word, allow in (("Tensor", allow_tensor), ("Operation", allow_operation)) if allow
        )
        if hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        for kind, allow in ((Tensor, allow_tensor), (Operation, allow_operation)):
            if isinstance(obj, kind) and allow:
                if obj.graph is not self:
                    raise InvalidValueError(f"{kind.__name__} {obj} is not an element of this graph.")
                return obj
        raise InvalidTypeError(f"Can not convert a {type(obj).__name__} into a {allowed}.")

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Tensor | Operation:
        operation_name, colon, index = name.rpartition(":")
        if colon and allow_tensor:
            if not index.isdigit():
                raise InvalidValueError(
                    f"The name '{name}' looks a like a Tensor name, but is not a valid one. "
                    'Tensor names must be of the form "<op_name>:<output_index>".'
                )
            operation = self._operations.get(operation_name)
            if operation is None:
                raise MissingNameError(
                    f"The name '{name}' refers to a Tensor which does not exist. The operation, "
                    f"'{operation_name}', does not exist in the graph."
                    + did_you_mean(operation_name, self._operations),
                    name=name,
                )
            try:
                return operation.output(int(index))
            except IndexError:
                raise MissingNameError(
                    f"The name '{name}' refers to a Tensor which does not exist. The operation, "
                    f"'{operation_name}', exists but only has {operation.num_outputs} outputs.",
                    name=name,
                ) from None
        if colon and name.partition(":")[2].isdigit():
            raise InvalidValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
        operation = self._operations.get(name)
        if operation is None:
            raise MissingNameError(
                f"The name '{name}' refers to an Operation not in the graph."
                + did_you_mean(name, self._operations),
                name=name,
            )
        if not allow_operation:
            raise InvalidValueError(
                f"The name '{name}' refers to an Operation, not a Tensor. "
                'Tensor names must be of the form "<op_name>:<output_index>".'
            )
        return operation

    # Static shapes and consumers

    def _infer_shapes(self, operation: Operation) -> list[Shape]:
        shape_inference.infer_ancestors(operation, self._environment)
        assert operation._shapes is not None
        return operation._shapes

    def constant_value(self, tensor: Tensor) -> Any:
        """The ndarray that `tensor` always has, or None where that is not known."""
        return self._environment.value(tensor)

    def _consumers(self, tensor: Tensor) -> list[Operation]:
        with self._lock:
            new = len(self._operations) - self._consumers_counted
            for operation in reversed(list(islice(reversed(self._operations.values()), new))):
                for source in dict.fromkeys(operation._inputs):
                    self._consumer_index.setdefault(source, []).append(operation)
            self._consumers_counted += new
            return list(self._consumer_index.get(tensor, ()))

    def _redirect_new_input(self, operation: Operation, index: int, tensor: Tensor) -> None:
        """Changes an input of the operation that is being made, which no plan holds yet."""
        operation._inputs[index] = tensor
        if operation._id < self._consumers_counted:
            self._forget_consumers()

    def _forget_consumers(self) -> None:
        self._consumer_index.clear()
        self._consumers_counted = 0

    def _before_mutation(self) -> None:
        """Called before a node changes: plans and constants that were derived may be wrong then."""
        self._check_not_finalized()
        self._mutations += 1
        self._environment = shape_inference.Environment()

    # Names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current name scope, with `_1`, `_2`, ... where it is taken.

        Names that differ in case only count as taken, as in TensorFlow.
        """
        if self._scopes.name:
            name = f"{self._scopes.name}/{name}"
        key = name.lower()
        count = self._names.get(key, 0)
        if mark_as_used:
            self._names[key] = count + 1
        if not count:
            return name
        while True:
            candidate = f"{key}_{count}"
            count += 1
            if candidate not in self._names:
                break
        if mark_as_used:
            self._names[key] = count
            self._names[candidate] = 1
        return f"{name}_{count - 1}"

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefixes the names made inside; gives the scope with its trailing "/".

        Args:
            name: The scope, made unique; with a trailing "/" the scope of exactly that name is
                entered again; None or "" leaves all scopes.

        Raises:
            ValueError: `name` is not a valid scope name.
        """
        scopes = self._scopes
        if name:
            pattern = _SCOPE_NAME if scopes.name else _OP_NAME
            if not isinstance(name, str) or not pattern.match(name):
                raise InvalidValueError(f"'{name}' is not a valid scope name")
        old = scopes.name
        if not name:
            new = ""
        elif name.endswith("/"):
            new = name[:-1]
        else:
            new = self.unique_name(name)
        scopes.name = new
        try:
            yield f"{new}/" if new else ""
        finally:
            scopes.name = old

    def get_name_scope(self) -> str:
        """The current name scope without trailing "/"."""
        return self._scopes.name

    # Control dependencies, devices and other scopes

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[None]:
        """Operations made inside run after all of `control_inputs`; None clears outer blocks."""
        scopes = self._scopes
        old, old_context = scopes.control, scopes.control_flow_context
        if control_inputs is None:
            scopes.control = [ControlDependencies([], clears=True)]
            scopes.control_flow_context = None
        else:
            inputs = []
            for item in control_inputs:
                if hasattr(item, "values") and hasattr(item, "indices"):  # IndexedSlices
                    item = item.op
                element = self.as_graph_element(item)
                inputs.append(element.op if isinstance(element, Tensor) else element)
            scopes.control = [*old, ControlDependencies(list(dict.fromkeys(inputs)), clears=False)]
        try:
            yield
        finally:
            scopes.control, scopes.control_flow_context = old, old_context

    def _control_inputs_for(self, inputs: Sequence[Tensor]) -> list[Operation]:
        """The control inputs of a new operation: those of each block whose work it does not use.

        A block is dominated, and adds nothing, where an input was made inside it already; a
        controller that is a direct input adds nothing either.
        """
        result: dict[Operation, None] = {}
        sources = {tensor.op for tensor in inputs}
        for block in self._scopes.control:
            if block.clears:
                result.clear()
            elif not any(source in block.made for source in sources):
                result.update(dict.fromkeys(op for op in block.inputs if op not in sources))
        return list(result)

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Gives the operations made inside a device: a name, a function of the operation, or None."""
        scopes = self._scopes
        before = scopes.device, scopes.device_stack, scopes.has_device_function
        if device_name_or_function is None:
            scopes.device, scopes.device_stack, scopes.has_device_function = "", [], False
        else:
            entry = device_name_or_function
            if callable(entry):
                scopes.has_device_function = True
            else:
                entry = entry if isinstance(entry, str) else entry.to_string()
                scopes.device = devices.merge(scopes.device, entry)
            scopes.device_stack = [*scopes.device_stack, entry]
        try:
            yield
        finally:
            scopes.device, scopes.device_stack, scopes.has_device_function = before

    @property
    def building_function(self) -> bool:
        """Whether this is the graph of a function that is being traced."""
        return False

    def switch_to_thread_local(self) -> None:
        """Nothing to do: the scopes of a thread are its own here, from the start."""

    def _apply_device(self, operation: Operation, own: str = "") -> None:
        """Sets the device of an operation by the blocks around it, the innermost first.

        A name adds what the device does not say yet; what a function gives replaces it.
        """
        scopes = self._scopes
        if not scopes.has_device_function:
            operation._device = devices.merge(scopes.device, own) if own or scopes.device else ""
            return
        operation._device = own
        for entry in reversed(scopes.device_stack):
            if callable(entry):
                given = entry(operation)
                text = given if isinstance(given, str) or given is None else given.to_string()
                operation._device = devices.format_fields(devices.parse(text or ""))
            else:
                operation._device = devices.merge(entry, operation._device)

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Gives the operations made inside the colocation group (and device) of `op`.

        Devices of the blocks around it do not count inside.
        """
        scopes = self._scopes
        old = scopes.colocation, scopes.device, scopes.device_stack, scopes.has_device_function
        if op is None:
            if not ignore_existing:
                raise InvalidValueError(
                    "Trying to reset colocation (op is None) but ignore_existing is not True"
                )
            scopes.colocation = []
        else:
            element = self.as_graph_element(getattr(op, "op", op))
            operation = element.op if isinstance(element, Tensor) else element
            scopes.colocation = [operation] if ignore_existing else [*scopes.colocation, operation]
        scopes.device, scopes.device_stack, scopes.has_device_function = "", [], False
        try:
            yield
        finally:
            scopes.colocation, scopes.device, scopes.device_stack, scopes.has_device_function = old

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Operations of the given types made inside take the gradient registered under a name.

        Raises:
            TypeError: The map is not from text to text.
        """
        if not isinstance(op_type_map, dict):
            raise InvalidTypeError("op_type_map must be a dictionary mapping strings to strings")
        if not all(isinstance(text, str) for pair in op_type_map.items() for text in pair):
            raise InvalidTypeError("Keys and values in op_type_map must be strings")
        scopes = self._scopes
        old = scopes.gradient_overrides
        scopes.gradient_overrides = {**old, **op_type_map}
        try:
            yield
        finally:
            scopes.gradient_overrides = old

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Stateful operations made inside keep their state in the named container."""
        scopes = self._scopes
        old, scopes.container = scopes.container, container_name
        try:
            yield container_name
        finally:
            scopes.container = old

    @contextmanager
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        """Operations made inside carry the given attributes (decoded values or AttrValues)."""
        scopes = self._scopes
        old = scopes.attrs
        scopes.attrs = {**old, **attr_map}
        try:
            yield
        finally:
            scopes.attrs = old

    # State of the whole graph

    @property
    def version(self) -> int:
        """Grows with every operation."""
        return len(self._operations)

    @property
    def graph_def_versions(self) -> Any:
        """The VersionDef of the graph."""
        return self.versions

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Marks `tensor` as not to be fed."""
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether `tensor` may be fed."""
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Marks `op` as not to be fetched."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a tensor or operation may be fetched."""
        return getattr(tensor_or_op, "op", tensor_or_op) not in self._unfetchable

    def as_default(self) -> Any:
        """A context manager that makes this the default graph."""
        return graph_stack.push(self)

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The graph as a GraphDef message.

        Args:
            from_version: Only the operations made since the graph had that version.
            add_shapes: Give each node its `_output_shapes`.
        """
        graph_def = protos.GraphDef()
        graph_def.versions.CopyFrom(self.versions)
        with self._lock:  # another thread may be closing a loop, whose Merge then names a later operation
            for operation in list(self._operations.values())[from_version or 0 :]:
                graph_def.node.append(operation.to_proto(shapes=add_shapes))
        for function in self._functions.values():
            graph_def.library.function.append(function)
        graph_def.library.gradient.extend(self._gradient_defs)
        if not graph_def.library.function and not graph_def.library.gradient:
            graph_def.ClearField("library")
        return graph_def

    def __repr__(self) -> str:
        return f"<Graph of {len(self._operations)} operations>"
