"""Values as text. What Print writes is tested elsewhere."""

import numpy as np

from . import case, floats, ints, text

NONE = "strings have no derivative"


def said(words):
    return np.array(words.encode(), object)


CASES = [
    case("Print", floats(2, 3), [floats(2), ints(1)], expect=lambda x, data: x),
    case(
        "Print",
        text(["a", "b"]),
        [ints(1)],
        first_n=0,
        message="said: ",
        expect=lambda x, data: x,
        note="never",
    ),
    case("PrintV2", text("to a log"), output_stream="log(info)", expect=()),
    case(
        "StringFormat",
        [np.float32([0.1, 1 / 3, 2.0]), np.array(7)],
        template="a %s b %s c",
        expect=said("a [0.1 0.333333343 2] b 7 c"),
    ),
    case(
        "StringFormat",
        [np.arange(10), np.arange(12, dtype=np.int32).reshape(6, 2), np.arange(8.0).reshape(2, 2, 2)],
        template="{} {} {}",
        placeholder="{}",
        summarize=2,
        expect=said(
            "[0 1 ... 8 9] [[0 1]\n [2 3]\n ...\n [8 9]\n [10 11]] [[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"
        ),
        note="nested",
    ),
    case(
        "StringFormat",
        [text(["it's", 'a "b"\n\x01']), np.array([True, False]), np.complex64([1, 2])],
        template="%s%s%s",
        expect=said('["it\\\'s" "a \\"b\\"\\n\\001"][1 0][? ?]'),
        note="kinds",
    ),
    case(
        "StringFormat",
        [np.float64([1 / 3, 0.1, 1e300]), np.float16([0.1, 2]), np.float32([np.nan, np.inf, -np.inf])],
        template="%s%s%s",
        summarize=-1,
        expect=said("[0.33333333333333331 0.1 1e+300][0.0999755859 2][nan inf -inf]"),
        note="floats",
    ),
    case(
        "StringFormat",
        [np.zeros((0,), np.float32), np.zeros((2, 0), np.float32), np.arange(3)],
        template="%s%s%s",
        summarize=0,
        expect=said("[][\n ...][ ...]"),
        note="empty",
    ),
    case(
        "StringFormat",
        [text(["é"])],
        expect=said('["\\303\\251"]'),
        oracle="TensorFlow 2 leaves UTF-8 as it is",
        note="not_ascii",
    ),
]
