"""What a model can be written as: one table of targets, each told by a suffix or its name.

    checkpoint   PREFIX.index, PREFIX.data-...   graph beside it (PREFIX.meta)      no suffix
    v1           one file                        graph beside it (FILE.meta)        by name
    saved_model  variables/ in the directory     saved_model.pb, assets/            DIRECTORY/, by name
    frozen       as constants                    a GraphDef                         .pb
    graph_def    -                               a GraphDef                         .pb of a graph alone
    pbtxt        -                               its text                           .pbtxt
    meta         -                               a MetaGraphDef                     .meta
    hdf5, npz, safetensors                       in the file                        .h5 .npz .safetensors
    keras        layers and their weights        -                                  .weights.h5

What a target cannot hold is known before anything is written (`left_out`, `refused`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import (
    bundle_writer,
    files,
    graph_facts,
    graph_file,
    keras_writer,
    protos,
    rewrite,
    saved_model_writer,
    session_bundle,
    v1_writer,
)
from .errors import FailedPreconditionError, InvalidValueError, bullets, did_you_mean
from .object_graph import OBJECT_GRAPH_KEY
from .rewrite import saver
from .saved_variables import saved_parts

if TYPE_CHECKING:
    from .entry import Entry
    from .rewrite import Model

_OLD_SAVERS = frozenset(("Save", "SaveSlices", "Restore", "RestoreSlice"))
_TEXT = (".pbtxt", ".prototxt", ".pb.txt")


@dataclass(frozen=True, slots=True)
class Options:
    """How a model is written.

    Attributes:
        shards: Data files of a checkpoint.
        outputs: Tensors that a frozen graph computes, and a SavedModel's signature where it has none; by
            default those that the model's signatures name, else what looks like its results.
        tags: Tags of a SavedModel, where the graph has none.
    """

    shards: int = 1
    outputs: tuple[str, ...] = ()
    tags: tuple[str, ...] = ("serve",)


@dataclass(frozen=True, slots=True)
class Target:
    """One kind of file.

    Attributes:
        name: What `--to` calls it.
        suffixes: Endings that mean it.
        text: What it is, in a few words.
        graph: Whether it holds a graph.
        variables: Whether it holds variables.
        write: `write(path, model, options)`.
        refusal: Why it cannot hold an entry; "" where it can.
    """

    name: str
    suffixes: tuple[str, ...]
    text: str
    graph: bool
    variables: bool
    write: Callable[[str, Model, Options], None]
    refusal: Callable[[Entry], str] = lambda entry: ""


def choose(path: str, model: Model, name: str | None = None) -> Target:
    """The target that a name or the suffix of a path means.

    Args:
        path: Where to write.
        model: What is written: a `.pb` of a model with variables is a frozen graph.
        name: The target's name.

    Raises:
        InvalidValueError: There is none of that name.
    """
    if name is not None:
        found = next((one for one in TARGETS if one.name == name), None)
        if found is None:
            names = [one.name for one in TARGETS]
            raise InvalidValueError(
                f"There is no target '{name}'.{did_you_mean(name, names)} There are: {', '.join(names)}.",
                name=name,
            )
        return found
    if path.endswith(("/", os.sep)):
        return _named("saved_model")
    if path.endswith(".pb") and not model.variables:
        return _named("graph_def")
    ending = [(len(suffix), one) for one in TARGETS for suffix in one.suffixes if path.endswith(suffix)]
    return max(ending, key=lambda pair: pair[0])[1] if ending else _named("checkpoint")


def _named(name: str) -> Target:
    return next(one for one in TARGETS if one.name == name)


def refused(target: Target, model: Model) -> dict[str, str]:
    """The entries that a target cannot hold, and why; it would not be written."""
    if not target.variables:
        return {}
    return {key: why for key in model.variables if (why := target.refusal(model.variables[key]))}


def left_out(target: Target, model: Model) -> dict[str, str]:
    """What a model has that a target has no place for, and why: `graph`, `variables`."""
    found = {}
    if model.meta_graph is not None and not target.graph:
        found["graph"] = f"a {target.name} file holds none"
    if model.variables and not target.variables and target.name != "frozen":
        found["variables"] = f"a {target.name} file holds no values"
    return found


def write(
    path: files.Path,
    model: Model,
    name: str | None = None,
    options: Options | None = None,
    *,
    skip: bool = False,
) -> Target:
    """Writes a model, atomically; each variable is read once, when its turn comes.

    Args:
        path: Where to.
        model: The model.
        name: The target's name; by default the suffix tells.
        options: How.
        skip: Leave out what the target cannot hold.

    Returns:
        The target.

    Raises:
        InvalidValueError: The target cannot hold some entries (lists all), or there is no graph for it.
        OpError: Something cannot be read or written; what was there before stays.
    """
    where = files.location(path)
    files.check_writable(where)
    target = choose(where, model, name)
    if (model.meta_graph is None and not target.variables) or (
        target.name == "saved_model" and model.meta_graph is None
    ):
        raise InvalidValueError(
            f"A {target.name} file is a graph, and there is none: variables alone go to a checkpoint, .h5, "
            ".npz or .safetensors.",
            path=where,
        )
    problems = refused(target, model)
    if problems and not skip:
        lines = [f"{key}: {why}" for key, why in problems.items()]
        raise InvalidValueError(
            f"{where} cannot hold {len(problems)} of {len(model.variables)} entries:{bullets(lines)}",
            path=where,
            refused=problems,
        )
    if problems:
        kept = {key: model.variables[key] for key in model.variables if key not in problems}
        model = replace(model, variables=kept)
    target.write(where, model, options or Options())
    return target


def default_outputs(model: Model) -> list[str]:
    """The tensors that a model's signatures call results; else those that look like its results."""
    signatures = session_bundle.signature_defs(model.meta_graph)
    named = [info.name for one in signatures.values() for info in one.outputs.values() if info.name]
    if named:
        return list(dict.fromkeys(named))
    op_defs = {one.name: one for one in model.meta_graph.meta_info_def.stripped_op_list.op}
    saving = saver.saver_nodes(model.meta_graph.graph_def)
    facts = graph_facts.graph_facts(model.meta_graph.graph_def, op_defs, saving)
    for role in ("named", "result", "other"):
        found = [row["name"] for row in facts.outputs if row["role"] == role]
        if found:
            return found
    return []


