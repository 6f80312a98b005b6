"""What a container of the API imports before its first answer, counted: time is `make bench`'s and the night's."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from infra.package import ROOT

LATER = {
    "duckdb": "the first query of a view",
    "simsimd": "the first query by distance",
    "av": "the first frame",
    "PIL": "the first picture",
    "pi_heif": "an import, which is the transcode function's",
    "luqum": "the first search string",
    "jinja2": "the first page for people",
    "swagger_ui_bundle": "the first page for people",
    "cryptography": "the first secret",
    "argon2": "the first password",
    "requests": "the first URL of elsewhere",
    "aws_lambda_powertools": "what the queue functions use",
    "numpy": "nothing",
}
"""What is imported when it is needed first, and by what."""
MOST = 1_129
"""Modules of `import app`, Python's own among them, and one more. Each costs about a millisecond of a cold start."""


@pytest.fixture(scope="module")
def started():
    """The modules after a cold start, whether garbage is collected then, and how many objects that leaves out."""
    code = "import app, gc, json, sys; print(json.dumps([[*sys.modules], gc.isenabled(), gc.get_freeze_count()]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def imported(started):
    return started[0]


def test_what_is_needed_later_is_imported_later(imported):
    assert "chalicelib.http.dispatch" in imported
    assert {name.partition(".")[0] for name in imported} & set(LATER) == set()


@pytest.mark.slow
def test_the_schema_of_a_package_is_the_one_that_would_be_made(monkeypatch, tmp_path):
    from chalicelib.api import site

    monkeypatch.setattr(site, "BUILT_SCHEMA", tmp_path / "schema.json")
    made = site.schema_for('https://limn.example.org/a"b')
    site.build_schema()
    assert site.schema_for('https://limn.example.org/a"b') == made
    assert json.loads(made)["servers"][0]["url"] == 'https://limn.example.org/a"b'
    monkeypatch.setattr(site.openapi, "document", None)
    assert site.schema_for("/") != made


def test_garbage_is_collected_after_a_cold_start(started):
    _, is_enabled, frozen = started
    assert is_enabled
    assert frozen > 100_000


def test_a_cold_start_imports_no_more_modules_than_it_did(imported):
    assert len(imported) < MOST, "import what is new when it is needed; else raise MOST"
