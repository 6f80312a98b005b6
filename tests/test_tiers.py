"""The tiers of tests: `make test`, `make test-slow` and `make nightly` run each test once, and most tests are quick."""

from __future__ import annotations

import ast
import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
SLICES = sorted(path for path in (TOP / "tests" / "resources").iterdir() if list(path.glob("test_*.py")))
MARKS = ("slow", "nightly", "browser")


def selections(target: str) -> set[str]:
    """The expressions of marks by which a target of the Makefile selects tests of all folders."""
    shown = subprocess.run(["make", "-n", target], cwd=TOP, capture_output=True, text=True, check=True).stdout
    runs = [line for line in shown.replace("\\\n", " ").splitlines() if " -m pytest " in line]
    return {found for line in runs if "profile=night" not in line for found in re.findall(r'-m "([^"]+)"', line)}


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_each_test_is_run_by_one_target():
    targets = {target: selections(target) for target in ("test", "test-slow", "nightly")}
    for has in itertools.product((False, True), repeat=len(MARKS)):
        marks = dict(zip(MARKS, has, strict=True))
        found = [(target, each) for target, given in targets.items() for each in given if eval(each, {}, dict(marks))]
        assert len(found) == 1, (marks, found)


def test_what_ci_runs_are_targets_that_a_contributor_can_run():
    called = re.findall(r"^make (\S+)", (TOP / ".ci" / "run").read_text(), re.MULTILINE)
    assert called == ["check", "test", "test-slow", "nightly"]
    assert set(called) <= set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.MULTILINE))


def is_slow(function: ast.FunctionDef, module: ast.Module) -> bool:
    """Whether all cases of a test have a mark that `make test` leaves out."""
    of_module = [node for node in module.body if isinstance(node, ast.Assign)]
    marks = [ast.unparse(each) for each in function.decorator_list]
    marks += [ast.unparse(node.value) for node in of_module if ast.unparse(node.targets[0]) == "pytestmark"]
    return any(re.search(r"^\[?pytest\.mark\.(slow|nightly)\b", each) for each in marks)


@pytest.mark.parametrize("folder", SLICES, ids=lambda path: path.name)
def test_most_tests_of_a_slice_are_quick(folder):
    tests = [
        is_slow(node, module)
        for module in (ast.parse(path.read_text()) for path in folder.glob("test_*.py"))
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert sum(tests) < len(tests) / 2, "a rule has a quick test of its main path"
