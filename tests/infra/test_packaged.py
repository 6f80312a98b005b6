"""The zips as they are deployed, unpacked into an empty folder, run by a Python that has nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
import zipfile
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.core.models.jobs import JOB
from chalicelib.queues import encode
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.email.messages import SendEmail
from chalicelib.resources.transcodes.messages import PlanTranscode
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from infra import package
from infra.emulator import aws
from infra.emulator.sqs import messages_of
from infra.local.background.queues import queue_of
from infra.local.http.gateway import event_of
from tests.bench.calibration import factor
from tests.resources.media.samples import media_type, transcode, video
from tests.service import GATEWAY

RUNTIME = Path(__file__).with_name("lambda_runtime.py")
AIM = 0.8
"""Seconds of the processor from the import of the API to its first answer, on the machine of docs/performance.md."""

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]


def bare_python():
    """An interpreter of the version that the zips are for; None where there is none."""
    return package.interpreter(package.PYTHON)


@pytest.fixture(scope="module")
def server():
    """The AWS of this process over HTTP, for the functions run in processes of their own."""
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()


@pytest.fixture(scope="module")
def zips(tmp_path_factory):
    """Where each zip is unpacked, by its name."""
    if bare_python() is None:
        pytest.skip(f"there is no Python {package.PYTHON} here, for which the zips are built")
    build = tmp_path_factory.mktemp("package") / "build"
    command = [sys.executable, "-m", "infra.package", "--into", build]
    subprocess.run(command, cwd=package.ROOT, check=True, capture_output=True)
    folders = {}
    for path in build.glob("*.zip"):
        folders[path.stem] = tmp_path_factory.mktemp(path.stem)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folders[path.stem])
    return folders


@pytest.fixture
def call(zips, server):
    """Call the function of a zip, as Lambda does after a cold start."""

    def ask(name, handler, event):
        places = {key: value for key, value in os.environ.items() if key.startswith(("LIMN_", "AWS_"))}
        places |= {"LIMN_AWS_ENDPOINT": server, "POWERTOOLS_METRICS_DISABLED": "true"}
        done = subprocess.run(
            [bare_python(), "-I", "-S", "-B", str(RUNTIME), str(zips[name]), handler],
            input=json.dumps(event),
            cwd=zips[name],
            env=places,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        sys.stdout.write(done.stdout[-3000:])  # pytest shows it where a test fails
        return json.loads(done.stdout.splitlines()[-1])

    return ask


def sqs_event(url, *bodies):
    arn = queue_of(url, aws.REGION).queue_arn
    return {
        "Records": [
            {
                "messageId": f"{number}-{uuid.uuid4()}",
                "receiptHandle": "none",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": arn,
                "awsRegion": aws.REGION,
            }
            for number, body in enumerate(bodies)
        ]
    }


def http_event(api, path):
    resource, variables = GATEWAY._router.find(path)
    headers = {"Authorization": f"Token {api.token}", "Accept": "application/json", "Host": "api.example.org"}
    return event_of("GET", path, "", resource, variables, headers, b"", "10.0.0.1")


def test_the_api_answers_soon_after_a_cold_start(call, api, project):
    runs = [call("deployment", "app.app", http_event(api, f"/rest/Project/{project}")) for _ in range(3)]
    for run in runs:
        assert run["result"]["statusCode"] == run["status"] == 200
        assert json.loads(run["result"]["body"])["id"] == project
    # of the processor: other work goes on here
    assert min(run["processor"] for run in runs) < AIM * factor(), runs


def test_the_api_opens_a_view(call, api, project):
    media_type(project)
    run = call("deployment", "app.app", http_event(api, f"/rest/Medias/{project}"))
    assert (run["result"]["statusCode"], json.loads(run["result"]["body"])) == (200, [])


def test_the_api_refuses_who_is_nobody(call, api, project):
    event = http_event(api, f"/rest/Project/{project}")
    event["headers"].pop("Authorization")
    assert call("deployment", "app.app", event)["result"]["statusCode"] == 401


def test_the_transcode_function_plans(call, api, project):
    type_ = media_type(project, streaming_config=[ResolutionConfig(resolution=64)])
    uid = transcode(api, project, type_, video(10)).json["id"]
    waiting = messages_of(queue_of(settings().transcode_queue_url, aws.REGION))
    before = len(waiting)
    event = sqs_event(settings().transcode_queue_url, encode(PlanTranscode(job=uid)))
    assert call("transcode", "functions.transcode.handler", event)["result"] == {"batchItemFailures": []}
    assert records.get(JOB, uid).pieces == 1
    assert len(waiting) == before + 1
    api.drain()


def test_the_email_function_sends_and_reports_what_it_cannot_read(call):
    message = SendEmail(
        id=str(uuid.uuid4()),
        sender=settings().email_sender,
        recipients=["a@example.org"],
        subject="packed",
        text="t",
    )
    event = sqs_event(settings().email_queue_url, encode(message), "{}")
    said = call("email", "functions.email.handler", event)["result"]
    assert [each["itemIdentifier"] for each in said["batchItemFailures"]] == [event["Records"][1]["messageId"]]
    row = boto3.client("dynamodb").scan(TableName=settings().idempotency_table)["Items"]
    assert any(each["status"]["S"] == "COMPLETED" for each in row)


def test_the_clip_function_gives_up_a_clip_that_nobody_wants_any_more(call):
    event = sqs_event(settings().clip_queue_url, encode(CutClip(file=999_999_999)))
    assert call("clip", "functions.clip.handler", event)["result"] == {"batchItemFailures": []}


@pytest.mark.parametrize("name", ["purge", "dataset", "source", "webhook"])
def test_a_queue_function_reports_what_it_cannot_read(call, name):
    event = sqs_event(getattr(settings(), f"{name}_queue_url"), "no json")
    said = call(name, f"functions.{name}.handler", event)["result"]
    assert len(said["batchItemFailures"]) == 1


def test_the_media_function_finds_no_media(call, api):
    assert call("media", "app.app", http_event(api, "/rest/GetFrame/999999999"))["result"]["statusCode"] == 404


def test_the_compaction_runs_on_its_schedule(call):
    said = call("compact", "functions.compact.handler", {"detail-type": "Scheduled Event"})["result"]
    assert "projects" in said


def test_jobs_are_swept_on_their_schedule(call):
    assert call("jobs", "functions.jobs.handler", {"detail-type": "Scheduled Event"})["result"] is None


def test_the_upkeep_runs_on_its_schedule(call):
    said = call("upkeep", "functions.upkeep.handler", {"detail-type": "Scheduled Event"})["result"]
    assert "projects" in said


def test_nothing_has_to_be_compiled_when_a_container_starts(zips):
    """Lambda's disk takes no bytecode (`-B` above), so what is not there is compiled by every cold start."""
    tag = f"cpython-{package.PYTHON.replace('.', '')}"
    for name, folder in zips.items():
        behind = name in ("deployment", "media")
        for part in ("chalicelib", "botocore", "msgspec", "chalice" if behind else "functions"):
            sources = {path for path in (folder / part).rglob("*.py") if "templates" not in path.parts}
            wanting = {
                path for path in sources if not (path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc").exists()
            }
            assert sources
            assert not wanting, (name, sorted(wanting)[:3])


def test_every_zip_is_tried(zips):
    tried = {"deployment", "media", "transcode", "email", "clip", "purge", "compact", "jobs", "upkeep"}
    assert set(zips) == tried | {"dataset", "source", "webhook"}
