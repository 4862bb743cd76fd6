"""CTC by enumeration of all paths, and the edit distance by its recursion."""

import functools
import itertools

import numpy as np

from . import case, floats, text


def softmax(x):
    y = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)


def merged(path, blank, merge=True):
    """The labels of a path: repetitions made one (if `merge`), then without blanks."""
    kept = [item for index, item in enumerate(path) if not (merge and index and item == path[index - 1])]
    return tuple(item for item in kept if item != blank)


def probabilities(y, merge=True):
    """The probability of every labelling of the time steps of y, (time, classes)."""
    found: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(y.shape[1]), repeat=y.shape[0]):
        labels = merged(path, y.shape[1] - 1, merge)
        found[labels] = found.get(labels, 0) + np.prod([y[t, c] for t, c in enumerate(path)])
    return found


def loss_of(x, labels, lengths, merge=True):
    """The losses, and by differences their gradient with respect to the logits."""

    def one(logits, index):
        if not lengths[index]:
            return 0.0
        y = softmax(logits[: lengths[index], index])
        return -np.log(probabilities(y, merge)[labels[index]])

    wide, step = x.astype(np.float64), 1e-6
    gradient = np.zeros_like(wide)
    for place in np.ndindex(*x.shape):
        moved = []
        for sign in (1, -1):
            other = wide.copy()
            other[place] += sign * step
            moved.append(one(other, place[1]))
        gradient[place] = (moved[0] - moved[1]) / (2 * step)
    return np.array([one(wide, index) for index in range(x.shape[1])]), gradient


def sparse(rows):
    places = [(row, column) for row, items in enumerate(rows) for column in range(len(items))]
    values = [item for items in rows for item in items]
    return np.array(places, np.int64).reshape(-1, 2), np.array(values)


X = floats(4, 3, 3)
LABELS = [(0, 1), (1, 1), (0,)]
INDICES, VALUES = sparse(LABELS)
VALUES = VALUES.astype(np.int32)
LENGTHS = np.array([4, 4, 2], np.int32)
SINGLE = "the fused gradient's own derivative is an error"
LOSS = {"grad": [0], "through": [0], "second": SINGLE, "atol": 1e-5, "rtol": 1e-5}


def loss_case(labels, lengths, note, merge=True, dtype=np.float32, expect=None, **attrs):
    indices, values = sparse(labels)
    x = X.astype(dtype)
    options = {**LOSS, **attrs}
    return case(
        "CTCLoss",
        x,
        indices,
        values.astype(np.int32),
        np.array(lengths, np.int32),
        expect=expect or (lambda *_: loss_of(x, [merged(row, 2, False) for row in labels], lengths, merge)),
        note=note,
        ctc_merge_repeated=merge,
        **options,
    )


def collapsed(*_):
    return loss_of(X, [(0, 1), (1,), (0,)], LENGTHS)


def ignored(*_):
    loss, gradient = loss_of(X, LABELS, [4, 4, 0])
    return loss, gradient


IMPOSSIBLE = [(0, 1), (1, 1, 1), (0,)]


def impossible(*_):
    loss, gradient = loss_of(X, LABELS, LENGTHS)
    loss[1], gradient[:, 1] = np.inf, softmax(X)[:, 1]
    return loss, gradient


CASES = [
    loss_case(LABELS, LENGTHS, "plain"),
    loss_case(LABELS, LENGTHS, "double", dtype=np.float64, atol=1e-6),
    loss_case(LABELS, LENGTHS, "repeated", merge=False),
    loss_case(LABELS, LENGTHS, "collapsed", expect=collapsed, preprocess_collapse_repeated=True),
    loss_case(
        [(0, 1), (1, 1), (0, 0, 0)],
        [4, 4, 2],
        "ignored",
        expect=ignored,
        ignore_longer_outputs_than_inputs=True,
    ),
    loss_case(IMPOSSIBLE, LENGTHS, "impossible", expect=impossible, grad="infinite"),
    loss_case(
        [(0, 1), (1, 1), (2,)], LENGTHS, "only_blanks", oracle="TensorFlow reads outside of its arrays"
    ),
]


def stored(sequences):
    indices, values = sparse(sequences)
    longest = max(len(items) for items in sequences)
    return indices, values.astype(np.int64), np.array([len(sequences), longest])


def greedy(merge):
    def expect(x, lengths):
        paths = [x[:n, index].argmax(-1).tolist() for index, n in enumerate(lengths)]
        score = [-x[:n, index].max(-1).sum() for index, n in enumerate(lengths)]
        return *stored([merged(path, x.shape[2] - 1, merge) for path in paths]), np.array(score)[:, None]

    return expect


