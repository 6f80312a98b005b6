"""Operations on webhooks: registration and its guard, owners, pings and repeated delivery."""

from __future__ import annotations

import time
import uuid

import msgspec
import pytest

from chalicelib.core import record_limits
from chalicelib.core.models.accounts import MEMBERSHIP, USER
from chalicelib.core.records import padded
from chalicelib.resources.events import service as events_service
from chalicelib.resources.webhooks import delivery
from chalicelib.resources.webhooks.schemas import WEBHOOK
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.log import log
from tests.resources.webhooks.test_webhooks import feed, mails_about
from tests.service import join, new_user


class TestGuard:
    @pytest.mark.parametrize(
        "url",
        [
            "http://example.org/hook",
            "https://127.0.0.1/hook",
            "https://169.254.169.254/latest/meta-data",
            "https://localhost/hook",
            "https://[::1]/hook",
            "https://user:secret@example.org/hook",
            "ftp://example.org",
        ],
    )
    def test_a_url_inside_or_without_tls_is_refused(self, api, project, url):
        said = api.post(f"Webhooks/{project}", {"name": "x", "url": url, "types": ["*"]})
        assert said.status == 400
        assert said.message.startswith("url: ")

    def test_a_name_that_resolves_inside_later_is_refused_at_delivery(self, api, project, receiver, section, hosts):
        hosts["rebound.example.org"] = "93.184.216.34"
        port = receiver.url.rpartition(":")[2]
        body = {"name": "x", "url": f"https://rebound.example.org:{port}/in", "types": ["*"]}
        made = api.made(f"Webhooks/{project}", body)
        hosts["rebound.example.org"] = "127.0.0.1"
        section()
        api.drain()
        assert receiver.paths == []
        told = api.get(f"WebhookDeliveries/{made}").json
        assert [(each.get("status"), each["excerpt"]) for each in told] == [(None, "The address is not allowed.")]


class TestRegistration:
    @pytest.mark.parametrize(
        ("change", "names"),
        [
            ({"types": ["limn.localisation.*"]}, "types: no event has the type 'limn.localisation.*'."),
            ({"types": []}, "types"),
            ({"query": "?attribute=a::b"}, "query: it needs types of one kind"),
            ({"types": ["limn.media.*"], "query": "?no_such=1"}, "query: 'no_such' is not a filter of media lists."),
            ({"types": ["limn.media.*"], "query": "?attribute=NoSuch::1"}, "NoSuch"),
            ({"types": ["limn.media.*"], "query": "?stop=1"}, "query: 'stop' is not a filter"),
            ({"types": ["limn.leaf.*"], "query": "?"}, "query: it has no parameter"),
        ],
    )
    def test_a_wrong_member_is_named(self, api, project, receiver, change, names):
        said = api.post(f"Webhooks/{project}", {"name": "x", "url": receiver.url, "types": ["*"], **change})
        assert said.status == 400
        assert names in said.body.decode()

    def test_secrets_are_shown_once(self, api, project, hook, receiver):
        number = hook()
        for said in (api.get(f"Webhook/{number}"), api.get(f"Webhooks/{project}")):
            assert b"whsec_" not in said.body
            assert b"sealed" not in said.body

    def test_there_are_at_most_twenty_in_a_project(self, api, project, hook, receiver, monkeypatch):
        monkeypatch.setitem(record_limits.LIMITS, "webhook", (record_limits.Most(number=1, link="project"),))
        hook()
        said = api.post(f"Webhooks/{project}", {"name": "x", "url": receiver.url, "types": ["*"]})
        assert said.status == 400
        assert "at most 1 webhooks" in said.message

    def test_nothing_is_sent_after_it_is_deleted_or_inactive(self, api, project, hook, receiver, section):
        gone, off = hook("/gone"), hook("/off")
        assert api.delete(f"Webhook/{gone}").status == 200
        assert api.patch(f"Webhook/{off}", {"active": False}).status == 200
        section()
        api.drain()
        assert receiver.paths == []
        assert api.get(f"Webhook/{gone}").status == 404
        log._hints.clear()
        assert not log.is_watched(project) or log.last(project, fresh=True)
        api.drain()
        section()
        assert not log.is_watched(project)

    def test_a_deleted_project_sends_nothing(self, api, project, hook, receiver):
        hook("/ok", ["limn.section.*"])
        api.made(f"Sections/{project}", {"name": "s"})
        assert api.delete(f"Project/{project}").status == 200
        api.drain()
        assert receiver.paths == []
        assert streams.of_project(delivery.WORD, project) == []


