"""Usage by project and month, and limits that warn at 80 % and refuse at 100 %."""

from __future__ import annotations

import base64

import pytest

from chalicelib.core import usage_limits as usage_model
from chalicelib.core.models.accounts import PROJECT
from chalicelib.errors import Unavailable
from chalicelib.resources.usage import service as usage_service
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import usage
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import Transaction
from infra.emulator import aws
from infra.local.http import outbox
from tests.service import new_user

MONTH = usage_model.present_month()


@pytest.fixture
def stored(api, project):
    """Makes a media with files of so many bytes."""
    type_ = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
    organization = api.get(f"Project/{project}").json["organization"]

    def store(**sizes):
        media = api.made(f"Medias/{project}", {"type": type_, "name": "a.mp4", "md5": ""})
        for role, size in sizes.items():
            file = {"path": f"{organization}/{project}/{media}/{role}.mp4", "size": size, "resolution": [1, 1]}
            file |= {"codec": "h264"}
            if role == "streaming":
                file |= {"segment_info": f"{organization}/{project}/{media}/{role}.json"}
            said = api.post(f"VideoFiles/{media}", file, role=role)
            assert said.status == 201, said.body
        return media

    return store


def transcoded(project, seconds):
    change = Transaction()
    usage.count_in(change, project, "seconds", seconds)
    change.run()


def the_row(api, organization, project, **query):
    return next(row for row in api.get(f"Usage/{organization}", **query).json if row["project"] == project)


@pytest.mark.slow
def test_bytes_are_told_by_class(api, organization, project, stored):
    stored(archival=700, streaming=200)
    stored(streaming=50)
    row = the_row(api, organization, project)
    assert (row["month"], row["originals"], row["renditions"]) == (MONTH, 750, 200)
    export = api.post(f"Exports/{project}", {"format": "coco"})
    assert export.status == 201, export.body
    api.drain()
    assert the_row(api, organization, project)["derived"] > 0


def test_requests_and_mails_are_counted_in_memory_and_added_together(api, organization, project):
    before = the_row(api, organization, project)["requests"]
    for _ in range(5):
        api.get(f"Project/{project}")
    assert MONTH not in usage.by_month(project) or usage.by_month(project)[MONTH].get("requests", 0) == before
    usage.count(project, "mails", 3)
    row = the_row(api, organization, project)
    assert row["requests"] == before + 5
    assert row["mails"] == 3


def test_transcoded_minutes_are_added_by_the_transaction_that_ends_a_transcode(api, organization, project):
    transcoded(project, 90)
    transcoded(project, 30)
    row = the_row(api, organization, project)
    assert row["transcoded_minutes"] == 2.0
    assert row["estimated_cost"] >= 2 * 0.004


def test_earlier_months_keep_their_counts_and_carry_bytes_on(api, organization, project, monkeypatch, stored):
    stored(archival=400)
    for month, seconds in (("2026-01", 60), ("2026-03", 120)):
        with monkeypatch.context() as patch:
            patch.setattr(usage, "present_month", lambda month=month: month)
            transcoded(project, seconds)
            if month == "2026-01":
                usage.store(project, "originals", 100)
    rows = [row for row in api.get(f"Usage/{organization}", since="2026-01").json if row["project"] == project]
    assert [(row["month"], row["transcoded_minutes"], row["originals"]) for row in rows][:2] == [
        ("2026-01", 1.0, 100),
        ("2026-03", 2.0, 100),
    ]
    assert (rows[-1]["month"], rows[-1]["originals"]) == (MONTH, 400)
    assert api.get(f"Usage/{organization}", since="2026-13").status == 400


def test_it_is_for_administrators(api, organization, project, member, stranger):
    assert api.get(f"Usage/{organization}").status == 200
    assert stranger.get(f"Usage/{organization}").status == 404
    someone = new_user()
    api.made(f"Affiliations/{organization}", {"user": someone.user.id, "permission": "Member"})
    assert someone.get(f"Usage/{organization}").status == 403


def warnings_to(user):
    return [mail for mail in outbox.sent(aws.REGION) if user.email in mail["to"] and "of a limit" in mail["subject"]]


