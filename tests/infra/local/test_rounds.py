"""One round of work serves all that wait for it, and a round that fails fails nobody else."""

import threading

import pytest

from infra.local.sqlite.rounds import Rounds

WAIT = 60


class Work:
    """Rounds that the test lets end."""

    def __init__(self):
        self.number, self.begun, self.may_end = 0, threading.Semaphore(0), threading.Semaphore(0)
        self.rounds = []

    def __call__(self):
        reached = self.number
        self.rounds.append(reached)
        self.begun.release()
        assert self.may_end.acquire(timeout=WAIT)
        return reached


def wait(rounds, number):
    thread = threading.Thread(target=rounds.wait_for, args=(number,), daemon=True)
    thread.start()
    return thread


def until(condition):
    event = threading.Event()
    for _ in range(WAIT * 100):
        if condition():
            return
        event.wait(0.01)
    raise AssertionError


def test_the_next_round_serves_all_that_came_during_one():
    work = Work()
    rounds = Rounds(work)
    work.number = 1
    threads = [wait(rounds, 1)]
    assert work.begun.acquire(timeout=WAIT)
    for number in range(2, 8):
        work.number = number
        threads.append(wait(rounds, number))
    until(lambda: len(rounds._waiting) == 6)
    work.may_end.release(2)
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive()
    assert work.rounds == [1, 7]
    rounds.wait_for(7)
    assert len(work.rounds) == 2


def test_who_came_too_late_for_a_round_waits_for_the_next():
    work = Work()
    rounds = Rounds(work)
    work.number = 1
    first = wait(rounds, 1)
    assert work.begun.acquire(timeout=WAIT)
    work.number = 2
    second = wait(rounds, 2)
    until(lambda: rounds._waiting)
    work.may_end.release()
    first.join(WAIT)
    assert work.begun.acquire(timeout=WAIT)
    assert second.is_alive()
    work.may_end.release()
    second.join(WAIT)
    assert work.rounds == [1, 2]


def test_a_round_that_fails_is_tried_by_the_next_that_waits():
    results = []

    def work():
        results.append(len(results))
        if len(results) == 1:
            assert entered.wait(WAIT)
            raise OSError
        return 2

    entered, failed = threading.Event(), []
    rounds = Rounds(work)

    def fail():
        with pytest.raises(OSError):  # noqa: PT011 -- it has no message
            rounds.wait_for(1)
        failed.append(1)

    first = threading.Thread(target=fail)
    first.start()
    until(lambda: results)
    second = wait(rounds, 2)
    until(lambda: rounds._waiting)
    entered.set()
    first.join(WAIT)
    second.join(WAIT)
    assert failed == [1]
    assert results == [0, 1]
    rounds.wait_for(2)


def test_many_threads_are_all_served():
    lock, made, rounds_of = threading.Lock(), [0], []

    def work():
        with lock:
            rounds_of.append(made[0])
            return made[0]

    rounds = Rounds(work)

    def run():
        for _ in range(50):
            with lock:
                made[0] += 1
                mine = made[0]
            rounds.wait_for(mine)
            assert rounds._reached >= mine

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert made == [400]
    assert rounds._reached == 400
    assert rounds_of == sorted(rounds_of)
