"""Annotators: registration through the guard, the three conventions, and writing boxes into a version."""

from __future__ import annotations

import io
import json
import time
import urllib.parse

import pytest

from chalicelib.resources.annotators import run, service
from chalicelib.workflows.checks import Engine, check
from tests.races import meanwhile
from tests.resources.media.samples import media_type, picture, transcode, uploaded, video
from tests.sweeps import sweep

SIDES = {"x": 0.25, "y": 0.5, "width": 0.25, "height": 0.25}
pytestmark = pytest.mark.usefixtures("allowed")


@pytest.fixture
def types(api, project):
    kind = media_type(project, dtype="video")
    attributes = [{"name": "Label", "dtype": "string"}, {"name": "Score", "dtype": "float"}]
    body = {"name": "b", "dtype": "box", "media_types": [kind], "attribute_types": attributes}
    return kind, api.made(f"LocalizationTypes/{project}", body)


@pytest.fixture
def media(api, project, types):
    said = transcode(api, project, types[0], video(30, 64, 48)).json
    api.drain()
    return said["media_id"]


def spec(server, types, path="/limn", **more):
    named = {"label_attribute": "Label", "confidence_attribute": "Score"}
    return {"name": "fish", "url": f"{server.url}{path}", "type": types[1], **named, **more}


class TestRegistration:
    def test_it_is_shown_without_its_headers_and_changed(self, api, project, types, server):
        headers = [{"name": "Authorization", "value": "Bearer secret"}]
        number = api.made(f"Annotators/{project}", spec(server, types, headers=headers))
        shown = api.get(f"Annotator/{number}").json
        assert (shown["name"], shown["convention"], shown["type"]) == ("fish", "limn", types[1])
        assert "secret" not in json.dumps(shown)
        assert api.patch(f"Annotator/{number}", {"convention": "nuclio"}).status == 200
        assert api.get(f"Annotators/{project}").json[0]["convention"] == "nuclio"
        assert api.delete(f"Annotator/{number}").status == 200
        assert api.get(f"Annotators/{project}").json == []

    def test_a_change_of_server_takes_the_headers_again(self, api, project, types, server):
        key = [{"name": "Authorization", "value": "Bearer secret"}]
        number = api.made(f"Annotators/{project}", spec(server, types, headers=key))
        elsewhere = {"url": "https://collector.example/x"}
        said = api.patch(f"Annotator/{number}", elsewhere)
        assert (said.status, said.message.startswith("headers: ")) == (400, True)
        assert api.patch(f"Annotator/{number}", {"url": f"{server.url}/other"}).status == 200
        assert api.patch(f"Annotator/{number}", {**elsewhere, "headers": []}).status == 200

    def test_a_change_of_server_meanwhile_gets_no_new_headers(self, api, project, types, server):
        number = api.made(f"Annotators/{project}", spec(server, types))
        key = [{"name": "Authorization", "value": "Bearer secret"}]
        with meanwhile(lambda: api.patch(f"Annotator/{number}", {"headers": key})) as other:
            said = api.patch(f"Annotator/{number}", {"url": "https://collector.example/x"})
        assert (other.answer.status, said.status) == (200, 400)
        assert api.get(f"Annotator/{number}").json["url"] == f"{server.url}/limn"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("Host", "inside"),
            ("transfer-encoding", "chunked"),
            ("Content-Length", "3"),
            ("a b", "x"),
            ("X-Key", "a\r\nb"),
        ],
    )
    def test_headers_of_the_connection_and_line_ends_are_refused(self, api, project, types, server, name, value):
        headers = [{"name": name, "value": value}]
        said = api.post(f"Annotators/{project}", spec(server, types, headers=headers))
        assert (said.status, said.message.startswith("headers: ")) == (400, True)

    @pytest.mark.parametrize(
        "url",
        [
            *("http://127.0.0.1:1", "https://localhost", "https://10.0.0.1/x", "http://example.org", "ftp://a"),
            *("x\r\ny", "https://[::1]", "https://169.254.169.254/latest", "https://u:p@example.org"),
        ],
    )
    def test_a_url_inside_is_refused(self, api, project, types, server, url):
        said = api.post(f"Annotators/{project}", spec(server, types) | {"url": url})
        assert said.status == 400
        assert "url" in said.message

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ({"type": 99999}, "not a localization type of boxes"),
            ({"prompts": ["points"], "kind": "detector"}, "prompts: an interactor"),
            ({"kind": "interactor"}, "prompts: an interactor"),
            ({"kind": "tracker", "convention": "label-studio"}, "a tracker follows limn, nuclio"),
            ({"kind": "embedder"}, "embedding_attribute: an embedder needs"),
            ({"kind": "embedder", "embedding_attribute": "Label"}, "'Label' is of dtype string"),
            ({"track_type": 99999}, "with the association Localization"),
            ({"label_attribute": "Lable"}, "it has Label, Score"),
            ({"algorithm": "a"}, "one of them"),
            ({"url": None}, "one of them"),
            ({"url": None, "algorithm": "none"}, "none"),
        ],
    )
    def test_what_does_not_fit_is_named(self, api, project, types, server, more, says):
        said = api.post(
            f"Annotators/{project}", {k: v for k, v in (spec(server, types) | more).items() if v is not None}
        )
        assert said.status in (400, 404)
        assert says in said.message

    def test_it_takes_full_control(self, project, types, server, member):
        assert member("Can Execute").post(f"Annotators/{project}", spec(server, types)).status == 403


