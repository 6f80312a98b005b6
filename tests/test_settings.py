"""The configuration of a deployment: what is wrong with it is said when a function starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from chalicelib.settings import Misconfigured, Settings, settings
from infra.package import ROOT

ARNS = {
    "LIMN_JOB_QUEUE": "arn:aws:batch:eu-west-1:123456789012:job-queue/limn-dev-jobs",
    "LIMN_JOB_EXECUTION_ROLE": "arn:aws:iam::123456789012:role/limn-dev-batch-JobExecutionRole-1X",
    "LIMN_JOB_FILES_ROLE": "arn:aws:iam::123456789012:role/limn-dev-batch-JobFilesRole-1X",
}


@pytest.fixture
def read(monkeypatch):
    """Reads the environment with changes."""

    def read(**changes: str) -> Settings:
        for name, value in changes.items():
            monkeypatch.setenv(name, value)
        settings.cache_clear()
        return settings()

    yield read
    monkeypatch.undo()
    settings.cache_clear()


def test_without_batch_nothing_of_it_is_needed(read):
    assert read(**dict.fromkeys(ARNS, "")).job_queue == ""


def test_batch_is_there_whole(read):
    assert read(**ARNS).job_files_role == ARNS["LIMN_JOB_FILES_ROLE"]


@pytest.mark.parametrize("name", ARNS)
@pytest.mark.parametrize("value", ["", "limn-dev-jobs", "arn:aws:s3:::bucket"])
def test_half_of_batch_or_something_else_is_refused_by_name(read, name, value):
    with pytest.raises(Misconfigured, match=name):
        read(**{**ARNS, name: value})


@pytest.mark.parametrize("days", ["0", "4000", "many"])
def test_finished_jobs_are_kept_for_days(read, days):
    with pytest.raises(Misconfigured, match="LIMN_JOB_DAYS"):
        read(LIMN_JOB_DAYS=days)


def test_what_is_missing_is_named_all_at_once(read, monkeypatch):
    monkeypatch.delenv("LIMN_LOG_TABLE")
    with pytest.raises(Misconfigured, match=r"Not set: LIMN_LOG_TABLE, LIMN_KEY_ID\."):
        read(LIMN_KEY_ID="")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LIMN_PUBLIC_URL", "limn.example.org"),
        ("LIMN_PUBLIC_URL", "https://limn.example.org/"),
        ("LIMN_S3_ENDPOINT", "s3.example.org"),
        ("LIMN_AWS_ENDPOINT", "http://127.0.0.1:4566/"),
        ("LIMN_GCS_ENDPOINT", "ftp://storage.example.org"),
        ("LIMN_ALLOWED_ORIGINS", "https://a.example.org,b.example.org"),
        ("LIMN_STORE_ORIGINS", "https://store.example.org/bucket"),
        ("LIMN_MAP_TILES", "https://tiles.example.org/{z}/{x}.png"),
        ("LIMN_MAP_TILES", "https://tiles.example.org; script-src *//{z}/{x}/{y}"),
        ("LIMN_MAP_TILES", "https://{z}.example.org/{x}/{y}.png"),
        ("LIMN_EMAIL_SENDER", "nobody"),
        ("LIMN_EMAIL_ENABLED", "perhaps"),
        ("LIMN_ANONYMOUS_REGISTRATION", "2"),
        ("LIMN_FINE_GRAINED_PERMISSIONS", "on"),
        ("LIMN_VIEW_MEMORY", "0"),
        ("LIMN_COMPACT_COMMITS", "-1"),
        ("LIMN_LOG_RETENTION", "a week"),
        ("LIMN_LARGEST_ANSWER", "0"),
        ("LIMN_PIECE_SECONDS", "0"),
    ],
)
def test_a_wrong_setting_is_named(read, name, value):
    with pytest.raises(Misconfigured, match=f"^{name}: "):
        read(**{name: value})


def test_a_function_with_a_wrong_setting_does_not_start():
    """Not at its first request but when Lambda imports it, so that a deployment shows it at once."""
    command = [sys.executable, "-c", "import app"]
    environment = {**os.environ, "LIMN_EMAIL_SENDER": "nobody", "LIMN_EMAIL_ENABLED": "true"}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "LIMN_EMAIL_SENDER: 'nobody' is no address." in done.stderr
