"""A checkpoint of the second generation, checked: index, data files, every tensor and every part."""

from __future__ import annotations

import io
import os
import re

from . import files, protos
from .bundle import Bundle, open_bundle
from .errors import DataLossError, OpError, UnimplementedError, is_unreadable
from .leftovers import leftovers, unfinished
from .table import TableWriter, read_intact_blocks
from .verification import Damage, Verification, damage_of, note_parts
from .verify_causes import Place, causes_of, lost_before, stand_in
from .verify_v1 import check_rest

_DATA = re.compile(r"\.data-(\d{5})-of-(\d{5})$")
_CHUNK = 1 << 20
_SECONDS = 1_000_000_000


def verify_bundle(prefix: str) -> Verification:
    """Checks the checkpoint `prefix`; errors of its files are in the answer.

    Raises:
        MissingFileError: No `prefix.index`.
        UnimplementedError: It was written for readers of the future.
    """
    found = Verification(prefix, "checkpoint")
    try:
        store = open_bundle(prefix)
    except DataLossError as error:
        opened = open_damaged_bundle(prefix, error, found)
        if opened is None:
            _note_neighbours(prefix, None, found)
            return found
        store = opened
    except OpError as error:
        if not is_unreadable(error):
            raise
        found.damaged.append(damage_of("", error, f"{prefix}.index"))
        return found
    else:
        check_rest(store.index_path, found)
    found.store = store
    sizes = _shards(store, found)
    places = _check_tensors(store, sizes, found)
    _explain(store, sizes, places, found)
    _note_neighbours(prefix, store, found)
    return found


def open_damaged_bundle(prefix: str, error: DataLossError, found: Verification) -> Bundle | None:
    """The tensors that the whole blocks of a damaged index list, or None; adds to `found` what is lost."""
    path = f"{prefix}.index"
    found.causes += causes_of(path)
    data = files.read_found(path)
    try:
        pairs, lost, torn = read_intact_blocks(data, path)
    except DataLossError:
        pairs, lost, torn = [], [], {}
    if not (pairs or lost):
        facts = error.fields
        found.damaged.append(
            Damage("", "structure", path, str(error), facts.get("offset"), facts.get("size"))
        )
        return None
    for first, last, why in lost:
        facts = why.fields
        upto = f" up to {_text(last)!r}" if last else ""
        which = f"after {_text(first)!r}{upto}" if first else upto.strip()
        what = f"All tensors{f' with names {which}' if which else ''} are lost: {why}"
        found.damaged.append(
            Damage(
                "",
                "checksum" if "stored" in facts else "structure",
                path,
                what,
                facts.get("offset"),
                facts.get("size"),
                facts.get("stored"),
                facts.get("computed"),
            )
        )
    if not lost:
        found.damaged.append(Damage("", "structure", path, f"{error} All that it lists is there."))
    names = sorted(key for key in torn if key and key[:1] != b"\0")
    if names:
        found.notes.append(
            f"The index breaks off inside a block: no checksum vouches for the {len(names)} names and shapes "
            f"before the break ({_text(names[0])!r} to {_text(names[-1])!r}), though each tensor told as "
            "intact matches its own."
        )
    header = protos.BundleHeaderProto(num_shards=_count_shards(prefix))
    header.version.producer = 1
    entries = {b"": protos.encode(header)} | torn | dict(pairs)
    if b"" not in torn and not (pairs and pairs[0][0] == b""):
        found.notes.append(
            "The header of the index is lost: the numbers are taken to be little-endian, as nearly all are."
        )
    repaired = io.BytesIO()
    writer = TableWriter(repaired)
    for key in sorted(entries):
        writer.add(key, entries[key])
    writer.finish()
    try:
        return Bundle(prefix, repaired.getvalue())
    except OpError:
        return None


def _text(key: bytes) -> str:
    return key.decode("utf-8", "replace")


def _count_shards(prefix: str) -> int:
    """How many data files there are by the names of those that are there."""
    folder, base = os.path.split(prefix)
    names = files.list_directory(folder or ".")
    counts = [int(m[2]) for one in names if one.startswith(f"{base}.") and (m := _DATA.search(one))]
    return max(counts, default=1)


def _shards(store: Bundle, found: Verification) -> dict[str, int | None]:
    """The size of each data file, None where it is missing or cannot be read."""
    sizes: dict[str, int | None] = {}
    for path in map(store.shard_path, range(store.num_shards)):
        sizes[path] = None
        if not files.is_file(path):
            why = f"{files.absence(path)}; the checkpoint has {store.num_shards} data files."
            found.damaged.append(Damage("", "missing", path, why))
            continue
        try:
            sizes[path] = files.file_size(path)
            files.read_head(path, 1)
        except OpError as error:
            found.damaged.append(damage_of("", error, path))
            sizes[path] = None
    return sizes


