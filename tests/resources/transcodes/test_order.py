"""The order of a transcode's work among that of other videos: what lets a video be watched goes first."""

import pytest

from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.resources.transcodes import steps
from chalicelib.resources.transcodes.results import Workshop
from chalicelib.settings import override, settings
from chalicelib.video import plan
from chalicelib.video.process import isolation
from functions import transcode as function
from tests.queue_runner import run_once
from tests.resources.media.samples import media_type, transcode, video

LADDER = [ResolutionConfig(resolution=height, preset="ultrafast") for height in (32, 48)]


@pytest.fixture
def work(monkeypatch):
    """What ran, in order: (job, "small" or "large") for each piece, and (job, "shown") for each small rendition."""
    done = []
    run, make = isolation.run, Workshop.make

    def noted_run(task, source, *arguments, **options):
        made = run(task, source, *arguments, **options)
        if task.__name__ == "encode_piece":
            done.append("small" if arguments[0].renditions[0].height == 32 else "large")
        return made

    def noted_make(self, results, group):
        if group == 0:
            done.append("shown")
        return make(self, results, group)

    monkeypatch.setattr(plan, "LONG_WORK", 0)
    monkeypatch.setattr(steps.isolation, "run", noted_run)
    monkeypatch.setattr(Workshop, "make", noted_make)
    return done


def run_until(work, finished):
    """Give the function one message after the other until `finished(work)`; what ran since the start."""
    for _ in range(100):
        if finished(work):
            return work
        if not run_once(settings().transcode_queue_url, function.handler):
            break
    assert finished(work), work
    return work


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 2])
def test_videos_uploaded_together_can_all_be_watched_before_a_large_piece_is_encoded(api, project, work, at_once):
    type_ = media_type(project, streaming_config=LADDER)
    with override(piece_seconds=1.0, pieces_at_once=at_once):
        jobs = [transcode(api, project, type_, video(75)).json["id"] for _ in range(2)]
        api.drain()
    first = work[: work.index("large")]
    assert sorted(first) == ["shown"] * 2 + ["small"] * 8
    assert work[len(first) :] == ["large"] * 8
    assert [api.get(f"Transcode/{job}").json["job"]["status"] for job in jobs] == ["succeeded"] * 2


@pytest.mark.slow
def test_a_later_video_waits_for_one_large_piece_of_an_earlier_one(api, project, work):
    type_ = media_type(project, streaming_config=LADDER)
    with override(piece_seconds=1.0, pieces_at_once=1):
        transcode(api, project, type_, video(75))
        run_until(work, lambda ran: ran[-1:] == ["large"])
        later = transcode(api, project, type_, video(25))
        before = len(work)
        run_until(work, lambda ran: ran[before:].count("shown") == 1)
        # one was queued before the plan, and one as that ended
        assert work[before:].count("large") <= 2
        media = api.get(f"Media/{later.json['media_id']}").json
        assert [entry["resolution"][0] for entry in media["media_files"]["streaming"]] == [32]
        api.drain()
    assert work.count("large") == 5


@pytest.mark.slow
def test_large_pieces_are_encoded_with_less_priority_than_small_ones(api, project, work, monkeypatch):
    given, run = [], steps.isolation.run

    def noted(task, source, *arguments, **options):
        if task.__name__ == "encode_piece":
            given.append((arguments[0].renditions[0].height, options["limits"].nice))
        return run(task, source, *arguments, **options)

    monkeypatch.setattr(steps.isolation, "run", noted)
    transcode(api, project, media_type(project, streaming_config=LADDER), video(25))
    api.drain()
    assert given == [(32, 0), (48, 10)]


@pytest.mark.slow
def test_a_chain_that_broke_goes_on_when_its_message_comes_again(api, project, work, monkeypatch):
    type_ = media_type(project, streaming_config=LADDER)
    with override(piece_seconds=1.0, pieces_at_once=1):
        job = transcode(api, project, type_, video(75)).json["id"]
        run_until(work, lambda ran: ran[-1:] == ["shown"])
        with monkeypatch.context() as patch:
            patch.setattr(steps, "_queue_second_group", lambda *_: 1 / 0)
            run_until(work, lambda ran: ran[-1:] == ["large"])
        steps.encode(job, 4)
        api.drain()
    assert work.count("large") == 4
    assert api.get(f"Transcode/{job}").json["job"]["status"] == "succeeded"
