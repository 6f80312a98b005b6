"""Every kind of record has a limit of number, refuses one more by name, and is listed on the page of limits."""

from __future__ import annotations

import pathlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from unittest import mock

import msgspec
import pytest

from chalicelib.core.models.personal import FAVORITE
from chalicelib.core.record_limits import LIMITS, Elsewhere
from chalicelib.core.records import KINDS, RecordKind
from chalicelib.errors import BadInput
from chalicelib.resources.identity_providers import oidc
from chalicelib.resources.jobs.runs import RUN
from chalicelib.settings import override
from chalicelib.storage.dynamodb import limits, records
from tests.contract.world import _minimal
from tests.faults import workflows

CREATED_BY = {
    "accesstoken": ["CreateAccessToken"],
    "affiliation": ["CreateAffiliation", "AcceptInvitation"],
    "algorithm": ["RegisterAlgorithm"],
    "analysis": ["CreateAnalysis"],
    "annotator": ["CreateAnnotator"],
    "applet": ["RegisterApplet"],
    "bookmark": ["CreateBookmark"],
    "bucket": ["CreateBucket"],
    "bucket_source": ["CreateBucketSource"],
    "comment": ["CreateComment"],
    "dataset": ["CreateDataset"],
    "export": ["CreateExport"],
    "favorite": ["CreateFavorite"],
    "group": ["CreateGroup"],
    "honeypotset": ["CreateTaskList"],
    "hostedtemplate": ["CreateHostedTemplate"],
    "import": ["CreateImport"],
    "invitation": ["CreateInvitation"],
    "job": ["Transcode"],
    "identityprovider": ["CreateIdentityProvider"],
    "jobcluster": ["CreateJobCluster"],
    "membership": ["CreateMembership", "CreateProject"],
    "organization": ["CreateOrganization"],
    "project": ["CreateProject"],
    "quality_report": ["CreateQualityReport"],
    "consensus_layer": ["CreateConsensusLayer"],
    "rowprotection": ["CreateRowProtection"],
    "run": [],  # made below: a launch needs a cluster that answers
    "section": ["CreateSection"],
    "erasure": ["CreateErasure"],
    "share_link": ["CreateShareLink"],
    "task": ["CreateTaskList"],
    "temporary_file": ["CreateTemporaryFile"],
    "triggerrule": ["CreateTriggerRule"],
    "version": ["CreateVersion"],
    "webhook": ["CreateWebhook", "CreateOrganizationWebhook"],
}
"""The operations that create each kind of record that has a limit of number."""


@pytest.fixture(scope="module")
def ground():
    origins = ["https://templates.example.org"]
    with pytest.MonkeyPatch.context() as patch, override(allowed_origins=origins):
        patch.setattr(oidc, "discover", lambda _: {})
        world = workflows.build()
        yield world, {each.name: each for each in workflows.workflows(world)}


def full(kind):
    return mock.patch.dict(LIMITS, {kind: tuple(replace(each, number=0) for each in LIMITS[kind])})


def test_every_kind_of_record_has_a_line():
    assert set(KINDS) == set(LIMITS)
    with pytest.raises(AssertionError, match="record_limits"):
        RecordKind(name="new", struct=RUN.struct, title="Unheard")


def test_every_kind_with_a_number_is_tried():
    assert {kind for kind, said in LIMITS.items() if not isinstance(said, Elsewhere)} == set(CREATED_BY)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CREATED_BY)
def test_one_more_is_refused_by_name(ground, kind):
    """With no room at all, every operation that creates one says so; that it succeeds otherwise, the sweep shows."""
    world, known = ground
    for name in CREATED_BY[kind]:
        with full(kind):
            said = known[name].ask(world.owner)
        assert (said.status, "may have at most 0" in said.message) == (400, True), (name, said.body)
    if not CREATED_BY[kind]:
        with full(kind), pytest.raises(BadInput, match="A project may have at most 0 jobs"):
            _minimal(RUN, world.things)


