"""What is in a file, as one JSON-ready dict: the content of `sgtool inspect`.

Works on any graph, whatever ops are in it, and imports no NumPy for graphs and checkpoints.
"""

from __future__ import annotations

import gc
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import checkpoint_state, files, known_ops, object_graph, registry, session_bundle, sniff
from .bundle import Bundle
from .checkpoint_state import ResolvedCheckpoint
from .collection_items import collection_items
from .errors import (
    DataLossError,
    InvalidValueError,
    OpError,
    UnavailableError,
    UnimplementedError,
    bullets,
    is_unreadable,
)
from .graph_facts import as_list, dtype_name, graph_facts, unlisted
from .intact import open_what_is_intact, read_what_is_intact
from .slots import slots_of_keras
from .tensor_proto import shape_from_proto
from .v1 import V1Checkpoint
from .variable_rows import mark_slots, variable_rows

if TYPE_CHECKING:
    from .entry import Entry
    from .graph_file import GraphFile
    from .store import Store

Summary = dict[str, Any]
_ASKED = 16
"""Data files of a remote checkpoint that are asked for."""
_DEFAULT_SIGNATURE = "serving_default"
_UNREADABLE = (DataLossError, InvalidValueError, UnimplementedError)
"""What a file raises that does not hold what it should: what lies beside it can still be shown."""


