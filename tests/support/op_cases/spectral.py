"""Fourier transforms."""

import numpy as np

from . import case, floats

OLD = "removed from TensorFlow long ago: files that have it are old"
TIMES = {1: "", 2: "2D", 3: "3D"}


def numbers(*shape, seed=0, dtype=np.complex64):
    return (floats(*shape, seed=seed) + 1j * floats(*shape, seed=seed + 1)).astype(dtype)


CASES = []
for rank, times in TIMES.items():
    axes = tuple(range(-rank, 0))
    for sign, function, real in (("", np.fft.fftn, np.fft.rfftn), ("I", np.fft.ifftn, np.fft.irfftn)):
        name, inverse = f"{sign}FFT{times}", bool(sign)

        def whole(x, f=function, axes=axes):
            return f(x.astype(np.complex128), axes=axes)

        z = numbers(2, 3, 4, 5)
        CASES += [
            case(name, z, expect=whole, rtol=1e-5, atol=1e-5),
            case(
                name, z[0, -1:].astype(np.complex128), expect=whole, rtol=1e-10, atol=1e-10, note="complex128"
            )
            if rank < 3
            else case(
                name, z[0].astype(np.complex128), expect=whole, rtol=1e-10, atol=1e-10, note="complex128"
            ),
            case(name, z[:0], expect=z[:0], grad="empty", note="empty"),
            case(f"Batch{name}", z, expect=whole, rtol=1e-5, atol=1e-5, oracle=OLD),
        ]
        for last in (5, 6):
            lengths = np.array([4, 3, last][-rank:], np.int32)
            shape = (4, 3, last // 2 + 1) if inverse else (4, 3, last)
            x = numbers(2, *shape) if inverse else floats(2, *shape)
            if inverse:  # what no real signal has is not read in the same way by all libraries
                x = np.fft.rfftn(floats(2, 4, 3, last), axes=axes).astype(np.complex64)

            def of_real(x, lengths, f=real, axes=axes):
                return f(x, lengths.tolist(), axes)

            CASES += [
                case(
                    f"{sign}RFFT{times}",
                    x,
                    lengths,
                    expect=of_real,
                    rtol=1e-5,
                    atol=1e-5,
                    grad=[0],
                    note=f"{last}",
                    oracle_grad=rank < 3 or "TensorFlow 1 has none",
                ),
                case(
                    f"{sign}RFFT{times}",
                    np.pad(x, [(0, 0)] + [(0, 2)] * 3),
                    lengths,
                    expect=lambda x, lengths, f=of_real, shape=shape, rank=rank: f(
                        x[(..., *map(slice, shape[-rank:]))], lengths
                    ),
                    rtol=1e-5,
                    atol=1e-5,
                    grad=[0],
                    note=f"{last}_cut",
                    oracle_grad="TensorFlow's does not fit an input that is cut",
                ),
            ]
        CASES.append(
            case(
                f"{sign}RFFT{times}",
                x[:0],
                lengths,
                expect=np.zeros((0, *(4, 3)[: 3 - rank], *(lengths if inverse else [*lengths[:-1], 4]))),
                grad="empty",
                note="empty",
            )
        )
