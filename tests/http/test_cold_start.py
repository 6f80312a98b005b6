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
MOST = 1_090
"""Modules of `import app`, Python's own among them; 975 now. Each costs about a millisecond of a cold start."""


@pytest.fixture(scope="module")
def imported():
    code = "import app, json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_what_is_needed_later_is_imported_later(imported):
    assert "chalicelib.http.dispatch" in imported
    assert {name.partition(".")[0] for name in imported} & set(LATER) == set()


def test_a_cold_start_imports_no_more_modules_than_it_did(imported):
    assert len(imported) < MOST
