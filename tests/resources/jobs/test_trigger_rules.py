"""Trigger rules: a new media launches an algorithm, once, as the rule's owner."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.access.authentication import hash_of
from chalicelib.core.models.accounts import TOKEN
from chalicelib.resources.webhooks import rules
from chalicelib.resources.webhooks.advance import DELAYS, PATIENCE, Disable
from chalicelib.storage.dynamodb import limits, records
from chalicelib.storage.dynamodb.progress import streams
from tests.resources.media.samples import media_type
from tests.roles import RECORDER


def run():
    with RECORDER.acting("Jobs"):
        rules.sweep(20.0)


def make_media(api, project, kind, name):
    return api.made(f"Medias/{project}", {"type": kind, "name": name, "md5": ""})


def jobs(api, project):
    return [job["media_ids"] for job in api.get(f"Jobs/{project}").json]


@pytest.fixture
def kind(project):
    return media_type(project, dtype="image")


@pytest.fixture
def rule(api, project, algorithm, cluster):
    body = {"name": "detect", "types": ["limn.media.created"], "query": "?name=a.jpg", "algorithm": algorithm}
    return api.made(f"TriggerRules/{project}", body)


@pytest.mark.slow
def test_a_matching_media_launches_once_however_often_its_event_comes(api, project, kind, rule, cluster):
    media = make_media(api, project, kind, "a.jpg")
    make_media(api, project, kind, "b.jpg")
    run()
    assert jobs(api, project) == [[media]]

    def rewind(stream):
        stream.position = "0"

    streams.change(rules.WORD, project, rule, rewind)
    run()
    assert jobs(api, project) == [[media]]
    assert api.get(f"Jobs/{project}").json[0]["user"] == api.user.id


def test_a_rule_whose_token_was_revoked_is_disabled(api, project, kind, rule, cluster):
    make_media(api, project, kind, "a.jpg")
    stored = records.get(TOKEN, hash_of(api.token))
    records.remove(TOKEN, stored.id)
    run()
    assert records.get(rules.RULE, rule).disabled_reason == "token_invalid"


def test_a_rule_takes_types_of_media_and_an_algorithm_that_exists(api, project, algorithm):
    body = {"name": "x", "types": ["limn.leaf.created"], "algorithm": algorithm}
    assert "types of media" in api.post(f"TriggerRules/{project}", body).message
    body = {"name": "x", "types": ["limn.media.created"], "algorithm": "no such"}
    assert api.post(f"TriggerRules/{project}", body).status == 404


def test_a_deleted_or_inactive_rule_launches_nothing(api, project, kind, rule, cluster):
    assert api.patch(f"TriggerRule/{rule}", {"active": False}).status == 200
    make_media(api, project, kind, "a.jpg")
    run()
    assert jobs(api, project) == []
    assert api.delete(f"TriggerRule/{rule}").status == 200
    run()
    assert jobs(api, project) == []


def test_a_rule_that_is_deleted_while_it_is_disabled_is_gone_without_an_error(api, project, kind, rule, cluster):
    [stream] = [each for each in streams.every(rules.WORD) if each.reader == rule]
    receiver = rules._open(stream)
    assert api.delete(f"TriggerRule/{rule}").status == 200
    receiver.disable(Disable(reason="token_invalid"), stream)
    assert records.maybe(rules.RULE, rule) is None


@pytest.fixture
def broken(api, project, rule, algorithm, monkeypatch):
    """A rule beside `rule` whose launches fail in a way that nothing expects."""
    body = {"name": "broken", "types": ["limn.media.created"], "algorithm": algorithm}
    number = api.made(f"TriggerRules/{project}", body)
    launch = rules._RuleReceiver._launch

    def fail(self, media):
        return {}["no such key"] if self._rule.id == number else launch(self, media)

    every = streams.every
    monkeypatch.setattr(rules._RuleReceiver, "_launch", fail)
    monkeypatch.setattr(streams, "every", lambda word: sorted(every(word), key=lambda each: each.reader != number))
    return number


@pytest.mark.slow
def test_a_rule_that_fails_unexpectedly_stops_no_other_and_says_so(
    api, project, kind, rule, broken, cluster, monkeypatch
):
    media = make_media(api, project, kind, "a.jpg")
    run()
    assert jobs(api, project) == [[media]]
    shown = api.get(f"TriggerRule/{broken}").json
    assert (shown["active"], "KeyError" in shown["last_error"], bool(shown["failing_since"])) == (True, True, True)
    assert "no such key" not in str(shown)
    stream = streams.get(rules.WORD, project, broken)
    assert stream.attempts == 1
    assert not stream.is_leased
    monkeypatch.undo()
    run()
    assert jobs(api, project) == [[media]], "it is not due yet"
    streams.change(rules.WORD, project, broken, lambda stream: setattr(stream, "next_at", 1.0))
    run()
    assert jobs(api, project) == [[media], [media]]
    shown = api.get(f"TriggerRule/{broken}").json
    assert shown.get("last_error") is None
    assert shown.get("failing_since") is None


def test_a_rule_that_is_made_active_again_shows_no_earlier_error(api, project, kind, broken, cluster, monkeypatch):
    make_media(api, project, kind, "a.jpg")
    run()
    monkeypatch.undo()
    assert api.patch(f"TriggerRule/{broken}", {"active": True}).status == 200
    run()
    shown = api.get(f"TriggerRule/{broken}").json
    assert (shown["last_error"], shown["failing_since"]) == (None, None)


def test_a_launch_that_loses_against_others_near_the_limit_of_jobs_is_tried_again_and_says_why(
    api, project, kind, rule, cluster, monkeypatch
):
    media = make_media(api, project, kind, "a.jpg")

    def error():
        shown = api.get(f"TriggerRule/{rule}").json
        return shown["last_error"], shown["failing_since"]

    with monkeypatch.context() as patch:

        def lose(*_, **__):
            raise limits.Moved("Others created as many as there was room for.")

        patch.setattr(rules.jobs_service, "launch", lose)
        run()
        first = error()
        assert "as many as there was room for" in first[0]
        assert first[1]
        streams.change(rules.WORD, project, rule, lambda stream: setattr(stream, "next_at", 1.0))
        run()
        assert error() == first, "it failed again, since the same time"
    assert jobs(api, project) == []
    streams.change(rules.WORD, project, rule, lambda stream: setattr(stream, "next_at", 1.0))
    run()
    assert jobs(api, project) == [[media]]
    assert error() == (None, None)


def test_a_rule_that_fails_unexpectedly_for_days_is_disabled(api, project, kind, broken, cluster):
    make_media(api, project, kind, "a.jpg")
    run()

    def age(stream):
        stream.next_at, stream.failing_since = 1.0, stream.failing_since - PATIENCE - sum(DELAYS[:1])

    streams.change(rules.WORD, project, broken, age)
    run()
    assert records.get(rules.RULE, broken).disabled_reason == "error"
    assert streams.get(rules.WORD, project, broken).is_off


def test_a_rule_whose_query_is_refused_by_now_is_disabled_with_the_reason(api, project, kind, rule, cluster):
    change = {"query": "?encoded_search=e30&encoded_search=e30"}
    records.edit(rules.RULE, rule, lambda found: msgspec.structs.replace(found, **change))
    make_media(api, project, kind, "a.jpg")
    run()
    shown = api.get(f"TriggerRule/{rule}").json
    assert (shown["active"], shown["disabled_reason"]) == (False, "query_refused")
    assert "encoded_search" in shown["disabled_details"]
