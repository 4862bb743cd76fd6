"""The help texts: every command has examples, and every example parses."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import click
import pytest

from sgtool.cli.main import COMMANDS, group

if TYPE_CHECKING:
    from .conftest import Tool


def command(name: str) -> click.Command:
    found = group.get_command(click.Context(group), name)
    assert found is not None
    return found


def examples(text: str) -> list[list[str]]:
    """The words of each example line, up to a pipe or redirection; the remark behind two spaces is cut."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("sgtool ")]
    words = [shlex.split(re.split(r"\s[|<>]|\s&&|\s{3,}", line)[0]) for line in lines]
    return [each[1:] for each in words]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_that_parse(name: str, sgtool: Tool) -> None:
    for flag in ("-h", "--help"):
        result = sgtool(name, flag)
        assert result.code == 0
        assert result.err == ""
        assert "Examples:" in result.out
    found = examples(command(name).epilog or "")
    assert found
    for words in found:
        assert words[0] == name
        command(name).make_context(name, words[1:])


def test_the_groups_examples_parse(sgtool: Tool) -> None:
    assert sgtool("-h").code == 0
    for words in examples(group.epilog or ""):
        command(words[0]).make_context(words[0], words[1:])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is(name: str) -> None:
    silent = [p.name for p in command(name).params if isinstance(p, click.Option) and not p.help]
    assert not silent


@pytest.mark.parametrize("name", COMMANDS)
def test_json_keys_are_documented(name: str) -> None:
    found = command(name)
    if any(param.name == "as_json" for param in found.params):
        assert "--json gives {" in re.sub(r"\s+", " ", f"{found.help} {found.epilog}")


def test_wrong_words(sgtool: Tool) -> None:
    result = sgtool("inspcet")
    assert result.code == 2
    assert "Did you mean inspect" in result.err
    result = sgtool("run", "--ftech", "y")
    assert result.code == 2
    assert "--fetch" in result.err
    assert sgtool("run", "a", "b").code == 2


def test_verbose_and_quiet_before_and_after_the_command(sgtool: Tool) -> None:
    for words in (["-v", "inspect", "nothing"], ["inspect", "nothing", "-v"]):
        result = sgtool(*words)
        assert result.code == 3
        assert "Traceback" in result.err
    assert "Traceback" not in sgtool("inspect", "nothing").err


def test_completion_offers_tensor_names(sgtool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    Path("g.pbtxt").write_text(
        'node { name: "input" op: "Placeholder" } node { name: "inner" op: "Relu" input: "input" }'
    )
    monkeypatch.setenv("_SGTOOL_COMPLETE", "bash_complete")
    for words, offered in [
        ("sgtool run g.pbtxt --fetch in", ["inner:0", "input:0"]),
        ("sgtool run --fetch inn", ["inner:0"]),
        ("sgtool run g.pbtxt --feed ", ["input:0="]),
        ("sgtool ins", ["inspect"]),
        ("sgtool run missing --fetch in", []),
    ]:
        split = words.split(" ")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(split) - 1))
        result = sgtool()
        assert result.err == ""
        assert [line.partition(",")[2] for line in result.out.split()] == offered
