"""The labels and paths of leaves."""

from __future__ import annotations

import pytest

from chalicelib.errors import BadInput
from chalicelib.resources.leaves import hierarchy


@pytest.mark.parametrize(
    ("name", "label"), [("a b", "a_b"), ("A-(b)", "A__b_"), ("Ätna_1", "Ätna_1"), ("two.levels", "two.levels")]
)
def test_blanks_hyphens_and_parentheses_become_underscores(name, label):
    assert hierarchy.path("P", name) == f"P.{label}"


@pytest.mark.parametrize("name", ["a/b", "a..b", ".a", "a.", "a,b", "a\n", "*"])
def test_what_a_path_cannot_hold_is_refused_by_name(name):
    with pytest.raises(BadInput, match="name: "):
        hierarchy.label(name)


def test_a_project_is_one_label_whatever_its_name():
    assert hierarchy.root("My Project v1.2 (new)") == "My_Project_v1_2__new_"
