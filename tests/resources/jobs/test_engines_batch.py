"""Workflows on AWS Batch: through moto where it goes that far, and by what Batch is told where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest
import yaml

from chalicelib.resources.jobs import status_sync
from chalicelib.resources.jobs.engines import batch_calls, batch_jobs
from chalicelib.resources.jobs.engines.base import EngineUnavailable
from chalicelib.resources.jobs.runs import RUN
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.settings import override, settings
from chalicelib.storage.dynamodb import records
from functions import jobs as function
from tests import objects
from tests.resources.algorithms.test_algorithms import saved, spec
from tests.resources.jobs import batches
from tests.resources.jobs.media import media_of
from tests.workflows.test_workflows import FORK, template

MEDIA = list(range(1, 11))


@contextmanager
def configured(queue: str) -> Iterator[None]:
    role = "arn:aws:iam::123456789012:role/"
    batch_calls._definitions.clear()
    with override(job_queue=queue, job_execution_role=f"{role}execution", job_files_role=f"{role}files"):
        batch_calls.client.cache_clear()
        yield
    batch_calls.client.cache_clear()


@pytest.fixture
def queue(monkeypatch):
    """Batch as moto has it."""
    with batches.queue(monkeypatch) as arn, configured(arn):
        yield arn


@pytest.fixture
def told(monkeypatch):
    """A Batch that keeps what it is told."""
    recorder = batches.Recorder()
    with configured("arn:aws:batch:us-east-1:123456789012:job-queue/q"), monkeypatch.context() as patch:
        patch.setattr(batch_calls, "client", lambda **_: recorder)
        yield recorder


def launched(api, project, text, media=MEDIA, **more):
    """Launch a manifest on media; `media` says which of the project's, from 1 on."""
    numbers = media_of(project, max(media))
    media = [numbers[place - 1] for place in media]
    wanted = spec(api, project, manifest=saved(api, project, text), files_per_job=3, **more)
    api.made(f"Algorithms/{project}", wanted)
    said = api.post(f"Jobs/{project}", {"algorithm_name": wanted["name"], "media_ids": media})
    assert said.status == 201, said.body
    return said.json


def numbers(uid: str) -> dict[str, str]:
    """What Batch calls the nodes of a job, by task."""
    return {node.task: node.job for node in records.get(RUN, uid).nodes if node.job}


