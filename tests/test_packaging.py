"""The package list and package data against the folders, and what a start of the tool imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("cli", "formats", "graphcore", "sample_models")

# What lies in a package folder and is no part of the wheel: sources of generated files.
NOT_SHIPPED = ("formats/proto_src",)


@pytest.fixture(scope="module")
def setuptools_table() -> dict[str, Any]:
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)["tool"]["setuptools"]
    return table


def files_under(package: str) -> list[Path]:
    return [
        path
        for path in sorted((REPOSITORY / package).rglob("*"))
        if path.is_file()
        and "__pycache__" not in path.parts
        and not path.name.startswith(".")
        and not str(path.relative_to(REPOSITORY)).startswith(NOT_SHIPPED)
    ]


def test_every_folder_with_modules_is_listed(setuptools_table: dict[str, Any]) -> None:
    folders = {
        path.parent.relative_to(REPOSITORY)
        for p in PACKAGES
        for path in files_under(p)
        if path.suffix == ".py"
    }
    expected = {".".join(("sgtool", *folder.parts)) for folder in folders}
    assert set(setuptools_table["packages"]) == expected
    missing = [str(folder) for folder in folders if not (REPOSITORY / folder / "__init__.py").is_file()]
    assert not missing, f"without __init__.py: {missing}"


def test_the_mapping_names_the_top_folders(setuptools_table: dict[str, Any]) -> None:
    assert setuptools_table["package-dir"] == {f"sgtool.{name}": name for name in PACKAGES}


def test_every_data_file_is_shipped(setuptools_table: dict[str, Any]) -> None:
    patterns = setuptools_table["package-data"]
    listed = set(setuptools_table["packages"])
    shipped = {
        path
        for name, globs in patterns.items()
        for glob in globs
        for path in (REPOSITORY / Path(*name.split(".")[1:])).glob(glob)
    }
    wanted = {path for package in PACKAGES for path in files_under(package) if path.suffix != ".py"}
    assert set(patterns) <= listed
    assert {str(p.relative_to(REPOSITORY)) for p in wanted - shipped} == set()


def test_every_top_package_says_that_it_is_typed() -> None:
    assert [p for p in PACKAGES if not (REPOSITORY / p / "py.typed").is_file()] == []


def imported_by(arguments: list[str], cwd: Path) -> tuple[set[str], str]:
    """The modules that a run of the tool has imported when it ends, and what it printed."""
    program = (
        "import json, sys\n"
        "from sgtool.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as done:\n"
        "    code = done.code\n"
        "else:\n"
        "    code = 0\n"
        "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(names), done.stdout


def heavy(names: set[str], *packages: str) -> list[str]:
    return sorted(n for n in names if any(n == p or n.startswith(p + ".") for p in packages))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["inspect", "--help"], ["run", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    names, printed = imported_by(arguments, tmp_path)
    assert "sgtool" in printed
    assert heavy(names, "numpy", "h5py", "rich", "google.protobuf", "yaml", "sgtool.graphcore") == []


def test_inspecting_a_graph_imports_nothing_heavy(tmp_path: Path) -> None:
    from sgtool.formats import protos

    node = protos.NodeDef(name="x", op="Placeholder")
    graph = protos.MetaGraphDef(graph_def=protos.GraphDef(node=[node]))
    (tmp_path / "x.meta").write_bytes(protos.encode(graph))
    for arguments in (
        ["inspect", "x.meta"],
        ["inspect", "x.meta", "--json"],
        ["inspect", "x.meta", "--graph"],
    ):
        names, printed = imported_by(arguments, tmp_path)
        assert "Placeholder" in printed or arguments == ["inspect", "x.meta"]
        assert heavy(names, "numpy", "h5py", "rich", "yaml", "sgtool.graphcore") == []


def test_python_m_works(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sgtool.cli", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("sgtool ")
