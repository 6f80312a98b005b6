"""Numbers in texts from outside are read by one function, which refuses what `int` fails on."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.core.text.numbers import natural

OWN = {"access/passwords.py", "storage/view/snapshot/snapshot_records.py", "storage/view/snapshot/snapshots.py"}
"""Files that ask about a password, or about keys that the service made."""


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0), ("007", 7), (str(2**63 - 1), 2**63 - 1), (str(2**63), None), ("9" * 5_000, None),
        ("", None), ("-1", None), ("1.0", None), (" 1", None), ("1\n", None), ("²", None), ("٣", None),
    ],
)  # fmt: skip
def test_digits_of_at_most_64_bits_are_a_number(text, number):
    assert natural(text) == number


def test_no_other_code_asks_whether_a_text_has_digits():
    root = Path(__file__).parents[2] / "chalicelib"
    asking = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if any(word in path.read_text() for word in (".isdigit()", ".isdecimal()", ".isnumeric()"))
    }
    assert asking - {"core/text/numbers.py"} == OWN