@pytest.mark.slow
def test_records_that_grow_to_a_hundred_megabytes_are_refused(ground, monkeypatch):
    world, _ = ground
    project, kind = world.things["project"], world.things["localization_type"]
    monkeypatch.setattr(limits, "MEGABYTES", 1)
    monkeypatch.setattr(limits, "_TRUSTED_SECONDS", 0)
    favorite = {"name": "f", "entity_type_name": "Localization", "type": kind, "values": {"a": "x" * 99_000}}
    answers = [world.owner.post(f"Favorites/{project}", favorite) for _ in range(24)]
    assert {said.status for said in answers} == {201, 400}
    refused = next(said for said in answers if said.status == 400)
    assert "The favorites of one user in a project may take 1 MB together." in refused.message


def test_a_count_serves_for_some_creations_far_from_the_limit_only(ground, monkeypatch):
    world, known = ground
    counted = []
    count = limits._count
    monkeypatch.setattr(limits, "_counts", {})
    monkeypatch.setattr(limits, "_count", lambda *place: counted.append(place) or count(*place))
    for _ in range(3):
        assert known["CreateBookmark"].ask(world.owner).status == 201
    assert len(counted) == 1
    monkeypatch.setitem(LIMITS, "bookmark", tuple(replace(each, number=400) for each in LIMITS["bookmark"]))
    for _ in range(3):
        assert known["CreateBookmark"].ask(world.owner).status == 201
    assert len(counted) == 4


def test_creations_at_the_same_time_near_a_limit_count_little_more_than_once_each(ground, monkeypatch):
    world, known = ground
    count, counted = limits._count, []

    def counts_slowly(place, enough):
        counted.append(place)
        found = count(place, enough)
        time.sleep(0.02)
        return found

    monkeypatch.setattr(limits, "_count", counts_slowly)
    monkeypatch.setitem(LIMITS, "bookmark", tuple(replace(each, number=400) for each in LIMITS["bookmark"]))
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: known["CreateBookmark"].ask(world.owner), range(40)))
    assert {each.status for each in said} == {201}
    assert len(counted) <= 100, "each loses once or twice, and not against all others"


def test_a_record_that_the_service_owes_is_stored_though_there_is_no_room(ground):
    world, _ = ground
    change = limits.Transaction()
    record = records.get(RUN, _minimal(RUN, world.things))
    with full("run"):
        records.add(change, RUN, record, is_owed=True)
        with pytest.raises(limits.Full):
            records.add(change, RUN, record)


def test_records_of_work_grow_though_all_of_their_kind_take_as_much_as_they_may(ground, monkeypatch):
    """The job was accepted, and its steps are noted in it: refused, it would never end."""
    world, known = ground
    run = records.get(RUN, _minimal(RUN, world.things))
    favorite = known["CreateFavorite"].ask(world.owner).json["id"]
    monkeypatch.setattr(limits, "MEGABYTES", -1)
    long = "x" * 5_000
    assert records.edit(RUN, run.uid, lambda found: msgspec.structs.replace(found, message=long)).message == long
    with pytest.raises(limits.Full):
        records.edit(FAVORITE, favorite, lambda found: msgspec.structs.replace(found, values={"a": long}))


def test_organizations_that_a_user_makes_at_the_same_time_are_all_made(ground, monkeypatch):
    world, _ = ground
    count, others, said = limits._count, ["made while the other counts"], []

    def counted(place, enough):
        found = count(place, enough)
        if place[1] == "link|organization|" and others:
            said.append(world.owner.post("Organizations", {"name": others.pop()}))
        return found

    monkeypatch.setattr(limits, "_count", counted)
    said.append(world.owner.post("Organizations", {"name": "counts"}))
    assert [each.status for each in said] == [201, 201], said[-1].body


def test_the_page_of_limits_has_every_number():
    page = pathlib.Path("docs/limits.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("|")]
    for kind in KINDS.values():
        numbers = [f"{each.number:,}" for each in kind.limits]
        if numbers:
            assert any(kind.plural in row and all(number in row for number in numbers) for row in rows), kind.name
