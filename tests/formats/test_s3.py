"""Checkpoints in a bucket, with s3fs against a server of moto's in this process.

Both are too large for the extra `test` (moto brings 300 MB along); to run this, install them beside it:
`pip install s3fs 'moto[s3,server]'`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import files, registry, summary
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import MissingFileError, MissingPartError, UnavailableError
from sgtool.formats.verify import salvage, verify

s3fs = pytest.importorskip("s3fs")
boto3 = pytest.importorskip("boto3")
server = pytest.importorskip("moto.server")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the server's own dependencies

MODEL = Path(__file__).parents[1] / "golden/model"
ROOT = "s3://bucket"
BIG = {"a": np.arange(1_000_000, dtype=np.float32), "b": np.ones(100, np.float32)}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of the server, in which the bucket has the checkpoints of the golden model."""
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    for key, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
    ):
        monkeypatch.setenv(key, value)
    s3fs.S3FileSystem.clear_instance_cache()
    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    for path in MODEL.iterdir():
        client.upload_file(str(path), "bucket", f"model/{path.name}")
    yield client
    s3fs.S3FileSystem.clear_instance_cache()
    running.stop()


@pytest.fixture
def asked(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The key and range of each object that is read from now on."""
    found: list[tuple[str, str]] = []
    call = s3fs.S3FileSystem._call_s3

    async def noted(self: Any, method: str, *arguments: Any, **words: Any) -> Any:
        if method == "get_object":
            found.append((words["Key"], words.get("Range", "")))
        return await call(self, method, *arguments, **words)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", noted)
    return found


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(
    "form", ["", "/checkpoint", "/model.ckpt-2", "/model.ckpt-2.index", "/model.ckpt-2.data-00000-of-00001"]
)
def test_every_form_gives_what_the_file_gives(form: str) -> None:
    here, there = registry.open_store(MODEL / "model.ckpt-2"), registry.open_store(f"{ROOT}/model{form}")
    assert {name: one.read().tolist() for name, one in there.items()} == {
        name: one.read().tolist() for name, one in here.items()
    }
    found = summary.summarise(f"{ROOT}/model{form}")
    assert found["prefix"] == f"{ROOT}/model/model.ckpt-2"
    assert found["variables"] == summary.summarise(MODEL / "model.ckpt-2")["variables"]
    assert all(one.whole for one in verify(f"{ROOT}/model{form}"))


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("name", ["w", "w.npz", "w.h5"])
def test_what_is_written_is_read_again(name: str) -> None:
    registry.write_store(f"{ROOT}/out/{name}", [entry_of(key, value) for key, value in BIG.items()])
    (found,) = verify(f"{ROOT}/out/{name}")
    assert found.whole
    for key, entry in registry.open_store(f"{ROOT}/out/{name}").items():
        assert np.array_equal(entry.read(), BIG[key])


def test_only_what_is_needed_is_read(asked: list[tuple[str, str]]) -> None:
    registry.write_store(f"{ROOT}/big/m", [entry_of(key, value) for key, value in BIG.items()])
    with files.remembered():
        assert [row["name"] for row in summary.summarise(f"{ROOT}/big/m")["variables"]] == ["a", "b"]
    assert {key for key, _ in asked} == {"big/m.index"}
    store = registry.open_store(f"{ROOT}/big/m")
    asked.clear()
    assert np.array_equal(store["b"].read(), BIG["b"])
    assert asked == [("big/m.data-00000-of-00001", "bytes=4000000-4000399")]


def test_damage_and_loss(bucket: Any) -> None:
    registry.write_store(f"{ROOT}/big/m", [entry_of(key, value) for key, value in BIG.items()])
    data = bytearray(files.read_bytes(f"{ROOT}/big/m.data-00000-of-00001"))
    data[-1] ^= 1
    bucket.put_object(Bucket="bucket", Key="big/m.data-00000-of-00001", Body=bytes(data))
    (found,) = verify(f"{ROOT}/big/m")
    assert (found.intact, [one.kind for one in found.damaged]) == (["a"], ["checksum"])
    assert salvage([found], f"{ROOT}/big/rescued")[1] == ["a"]
    bucket.delete_object(Bucket="bucket", Key="big/m.data-00000-of-00001")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(MissingPartError):
        registry.open_store(f"{ROOT}/big/m")["a"].read()
    for path in (f"{ROOT}/none", "s3://nowhere/none"):
        with pytest.raises(MissingFileError, match="no such file or checkpoint"):
            registry.open_store(path)


def test_a_server_that_does_not_answer(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(UnavailableError, match="Could not connect"):
        registry.open_store(f"{ROOT}/model/model.ckpt-2")
