"""Model specs: a graph written down in YAML (or JSON), as sugar over the Python API.

    summary:     what the model is
    parameters:  {hidden: 64, learning_rate: 0.01}
    inputs:      {x: {dtype: float32, shape: [null, 2]}}
    variables:   {w: {shape: [2, $hidden], initializer: {random_normal: {stddev: 0.1, seed: 1}}}}
    nodes:
      product:    {op: MatMul, inputs: [x, w]}                  a TensorFlow op, attributes as keys
      hidden:     {call: layers.dense, inputs: [x], units: $hidden, activation: nn.relu}
    loss:        loss
    optimizer:   {call: train.AdamOptimizer, learning_rate: $learning_rate}
    outputs:     [prediction]
    collections: {summaries: [histogram]}

Each entry is one call. `$name`, as a whole value, is a parameter. Text that names an input, variable or
earlier node is its tensor (`node:1` its second output); text that names a function of the library where a
keyword expects one is that function; all else stands for itself. There are no expressions.

`build_spec` checks everything, by the JSON schema in `spec_schema.json` and by building, and says file,
line, key and the nearest valid name.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from ..formats import files, protos
from ..formats.errors import OpError, did_you_mean
from . import initializers, registry
from .convert import convert_to_tensor
from .default import GraphKeys
from .dtypes import as_dtype
from .errors import InvalidValueError
from .graph import Graph
from .op import raw_ops
from .operation import Operation, Tensor
from .random_seed import set_random_seed
from .variable_scope import get_or_create_global_step, get_variable
from .variables import Variable

SECTIONS = (
    "summary",
    "parameters",
    "inputs",
    "variables",
    "nodes",
    "loss",
    "optimizer",
    "outputs",
    "collections",
)
OUTPUTS = "outputs"
_VARIABLE_KEYS = ("shape", "dtype", "initializer", "trainable", "resource", "value", "regularizer")
_INPUT_KEYS = ("dtype", "shape")
INITIALIZERS = (
    "zeros", "ones", "constant", "identity", "random_uniform", "random_normal", "truncated_normal",
    "variance_scaling", "glorot_uniform", "glorot_normal", "he_normal", "he_uniform",
    "lecun_normal", "lecun_uniform",
)  # fmt: skip
_MAX_DEPTH = 20


def build_spec(
    path: files.Path, overrides: Mapping[str, Any] | None = None, seed: int | None = None
) -> Graph:
    """The graph that a spec describes.

    Args:
        path: A YAML or JSON file.
        overrides: Values for its parameters, by name.
        seed: The graph's random seed.

    Raises:
        InvalidValueError: The spec is wrong; the message has file, line, key and the nearest valid name.
        OpError: The file cannot be read.
    """
    text = files.read_bytes(path)
    return _Builder(str(path), _parse(text, str(path)), dict(overrides or {})).build(seed)


class _Located(dict[str, Any]):
    """A mapping that knows the lines of its keys (`lines`) and its own (`line`)."""

    line: int
    lines: dict[str, int]


def _parse(text: bytes, path: str) -> _Located:
    try:
        root = yaml.compose(text.decode("utf-8-sig"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise InvalidValueError(
            f"{path}: not a text file ({error.reason} at byte {error.start})", path=path
        ) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidValueError(
            f"{path}, line {line}: {error.problem or 'not YAML'}", path=path, line=line
        ) from error
    except yaml.YAMLError as error:
        raise InvalidValueError(f"{path}: not YAML: {error}", path=path) from error
    if not isinstance(root, yaml.MappingNode):
        raise InvalidValueError(
            f"{path}, line 1: a spec is a mapping with the keys {', '.join(SECTIONS)}", path=path, line=1
        )
    parsed = _plain(root, path, 0)
    assert isinstance(parsed, _Located)
    return parsed


def _plain(node: yaml.Node, path: str, depth: int) -> Any:
    """A YAML node as Python values, mappings with their lines."""
    line = node.start_mark.line + 1
    if depth > _MAX_DEPTH:
        raise InvalidValueError(f"{path}, line {line}: nested deeper than {_MAX_DEPTH}", path=path, line=line)
    if isinstance(node, yaml.MappingNode):
        result = _Located()
        result.line, result.lines = line, {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            key_line = key_node.start_mark.line + 1
            if key in result:
                raise InvalidValueError(
                    f"{path}, line {key_line}: the key '{key}' stands twice (first in line "
                    f"{result.lines[key]})",
                    path=path,
                    line=key_line,
                    key=key,
                )
            result[key] = _plain(value_node, path, depth + 1)
            result.lines[key] = key_line
        return result
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, path, depth + 1) for item in node.value]
    loader = yaml.SafeLoader("")
    try:
        value = loader.construct_object(node)
    except yaml.MarkedYAMLError as error:
        raise InvalidValueError(f"{path}, line {line}: {error.problem}", path=path, line=line) from error
    finally:
        loader.dispose()
    if isinstance(value, str) or value is None or isinstance(value, (bool, int, float)):
        # YAML 1.1 reads 1e-3 as text; everybody means the number.
        return _number(value) if isinstance(value, str) else value
    raise InvalidValueError(
        f"{path}, line {line}: a {type(value).__name__} cannot stand here", path=path, line=line
    )


def _number(text: str) -> Any:
    try:
        return float(text) if text[:1] in "+-.0123456789" and "e" in text.lower() else text
    except ValueError:
        return text


class _Builder:
    def __init__(self, path: str, spec: _Located, overrides: dict[str, Any]) -> None:
        self.path = path
        self.spec = spec
        self.parameters: dict[str, Any] = {}
        self.named: dict[str, Any] = {}
        self.overrides = overrides

    # Errors

    def error(self, line: int, key: str, message: str) -> InvalidValueError:
        return InvalidValueError(
            f"{self.path}, line {line}, {key}: {message}", path=self.path, line=line, key=key
        )

    def section(self, name: str) -> _Located:
        found = self.spec.get(name)
        if found is None:
            found = _Located()
            found.line, found.lines = self.spec.line, {}
        if not isinstance(found, _Located):
            raise self.error(self.spec.lines[name], name, f"must be a mapping, not {json.dumps(found)}")
        return found

    def check_keys(self, entry: _Located, allowed: tuple[str, ...], where: str) -> None:
        for key in entry:
            if key not in allowed:
                raise self.error(
                    entry.lines[key],
                    f"{where}.{key}" if where else key,
                    f"no such key.{did_you_mean(key, allowed)} There are {', '.join(allowed)}.",
                )

    # Building

    def build(self, seed: int | None) -> Graph:
        self.check_keys(self.spec, SECTIONS, "")
        self._parameters()
        graph = Graph()
        with graph.as_default():
            if seed is not None:
                set_random_seed(seed)
            for name, entry in self.section("inputs").items():
                self._define("inputs", name, entry, self._input)
            for name, entry in self.section("variables").items():
                self._define("variables", name, entry, self._variable)
            outputs = self._names("outputs")
            exact = {*outputs, *([self.spec["loss"]] if isinstance(self.spec.get("loss"), str) else [])}
            for name, entry in self.section("nodes").items():
                self._define("nodes", name, entry, self._node, name in exact)
            self._finish(graph, outputs)
        return graph

    def _parameters(self) -> None:
        declared = self.section("parameters")
        self.parameters.update(declared)
        for name, value in self.overrides.items():
            if name not in declared:
                known = ", ".join(declared) or "none"
                raise self.error(
                    declared.line,
                    "parameters",
                    f"there is no parameter '{name}'.{did_you_mean(name, declared)} There are: {known}.",
                )
            self.parameters[name] = value

    def _define(self, section: str, name: str, entry: Any, make: Callable[..., Any], *args: Any) -> None:
        line = self.section(section).lines[name]
        where = f"{section}.{name}"
        if not isinstance(entry, _Located):
            raise self.error(line, where, f"must be a mapping, not {json.dumps(entry)}")
        if name in self.named:
            raise self.error(line, where, "the name is taken by an input, variable or node before")
        try:
            self.named[name] = make(name, entry, where, line, *args)
        except InvalidValueError as error:
            if "line" in error.fields:
                raise
            raise self.error(line, where, str(error)) from error
        except (OpError, TypeError, ValueError, LookupError, AttributeError) as error:
            raise self.error(line, where, str(error)) from error

    def _input(self, name: str, entry: _Located, where: str, line: int) -> Tensor:
        self.check_keys(entry, _INPUT_KEYS, where)
        shape = self.value(entry.get("shape"), entry, "shape", where)
        dtype = self.value(entry.get("dtype", "float32"), entry, "dtype", where)
        tensor: Tensor = raw_ops.Placeholder(dtype=as_dtype(dtype), shape=shape, name=name)
        return tensor

    def _variable(self, name: str, entry: _Located, where: str, line: int) -> Any:
        self.check_keys(entry, _VARIABLE_KEYS, where)
        options = {key: self.value(value, entry, key, where) for key, value in entry.items()}
        dtype = as_dtype(options.get("dtype", "float32"))
        initializer = options.get("value")
        if initializer is not None:
            initializer = convert_to_tensor(initializer, dtype)
        if "initializer" in entry:
            initializer = self.initializer(entry["initializer"], entry, where)
        shape = options.get("shape")
        if shape is not None and any(dim is None for dim in shape):
            raise self.error(line, f"{where}.shape", "a variable's dimensions are numbers")
        return get_variable(
            name,
            None if "value" in entry else shape,
            dtype,
            initializer,
            trainable=options.get("trainable"),
            use_resource=options.get("resource"),
        )

    def initializer(self, value: Any, entry: _Located, where: str) -> Any:
        """`zeros`, or `{random_normal: {stddev: 0.1}}`, as an initializer."""
        line = entry.lines["initializer"]
        name: Any = value
        options: Any = {}
        if isinstance(value, _Located) and len(value) == 1:
            ((name, options),) = value.items()
        if not isinstance(name, str):
            raise self.error(line, f"{where}.initializer", "write a name, or {name: {argument: value}}")
        known = INITIALIZERS
        if name not in known:
            raise self.error(
                line, f"{where}.initializer", f"there is no initializer '{name}'.{did_you_mean(name, known)}"
            )
        make = getattr(initializers, "Constant" if name == "constant" else name)
        if isinstance(options, _Located):
            return make(**{key: self.value(item, options, key, where) for key, item in options.items()})
        return make(self.value(options, entry, "initializer", where)) if options != {} else make()

    def _node(self, name: str, entry: _Located, where: str, line: int, exact: bool) -> Any:
        kinds = [key for key in ("op", "call") if key in entry]
        if len(kinds) != 1:
            raise self.error(
                line, where, "a node has either `op` (a TensorFlow op) or `call` (a library function)"
            )
        kind = kinds[0]
        inputs = entry.get("inputs", [])
        if not isinstance(inputs, list):
            inputs = [inputs]
        args = [self.tensor(item, entry, "inputs", where) for item in inputs]
        options = {
            key: self.value(value, entry, key, where, kind == "call")
            for key, value in entry.items()
            if key not in ("op", "call", "inputs")
        }
        target = entry[kind]
        result = (
            self._op(target, args, options, name, entry, where)
            if kind == "op"
            else self._call(target, args, options, name, entry, where)
        )
        tensor = _first(result)
        if exact and tensor is not None and tensor.op.name != name and name not in tensor.graph._operations:
            # Outputs and the loss can be fetched by the name that they have in the spec.
            result = raw_ops.Identity(tensor, name=f"{name}/")
        return result

    def _op(
        self, target: Any, args: list[Any], options: dict[str, Any], name: str, entry: _Located, where: str
    ) -> Any:
        kind = registry.find(target) if isinstance(target, str) else None
        if kind is None:
            names = [op.name for op in registry.all_ops()]
            raise self.error(
                entry.lines["op"],
                f"{where}.op",
                f"there is no op '{target}'.{did_you_mean(str(target), names)}",
            )
        definition = kind.definition
        for key in options:
            if key not in definition.attrs:
                raise self.error(
                    entry.lines[key],
                    f"{where}.{key}",
                    f"the op {target} has no attribute '{key}'.{did_you_mean(key, definition.attrs)}",
                )
        if len(definition.inputs) == 1 and definition.inputs[0].is_list:
            args = [args]
        if len(args) != len(definition.inputs):
            wanted = ", ".join(arg.name for arg in definition.inputs)
            raise self.error(
                entry.lines.get("inputs", entry.line),
                f"{where}.inputs",
                f"the op {target} takes {len(definition.inputs)} inputs ({wanted}), not {len(args)}",
            )
        return getattr(raw_ops, kind.name)(*args, **options, name=name)

    def _call(
        self, target: Any, args: list[Any], options: dict[str, Any], name: str, entry: _Located, where: str
    ) -> Any:
        function = self.function(target, entry, "call", where)
        parameters = _parameters_of(function)
        if parameters is not None:
            for key in options:
                if key not in parameters:
                    raise self.error(
                        entry.lines[key],
                        f"{where}.{key}",
                        f"{target} has no argument '{key}'.{did_you_mean(key, parameters)}",
                    )
            for key in ("name", "scope"):
                if key in parameters and key not in options:
                    options[key] = name
                    break
        return function(*args, **options)

    # Values

    def value(self, value: Any, entry: _Located, key: str, where: str, functions: bool = False) -> Any:
        """A value with its parameters put in; with `functions`, names stand for tensors and functions."""
        if isinstance(value, _Located):
            return {
                name: self.value(item, value, name, f"{where}.{key}", functions)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self.value(item, entry, key, where, functions) for item in value]
        if not isinstance(value, str):
            return value
        if value.startswith("$"):
            name = value[1:]
            if name not in self.parameters:
                raise self.error(
                    entry.lines.get(key, entry.line),
                    f"{where}.{key}",
                    f"there is no parameter '{name}'.{did_you_mean(name, self.parameters)}",
                )
            return self.parameters[name]
        if functions:
            if value in self.named or value.rpartition(":")[0] in self.named:
                return self.tensor(value, entry, key, where)
            if "." in value and inspect.ismodule(_resolve(value.partition(".")[0])):
                return self.function(value, entry, key, where)
            if key.endswith("initializer"):
                return self.initializer(value, _as_entry(entry, key), where)
        return value

    def tensor(self, value: Any, entry: _Located, key: str, where: str) -> Any:
        """An input of a node: a name, a number, or a nested list of them."""
        if isinstance(value, list):
            return [self.tensor(item, entry, key, where) for item in value]
        value = self.value(value, entry, key, where)
        if not isinstance(value, str):
            return value
        name, colon, index = value.rpartition(":")
        base = name if colon and index.isdigit() else value
        if base not in self.named:
            raise self.error(
                entry.lines.get(key, entry.line),
                f"{where}.{key}",
                f"'{base}' is no input, variable or earlier node.{did_you_mean(base, self.named)}",
            )
        found = self.named[base]
        if base == value:
            return found
        outputs = list(found) if isinstance(found, (list, tuple)) else found.op.outputs
        if int(index) >= len(outputs):
            raise self.error(
                entry.lines.get(key, entry.line),
                f"{where}.{key}",
                f"'{base}' has only {len(outputs)} outputs",
            )
        return outputs[int(index)]

    def function(self, name: Any, entry: _Located, key: str, where: str) -> Callable[..., Any]:
        """A function of the library by its dotted name (`nn.relu`)."""
        found = _resolve(name) if isinstance(name, str) else None
        if not callable(found):
            raise self.error(
                entry.lines.get(key, entry.line),
                f"{where}.{key}",
                f"the library has no function '{name}'.{did_you_mean(str(name), _function_names(str(name)))}",
            )
        function: Callable[..., Any] = found
        return function

    # What the graph says of itself

    def _names(self, section: str) -> list[str]:
        found = self.spec.get(section) or []
        found = found if isinstance(found, list) else [found]
        nodes = self.section("nodes")
        for name in found:
            if name not in nodes and name not in self.named:
                raise self.error(
                    self.spec.lines[section],
                    section,
                    f"'{name}' is no node.{did_you_mean(str(name), [*nodes, *self.named])}",
                )
        return list(found)

    def _finish(self, graph: Graph, outputs: list[str]) -> None:
        for name in outputs:
            graph.add_to_collection(OUTPUTS, _first(self.named[name]))
        if outputs:
            graph._signatures["serving_default"] = self._signature(outputs)
        for key, names in self.section("collections").items():
            for name in names if isinstance(names, list) else [names]:
                section = self.section("collections")
                graph.add_to_collection(key, _first(self.tensor(name, section, key, "collections")))
        if self.spec.get("loss") is not None:
            loss = _first(self.tensor(self.spec["loss"], self.spec, "loss", "spec"))
            if loss is None or loss.get_shape().ndims not in (None, 0):
                raise self.error(
                    self.spec.lines["loss"], "loss", f"a loss is one number, '{self.spec['loss']}' is not"
                )
            kept = graph.get_collection_ref(GraphKeys.LOSSES)
            kept[:] = [loss]
        if self.spec.get("optimizer") is not None:
            self._optimizer(graph)

    def _signature(self, outputs: list[str]) -> Any:
        """The outputs and the inputs that they need, as TensorFlow's serving signature."""
        signature = protos.SignatureDef(method_name="tensorflow/serving/predict")
        tensors = {name: _first(self.named[name]) for name in outputs}
        needed: set[Operation] = set()
        stack = [tensor.op for tensor in tensors.values() if tensor is not None]
        while stack:
            operation = stack.pop()
            if operation not in needed:
                needed.add(operation)
                stack.extend(tensor.op for tensor in operation.inputs)
        inputs = {name: self.named[name] for name in self.section("inputs") if self.named[name].op in needed}
        for table, chosen in ((signature.inputs, inputs), (signature.outputs, tensors)):
            for name, tensor in chosen.items():
                if tensor is not None:
                    info = table[name]
                    info.name, info.dtype = tensor.name, tensor.dtype.as_datatype_enum
                    info.tensor_shape.CopyFrom(tensor.get_shape().as_proto())
        return signature

    def _optimizer(self, graph: Graph) -> None:
        line = self.spec.lines["optimizer"]
        entry = self.spec["optimizer"]
        if not isinstance(entry, _Located) or "call" not in entry:
            raise self.error(line, "optimizer", "write {call: train.AdamOptimizer, learning_rate: 0.001}")
        losses = graph.get_collection(GraphKeys.LOSSES)
        if not losses:
            raise self.error(line, "optimizer", "there is no loss to minimise; name it with `loss`")
        make = self.function(entry["call"], entry, "call", "optimizer")
        options = {
            key: self.value(value, entry, key, "optimizer") for key, value in entry.items() if key != "call"
        }
        parameters = _parameters_of(make) or list(options)
        for key in options:
            if key not in parameters:
                raise self.error(
                    entry.lines[key],
                    f"optimizer.{key}",
                    f"{entry['call']} has no argument '{key}'.{did_you_mean(key, parameters)}",
                )
        try:
            optimizer = make(**options)
            optimizer.minimize(losses[0], global_step=get_or_create_global_step())
        except (OpError, TypeError, ValueError, LookupError) as error:
            raise self.error(line, "optimizer", str(error)) from error


