"""Records what TensorFlow computes, for test_recorded.py. Run it with a Python that has TensorFlow 2:

    python record.py [SUBJECT ...]

Each SUBJECT.npz holds cases: a JSON list `cases` (kernel, arguments, keywords, tolerance, or the error
TensorFlow raised) and the arrays they name. bfloat16 arrays are kept as float32 and marked.
"""

import importlib
import inspect
import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent


class Recorder:
    """Collects the cases of one subject and writes them."""

    def __init__(self, subject):
        self.subject, self.cases, self.arrays = subject, [], {}
        self.rng = np.random.default_rng(7)

    def normal(self, *shape, dtype="float32"):
        return tf.cast(self.rng.standard_normal(shape), dtype).numpy()

    def ints(self, low, high, *shape, dtype="int32"):
        return self.rng.integers(low, high, shape).astype(dtype)

    def value(self, item):
        if isinstance(item, tuple):
            return {"list": [self.value(i) for i in item]}
        if isinstance(item, np.ndarray | np.generic):
            key = f"a{len(self.arrays)}"
            item = np.asarray(item)
            wide = item.dtype.name == "bfloat16"
            self.arrays[key] = item.astype(np.float32) if wide else item
            return {"array": key, "bfloat16": wide}
        return {"value": item}

    def add(self, kernel, op, args, kwargs=None, *, rtol=1e-5, atol=1e-5, **attributes):
        """One case: `op` is called with nothing; `kernel(*args, **kwargs)` must give the same."""
        case = {"kernel": kernel, "args": [self.value(a) for a in args], "rtol": rtol, "atol": atol}
        case["kwargs"] = {**(kwargs or {}), **attributes}
        try:
            results = op()
        except (tf.errors.OpError, ValueError) as error:
            text = getattr(error, "message", str(error))
            text = text.split("} }} ")[-1].split("}} ", 1)[-1].split(" [Op:")[0]
            case["error"] = text
        else:
            many = isinstance(results, list | tuple)
            results = results if many else [results]
            case["results"] = [self.value(np.asarray(r.numpy())) for r in results]
            case["many"] = many
        self.cases.append(case)

    def write(self):
        path = HERE / f"{self.subject}.npz"
        np.savez_compressed(path, cases=np.array(json.dumps(self.cases)), **self.arrays)
        errors = sum("error" in c for c in self.cases)
        print(f"{path.name}: {len(self.cases)} cases ({errors} errors), {path.stat().st_size} bytes")


def tensors(named):
    """Tensors of the arrays' own dtypes: a raw op with a default dtype would convert an array to it."""
    return {name: tf.constant(array) for name, array in named.items()}


if __name__ == "__main__":
    sys.modules["record"] = sys.modules["__main__"]
    subjects = {}
    for path in sorted(HERE.glob("cases_*.py")):
        module = importlib.import_module(path.stem)
        found = {n: f for n, f in vars(module).items() if getattr(f, "__module__", "") == path.stem}
        subjects.update({n: f for n, f in found.items() if list(inspect.signature(f).parameters) == ["r"]})
    for name in sys.argv[1:] or subjects:
        recorder = Recorder(name)
        subjects[name](recorder)
        recorder.write()
