"""Unicode: encodings and code points."""

import numpy as np

from . import case, text

WORDS = ["Gödnight", "a\u0416\u4e2d\U0001f60a", "", "\x01\tb"]
UTF8 = text([word.encode() for word in WORDS])
# Cut off, overlong, surrogates, past the last code point, single continuation bytes.
BROKEN = text(
    [
        b"a\xe4\xb8",
        b"\xc0\xafz",
        b"\xed\xa0\x80q",
        b"\xf5\x80\x80\x80",
        b"\x80\xbf\xffk",
        b"\xf0\x9f\x98x",
        b"\xf4\x90\x80\x80y",
    ]
)
UTF16 = text([word.encode("utf-16-be") for word in WORDS])
BROKEN16 = text([b"\xd8\x3da", b"\xd8\x3d\x00a", b"\xde\x0a\x00b", b"\x00"])
UTF32 = text([word.encode("utf-32-be") for word in WORDS])
BROKEN32 = text([b"\x00\x11\x00\x00\x00\x00\x00a", b"\x00\x00\xd8\x00", b"\x00\x00"])
MARKED = text(["é".encode("utf-16"), b"\xfe\xff\x00a", b"\x00a", "a\U0001f60a".encode("utf-16")])
POINTS = np.array([71, 246, 0x1F60A, 0x10FFFF, 65, 0x110000, -1, 0], np.int32)
SPLITS = np.array([0, 3, 3, 5, 8])
SURROGATES = np.array([0xD83D, 0xDE0A, 0xD83D, 65], np.int32)


def points(words, dtype=np.int64):
    lengths = np.cumsum([0, *map(len, words)]).astype(dtype)
    return lengths, np.array([ord(character) for word in words for character in word], np.int32)


def replaced(data, codec, mark="\ufffd"):
    return [word.decode(codec, "replace").replace("\ufffd", mark) for word in data.tolist()]


def starts(words, codec):
    sizes = [[len(character.encode(codec)) for character in word] for word in words]
    return np.concatenate([np.cumsum([0, *each])[:-1] for each in sizes]).astype(np.int64)