@pytest.mark.parametrize("holder", ["organization", "project"])
def test_a_limit_warns_at_80_percent_once_and_refuses_at_100(api, organization, project, stored, holder, request):
    number = request.getfixturevalue(holder)
    path = f"{holder.capitalize()}/{number}"
    assert api.patch(path, {"usage_limits": {"bytes": 1000}}).status == 200
    assert api.get(path).json["usage_limits"]["bytes"] == 1000
    stored(archival=700)
    usage_service.enforce_limits([project])
    api.drain()
    assert warnings_to(api.user) == []
    stored(archival=150)
    for _ in range(3):
        usage_service.enforce_limits([project])
    api.drain()
    assert len(warnings_to(api.user)) == 1
    assert api.get(f"UploadInfo/{project}").status == 200
    stored(archival=150)
    usage_service.enforce_limits([project])
    said = api.get(f"UploadInfo/{project}")
    assert said.status == 403
    assert f"limit of bytes of this {holder}" in said.message
    assert "usage_limits.bytes" in said.message
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "5", "Upload-Metadata": f"project {b64(project)}"}
    api.headers = tus
    assert api.ask("POST", "/files").status == 403
    api.headers = {}
    assert api.get(f"Medias/{project}").status == 200
    assert the_row(api, organization, project)["exhausted"] == ["bytes"]
    assert api.patch(path, {"usage_limits": {"bytes": 5000}}).status == 200
    usage_service.enforce_limits([project])
    assert api.get(f"UploadInfo/{project}").status == 200


def b64(number):
    return base64.b64encode(str(number).encode()).decode()


def test_a_limit_of_a_month_ends_with_it(api, project, monkeypatch):
    api.patch(f"Project/{project}", {"usage_limits": {"transcoded_minutes": 1}})
    transcoded(project, 60)
    usage_service.enforce_limits([project])
    spec = {"type": 1, "name": "t.mp4", "md5": "", "url": "https://x.example.org/a.mp4", "uid": "u", "gid": "g"}
    said = api.post(f"Transcodes/{project}", spec)
    assert said.status == 403
    assert "transcoded minutes" in said.message
    assert api.get(f"UploadInfo/{project}").status == 200
    monkeypatch.setattr(usage_model, "present_month", lambda: "2999-01")
    assert api.post(f"Transcodes/{project}", spec).status == 400


def test_limits_of_an_organization_count_all_its_projects(api, organization, project, stored):
    other = api.made("Projects", {"name": "other", "organization": organization})
    stored(archival=600)
    usage.store(other, "originals", 600)
    api.patch(f"Organization/{organization}", {"usage_limits": {"bytes": 1000}})
    usage_service.enforce_limits([project])
    for number in (project, other):
        assert api.get(f"UploadInfo/{number}").status == 403
    api.patch(f"Organization/{organization}", {"usage_limits": None})
    usage_service.enforce_limits([project])
    assert api.get(f"UploadInfo/{project}").status == 200


def test_what_cannot_be_added_waits_on(project, monkeypatch):
    def refuse(*_):
        raise Unavailable("no")

    usage.count(project, "requests", 4)
    with monkeypatch.context() as patch:
        patch.setattr(CounterRow, "add", refuse)
        assert project not in usage.flush()
    assert project in usage.flush()
    assert usage.by_month(project)[MONTH]["requests"] >= 4


def test_only_a_project_that_changes_what_is_used_up_is_written(project):
    before = records.get(PROJECT, project)
    usage_service.enforce_limits([project])
    assert records.get(PROJECT, project) == before


@pytest.fixture
def flushed_at_once(monkeypatch):
    monkeypatch.setattr(usage, "FLUSH_SECONDS", -1.0)


@pytest.mark.parametrize("failure", [RuntimeError("a bug"), Unavailable("no database")], ids=["bug", "outage"])
def test_a_request_is_answered_though_its_usage_cannot_be_settled(api, project, monkeypatch, flushed_at_once, failure):
    def fail(_):
        raise failure

    monkeypatch.setattr(usage_service, "enforce_limits", fail)
    assert api.get(f"Project/{project}").status == 200


def test_the_first_request_after_a_minute_settles(api, project, flushed_at_once):
    api.patch(f"Project/{project}", {"usage_limits": {"mails": 1}})
    usage.count(project, "mails", 2)
    assert api.get(f"Project/{project}").status == 200
    assert "project mails" in records.get(PROJECT, project).exhausted
