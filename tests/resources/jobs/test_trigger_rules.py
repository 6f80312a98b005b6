"""Trigger rules: a new media launches an algorithm, once, as the rule's owner."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.core.models.algorithms import ALGORITHM
from chalicelib.resources.accounts import administration
from chalicelib.resources.webhooks import rules
from chalicelib.resources.webhooks.advance import DELAYS, PATIENCE, Disable
from chalicelib.storage.dynamodb import limits, records
from chalicelib.storage.dynamodb.progress import streams
from tests.resources.algorithms.test_algorithms import saved, spec
from tests.resources.jobs.test_jobs import parameters
from tests.resources.media.samples import media_type
from tests.roles import RECORDER
from tests.service import Api


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


def test_a_rule_whose_owner_was_closed_is_disabled(api, project, kind, rule, cluster):
    make_media(api, project, kind, "a.jpg")
    administration.set_active(api.user, active=False)
    run()
    assert records.get(rules.RULE, rule).disabled_reason == "owner_lost_access"


def test_a_rule_stops_where_somebody_else_changed_what_it_runs_and_says_so(
    api, project, kind, rule, algorithm, member, cluster
):
    number = api.get(f"Algorithms/{project}").json[0]["id"]
    change = {"parameters": [{"name": "threshold", "value": 0.9}]}
    assert member("Can Edit").patch(f"Algorithm/{number}", change).status == 200
    media = make_media(api, project, kind, "a.jpg")
    run()
    assert jobs(api, project) == []
    shown = api.get(f"TriggerRule/{rule}").json
    assert (shown["active"], shown["disabled_reason"]) == (False, "algorithm_changed")
    assert algorithm in shown["disabled_details"]
    assert api.patch(f"TriggerRule/{rule}", {"active": True}).status == 200
    run()
    assert jobs(api, project) == [[media]], "its owner approved it"


def test_another_algorithm_under_the_name_is_not_what_was_approved(
    api, project, kind, rule, algorithm, member, cluster
):
    other = member("Can Edit")
    [known] = api.get(f"Algorithms/{project}").json
    assert other.patch(f"Algorithm/{known['id']}", {"name": f"{algorithm} before"}).status == 200
    body = {**spec(api, project, manifest=saved(api, project)), "cluster": known["cluster"], "name": algorithm}
    assert other.post(f"Algorithms/{project}", body).status == 201
    make_media(api, project, kind, "a.jpg")
    run()
    assert jobs(api, project) == []
    assert api.get(f"TriggerRule/{rule}").json["disabled_reason"] == "algorithm_changed"


def test_what_its_owner_changes_goes_on(api, project, kind, rule, algorithm, cluster):
    number = api.get(f"Algorithms/{project}").json[0]["id"]
    assert api.patch(f"Algorithm/{number}", {"parameters": [{"name": "threshold", "value": 0.9}]}).status == 200
    media = make_media(api, project, kind, "a.jpg")
    run()
    assert jobs(api, project) == [[media]]


def test_a_rule_of_an_earlier_release_is_approved_first(api, project, kind, rule, cluster):
    records.edit(rules.RULE, rule, lambda stored: msgspec.structs.replace(stored, digest=""))
    number = api.get(f"Algorithms/{project}").json[0]["id"]
    records.edit(ALGORITHM, number, lambda stored: msgspec.structs.replace(stored, digest="", approver=0))
    make_media(api, project, kind, "a.jpg")
    run()
    assert api.get(f"TriggerRule/{rule}").json["disabled_reason"] == "algorithm_changed"


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
    receiver.disable(Disable(reason="owner_lost_access"), stream)
    assert records.maybe(rules.RULE, rule) is None


@pytest.fixture
def broken(api, project, rule, algorithm, monkeypatch):
    """A rule beside `rule` whose launches fail in a way that nothing expects."""
    body = {"name": "broken", "types": ["limn.media.created"], "algorithm": algorithm}
    number = api.made(f"TriggerRules/{project}", body)
    launch = rules._RuleReceiver._launch

    def fail(self, *given):
        return {}["no such key"] if self._rule.id == number else launch(self, *given)

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


def test_a_rule_runs_an_annotator_with_the_layer_of_its_drafts(api, project, kind, algorithm, cluster):
    boxes = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [kind]})
    annotator = api.made(f"Annotators/{project}", {"name": "fish", "type": boxes, "algorithm": algorithm})
    body = {"name": "predict", "types": ["limn.media.created"], "annotator": annotator, "every": 5}
    rule = api.made(f"TriggerRules/{project}", body)
    media = make_media(api, project, kind, "a.jpg")
    run()
    run()
    assert jobs(api, project) == [[media]]
    shown = api.get(f"TriggerRule/{rule}").json
    assert (shown["algorithm"], shown["annotator"], shown["every"]) == (None, annotator, 5)
    said = api.post(f"TriggerRules/{project}", body | {"algorithm": algorithm})
    assert (said.status, "algorithm, annotator: give one of them" in said.message) == (400, True)
    assert api.patch(f"TriggerRule/{rule}", {"algorithm": algorithm, "every": 1}).status == 200
    assert api.get(f"TriggerRule/{rule}").json["annotator"] is None
    assert api.post(f"TriggerRules/{project}", body | {"annotator": annotator + 99}).status == 400


def test_a_rule_that_launches_itself_ends_with_a_reason(api, project, kind, rule, cluster, monkeypatch):
    monkeypatch.setattr(rules, "MOST_LAUNCHES", 3)
    make_media(api, project, kind, "a.jpg")
    for _ in range(6):
        run()
        newest = max(api.get(f"Jobs/{project}").json, key=lambda job: job["media_ids"])
        if newest["media_ids"][0] == max(each["id"] for each in api.get(f"Medias/{project}").json):
            step = Api(api.user, parameters(cluster.one(newest["uid"]))["rest_token"])
            make_media(step, project, kind, "a.jpg")
    assert len(jobs(api, project)) == 3
    shown = api.get(f"TriggerRule/{rule}").json
    assert (shown["active"], shown["disabled_reason"]) == (False, "launches_itself")
    assert "3 launches by rules, one after another" in shown["disabled_details"]


def test_media_of_people_begin_a_chain_anew(api, project, kind, rule, cluster, monkeypatch):
    monkeypatch.setattr(rules, "MOST_LAUNCHES", 1)
    for _ in range(3):
        make_media(api, project, kind, "a.jpg")
        run()
    assert len(jobs(api, project)) == 3
    assert api.get(f"TriggerRule/{rule}").json["active"]
