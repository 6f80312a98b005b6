"""AWS Batch that is away, slow or talks nonsense: the API stays quick, the job says so, a later call recovers."""

from __future__ import annotations

import time

import boto3
import pytest
from botocore.config import Config

from chalicelib.resources.jobs.engines import batch_calls
from tests.loopback import Handler, Server
from tests.resources.jobs.test_engines_batch import launched, numbers
from tests.resources.jobs.test_engines_batch import told as _told
from tests.workflows.test_workflows import FORK

told = _told
QUICK = 30.0
FAULTS = {
    "slow": None,
    "broken": b"",
    "nonsense": b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
    "empty": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "a list": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[7]",
    "other types": b'HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n{"jobs":7,"jobId":{"a":1}}',
    "failing": b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n",
}


@pytest.fixture(params=FAULTS)
def misbehave(request):
    """Makes Batch misbehave in one way, and behave again."""
    answer = FAULTS[request.param]

    class BrokenBatch(Handler):
        def do_POST(self):
            if answer is None:
                time.sleep(90)
            self.wfile.write(answer or b"")
            self.close_connection = True

    impatient = batch_calls.CONFIG.merge(Config(read_timeout=batch_calls.CONFIG.read_timeout / 5))
    with Server(BrokenBatch) as server, pytest.MonkeyPatch.context() as patch:
        bad, good = boto3.client("batch", endpoint_url=server.url, config=impatient), batch_calls.client()
        yield lambda *, wrong: patch.setattr(batch_calls, "client", lambda **_: bad if wrong else good)


@pytest.fixture
def recorder(told):
    """A Batch that keeps what it is told, beneath the one that misbehaves."""
    return told


@pytest.mark.slow
def test_a_launch_waits_for_it(api, project, recorder, misbehave):
    misbehave(wrong=True)
    began = time.monotonic()
    said = launched(api, project, FORK, media=[1])
    assert time.monotonic() - began < QUICK
    assert said["object"][0]["status"] == "Pending"
    assert "AWS Batch" in said["object"][0]["message"]
    misbehave(wrong=False)
    uid = said["uid"][0]
    api.get(f"Job/{uid}")
    assert set(numbers(uid)) == {"left", "right", "join"}
    assert api.get(f"Job/{uid}").json["message"] is None


@pytest.mark.slow
def test_a_job_that_runs_says_so_and_recovers(api, project, recorder, misbehave):
    uid = launched(api, project, FORK, media=[1])["uid"][0]
    misbehave(wrong=True)
    began = time.monotonic()
    said = api.get(f"Jobs/{project}")
    assert time.monotonic() - began < QUICK
    assert said.status == 200
    assert said.json[0]["status"] == "Running"
    assert "AWS Batch" in said.json[0]["message"]
    misbehave(wrong=False)
    for job in recorder.jobs.values():
        job["status"] = "SUCCEEDED"
    seen = api.get(f"Job/{uid}").json
    assert (seen["status"], seen["message"]) == ("Succeeded", None)


# what TerminateJob says where it worked is nothing: any answer will do
@pytest.mark.slow
@pytest.mark.parametrize("misbehave", ["slow", "broken", "failing"], indirect=True)
def test_a_deletion_is_quick_and_done_later(api, project, recorder, misbehave):
    from chalicelib.resources.jobs import cleanup

    uid = launched(api, project, FORK, media=[1])["uid"][0]
    misbehave(wrong=True)
    began = time.monotonic()
    assert api.delete(f"Job/{uid}").status == 200
    assert time.monotonic() - began < QUICK
    assert api.get(f"Job/{uid}").status == 404
    misbehave(wrong=False)
    cleanup.sweep(10)
    assert {job["status"] for job in recorder.jobs.values()} == {"FAILED"}
