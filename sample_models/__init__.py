"""Small models to begin with: for each a spec (`NAME.yaml`) and a script that makes its data (`NAME.py`).

python -m sgtool.sample_models.linear FOLDER      writes FOLDER/{train.npz,test.npz,linear.yaml}
"""

from __future__ import annotations

from importlib import resources

NAMES = ("linear", "approximator", "mlp", "cnn")


def spec_path(name: str) -> str:
    """The path of a sample's spec.

    Raises:
        KeyError: There is no such sample.
    """
    if name not in NAMES:
        raise KeyError(f"There is no sample '{name}'; there are {', '.join(NAMES)}")
    return str(resources.files(__name__).joinpath(f"{name}.yaml"))