class TestPrediction:
    @sweep("convention, path", [("limn", "/limn"), ("label-studio", ""), ("nuclio", "/nuclio")])
    def test_each_convention_gives_the_same_boxes(self, api, project, types, media, server, convention, path):
        headers = [{"name": "X-Key", "value": "secret"}]
        wanted = spec(server, types, path, convention=convention, headers=headers, name=f"fish {convention}")
        number = api.made(f"Annotators/{project}", wanted)
        said = api.post(f"Prediction/{media}", {"annotator": number, "frame": 7})
        assert said.status == 200, said.body
        assert said.json["boxes"] == [{**SIDES, "label": "fish", "confidence": 0.75}]
        attributes = {"Label": "fish", "Score": 0.75}
        layer = api.get(f"Annotator/{number}").json["drafts"]
        body = {"type": types[1], "frame": 7, "version": layer, **SIDES, "attributes": attributes}
        assert said.json["localizations"] == [body]
        assert (said.json["version"], said.json["model"]) == (layer, f"fish {convention}")
        path, sent, _ = server.asked[-1]
        assert path == ("/predict" if convention == "label-studio" else path)
        assert sent["X-Key"] == "secret"

    def test_an_answer_that_is_not_200_and_json_gets_one_sentence(self, api, project, types, media, server):
        number = api.made(f"Annotators/{project}", spec(server, types))
        answers = ((500, b"{}"), (200, b"<html>"), (302, b""), (200, b"1" * 4_000_001), (200, b"[" * 100_000))
        for status, answer in answers:
            server.status, server.answer = status, answer
            said = api.post(f"Prediction/{media}", {"annotator": number})
            sentence = "The annotator fish does not answer with 200 and JSON at the moment."
            assert (said.status, said.message) == (503, sentence), (status, answer[:9])

    @pytest.mark.slow
    def test_an_answer_that_trickles_in_is_given_up_after_its_time(
        self, api, project, types, media, server, monkeypatch
    ):
        monkeypatch.setattr(service, "ANSWER_SECONDS", 0.5)
        number = api.made(f"Annotators/{project}", spec(server, types))
        server.pause = 0.1
        began = time.monotonic()
        assert api.post(f"Prediction/{media}", {"annotator": number}).status == 503
        assert time.monotonic() - began < 5

    def test_an_answer_of_another_convention_is_refused_by_name(self, api, project, types, media, server):
        number = api.made(f"Annotators/{project}", spec(server, types))
        server.answer = b'[{"points": [1, 2, 3, 4]}]'
        said = api.post(f"Prediction/{media}", {"annotator": number})
        assert (said.status, "does not follow the convention limn" in said.message) == (400, True)

    def test_it_takes_can_execute_and_an_annotator_of_the_project(self, api, project, types, media, server, member):
        number = api.made(f"Annotators/{project}", spec(server, types))
        assert member("Can Transfer").post(f"Prediction/{media}", {"annotator": number}).status == 403
        assert api.post(f"Prediction/{media}", {"annotator": number + 1000}).status == 400
        assert api.post(f"Prediction/{media}", {"annotator": number, "frame": 30}).status == 400