@contextmanager
def _many_objects() -> Iterator[None]:
    """Python's search for cycles is off: it takes longer than making a hundred thousand small objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def summarise(path: files.Path, tags: Iterable[str] | None = None) -> Summary:
    """The summary of a graph file, SavedModel, checkpoint (any form of its path) or store.

    Args:
        path: The file, directory or prefix.
        tags: Which graph of a SavedModel; by default the one tagged `serve`, else the first.

    Returns:
        A dict with the keys of `inspect --json`; those that do not apply are absent. Beyond those of
        CLI.md: `path`, `assets` (files beside the graph, and whether they are there), `how` (how the file
        was chosen, where the path did not name it), `text`, `tags`, `min_consumer`, `devices` (how many
        nodes are placed on each), `unlisted_ops` and `unlisted_attributes` (those that the file's own
        list of ops does not have), `unknown_ops` and `unknown_attributes` (those that no version of
        TensorFlow has), `checkpoints` (the complete ones of the directory), `meta_graphs` (the tags of
        each graph of a SavedModel), `saver`, `functions`, `function_ops` (as `ops`, of their bodies),
        `constants`, `damaged` (what of a store, or which file of a checkpoint, cannot be opened, and why),
        `unreadable` (as `damaged`, of what the system or server does not give), `causes` (what seems to
        have happened to a damaged store),
        `missing` (a reason why the checkpoint beside a graph could not be read), `missing_files`
        (those of its `data_files` data files that are not there), and of each variable what
        `variable_rows.py` says and `variable` (the name of what lies under a key, of a checkpoint of
        TensorFlow 2 without graph).

    Raises:
        OpError: The file is missing, damaged, or of a kind that is not read.
    """
    name = files.location(path)
    try:
        graph = _graph_at(name)
    except OpError as error:
        if not isinstance(error, _UNREADABLE) and not is_unreadable(error):
            raise
        beside = _checkpoint_of_meta(name)
        if error.fields.get("found") == sniff.TABLE_CUT:
            meta = f"{name}.meta"
            beside = ResolvedCheckpoint(name, name, meta if files.is_file(meta) else None, version=1)
        return _summarise_what_is_left(name, error, tags) if beside is None else _summarise_checkpoint(beside)
    if graph is not None:
        return _summarise_graph_file(graph, tags)
    try:
        if files.is_file(name) and not checkpoint_state.is_checkpoint_file(name):
            format = registry.detect(name)
            if format.kind == "store":
                return _summarise_foreign(name, format)
        resolved = checkpoint_state.resolve_prefix(name)
    except OpError as error:
        folder = registry.store_directory(name)
        if folder is not None:
            return _summarise_foreign(name, folder)
        return _summarise_what_is_left(name, error, tags)
    return _summarise_checkpoint(resolved)


def _summarise_graph_file(graph: GraphFile, tags: Iterable[str] | None) -> Summary:
    """A graph file, with the checkpoint beside it, or with what is wrong with that."""
    store, resolved, error = _store_beside(graph)
    summary = summarise_graph(graph, store, tags) | _missing_files(store)
    if resolved is not None:
        summary["prefix"] = resolved.prefix
        if graph.kind != "saved_model":
            summary |= _neighbours(resolved)
    if error is not None:
        summary["missing"] = str(error)
    if error is not None and isinstance(error, DataLossError):
        summary["damaged"] = {error.fields["path"]: str(error)}
    elif error is not None and is_unreadable(error):
        summary["unreadable"] = {error.fields["path"]: str(error)}
    return summary


def summarise_graph(
    graph: GraphFile, store: Mapping[str, Entry] | None = None, tags: Iterable[str] | None = None
) -> Summary:
    """The summary of a graph file, with the checkpoint that belongs to it if there is one."""
    summary: Summary = {"format": graph.kind, "path": graph.path, "text": graph.text}
    if graph.kind == "graph_def":
        return summary | _of_graph(graph.message, None, store)
    if not graph.meta_graphs:
        return summary
    meta_graph = pick_meta_graph(graph, tags)
    if graph.kind == "saved_model":
        summary["tags"] = list(meta_graph.meta_info_def.tags)
        summary["meta_graphs"] = [list(one.meta_info_def.tags) for one in graph.meta_graphs]
    assets = session_bundle.assets(meta_graph)
    if assets:
        folder = os.path.join(os.path.dirname(graph.path), "assets")
        summary["assets"] = [
            {"tensor": tensor, "file": name, "present": files.is_file(os.path.join(folder, name))}
            for tensor, name in assets.items()
        ]
    return summary | _of_graph(meta_graph.graph_def, meta_graph, store)


def pick_meta_graph(graph: GraphFile, tags: Iterable[str] | None = None) -> Any:
    """The MetaGraphDef of a file; of several in a SavedModel that with exactly these tags.

    Raises:
        InvalidValueError: None has these tags; lists those that there are.
    """
    every = graph.meta_graphs
    wanted = {"serve"} if tags is None else set(tags)
    for one in every:
        if set(one.meta_info_def.tags) == wanted:
            return one
    if tags is None and every:
        return every[0]
    present = [sorted(one.meta_info_def.tags) for one in every]
    raise InvalidValueError(
        f"{graph.path} has no graph with the tags {sorted(wanted)}; it has {present}.",
        path=graph.path,
        tags=present,
    )


def summarise_store(store: Store) -> Summary:
    """The part of a summary that the entries of a store give."""
    names = {one.key: one.full_name for one in object_graph.tracked_variables(store)}
    rows: dict[str, dict[str, Any]] = {}
    with _many_objects():
        for name, dtype, shape, nbytes in store.listing():
            rows[name] = {"name": name, "dtype": dtype, "shape": shape, "bytes": nbytes}
    for name in names:
        if name in rows:
            rows[name]["variable"] = names[name]
    kept_apart = getattr(store, "optimizer_weights", ())
    shapes = {name: row["shape"] for name, row in rows.items()}
    for name, base in slots_of_keras(kept_apart, shapes).items():
        rows[name]["slot_of"] = base
    mark_slots(rows)
    listed = list(rows.values())
    return {"variables": listed, **_totals(listed)}


def _graph_at(name: str) -> GraphFile | None:
    """The graph that a path names; None if it names something else (errors of a graph file are raised)."""
    from . import graph_file

    if files.is_directory(name):
        holds_model = any(
            files.is_file(os.path.join(name, f"saved_model.{suffix}")) for suffix in ("pb", "pbtxt", "cpb")
        )
        return graph_file.read_graph(name) if holds_model else None
    if not files.is_file(name) or files.is_file(f"{name}.index"):
        return None
    try:
        format = registry.detect(name)
    except OpError:
        if checkpoint_state.is_checkpoint_file(name):
            return None
        raise
    is_graph = format.kind == "graph" and not checkpoint_state.is_checkpoint_file(name)
    return graph_file.read_graph(name) if is_graph else None


def _checkpoint_of_meta(name: str) -> ResolvedCheckpoint | None:
    """The checkpoint beside a `.meta`, if that is what is named and there is one."""
    if not name.endswith(".meta"):
        return None
    try:
        return checkpoint_state.resolve_prefix(name)
    except OpError:
        return None


def _store_beside(
    graph: GraphFile,
) -> tuple[Mapping[str, Entry] | None, ResolvedCheckpoint | None, OpError | None]:
    """The checkpoint that belongs to a graph file, and why it cannot be read if it is bad or lost."""
    prefix = graph.variables_prefix
    if prefix is None:
        if graph.kind != "meta_graph_def" or not graph.path.endswith(".meta"):
            return None, None, None
        prefix = graph.path
    try:
        resolved = checkpoint_state.resolve_prefix(prefix)
    except OpError:
        return None, None, lost_variables(graph) if graph.variables_prefix else what_is_left(prefix)
    try:
        return registry.open_checkpoint(resolved), resolved, None
    except OpError as error:
        error.fields.setdefault("path", resolved.index)
        return None, resolved, error


def _summarise_what_is_left(name: str, error: OpError, tags: Iterable[str] | None) -> Summary:
    """The graph of a checkpoint that cannot be opened.

    Raises:
        DataLossError: It has none that can be read.
        OpError: `error`, where there is nothing of a checkpoint.
    """
    from . import graph_file

    lost = what_is_left(name)
    if lost is None and files.is_file(f"{name}.meta"):  # a graph that has no checkpoint, by its prefix
        return _summarise_graph_file(graph_file.read_graph(f"{name}.meta"), tags)
    if lost is None:
        raise error
    meta = lost.fields["meta"]
    if meta is None or meta == name:
        raise lost from error
    return _summarise_graph_file(graph_file.read_graph(meta), tags)


def lost_variables(graph: GraphFile) -> DataLossError | None:
    """The error for a SavedModel whose variables are not there; None for one that restores none."""
    from .verification import Verification
    from .verify_graph import check_variables

    found = Verification(graph.path, graph.kind)
    check_variables(graph, found)
    return DataLossError(found.damaged[0].why, path=found.damaged[0].path) if found.damaged else None


def what_is_left(name: str) -> DataLossError | None:
    """The error for a checkpoint that lost a file on which all depends; None if nothing is left of one.

    Its field `meta` is the graph of that checkpoint, if there is one.
    """
    from . import verify_incomplete

    if files.is_remote(name):
        return _lost_index(verify_incomplete.prefix_of(name))
    if files.is_directory(name):
        left = verify_incomplete.pieces_in(name, ())
        prefix = verify_incomplete.prefix_of(left[0].path) if len(left) == 1 else ""
    else:
        prefix = verify_incomplete.prefix_meant(name)
        one = verify_incomplete.pieces(prefix)
        left = [one] if one is not None else []
    damaged = [damage for found in left for damage in found.damaged]
    if not damaged:
        return None
    why = [damage.why for damage in damaged]
    text = why[0] if len(why) == 1 else f"{name} is damaged:{bullets(why)}"
    meta = f"{prefix}.meta"
    return DataLossError(text, path=damaged[0].path, meta=meta if files.is_file(meta) else None)


def _lost_index(prefix: str) -> DataLossError | None:
    """As `what_is_left`, of a URL: servers seldom list, so only the first data file tells."""
    index, first = f"{prefix}.index", f"{prefix}.data-00000-of-00001"
    if files.is_directory(prefix) or files.is_file(index) or not files.is_file(first):
        return None
    text = f"{files.absence(index)}; without it nothing says what is in {first}."
    meta = f"{prefix}.meta"
    return DataLossError(text, path=index, meta=meta if files.is_file(meta) else None)


def _missing_files(store: Mapping[str, Entry] | None) -> Summary:
    """The data files that a checkpoint's index names, or its own name counts, and that are not beside it."""
    if isinstance(store, V1Checkpoint) and not files.is_remote(store.prefix):
        shards, gone = checkpoint_state.v1_shards(store.prefix)
        lost = [os.path.basename(one) for one in gone]
        return _told_missing(store.prefix, lost, len(shards) + len(gone)) if shards else {}
    if not isinstance(store, Bundle):
        return {}
    names = [os.path.basename(store.shard_path(shard)) for shard in range(store.num_shards)]
    if files.is_remote(store.prefix):  # each is asked for, unless that are very many
        missing = [name for name in names[:_ASKED] if not files.is_file(_beside(store.prefix, name))]
    else:
        there = set(files.list_directory(os.path.dirname(store.prefix) or "."))
        missing = [name for name in names if name not in there]
    return _told_missing(store.prefix, missing, len(names))


