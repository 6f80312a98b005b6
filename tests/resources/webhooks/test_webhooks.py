"""Webhooks through HTTP: registration, signatures, order, and what a receiver can do wrong."""

from __future__ import annotations

import itertools
import re
import socket
import time
from collections import Counter

import boto3
import pytest
from moto.events.models import events_backends

from chalicelib.resources.events import service as events_service
from chalicelib.resources.webhooks import advance, delivery, sender
from chalicelib.settings import override
from chalicelib.storage.dynamodb import streams
from chalicelib.storage.log import wakeups
from infra.local import aws
from infra.local.http import outbox
from tests.faults.crashes import crasher
from tests.resources.webhooks.receiver import drip, hang

BUS = f"arn:aws:events:{aws.REGION}:{aws.ACCOUNT}:event-bus/limn-local"


def feed(project, after="0"):
    """The ids of all events of the project after a position."""
    return [event.id for event in events_service.read(project, after=after, limit=1000).events]


def mails_about(name):
    return [mail for mail in outbox.sent(aws.REGION) if name in mail["subject"]]


class TestDelivery:
    def test_each_event_is_sent_once_in_order_and_signed(self, api, project, receiver, hook, section):
        start = events_service.last(project)
        hook()
        for _ in range(5):
            section()
        api.drain()
        assert receiver.refused == []
        assert receiver.ids == feed(project, start)
        assert [each["type"] for each in receiver.got] == ["limn.section.created"] * 5
        first = receiver.got[0]
        assert first["source"] == f"/rest/Project/{project}"
        assert first["specversion"] == "1.0"
        assert first["user"] == api.user.id

    def test_only_the_types_that_were_asked_for_are_sent(self, api, project, receiver, hook, section):
        hook("/versions", ["limn.version.*"])
        hook("/deleted", ["limn.section.deleted"])
        number = section()
        assert api.delete(f"Section/{number}").status == 200
        api.made(f"Versions/{project}", {"name": "v"})
        api.drain()
        got = {(each["path"], each["type"]) for each in receiver.got}
        assert got == {("/versions", "limn.version.created"), ("/deleted", "limn.section.deleted")}

    def test_only_entities_that_match_the_query_are_sent_and_deletions_always(self, api, project, receiver, hook):
        kind = api.made(f"MediaTypes/{project}", {"name": "m", "dtype": "image"})
        text = [{"name": "Species", "dtype": "string"}]
        leaf = api.made(f"LeafTypes/{project}", {"name": "l", "attribute_types": text})
        hook("/cod", ["limn.leaf.*"], query="?attribute=Species::Cod")
        leaves = [{"name": name, "type": leaf, "attributes": {"Species": name}} for name in ("Cod", "Hake", "Cod2")]
        cod, hake, _ = api.made(f"Leaves/{project}", leaves)
        api.drain()
        assert [each["data"]["ids"] for each in receiver.got] == [[cod]]
        assert receiver.got[0]["subject"] == f"leaf/{cod}"
        assert api.delete(f"Leaf/{hake}").status == 200
        api.drain()
        assert [each["type"] for each in receiver.got] == ["limn.leaf.created", "limn.leaf.deleted"]
        assert kind

    def test_a_lost_wake_up_loses_nothing(self, api, project, receiver, hook, section, later, monkeypatch):
        hook()
        start = events_service.last(project)
        with monkeypatch.context() as patch:
            patch.setattr(wakeups, "try_send", lambda *_, **__: False)
            section()
        api.drain()
        assert receiver.ids == []
        later()
        assert receiver.ids == feed(project, start)

    def test_a_write_costs_no_call_more_without_webhooks_and_one_message_with_them(self, api, project, hook, section):
        number = section()

        def calls(name):
            with crasher() as counted:
                assert api.patch(f"Section/{number}", {"name": name}).status == 200
                return Counter(counted.calls)

        calls("a")
        before = calls("b")
        assert not [call for call in before if call.startswith("sqs.")]
        made = hook()
        calls("c")
        assert calls("d") - before == Counter({"sqs.SendMessage": 1})
        assert api.delete(f"Webhook/{made}").status == 200
        api.drain()
        calls("e")
        api.drain()
        assert calls("f") == before

    def test_events_are_put_on_the_bus_that_the_operator_chose(self, api, project, section):
        client = boto3.client("events")
        client.create_event_bus(Name="limn-local")
        archive = client.create_archive(ArchiveName=f"a{project}", EventSourceArn=BUS, EventPattern="{}")
        with override(event_bus="limn-local"):
            section()
            section()
            api.drain()
            api.drain()
        kept = events_backends[aws.ACCOUNT][aws.REGION].archives[f"a{project}"].events
        assert archive
        found = [each for each in kept if each["detail"]["source"] == f"/rest/Project/{project}"]
        assert [each["detail-type"] for each in found] == ["limn.section.created"] * 2
        assert [each["detail"]["id"] for each in found] == feed(project)[-2:]
        client.delete_archive(ArchiveName=f"a{project}")
        client.delete_event_bus(Name="limn-local")

    def test_both_secrets_are_valid_while_the_secret_is_replaced(self, api, receiver, hook, section):
        number = hook()
        old = receiver.secrets["/ok"]
        said = api.post(f"WebhookSecret/{number}", {"keep_hours": 1}).json
        assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", said["secret"])
        assert said["secret"] != old
        section()
        api.drain()
        receiver.secrets["/ok"] = said["secret"]
        section()
        api.drain()
        assert len(receiver.got) == 2
        assert receiver.refused == []
        assert api.post(f"WebhookSecret/{number}", {"keep_hours": 0}).json.get("previous_secret_until") is None
        section()
        api.drain()
        assert len(receiver.got) == 2
        assert len(receiver.refused) == 1

    def test_a_bulk_creation_is_sent_in_bodies_of_less_than_20_kb(self, api, project, receiver, hook):
        leaf = api.made(f"LeafTypes/{project}", {"name": "l"})
        hook("/ok", ["limn.leaf.created"])
        api.made(f"Leaves/{project}", [{"name": f"leaf {number}", "type": leaf} for number in range(250)])
        api.drain()
        assert [len(each["data"]["ids"]) for each in receiver.got] == [100, 100, 50]


