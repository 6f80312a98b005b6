"""Clicks, tracking, vectors and classes through HTTP, and the jobs that write them."""

from __future__ import annotations

import base64
import io
import uuid

import pytest
from PIL import Image

from chalicelib.resources.annotators import frames, run
from tests.resources.media.samples import media_type, transcode, video

SIDES = {"x": 0.25, "y": 0.5, "width": 0.25, "height": 0.25}
# the pixels 16 to 31 across and 24 to 35 down, of 64 x 48, as rows
SQUARE = [[int(16 <= x < 32 and 24 <= y < 36) for x in range(64)] for y in range(48)]
pytestmark = pytest.mark.usefixtures("allowed")


@pytest.fixture
def kinds(api, project):
    """Types of media, of boxes with masks, of tracks, and of states of frames."""
    media = media_type(project, dtype="video")
    attributes = [{"name": "Label", "dtype": "string"}, {"name": "Score", "dtype": "float"}]
    attributes.append({"name": "Model", "dtype": "string"})
    vector = {"name": "Look", "dtype": "float_array", "size": 3}
    boxes = {"name": "b", "dtype": "box", "media_types": [media], "refinements": ["mask"]}
    state = {"media_types": [media], "attribute_types": attributes}
    return {
        "media": media,
        "box": api.made(f"LocalizationTypes/{project}", boxes | {"attribute_types": [*attributes, vector]}),
        "track": api.made(f"StateTypes/{project}", {"name": "t", "association": "Localization", **state}),
        "frame": api.made(f"StateTypes/{project}", {"name": "f", "association": "Frame", **state}),
    }


@pytest.fixture
def media(api, project, kinds):
    number = transcode(api, project, kinds["media"], video(12, 64, 48)).json["media_id"]
    api.drain()
    return number


@pytest.fixture
def annotator(api, project, kinds, server):
    def make(**more):
        names = {"label_attribute": "Label", "confidence_attribute": "Score", "model_attribute": "Model"}
        body = {"name": f"m {uuid.uuid4().hex[:6]}", "url": f"{server.url}/m", "type": kinds["box"], **names, **more}
        return api.made(f"Annotators/{project}", {name: value for name, value in body.items() if value is not None})

    return make


@pytest.fixture
def job(api, monkeypatch):
    """Runs the script of a job as its step does."""

    def ask(method, path, body=None, **query):
        if path.startswith("Job/"):
            return None
        if isinstance(body, bytes):
            monkeypatch.setitem(api.headers, "Content-Type", "text/csv")
            said = api.ask(method, path, raw=body, **query)
            monkeypatch.delitem(api.headers, "Content-Type")
        else:
            said = api.ask(method, path, body, **query)
        assert said.status < 400, (method, path, said.body)
        return said.json

    def work(**values):
        monkeypatch.setattr(run, "ask", ask)
        run._known.clear()
        monkeypatch.setenv("JOB", str(uuid.uuid5(uuid.NAMESPACE_URL, "job")))
        plain = {"SEEDS": "", "ATTRIBUTE": "", "ANEW": 0, "START": 0, "STOP": "", "EVERY": 1, "VERSION": ""}
        for name, value in (plain | values).items():
            monkeypatch.setenv(name, str(value))
        run.main()

    return work


