"""Which of TensorFlow 1.15's public symbols graphcore has: `API.md`, from `api_115.txt`.

    python tests/support/api_table.py                 writes API.md anew
    python tests/support/api_table.py GOLDEN_FOLDER   also writes api_115.txt, from TensorFlow's own lists

`api_115.txt` has a symbol a line (`tf.nn.relu`); a line that ends in "." is a module.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SYMBOLS = HERE / "api_115.txt"
TABLE = HERE.parents[1] / "API.md"

_HEAD = """# TensorFlow 1.15's public symbols

What `from sgtool import graphcore as tf` has of them, by module, and why the rest is absent. An absent name
raises an AttributeError that says the same. Made by `python tests/support/api_table.py`; `tf.compat` (the
same names again), `tf.raw_ops` (see `sgtool ops`) and members of classes are not counted.

| module | present | of |
|---|---|---|
"""


def read_golden(folder: Path) -> list[str]:
    """The symbols in TensorFlow's golden files (`tensorflow.nn.pbtxt`, ...); modules end in "."."""
    found = set()
    for path in folder.glob("*.pbtxt"):
        text = path.read_text(encoding="utf-8")
        module = re.search(r'path: "tensorflow([^"]*)"\s*tf_module', text)
        if module is None or module[1].startswith((".compat", ".raw_ops")):
            continue
        for name, rest in re.findall(r'\bname: "(\w+)"\s*(mtype: "[^"]*|argspec)', text):
            if not name.startswith("_") and f"{module[1]}.{name}" not in (".compat", ".raw_ops"):
                is_module = "module" in rest
                found.add(f"tf{module[1]}.{name}{'.' if is_module else ''}")
    return sorted(found, key=str.lower)


def symbols() -> list[str]:
    return SYMBOLS.read_text(encoding="utf-8").split()


def is_present(symbol: str) -> bool:
    from sgtool import graphcore

    value: object = graphcore
    for name in symbol.split(".")[1:]:
        try:
            value = getattr(value, name)
        except AttributeError:
            return False
    return True


def absent_by_reason() -> dict[str, list[str]]:
    """The absent symbols of each reason; those without one under ""."""
    from sgtool.graphcore import not_yet

    found: dict[str, list[str]] = {}
    for symbol in symbols():
        if not symbol.endswith(".") and not is_present(symbol):
            found.setdefault(not_yet.reason(symbol) or "", []).append(symbol)
    return found


def table() -> str:
    """The text of API.md."""
    rows: dict[str, list[bool]] = {}
    for symbol in symbols():
        if not symbol.endswith("."):
            rows.setdefault(symbol.rpartition(".")[0], []).append(is_present(symbol))
    lines = [f"| `{module}` | {sum(flags)} | {len(flags)} |" for module, flags in sorted(rows.items())]
    total = [flag for flags in rows.values() for flag in flags]
    lines.append(f"| all | {sum(total)} | {len(total)} |")
    text = _HEAD + "\n".join(lines) + "\n\n## Absent, and why\n"
    for why, names in sorted(absent_by_reason().items()):
        text += f"\n- {why}  \n  {_names(names)}\n"
    return text


def _names(names: list[str]) -> str:
    """The names, those of a module together."""
    modules: dict[str, list[str]] = {}
    for name in names:
        module, _, leaf = name.rpartition(".")
        modules.setdefault(module, []).append(leaf)
    return "; ".join(f"`{module}`: {', '.join(leaves)}" for module, leaves in modules.items())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        SYMBOLS.write_text("\n".join(read_golden(Path(sys.argv[1]))) + "\n", encoding="utf-8")
    TABLE.write_text(table(), encoding="utf-8")
