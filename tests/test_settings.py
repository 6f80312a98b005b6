"""The configuration of a deployment: what is wrong with it is said when a function starts."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.settings import Settings, settings

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
    with pytest.raises(msgspec.ValidationError, match=name):
        read(**{**ARNS, name: value})


@pytest.mark.parametrize("days", ["0", "4000", "many"])
def test_finished_jobs_are_kept_for_days(read, days):
    with pytest.raises(msgspec.ValidationError, match="job_days"):
        read(LIMN_JOB_DAYS=days)
