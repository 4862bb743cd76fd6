"""The comparison of a store with what a model wants: names, shapes, dtypes, renames, averages."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import dtypes, matching, registry
from sgtool.formats.entry import Entry, entry_of
from sgtool.formats.errors import InvalidValueError, MissingNameError
from sgtool.formats.matching import Wanted, match, parse_rename, rename
from sgtool.formats.parts import Part

GOLDEN = Path(__file__).parents[1] / "golden"
FLOAT = dtypes.BY_NAME["float32"]


def store(**shapes: Any) -> dict[str, Entry]:
    names = {name.replace("__", "/"): shape for name, shape in shapes.items()}
    return {name: entry_of(name, np.zeros(shape, np.float32)) for name, shape in names.items()}


def test_each_kind_of_answer() -> None:
    wanted = [
        Wanted("fits", FLOAT, (2, None)),
        Wanted("absent", FLOAT, (3,)),
        Wanted("longer", FLOAT, (3,)),
        Wanted("other", dtypes.BY_NAME["int32"], (2,)),
        Wanted("any", None, None),
    ]
    given = store(fits=(2, 5), longer=(4,), other=(2,), any=(1,), extra=(9,))
    found = match(wanted, given)
    assert [fit.wanted.key for fit in found.fitting] == ["fits", "any"]
    assert [one.key for one in found.missing] == ["absent"]
    assert [(one.wanted.key, one.kind, one.castable) for one in found.mismatched] == [
        ("longer", "shape", False),
        ("other", "dtype", True),
    ]
    assert found.unused == ["extra"]
    cast = match(wanted, given, cast=True)
    assert [(fit.wanted.key, fit.cast) for fit in cast.fitting] == [
        ("fits", False),
        ("other", True),
        ("any", False),
    ]
    reshaped = match([Wanted("longer", FLOAT, (2, 2))], given, reshape=True)
    assert not reshaped.mismatched
    assert match([Wanted("longer", FLOAT, (4, None))], given, reshape=True).mismatched


def test_parts_are_compared_with_the_whole_and_with_their_variable() -> None:
    given = store(w=(4, 3))
    part = Part.parse("4 3 0,2:0,3")
    assert match([Wanted("w", FLOAT, (2, 3), part)], given).fitting
    assert match([Wanted("w", FLOAT, (3, 3), part)], given).mismatched[0].kind == "shape"
    other = Part.parse("5 3 0,2:0,3")
    assert match([Wanted("w", FLOAT, (2, 3), other)], given).mismatched[0].kind == "slice"


def test_unused_names_of_the_very_shape_are_nearest() -> None:
    given = store(dense__kernel=(3, 4), dense_1__kernel=(7, 4), dense_2__kernel=(3, 5), bias=(3, 5))
    found = match([Wanted("dense/kernel", FLOAT, (3, 4)), Wanted("dense_3/kernel", FLOAT, (3, 5))], given)
    near = found.near(given)
    assert set(near) == {"dense_3/kernel"}
    assert near["dense_3/kernel"][0] == "dense_2/kernel"
    assert "dense_1/kernel" not in near["dense_3/kernel"]


def test_the_only_unused_name_of_a_shape_is_near_however_it_is_spelt() -> None:
    given = store(mxnet0=(3, 4), q=(5,), r=())
    wanted = [Wanted("dense/kernel", FLOAT, (3, 4)), Wanted("scale", FLOAT, ()), Wanted("bias", FLOAT, (4,))]
    assert match(wanted, given).near(given) == {"dense/kernel": ["mxnet0"], "scale": [], "bias": []}


def test_the_nearest_of_many_names_take_no_time() -> None:
    given = store(**{f"old__block_{i}__w": (3, 3) for i in range(3000)})
    found = match([Wanted(f"new/block_{i}/w", FLOAT, (3, 3)) for i in range(3000)], given)
    start = time.process_time()
    near = found.near(given)
    assert time.process_time() - start < 5
    assert near["new/block_7/w"][0] == "old/block_7/w"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("old/=new/", "old/w", "new/w"),
        ("old/=new/", "older/w", None),
        ("old=new", "old", "new"),
        ("old=new", "old/w", "new/w"),
        ("old=new", "older", None),
        ("old=new", "x/old", None),
        ("old=", "old/w", "w"),
        ("old/=", "old/w", "w"),
        ("=net/", "w", "net/w"),
        ("a=b\\1", "a/w", "b\\1/w"),
        ("a.c=x", "abc", None),
        (r"re:^block(\d+)/=b\1/", "block12/w", "b12/w"),
        (r"re:_(\d)=-\1", "a_1/b_2", "a-1/b-2"),
        (r"re:(?P<n>\d+)$=\g<n>_", "w1", "w1_"),
        ("re:x=y", "abc", None),
    ],
)
def test_renames(text: str, name: str, expected: str | None) -> None:
    assert parse_rename(text).apply(name) == expected


@pytest.mark.parametrize("text", ["old", "=", "", "re:x", "re:=y", "re:(=y", r"re:a=\2"])
def test_what_is_no_rename(text: str) -> None:
    with pytest.raises(InvalidValueError, match=r"OLD=NEW|PATTERN=REPLACEMENT|not a regular expression"):
        parse_rename(text)


def test_the_first_rename_that_matches_counts() -> None:
    renamed = rename(store(a__w=(1,), a__b=(2,)), [parse_rename("a/w=v"), parse_rename("a/=c/")])
    assert {name: (entry.name, entry.shape) for name, entry in renamed.items()} == {
        "v": ("v", (1,)),
        "c/b": ("c/b", (2,)),
    }


def test_renames_that_match_nothing_or_collide() -> None:
    given = store(encoder__w=(1,), decoder__w=(1,))
    with pytest.raises(MissingNameError) as info:
        rename(given, [parse_rename("encodr/=x/"), parse_rename("re:^z=y")])
    assert "'encodr/=x/' Did you mean 'encoder/'" in str(info.value)
    assert "The names begin with 'encoder/', 'decoder/'" in str(info.value)
    assert info.value.fields["maps"] == ["encodr/=x/", "re:^z=y"]
    with pytest.raises(InvalidValueError, match="'encoder/w' and 'decoder/w' become 'decoder/w'"):
        rename(given, [parse_rename("encoder/=decoder/")])


def test_moving_averages_stand_in_for_their_variables() -> None:
    given = store(w=(2,), w__ExponentialMovingAverage=(2,), b=(1,))
    wanted = [Wanted("w", FLOAT, (2,)), Wanted("b", FLOAT, (1,))]
    found = match(wanted, given, ema=True)
    assert [fit.entry.name for fit in found.fitting] == ["w" + matching.EMA_SUFFIX, "b"]
    assert (found.averaged, found.unused) == (["w"], [])
    assert match(wanted, given).unused == ["w" + matching.EMA_SUFFIX]
    alone = store(w__ExponentialMovingAverage=(2,))
    assert match(wanted[:1], alone, ema=True).averaged == ["w"]


def test_variables_of_tensorflow_2_are_renamed_by_their_names() -> None:
    given = registry.open_store(GOLDEN / "tf2" / "ckpt")
    renamed = rename(given, [parse_rename("scope/=net/")])
    assert "net/count" in renamed
    assert not any("CHECKPOINTABLE" in name for name in renamed)
    assert match([Wanted("net/count", None, None)], renamed).fitting
    with pytest.raises(MissingNameError, match=r"'zzz=net' The names begin with 'scope/', 'model/'\."):
        rename(given, [parse_rename("zzz=net")])
