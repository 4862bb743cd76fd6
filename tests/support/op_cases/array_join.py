"""Joining, splitting, repeating, padding and reversing."""

import numpy as np

from . import case, floats, ints, text

X, Y = floats(2, 3), floats(2, 3, seed=1)
CUBE = floats(2, 3, 4)
PADS = np.array([[1, 0], [2, 1]], np.int32)


def pad(mode, **options):
    return lambda x, pads, *_: np.pad(x, pads, mode=mode, **options)


def mirror_grad(mode):
    def expect(dy, pads):
        shape = [size - int(a) - int(b) for size, (a, b) in zip(dy.shape, pads, strict=True)]
        numbers = np.pad(np.arange(int(np.prod(shape))).reshape(shape), pads, mode=mode)
        return np.bincount(numbers.ravel(), dy.ravel(), int(np.prod(shape))).reshape(shape)

    return expect


def begins_reversed(batch_dim, seq_dim):
    def expect(x, lengths):
        out = x.copy()
        for place in np.ndindex(x.shape):
            length, source = lengths[place[batch_dim]], list(place)
            if place[seq_dim] < length:
                source[seq_dim] = length - 1 - place[seq_dim]
            out[place] = x[tuple(source)]
        return out

    return expect


CASES = [
    case("Pack", [X, Y], expect=np.stack),
    case("Pack", [X, Y], axis=1, expect=lambda xs: np.stack(xs, 1)),
    case("Pack", [X, Y], axis=-1, expect=lambda xs: np.stack(xs, -1)),
    case("Pack", [np.int32(3), np.int32(4)], expect=[[3, 4]], note="scalars"),
    case("Pack", [np.zeros((0, 2), np.float32)] * 2, expect=np.zeros((2, 0, 2)), grad="empty"),
    case("Pack", [text("a"), text("b")], expect=[text(["a", "b"])]),
    case("Unpack", X, num=2, expect=lambda x: list(x)),
    case("Unpack", X, num=3, axis=-1, expect=lambda x: list(x.T)),
    case("Unpack", ints(2), num=2, expect=lambda x: list(x), note="to_scalars"),
    case(
        "Unpack",
        np.zeros((0, 2), np.float32),
        num=0,
        expect=lambda x: [],
        note="none",
        oracle="no outputs",
        grad="no outputs",
    ),
    case("ConcatV2", [X, Y], 0, expect=lambda xs, _: np.concatenate(xs, 0)),
    case("ConcatV2", [X, Y[:, :1]], -1, expect=lambda xs, _: np.concatenate(xs, -1)),
    case(
        "ConcatV2",
        [X, Y[:0]],
        np.int64(0),
        expect=lambda xs, _: np.concatenate(xs, 0),
        note="empty",
        oracle_grad="TensorFlow's fails for an int64 axis",
    ),
    case("ConcatV2", [text(["a"]), text(["b"])], 0, expect=[text(["a", "b"])]),
    case("Concat", 1, [X, Y], expect=lambda _, xs: np.concatenate(xs, 1)),
    case(
        "ConcatOffset", 1, [np.array([2, 3], np.int32), np.array([2, 5], np.int32)], expect=([0, 0], [0, 3])
    ),
    case("Split", 1, CUBE, num_split=3, expect=lambda _, x: np.split(x, 3, 1)),
    case("Split", -1, CUBE, num_split=2, expect=lambda _, x: np.split(x, 2, -1)),
    case("Split", 0, CUBE, num_split=1, expect=lambda _, x: [x]),
    case("SplitV", CUBE, [1, -1], 2, num_split=2, expect=lambda x, *_: np.split(x, [1], 2)),
    case(
        "SplitV",
        CUBE,
        np.array([2, 0, 1], np.int64),
        1,
        num_split=3,
        expect=lambda x, *_: np.split(x, [2, 2], 1),
    ),
    case("Tile", X, [2, 3], expect=lambda x, times: np.tile(x, times)),
    case("Tile", X, np.array([1, 0], np.int64), expect=np.zeros((2, 0)), note="empty", grad="empty"),
    case("Tile", X[:, :1], [1, 4], expect=lambda x, times: np.tile(x, times), note="one"),
    case("Pad", X, PADS, expect=pad("constant")),
    case("Pad", np.float32(2), np.zeros((0, 2), np.int32), expect=lambda x, _: x, note="scalar"),
    case("Pad", np.zeros((0, 2), np.float32), PADS, expect=np.zeros((1, 5)), grad="empty", note="empty"),
    case("Pad", ints(2, 3), PADS.astype(np.int64), expect=pad("constant"), note="int"),
    case(
        "PadV2",
        X,
        PADS,
        1.5,
        expect=pad("constant", constant_values=1.5),
        oracle_grad="TensorFlow leaves the constant out",
    ),
    case("MirrorPad", X, PADS, mode="REFLECT", expect=pad("reflect")),
    case("MirrorPad", X, PADS, mode="SYMMETRIC", expect=pad("symmetric")),
    case("MirrorPadGrad", floats(3, 6), PADS, mode="REFLECT", expect=mirror_grad("reflect")),
    case("MirrorPadGrad", floats(3, 6), PADS, mode="SYMMETRIC", expect=mirror_grad("symmetric")),
    case("ReverseV2", CUBE, [0, -1], expect=lambda x, axes: np.flip(x, (0, 2))),
    case("ReverseV2", CUBE, np.zeros(0, np.int64), expect=lambda x, _: x),
    case("Reverse", CUBE, np.array([True, False, True]), expect=lambda x, _: np.flip(x, (0, 2))),
    case("ReverseSequence", CUBE, np.array([3, 2]), seq_dim=1, expect=begins_reversed(0, 1)),
    case(
        "ReverseSequence",
        CUBE,
        np.array([2, 0, 1, 2], np.int32),
        seq_dim=0,
        batch_dim=2,
        expect=begins_reversed(2, 0),
    ),
    case("ReverseSequence", text([["a", "b"]]), np.array([2]), seq_dim=1, expect=[text([["b", "a"]])]),
    case(
        "ReverseSequence",
        np.zeros((0, 2), np.float32),
        np.zeros(0, np.int64),
        seq_dim=1,
        expect=np.zeros((0, 2)),
        grad="empty",
    ),
    case("Roll", CUBE, 1, 0, expect=np.roll),
    case("Roll", CUBE, -5, np.int64(-1), expect=np.roll, note="far"),
    case(
        "Roll", CUBE, np.array([1, -1, 2]), np.array([0, 1, 0], np.int32), expect=np.roll, note="axis_twice"
    ),
    case("Roll", text(["a", "b", "c"]), 1, 0, expect=[text(["c", "a", "b"])]),
    case("Roll", np.zeros((0, 2), np.float32), 1, 0, expect=np.zeros((0, 2)), grad="empty"),
]
