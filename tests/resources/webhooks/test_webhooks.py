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
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.log import wakeups
from infra.emulator import aws
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

    @pytest.mark.slow
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

    @pytest.fixture
    def hurried(self, monkeypatch):
        """Receivers have little time to answer."""
        monkeypatch.setattr(sender, "SECONDS", 0.4)

    @pytest.mark.slow
    @pytest.mark.parametrize("answer", [hang, drip])
    def test_a_receiver_that_does_not_end_its_answer_is_cut_off(self, api, receiver, hook, section, hurried, answer):
        number = hook("/slow")
        receiver.answers["/slow"] = answer
        section()
        api.drain()
        told = api.get(f"WebhookDeliveries/{number}").json
        assert [(each.get("status"), each["excerpt"]) for each in told] == [(None, "No answer: time-out.")]
        assert 350 < told[0]["milliseconds"] < 14_000

    @pytest.mark.slow
    def test_a_slow_receiver_holds_up_no_other(self, api, project, receiver, hook, section, hurried):
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
