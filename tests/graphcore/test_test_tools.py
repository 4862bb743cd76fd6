"""`tf.test`'s stubs and benchmarks, and `tf.resource_loader`."""

from __future__ import annotations

import json
import math
import types
from pathlib import Path

import pytest

from sgtool import graphcore as tf


class Base:
    @staticmethod
    def fixed() -> str:
        return "fixed"

    def told(self) -> str:
        return "told"


class Derived(Base):
    pass


def test_stubs_are_put_back() -> None:
    module = types.ModuleType("m")
    module.number = 1  # type: ignore[attr-defined]
    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(module, "number", 2)
        stubs.Set(module, "number", 3)
        stubs.Set(Base, "fixed", staticmethod(lambda: "stub"))
        stubs.SmartSet(Derived(), "told", lambda self: "stub")
        assert module.number == 3
        assert Base.fixed() == "stub"
        assert Base().told() == "stub"
    assert module.number == 1
    assert Base().fixed() == "fixed"
    assert Base().told() == "told"
    assert "told" not in vars(Derived)
    with pytest.raises(AttributeError, match="Attribute not found"):
        stubs.SmartSet(Derived, "untold", None)


class Measured(tf.test.Benchmark):
    def benchmark_add(self) -> dict[str, object]:
        with tf.Graph().as_default(), tf.Session() as session:
            added = tf.constant(1.0) + tf.constant(2.0)
            assert self.evaluate([added]) == [3.0]
            return self.run_op_benchmark(
                session, added, min_iters=3, store_trace=True, extras={"size": 1}, mbs=2
            )


def test_a_benchmark_reports(capsys: pytest.CaptureFixture[str]) -> None:
    result = Measured().benchmark_add()
    assert result["iters"] == 3
    seconds, throughput = result["wall_time"], result["throughput"]
    assert isinstance(seconds, float)
    assert isinstance(throughput, float)
    assert math.isclose(throughput * seconds, 2)
    extras = result["extras"]
    assert isinstance(extras, dict)
    assert json.loads(extras["full_trace_chrome_format"])["traceEvents"]
    shown = capsys.readouterr().out
    assert 'name: "Measured.benchmark_add"' in shown
    assert "double_value: 1" in shown
    assert tf.test.Benchmark.is_abstract()
    assert not Measured.is_abstract()
    with pytest.raises(TypeError, match="metric must has a 'value' field"):
        Measured().report_benchmark(name="x", metrics=[{"name": "y"}])


def test_resources_lie_beside_the_script() -> None:
    here = Path(__file__)
    assert Path(tf.resource_loader.get_data_files_path()) == here.parent
    assert Path(tf.resource_loader.get_path_to_datafile("x.txt")) == here.parent / "x.txt"
    assert Path(tf.resource_loader.get_root_dir_with_all_resources()) == here.parent
    assert tf.resource_loader.load_resource(here.name) == here.read_bytes()
    assert tf.resource_loader.readahead_file_path("p") == "p"
    with pytest.raises(tf.errors.NotFoundError):
        tf.resource_loader.load_resource("absent.txt")
