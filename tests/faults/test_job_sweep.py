"""Launches, deletions, and the schedule and events of jobs, killed at each call to AWS or to the engine: every run is
handed over once, what was deleted is ended, and nothing stays behind.
"""

from __future__ import annotations

import zlib
from collections import Counter
from datetime import timedelta

import pytest

from chalicelib.resources.annotators import service as annotators_service
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.jobs import cleanup, status_sync
from chalicelib.resources.jobs import service as jobs_service
from chalicelib.settings import settings
from tests.faults import figures
from tests.faults.crashes import crasher, points
from tests.faults.job_rig import A_JOB, MEDIA, JobRig, OnBatch, OnCluster
from tests.faults.rewind import rewinding

SHARE = 90
ENGINES = {"cluster": OnCluster, "batch": OnBatch}
RUNS = len(MEDIA) // A_JOB


def nothing(_):
    """A flow that begins with nothing."""


def launched(rig):
    assert rig.launch().status == 201


def finished(rig):
    launched(rig)
    rig.engine.finish()


def half_launched(rig):
    """Stored, and the process died before an engine heard of it."""
    rig.killed_after(rig.launch, lambda calls: calls.index("dynamodb.TransactWriteItems", calls.index("s3.PutObject")))


def half_deleted(rig):
    """One of them marked, and the process died before its engine heard of it."""
    launched(rig)
    rig.killed_after(rig.delete, lambda calls: next(n for n, call in enumerate(calls) if call in WRITES))


def old(rig):
    finished(rig)
    rig.schedule()
    rig.age()


WRITES = ("dynamodb.TransactWriteItems", "dynamodb.PutItem", "dynamodb.UpdateItem")
REQUESTS = {
    "CreateJobList": (nothing, lambda rig: rig.launch()),
    "AlgorithmLaunch": (nothing, lambda rig: rig.launch("AlgorithmLaunch")),
    "Annotate": (nothing, lambda rig: rig.annotate()),
    "Embed": (nothing, lambda rig: rig.embed()),
    "DeleteJobList": (launched, lambda rig: rig.delete()),
    "UpdateJob": (launched, lambda rig: rig.report()),
}
"""Flows of requests: where they begin, and what is asked."""
TURNS = {
    "running jobs": (launched, JobRig.schedule),
    "finished jobs": (finished, JobRig.schedule),
    "jobs that were stored and not handed over": (half_launched, JobRig.schedule),
    "jobs that were marked and not ended": (half_deleted, JobRig.schedule),
    "old jobs": (old, JobRig.schedule),
    "events of finished jobs": (finished, JobRig.event),
}
"""Flows of the jobs function."""
FLOWS = [*REQUESTS, *TURNS]