# ---- writers -------------------------------------------------------------------------------------


def _entries(model: Model) -> Iterator[Entry]:
    """The variables as they are stored: partitioned ones part by part."""
    for key in sorted(model.variables, key=lambda name: name.encode("utf-8", "surrogateescape")):
        yield from model.variables[key].stored()


def _whole(model: Model) -> Iterable[Entry]:
    return (model.variables[key] for key in model.variables)


def _meta(model: Model) -> bytes | None:
    encoded: bytes | None = None if model.meta_graph is None else protos.encode(model.meta_graph)
    return encoded


def _for_bundle(model: Model) -> Model:
    """The model with a saver that reads checkpoints of the second generation."""
    if model.meta_graph is None or not any(n.op in _OLD_SAVERS for n in model.meta_graph.graph_def.node):
        return model
    model = model.with_copied_graph()
    saver.replace_saver(model.meta_graph)
    return model


def _with_saver(model: Model) -> Model:
    """The model with a saver, where its variables would not be found without: those of a GraphDef."""
    meta = model.meta_graph
    if (
        meta is None
        or meta.HasField("saver_def")
        or "variables" in meta.collection_def
        or not model.variables
    ):
        return model
    parts = [one for one in saved_parts(meta.graph_def) if one.key in model.variables]
    if not parts:
        return model
    model = model.with_copied_graph()
    saver.add_saver(model.meta_graph, parts)
    return model


def _write_checkpoint(path: str, model: Model, options: Options) -> None:
    meta = _meta(_with_saver(_for_bundle(model)))
    with files.atomic_files() as replacement:
        if model.variables or meta is None:
            bundle_writer.add_bundle(replacement, path, _entries(model), options.shards)
        if meta is not None:
            replacement.open(f"{path}.meta").write(meta)


def _write_v1(path: str, model: Model, options: Options) -> None:
    v1_writer.write_v1(path, _entries(model))
    meta = _meta(model)
    if meta is not None:
        files.write_bytes(f"{path}.meta", meta)


def _write_saved_model(path: str, model: Model, options: Options) -> None:
    saved_model_writer.check_empty(path)
    model = _for_bundle(model).with_copied_graph()
    meta = model.meta_graph
    parts = saved_parts(meta.graph_def, meta.saver_def)
    missing = list(dict.fromkeys(part.key for part in parts if part.key not in model.variables))
    if missing:
        raise FailedPreconditionError(
            f"A SavedModel has the values of its variables; these have none:{bullets(missing)}", names=missing
        )
    if not meta.HasField("saver_def") and parts:
        saver.add_saver(meta, parts)
    for key, signature in session_bundle.signature_defs(meta).items():
        meta.signature_def[key].CopyFrom(signature)
    if not meta.signature_def:
        meta.signature_def["serving_default"].CopyFrom(_guessed_signature(model, options.outputs))
    if not meta.meta_info_def.tags:
        meta.meta_info_def.tags.extend(options.tags)
    named = dict(session_bundle.assets(meta))
    sources = {name: model.assets[tensor] for tensor, name in named.items() if tensor in model.assets}
    message = saved_model_writer.saved_model_of([meta])
    entries = _entries(model) if model.variables else None
    saved_model_writer.write_saved_model(path, message, entries, sources, shards=options.shards)