class TestAnnotate:
    def test_its_workflow_is_one_that_every_engine_takes(self):
        for engine in Engine:
            assert check(service.manifest(), engine)

    @pytest.mark.slow
    def test_its_script_writes_boxes_once_however_often_it_runs(self, api, project, types, media, server, monkeypatch):
        number = api.made(f"Annotators/{project}", spec(server, types))
        version = api.made(f"Versions/{project}", {"name": "model"})
        reports = []

        def ask(method, path, body=None, **query):
            if path.startswith("Job/"):
                return reports.append(body["progress"])
            said = api.ask(method, path, body, **query)
            assert said.status < 400, (path, said.body)
            return said.json

        monkeypatch.setattr(run, "ask", ask)
        values = {"MEDIA": media, "ANNOTATOR": number, "VERSION": version, "TYPE": types[1], "JOB": "j"}
        values |= {"SEEDS": "", "ATTRIBUTE": "", "ANEW": 0}
        for name, value in (values | {"START": 2, "STOP": 20, "EVERY": 5}).items():
            monkeypatch.setenv(name, str(value))
        for _ in range(2):
            run.main()
        found = api.get(f"Localizations/{project}", media_id=media, version=version).json
        assert sorted(box["frame"] for box in found) == [2, 7, 12, 17]
        assert {box["attributes"]["Label"] for box in found} == {"fish"}
        assert [(report["done"], report["total"]) for report in reports] == [(1, 1)] * 2

    def test_an_image_has_one_frame(self, api, project, types, server, monkeypatch):
        kind = media_type(project, dtype="image")
        url = uploaded(api, project, picture(64, 48), "a.jpg")
        body = {"type": kind, "name": "a.jpg", "url": url, "section": "s", "md5": ""}
        number = api.post(f"Medias/{project}", [body]).json["id"][0]
        api.drain()
        annotator = api.made(f"Annotators/{project}", spec(server, types))
        said = api.post(f"Prediction/{number}", {"annotator": annotator})
        assert said.json["boxes"][0]["label"] == "fish"

    def test_what_it_refuses(self, api, project, types, server, member):
        number = api.made(f"Annotators/{project}", spec(server, types))
        version = api.made(f"Versions/{project}", {"name": "model"})
        media = api.made(f"Medias/{project}", [{"type": types[0], "name": "a.jpg", "md5": "", "section": "s"}])
        body = {"annotator": number, "version": version, "media_ids": media}
        assert api.post(f"Annotate/{project}", body | {"version": 9999}).status == 404
        assert api.post(f"Annotate/{project}", body | {"annotator": 9999}).status == 400
        assert "media_ids" in str(api.post(f"Annotate/{project}", {"annotator": number, "version": version}).json)
        assert member("Can Transfer").post(f"Annotate/{project}", body).status == 403
        said = api.post(f"Annotate/{project}", body)
        assert (said.status, "no AWS Batch queue" in said.message) == (400, True)


def test_ask_tries_again_where_the_api_is_busy_and_ends_with_what_it_says(monkeypatch):
    answers = [(503, b"busy"), (200, b'{"a": 1}')]
    asked = []

    def urlopen(request, timeout):
        asked.append((request.get_method(), request.full_url, timeout))
        status, body = answers.pop(0)
        if status != 200:
            raise run.urllib.error.HTTPError(request.full_url, status, "", {}, io.BytesIO(body))
        return io.BytesIO(body)

    monkeypatch.setattr(run.urllib.request, "urlopen", urlopen)
    monkeypatch.setattr(run.time, "sleep", lambda _: None)
    monkeypatch.setenv("HOST", "http://h")
    monkeypatch.setenv("TOKEN", "t")
    assert run.ask("DELETE", "Localizations/1", media_id=3, version=None) == {"a": 1}
    assert urllib.parse.urlsplit(asked[0][1]).query == "media_id=3"
    assert len(asked) == 2
    answers[:] = [(400, b"no such frame")]
    with pytest.raises(SystemExit, match="400 no such frame"):
        run.ask("GET", "x")
