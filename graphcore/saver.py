"""`tf.train.Saver`: variables to checkpoints and back.

`save` and `restore` read and write the session's variables directly; they never touch the graph, work
on a finalized one, and the fiftieth call costs what the second did. The nodes that TensorFlow would run
(`save/SaveV2`, `save/restore_all`, ...) are made where somebody needs them: in an exported
MetaGraphDef, or in the graph itself once `saver_def` is asked for.

Source: tensorflow/python/training/saver.py and checkpoint_management.py (r1.15), behaviour only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, TypeAlias

from ..formats import (
    bundle_writer,
    checkpoint_state,
    checkpoint_state_writer,
    files,
    graph_file,
    protos,
    v1_writer,
)
from ..formats.errors import bullets
from ..formats.restore_report import RestoreReport
from . import meta_graph, meta_graph_export, saveable_objects
from .checkpoint_management import get_checkpoint_mtimes, meta_graph_filename, remove_checkpoint
from .default import GraphKeys, get_default_graph
from .errors import (
    FailedPreconditionError,
    InvalidStateError,
    InvalidTypeError,
    InvalidValueError,
    MissingFileError,
    UnimplementedError,
)
from .graph import Graph
from .operation import Operation
from .restore import restore_contents
from .saveables import Contents, Saveable, collect, grouped, of_graph
from .saver_nodes import Nodes

V1, V2 = 1, 2


class BaseSaverBuilder:
    """What TensorFlow's savers are made by: here only the names of what can be saved.

    Args:
        write_version: `SaverDef.V1` or `SaverDef.V2`; the Saver's own argument counts.
    """

    SaveSpec: TypeAlias = saveable_objects.SaveSpec
    SaveableObject: TypeAlias = saveable_objects.SaveableObject
    VariableSaveable: TypeAlias = saveable_objects.VariableSaveable
    ResourceVariableSaveable: TypeAlias = saveable_objects.ResourceVariableSaveable

    def __init__(self, write_version: int = V2) -> None:
        self._write_version = write_version


class Saver:
    """Saves and restores variables.

    Args:
        var_list: Variables, or a dict from keys in the checkpoint to variables; by default all
            (`GLOBAL_VARIABLES` and `SAVEABLE_OBJECTS`).
        reshape: Restore values into variables of another shape with as many elements.
        sharded: A data file for each device that the variables are on by the graph, in the order of its
            names; one whose variables name no device has one.
        max_to_keep: How many checkpoints to keep; 0 or None for all.
        keep_checkpoint_every_n_hours: Keep one for good every so many hours.
        name: Name scope of the nodes.
        restore_sequentially: Old argument without effect.
        saver_def: A SaverDef whose nodes are in the default graph.
        builder: A `BaseSaverBuilder`, or None; others are refused.
        defer_build: Look the variables up in `build()`, which is to be called before the first use.
        allow_empty: Accept having no variables; `save` then writes the graph alone and gives None.
        write_version: `SaverDef.V2`, or `SaverDef.V1` for one file of the first version.
        pad_step_number: Write steps with 8 digits.
        save_relative_paths: Write relative paths to the `checkpoint` file.
        filename: The filename that the nodes have by default.

    Raises:
        ValueError: There are no variables, two have one name, or arguments exclude each other.
        TypeError: Something in `var_list` is no variable.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | bytes | None = None,
    ) -> None:
        if defer_build and var_list:
            raise InvalidValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False "
                "or var_list=None."
            )
        if write_version not in (V1, V2):
            raise UnimplementedError(f"write_version is {V1} or {V2}, not {write_version}")
        if builder is not None and type(builder) is not BaseSaverBuilder:
            raise UnimplementedError(
                f"A builder of savers, {type(builder).__name__}, is not supported: give var_list saveable "
                "objects with their own way to be restored."
            )
        self._graph: Graph = get_default_graph()
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep or 0
        self._keep_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename.decode() if isinstance(filename, bytes) else filename
        self._allow_empty = allow_empty
        self._saver_def: Any = None
        self._contents: Contents | None = None
        self._last_checkpoints: list[tuple[str, float]] = []
        self._next_checkpoint_time = time.time() + keep_checkpoint_every_n_hours * 3600
        self._nodes: Nodes | None = None
        self._export: tuple[Any, Any] | None = None  # the save nodes made for a state of the graph
        if saver_def is not None:
            self._from_def(saver_def, name)
        elif not defer_build:
            self.build()

    def build(self) -> None:
        """Looks the variables up.

        Where something else is saved (a table, a saveable object), its nodes are made in the graph.
        """
        if self._contents is not None:
            return
        found = collect(self._var_list, self._graph)
        if not found and not self._allow_empty:
            raise InvalidValueError("No variables to save")
        name, here = self._name or "save", self._graph.get_name_scope()
        if here and not name.endswith("/"):
            name = f"{here}/{name}"
        self._nodes = Nodes(found, name, self._filename, self._write_version, self._sharded, self._reshape)
        variables = [one for one in found if isinstance(one, Saveable)]
        if len(variables) == len(found):
            groups: list[list[Any]] = [items for _, items in grouped(variables)]
            self._contents = Contents(groups if self._sharded or not groups else [[*variables]])
        else:
            self._saver_def = self._new_def(self._nodes.add(self._graph))
            self._contents = of_graph(self._graph, self._saver_def)

    def _from_def(self, saver_def: Any, name: str | None) -> None:
        definition = protos.SaverDef()
        definition.MergeFromString(saver_def.SerializeToString())
        if name:
            for key in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(definition, key, f"{name}/{getattr(definition, key)}")
        self._saver_def = definition
        self._max_to_keep = definition.max_to_keep
        self._keep_hours = definition.keep_checkpoint_every_n_hours
        self._next_checkpoint_time = time.time() + self._keep_hours * 3600
        self._sharded = definition.sharded
        self._write_version = V1 if definition.version < V2 else V2
        self._contents = of_graph(self._graph, definition)
        self._reshape |= self._contents.reshape

    @property
    def contents(self) -> Contents:
        """What it saves and restores."""
        self.build()
        assert self._contents is not None
        return self._contents

    @property
    def saveables(self) -> list[Saveable]:
        """The variables that it saves, sorted by key."""
        return sorted(self.contents.variables, key=lambda one: one.key)

    # As messages

    @property
    def saver_def(self) -> Any:
        """The SaverDef; adds the save and restore nodes to the graph where it has none yet."""
        return self.as_saver_def()

    def as_saver_def(self) -> Any:
        """The SaverDef; adds the save and restore nodes to the graph where it has none yet.

        None where there is nothing to save and `allow_empty` is true.
        """
        if self._saver_def is None and self.contents.saved:
            assert self._nodes is not None
            self._saver_def = self._new_def(self._nodes.add(self._graph))
        return self._saver_def

    def _new_def(self, names: tuple[str, str, str]) -> Any:
        filename, save, restore = names
        return protos.SaverDef(
            filename_tensor_name=filename,
            save_tensor_name=save,
            restore_op_name=restore,
            max_to_keep=self._max_to_keep,
            sharded=self._sharded,
            keep_checkpoint_every_n_hours=self._keep_hours,
            version=self._write_version,
        )

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaverDef, or None where its nodes lie outside `export_scope`."""
        definition = self.as_saver_def()
        if not export_scope or definition is None:
            return definition
        prefix = f"{export_scope}/"
        if not definition.filename_tensor_name.startswith(prefix):
            return None
        copy = protos.SaverDef()
        copy.CopyFrom(definition)
        for key in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(copy, key, getattr(copy, key).removeprefix(prefix))
        return copy

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """The Saver of a SaverDef whose nodes are in the default graph."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: list[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The graph as a MetaGraphDef with this Saver's nodes, exactly once; see `export_meta_graph`."""
        extra: Sequence[Any] = ()
        definition = self._saver_def
        if definition is None and self.contents.saved:
            assert self._nodes is not None
            state = (self._graph.version, self._graph._mutations)
            if self._export is None or self._export[0] != state:
                self._export = (state, self._nodes.for_export(self._graph))
            names, extra = self._export[1]
            definition = self._new_def(names)
        return meta_graph_export.export_meta_graph(
            filename,
            saver_def=definition,
            collection_list=collection_list,
            as_text=as_text,
            graph=self._graph,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            extra_nodes=extra,
        )

    # Saving

    def save(
        self,
        sess: Any,
        save_path: str | os.PathLike[str],
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """Writes a checkpoint; gives its prefix, or None where there is nothing to save.

        The prefix of a sharded checkpoint of the first version is a pattern, `m-?????-of-00002`.

        The files are whole before anything of an older checkpoint is deleted: data, index, graph, the
        `checkpoint` file, then old checkpoints beyond `max_to_keep`.

        Args:
            sess: The session.
            save_path: The prefix, without the step. One missing directory is made.
            global_step: A number, tensor or variable to add to the prefix.
            latest_filename: Name of the `checkpoint` file.
            meta_graph_suffix: Suffix of the graph's file.
            write_meta_graph: Whether to write the graph.
            write_state: Whether to write the `checkpoint` file.
            strip_default_attrs: Leave out attributes that have their default in the graph's file.
            save_debug_info: Old argument without effect.

        Raises:
            TypeError: `sess` is no session.
            ValueError: The names collide, or the directory's parent does not exist.
            RuntimeError: `build()` was deferred and not called.
            UnimplementedError: Something that would be restored cannot be saved; lists all of it.
            FailedPreconditionError: Variables have no value; all of them are listed.
        """
        if not hasattr(sess, "_state"):
            raise InvalidTypeError(f"'sess' must be a Session; {sess}")
        prefix = os.fspath(save_path)
        latest_filename = latest_filename or checkpoint_state.STATE_NAME
        if os.path.split(latest_filename)[0]:
            raise InvalidValueError("'latest_filename' must not contain path components")
        step = self._step(sess, global_step)
        if step is not None:
            prefix = f"{prefix}-{step:08d}" if self._pad_step_number else f"{prefix}-{step}"
        elif os.path.basename(prefix) == latest_filename and not self._sharded:
            raise InvalidValueError(
                f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{prefix}'"
            )
        if self._contents is None:
            raise InvalidStateError("`build()` should be called before save if defer_build==True")
        self._make_directory(prefix)
        contents = self._contents
        saved = self._write(sess, contents, prefix) if contents.saved else None
        if write_meta_graph:
            path = meta_graph_filename(prefix, meta_graph_suffix)
            message = self.export_meta_graph(strip_default_attrs=strip_default_attrs)
            graph_file.write_graph(path, message, text=False)
        if write_state and saved is not None:
            outdated = self._keep(saved)
            self._write_state(prefix, saved, latest_filename)
            for old in outdated:
                remove_checkpoint(old, self._write_version, meta_graph_suffix)
        return saved

    def _write(self, sess: Any, contents: Contents, prefix: str) -> str:
        """Writes the files of a checkpoint, all or none; gives its prefix."""
        shards = self._entries(sess, contents)
        place = {id(entry): shard for shard, entries in enumerate(shards) for entry in entries}
        with files.atomic_files() as replacement:
            if self._write_version == V2:
                every = [entry for entries in shards for entry in entries]
                bundle_writer.add_bundle(
                    replacement, prefix, every, len(shards), lambda entry: place[id(entry)]
                )
            elif self._sharded:
                for shard, entries in enumerate(shards):
                    v1_writer.add_v1(replacement, f"{prefix}-{shard:05d}-of-{len(shards):05d}", entries)
            else:
                v1_writer.add_v1(replacement, prefix, [entry for entries in shards for entry in entries])
        return (
            f"{prefix}-?????-of-{len(shards):05d}" if self._sharded and self._write_version == V1 else prefix
        )

    def _entries(self, sess: Any, contents: Contents) -> list[list[Any]]:
        """The values to save as entries, for each shard; all variables that have none in one error."""
        contents.check_savable()
        values = iter(sess.run([one.tensor for one in contents.tensors])) if contents.tensors else iter(())
        shards: list[list[Any]] = []
        missing = []
        for shard in contents.shards:
            shards.append([])
            for one in shard:
                entry = one.entry(sess._state) if isinstance(one, Saveable) else one.entry_of(next(values))
                if entry is not None:
                    shards[-1].append(entry)
                elif isinstance(one, Saveable):
                    missing.append(one.variable.name)
        if missing:
            head = f"Attempting to use uninitialized value {missing[0]}"
            if len(missing) > 1:
                head = f"{len(missing)} variables have no value:" + bullets(
                    [f"Attempting to use uninitialized value {name}" for name in missing]
                )
            raise FailedPreconditionError(
                f"{head}\nRun their initializers, or restore them, before saving.", variables=missing
            )
        return shards

    def _step(self, sess: Any, global_step: Any) -> int | None:
        if global_step is None:
            return None
        return int(sess.run(global_step) if hasattr(global_step, "graph") else global_step)

    def _make_directory(self, prefix: str) -> None:
        folder = os.path.dirname(prefix)
        if folder and not files.is_remote(folder) and not files.is_directory(folder):
            parent = os.path.dirname(folder)
            if files.is_file(folder) or (parent and not files.is_directory(parent)):
                raise InvalidValueError(
                    f"Parent directory of {prefix} doesn't exist, can't save.", path=prefix
                )
            files.make_directory(folder)

    def _keep(self, prefix: str) -> list[str]:
        """Notes a new checkpoint; gives those that are to go."""
        if not self._max_to_keep:
            self._last_checkpoints = []
            return []
        now = time.time()
        self._last_checkpoints = [pair for pair in self._last_checkpoints if pair[0] != prefix]
        self._last_checkpoints.append((prefix, now))
        outdated = []
        while len(self._last_checkpoints) > self._max_to_keep:
            path, when = self._last_checkpoints.pop(0)
            if when > self._next_checkpoint_time:
                self._next_checkpoint_time += self._keep_hours * 3600
                continue
            outdated.append(path)
        return outdated

    def _write_state(self, prefix: str, saved: str, latest_filename: str) -> None:
        paths = [path for path, _ in self._last_checkpoints] or [saved]
        checkpoint_state_writer.write_state(
            os.path.dirname(prefix), saved, paths, self._save_relative_paths, latest_filename
        )

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that it has written and kept, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Old form of `set_last_checkpoints_with_time`; the times count as long ago.

        Raises:
            TypeError: It is no list.
        """
        _check_list(last_checkpoints)
        self._last_checkpoints = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Sequence[tuple[str, float]]) -> None:
        """Says which checkpoints there are, oldest first, with the times when they were written."""
        _check_list(last_checkpoints_with_time)
        self._last_checkpoints = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Takes over checkpoints that an earlier Saver wrote: those that exist, by their times."""
        found = [(path, get_checkpoint_mtimes([path])) for path in checkpoint_paths]
        self._last_checkpoints = [(path, times[0]) for path, times in found if times]

    # Restoring

    def restore(self, sess: Any, save_path: str | os.PathLike[str]) -> None:
        """Sets the session's variables to what a checkpoint holds.

        Args:
            sess: The session.
            save_path: The checkpoint: its prefix, or any of the forms in `resolve_prefix`.

        Raises:
            ValueError: There is no checkpoint at `save_path`; says what was looked for.
            NotFoundError: The checkpoint lacks keys; lists all that does not fit, with the nearest names.
            InvalidArgumentError: Shapes or dtypes differ; lists all that does not fit.
            DataLossError: The checkpoint is damaged. No variable is changed by a failed restore.
        """
        contents = self.contents
        if not contents.saved and self._allow_empty:
            return
        if save_path is None:
            raise InvalidValueError("Can't load save_path when it is None.")
        resolved = _resolve(save_path)
        resolved.warn()
        restore_contents(sess, contents, resolved, reshape=self._reshape)

    def restore_report(
        self, sess: Any, save_path: str | os.PathLike[str] | checkpoint_state.ResolvedCheckpoint
    ) -> RestoreReport:
        """As `restore`; gives what was restored, and what of the checkpoint was not used."""
        resolved = save_path
        if not isinstance(resolved, checkpoint_state.ResolvedCheckpoint):
            resolved = _resolve(resolved)
        resolved.warn()
        return restore_contents(sess, self.contents, resolved, reshape=self._reshape)


def _check_list(value: Any) -> None:
    if not isinstance(value, list):
        raise InvalidTypeError(f"Checkpoints are given as a list, not as {type(value).__name__}")


def _resolve(save_path: str | os.PathLike[str]) -> checkpoint_state.ResolvedCheckpoint:
    try:
        return checkpoint_state.resolve_prefix(save_path)
    except MissingFileError as error:
        raise InvalidValueError(
            f"The passed save_path is not a valid checkpoint: {os.fspath(save_path)}. {error}",
            **error.fields,
        ) from error


meta_graph.register_proto_function(GraphKeys.SAVERS, "SaverDef", Saver.to_proto, Saver.from_proto)


def export_meta_graph(*args: Any, **kwargs: Any) -> Any:
    """`tf.train.export_meta_graph`: the default graph (or `graph`) as a MetaGraphDef."""
    return meta_graph_export.export_meta_graph(*args, **kwargs)


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any
) -> Saver | None:
    """`tf.train.import_meta_graph`: adds a MetaGraphDef to the default graph.

    Args:
        meta_graph_or_file: The file, or the message.
        clear_devices: Leave the nodes' devices out.
        import_scope: Prefix of all names.
        **kwargs: `input_map` and others of `meta_graph.import_meta`.

    Returns:
        A Saver for its variables, or None where it has none.

    Raises:
        OpError: The file cannot be read, or is no MetaGraphDef.
        ValueError: The graph is inconsistent.
    """
    imported = meta_graph.import_meta(
        meta_graph_or_file, clear_devices=clear_devices, import_scope=import_scope, **kwargs
    )
    with (kwargs.get("graph") or get_default_graph()).as_default():
        return saver_of(imported, import_scope)


def saver_of(imported: meta_graph.Imported, import_scope: str | None = None) -> Saver | None:
    """The Saver of what was imported: by its SaverDef, else for its variables, else None.

    Where it has none, variables that were in `import_scope` before are taken for its.
    """
    if imported.meta.HasField("saver_def"):
        definition = meta_graph._renamed(imported.meta.saver_def, imported)
        missing = [
            name
            for name in (
                definition.filename_tensor_name,
                definition.save_tensor_name,
                definition.restore_op_name,
            )
            if _operation(name) is None
        ]
        if not missing:
            return Saver(saver_def=definition)
    variables = list(imported.variables.values())
    if not variables and import_scope:
        variables = [
            each
            for each in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)
            if each.name.startswith(f"{import_scope}/")
        ]
    return Saver(variables) if variables else None


def _operation(name: str) -> Operation | None:
    return get_default_graph()._operations.get(name.rpartition(":")[0] or name)
