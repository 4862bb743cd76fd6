"""Strings put together: n-grams and segments."""

import numpy as np

from . import case, text

DATA = text(["a", "b", "c", "d"])
SPLITS = np.array([0, 3, 3, 4])
PADDED = {"separator": "|", "left_pad": "L", "right_pad": "R", "preserve_short_sequences": False}


def ngrams(widths, pad_width, grams, ends, note, splits=SPLITS, **more):
    return case(
        "StringNGrams",
        DATA,
        splits,
        ngram_widths=widths,
        pad_width=pad_width,
        **{**PADDED, **more},
        expect=(text(grams), ends),
        note=note,
    )


def joined(ids, values, expect, note, count=3, separator="-"):
    return case(
        "UnsortedSegmentJoin",
        text(values),
        np.array(ids),
        np.int32(count),
        separator=separator,
        expect=text(expect),
        note=note,
    )


CASES = [
    ngrams([2], 0, ["a|b", "b|c"], [0, 2, 2, 2], "bigrams"),
    ngrams([2], -1, ["L|a", "a|b", "b|c", "c|R", "L|R", "L|d", "d|R"], [0, 4, 5, 7], "all_padding"),
    ngrams([3, 1], 1, ["L|a|b", "a|b|c", "b|c|R", "a", "b", "c", "L|d|R", "d"], [0, 6, 6, 8], "two_widths"),
    ngrams([2], 0, ["a|b", "b|c", "d"], [0, 2, 2, 3], "short_ones_kept", preserve_short_sequences=True),
    ngrams(
        [2],
        5,
        ["L|a", "a|b", "b|c", "c|R", "L|R", "L|d", "d|R"],
        np.array([0, 4, 5, 7], np.int32),
        "too_much_padding",
        splits=SPLITS.astype(np.int32),
    ),
    case(
        "StringNGrams",
        np.zeros(0, object),
        np.array([0, 0]),
        ngram_widths=[2],
        pad_width=0,
        **PADDED,
        expect=(np.zeros(0, object), [0, 0]),
        note="empty",
    ),
    joined([2, 0, 2], ["a", "b", "c"], ["b", "", "a-c"], "vector"),
    joined([1, 1], [["a", "b"], ["c", "d"]], [["", ""], ["a-c", "b-d"]], "rows", count=2),
    joined([[0, 1], [1, 0]], [["a", "b"], ["c", "d"]], ["ad", "bc"], "matrix_of_ids", count=2, separator=""),
]