def _told_missing(prefix: str, missing: list[str], count: int) -> Summary:
    if not missing:
        return {}
    damaged = {one: f"{files.absence(_beside(prefix, one))}; what it held is lost." for one in missing}
    return {"missing_files": missing, "data_files": count, "damaged": damaged}


def _beside(prefix: str, name: str) -> str:
    return os.path.join(os.path.dirname(prefix), name)


def _summarise_checkpoint(resolved: ResolvedCheckpoint) -> Summary:
    """A checkpoint by its prefix: with its graph if that is beside it, so that all forms agree.

    Raises:
        OpError: Nothing of it can be shown.
    """
    from . import graph_file

    graph = None
    bad: dict[str, OpError] = {}
    store, error, lost = open_what_is_intact(resolved)
    if error is not None:
        bad[resolved.index] = error
    if resolved.meta is not None:
        try:
            graph = graph_file.read_graph(resolved.meta)
        except OpError as error:
            if not isinstance(error, _UNREADABLE) and not is_unreadable(error):
                raise
            bad[resolved.meta] = error
    if store is None and graph is None:
        if len(bad) == 1:
            raise bad[resolved.index]
        why = bullets([str(error) for error in bad.values()])
        if all(map(is_unreadable, bad.values())):
            raise UnavailableError(f"{resolved.prefix} cannot be read:{why}", path=resolved.index)
        raise DataLossError(f"{resolved.prefix} is damaged:{why}", path=resolved.index, names=list(bad))
    about: Summary = {"prefix": resolved.prefix} | _missing_files(store) | _neighbours(resolved)
    if store is None:
        about["missing"] = str(bad[resolved.index])
    for key in ("damaged", "unreadable"):
        told = {file: str(e) for file, e in bad.items() if is_unreadable(e) == (key == "unreadable")}
        if told:
            about[key] = about.get(key, {}) | told
    if lost:
        about["damaged"] = about.get("damaged", {}) | lost
    if resolved.how:
        about["how"] = resolved.how
    if graph is not None:
        return summarise_graph(graph, store) | about
    version = getattr(store, "producer", 0)
    summary: Summary = {
        "format": "checkpoint" if resolved.version == 2 else "v1 checkpoint",
        "path": resolved.index,
    }
    return summary | about | {"producer": {"checkpoint": version}} | summarise_store(store)


