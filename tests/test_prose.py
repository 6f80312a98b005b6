"""The style of the project: names of functions, the length of files and folders."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
SOURCES = ("chalicelib", "functions", "infra")
ACTING = ("access", "maintenance", "queues", "resources", "storage")
"""The layers below `chalicelib` whose functions reach storage."""
_IRREGULAR = (
    "told made kept sent built left lost found held begun done gone given taken known shown drawn written chosen"
)
_NOUNS = "feed ping seed need embed missing nothing everything anything string"
_PREPOSITIONS = "at by for from in of on to up with"


def is_participle(name: str) -> bool:
    """Whether a function's name is a participle alone or with a preposition: `edited`, `looked_at`."""
    first, *others = name.strip("_").split("_")
    if first in _NOUNS.split() or (others and others[-1] not in _PREPOSITIONS.split()):
        return False
    return first in _IRREGULAR.split() or first.endswith(("ed", "ing"))


def is_context(function: ast.FunctionDef) -> bool:
    """Whether a function is a property or a context manager, whose names are read as adjectives."""
    told = [*function.decorator_list, *([function.returns] if function.returns else [])]
    return any(re.search("property|setter|contextmanager|ContextManager", ast.unparse(each)) for each in told)


@pytest.mark.parametrize(
    ("name", "participle"),
    [("edited", True), ("looked_at", True), ("_told", True), ("edit", False), ("stored_files", False), ("feed", False)],
)
def test_participles_are_known(name, participle):
    assert is_participle(name) is participle


def test_functions_that_reach_storage_are_verbs_or_nouns():
    found = [
        f"{path.relative_to(TOP)}:{node.lineno} {node.name}"
        for layer in ACTING
        for path in sorted((TOP / "chalicelib" / layer).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and is_participle(node.name) and not is_context(node)
    ]
    assert found == [], "name what it does (edit, find_ids) or what it gives (entries_of)"


def test_a_file_of_code_has_400_lines_at_most():
    files = [
        path
        for folder in (*SOURCES, "tests")
        for path in (TOP / folder).rglob("*")
        if path.suffix in (".py", ".js") and "vendor" not in path.parts
    ]
    lengths = {str(path.relative_to(TOP)): path.read_text().count("\n") for path in files}
    assert [name for name, lines in lengths.items() if lines > 400] == [], "split it by meaning, or shorten it"


def test_a_folder_of_source_has_14_modules_at_most():
    paths = [path for folder in SOURCES for path in (TOP / folder).rglob("*.py")]
    numbers = Counter(str(path.parent.relative_to(TOP)) for path in paths if not path.stem.startswith("__"))
    assert {folder: number for folder, number in numbers.items() if number > 14} == {}, "make a sub-package by meaning"
