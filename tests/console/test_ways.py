"""Each operation is somewhere in the console, or there is a reason."""

from __future__ import annotations

from pathlib import Path

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.api.console import FOLDER
from infra import console_ways

CALLERS = console_ways.callers(OPERATIONS)
REASONED = [name for names in console_ways.REASONS.values() for name in names]


def test_each_operation_is_called_by_a_module_or_has_a_reason():
    missing = [each.id for each in OPERATIONS if each.id not in CALLERS and each.id not in REASONED]
    assert missing == [], "call them in a module of the console, or name them in REASONS of infra/console_ways.py"


def test_reasons_are_for_operations_that_exist_and_are_not_called():
    declared = {each.id for each in OPERATIONS}
    assert sorted(set(REASONED) - declared) == []
    assert sorted(set(REASONED) & CALLERS.keys()) == []
    assert len(REASONED) == len(set(REASONED))


def test_each_module_that_calls_has_a_place_and_each_place_a_module():
    calling = {module for modules in CALLERS.values() for module in modules}
    assert sorted(module for module in calling if console_ways.place(module) is None) == []
    unused = [start for start in console_ways.PLACES if not any(module.startswith(start) for module in calling)]
    assert unused == []


def test_words_that_are_put_into_paths_stand_in_the_console():
    texts = [(FOLDER / module).read_text() for module in console_ways.modules()]
    for name, words in console_ways.FILLED.items():
        assert name.split()[0] in console_ways.modules()
        lacking = [word for word in words if not any(f'"{word}' in text or f"`{word}" in text for text in texts)]
        assert lacking == [], name


def test_calls_are_found_by_method_and_path():
    assert "views/profile.js" in CALLERS["DeleteToken"]
    assert "views/manage_types.js" in CALLERS["DeleteLeafType"]
    assert "draw/sync.js" in CALLERS["CreateStateList"]
    assert "GetMediaStats" not in CALLERS


def test_the_page_is_that_of_the_modules():
    page = Path(__file__).parents[2] / "docs" / "console-operations.md"
    assert page.read_text() == console_ways.page(OPERATIONS), "make docs writes it anew"