def _neighbours(resolved: ResolvedCheckpoint) -> Summary:
    """The complete checkpoints in a checkpoint's directory, oldest first, marked by its state file."""
    if files.is_remote(resolved.prefix):
        return {}
    folder = os.path.dirname(resolved.prefix)
    try:
        state = checkpoint_state.read_state(folder)
    except OpError:
        state = None
    latest = os.path.basename(state.model_checkpoint_path) if state else ""
    listed = {os.path.basename(one) for one in state.all_model_checkpoint_paths} if state else set()
    rows = []
    complete = (
        checkpoint_state.complete_checkpoints if resolved.version == 2 else checkpoint_state.v1_checkpoints
    )
    for prefix in complete(folder):
        base = os.path.basename(prefix)
        step = base.rpartition("-")[2]
        row: dict[str, Any] = {"prefix": prefix, "in_state": base in listed, "latest": base == latest}
        rows.append(row | ({"step": int(step)} if step.isdigit() else {}))
    return {"checkpoints": rows}


def _summarise_foreign(name: str, format: registry.Format) -> Summary:
    """Another store than a checkpoint, with the graph in it if it keeps one."""
    from . import graph_file
    from .verify_causes import causes_of

    store: Any = read_what_is_intact(name, format)
    summary: Summary = {"format": format.name, "path": name}
    if getattr(store, "meta_graph", None):
        graph = graph_file.decode_graph(store.meta_graph, f"the graph in {name}")
        summary = summarise_graph(graph, store) | summary
    else:
        summary |= summarise_store(store)
    if getattr(store, "about", None):
        summary["about"] = store.about
    errors: dict[str, OpError] = getattr(store, "damaged", {})
    refused = {key: str(why) for key, why in errors.items() if is_unreadable(why)}
    lost = {key: str(why) for key, why in {**getattr(store, "missing", {}), **errors}.items()}
    for what, told in (
        ("damaged", {k: why for k, why in lost.items() if k not in refused}),
        ("unreadable", refused),
    ):
        if told:
            summary[what] = told
    if "damaged" in summary and files.is_file(name) and (causes := causes_of(name)):
        summary["causes"] = causes
    return summary | ({"skipped": dict(store.skipped)} if store.skipped else {})