CASES = [
    case("UnicodeDecode", UTF8, input_encoding="UTF-8", expect=points(WORDS)),
    case(
        "UnicodeDecode",
        UTF8.reshape(2, 2),
        input_encoding="utf8",
        Tsplits=np.int32,
        replace_control_characters=True,
        replacement_char=63,
        expect=points([*WORDS[:3], "??b"], np.int32),
        note="controls",
    ),
    case("UnicodeDecode", text(""), input_encoding="UTF-8", expect=points([""]), note="scalar"),
    case(
        "UnicodeDecode",
        np.zeros((0, 2), object),
        input_encoding="UTF-8",
        expect=(np.zeros(1, np.int64), np.zeros(0, np.int32)),
        note="empty",
    ),
    case("UnicodeDecode", BROKEN, input_encoding="UTF-8", expect=points(replaced(BROKEN, "utf-8"))),
    case(
        "UnicodeDecode",
        BROKEN,
        input_encoding="UTF-8",
        errors="ignore",
        expect=points(replaced(BROKEN, "utf-8", "")),
        note="ignore",
    ),
    case("UnicodeDecode", UTF16, input_encoding="UTF-16-BE", expect=points(WORDS), note="utf16"),
    case(
        "UnicodeDecode",
        BROKEN16,
        input_encoding="UTF-16-BE",
        replacement_char=33,
        expect=points(["!", "!a", "!b", "!"]),
        note="broken_utf16",
    ),
    case("UnicodeDecode", UTF32, input_encoding="UTF-32-BE", expect=points(WORDS), note="utf32"),
    case(
        "UnicodeDecode",
        BROKEN32,
        input_encoding="UTF-32-BE",
        replacement_char=33,
        expect=points(["!a", "!", "!"]),
        note="broken_utf32",
    ),
    case(
        "UnicodeDecode",
        text([b"caf\xe9\x80\x81", bytes(range(32, 256))]),
        input_encoding="ISO-8859-1",
        expect=points([b"caf\xe9\x80\x81".decode("latin1"), bytes(range(32, 256)).decode("latin1")]),
        note="latin1",
    ),
    case(
        "UnicodeDecode",
        text([bytes(range(32, 256))]),
        input_encoding="windows-1252",
        expect=points(
            [
                "".join(
                    bytes([byte]).decode("cp1252")
                    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
                    else chr(byte)
                    for byte in range(32, 256)
                )
            ]
        ),
        note="windows1252",
    ),
    case(
        "UnicodeDecode",
        text([b"a\x80\xffb"]),
        input_encoding="US-ASCII",
        expect=points(["a\ufffd\ufffdb"]),
        note="ascii",
    ),
    case(
        "UnicodeDecode",
        text(["日本語a".encode("shift_jis")]),
        input_encoding="shift_jis",
        expect=points(["日本語a"]),
        note="shift_jis",
    ),
    case(
        "UnicodeDecodeWithOffsets",
        UTF8,
        input_encoding="UTF-8",
        expect=(*points(WORDS), starts(WORDS, "utf-8")),
    ),
    case(
        "UnicodeDecodeWithOffsets",
        UTF16,
        input_encoding="UTF-16-BE",
        Tsplits=np.int32,
        expect=(*points(WORDS, np.int32), starts(WORDS, "utf-16-be")),
        oracle="TensorFlow takes its int64 output for one of Tsplits, and aborts",
        note="utf16",
    ),
    case(
        "UnicodeDecodeWithOffsets",
        text([b"a\x80b\xe4\xb8", b"\xffc"]),
        input_encoding="UTF-8",
        errors="ignore",
        expect=(np.array([0, 2, 3]), np.array([97, 98, 99], np.int32), np.array([0, 2, 1])),
        note="ignore",
    ),
    case(
        "UnicodeDecodeWithOffsets",
        text([b"a\x80b\xe4\xb8", b"\xffc"]),
        input_encoding="UTF-8",
        expect=(
            np.array([0, 4, 6]),
            np.array([97, 0xFFFD, 98, 0xFFFD, 0xFFFD, 99], np.int32),
            np.array([0, 1, 2, 3, 0, 1]),
        ),
        note="replace",
    ),
    case(
        "UnicodeDecodeWithOffsets",
        MARKED,
        input_encoding="UTF-16",
        expect=(
            np.array([0, 1, 2, 3, 5]),
            np.array([233, 97, 97, 97, 0x1F60A], np.int32),
            np.array([0, 0, 0, 0, 4]),
        ),
        note="byte_order_marks",
    ),
    case("UnicodeTranscode", UTF8, input_encoding="UTF-8", output_encoding="UTF-16-BE", expect=UTF16),
    case("UnicodeTranscode", UTF16, input_encoding="UTF-16-BE", output_encoding="UTF-32-BE", expect=UTF32),
    case(
        "UnicodeTranscode",
        UTF32.reshape(2, 2),
        input_encoding="UTF-32-BE",
        output_encoding="UTF-8",
        errors="strict",
        expect=UTF8.reshape(2, 2),
    ),
    case(
        "UnicodeTranscode",
        text([b"a\xffb\x02"]),
        input_encoding="UTF-8",
        output_encoding="UTF-8",
        errors="ignore",
        replace_control_characters=True,
        expect=text(["ab"]),
        note="ignore",
    ),
    case(
        "UnicodeTranscode",
        text([b"a\xffb\x02"]),
        input_encoding="UTF-8",
        output_encoding="UTF-8",
        replacement_char=0x1F60A,
        replace_control_characters=True,
        expect=text(["a\U0001f60ab\U0001f60a"]),
        note="replace",
    ),
    case(
        "UnicodeEncode",
        POINTS,
        SPLITS,
        output_encoding="UTF-8",
        expect=text(["Gö\U0001f60a", "", "\U0010ffffA", "\ufffd\ufffd\0"]),
    ),
    case(
        "UnicodeEncode",
        POINTS,
        SPLITS.astype(np.int32),
        output_encoding="UTF-16-BE",
        errors="ignore",
        expect=text([word.encode("utf-16-be") for word in ["Gö\U0001f60a", "", "\U0010ffffA", "\0"]]),
    ),
    case(
        "UnicodeEncode",
        POINTS[:5],
        SPLITS[:4],
        output_encoding="UTF-32-BE",
        errors="strict",
        expect=text([word.encode("utf-32-be") for word in ["Gö\U0001f60a", "", "\U0010ffffA"]]),
    ),
    *[
        case(
            "UnicodeEncode",
            SURROGATES,
            np.array([0, 4]),
            output_encoding=encoding,
            expect=text([encoded]),
            oracle="1.15 joins surrogates, later versions refuse them",
            note="surrogates",
        )
        for encoding, encoded in (
            ("UTF-8", "\U0001f60a\ufffdA"),
            ("UTF-16-BE", b"\xd8\x3d\xde\x0a\xd8\x3d\0A"),
            ("UTF-32-BE", b"\0\x01\xf6\x0a\0\0\xd8\x3d\0\0\0A"),
        )
    ],
    case("UnicodeEncode", POINTS[:0], SPLITS[:1], output_encoding="UTF-8", expect=np.zeros(0, object)),
    case(
        "UnicodeScript",
        np.array([[65, 0x416, 0x4E2D], [0x3B1, 0x5D0, 32], [-1, 0x110000, 0x10FFFF]], np.int32),
        expect=np.array([[25, 8, 17], [14, 19, 0], [-1, -1, 103]], np.int32),
    ),
    case("UnicodeScript", np.int32(0x1F60A), expect=np.int32(0), note="scalar"),
    case(
        "UnicodeScript",
        np.arange(0, 0x3000, 7, dtype=np.int32).reshape(-1, 1)[:, :0],
        expect=np.zeros((1756, 0), np.int32),
        note="empty",
    ),
]
