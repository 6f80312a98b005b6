"""`infra.deploy smoke`: a step that does not work is named, with what was answered."""

from __future__ import annotations

import pytest

from infra import deploy
from infra.operating.smoke import Broken, Smoke
from tests.loopback import Handler, Server


def test_a_service_that_does_not_answer_is_said_with_the_step(capsys, monkeypatch):
    monkeypatch.setenv("LIMN_TOKEN", "any")
    assert deploy.main(["smoke", "http://127.0.0.1:9", "1"]) == 1
    assert capsys.readouterr().err.startswith("health: http://127.0.0.1:9 does not answer: ")


@pytest.mark.parametrize(
    ("url", "token", "said"),
    [("http://127.0.0.1:9", "", "LIMN_TOKEN is not set"), ("limn.example.org", "any", "url: ")],
)
def test_what_is_missing_is_said_before_anything_is_asked(capsys, monkeypatch, url, token, said):
    monkeypatch.setenv("LIMN_TOKEN", token)
    assert deploy.main(["smoke", url, "1"]) == 1
    assert capsys.readouterr().err.startswith(said)


def test_a_project_is_deleted_where_a_later_step_fails(monkeypatch):
    asked = []

    def answer(self, method, path, _body=None):
        asked.append((method, path))
        if path.startswith("MediaTypes"):
            raise Broken("POST MediaTypes: 500")
        return {"id": 7}

    monkeypatch.setattr(Smoke, "_ask", answer)
    with pytest.raises(Broken, match="upload: POST MediaTypes: 500"):
        Smoke("http://127.0.0.1:9", "any", lambda _: None).run(1)
    assert asked[-1] == ("DELETE", "Project/7")


def test_a_page_in_place_of_an_answer_is_told(local_page):
    with pytest.raises(Broken, match="health: GET HealthCheckFull: text/html came, not application/json"):
        Smoke(local_page, "any", lambda _: None).run(1)


def test_a_project_that_stays_is_named_with_what_went_wrong_first(monkeypatch):
    def answer(self, method, path, _body=None):
        if path.startswith(("MediaTypes", "Project/")):
            raise Broken(f"{method} {path}: 500")
        return {"id": 7}

    monkeypatch.setattr(Smoke, "_ask", answer)
    with pytest.raises(Broken) as broken:
        Smoke("http://127.0.0.1:9", "any", lambda _: None).run(1)
    assert str(broken.value).splitlines() == [
        "upload: POST MediaTypes/7: 500",
        "delete: DELETE Project/7: 500",
        "The project 7 is still there.",
    ]


@pytest.fixture
def local_page():
    """The address of a server that answers every GET with a page."""

    class Page(Handler):
        def do_GET(self):
            self.answer(200, b"<html>", {"Content-Type": "text/html; charset=utf-8"})

    with Server(Page) as server:
        yield server.url
