"""What a file is, told from its first bytes: for errors that say what was given instead."""

from __future__ import annotations

import codecs
import re

from .errors import DataLossError, InvalidValueError, OpError, UnimplementedError

TEXT_MODE = "copy it again in binary mode (in git: `*.FILE -text`, in ftp: `binary`)"

# What stands where the content of a file should be, or is left of it: fetching the file again helps.
_POINTER = "a Git LFS pointer, not the file itself; run `git lfs pull` where it came from"
_PAGE = "an HTML or XML page (a download that failed? open it in a browser)"
_ZEROS = "nothing but zero bytes (a download that was cut off?); fetch it again"
_EMPTY = "empty (a copy or download that failed? fetch it again)"
_HDF5_LINES = f"an HDF5 file whose line ends were changed in a transfer as text; {TEXT_MODE}"
_HDF5_DECODED = f"an HDF5 file that was read as UTF-8 text and written again; {TEXT_MODE}"
_HDF5_ENCODED = f"an HDF5 file that was written again as UTF-8 text; {TEXT_MODE}"
_TABLE_DECODED = f"a checkpoint's table that was read and written again as text; {TEXT_MODE}"
TABLE_CUT = (
    "a first-generation checkpoint that is cut off: it begins as one, but lacks the end; fetch it again"
)
_LOST = frozenset(
    (_POINTER, _PAGE, _ZEROS, _EMPTY, _HDF5_LINES, _HDF5_DECODED, _HDF5_ENCODED, _TABLE_DECODED, TABLE_CUT)
)
# What is read, though not as what was asked for.
_HDF5 = "an HDF5 file"
_TABLE = "a checkpoint's table (an .index file or a first-generation checkpoint)"
_STATE = "a `checkpoint` state file, which only names checkpoints"
_READ = frozenset((_HDF5, _TABLE, _STATE))