def _guessed_signature(model: Model, outputs: Sequence[str]) -> Any:
    """A signature for prediction: what is fed, and the outputs."""
    meta = model.meta_graph
    op_defs = {one.name: one for one in meta.meta_info_def.stripped_op_list.op}
    results = list(outputs) or default_outputs(model)
    saving = saver.saver_nodes(meta.graph_def)
    facts = graph_facts.graph_facts(meta.graph_def, op_defs, saving, results)
    wanted = {name if ":" in name else f"{name}:0" for name in results}
    rows = [row for row in facts.outputs if row["name"] in wanted]
    needed = {name for row in rows for name in row["needs"]}
    signature = protos.SignatureDef(method_name="tensorflow/serving/predict")
    inputs = [row for row in facts.inputs if row["name"] in needed and not row.get("optional")]
    for infos, chosen in ((signature.inputs, inputs), (signature.outputs, rows)):
        for row in chosen:
            if row["dtype"] is not None:
                infos[row["name"].removesuffix(":0")].CopyFrom(graph_facts.tensor_info(row))
    return signature


def _write_frozen(path: str, model: Model, options: Options) -> None:
    outputs = list(options.outputs) or default_outputs(model)
    if not outputs:
        raise InvalidValueError(
            "The graph does not say what its results are: name what the frozen graph has to compute.",
            path=path,
        )
    _write_graph(path, rewrite.freeze(model, outputs).model)


def _write_graph_def(path: str, model: Model, options: Options) -> None:
    _write_graph(path, model)


def _write_graph(path: str, model: Model) -> None:
    graph_file.write_graph(path, model.meta_graph.graph_def, text=path.endswith(_TEXT))


def _write_text(path: str, model: Model, options: Options) -> None:
    graph_file.write_graph(path, model.meta_graph.graph_def if model.bare else model.meta_graph, text=True)


def _write_meta(path: str, model: Model, options: Options) -> None:
    graph_file.write_graph(path, model.meta_graph, text=False)


def _write_hdf5(path: str, model: Model, options: Options) -> None:
    from .hdf5_store import write_hdf5

    write_hdf5(path, _whole(model), _meta(model))


def _write_npz(path: str, model: Model, options: Options) -> None:
    from .npz import write_npz

    write_npz(path, _whole(model), _meta(model))


def _write_safetensors(path: str, model: Model, options: Options) -> None:
    from .safetensors_store import write_safetensors

    write_safetensors(path, _whole(model), _meta(model))


def _write_keras(path: str, model: Model, options: Options) -> None:
    kept = (model.variables[key] for key in model.variables if key != OBJECT_GRAPH_KEY)
    keras_writer.write_keras_weights(path, kept)


def _no_objects(entry: Entry) -> str:
    return f"there are no values of dtype {entry.dtype.name}" if entry.dtype.kind == "handle" else ""


def _safetensors_refusal(entry: Entry) -> str:
    from .safetensors_store import refusal

    return refusal(entry)


def _keras_refusal(entry: Entry) -> str:
    return "" if entry.name == OBJECT_GRAPH_KEY else keras_writer.refusal(entry)


TARGETS = (
    Target("checkpoint", (), "a TensorFlow checkpoint", True, True, _write_checkpoint, bundle_writer.refusal),
    Target("v1", (), "a first-generation checkpoint", True, True, _write_v1, v1_writer.refusal),
    Target(
        "saved_model", (), "a SavedModel directory", True, True, _write_saved_model, bundle_writer.refusal
    ),
    Target("frozen", (".pb",), "a graph with constants for variables", True, False, _write_frozen),
    Target("graph_def", (), "a GraphDef", True, False, _write_graph_def),
    Target("pbtxt", _TEXT, "a graph as text", True, False, _write_text),
    Target("meta", (".meta",), "a MetaGraphDef", True, False, _write_meta),
    Target("hdf5", (".h5", ".hdf5"), "an HDF5 store", True, True, _write_hdf5, _no_objects),
    Target("keras", (".weights.h5",), "a weight file of Keras", False, True, _write_keras, _keras_refusal),
    Target("npz", (".npz",), "an archive of NumPy's arrays", True, True, _write_npz, _no_objects),
    Target(
        "safetensors",
        (".safetensors",),
        "a safetensors file",
        True,
        True,
        _write_safetensors,
        _safetensors_refusal,
    ),
)
"""All targets. Another is a row here: a name, its suffixes, what it holds, and a function that writes it."""