class TestForkAndJoin:
    @pytest.mark.slow
    def test_over_ten_media_in_batches_of_three(self, api, project, queue):
        said = launched(api, project, FORK)
        assert len(said["uid"]) == 4
        assert len(batches.jobs()) == 12
        uid = said["uid"][1]
        named = numbers(uid)
        join = batches.jobs()[named["join"]]
        assert {entry["jobId"] for entry in join.depends_on} == {named["left"], named["right"]}
        left = batches.jobs()[named["left"]]
        assert left.container_overrides["command"] == ["echo", f"hello {','.join(map(str, media_of(project, 6)[3:]))}"]
        assert left.job_definition.container_properties["image"] == "alpine"
        assert left.job_definition.platform_capabilities == ["FARGATE"]
        assert {job["status"] for job in said["object"]} == {"Running"}

    def test_statuses_and_nodes_follow(self, api, project, queue):
        uid = launched(api, project, FORK, media=[1])["uid"][0]
        named = numbers(uid)
        assert api.get(f"Job/{uid}").json["status"] == "Pending"
        batches.move(named["left"], "RUNNING")
        seen = api.get(f"Job/{uid}").json
        assert seen["status"] == "Running"
        assert {node["task"]: node["status"] for node in seen["nodes"]} == {
            "main": "Running",
            "left": "Running",
            "right": "Pending",
            "join": "Pending",
        }
        nodes = {node["task"]: node for node in seen["nodes"]}
        assert nodes["left"]["children"] == [nodes["join"]["id"]]
        assert nodes["left"]["start_time"]
        for task in ("left", "right", "join"):
            batches.move(named[task], "SUCCEEDED")
        seen = api.get(f"Job/{uid}").json
        assert seen["status"] == "Succeeded"
        assert seen["stop_time"]
        assert {node["status"] for node in seen["nodes"]} == {"Succeeded"}

    def test_a_failure_omits_what_waited_for_it(self, api, project, queue):
        uid = launched(api, project, FORK, media=[1])["uid"][0]
        named = numbers(uid)
        batches.move(named["right"], "SUCCEEDED")
        batches.move(named["left"], "FAILED", "Essential container in task exited")
        seen = api.get(f"Job/{uid}").json
        assert seen["status"] == "Failed"
        assert seen["message"] == "left: Essential container in task exited"
        assert {node["task"]: node["status"] for node in seen["nodes"]}["join"] == "Omitted"

    def test_deletion_ends_its_jobs(self, api, project, queue):
        uid = launched(api, project, FORK, media=[1])["uid"][0]
        assert api.delete(f"Job/{uid}").status == 200
        assert api.get(f"Job/{uid}").status == 404
        assert all(job.stop for job in batches.jobs().values())

    @pytest.mark.slow
    def test_deletion_of_their_project_ends_its_jobs(self, api, project, organization, queue):
        uid = launched(api, project, FORK, media=[1])["uid"][0]
        assert api.delete(f"Project/{project}").status == 200
        for _ in range(2):
            purging.purge(PurgeProject(id=uid, project=project, organization=organization), 60)
        assert len(batches.jobs()) == 3
        assert all(job.stop for job in batches.jobs().values())
        assert records.list_children(RUN, project) == []

    def test_the_same_definition_is_registered_once(self, api, project, queue):
        launched(api, project, FORK, media=[1])
        batch_calls._definitions.clear()
        launched(api, project, FORK, media=[1])
        assert len({job.job_definition.arn for job in batches.jobs().values()}) == 1

    def test_its_events_keep_jobs_current(self, api, project, queue):
        uid = launched(api, project, FORK, media=[1])["uid"][0]
        for job in list(batches.jobs().values()):
            batches.move(job.job_id, "SUCCEEDED")
        name = next(iter(batches.jobs().values())).job_name
        function.handler({"detail-type": "Batch Job State Change", "detail": {"jobName": name}}, None)
        assert records.get(RUN, uid).phase == "Succeeded"
        function.handler({"detail-type": "Batch Job State Change", "detail": {"jobName": "somebody-elses"}}, None)
        function.handler({"detail-type": "Scheduled Event"}, None)

    def test_a_job_that_batch_forgot_is_missing_then_lost(self, api, project, queue, move_clock):
        uid = launched(api, project, FORK, media=[1])["uid"][0]
        batches.jobs().clear()
        assert "does not know" in api.get(f"Job/{uid}").json["message"]
        move_clock(status_sync.LOST_SECONDS + 1)
        assert api.get(f"Job/{uid}").json["status"] == "Error"


def pipeline() -> str:
    """A script whose text another loops over, a parameter and an artifact that a last one takes."""
    work = {
        "name": "work",
        "inputs": {"parameters": [{"name": "x"}]},
        "container": {
            "image": "work",
            "command": ["do"],
            "args": ["{{inputs.parameters.x}}"],
            "resources": {"limits": {"cpu": "1500m", "memory": "3Gi"}},
        },
        "outputs": {
            "parameters": [{"name": "y", "valueFrom": {"path": "/out/y"}}],
            "artifacts": [{"name": "log", "path": "/logs/log.txt", "optional": True}],
        },
        "retryStrategy": {"limit": "2"},
        "activeDeadlineSeconds": 30,
    }
    last = {
        "name": "last",
        "inputs": {
            "parameters": [{"name": "ys"}],
            "artifacts": [
                {"name": "log", "path": "/in/log"},
                {"name": "note", "path": "/in/note", "raw": {"data": "hi"}},
            ],
        },
        "container": {"image": "last", "env": [{"name": "YS", "value": "{{inputs.parameters.ys}}"}]},
    }
    arguments = {"parameters": [{"name": "x", "value": "{{item}}"}]}
    every = {"name": "each", "template": "work", "withParam": "{{steps.list.outputs.result}}", "arguments": arguments}
    one = {"name": "one", "template": "work", "arguments": {"parameters": [{"name": "x", "value": "1"}]}}
    end = {
        "name": "end",
        "template": "last",
        "when": "{{steps.one.outputs.parameters.y}} > 5",
        "arguments": {
            "parameters": [{"name": "ys", "value": "{{steps.each.outputs.parameters.y}}"}],
            "artifacts": [{"name": "log", "from": "{{steps.one.outputs.artifacts.log}}"}],
        },
    }
    found = yaml.safe_load(template(steps=[[{"name": "list", "template": "list"}, one], [every], [end]]))
    script = {"image": "python", "command": ["python"], "source": "print([1, 2])"}
    found["spec"]["templates"] += [{"name": "list", "script": script}, work, last]
    return yaml.safe_dump(found)