# First bytes -> what it is and what to do; the first row that matches counts.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", _POINTER),
    (b"\x89HDF\r\n\x1a\n", _HDF5),
    (b"\x89HDF", _HDF5_LINES),
    (b"\xef\xbf\xbdHDF", _HDF5_DECODED),
    (b"\xc2\x89HDF", _HDF5_ENCODED),
    (b"PK\x03\x04", "a zip archive (npz, .keras or a download to unpack)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "gzip-compressed; unpack it first (gunzip, or tar -xzf for a .tar.gz)"),
    (b"\xfd7zXZ\x00", "xz-compressed; unpack it first (unxz)"),
    (b"BZh", "bzip2-compressed; unpack it first (bunzip2)"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed; unpack it first (unzstd)"),
    (b"\x93NUMPY", "a NumPy .npy array: one array, no store of named ones; put it in a folder and name that"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "a program or library (ELF)"),
    (b"GGUF", "a GGUF model (llama.cpp), which is not read"),
    (b"riegeli/records", "a riegeli record file (a SavedModel in chunks, .cpb), which is not read"),
    (b"model_checkpoint_path:", _STATE),
    (b"all_model_checkpoint_paths:", _STATE),
)
# Names of members -> what the zip archive is that has one; the first row that matches counts.
_ARCHIVES: tuple[tuple[bytes, str], ...] = (
    (
        b"constants.pkl",
        "a TorchScript archive of PyTorch, which is not read: load it there and save its state_dict() "
        "as safetensors or npz",
    ),
    (
        b"data.pkl",
        "a PyTorch file (a zip archive with a pickle), which is not read: a pickle can run any code; load it "
        "in PyTorch and save its tensors as safetensors or npz",
    ),
    (
        b"model.weights.h5",
        "a Keras 3 model (.keras), a zip archive; unpack it and name the model.weights.h5 in it",
    ),
    (b"saved_model.pb", "a zip archive with a SavedModel; unpack it and name the folder"),
    (b".index", "a zip archive with a checkpoint; unpack it and name the checkpoint's prefix"),
)
_TAR = 257
"""Where a tar archive says `ustar`."""
_TABLE_AS_TEXT = (  # the magic number of a table after it was decoded and encoded as text
    b"\x57\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x24\x75\x47\xef\xbf\xbd",
    b"\x57\xc3\xbb\xc2\x80\xc2\x8b\x24\x75\x47\xc3\x9b",
)
_HTML = re.compile(rb"\s*(<!doctype html|<html|<head|<\?xml)", re.IGNORECASE)
_TORCH = re.compile(rb"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19")
_PICKLE = re.compile(rb"\x80[\x02-\x05](\x95|[\x5d\x7d\x28\x63\x8a\x71X}]|c)")
# Protocols 0 and 1 have no signature: they begin with a container and its memo, or with a global name.
_OLD_PICKLE = re.compile(
    rb"""\( [dlt] p? \d* \n | [\]})] q [\x00-\xff] | \( [ILFSV] [^\n]* \n
       | c [A-Za-z_][\w.]* \n [A-Za-z_]\w* \n ( p\d | q | \( | \) )""",
    re.VERBOSE,
)
_JSON = re.compile(rb"\s*[\[{]\s*[\"\[{\]}\d]")
_TEXT_PROTO = re.compile(rb"\s*(#[^\n]*\n\s*)*(?P<field>[A-Za-z_]\w*)\s*[:{<]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
TABLE_MAGIC = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"

HEAD = 4096
"""Bytes from the start of a file that the functions here look at."""


def describe(head: bytes, tail: bytes = b"") -> str | None:
    """What a file that starts with `head` and ends in `tail` is, if it is something well known."""
    if not head:
        return _EMPTY
    if head.startswith(b"PK\x03\x04") and (kind := archive_kind(head + tail)):
        return kind
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head[4:8] == b"TFL3":
        return "a TensorFlow Lite model, which is not read: it needs the TensorFlow Lite interpreter"
    if head[_TAR : _TAR + 5] == b"ustar":
        return "a tar archive; unpack it first (tar -xf)"
    if is_page(head):
        return _PAGE
    if tail.endswith(TABLE_MAGIC):
        return _TABLE
    if tail.endswith(_TABLE_AS_TEXT):
        return _TABLE_DECODED
    if tail and _begins_first_generation(head):
        return TABLE_CUT
    if _TORCH.match(head):
        return (
            "a PyTorch file (a pickle), which is not read: it can run any code; load it in PyTorch and save "
            "its tensors as safetensors or npz"
        )
    if _PICKLE.match(head) or (_OLD_PICKLE.match(head) and (tail or head).rstrip(b"\n").endswith(b".")):
        return "a Python pickle, which is not read: it can run any code; save its arrays with numpy.savez"
    if is_onnx(head):
        return "an ONNX model, which is not read as a graph of TensorFlow"
    if _JSON.match(head) and not _CONTROL.search(head):
        return "a JSON document"
    if not head.strip(b"\0"):
        return _ZEROS
    return None


def _begins_first_generation(head: bytes) -> bool:
    """Whether a table begins with what a first-generation checkpoint has under the empty key.

    That is an entry without a key whose value is one message, a SavedTensorSliceMeta, that fills it; the
    block may be compressed with Snappy, which has such bytes as they are.
    """
    if not head.startswith(b"\0\0"):
        _, at = _varint(head, 0)  # the size that it has uncompressed; then the length of a run of bytes
        tag = head[at] if at < len(head) else 3
        if tag & 3:
            return False
        head = head[at + 1 + max(0, (tag >> 2) - 59) :]
    size, start = _varint(head, 2)
    inner, inside = _varint(head, start + 1)
    return (
        head.startswith(b"\0\0")
        and head[start : start + 1] == b"\x0a"
        and size > 2
        and inside + inner == start + size
        and head[inside : inside + 1] in (b"\x0a", b"\x12")
    )


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A varint and where the next byte is; 0 where there is none."""
    value = 0
    for shift, byte in enumerate(data[at : at + 5]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    return 0, len(data)


def refusal(kind: str, message: str, path: str) -> OpError:
    """The error of a file that is not what was asked for but what `describe` says.

    DataLossError where its content is lost (a page or pointer in its place, nothing, text-mode damage),
    InvalidValueError where it is of a format that is read but not what was asked for, UnimplementedError
    for other formats.
    """
    error = DataLossError if kind in _LOST else InvalidValueError if kind in _READ else UnimplementedError
    return error(message, path=path, found=kind)


def text_mode_damage(data: bytes) -> str:
    """A sentence " It looks as if ..." where binary `data` was changed by a transfer as text, or nothing."""
    feeds = data.count(b"\n")
    if feeds and feeds == data.count(b"\r\n"):
        why = f"each of its {feeds} line feeds follows a carriage return"
    elif data.count(b"\xef\xbf\xbd") > len(data) // 50 + 2:
        why = "it is full of the bytes EF BF BD, which stand for undecodable text"
    elif _is_encoded(data):
        why = "all of it is UTF-8, in which bytes from 80 on were written as two"
    else:
        return ""
    return f" It looks as if it was transferred as text ({why}): {TEXT_MODE}."


def _is_encoded(data: bytes) -> bool:
    """Whether binary data is the UTF-8 of characters up to U+00FF: each byte was taken for one."""
    if data.count(b"\xc2") + data.count(b"\xc3") <= len(data) // 50 + 2:
        return False
    whole = data[:-1] if data[-1] in b"\xc2\xc3" else data  # the last may be cut in two
    try:
        whole.decode("utf-8").encode("latin-1")
    except UnicodeError:
        return False
    return True


def is_page(head: bytes) -> bool:
    """Whether a file begins as a page of HTML or XML does."""
    return _HTML.match(head) is not None


def archive_kind(names: bytes) -> str | None:
    """What a zip archive is, by names of members in its first and last bytes; None for any archive."""
    return next((kind for name, kind in _ARCHIVES if name in names), None)


def is_onnx(head: bytes) -> bool:
    """Whether a message begins as ONNX models do: a version, then the name of what made it as text."""
    if len(head) < 6 or head[0] != 0x08 or not 0 < head[1] < 0x40 or head[2] != 0x12:
        return False
    name = head[4 : 4 + head[3]]
    return 0 < head[3] < 0x40 and name.isascii() and name.decode("ascii").isprintable()


def text_proto_field(head: bytes) -> str | None:
    """The first field that a protobuf text names, or None if `head` does not look like one."""
    if _CONTROL.search(head):
        return None
    match = _TEXT_PROTO.match(head.removeprefix(codecs.BOM_UTF8))
    return match["field"].decode() if match else None
