"""The time limit of requests: statements are interrupted at its end, by one thread of the process."""

from __future__ import annotations

import threading

import pytest

from chalicelib.core.time.deadline import interrupting, time_limit
from chalicelib.errors import Unavailable

SECONDS = 10
"""More than any interrupt takes."""
SOON = 0.5
"""Seconds of a limit that is reached after its blocks have begun, also on a busy machine."""


@pytest.mark.slow
def test_a_block_is_interrupted_at_the_limit_and_again_until_it_is_left():
    calls = threading.Semaphore(0)
    with time_limit(SOON), interrupting(calls.release):
        assert calls.acquire(timeout=SECONDS)
        assert calls.acquire(timeout=SECONDS)


@pytest.mark.slow
def test_a_block_that_was_left_is_not_interrupted():
    late, other = threading.Event(), threading.Event()
    with time_limit(SOON):
        with interrupting(late.set):
            pass
        with interrupting(other.set):
            assert other.wait(SECONDS)
    assert not late.is_set()


@pytest.mark.slow
def test_an_earlier_limit_is_reached_while_a_later_one_is_waited_for():
    late, early = threading.Event(), threading.Event()
    with time_limit(SECONDS * 10), interrupting(late.set), time_limit(SOON), interrupting(early.set):
        assert early.wait(SECONDS)
    assert not late.is_set()


def test_one_thread_watches_all_blocks():
    with time_limit(SECONDS):
        for _ in range(50):
            with interrupting(lambda: None), interrupting(lambda: None):
                assert sum(thread.name == "deadline" for thread in threading.enumerate()) == 1


@pytest.mark.slow
def test_an_interrupt_that_fails_keeps_no_other_from_its_limit():
    reached = threading.Event()

    def fail():
        raise RuntimeError("closed")

    with time_limit(SOON), interrupting(fail), interrupting(reached.set):
        assert reached.wait(SECONDS)


def test_no_block_begins_after_the_limit():
    with pytest.raises(Unavailable), time_limit(-1), interrupting(lambda: None):
        raise AssertionError("it began")


def test_outside_of_a_request_there_is_no_limit():
    with interrupting(lambda: pytest.fail("interrupted")):
        pass
