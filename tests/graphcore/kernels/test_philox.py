"""Random numbers against TensorFlow's (data/random.npz), and Philox against its published test vectors."""

import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

from sgtool.formats import errors
from sgtool.graphcore.kernels import philox

with np.load(pathlib.Path(__file__).parent / "data" / "random.npz") as file:
    ARRAYS = {name: file[name] for name in file.files}
CASES = json.loads(str(ARRAYS.pop("cases")))


def value(spec):
    if "array" in spec:
        array = ARRAYS[spec["array"]]
        return array.astype(ml_dtypes.bfloat16) if spec["bfloat16"] else array
    return ml_dtypes.bfloat16 if spec["value"] == "bfloat16" else spec["value"]


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda i: f"{i}-{CASES[i]['kernel'].split('.')[1]}")
def test_samples_are_tensorflows_in_consecutive_runs(index):
    case = CASES[index]
    kernel = getattr(philox, case["kernel"].split(".")[1])
    if "seeds" in case:
        generator = philox.Philox.from_seeds(*case["seeds"])
    else:
        generator = philox.Philox.from_stateless_seed(case["stateless"])
    for spec in case["results"]:
        ours, theirs = kernel(generator, *map(value, case["args"])), value(spec)
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if case["rtol"] == 0:
            np.testing.assert_array_equal(ours, theirs)
        else:
            wide = [a.astype(np.float64) for a in (ours, theirs)]
            np.testing.assert_allclose(*wide, rtol=case["rtol"], atol=case["atol"])


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        # The known-answer vectors of philox4x32-10 in the Random123 distribution.
        (0, 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ((1 << 128) - 1, (1 << 64) - 1, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            0x03707344_13198A2E_85A308D3_243F6A88,
            0x299F31D0_A4093822,
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_known_answers(counter, key, words):
    assert philox.Philox(key, counter).words(1).tolist() == words


def test_the_counter_carries_into_its_upper_half():
    generator = philox.Philox(5, (1 << 64) - 2)
    together = generator.words(4)
    generator.skip(3)
    np.testing.assert_array_equal(generator.words(1), together[12:])
    np.testing.assert_array_equal(philox.Philox(5, 1 << 64).words(2), together[8:])
    stretches = philox.Philox(5, (1 << 64) - 2).words_at(np.array([1, 0]), 2)
    np.testing.assert_array_equal(stretches, [together[4:12], together[:8]])


def test_blocks_do_not_show(monkeypatch):
    whole = philox.truncated_normal(philox.Philox(3), [1000])
    monkeypatch.setattr(philox, "BLOCK", 7)
    np.testing.assert_array_equal(philox.truncated_normal(philox.Philox(3), [1000]), whole)


def test_two_zero_seeds_differ_each_time():
    first, second = (philox.random_uniform(philox.Philox.from_seeds(0, 0), [8]) for _ in range(2))
    assert (first != second).any()


def test_wrong_arguments_are_refused():
    generator = philox.Philox(1)
    with pytest.raises(errors.InvalidArgumentError, match="Need minval < maxval, got 3 >= 3"):
        philox.random_uniform_int(generator, [2], 3, 3)
    with pytest.raises(errors.InvalidArgumentError, match="must be >= 0"):
        philox.random_uniform(generator, [2, -1])
    with pytest.raises(errors.UnimplementedError, match="complex64"):
        philox.random_uniform(generator, [2], np.complex64)
    with pytest.raises(errors.InvalidArgumentError, match=r"seed must have shape \[2\]"):
        philox.Philox.from_stateless_seed([1, 2, 3])
    with pytest.raises(errors.InvalidArgumentError, match="logits should be a matrix"):
        philox.multinomial(generator, np.ones(3), 2)
    assert generator.counter == 0
