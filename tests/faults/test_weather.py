"""Whole journeys on a bad day of AWS: all that is answered with success is there, and nothing is answered with 500."""

from __future__ import annotations

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.core.models.jobs import JOB
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.log import log
from chalicelib.storage.view import views
from infra.emulator import aws
from infra.emulator.sqs import messages_of
from infra.local.background.queues import queue_of
from tests.faults import figures
from tests.faults.weather import weather
from tests.queue_runner import handlers
from tests.resources.media.samples import media_type, transcode, video

SEEDS = range(3)
MORE_SEEDS = range(100, 130)
RATE = 0.04
PASSING = {"conflict", "unprocessed"}
"""Faults that the service is to bear without a word."""
TRIES = 12
MOST_DELIVERIES = 400


def insist(ask):
    """Ask as a patient client does: again after 429 and 503, and no other error is right."""
    for _ in range(TRIES):
        said = ask()
        assert said.status != 500, said.body
        if said.status not in (429, 503):
            return said
    raise AssertionError(f"{TRIES} times refused: {said.body}")


def annotate(api, project, faults=None):
    """A first hour, small: types, media, boxes, an edit of all, deletion of some; what must be seen at its end."""
    kind = insist(lambda: api.post(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})).json["id"]
    attribute = {"name": "n", "dtype": "int", "default": 0}
    spec = {"name": "b", "dtype": "box", "media_types": [kind], "attribute_types": [attribute]}
    box = insist(lambda: api.post(f"LocalizationTypes/{project}", spec)).json["id"]
    media = insist(lambda: api.post(f"Medias/{project}", {"type": kind, "name": "a", "md5": ""})).json["id"]
    acknowledged = set()
    for round_ in range(4):
        boxes = [{"media_id": media, "type": box, "frame": round_, "attributes": {"n": n}} for n in range(30)]
        said = insist(lambda boxes=boxes: api.post(f"Localizations/{project}", boxes))
        assert said.status == 201
        assert len(said.json["id"]) == 30
        acknowledged |= set(said.json["id"])
    listed = insist(lambda: api.get(f"Localizations/{project}")).json
    assert acknowledged <= {each["id"] for each in listed}
    assert len(listed) % 30 == 0  # an attempt that was not answered is there whole or not at all
    insist(lambda: api.patch(f"Localizations/{project}", {"attributes": {"n": 7}}, attribute="n::3"))
    insist(lambda: api.delete(f"Localizations/{project}", {}, attribute="n::5"))
    return acknowledged, listed


def whole(project):
    """What a view made anew shows is what the tables have."""
    numbers = [commit.seq for commit in log.read_after(project, 0)]
    assert numbers == list(range(1, len(numbers) + 1))
    views.drop(project)
    view = views.current(project)
    rows = {(kind, number) for kind, number, _ in entities.of_project(project)}
    for kind in Kind:
        mine = {number for found, number in rows if found is kind}
        assert view.exists(kind, range(1, max(mine, default=0) + 100)) >= mine


def check_annotations(api, project, acknowledged, listed):
    seen = {each["id"]: each["attributes"]["n"] for each in api.get(f"Localizations/{project}").json}
    before = {each["id"]: each["attributes"]["n"] for each in listed}
    assert set(seen) == {number for number, n in before.items() if n != 5}
    assert all(n == (7 if before[number] == 3 else before[number]) for number, n in seen.items())
    whole(project)


def transcode_small(api, project, seed):
    """A transcode whose messages come twice, and in the order of the seed."""
    type_ = media_type(project, streaming_config=[ResolutionConfig(resolution=64)])
    data = video(12, keyframes=6)
    with weather(seed, 0):
        said = transcode(api, project, type_, data)
    return said.json["id"], said.json["media_id"]


def work(seed):
    """Deliver all that waits: each message once more than needed, now this queue's first, now its last."""
    import random
    import time

    from infra.local.background.queues import Context, event_of, failures

    dice, functions = random.Random(seed), handlers()
    for _ in range(MOST_DELIVERIES):
        waiting = [(url, message) for url in functions for message in messages_of(queue_of(url, aws.REGION))]
        if not waiting:
            return
        url, message = dice.choice(waiting)
        queue = queue_of(url, aws.REGION)
        message.mark_received(visibility_timeout=900)
        message.approximate_receive_count = 1  # as many as it takes: how often is tested elsewhere
        context = Context("function", 1024, "arn", time.monotonic() + 0.05)
        answer = functions[url](event_of(queue, [message]), context)
        if not failures(answer, {message.id}) and dice.random() < 0.5:
            messages_of(queue).remove(message)
    raise AssertionError("the queues never became empty")


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_conflicts_and_half_done_batches_are_borne_without_a_word(api, project, seed):
    with weather(seed, 0.2, PASSING) as faults:
        acknowledged, listed = annotate(api, project)
    assert faults.counts
    assert {each["id"] for each in listed} == acknowledged
    check_annotations(api, project, acknowledged, listed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_first_hour_comes_out_right_in_bad_weather(api, project, seed):
    assert _first_hour(api, project, seed).counts


def _first_hour(api, project, seed):
    with weather(seed, RATE) as faults:
        acknowledged, listed = annotate(api, project)
    check_annotations(api, project, acknowledged, listed)
    return faults


def test_a_seed_replays(api, project):
    api.get(f"Project/{project}")
    counts = []
    for _ in range(2):
        with weather(5, 0.3) as faults:
            for _ in range(20):
                api.get(f"Project/{project}")
        counts.append(faults.counts)
    assert counts[0] == counts[1] != {}


@pytest.mark.slow
def test_a_transcode_in_bad_weather_is_done_once(api, project):
    _transcoded(api, project, 1)


def _transcoded(api, project, seed):
    uid, media = transcode_small(api, project, seed)
    before = log.last(project, fresh=True)
    with weather(seed, RATE) as faults:
        work(seed)
    assert records.get(JOB, uid).status == "succeeded"
    assert len(entities.get(Kind.MEDIA, media).media_files.streaming) == 1
    # the plan, the renditions (decision 028), and the note in the transaction of the job's end (decision 057);
    # a commit is empty where a write was throttled after it took its number
    assert len([commit for commit in log.read_after(project, before) if commit.changes or commit.notes]) == 3
    return faults


@pytest.mark.nightly
@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_journeys_come_out_right_in_any_weather(api, project, seed):
    faults = _first_hour(api, project, seed)
    more = _transcoded(api, project, seed)
    for kind, count in (faults.counts + more.counts).items():
        figures.note("faults injected", kind, count)