@_many_objects()
def _of_graph(graph_def: Any, meta_graph: Any, store: Mapping[str, Entry] | None) -> Summary:
    op_defs = (
        {op.name: op for op in meta_graph.meta_info_def.stripped_op_list.op} if meta_graph is not None else {}
    )
    facts = graph_facts(
        graph_def,
        op_defs,
        _saver_nodes(meta_graph),
        _results(meta_graph),
        _signature_tensors(meta_graph, "inputs"),
    )
    rows = variable_rows(facts, graph_def, meta_graph, store)
    summary: Summary = {"producer": _producer(graph_def, meta_graph, store), "variables": rows}
    summary |= {"inputs": facts.inputs, "outputs": facts.outputs}
    if meta_graph is not None:
        summary["signatures"] = {
            key: _signature(one) for key, one in sorted(session_bundle.signature_defs(meta_graph).items())
        }
        summary["collections"] = {
            key: collection_items(key, one) for key, one in sorted(meta_graph.collection_def.items())
        }
        if meta_graph.HasField("saver_def"):
            saver = meta_graph.saver_def
            summary["saver"] = {
                "filename": saver.filename_tensor_name,
                "save": saver.save_tensor_name,
                "restore": saver.restore_op_name,
            }
    summary |= {"ops": facts.ops, "nodes": facts.nodes}
    if graph_def.versions.min_consumer:
        summary["min_consumer"] = graph_def.versions.min_consumer
    if facts.devices:
        summary["devices"] = facts.devices
    library = graph_def.library.function
    functions = {function.signature.name for function in library}
    if op_defs:
        summary |= unlisted(graph_def.node, op_defs, functions)
    summary |= known_ops.foreign(graph_def.node, op_defs, functions)
    if functions:
        summary["functions"] = sorted(functions)
        summary["function_ops"] = dict(
            Counter(node.op for function in library for node in function.node_def).most_common()
        )
    return summary | {"constants": facts.constants} | _totals(rows)


def _saver_nodes(meta_graph: Any) -> list[str]:
    if meta_graph is None:
        return []
    saver = meta_graph.saver_def
    names = (saver.filename_tensor_name, saver.save_tensor_name, saver.restore_op_name)
    return [name.partition(":")[0] for name in names if name]


def _results(meta_graph: Any) -> list[str]:
    """The tensors that the collection `outputs`, then signatures (what is served by default first) name."""
    if meta_graph is None:
        return []
    names: list[str] = []
    if "outputs" in meta_graph.collection_def:
        names += meta_graph.collection_def["outputs"].node_list.value
    return names + _signature_tensors(meta_graph, "outputs")


def _signature_tensors(meta_graph: Any, side: str) -> list[str]:
    """The tensors that signatures name on a side, `inputs` or `outputs`."""
    if meta_graph is None:
        return []
    names: list[str] = []
    signatures = session_bundle.signature_defs(meta_graph).items()
    for _, signature in sorted(signatures, key=lambda pair: (pair[0] != _DEFAULT_SIGNATURE, pair[0])):
        infos = [_tensor_info(one)["name"] for _, one in sorted(getattr(signature, side).items())]
        names += [name for info in infos for name in ([info] if isinstance(info, str) else info)]
    return names


def _producer(graph_def: Any, meta_graph: Any, store: Mapping[str, Entry] | None) -> dict[str, Any]:
    producer: dict[str, Any] = {"graph": graph_def.versions.producer}
    if meta_graph is not None and meta_graph.meta_info_def.tensorflow_git_version == "sgtool":
        producer["made_by"] = "sgtool"
    if meta_graph is not None and meta_graph.meta_info_def.tensorflow_version:
        producer["tensorflow"] = meta_graph.meta_info_def.tensorflow_version
    if store is not None and hasattr(store, "producer"):
        producer["checkpoint"] = store.producer
    return producer


def _totals(rows: list[dict[str, Any]]) -> dict[str, int]:
    """`parameters`: elements of the trainable variables, or of all where it is not known what is trained."""
    marked = [row for row in rows if row.get("trainable")]
    counted = (
        marked
        if any("trainable" in row for row in rows)
        else [r for r in rows if r["dtype"] not in ("string", "variant", "resource") and "slot_of" not in r]
    )
    shapes = [row["shape"] for row in counted if row["shape"] is not None and None not in row["shape"]]
    return {"parameters": sum(map(math.prod, shapes)), "bytes": sum(row["bytes"] or 0 for row in rows)}


def _signature(signature: Any) -> dict[str, Any]:
    return {
        "method": signature.method_name,
        "inputs": {key: _tensor_info(one) for key, one in sorted(signature.inputs.items())},
        "outputs": {key: _tensor_info(one) for key, one in sorted(signature.outputs.items())},
    }


def _tensor_info(info: Any) -> dict[str, Any]:
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        sparse = info.coo_sparse
        name: Any = [sparse.indices_tensor_name, sparse.values_tensor_name, sparse.dense_shape_tensor_name]
    elif kind == "composite_tensor":
        name = [component.name for component in info.composite_tensor.components]
    else:
        name = info.name
    shape = shape_from_proto(info.tensor_shape) if info.HasField("tensor_shape") else None
    return {"name": name, "dtype": dtype_name(info.dtype), "shape": as_list(shape)}
