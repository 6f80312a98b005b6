"""Records: what is unique stays unique, what is written together is there together."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext

import msgspec
import pytest
from botocore.client import BaseClient

from chalicelib.core.models.accounts import MEMBERSHIP, ORGANIZATION, PROJECT, Membership, Organization
from chalicelib.core.models.definitions import VERSION
from chalicelib.errors import BadInput, Conflict, NotFound
from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import ProjectSpec
from chalicelib.resources.tasks.schemas import HOLDER, TASK, Task
from chalicelib.storage.dynamodb import ahead, ids, record_rows, records
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.log import log


@pytest.fixture
def organization() -> int:
    made = Organization(id=ids.reserve("organization")[0], name=f"records {uuid.uuid4()}")
    return records.create(ORGANIZATION, made).id


def make(organization: int, name: str = "reef"):
    return projects_service.create_project(ProjectSpec(name=name, organization=organization), 7, "No Access")


def test_a_record_is_found_by_its_id_its_parent_and_its_links(organization):
    project = make(organization)
    member = records.list_children(MEMBERSHIP, project.id)[0]
    assert records.get(MEMBERSHIP, member.id) == member
    assert records.find(MEMBERSHIP, project.id, f"{7:012d}") == member
    assert member in records.list_linked(MEMBERSHIP, "user", 7)


def test_a_name_is_taken_until_its_holder_is_gone(organization):
    first = make(organization)
    with pytest.raises(BadInput, match="name"):
        make(organization, "REEF")
    projects_service.delete_project(first)
    assert make(organization, "REEF").id != first.id


def test_a_renamed_record_frees_its_old_name_and_claims_the_new_one(organization):
    first = make(organization)
    records.edit(PROJECT, first.id, lambda project: msgspec.structs.replace(project, name="kelp"))
    make(organization, "reef")
    with pytest.raises(BadInput):
        make(organization, "kelp")


def test_of_eight_who_claim_one_name_one_wins(organization):
    def attempt(_):
        try:
            return make(organization).id
        except BadInput:
            return None

    with ThreadPoolExecutor(8) as pool:
        won = [made for made in pool.map(attempt, range(8)) if made]
    assert len(won) == 1


def test_eight_who_edit_one_record_lose_no_edit(organization):
    project = make(organization)

    def append(word):
        records.edit(
            PROJECT, project.id, lambda current: msgspec.structs.replace(current, summary=current.summary + word)
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(append, "abcdefgh"))
    assert sorted(records.get(PROJECT, project.id).summary) == list("abcdefgh")


def test_a_second_membership_of_one_user_is_refused(organization):
    project = make(organization)
    again = Membership(id=ids.reserve("membership")[0], project=project.id, user=7, permission="View Only")
    with pytest.raises(Conflict):
        records.create(MEMBERSHIP, again)
    assert len(records.list_children(MEMBERSHIP, project.id)) == 1


def test_a_removed_record_is_gone_from_everywhere(organization):
    project = make(organization)
    member = records.list_children(MEMBERSHIP, project.id)[0]
    records.remove(MEMBERSHIP, member.id)
    with pytest.raises(NotFound):
        records.get(MEMBERSHIP, member.id)
    assert records.list_children(MEMBERSHIP, project.id) == []
    assert member not in records.list_linked(MEMBERSHIP, "user", 7)


def test_a_definition_is_told_of_in_the_log_with_its_change(organization):
    project = make(organization)
    version = next(iter(records.definitions(project.id).versions.values()))
    records.edit(VERSION, version.id, lambda current: msgspec.structs.replace(current, name="second"), user=7)
    last = list(log.read_after(project.id, 0))[-1]
    assert last.changes[0].kind == "version"
    assert msgspec.json.decode(last.changes[0].doc)["name"] == "second"
    records.remove(VERSION, version.id)
    assert list(log.read_after(project.id, 0))[-1].changes[0].is_gone
    assert records.definitions(project.id).versions == {}


def test_the_deletion_of_a_definition_comes_after_its_last_change_in_the_log(organization, monkeypatch):
    project = make(organization)
    version = next(iter(records.definitions(project.id).versions.values()))
    take = log.take_ticket

    def slow(number):
        monkeypatch.setattr(log, "take_ticket", take)
        ticket = take(number)
        records.edit(VERSION, version.id, lambda row: msgspec.structs.replace(row, description="changed"))
        return ticket

    monkeypatch.setattr(log, "lock", lambda _project: nullcontext())  # the other writer is in another container
    monkeypatch.setattr(log, "take_ticket", slow)
    records.remove(VERSION, version.id)
    changes = [change for commit in log.read_after(project.id, 0) for change in commit.changes]
    told = [change.is_gone for change in changes if change.kind == "version" and change.id == version.id]
    assert told == [False, False, True]
    assert records.maybe(VERSION, version.id) is None


def test_a_request_sees_a_record_that_it_creates_after_it_looked_ahead_for_it(organization):
    project = make(organization)
    home = record_rows.home(MEMBERSHIP, project.id, f"{8:012d}")
    with ahead.reading():
        ahead.fetch([ahead.RowKey(RecordRow, home)])
        member = Membership(id=ids.reserve("membership")[0], project=project.id, user=8, permission="View Only")
        records.create(MEMBERSHIP, member)
        assert records.find(MEMBERSHIP, project.id, f"{8:012d}") == member


def test_a_record_that_moves_while_it_is_read_is_found(organization):
    """Its pointer is read, then another request gives it another key, then its row is read where it was."""
    project = make(organization)
    moment = "2026-01-01T00:00:00.000Z"
    made = {
        number: Task(
            id=number,
            project=project.id,
            name="reef",
            media_id=number,
            state="to do",
            leased_by=7,
            created_by=7,
            created_datetime=moment,
            modified_datetime=moment,
        )
        for number in ids.reserve(TASK.name, 2)
    }
    for task in made.values():
        records.create(TASK, task)
    for read in (
        lambda: sorted(records.many(TASK, made)),
        lambda: sorted(task.id for task in records.list_linked(TASK, HOLDER, 7)),
        lambda: [records.get(TASK, number).id for number in made],
    ):
        with between_reads(lambda: [records.edit(TASK, number, swap_stage) for number in made]):
            assert read() == list(made)
    records.remove(TASK, min(made))
    assert list(records.many(TASK, made)) == [max(made)]


def swap_stage(task):
    return msgspec.structs.replace(task, stage="review" if task.stage == "open" else "open")


@contextmanager
def between_reads(act):
    """Act after the first read of rows, before the second."""
    real, waiting = BaseClient._make_api_call, [act]

    def call(client, name, arguments):
        answer = real(client, name, arguments)
        if waiting and name in ("GetItem", "BatchGetItem", "Query"):
            waiting.pop()()
        return answer

    BaseClient._make_api_call = call
    try:
        yield
    finally:
        BaseClient._make_api_call = real
    assert not waiting
