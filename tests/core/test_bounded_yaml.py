"""YAML of callers: what would end the process, or take minutes or gigabytes, is refused before it is composed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

from chalicelib.core.text import bounded_yaml

ROOT = Path(__file__).parents[2]
MERGED = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 20))
TWICE = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, <<: *a{n - 1}}}\n" for n in range(1, 60))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: " + "[" * 200_000, "nested"),
        ("a: " + "{a: " * 100_000, "nested"),
        ("- " * 100_000, "nested"),
        ("? " * 100_000, "nested"),
        (MERGED, "200,000 members"),
        (TWICE, "200,000 members"),
        ("a: " + ":".join(["59"] * 100_000), "200 characters"),
        ("a: " + ":".join(["59"] * 100_000) + ".5", "200 characters"),
    ],
)
def test_what_would_not_end_is_refused(text, reason):
    with pytest.raises(yaml.YAMLError, match=reason):
        bounded_yaml.load(text)


def test_levels_are_counted():
    with pytest.raises(yaml.YAMLError, match="nested"):
        bounded_yaml.load("a: " + "[" * 61 + "]" * 61)


def test_merges_are_counted():
    text = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 7))
    with pytest.raises(yaml.YAMLError, match="members"):
        bounded_yaml.load(text)


def test_merges_aliases_and_numbers_of_base_60_are_read_as_the_library_reads_them():
    text = "a: &a {k: 1, l: [1, 2]}\nb: {<<: *a, k: 2}\nc: 1:30\nd: *a\ne: '" + "1:" * 200 + "'\n"
    assert bounded_yaml.load(text) == yaml.safe_load(text)
    with pytest.raises(yaml.YAMLError, match="aliases"):
        bounded_yaml.load(text, has_aliases=False)


def test_nothing_else_loads_yaml():
    readers = {"load", "safe_load", "load_all", "safe_load_all", "compose", "scan", "parse", "full_load"}
    found = {
        path.name
        for folder in ("chalicelib", "functions")
        for path in (ROOT / folder).rglob("*.py")
        if "yaml." in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in readers and ast.unparse(node.value) == "yaml"
    }
    assert found == {"bounded_yaml.py"}