class TestClicks:
    def test_the_picture_is_sent_once_and_the_mask_fits_its_media(self, api, project, media, server, annotator, kinds):
        seen = set()

        def reply(_, body):
            if "image" in body:
                seen.add(body["key"])
            runs = [16 * 48 + 24, *[12, 36] * 15, 12, 12 + 32 * 48]
            return {"masks": [{"size": [48, 64], "counts": runs}]} if body["key"] in seen else 409

        server.reply = reply
        number = annotator(prompts=["points"], model_version="2")
        assert api.get(f"Annotator/{number}").json["kind"] == "interactor"
        body = {"annotator": number, "frame": 3, "points": [{"x": 0.4, "y": 0.6}]}
        first, second = (api.post(f"Segmentation/{media}", body).json for _ in range(2))
        assert (first["was_sent"], second["was_sent"]) == (True, False)
        assert ["image" in each for _, _, each in server.asked] == [False, True, False]
        found = second["localization"]
        assert {name: found[name] for name in SIDES} == SIDES
        assert found["attributes"]["Model"].endswith(" 2")
        made = api.post(f"Localizations/{project}", [{**found, "media_id": media}])
        assert made.status == 201, made.body
        other = api.post(f"Segmentation/{media}", body | {"frame": 4}).json
        assert other["was_sent"] is True

    def test_an_interactor_of_cvat_is_asked_with_the_picture_and_may_find_nothing(
        self, api, media, server, annotator, kinds
    ):
        answers = [{"mask": SQUARE}, []]
        server.reply = lambda *_: answers.pop(0)
        number = annotator(prompts=["points", "box"], convention="nuclio")
        body = {"annotator": number, "box": SIDES}
        said = api.post(f"Segmentation/{media}", body).json
        assert said["localization"]["mask"]["size"] == [12, 16]
        assert api.post(f"Segmentation/{media}", body).json.get("localization") is None

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ({}, "points, box: give clicks"),
            ({"box": SIDES}, "box: the annotator"),
            ({"points": [{"x": 2, "y": 0}]}, "points"),
            ({"points": [{"x": 0, "y": 0}] * 101}, "points"),
            ({"points": [{"x": 0, "y": 0}], "form": "polygon"}, "form: the type 'b' holds no polygon; it holds mask"),
            ({"points": [{"x": 0, "y": 0}], "frame": 99}, "frame"),
        ],
    )
    def test_what_it_refuses(self, api, media, server, annotator, more, says):
        server.reply = lambda *_: 409
        number = annotator(prompts=["points"])
        said = api.post(f"Segmentation/{media}", {"annotator": number, **more})
        assert (said.status, says in said.body.decode()) == (400, True), said.body

    def test_another_kind_of_annotator_and_one_that_never_knows_the_picture(self, api, media, server, annotator):
        server.reply = lambda *_: 409
        body = {"points": [{"x": 0, "y": 0}]}
        said = api.post(f"Segmentation/{media}", body | {"annotator": annotator()})
        assert (said.status, "is a detector" in said.message) == (400, True)
        said = api.post(f"Segmentation/{media}", body | {"annotator": annotator(prompts=["points"])})
        assert said.status == 503


def moving(_, body):
    """A tracker whose boxes move to the right by a sixteenth, until they reach three quarters."""
    if body["states"] is None:
        return {"boxes": body["boxes"], "states": [0] * len(body["boxes"])}
    moved = [{**each, "x": each["x"] + 1 / 16, "confidence": 0.5} for each in body["boxes"]]
    kept = [each if each["x"] <= 0.75 else None for each in moved]
    return {"boxes": kept, "states": [state + 1 for state in body["states"]]}


class TestTracking:
    def test_boxes_are_followed_until_they_are_lost(self, api, media, server, annotator):
        server.reply = moving
        number = annotator(kind="tracker")
        boxes = [{**SIDES, "x": 0.625}, SIDES]
        said = api.post(f"Tracking/{media}", {"annotator": number, "frame": 2, "stop": 5, "boxes": boxes}).json
        assert [each["frame"] for each in said["frames"]] == [3, 4, 5]
        assert [each["boxes"][0] is None for each in said["frames"]] == [False, False, True]
        assert said["frames"][2]["boxes"][1]["x"] == pytest.approx(0.25 + 3 / 16)
        assert (said.get("next"), said["states"]) == (None, [3, 3])
        last = said["frames"][-1]["boxes"]
        going = [each and {name: each[name] for name in SIDES} for each in last]
        again = {"annotator": number, "frame": 5, "stop": 6, "boxes": going, "states": said["states"]}
        said = api.post(f"Tracking/{media}", again).json
        assert [each is None for each in said["frames"][0]["boxes"]] == [True, False]

    def test_it_goes_back_and_stops_with_the_time_of_the_request(self, api, media, server, annotator, monkeypatch):
        server.reply = moving
        monkeypatch.setattr(frames, "ENOUGH_SECONDS", 1e9)
        body = {"annotator": annotator(kind="tracker"), "frame": 5, "stop": 0, "boxes": [SIDES]}
        said = api.post(f"Tracking/{media}", body).json
        assert ([each["frame"] for each in said["frames"]], said["next"]) == ([4], 3)

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ({"stop": 2}, "stop: give the last frame"),
            ({"boxes": []}, "boxes"),
            ({"boxes": [{**SIDES, "width": 0.9}]}, "boxes[0]"),
            ({"states": [1, 2]}, "states: as many"),
            ({"stop": 99, "boxes": [{**SIDES, "x": 0}]}, "frames: 12 does not exist"),
        ],
    )
    def test_what_it_refuses(self, api, media, server, annotator, more, says):
        server.reply = moving
        body = {"annotator": annotator(kind="tracker"), "frame": 2, "stop": 5, "boxes": [SIDES]} | more
        said = api.post(f"Tracking/{media}", body)
        assert (said.status, says in said.body.decode()) == (400, True)

    @pytest.mark.slow
    def test_a_job_writes_the_boxes_and_the_track_once_however_often_it_runs(
        self, api, project, media, server, annotator, kinds, job
    ):
        server.reply = moving
        number = annotator(kind="tracker", track_type=kinds["track"])
        layer = api.get(f"Annotator/{number}").json["drafts"]
        seed = {**SIDES, "media_id": media, "frame": 2, "type": kinds["box"], "attributes": {"Label": "cod"}}
        [first] = api.post(f"Localizations/{project}", [seed]).json["id"]
        for _ in range(2):
            job(MEDIA=media, ANNOTATOR=number, VERSION=layer, TYPE=kinds["box"], SEEDS=first)
        found = api.get(f"Localizations/{project}", version=layer).json
        assert [each["frame"] for each in found] == list(range(3, 11))
        assert {each["attributes"]["Label"] for each in found} == {"cod"}
        assert {each["parent"] for each in found} == {first}
        [track] = api.get(f"States/{project}", version=layer).json
        assert track["localizations"] == [each["id"] for each in found]


