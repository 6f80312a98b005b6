"""`limn annotator`: what its commands refuse before anything is served or registered."""

from __future__ import annotations

import sys

import pytest

from infra.client import failures


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Give an ONNX file or --classic"),
        (("a.onnx", "--classic"), "Give an ONNX file or --classic"),
        (("--classic", "--host", "0.0.0.0"), "set LIMN_ANNOTATOR_TOKEN"),
    ],
)
def test_serve_says_what_is_missing(limn, monkeypatch, words, says):
    monkeypatch.delenv("LIMN_ANNOTATOR_TOKEN", raising=False)
    ran = limn("annotator", "serve", *words)
    assert (ran.status, says in ran.err) == (failures.USAGE, True), ran.err


def test_serve_without_its_libraries_names_the_extra(limn, monkeypatch):
    monkeypatch.setitem(sys.modules, "infra.client.annotator.server", None)
    ran = limn("annotator", "serve", "--classic")
    assert "pip install '.[annotators]'" in ran.err


def test_register_takes_its_token_from_the_environment(limn, monkeypatch):
    monkeypatch.delenv("LIMN_ANNOTATOR_TOKEN", raising=False)
    ran = limn("annotator", "register", "http://127.0.0.1:1/x", "--type", "1")
    assert "Set LIMN_ANNOTATOR_TOKEN" in ran.err
    monkeypatch.setenv("LIMN_ANNOTATOR_TOKEN", "t")
    ran = limn("annotator", "register", "http://127.0.0.1:1/x", "--type", "1")
    assert "does not answer as a served model" in ran.err
