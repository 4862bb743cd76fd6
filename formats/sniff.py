"""What a file is, told from its first bytes: for errors that say what was given instead."""

from __future__ import annotations

import re

# First bytes -> what it is and what to do; the first row that matches counts.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (
        b"version https://git-lfs",
        "a Git LFS pointer, not the file itself; run `git lfs pull` where it came from",
    ),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"PK\x03\x04", "a zip archive (npz, .keras or a download to unpack)"),
    (b"\x1f\x8b", "gzip-compressed; unpack it first"),
    (b"\xfd7zXZ\x00", "xz-compressed; unpack it first"),
    (b"BZh", "bzip2-compressed; unpack it first"),
    (b"\x93NUMPY", "a NumPy .npy array"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"model_checkpoint_path:", "a `checkpoint` state file, which only names checkpoints"),
    (b"all_model_checkpoint_paths:", "a `checkpoint` state file, which only names checkpoints"),
)
_HTML = re.compile(rb"\s*(<!doctype html|<html|<head|<\?xml)", re.IGNORECASE)
_PICKLE = re.compile(rb"\x80[\x02-\x05](\x95|[\x5d\x7d\x28\x63\x8a\x71X}]|c)")
_JSON = re.compile(rb"\s*[\[{]\s*[\"\[{\]}\d]")
_TEXT_PROTO = re.compile(rb"\s*(#[^\n]*\n\s*)*(?P<field>[A-Za-z_]\w*)\s*[:{<]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
TABLE_MAGIC = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"

HEAD = 4096
"""Bytes from the start of a file that the functions here look at."""


def describe(head: bytes, tail: bytes = b"") -> str | None:
    """What a file that starts with `head` and ends in `tail` is, if it is something well known."""
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head[4:8] == b"TFL3":
        return "a TensorFlow Lite model"
    if _HTML.match(head):
        return "an HTML or XML page (a download that failed?)"
    if tail.endswith(TABLE_MAGIC):
        return "a checkpoint's table (an .index file or a first-generation checkpoint)"
    if _PICKLE.match(head):
        return "a Python pickle, which is not read: it can run any code"
    if _JSON.match(head) and not _CONTROL.search(head):
        return "a JSON document"
    if head and not head.strip(b"\0"):
        return "nothing but zero bytes"
    return None


def text_proto_field(head: bytes) -> str | None:
    """The first field that a protobuf text names, or None if `head` does not look like one."""
    if _CONTROL.search(head):
        return None
    match = _TEXT_PROTO.match(head)
    return match["field"].decode() if match else None
