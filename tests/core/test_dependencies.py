"""What the functions import is in `requirements.txt`: what only a developer has is missing on AWS."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OWN = {"app", "chalicelib", "functions"}


def imports(path):
    """The top-level names that a file imports, within functions too; what only type checks need is left out."""
    tree = ast.parse(path.read_text())
    checked = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in checked:
            continue
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.slow
def test_each_import_of_the_functions_is_of_a_locked_package():
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    found = packages_distributions()
    files = [ROOT / "app.py", *(ROOT / "chalicelib").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for name in set(imports(path)) - OWN - sys.stdlib_module_names
        if not {each.lower().replace("_", "-") for each in found.get(name, ())} & locked
    }
    assert missing == set()


def test_an_import_within_a_function_counts_and_one_for_types_does_not(tmp_path):
    file = tmp_path / "one.py"
    file.write_text(
        "if TYPE_CHECKING:\n    import one\ndef work():\n    import two.three\n    from four.five import six\n"
    )
    assert set(imports(file)) == {"two", "four"}