@pytest.fixture(scope="module", params=ENGINES)
def rig(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for module in (jobs_service, cleanup, status_sync):
            patch.setattr(module, "_THREADS", 1)  # so that a call has one place in their order
        patch.setattr(annotators_service, "FILES_PER_JOB", A_JOB)
        patch.setattr(object_cleanup, "GRACE", timedelta(seconds=-1))  # what is left is looked at at once
        with rewinding() as undo, crasher() as hook:
            undo.mark()
            engine = ENGINES[request.param](tmp_path_factory.mktemp("engine"), hook, patch)
            yield JobRig(undo, hook, engine)
            undo.back()
            engine.close()
    settings.cache_clear()


def sweep(rig, flow, chosen=lambda number, mode: True):
    """The chosen crash points of a flow: how many were tried, how many there are, what was wrong."""
    begin, do = (REQUESTS | TURNS)[flow]
    rig.engine.put_back({})
    with rig.undo.within():
        rig.prepare(begin)
        rig.hook.arm()
        do(rig)
        calls = list(rig.hook.calls)
        rig.settle()
        wanted = rig.seen()
        tried, wrong = 0, [f"{flow} without a crash: {each}" for each in rig.problems()]
        wanted_points = points(calls)
        for number, mode in wanted_points:
            if not chosen(number, mode):
                continue
            rig.back()
            told = list(
                _request(rig, do, flow, number, mode) if flow in REQUESTS else _turn(rig, do, wanted, number, mode)
            )
            tried += bool(rig.hook.fired)
            wrong += [f"{flow}: {mode} call {number}, {calls[number - 1]}: {each}" for each in told]
    return tried, len(wanted_points), wrong


def _request(rig, do, flow, number, mode):
    """Die in a request; see what is there; ask again; let the schedule come."""
    said = rig.killed(lambda: do(rig), number, mode)
    again = said is None or said.status >= 300
    if said is not None and said.status >= 500 and said.status != 503:
        yield f"answered {said.status} {said.body[:200]!r}"
    yield from CHECKS.get(flow, _launched)(rig, do, said, again=again)


def _deleted(rig, do, _, *, again):
    after = do(rig) if again else None
    if after and after.status != 200:
        yield f"asked again it answered {after.status}"
    if rig.owner.get(f"Jobs/{rig.project}").json:
        yield "what was deleted is still to be seen"
    rig.settle()
    if rig.runs() or rig.files() or +rig.engine.running():
        yield f"something is left: {rig.runs()}, {rig.files()}, {rig.engine.running()}"


def _reported(rig, do, _, *, again):
    after = do(rig) if again else None
    if after and after.status != 200:
        yield f"asked again it answered {after.status}"
    if sum(run.progress is not None for run in rig.runs()) != 1:
        yield f"the progress is not kept: {rig.runs()}"
    rig.settle()
    yield from rig.problems()


def _launched(rig, do, said, *, again):
    """Asked again, a launch that was not answered is another one; what was stored of the first goes on."""
    groups = Counter(run.gid for run in rig.runs())
    if set(groups.values()) - {RUNS}:
        yield f"a part of a launch is there: {groups}"
    if not again and list(groups) != [said.json["gid"]]:
        yield f"answered with {said.json['gid']}, and there are {groups}"
    if again and do(rig).status != 201:
        yield "asked again it was refused"
    rig.settle()
    yield from rig.problems()
    groups = Counter(run.gid for run in rig.runs())
    if set(groups.values()) != {RUNS} or len(groups) > 1 + again:
        yield f"{groups} after all"
    running = rig.engine.running()
    if set(running.values()) != {1 if do is REQUESTS["Embed"][1] else rig.engine.per_run}:
        yield f"the engine runs {running}"


CHECKS = {"DeleteJobList": _deleted, "UpdateJob": _reported}
"""Of requests that launch nothing."""


def _turn(rig, do, wanted, number, mode):
    """Die in the jobs function; let it come again."""
    rig.killed(lambda: _bravely(rig, do), number, mode)
    rig.settle()
    yield from rig.problems()
    if rig.seen() != wanted:
        yield f"not as without: {rig.seen()} instead of {wanted}"


def _bravely(rig, do):
    """What a function raises, Lambda notes; the schedule comes again."""
    try:
        do(rig)
    except Exception:  # noqa: BLE001
        return


def flows_of(rig):
    """Those of an engine: embedders are asked by jobs of ours, which run on Batch."""
    return [flow for flow in FLOWS if not flow.startswith(("events", "Embed")) or rig.engine.name == "batch"]


@pytest.mark.slow
def test_a_sample_of_all_crash_points_of_jobs_leaves_everything_whole(rig):
    tried, wrong = 0, []
    for flow in flows_of(rig):
        more, _, told = sweep(rig, flow, lambda number, mode, flow=flow: _chosen(f"{flow} {mode} {number}"))
        tried, wrong = tried + more, wrong + told
    assert not wrong, "\n".join(wrong)
    assert tried > 1


@pytest.mark.nightly
@pytest.mark.parametrize("flow", FLOWS)
def test_every_crash_point_of_jobs_leaves_everything_whole(rig, flow):
    if flow not in flows_of(rig):
        pytest.skip("job clusters send no events, and run algorithms alone")
    tried, there, wrong = sweep(rig, flow)
    figures.note("crash points of jobs", f"{flow} on {rig.engine.name}", tried)
    assert not wrong, "\n".join(wrong)
    assert tried >= there * 0.8


def _chosen(text):
    return zlib.crc32(text.encode()) % SHARE == 0