class TestWhatStepsPutOut:
    def finish(self, recorder, uid, task, text=None, **outputs):
        """A job ends well and leaves its files."""
        run = records.get(RUN, uid)
        node = next(node for node in run.nodes if node.task == task)
        for name, value in {**outputs, **({"text": text} if text is not None else {})}.items():
            objects.write(batch_jobs.key_of(run, node.id, name), value.encode())
        recorder.jobs[node.job]["status"] = "SUCCEEDED"

    @pytest.mark.slow
    def test_it_decides_what_follows(self, api, project, told):
        uid = launched(api, project, pipeline(), media=[1])["uid"][0]
        assert set(numbers(uid)) == {"list", "one"}
        self.finish(told, uid, "list", text="[1, 2]\n")
        api.get(f"Job/{uid}")
        each = {"each(0:1)", "each(1:2)"}
        assert set(numbers(uid)) == {"list", "one"} | each
        assert told.submitted[-1]["dependsOn"] == [{"jobId": numbers(uid)["one"]}]
        self.finish(told, uid, "one", y="6\n")
        for task in each:
            self.finish(told, uid, task, y=task[5])
        api.get(f"Job/{uid}")
        assert told.submitted[-1]["jobName"].startswith(f"limn-{uid}-")
        override = told.submitted[-1]["ecsPropertiesOverride"]["taskProperties"][0]["containers"]
        assert next(item for item in override if item["name"] == "main")["environment"] == [
            {"name": "YS", "value": '["0", "1"]'}
        ]
        self.finish(told, uid, "end")
        assert api.get(f"Job/{uid}").json["status"] == "Succeeded"

    def test_a_condition_that_does_not_hold_skips(self, api, project, told):
        uid = launched(api, project, pipeline(), media=[1])["uid"][0]
        self.finish(told, uid, "list", text="[]")
        self.finish(told, uid, "one", y="5")
        seen = api.get(f"Job/{uid}").json
        assert seen["status"] == "Succeeded"
        assert {node["task"]: node["status"] for node in seen["nodes"]}["end"] == "Skipped"

    def test_what_is_not_put_out_is_an_error_that_says_so(self, api, project, told):
        uid = launched(api, project, pipeline(), media=[1])["uid"][0]
        self.finish(told, uid, "one")
        seen = api.get(f"Job/{uid}").json
        assert seen["status"] == "Error"
        assert "did not put out 'y'" in seen["message"]
        assert {job["status"] for job in told.jobs.values()} == {"SUCCEEDED", "FAILED"}

    def test_files_are_brought_and_taken_by_containers_of_their_own(self, api, project, told):
        uid = launched(api, project, pipeline(), media=[1])["uid"][0]
        tasks = {told.submitted[index]["jobDefinition"]: index for index in range(2)}
        for definition, index in tasks.items():
            task = told.definitions[definition]["ecsProperties"]["taskProperties"][0]
            containers = {item["name"]: item for item in task["containers"]}
            own = {
                item["name"]: item.get("command")
                for item in told.submitted[index]["ecsPropertiesOverride"]["taskProperties"][0]["containers"]
            }
            assert [item["essential"] for item in task["containers"]].count(True) == 1
            assert task["containers"][-1]["essential"]
            assert all(item["mountPoints"] for item in task["containers"])
            if containers["main"]["image"] == "python":
                assert list(containers) == ["in0", "main", "out0"]
                assert own["main"][:2] == ["sh", "-c"]
                assert own["main"][-2:] == ["python", "/limn/source"]
                key = own["in0"][3].removeprefix(f"s3://{settings().media_bucket}/")
                assert objects.read(key) == b"print([1, 2])"
            else:
                assert list(containers) == ["main", "out0", "out1"]
                assert containers["out0"]["dependsOn"] == [{"containerName": "main", "condition": "SUCCESS"}]
                assert containers["out1"]["dependsOn"] == [{"containerName": "out0", "condition": "COMPLETE"}]
                assert own["out1"][3] == "/out/y"
                sizes = {item["type"]: item["value"] for item in containers["main"]["resourceRequirements"]}
                assert sizes == {"VCPU": "2", "MEMORY": "4096"}
                assert told.submitted[index]["retryStrategy"] == {"attempts": 3}
                assert told.submitted[index]["timeout"] == {"attemptDurationSeconds": 60}
        assert uid

    def test_a_node_is_not_handed_over_twice_when_a_process_died_doing_it(self, api, project, told, monkeypatch):
        uid = launched(api, project, pipeline(), media=[1])["uid"][0]
        before = len(told.submitted)
        records.edit(
            RUN,
            uid,
            lambda run: msgspec.structs.replace(
                run, nodes=[msgspec.structs.replace(node, job=None, status="Pending") for node in run.nodes], lease=1.0
            ),
        )
        api.get(f"Job/{uid}")
        assert len(told.submitted) == before
        assert set(numbers(uid)) == {"list", "one"}

    def test_what_a_process_handed_over_before_it_died_is_ended_too(self, api, project, told):
        uid, other = (launched(api, project, FORK, media=[1])["uid"][0] for _ in range(2))
        assert len(told.submitted) == 6

        def died(run):
            return msgspec.structs.replace(run, nodes=[], is_submitted=False, lease=1.0)

        records.edit(RUN, uid, died)
        assert api.delete(f"Job/{uid}").status == 200
        assert {job["jobName"][5:41]: job["status"] for job in told.jobs.values()} == {
            uid: "FAILED",
            other: "SUBMITTED",
        }

    @pytest.mark.slow
    def test_two_that_look_at_once_hand_it_over_once(self, api, project, told):
        from concurrent.futures import ThreadPoolExecutor

        uid = launched(api, project, pipeline(), media=[1])["uid"][0]
        self.finish(told, uid, "list", text="[1, 2, 3]")
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: api.get(f"Job/{uid}"), range(8)))
        names = [item["jobName"] for item in told.submitted]
        assert len(names) == len(set(names)) == 5
        assert len(numbers(uid)) == 5


