"""Every operation that writes, killed at each of its AWS calls: what was acknowledged is there, the rest is not."""

from __future__ import annotations

import sys
import zlib

import pytest

from chalicelib.resources.identity_providers import oidc
from chalicelib.settings import override
from tests.faults import figures, test_job_sweep, workflows
from tests.faults.crashes import MODES, crasher
from tests.faults.rewind import rewinding
from tests.faults.sweep import Sweeper

SHARE = 168
"""One of so many crash points is tried with every commit; the nightly sweep tries all."""
NAMES = sorted(
    [
        operation.id
        for operation in workflows.writing()
        if operation.id not in workflows.ELSEWHERE | workflows.OF_MEASURES
    ]
    + workflows.MORE
)


@pytest.fixture(scope="module")
def sweeper():
    given = {"allowed_origins": ["https://templates.example.org"], "notify_address": "ops@example.org"}
    with pytest.MonkeyPatch.context() as patch, override(**given, email_enabled=True):
        patch.setattr(oidc, "discover", lambda _: {})
        world = workflows.build()
        with rewinding() as undo, crasher() as hook:
            undo.mark()
            sweeper = Sweeper(world, undo, hook)
            sweeper.workflows = {workflow.name: workflow for workflow in workflows.workflows(world)}
            yield sweeper
            undo.back()


def test_every_operation_that_writes_is_swept(sweeper):
    known = {operation.id for operation in workflows.writing()}
    assert set(test_job_sweep.REQUESTS) >= workflows.ELSEWHERE
    assert known == (set(sweeper.workflows) - set(workflows.MORE)) | workflows.ELSEWHERE | workflows.OF_MEASURES
    assert set(workflows.IN_PARTS) <= set(NAMES)


@pytest.mark.slow
def test_a_sample_of_all_crash_points_leaves_everything_whole(sweeper):
    points = calls = 0
    wrong = []
    for name in NAMES:
        report = sweeper.sweep(sweeper.workflows[name], _chosen(name))
        points, calls = points + report.points, calls + report.calls
        wrong += report.wrong + sorted(report.orphans)
    assert not wrong, "\n".join(wrong)
    sys.stdout.write(f"{len(NAMES)} workflows × {points} of {calls * len(MODES)} crash points\n")
    assert points > 20


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_every_crash_point_leaves_everything_whole(sweeper, name):
    report = sweeper.sweep(sweeper.workflows[name])
    figures.note("crash points of operations", name, report.points)
    assert not report.wrong, "\n".join(report.wrong)
    assert not report.orphans, report.orphans
    assert report.points >= report.calls * len(MODES) * 0.9


def test_the_sweep_notices_a_write_in_two_steps(sweeper, monkeypatch):
    from chalicelib.storage.dynamodb.transactions import Transaction

    whole = Transaction._together

    def in_two(self, commit):
        steps, self._steps = self._steps, self._steps[:1]
        whole(self, None)
        self._steps = steps[1:]
        return whole(self, commit)

    monkeypatch.setattr(Transaction, "_together", in_two)
    report = sweeper.sweep(sweeper.workflows["CreateGroup"])
    assert any("half of it is visible" in wrong for wrong in report.wrong)


def _chosen(name):
    """The same share of a workflow's crash points every time."""
    return lambda number, mode: zlib.crc32(f"{name} {mode} {number}".encode()) % SHARE == 0