def beams(count, merge):
    """The best labellings of all; of the beam's width there must be as many."""

    def expect(x, lengths):
        best = []
        for index, n in enumerate(lengths):
            found = probabilities(softmax(x[:n, index])) if n else {(): 1.0}
            best.append(sorted(found.items(), key=lambda item: -item[1])[:count])
        paths = [[rows[number][0] for rows in best] for number in range(count)]
        if merge:
            paths = [
                [[k for k, _ in itertools.groupby(labels)] for labels in sequences] for sequences in paths
            ]
        scores = np.log([[p for _, p in rows] for rows in best])
        parts = [stored(sequences) for sequences in paths]
        return *(part[index] for index in range(3) for part in parts), scores

    return expect


LONG = floats(6, 4, 4, seed=3, low=-1)
LONG[2:4, 0, 1] = 5
STEPS = np.array([6, 5, 0, 1], np.int32)
CASES += [
    case("CTCGreedyDecoder", LONG, STEPS, expect=greedy(False), rtol=1e-5),
    case("CTCGreedyDecoder", LONG, STEPS, expect=greedy(True), merge_repeated=True, rtol=1e-5),
    case("CTCGreedyDecoder", LONG.astype(np.float64), STEPS, expect=greedy(False)),
    case(
        "CTCGreedyDecoder",
        np.zeros((2, 0, 3), np.float32),
        np.zeros(0, np.int32),
        expect=(np.zeros((0, 2)), np.zeros(0), [0, 0], np.zeros((0, 1))),
        oracle="TensorFlow 1.15 takes an empty batch, later versions do not",
        note="empty",
    ),
    *[
        case(
            "CTCBeamSearchDecoder",
            LONG.astype(dtype),
            np.array([6, 5, 4, 2], np.int32),
            beam_width=2000,
            top_paths=paths,
            merge_repeated=merge,
            expect=beams(paths, merge),
            rtol=1e-5,
            note=f"{paths}_{merge}",
        )
        for paths, merge, dtype in ((1, True, np.float32), (3, False, np.float32), (5, True, np.float64))
    ],
    # A beam that always kept the best would end with -5.91: a prefix that was driven out grows no more.
    case(
        "CTCBeamSearchDecoder",
        floats(9, 1, 4, seed=13),
        np.array([9], np.int32),
        beam_width=2,
        top_paths=1,
        merge_repeated=False,
        expect=(*stored([(0, 1, 0, 2, 2)]), np.array([[-6.148776]])),
        note="narrow",
        rtol=1e-6,
    ),
    case(
        "CTCBeamSearchDecoder",
        LONG,
        np.array([0, 0, 0, 0], np.int32),
        beam_width=3,
        top_paths=1,
        expect=(np.zeros((0, 2)), np.zeros(0), [4, 0], np.zeros((4, 1))),
        note="no_steps",
    ),
]


def distance(a, b):
    @functools.cache
    def part(i, j):
        if not i or not j:
            return i + j
        return min(part(i - 1, j) + 1, part(i, j - 1) + 1, part(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    return part(len(a), len(b))


GUESS = [(1, 2, 3), (), (4, 4), (5,), (6, 1, 2, 9, 9)]
TRUTH = [(2, 3, 3, 1), (1, 2), (), (5,), (1, 2, 3)]


def distances(normalize):
    result = []
    for guess, truth in zip(GUESS, TRUTH, strict=True):
        found = distance(guess, truth)
        result.append(found / len(truth) if normalize and truth else np.inf if normalize else found)
    return np.array(result, np.float32)


def distance_case(dtype, normalize, note):
    pairs = []
    for rows in (GUESS, TRUTH):
        indices, values = sparse(rows)
        values = text([str(v) for v in values]) if dtype is object else values.astype(dtype)
        pairs += [indices, values, np.array([5, 7])]
    return case("EditDistance", *pairs, normalize=normalize, expect=distances(normalize), note=note)


CASES += [
    distance_case(np.int64, True, "normalized"),
    distance_case(np.int32, False, "counted"),
    distance_case(object, True, "strings"),
    case(
        "EditDistance",
        np.array([[0, 1, 0], [0, 1, 1]]),
        np.array([1, 2]),
        np.array([1, 2, 2]),
        np.array([[0, 0, 0], [1, 1, 0]]),
        np.array([3, 4]),
        np.array([2, 2, 1]),
        expect=np.array([[1, np.inf], [0, 1]]),
        note="rank_three",
    ),
]