class TestWhatBatchSays:
    def test_away_while_launching_and_later_back(self, api, project, told, monkeypatch):
        def away(operation, **_):
            raise EngineUnavailable("AWS Batch does not answer (EndpointConnectionError).")

        call = batch_calls.call
        monkeypatch.setattr(batch_calls, "call", away)
        said = launched(api, project, FORK, media=[1])
        assert said["object"][0]["status"] == "Pending"
        assert "does not answer" in said["object"][0]["message"]
        monkeypatch.setattr(batch_calls, "call", call)
        uid = said["uid"][0]
        api.get(f"Job/{uid}")
        assert set(numbers(uid)) == {"left", "right", "join"}

    @pytest.mark.parametrize(
        ("resources", "says"),
        [({"cpu": "99"}, "no size"), ({"memory": "1Ti"}, "no size"), ({"cpu": "many"}, "no quantity")],
    )
    def test_what_it_cannot_run_is_refused_at_launch(self, api, project, told, resources, says):
        text = template(container={"image": "a", "command": ["b"], "resources": {"limits": resources}})
        wanted = spec(api, project, manifest=saved(api, project, text))
        api.made(f"Algorithms/{project}", wanted)
        said = api.post(f"Jobs/{project}", {"algorithm_name": wanted["name"], "media_ids": media_of(project)})
        assert said.status == 400
        assert says in said.message

    def test_a_command_that_is_too_long_says_what_to_do(self, api, project, told):
        long = {"image": "x", "command": ["y"], "args": ["{{workflow.parameters.media_ids}}"]}
        text = template(container={**long, "env": [{"name": "a", "value": "b" * 8000}]})
        wanted = spec(api, project, manifest=saved(api, project, text))
        api.made(f"Algorithms/{project}", wanted)
        body = {"algorithm_name": wanted["name"], "media_ids": media_of(project)}
        said = api.post(f"Jobs/{project}", body)
        assert said.status == 400
        assert "files_per_job" in said.message