class TestOwners:
    def test_a_webhook_whose_owner_lost_the_permission_is_disabled_and_another_takes_it_over(
        self, api, project, member, receiver, section
    ):
        other = member("Full Control")
        start = events_service.last(project)
        body = {"name": "theirs", "url": f"{receiver.url}/ok", "types": ["limn.section.*"]}
        number = other.made(f"Webhooks/{project}", body)
        found = records.find(MEMBERSHIP, project, padded(other.user.id))
        records.edit(MEMBERSHIP, found.id, lambda it: msgspec.structs.replace(it, permission="Can Execute"))
        section()
        api.drain()
        assert receiver.paths == []
        assert api.get(f"Webhook/{number}").json["disabled_reason"] == "owner_lost_access"
        assert len(mails_about("theirs")) == 1
        assert api.patch(f"Webhook/{number}", {"active": True}).status == 200
        assert api.get(f"Webhook/{number}").json["user"] == api.user.id
        api.drain()
        assert receiver.ids == [each for each in feed(project, start) if each in receiver.ids]
        assert len(receiver.ids) == 1

    def test_an_inactive_owner_counts_as_one_without_permission(self, api, project, hook, receiver, section):
        number = hook()
        records.edit(USER, api.user.id, lambda it: msgspec.structs.replace(it, is_active=False))
        section()
        api.drain()
        assert receiver.paths == []
        assert not records.get(WEBHOOK, number).active

    def test_a_webhook_of_an_organization_sends_the_projects_that_its_owner_sees(
        self, api, organization, project, receiver, section, later
    ):
        stranger = new_user(is_staff=True)
        body = {"name": "all", "url": f"{receiver.url}/ok", "types": ["limn.section.created"]}
        number = api.made(f"OrganizationWebhooks/{organization}", body)
        section()
        api.drain()
        assert [each["source"] for each in receiver.got] == [f"/rest/Project/{project}"]
        new = api.made("Projects", {"name": "new", "organization": organization})
        api.made(f"Sections/{new}", {"name": "s"})
        later()
        later()
        assert receiver.got[-1]["source"] == f"/rest/Project/{new}"
        join(stranger, new, "Full Control")
        found = records.find(MEMBERSHIP, new, padded(api.user.id))
        assert stranger.delete(f"Membership/{found.id}").status == 200
        count = len(receiver.got)
        stranger.made(f"Sections/{new}", {"name": "t"})
        section()
        api.drain()
        assert [each["source"] for each in receiver.got[count:]] == [f"/rest/Project/{project}"]
        assert [each["id"] for each in api.get(f"OrganizationWebhooks/{organization}").json] == [number]
        assert api.delete(f"Webhook/{number}").status == 200


class TestRepeating:
    def test_a_ping_says_what_the_receiver_answered(self, api, receiver, hook):
        number = hook("/ping")
        said = api.post(f"WebhookPing/{number}")
        assert said.status == 200
        assert (said.json["status"], said.json["type"], said.json["excerpt"]) == (200, "limn.ping", "ok")
        assert receiver.got[0]["type"] == "limn.ping"
        receiver.answers["/ping"] = 500
        assert api.post(f"WebhookPing/{number}").json["status"] == 500
        assert api.get(f"Webhook/{number}").json["active"] is True

    def test_one_event_and_all_since_a_point_are_sent_again(self, api, project, receiver, hook, section):
        number = hook("/ok", ["limn.section.*"])
        for _ in range(3):
            section()
            time.sleep(0.002)
        api.drain()
        one, two, three = receiver.ids
        assert api.post(f"WebhookRedelivery/{number}", {"event": two}).status == 200
        api.drain()
        assert receiver.ids[3:] == [two]
        assert api.post(f"WebhookRedelivery/{number}", {"after": one.partition("/")[2]}).status == 200
        api.drain()
        assert receiver.ids[4:] == [two, three]
        moment = receiver.got[2]["time"]
        assert api.post(f"WebhookRedelivery/{number}", {"since": moment}).status == 200
        api.drain()
        assert receiver.ids[6:] == [three]
        assert receiver.refused == []

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({}, 400),
            ({"event": "1/2", "after": "1"}, 400),
            ({"since": "yesterday"}, 400),
            ({"after": "x"}, 400),
            ({"after": "999999"}, 400),
            ({"event": "999999/1"}, 404),
            ({"after": "0", "project": 999999}, 404),
            ({"event": "999999/1", "project": 999999}, 404),
        ],
    )
    def test_a_wrong_request_is_refused(self, api, hook, receiver, body, status):
        assert api.post(f"WebhookRedelivery/{hook()}", body).status == status


def test_a_project_that_the_webhook_does_not_send_is_refused_with_any_point(api, project, hook, receiver):
    other = new_user()
    organization = other.post("Organizations", {"name": f"Elsewhere {uuid.uuid4().hex}"}).json["id"]
    foreign = other.post("Projects", {"name": "Elsewhere", "organization": organization}).json["id"]
    number = hook()
    for point in ({"after": "0"}, {"since": "2020-01-01T00:00:00Z"}, {"event": f"{project}/1"}):
        for named in (foreign, 999_999):
            said = api.post(f"WebhookRedelivery/{number}", {**point, "project": named})
            assert (said.status, said.message) == (404, f"The webhook sends no events of project {named}.")
        assert api.post(f"WebhookRedelivery/{number}", {**point, "project": project}).status == 200


@pytest.mark.parametrize(
    "event", ["²/3", "{project}/²", "{project}/1/²", "٣/1", "{project}/0", "a/b/c", "9" * 60 + "/1", "1//"]
)
def test_what_is_no_id_of_an_event_is_not_sent_again(api, project, hook, event):
    number = hook()
    said = api.post(f"WebhookRedelivery/{number}", {"event": event.format(project=project)})
    assert (said.status, said.message.startswith("event: ")) == (400, True)
    assert api.get(f"WebhookDeliveries/{number}", before="x~²").status == 400


def test_a_secret_is_replaced_by_the_owner_only(api, project, member, hook):
    number = hook()
    other = member("Full Control")
    said = other.post(f"WebhookSecret/{number}", {})
    assert (said.status, "owner" in said.message, "secret" in said.json) == (403, True, False)
    assert api.post(f"WebhookSecret/{number}", {}).status == 200