class TestFailures:
    def test_what_fails_is_tried_again_and_nothing_overtakes_it(self, api, project, receiver, hook, section, later):
        number = hook()
        start = events_service.last(project)
        receiver.answers["/ok"] = 500
        section()
        section()
        api.drain()
        assert receiver.paths == ["/ok"]
        stream = streams.get(delivery.WORD, project, number)
        assert 4 < stream.next_at - time.time() < 5 * (1 + advance.JITTER)
        section()
        api.drain()
        assert receiver.paths == ["/ok"]
        later(6)
        assert receiver.paths == ["/ok"] * 2
        receiver.answers["/ok"] = 200
        later(61 * 1.2)
        assert receiver.ids == feed(project, start)
        told = api.get(f"WebhookDeliveries/{number}").json
        assert [(each["status"], each["attempt"]) for each in told] == [
            (200, 1),
            (200, 1),
            (200, 3),
            (500, 2),
            (500, 1),
        ]
        assert told[-1]["next_attempt"] > told[-1]["time"]
        failed = api.get(f"WebhookDeliveries/{number}", failed=1, stop=1).json
        assert [(each["status"], each["attempt"], each["excerpt"]) for each in failed] == [(500, 2, "ok")]
        more = api.get(f"WebhookDeliveries/{number}", failed=1, before=failed[0]["page"]).json
        assert [each["attempt"] for each in more] == [1]

    def test_the_pauses_grow_from_five_seconds_to_a_day_and_end_after_three_days(self):
        pauses = [advance.delay(number) for number in range(1, 12)]
        assert 5 <= pauses[0] <= 6
        assert 86_400 <= pauses[-1] <= 86_400 * 1.2
        assert all(one < other for one, other in itertools.pairwise(pauses[:10]))
        assert sum(advance.DELAYS) > advance.PATIENCE

    def test_a_webhook_is_disabled_after_three_days_and_its_owner_mailed(
        self, api, project, receiver, hook, section, later
    ):
        number = hook("/down")
        start = events_service.last(project)
        receiver.answers["/down"] = 503
        section()
        api.drain()
        for _ in range(3):
            later(86_500)
        record = api.get(f"Webhook/{number}").json
        assert (record["active"], record["disabled_reason"]) == (False, "failing")
        later()
        assert len(mails_about("/down")) == 1
        receiver.answers["/down"] = 200
        count = len(receiver.paths)
        later()
        assert len(receiver.paths) == count
        section()
        assert api.patch(f"Webhook/{number}", {"active": True}).status == 200
        api.drain()
        assert receiver.ids == feed(project, start)
        record = api.get(f"Webhook/{number}").json
        assert (record["active"], record["disabled_reason"]) == (True, None)

    def test_410_disables_at_once(self, api, receiver, hook, section, later):
        number = hook("/gone")
        receiver.answers["/gone"] = 410
        section()
        section()
        api.drain()
        later()
        assert receiver.paths == ["/gone"]
        assert api.get(f"Webhook/{number}").json["disabled_reason"] == "gone"
        assert len(mails_about("/gone")) == 1

    def test_a_redirect_is_a_failure_and_is_not_followed(self, api, receiver, hook, section):
        number = hook("/moved")
        receiver.answers["/moved"] = (307, {"Location": f"{receiver.url}/elsewhere"})
        section()
        api.drain()
        assert receiver.paths == ["/moved"]
        told = api.get(f"WebhookDeliveries/{number}").json[0]
        assert told["status"] == 307
        assert "not followed" in told["excerpt"]

    @pytest.mark.parametrize("answer", [hang, drip])
    def test_a_receiver_that_does_not_end_its_answer_is_cut_off(
        self, api, receiver, hook, section, monkeypatch, answer
    ):
        monkeypatch.setattr(sender, "SECONDS", 0.4)
        number = hook("/slow")
        receiver.answers["/slow"] = answer
        section()
        api.drain()
        told = api.get(f"WebhookDeliveries/{number}").json
        assert [(each.get("status"), each["excerpt"]) for each in told] == [(None, "No answer: time-out.")]
        assert 350 < told[0]["milliseconds"] < 2_000

    def test_a_slow_receiver_holds_up_no_other(self, api, project, receiver, hook, section, monkeypatch):
        monkeypatch.setattr(sender, "SECONDS", 0.4)
        hook("/slow")
        hook("/quick")
        start = events_service.last(project)
        receiver.answers["/slow"] = hang
        for _ in range(4):
            section()
        api.drain()
        assert receiver.ids == feed(project, start)
        assert receiver.paths.count("/slow") == 1

    def test_no_server_and_a_closed_connection_are_failures(self, api, project, hook, section, receiver):
        number = hook("/closed")
        receiver.answers["/closed"] = lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)
        section()
        api.drain()
        assert api.get(f"WebhookDeliveries/{number}").json[0]["excerpt"] == "No answer: the connection was closed."


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

    def test_a_name_that_resolves_inside_later_is_refused_at_delivery(
        self, api, project, receiver, section, monkeypatch
    ):
        number = {"rebound.example.org": "93.184.216.34"}
        real = socket.getaddrinfo

        def resolve(host, port, *args, **more):
            return real(number.get(host, host), port, *args, **more)

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        port = receiver.url.rpartition(":")[2]
        body = {"name": "x", "url": f"https://rebound.example.org:{port}/in", "types": ["*"]}
        made = api.made(f"Webhooks/{project}", body)
        number["rebound.example.org"] = "127.0.0.1"
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
        monkeypatch.setattr("chalicelib.resources.webhooks.service.MOST_WEBHOOKS", 1)
        hook()
        said = api.post(f"Webhooks/{project}", {"name": "x", "url": receiver.url, "types": ["*"]})
        assert said.status == 400
        assert "limit" in said.message

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
        ],
    )
    def test_a_wrong_request_is_refused(self, api, hook, receiver, body, status):
        assert api.post(f"WebhookRedelivery/{hook()}", body).status == status


@pytest.mark.parametrize(
    "event", ["²/3", "{project}/²", "{project}/1/²", "٣/1", "{project}/0", "a/b/c", "9" * 60 + "/1", "1//"]
)
def test_what_is_no_id_of_an_event_is_not_sent_again(api, project, hook, event):
    number = hook()
    said = api.post(f"WebhookRedelivery/{number}", {"event": event.format(project=project)})
    assert (said.status, said.message.startswith("event: ")) == (400, True)
    assert api.get(f"WebhookDeliveries/{number}", before="x~²").status == 400
