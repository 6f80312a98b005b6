"""The query of a webhook: what it may cost for each event, and what happens to one that is refused by now."""

from __future__ import annotations

import base64
import time

import msgspec
import pytest

from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.kinds import Kind
from chalicelib.resources.webhooks import filters
from chalicelib.resources.webhooks.schemas import WEBHOOK
from chalicelib.storage.dynamodb import records
from tests.resources.media.samples import media_type

TWICE = base64.b64encode(b'{"attribute":"$name","operation":"eq","value":"a","value":"a.mp4"}').decode()
"""A search with a member twice, which was accepted before JSON became strict (decision 148)."""


COSTLY = {
    "fuzzy": "?search=" + "%20".join(f"{letter * 60}~" for letter in "abcdefghijklmnopqrst"),
    "wildcards": "?search=" + "%20".join(f"{letter}*x*y*z" for letter in "abcdefghijklmnopqrstuvwxyz"),
}


@pytest.fixture
def kind(project):
    return media_type(project, dtype="image")


def media(api, project, kind, name):
    return api.made(f"Medias/{project}", {"type": kind, "name": name, "md5": ""})


@pytest.mark.parametrize("query", COSTLY.values(), ids=COSTLY)
@pytest.mark.parametrize("place", ["project", "organization"])
def test_one_that_costs_too_much_for_each_event_is_refused(
    api, project, organization, kind, hook, receiver, query, place
):
    path = f"Webhooks/{project}" if place == "project" else f"OrganizationWebhooks/{organization}"
    body = {"name": "x", "url": receiver.url, "types": ["limn.media.*"], "query": query}
    said = api.post(path, body)
    assert (said.status, "too expensive" in said.message, "each event" in said.message) == (400, True, True), said.body
    plain = hook(types=["limn.media.*"], query="?name=a.mp4")
    said = api.patch(f"Webhook/{plain}", {"query": query})
    assert (said.status, "too expensive" in said.message) == (400, True)


def test_what_is_allowed_is_evaluated_in_time(api, project, kind, receiver):
    """The costliest query that is allowed takes seconds at most for an event of a hundred media, not minutes."""
    words, query = 0, ""
    while words < 60:
        longer = "?search=" + "%20".join(f"{'ab' * 10}{number}~" for number in range(words + 1))
        body = {"name": "x", "url": receiver.url, "types": ["limn.media.*"], "query": longer}
        said = api.post(f"Webhooks/{project}", body)
        if said.status != 201:
            assert "too expensive" in said.message
            break
        api.delete(f"Webhook/{said.json['id']}")
        words, query = words + 1, longer
    assert 2 <= words < 60
    specs = [{"type": kind, "name": "ab" * 11 + str(number), "md5": ""} for number in range(100)]
    numbers = api.made(f"Medias/{project}", specs)
    began = time.process_time()
    filters.find_matching(Kind.MEDIA, query, project, numbers, UNRESTRICTED)
    assert time.process_time() - began < 10


def test_one_that_is_refused_by_now_disables_its_webhook_and_loses_nothing(api, project, kind, hook, receiver):
    number = hook(types=["limn.media.*"], query="?name=a.mp4")
    change = {"query": f"?encoded_search={TWICE}"}
    records.edit(WEBHOOK, number, lambda found: msgspec.structs.replace(found, **change))
    made = media(api, project, kind, "a.mp4")
    api.drain()
    shown = api.get(f"Webhook/{number}").json
    assert (shown["active"], shown["disabled_reason"]) == (False, "query_refused")
    assert "encoded_search" in shown["disabled_details"]
    assert receiver.paths == []
    assert api.patch(f"Webhook/{number}", {"query": "?name=a.mp4", "active": True}).status == 200
    api.drain()
    assert [body["data"]["ids"] for body in receiver.got] == [[made]]
    shown = api.get(f"Webhook/{number}").json
    assert (shown["active"], shown.get("disabled_reason"), shown.get("disabled_details")) == (True, None, None)


def test_one_whose_attribute_was_deleted_is_reported_for_a_project_but_not_for_one_project_of_an_organization(
    api, project, organization, kind, hook, receiver
):
    addition = {"name": "Depth", "dtype": "int"}
    assert api.post(f"AttributeType/{kind}", {"entity_type": "MediaType", "addition": addition}).status == 201
    query = "?attribute_gt=Depth::10"
    own = hook("/own", types=["limn.media.*"], query=query)
    body = {"name": "x", "url": f"{receiver.url}/all", "types": ["limn.media.*"], "query": query}
    shared = api.made(f"OrganizationWebhooks/{organization}", body)
    gone = api.ask("DELETE", f"AttributeType/{kind}", body={"entity_type": "MediaType", "name": "Depth"})
    assert gone.status == 200
    media(api, project, kind, "a.mp4")
    api.drain()
    shown = api.get(f"Webhook/{own}").json
    assert (shown["disabled_reason"], "Depth" in shown["disabled_details"]) == ("query_refused", True)
    assert api.get(f"Webhook/{shared}").json["active"] is True
    assert receiver.paths == []
