from __future__ import annotations

from types import SimpleNamespace

import pytest

from chalicelib.core.time import retry
from chalicelib.core.time.retry import Retry


@pytest.fixture
def pauses(monkeypatch):
    """The pauses of a policy, with the longest random part each."""
    found = []
    monkeypatch.setattr(retry, "time", SimpleNamespace(sleep=found.append))
    monkeypatch.setattr(retry.random, "random", lambda: 1.0)
    return found


def test_pauses_double_up_to_the_longest(pauses):
    assert list(Retry(most=5, first=1, longest=3).attempts()) == [0, 1, 2, 3, 4]
    assert pauses == [1, 2, 3, 3]


def test_the_first_attempt_needs_no_pause(pauses):
    assert Retry(most=5, first=1, longest=3).call(lambda: 7, ValueError) == 7
    assert pauses == []


def test_the_error_of_the_last_attempt_passes(pauses):
    calls = []

    def fail():
        calls.append(len(calls))
        raise ValueError(calls[-1])

    with pytest.raises(ValueError, match="2"):
        Retry(most=3, first=1, longest=3).call(fail, ValueError)
    assert len(pauses) == 2


def test_other_errors_are_not_repeated(pauses):
    with pytest.raises(KeyError):
        Retry(most=3, first=1, longest=3).call(lambda: {}["x"], ValueError)
    assert pauses == []
