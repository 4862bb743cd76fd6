"""The layering of the packages, checked on the import statements, those inside functions too."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("cli", "formats", "graphcore", "sample_models")

# Which packages a package may import besides itself.
MAY_IMPORT = {
    "formats": set(),
    "graphcore": {"formats"},
    "cli": {"formats", "graphcore", "sample_models"},
    "sample_models": {"formats", "graphcore"},
}

# The layers inside graphcore, lowest first: a module imports its own layer and those before it.
# A name is a module (`graph`) or a sub-package (`ops`) directly under graphcore/; one that is not
# listed belongs to the top layer, the public surface.
GRAPHCORE_LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "errors",
        "compat",
        "not_yet",
        "absent_ops",
        "dead",
        "printing",
        "scopes",
        "stacks",
        "run_metadata",
        "kernels",
    ),
    ("dtypes", "shapes", "device"),
    (
        "tensor_shape",
        "resources",
        "queues",
        "readers",
        "tensor_arrays",
        "tensor_lists",
        "lookup_tables",
        "datasets",
    ),
    ("waiting", "dense_tables"),
    ("staging", "accumulators", "barriers"),
    ("attr_value",),
    ("op_def", "shape_inference"),
    ("registry",),
    ("tensor_operators", "graph_collections"),
    ("operation",),
    ("graph",),
    ("default", "fetches"),
    ("convert", "random_seed"),
    ("op", "importer", "functions", "function_defs", "indexed_slices", "sparse_tensor"),
    ("nest", "control_nodes", "control_contexts", "context_protos"),
    ("ops",),
    ("loop_gradients", "conditional", "while_loops"),
    ("gradients", "function_gradients", "compiler"),
    ("onnx",),
    ("partial_run",),
    ("session",),
    ("variable",),
    ("initial_value",),
    ("ref_variable", "resource_variable"),
    ("variables", "initializers", "partitioned_variable"),
    ("variable_store", "saveable_objects"),
    ("variable_scope", "meta_graph", "saveables", "checkpoint_management"),
    ("meta_graph_export",),
    ("optimizers", "restore", "saver_nodes"),
    ("saver",),
)

# Imports that go up on purpose, inside a function: (file, module), and why there is no other way.
UPWARD = {
    (
        "graphcore/ops/control_flow.py",
        "conditional",
    ): "Assert of data that may be on a device is a conditional",
    (
        "graphcore/ops/nn_norm.py",
        "gradients",
    ): "the gradient of FusedBatchNormGrad is that of what it composes",
    (
        "graphcore/ops/linalg_solve.py",
        "conditional",
    ): "the gradient of MatrixSolveLs depends on a shape that only the run may know",
}

# Modules that stand lower than the folder they are in would let them.
FORBIDDEN = {
    "graphcore/graph.py": {"ops", "op"},
    "graphcore/kernels": {"ops", "op", "graph", "registry"},
}


def source_files() -> list[Path]:
    return sorted(p for package in PACKAGES for p in (REPOSITORY / package).rglob("*.py"))


def imports(source: str, package: tuple[str, ...], typing_too: bool = True) -> Iterator[tuple[int, str]]:
    """(line, dotted path from the repository's root) of each import of our own packages in a source.

    Args:
        source: The text of a module.
        package: The folders that it is in, from the repository's root.
        typing_too: Also yield what stands under `if TYPE_CHECKING:`.
    """
    tree = ast.parse(source)
    unseen: set[ast.AST] = set()
    if not typing_too:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
                unseen.update(inner for child in node.body for inner in ast.walk(child))
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "sgtool":
                    yield node.lineno, alias.name.removeprefix("sgtool").removeprefix(".")
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".") if node.module else []
            if node.level:
                if node.level > len(package) + 1:
                    raise AssertionError(f"line {node.lineno}: relative import above sgtool")
                module = [*package[: len(package) - node.level + 1], *module]
            elif module[:1] == ["sgtool"]:
                module = module[1:]
            else:
                continue
            for alias in node.names:
                yield node.lineno, ".".join((*module, alias.name))


def imported_modules(path: Path, typing_too: bool = True) -> Iterator[tuple[int, str]]:
    package = path.relative_to(REPOSITORY).parts[:-1]
    return imports(path.read_text(encoding="utf-8"), package, typing_too)


def test_the_checker_sees_every_form_of_import() -> None:
    source = """
import sgtool.cli.main
from ..graph import Graph
def f():
    from ...formats import files
if TYPE_CHECKING:
    from ..session import Session
"""
    found = {name for _, name in imports(source, ("graphcore", "ops"))}
    assert found == {"cli.main", "graphcore.graph.Graph", "formats.files", "graphcore.session.Session"}
    found = {name for _, name in imports(source, ("graphcore", "ops"), typing_too=False)}
    assert found == {"cli.main", "graphcore.graph.Graph", "formats.files"}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_downward(package: str) -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line} imports {name}"
        for path in source_files()
        if path.relative_to(REPOSITORY).parts[0] == package
        for line, name in imported_modules(path)
        if name.split(".")[0] in PACKAGES and name.split(".")[0] not in {package, *MAY_IMPORT[package]}
    ]
    assert not wrong, "\n".join(wrong)


def layer_of(name: str) -> int:
    for number, layer in enumerate(GRAPHCORE_LAYERS):
        if name in layer:
            return number
    return len(GRAPHCORE_LAYERS)


def top_name(path: Path) -> str:
    """The module or sub-package directly under graphcore/ that a file belongs to."""
    return path.relative_to(REPOSITORY / "graphcore").parts[0].removesuffix(".py")


def test_graphcore_imports_only_lower_layers() -> None:
    wrong, needed = [], set()
    for path in sorted((REPOSITORY / "graphcore").rglob("*.py")):
        own, where = layer_of(top_name(path)), str(path.relative_to(REPOSITORY))
        for line, name in imported_modules(path, typing_too=False):
            parts = name.split(".")
            if parts[0] != "graphcore" or len(parts) < 2 or layer_of(parts[1]) <= own:
                continue
            if (where, parts[1]) in UPWARD:
                needed.add((where, parts[1]))
            else:
                wrong.append(f"{where}:{line} imports {name}, which is above it")
    assert not wrong, "\n".join(wrong)
    assert needed == set(UPWARD), "exceptions that nobody needs any more"


@pytest.mark.parametrize("where", sorted(FORBIDDEN))
def test_low_modules_know_nothing_of_ops(where: str) -> None:
    base = REPOSITORY / where
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line} imports {name}"
        for path in ([base] if base.suffix else sorted(base.rglob("*.py")))
        if path.exists()
        for line, name in imported_modules(path)
        if name.split(".")[0] == "graphcore"
        and name.split(".")[1:2]
        and name.split(".")[1] in FORBIDDEN[where]
    ]
    assert not wrong, "\n".join(wrong)


def modules_at_import(path: Path) -> set[Path]:
    """The files of our packages that importing a file imports: its statements outside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [ast.Pass()]
    package = path.relative_to(REPOSITORY).parts[:-1]
    found = set()
    for _, name in imports(ast.unparse(tree), package, typing_too=False):
        parts = name.split(".")
        for end in (len(parts), len(parts) - 1):
            base = REPOSITORY.joinpath(*parts[:end])
            target = base.with_suffix(".py") if base.with_suffix(".py").is_file() else base / "__init__.py"
            if end and target.is_file():
                found.add(target)
                break
    return found - {path}


def test_no_import_cycles() -> None:
    order = graphlib.TopologicalSorter({path: modules_at_import(path) for path in source_files()})
    try:
        order.prepare()
    except graphlib.CycleError as error:
        raise AssertionError(" -> ".join(str(p.relative_to(REPOSITORY)) for p in error.args[1])) from None


def test_no_absolute_import_of_our_own_packages() -> None:
    """`import formats` would take whatever module of that name comes first on the path."""
    wrong = []
    for path in source_files():
        where = path.relative_to(REPOSITORY)
        # A sample's script runs on its own, as a user's program would: it says `sgtool`.
        refused = {*PACKAGES, "tests"} | (set() if where.parts[0] == "sample_models" else {"sgtool"})
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            wrong += [f"{where}:{node.lineno} {name}" for name in names if name.split(".")[0] in refused]
    assert not wrong, "inside the packages imports are relative:\n" + "\n".join(wrong)
