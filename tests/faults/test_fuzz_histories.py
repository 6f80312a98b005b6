"""Made-up requests that follow one another: see `fuzz_machine`. A few with every commit, many at night."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.faults import figures
from tests.faults.fuzz_ground import HARD, Figures, Ground
from tests.faults.fuzz_machine import Machine, Successes
from tests.faults.fuzz_requests import DECLARED
from tests.faults.rewind import rewinding


@pytest.fixture(scope="module")
def ground():
    with rewinding() as undo:
        ground = Ground(undo)
        try:
            yield ground
        finally:
            ground.close()


def fuzz(ground, number, examples, steps, kind=Machine):
    """Run histories; their figures."""
    machine = seed(number)(type("Histories", (kind,), {"ground": ground}))
    bounds = settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        print_blob=False,
    )
    run_state_machine_as_test(machine, settings=bounds)
    return ground.figures


@pytest.mark.slow
def test_every_operation_succeeds_where_a_history_begins_unless_it_is_said_why_not(ground):
    ground.figures = Figures()
    machine = type("Histories", (Successes,), {"ground": ground})()
    statuses = {name: machine.succeed_in(name) for name in ground.good if name in DECLARED}
    assert {name for name, status in statuses.items() if status >= 400} == set(HARD)


@pytest.mark.slow
def test_a_few_made_up_histories_keep_every_promise(ground):
    done = fuzz(ground, 1, 3, 25)
    made = {name for name, _, status in done.ways if status == 201}
    assert len(made) > 10
    assert done.requests.total() > 100


@pytest.mark.nightly
def test_nearly_every_operation_succeeds_in_a_history(ground):
    ground.figures = Figures()
    done = fuzz(ground, 11, 12, 40, Successes)
    succeeded = {name for name, _, status in done.ways if status < 400}
    assert len(succeeded) >= 220, ground.unanswered()
    figures.note("operations answered with success in one run of histories", "seed 11", len(succeeded))


@pytest.mark.slow
def test_a_history_notices_who_is_let_in_and_may_not(ground, monkeypatch):
    monkeypatch.setitem(ground.actors, "stranger", ground.actors["owner"])
    with pytest.raises(AssertionError):
        fuzz(ground, 1, 5, 20)


@pytest.mark.slow
def test_a_history_notices_a_refusal_that_changed_something(ground, monkeypatch):
    monkeypatch.setattr(Ground, "changed", lambda _: ["something"])
    with pytest.raises(AssertionError, match="something"):
        fuzz(ground, 1, 5, 20)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(2, 10))
def test_made_up_histories_keep_every_promise(ground, number):
    ground.figures = Figures()
    done = fuzz(ground, number, 60, 50)
    for name, asked in done.requests.items():
        figures.note("requests fuzzed in histories", name, asked)
    figures.note("states reached in histories", f"seed {number}", len(done.states))
    figures.note("ways through operations in histories: who, and which status", f"seed {number}", len(done.ways))
