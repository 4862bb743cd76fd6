"""Graph files that are damaged: every command says the same of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Tool

HUGE = """
node { name: "scope/c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value {
  tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1152921504606846976 } } float_val: 1 } } } }
node { name: "a" op: "Identity" input: "scope/c" attr { key: "T" value { type: DT_FLOAT } } }
"""


def test_a_constant_that_claims_to_be_huge(sgtool: Tool) -> None:
    Path("huge.pbtxt").write_text(HUGE)
    result = sgtool("verify", "huge.pbtxt", "--json")
    assert result.code == 4
    (damage,) = result.json["checked"][0]["damaged"]
    assert damage["name"] == "scope/c"
    assert damage["path"] == "huge.pbtxt"
    result = sgtool("inspect", "huge.pbtxt", "--values", "scope/c", "--json")
    assert result.code == 4
    assert result.error["node"] == "scope/c"
    assert "huge.pbtxt: the constant 'scope/c'" in result.error["message"]
    result = sgtool("run", "huge.pbtxt", "--fetch", "a", "--json")
    assert result.code == 4
    assert result.error["node"] == "scope/c"
    assert "The constant 'scope/c' declares shape [1152921504606846976]" in result.error["message"]
    assert sgtool("inspect", "huge.pbtxt").code == 0


def test_a_constant_of_too_few_bytes_is_damage(sgtool: Tool) -> None:
    Path("short.pbtxt").write_text(
        HUGE.replace("1152921504606846976", "2").replace("float_val: 1", 'tensor_content: "abc"')
    )
    result = sgtool("verify", "short.pbtxt", "--json")
    assert result.code == 4
    assert [one["name"] for one in result.json["checked"][0]["damaged"]] == ["scope/c"]
    assert sgtool("inspect", "short.pbtxt", "--values", "scope/c").code == 4
    result = sgtool("run", "short.pbtxt", "--fetch", "a", "--json")
    assert (result.code, result.error["node"]) == (4, "scope/c")


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "BAD"),
        ("run", "BAD", "--fetch", "a"),
        ("train", "BAD"),
        ("save", "BAD", "-o", "out"),
        ("restore", "BAD", "BAD", "-o", "out"),
        ("verify", "BAD"),
        ("build", "BAD", "-o", "out.meta"),
    ],
)
@pytest.mark.parametrize("name", ["bad.meta", "bad.pb", "bad.pbtxt"])
def test_every_command_says_the_same(words: tuple[str, ...], name: str, sgtool: Tool) -> None:
    Path(name).write_text("just text")
    result = sgtool(*(name if word == "BAD" else word for word in words))
    assert result.code == 4, result.err
    assert f"{name} is neither a GraphDef" in result.out + result.err


@pytest.mark.parametrize("content", [b"just text", b"\x89PNG\r\n\x1a\n" + b"0" * 60])
def test_what_is_of_no_kind_that_is_read_is_the_same_to_every_command(content: bytes, sgtool: Tool) -> None:
    Path("plain").write_bytes(content)
    for words in (
        ["inspect", "plain"],
        ["run", "plain", "--fetch", "a"],
        ["verify", "plain"],
        ["train", "plain"],
    ):
        result = sgtool(*words)
        assert result.code == 6, result.err
        assert "plain is " in result.err
        assert "the formats that are read are" in result.err
