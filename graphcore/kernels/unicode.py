"""Code points out of and into encoded text, as ICU's converters give them to TensorFlow's kernels.

The tables are Python's. ICU's differ in control characters of some legacy code pages (IBM's, EUC), and it
has a few encodings that Python lacks.

Source: tensorflow/core/kernels/unicode_ops.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import threading
from typing import NamedTuple

import numpy as np

from ..errors import InvalidArgumentError

# What Python has and ICU has not.
_UNKNOWN = {
    *("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem", "utf_8_sig"),
    *("iso8859_16", "johab", "ptcp154", "kz1048"),
}
_SURROGATES = range(0xD800, 0xE000)
LAST = 0x10FFFF


class Policy(NamedTuple):
    """What becomes of malformed text.

    Attributes:
        errors: "strict", "replace" or "ignore".
        replacement: The code point that replaces it.
        controls: Whether U+0000 to U+001F count as malformed, too.
    """

    errors: str
    replacement: int
    controls: bool = False

    def check(self) -> None:
        """Raises InvalidArgumentError for a replacement that is no code point."""
        if not 0 <= self.replacement <= LAST:
            raise InvalidArgumentError("replacement_char out of unicode codepoint range")


class Decoder:
    """A decoder of one encoding.

    Args:
        encoding: Its name, as ICU or Python know it.

    Raises:
        InvalidArgumentError: There is none.
    """

    def __init__(self, encoding: str) -> None:
        try:
            self._codec = codecs.lookup(encoding).name
            with contextlib.suppress(UnicodeError):
                b"a".decode(self._codec)  # those between bytes are refused here
            if self._codec.replace("-", "_") in _UNKNOWN:
                raise LookupError
        except (LookupError, ValueError, TypeError) as error:
            raise InvalidArgumentError(
                f"Could not create converter for input encoding: {encoding}", encoding=encoding
            ) from error

    def decode(self, data: bytes, policy: Policy) -> tuple[list[int], list[int]]:
        """The code points, and the byte at which each begins.

        Args:
            data: Encoded text.
            policy: What becomes of what is malformed.

        Raises:
            InvalidArgumentError: Something is, and `policy` is strict.
        """
        codec, start = self._byte_order(data)
        points: list[int] = []
        starts: list[int] = []
        at = 0
        for text, end, malformed in self._pieces(data, codec, start):
            if malformed:
                _put(points, starts, policy, at)
                at = end
                continue
            for character, size in zip(text, self._sizes(text, codec)):
                point = ord(character)
                if policy.controls and point <= 0x1F:
                    _put(points, starts, policy, at)
                else:
                    points.append(point)
                    starts.append(at)
                at = at + size + start if at == 0 else at + size
        return points, starts

    def _byte_order(self, data: bytes) -> tuple[str, int]:
        """The codec with its byte order, and how long the mark of it is."""
        if self._codec in ("utf-16", "utf-32"):
            size = 2 if self._codec == "utf-16" else 4
            big, little = (f"{self._codec}-{order}" for order in ("be", "le"))
            for codec in (big, little):
                if data[:size] == "\ufeff".encode(codec):
                    return codec, size
            return big, 0
        return self._codec, 0

    @staticmethod
    def _pieces(data: bytes, codec: str, start: int) -> list[tuple[str, int, bool]]:
        """Stretches of text, where each ends, and whether it is a malformed one."""
        pieces: list[tuple[str, int, bool]] = []
        at = start
        view = data[start:] if start else data
        try:
            return [(view.decode(codec), len(data), False)]
        except UnicodeDecodeError:
            pass
        spans = _malformed(view, codec)
        for first, last in ((first + start, last + start) for first, last in spans):
            if first > at:
                pieces.append((data[at:first].decode(codec), first, False))
            # Windows has control characters where its tables have nothing.
            is_control = codec.startswith("cp125") and 0x80 <= data[first] < 0xA0
            pieces.append((chr(data[first]), last, False) if is_control else ("", last, True))
            at = last
        if at < len(data):
            pieces.append((data[at:].decode(codec), len(data), False))
        return pieces

    @staticmethod
    def _sizes(text: str, codec: str) -> list[int]:
        """The number of bytes of each character."""
        points = np.array([ord(character) for character in text], np.int64)
        if codec == "utf-8":
            return (1 + (points > 0x7F) + (points > 0x7FF) + (points > 0xFFFF)).tolist()  # type: ignore[no-any-return]
        if codec.startswith("utf-16"):
            return (2 + 2 * (points > 0xFFFF)).tolist()  # type: ignore[no-any-return]
        if codec.startswith("utf-32"):
            return [4] * len(text)
        return [len(character.encode(codec, "replace")) for character in text]


_FOUND = threading.local()


@functools.cache
def _noting() -> str:
    """The name of an error handler that notes what is malformed and leaves it out."""

    def note(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        _FOUND.spans.append((error.start, error.end))
        return "", error.end

    codecs.register_error("sgtool.graphcore.noting", note)
    return "sgtool.graphcore.noting"


def _malformed(data: bytes, codec: str) -> list[tuple[int, int]]:
    """The stretches of bytes that are no characters."""
    _FOUND.spans = []
    data.decode(codec, _noting())
    spans: list[tuple[int, int]] = _FOUND.spans
    return spans


def _put(points: list[int], starts: list[int], policy: Policy, at: int) -> None:
    """What stands for malformed text at byte `at`."""
    if policy.errors == "strict":
        raise InvalidArgumentError("Invalid formatting on input string")
    if policy.errors == "replace":
        points.append(policy.replacement)
        starts.append(at)


def encode(points: list[int], encoding: str, policy: Policy) -> bytes:
    """Code points as text in UTF-8, UTF-16-BE or UTF-32-BE.

    Two surrogates in order are one character; one alone is replaced in UTF-8 and kept in the others.

    Raises:
        InvalidArgumentError: A number is no code point, and `policy` is strict.
    """
    characters = []
    for point in points:
        if 0 <= point <= LAST:
            characters.append(chr(point))
        elif policy.errors == "strict":
            raise InvalidArgumentError("Code point value out of valid Unicode range.")
        elif policy.errors == "replace":
            characters.append(chr(policy.replacement))
    units = "".join(characters).encode("utf-16-be", "surrogatepass")
    if encoding == "UTF-16-BE":
        return units
    text = units.decode("utf-16-be", "surrogatepass")
    if encoding == "UTF-32-BE":
        return text.encode("utf-32-be", "surrogatepass")
    whole = "".join("\ufffd" if ord(character) in _SURROGATES else character for character in text)
    return whole.encode()