def _as_entry(entry: _Located, key: str) -> _Located:
    """`entry` as one whose initializer stands in the line of `key`."""
    copy = _Located(entry)
    copy.line, copy.lines = entry.line, {**entry.lines, "initializer": entry.lines[key]}
    return copy


def _first(result: Any) -> Tensor | None:
    """The tensor of a node's result: the first where there are several."""
    if isinstance(result, Variable):
        value: Tensor = result.value()
        return value
    if isinstance(result, (list, tuple)):
        return _first(result[0]) if result else None
    if isinstance(result, Operation):
        return result.outputs[0] if result.outputs else None
    return result if isinstance(result, Tensor) else None


def _library() -> Any:
    return sys.modules[__name__.rpartition(".")[0]]


def _resolve(name: str) -> Any:
    """What a dotted name means in the public API, or None."""
    found = _library()
    for part in name.split("."):
        if part.startswith("_"):
            return None
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def _function_names(name: str) -> list[str]:
    """The public names that `name` might have meant."""
    library = _library()
    names = [key for key in dir(library) if callable(getattr(library, key)) and not key.startswith("_")]
    for module in ("nn", "layers", "losses", "math", "train", "random", "initializers", "summary"):
        space = getattr(library, module, None)
        names += [
            f"{module}.{key}"
            for key in dir(space)
            if callable(getattr(space, key)) and not key.startswith("_")
        ]
    return names


def _parameters_of(function: Any) -> list[str] | None:
    """The names of a function's arguments, or None where it takes any."""
    if hasattr(function, "parameters"):
        return list(function.parameters)
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return [p.name for p in parameters]