class TestClassesAndTracks:
    def test_classes_of_a_frame_become_states(self, api, media, server, annotator, kinds):
        server.reply = lambda *_: {"classes": [{"label": "night", "confidence": 0.75}], "boxes": [SIDES]}
        said = api.post(f"Prediction/{media}", {"annotator": annotator(type=kinds["frame"]), "frame": 2}).json
        [state] = said["states"]
        assert (state["frame"], state["attributes"]["Label"], state["attributes"]["Score"]) == (2, "night", 0.75)
        assert (said["localizations"], said["left_out"]) == ([], 1)

    @pytest.mark.slow
    def test_a_job_joins_shapes_of_one_key_into_a_track_of_the_layer_of_drafts(
        self, api, project, media, server, annotator, kinds, job
    ):
        server.reply = lambda *_: {"boxes": [{**SIDES, "label": "cod", "track": "a"}, {**SIDES, "x": 0}]}
        number = annotator(track_type=kinds["track"])
        layer = api.get(f"Annotator/{number}").json["drafts"]
        for _ in range(2):
            job(MEDIA=media, ANNOTATOR=number, VERSION=layer, TYPE=kinds["box"], START=2, STOP=5)
        found = api.get(f"Localizations/{project}", version=layer).json
        assert sorted(each["frame"] for each in found) == [2, 2, 3, 3, 4, 4]
        [track] = api.get(f"States/{project}", version=layer).json
        assert (len(track["localizations"]), track["attributes"]["Label"]) == (3, "cod")


class TestEmbeddings:
    @pytest.mark.slow
    def test_a_job_writes_vectors_of_crops_where_there_are_none(
        self, api, project, media, server, annotator, kinds, job
    ):
        def reply(_, body):
            sizes = [Image.open(io.BytesIO(base64.b64decode(each))).size for each in body["images"]]
            return {"vectors": [[width, height, 1] for width, height in sizes]}

        server.reply = reply
        number = annotator(kind="embedder", embedding_attribute="Look")
        seed = {**SIDES, "media_id": media, "type": kinds["box"]}
        made = api.post(f"Localizations/{project}", [{**seed, "frame": frame} for frame in range(3)]).json["id"]
        values = {"MEDIA": media, "ANNOTATOR": number, "TYPE": kinds["box"], "ATTRIBUTE": "Look"}
        job(**values)
        rows = api.get(f"Localizations/{project}").json
        assert [each["attributes"]["Look"] for each in rows] == [[frames.CROP, frames.CROP, 1]] * 3
        count = len(server.asked)
        job(**values)
        assert len(server.asked) == count
        said = api.post(f"Embeddings/{media}", {"annotator": number, "localization_ids": [made[0], 99999]})
        assert said.status == 404
        server.reply = lambda _, body: {"vectors": [[1, 2]] * len(body["images"])}
        said = api.post(f"Embeddings/{media}", {"annotator": number, "localization_ids": made})
        assert (said.status, "'Look' takes 3" in said.message) == (400, True)
