"""Compiles the .proto files of this folder to the descriptor set that `formats/protos.py` loads.

Run `python compile.py` after a change; `--check` compares and exits 1 on a difference. Needs
`grpcio-tools` (the `dev` extra).
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from importlib import resources
from pathlib import Path

SOURCE = Path(__file__).resolve().parent
TARGET = SOURCE.parent / "descriptors.binpb"


def compile_descriptors() -> bytes:
    """The serialized FileDescriptorSet of every .proto file here and of what they import."""
    protoc = importlib.import_module("grpc_tools.protoc")

    well_known = resources.files("grpc_tools") / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.binpb"
        names = sorted(path.name for path in SOURCE.glob("*.proto"))
        arguments = [
            "protoc",
            f"-I{SOURCE}",
            f"-I{well_known}",
            "--include_imports",
            f"--descriptor_set_out={out}",
        ]
        if protoc.main(arguments + names) != 0:
            raise SystemExit("protoc refused the .proto files; its messages are above")
        return out.read_bytes()


def own_files(descriptors: bytes) -> dict[str, bytes]:
    """What a descriptor set says of the files of this folder; those of protoc differ between its versions."""
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file
    own = [file for file in files if not file.name.startswith("google/")]
    return {file.name: file.SerializeToString(deterministic=True) for file in own}


def main() -> int:
    """Writes the descriptor set, or with `--check` says whether the committed one is current."""
    compiled = compile_descriptors()
    if "--check" in sys.argv[1:]:
        same = TARGET.exists() and own_files(TARGET.read_bytes()) == own_files(compiled)
        sys.stderr.write(
            "" if same else f"{TARGET.name} is not what the .proto files compile to; run {__file__}\n"
        )
        return 0 if same else 1
    TARGET.write_bytes(compiled)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