def _check_tensors(store: Bundle, sizes: dict[str, int | None], found: Verification) -> list[Place]:
    """Reads every tensor, part by part; fills `intact`, `damaged` and `unread`."""
    places: list[Place] = []
    for name in store:
        try:
            parts = store.parts(name)
            where = store.places(name)
        except UnimplementedError as error:
            found.unread[name] = str(error)
            continue
        except DataLossError as error:
            found.damaged.append(Damage(name, "structure", store.index_path, str(error)))
            continue
        damaged = len(found.damaged)
        whole = []
        unread = False
        for entry, (path, offset, size, crc) in zip(parts, where, strict=True):
            label = name if entry.part is None else f"{name}{list(map(list, entry.part.ranges))}"
            problem = None
            if size and path in sizes and sizes[path] is None:
                (lost,) = (one for one in found.damaged if not one.name and one.path == path)
                problem = Damage(label, lost.kind, path, lost.why, offset, size)
            else:
                try:
                    entry.read()
                except UnimplementedError as error:
                    found.unread[name] = str(error)
                    unread = True
                except OpError as error:
                    problem = _damage(label, error, path, offset, size)
            wrong = problem is not None and problem.kind != "unreadable"
            places.append(Place(label, path, offset, size, crc, not wrong))
            if problem is not None:
                found.damaged.append(problem)
            elif not unread:
                whole.append(label)
        if len(found.damaged) > damaged:
            note_parts(name, whole, found)
        elif not unread:
            found.intact.append(name)
            found.nbytes += sum(entry.nbytes for entry in parts)
    return places


def _damage(label: str, error: OpError, path: str, offset: int, size: int) -> Damage:
    facts = error.fields
    if "stored" in facts:
        why, kind = str(error), "checksum"
        if size and _only_zeros(path, offset, size):
            why += " It holds nothing but zeros: that piece was never written (an unfinished download?)."
        return Damage(label, kind, path, why, offset, size, facts["stored"], facts["calculated"])
    if "file_size" in facts:
        there = max(0, min(size, facts["file_size"] - offset))
        return Damage(label, "length", path, str(error), offset, size, size, there)
    kind = "unreadable" if is_unreadable(error) else "structure"
    return Damage(label, kind, path, str(error), offset, size)


def _only_zeros(path: str, offset: int, size: int) -> bool:
    for at in range(offset, offset + size, _CHUNK):
        if files.read_range(path, at, min(_CHUNK, offset + size - at)).strip(b"\0"):
            return False
    return True


def _explain(store: Bundle, sizes: dict[str, int | None], places: list[Place], found: Verification) -> None:
    """Per data file what seems to have happened to it."""
    for path, size in sizes.items():
        here = [place for place in places if place.path == path]
        expected = max((place.offset + place.size for place in here), default=0)
        bad = [place for place in here if not place.intact]
        if size is None:
            continue
        if not bad:
            if size > expected and here:
                found.notes.append(f"{path} has {size - expected} bytes after its last tensor.")
            continue
        inside = [place for place in here if 0 < place.size <= size - place.offset]
        wrong = [place for place in inside if not place.intact]
        lost_inside = size < expected and lost_before(path, expected - size, bad)
        causes = causes_of(path, expected, lost_inside)
        unsure = not causes or (size < expected and not lost_inside and not stand_in(path))
        if len(wrong) > 1 and 2 * len(wrong) >= len(inside) and unsure:
            causes = [
                f"{path} is not the one that {store.index_path} was written with: {len(wrong)} of the "
                f"{len(inside)} tensors that lie within its {size} bytes do not match"
                f"{_younger(path, store.index_path)}. Files of two saves are mixed."
            ]
        found.causes += causes


def _younger(data: str, index: str) -> str:
    seconds = (files.modified(data) - files.modified(index)) / _SECONDS
    return f", and it was changed {seconds:.0f} s after the index" if seconds >= 1 else ""


def _note_neighbours(prefix: str, store: Bundle | None, found: Verification) -> None:
    """Left-over files, and data files of another save."""
    folder, base = os.path.split(prefix)
    left = leftovers(folder, base)
    (found.notes if found.whole else found.causes).extend(unfinished(path, found.whole) for path in left)
    if store is None:
        return
    own = {os.path.basename(store.shard_path(shard)) for shard in range(store.num_shards)}
    others = [
        name
        for name in files.list_directory(folder or ".")
        if name.startswith(f"{base}.data-") and _DATA.search(name) and name not in own
    ]
    if others:
        found.notes.append(
            f"The index does not use {', '.join(others)}: of another save with the same prefix."
        )
