"""Health checks, and notifications of the operator."""

from __future__ import annotations

import uuid

import pytest

from chalicelib import __version__
from chalicelib.errors import Unavailable
from chalicelib.queues import sending
from chalicelib.resources.health import operations as health_operations
from chalicelib.settings import override, settings
from chalicelib.storage.dynamodb.tables import EntityRow
from infra.emulator import aws
from infra.local.http import outbox
from tests.roles import RECORDER


class TestHealth:
    def test_the_full_check_tells_users_the_parts_and_others_the_whole(self, nobody, stranger):
        health_operations._summary.cache_clear()
        assert nobody.get("HealthCheck").json == [{"part": "service", "status": "ok", "version": __version__}]
        assert nobody.get("/health").json == nobody.get("HealthCheck").json
        assert [part["part"] for part in nobody.get("HealthCheckFull").json] == ["service"]
        parts = [part["part"] for part in stranger.get("HealthCheckFull").json]
        assert parts == ["service", "database", "object store", "queues", "key service"]

    @pytest.mark.parametrize("place", [0, 1, 2, 3])
    def test_the_part_that_is_away_is_named_and_nothing_else(self, nobody, stranger, monkeypatch, place):
        def away():
            raise Unavailable("table limn-local-records in account 123456789012")

        parts = list(health_operations.PARTS)
        parts[place] = (parts[place][0], away)
        monkeypatch.setattr(health_operations, "PARTS", tuple(parts))
        said = stranger.get("HealthCheckFull")
        assert said.status == 503
        assert said.json == {"message": f"The {parts[place][0]} does not answer.", "details": ""}
        assert nobody.get("HealthCheck").status == 200

    @pytest.mark.parametrize(
        ("member", "part"),
        [("entities_table", "database"), ("views_bucket", "object store"), ("clip_queue_url", "queues")],
    )
    def test_what_is_not_there_does_not_answer(self, stranger, monkeypatch, member, part):
        there = getattr(settings(), member)
        if member == "entities_table":
            monkeypatch.setattr(EntityRow.Meta, "table_name", there + "x")
            monkeypatch.setattr(EntityRow, "_connection", None)
        with override(**{member: there + "x"}):
            said = stranger.get("HealthCheckFull")
        assert (said.status, said.message) == (503, f"The {part} does not answer.")
        RECORDER.refused.clear()  # no role names what is not there

    def test_work_that_was_given_up_is_named_with_the_way_back(self, nobody, stranger):
        dead = f"{settings().transcode_queue_url}-dead"
        client = sending.client()
        client.send_message(QueueUrl=dead, MessageBody="{}")
        try:
            said = stranger.get("HealthCheckFull")
            assert (said.status, said.message) == (503, "Work was given up: dead letters, 1 of transcode.")
            assert "redrive" in said.json["details"]
            health_operations._summary.cache_clear()
            said = nobody.get("HealthCheckFull")
            assert (said.status, "transcode" in said.body.decode()) == (503, False)
        finally:
            client.purge_queue(QueueUrl=dead)
            health_operations._summary.cache_clear()
        assert stranger.get("HealthCheckFull").status == 200

    def test_a_key_that_is_gone_does_not_answer(self, stranger):
        with override(key_id="00000000-0000-0000-0000-000000000000"):
            said = stranger.get("HealthCheckFull")
        assert (said.status, said.message) == (503, "The key service does not answer.")
        RECORDER.refused.clear()


class TestNotify:
    def test_without_an_address_it_is_not_processed(self, api):
        said = api.post("Notify", {"message": "hello"})
        assert (said.status, said.message) == (503, "Not Processed")

    @pytest.fixture
    def operator(self):
        """The address for notices."""
        address = f"operator-{uuid.uuid4()}@example.org"
        with override(notify_address=address):
            yield address

    @pytest.mark.parametrize("more", [{}, {"send_as_file": 0}, {"sendAsFile": 0}])
    def test_a_notice_reaches_the_operator(self, api, operator, more):
        said = api.post("Notify", {"message": "the reef\n\nis <b>bleached</b>", **more})
        assert (said.status, said.json) == (200, {"message": "Processed"})
        api.drain()
        [mail] = [mail for mail in outbox.sent(aws.REGION) if operator in mail["to"]]
        assert "is <b>bleached</b>" in mail["text"]
        assert mail["attachments"] == []

    @pytest.mark.parametrize("name", ["send_as_file", "sendAsFile"])
    def test_one_may_go_as_a_file(self, api, operator, name):
        text = "Größe\n" * 5000
        assert api.post("Notify", {"message": text, name: 1}).status == 200
        api.drain()
        [mail] = [mail for mail in outbox.sent(aws.REGION) if operator in mail["to"]]
        assert "Größe" not in mail["text"]
        assert mail["attachments"] == [{"name": "notice.txt", "size": len(text.encode())}]

    def test_one_that_cannot_be_queued_is_not_processed(self, api, operator, monkeypatch):
        def away(*_args, **_more):
            raise Unavailable("The queue does not take messages.")

        monkeypatch.setattr("chalicelib.resources.email.system_emails.send", away)
        said = api.post("Notify", {"message": "x"})
        assert (said.status, said.message) == (503, "Not Processed")

    def test_it_is_for_staff(self, stranger, nobody):
        assert stranger.post("Notify", {"message": "x"}).status == 403
        assert nobody.post("Notify", {"message": "x"}).status == 401

    @pytest.mark.parametrize(
        "body", [None, {}, {"message": ""}, {"message": " \n"}, {"message": 7}, {"message": "x", "send_as_file": 2}]
    )
    def test_a_bad_notice_is_refused(self, api, body):
        assert api.post("Notify", body).status == 400
