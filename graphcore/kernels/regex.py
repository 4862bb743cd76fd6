"""RE2's regular expressions, which TensorFlow's string ops take, by Python's.

The two agree on most patterns. What they write differently is translated (end of text, character
classes); what RE2 does not have (look-around, back references) is refused as RE2 refuses it, and the
little that Python does not have is an UnimplementedError, never another meaning.

Source: the syntax page of RE2 (github.com/google/re2/wiki/Syntax).
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...formats.errors import InvalidArgumentError, UnimplementedError

# POSIX classes, which RE2 knows inside of brackets, for ASCII.
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
}
_REFUSED = ("(?=", "(?!", "(?<=", "(?<!", "(?#", "(?>", "(?(")
_POSSESSIVE = re.compile(r"[*+?}]\+")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern of RE2 as Python's.

    Raises:
        InvalidArgumentError: RE2 does not take it.
        UnimplementedError: Python has no equivalent.
    """
    try:
        return re.compile(_translate(pattern), re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidArgumentError(f"Invalid pattern: {pattern}, error: {error}", pattern=pattern) from error


def _translate(pattern: str) -> str:
    out: list[str] = []
    at = 0
    multiline = False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            piece, at = _escape(pattern, at, in_class=False)
            out.append(piece)
        elif char == "[":
            piece, at = _class(pattern, at)
            out.append(piece)
        elif char == "(" and pattern.startswith("(?", at):
            if pattern.startswith(_REFUSED, at) or pattern.startswith("(?P=", at):
                raise InvalidArgumentError(
                    f"Invalid pattern: {pattern}, error: invalid perl operator: {pattern[at : at + 3]}",
                    pattern=pattern,
                )
            named = re.match(r"\(\?P?<(\w+)>", pattern[at:])
            flags = re.match(r"\(\?([a-zA-Z]*)(-[a-zA-Z]*)?([:)])", pattern[at:])
            if named:
                out.append(f"(?P<{named[1]}>")
                at += named.end()
            elif flags:
                if "U" in flags[0] or (flags[3] == ")" and at):
                    raise UnimplementedError(
                        f"The pattern {pattern} has flags that are not implemented: {flags[0]}"
                    )
                multiline = multiline or "m" in flags[1]
                out.append(flags[0])
                at += flags.end()
            else:
                raise InvalidArgumentError(
                    f"Invalid pattern: {pattern}, error: missing argument", pattern=pattern
                )
        elif char == "$" and not multiline:
            out.append(r"\Z")  # Python's $ also matches before a last line feed
            at += 1
        else:
            if _POSSESSIVE.match(pattern, at) and not (char == "}" and not _ends_repeat(pattern, at)):
                raise InvalidArgumentError(
                    f"Invalid pattern: {pattern}, error: bad repetition operator: {pattern[at : at + 2]}",
                    pattern=pattern,
                )
            out.append(char)
            at += 1
    return "".join(out)


def _ends_repeat(pattern: str, at: int) -> bool:
    return re.search(r"\{\d+(,\d*)?\}$", pattern[: at + 1]) is not None


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    """The escape at `at` in Python's terms, and where it ends."""
    if at + 1 >= len(pattern):
        raise InvalidArgumentError(f"Invalid pattern: {pattern}, error: trailing \\", pattern=pattern)
    char = pattern[at + 1]
    if char == "x":
        braces = re.compile(r"\\x\{([0-9A-Fa-f]+)\}").match(pattern, at)
        if braces:
            return re.escape(chr(int(braces[1], 16))), braces.end()
        return pattern[at : at + 4], at + 4
    if char == "Q" and not in_class:
        end = pattern.find(r"\E", at)
        text = pattern[at + 2 :] if end < 0 else pattern[at + 2 : end]
        return re.escape(text), len(pattern) if end < 0 else end + 2
    if char == "z":
        return r"\Z", at + 2
    if char in "pPC":
        raise UnimplementedError(f"The pattern {pattern} has \\{char}, which is not implemented.")
    if char in "123456789ZGXRK" or (char.isalpha() and char not in "aftnrvdDsSwWbBAE"):
        raise InvalidArgumentError(
            f"Invalid pattern: {pattern}, error: invalid escape sequence: \\{char}", pattern=pattern
        )
    if char == "E":
        return "", at + 2
    return pattern[at : at + 2], at + 2


def _class(pattern: str, at: int) -> tuple[str, int]:
    """The bracket expression at `at` in Python's terms, and where it ends."""
    out = ["["]
    at += 1
    if pattern.startswith("^", at):
        out.append("^")
        at += 1
    first = True
    while True:
        if at >= len(pattern):
            raise InvalidArgumentError(f"Invalid pattern: {pattern}, error: missing ]", pattern=pattern)
        char = pattern[at]
        if char == "]" and not first:
            return "".join([*out, "]"]), at + 1
        first = False
        if pattern.startswith("[:", at):
            named = re.compile(r"\[:(\^?)(\w+):\]").match(pattern, at)
            if not named or named[2] not in _POSIX:
                raise InvalidArgumentError(
                    f"Invalid pattern: {pattern}, error: invalid character class range", pattern=pattern
                )
            if named[1]:
                raise UnimplementedError(f"The pattern {pattern} has {named[0]}, which is not implemented.")
            out.append(_POSIX[named[2]])
            at = named.end()
        elif char == "\\":
            piece, at = _escape(pattern, at, in_class=True)
            out.append(piece)
        else:
            # Python warns of what may become set operations, and reads ] first in a class as RE2 does.
            out.append("\\" + char if char in "[&~|]" else char)
            at += 1


def replace(pattern: str, rewrite: str, text: str, everywhere: bool) -> str:
    r"""`text` with the first match, or every one, replaced; `rewrite` may hold `\0` to `\9`.

    As RE2 does, an empty match right after a match is passed over. Where `rewrite` names a group that the
    pattern does not have, TensorFlow logs it and changes nothing; that is an error here.

    Raises:
        InvalidArgumentError: The pattern or the rewrite is not one.
    """
    found = compile_pattern(pattern)
    parts = _parse_rewrite(rewrite, found.groups)
    out: list[str] = []
    at, last_end = 0, -1
    while at <= len(text):
        match = found.search(text, at)
        if match is None:
            break
        start, end = match.span()
        out.append(text[at:start])
        if start == end == last_end:
            out.append(text[start : start + 1])
            at = start + 1
            continue
        out.extend(match[part] or "" if isinstance(part, int) else part for part in parts)
        at = last_end = end
        if not everywhere:
            break
    out.append(text[at:])
    return "".join(out)


@lru_cache(maxsize=256)
def _parse_rewrite(rewrite: str, groups: int) -> tuple[str | int, ...]:
    parts: list[str | int] = []
    at = 0
    while at < len(rewrite):
        char = rewrite[at]
        at += 1
        if char != "\\":
            parts.append(char)
            continue
        following = rewrite[at : at + 1]
        at += 1
        if following == "\\":
            parts.append("\\")
        elif following.isdigit() and int(following) <= groups:
            parts.append(int(following))
        else:
            raise InvalidArgumentError(
                f"Invalid rewrite pattern: {rewrite}: it holds \\{following}, the pattern has "
                f"{groups} groups",
                rewrite=rewrite,
            )
    return tuple(parts)
