"""What staff ends with `is_active: false`: everything that an account can do, also by what it began before."""

from __future__ import annotations

import uuid

import pytest

from chalicelib.core.models.accounts import MEMBERSHIP, PROJECT
from chalicelib.core.models.datasets import EXPORT
from chalicelib.core.models.jobs import EmailSpec
from chalicelib.core.permissions import Level
from chalicelib.core.records import padded
from chalicelib.errors import Forbidden
from chalicelib.resources.email import project_emails
from chalicelib.resources.imports.schemas import IMPORT
from chalicelib.resources.webhooks.schemas import WEBHOOK
from chalicelib.settings import override
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.log import wakeups
from tests import objects
from tests.resources.email.test_mail import mails
from tests.resources.uploads.tus_client import BYTES, asked, begun
from tests.resources.webhooks import receiver as receivers
from tests.service import join, new_user


@pytest.fixture
def leaver(project):
    user = new_user()
    join(user, project, "Full Control")
    return user


@pytest.fixture
def end(leaver):
    """Ends the account, as staff does; returns the status."""

    def end() -> int:
        return new_user(is_staff=True).patch(f"User/{leaver.user.id}", {"is_active": False}).status

    return end


def test_tokens_uploads_and_cached_urls_end_at_once(api, project, organization, leaver, end):
    path = begun(leaver, project, 10)
    key = f"{organization}/{project}/1/a.mp4"
    assert leaver.post(f"DownloadInfo/{project}", {"keys": [key]}).status == 201
    cached = f"presigned#{leaver.user.id}"
    assert list(RecordRow.query(cached))
    assert end() == 200
    assert leaver.get(f"Project/{project}").status == 401
    for method in ("HEAD", "PATCH", "DELETE", "GET", "POST"):
        assert asked(leaver, method, path, **BYTES, Upload_Offset=0).status == 401
    assert leaver.get(f"UploadInfo/{project}").status == 401
    assert list(RecordRow.query(cached)) == []
    assert records.get(PROJECT, project).id == project


@pytest.mark.slow
def test_exports_imports_and_webhooks_that_it_began_end(api, project, leaver, end, monkeypatch, no_delays):
    monkeypatch.setattr(wakeups, "COVERED", 0)
    key = leaver.get(f"UploadInfo/{project}").json["key"]
    objects.write(key, b"media,frame,type,x,y,width,height\na,0,box,0,0,1,1\n")
    with receivers.running() as receiver, override(service_origins=[receiver.url]):
        body = {"name": "hook", "url": f"{receiver.url}/ok", "types": ["*"]}
        hook = leaver.made(f"Webhooks/{project}", body)
        export = leaver.made(f"Exports/{project}", {"format": "csv"})
        import_ = leaver.made(f"Imports/{project}", {"format": "csv", "key": key})
        assert end() == 200
        api.made(f"Sections/{project}", {"name": "s"})
        api.drain()
        assert receiver.got == []
    assert records.get(EXPORT, export).status == "failed"
    assert records.get(IMPORT, import_).status == "failed"
    assert not records.get(WEBHOOK, hook).active


@pytest.mark.parametrize("loss", ["account", "membership", "level"])
def test_mails_that_its_jobs_would_send_are_not_sent(project, leaver, api, end, loss):
    spec = EmailSpec(recipients=[api.user.email], subject="s", text="t")
    assert project_emails.prepare(project, spec, "before", leaver.user.id, Level.EXECUTE)
    membership = f"Membership/{records.find(MEMBERSHIP, project, padded(leaver.user.id)).id}"
    if loss == "account":
        assert end() == 200
    else:
        said = api.delete(membership) if loss == "membership" else api.patch(membership, {"permission": "Can Edit"})
        assert said.status == 200
    with pytest.raises(Forbidden):
        project_emails.prepare(project, spec, "after", leaver.user.id, Level.EXECUTE)


@pytest.mark.parametrize("loss", ["author", "recipient", None])
def test_a_mail_that_waits_is_not_sent_for_whom_or_to_whom_the_project_was_closed_meanwhile(
    api, project, leaver, end, loss
):
    writer, reader = (leaver, api) if loss == "author" else (api, leaver)
    subject = f"Waiting {uuid.uuid4()}"
    body = {"recipients": [reader.user.email], "subject": subject, "text": "t"}
    assert writer.post(f"Email/{project}", body).status == 201
    if loss == "author":
        assert end() == 200
    elif loss:
        assert api.delete(f"Membership/{records.find(MEMBERSHIP, project, padded(leaver.user.id)).id}").status == 200
    api.drain()
    assert len(mails(subject)) == (0 if loss else 1)


def test_a_member_whose_account_ended_gets_no_mail_of_the_project(api, project, leaver, end):
    spec = {"recipients": [leaver.user.email], "subject": "s", "text": "t"}
    assert api.post(f"Email/{project}", spec).status == 201
    assert end() == 200
    assert api.post(f"Email/{project}", spec).status == 400
