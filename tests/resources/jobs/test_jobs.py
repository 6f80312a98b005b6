"""Jobs on a job cluster: launches in batches, statuses and nodes, cancellation, and a cluster that misbehaves."""

from __future__ import annotations

import time
import uuid
from unittest import mock

import pytest

from chalicelib.core.models.jobs import JOB, StoredJob, TranscodeSpec
from chalicelib.core.resource import now
from chalicelib.errors import Unavailable
from chalicelib.resources.jobs import status_sync
from chalicelib.resources.jobs.engines import kubernetes
from chalicelib.resources.jobs.runs import RUN
from chalicelib.storage.dynamodb import records
from tests import objects
from tests.resources.algorithms.test_algorithms import spec
from tests.resources.jobs import clusters
from tests.resources.jobs.media import media_of
from tests.resources.media import samples as media_samples

QUICK = 30.0


def launched(api, project, algorithm, **more):
    media = media_of(project, 10)
    said = api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_ids": media, **more})
    assert said.status == 201, said.body
    return said.json


def parameters(workflow) -> dict:
    return {item["name"]: item["value"] for item in workflow["spec"]["arguments"]["parameters"]}


class TestLaunch:
    def test_media_are_split_in_order_and_told_to_each_workflow(self, api, project, algorithm, cluster):
        said = launched(api, project, algorithm, extra_params=[{"name": "extra", "value": 7}])
        assert said["message"] == f"Algorithm {algorithm} started successfully!"
        assert said["id"] == said["uid"] == [job["uid"] for job in said["object"]]
        media = media_of(project, 10)
        assert [job["media_ids"] for job in said["object"]] == [media[:3], media[3:6], media[6:9], media[9:]]
        assert {job["gid"] for job in said["object"]} == {said["gid"]}
        assert [uuid.UUID(text).version for text in [*said["uid"], said["gid"]]] == [7, 7, 7, 7, 4]
        assert sorted(said["uid"]) == said["uid"]
        told = parameters(cluster.one(said["uid"][1]))
        assert told["media_ids"] == ",".join(map(str, media[3:6]))
        assert (told["uid"], told["gid"]) == (said["uid"][1], said["gid"])
        assert (told["threshold"], told["extra"], told["greeting"]) == ("0.5", "7", "hello")
        assert told["rest_token"].startswith("limn_job_")
        assert told["rest_url"] == f"{told['host']}/rest"
        assert told["project_id"] == str(project)

    def test_the_old_path_takes_the_old_body_and_answers_the_old_way_too(self, api, project, algorithm):
        body = {
            "algorithm_name": algorithm,
            "media_ids": media_of(project),
            "parameters": [{"name": "a", "value": "b"}],
        }
        said = api.post(f"AlgorithmLaunch/{project}", body)
        assert said.status == 201
        assert len(said.json["uid"]) == 1
        assert said.json["gid"]
        assert said.json["id"] == said.json["uid"]

    def test_no_media_start_nothing(self, api, project, algorithm, cluster):
        said = api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_ids": []})
        assert (said.status, said.json["id"], said.json["object"]) == (201, [], [])
        assert cluster.workflows == {}

    def test_without_media_only_the_old_path_takes_all(self, api, project, algorithm):
        assert api.post(f"Jobs/{project}", {"algorithm_name": algorithm}).status == 400
        said = api.post(f"AlgorithmLaunch/{project}", {"algorithm_name": algorithm})
        assert (said.status, said.json["uid"]) == (201, [])

    def test_an_unknown_name_is_not_found(self, api, project, algorithm, organization):
        assert api.post(f"Jobs/{project}", {"algorithm_name": "nothing", "media_ids": media_of(project)}).status == 404

    def test_media_that_the_project_does_not_have_are_refused_wherever_they_are(
        self, api, project, organization, algorithm, cluster
    ):
        [own] = media_of(project)
        [gone] = media_of(api.made("Projects", {"name": "other", "organization": organization}))
        for wrong in (gone, 999_999_999, 0):
            said = api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_ids": [own, wrong]})
            assert (said.status, said.message) == (400, f"media_ids: the project has no media {wrong}.")
        assert cluster.workflows == {}

    def test_too_many_jobs_at_once_are_refused(self, api, project, algorithm):
        body = {"algorithm_name": algorithm, "media_ids": list(range(1, 2000))}
        said = api.post(f"Jobs/{project}", body)
        assert said.status == 400
        assert "500" in said.message

    def test_it_takes_can_execute(self, project, algorithm, member):
        body = {"algorithm_name": algorithm, "media_ids": media_of(project)}
        assert member("Can Transfer").post(f"Jobs/{project}", body).status == 403
        assert member("Can Execute").post(f"Jobs/{project}", body).status == 201

    def test_the_token_is_stored_nowhere_in_the_clear(self, api, project, algorithm):
        said = launched(api, project, algorithm)
        assert api.token not in str(records.get(RUN, said["uid"][0]))
        run = records.get(RUN, said["uid"][0])
        assert api.token.encode() not in objects.read(status_sync.manifest_key(run))

    def test_a_manifest_that_was_replaced_by_nothing_is_refused(self, api, project, algorithm):
        number = api.get(f"Algorithms/{project}").json[0]["id"]
        api.patch(f"Algorithm/{number}", {"manifest": "coolfile.yaml"})
        assert api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_ids": media_of(project)}).status == 400

    def test_without_a_queue_batch_says_so(self, api, project):
        wanted = spec(api, project)
        api.made(f"Algorithms/{project}", wanted)
        said = api.post(f"Jobs/{project}", {"algorithm_name": wanted["name"], "media_ids": media_of(project)})
        assert said.status == 400
        assert "no AWS Batch queue" in said.message

    @pytest.mark.slow
    def test_a_query_wins_over_ids_and_neither_means_all(self, api, project, algorithm):
        kind = media_samples.media_type(project, "image")
        body = [{"type": kind, "name": f"{name}.jpg", "md5": "0" * 32} for name in "abcd"]
        numbers = [api.made(f"Medias/{project}", one) for one in body]
        numbers = [one[0] if isinstance(one, list) else one for one in numbers]
        for path in ("AlgorithmLaunch", "Jobs"):
            for query in ("?name=b.jpg", f"name=b.jpg&type={kind}", f"?media_id={numbers[1]}"):
                asked = {"algorithm_name": algorithm, "media_query": query, "media_ids": [numbers[0]]}
                said = api.post(f"{path}/{project}", asked).json
                assert [job["media_ids"] for job in said["object"]] == [[numbers[1]]], query
        said = api.post(f"AlgorithmLaunch/{project}", {"algorithm_name": algorithm}).json
        assert [job["media_ids"] for job in said["object"]] == [numbers[:3], numbers[3:]]
        for query, named in (("?type=no", "type"), ("?nmae=b.jpg", "Did you mean 'name'?"), ("?name=", "name")):
            said = api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_query": query})
            assert (said.status, named in said.message) == (400, True), query


class TestForkAndJoin:
    """Two parallel steps and a join, over ten media in batches of three."""

    def graph(self, left: str, right: str, join: str | None = None) -> dict:
        nodes = {
            "wf": clusters.node("wf", "Running", "left", "right"),
            "left": clusters.node("left", left, "join"),
            "right": clusters.node("right", right, "join"),
        }
        return nodes | ({"join": clusters.node("join", join)} if join else {})

    def seen(self, api, uid: str) -> tuple[str, dict[str, str]]:
        job = api.get(f"Job/{uid}").json
        return job["status"], {node["task"]: node["status"] for node in job["nodes"]}

    @pytest.mark.slow
    def test_each_batch_is_a_workflow_that_goes_its_own_way(self, api, project, algorithm, cluster):
        media = media_of(project, 10)
        first, second, third, fourth = launched(api, project, algorithm)["uid"]
        assert [parameters(cluster.one(uid))["media_ids"] for uid in (first, second, third, fourth)] == [
            ",".join(map(str, media[start : start + 3])) for start in (0, 3, 6, 9)
        ]
        [main] = [one for one in cluster.one(first)["spec"]["templates"] if one["name"] == "main"]
        assert [[step["name"] for step in group] for group in main["steps"]] == [["left", "right"], ["join"]]
        cluster.move(first, "Running", self.graph("Running", "Pending"))
        cluster.move(second, "Succeeded", self.graph("Succeeded", "Succeeded", "Succeeded"))
        cluster.move(third, "Failed", self.graph("Failed", "Succeeded", "Omitted"))
        assert self.seen(api, first) == ("Running", {"wf": "Running", "left": "Running", "right": "Pending"})
        assert self.seen(api, second)[0] == "Succeeded"
        assert self.seen(api, third)[1]["join"] == "Omitted"
        assert self.seen(api, fourth) == ("Running", {})
        statuses = {job["uid"]: job["status"] for job in api.get(f"Jobs/{project}").json}
        assert statuses == {first: "Running", second: "Succeeded", third: "Failed", fourth: "Running"}
        assert api.delete(f"Job/{first}").status == 200
        assert len(cluster.workflows) == 3
        cluster.move(fourth, "Succeeded", self.graph("Succeeded", "Succeeded", "Succeeded"))
        statuses = {job["uid"]: job["status"] for job in api.get(f"Jobs/{project}").json}
        assert statuses == {second: "Succeeded", third: "Failed", fourth: "Succeeded"}


class TestStanding:
    @pytest.mark.slow
    def test_phases_nodes_and_times_follow_the_cluster(self, api, project, algorithm, cluster):
        uid = launched(api, project, algorithm)["uid"][0]
        new = api.get(f"Job/{uid}").json
        assert (new["status"], new["nodes"]) == ("Running", [])
        [registered] = api.get(f"Algorithms/{project}").json
        assert (new["alg_id"], new["project"], new["user"]) == (registered["id"], project, api.user.id)
        nodes = {
            "wf": clusters.node("wf", "Running", "left", "right"),
            "left": clusters.node("left", "Succeeded", "join"),
            "right": clusters.node("right", "Running", "join"),
        }
        cluster.move(uid, "Running", nodes)
        seen = api.get(f"Job/{uid}").json
        assert {node["task"]: node["status"] for node in seen["nodes"]} == {
            "wf": "Running",
            "left": "Succeeded",
            "right": "Running",
        }
        assert next(node for node in seen["nodes"] if node["id"] == "wf")["children"] == ["left", "right"]
        assert seen["start_time"] == "2026-01-02T03:04:05.000Z"
        cluster.move(uid, "Failed", nodes, message="child 'right' failed")
        seen = api.get(f"Job/{uid}").json
        assert (seen["status"], seen["stop_time"]) == ("Failed", "2026-01-02T03:05:05.000Z")
        assert seen["message"] == "child 'right' failed"

    def test_a_finished_job_is_not_asked_about_again_and_outlives_its_workflow(self, api, project, algorithm, cluster):
        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
        cluster.move(uid, "Succeeded")
        assert api.get(f"Job/{uid}").json["status"] == "Succeeded"
        cluster.workflows.clear()
        asked = len(cluster.asked)
        assert api.get(f"Job/{uid}").json["status"] == "Succeeded"
        assert len(cluster.asked) == asked

    @pytest.mark.slow
    def test_a_list_is_one_question_whatever_its_length(self, api, project, algorithm, cluster):
        said = launched(api, project, algorithm)
        other = launched(api, project, algorithm, media_ids=media_of(project, 11)[10:])
        asked = len(cluster.asked)
        assert [job["uid"] for job in api.get(f"Jobs/{project}").json] == said["uid"] + other["uid"]
        assert len(cluster.asked) == asked + 1
        assert [job["uid"] for job in api.get(f"Jobs/{project}", gid=other["gid"]).json] == other["uid"]
        of_two = media_of(project, 10)[4::5]
        assert [job["uid"] for job in api.get(f"Jobs/{project}", media_id=of_two).json] == said["uid"][1::2]

    def test_packed_nodes_are_unpacked(self, api, project, algorithm, cluster):
        import base64
        import gzip
        import json

        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
        packed = base64.b64encode(gzip.compress(json.dumps({"a": clusters.node("a", "Running")}).encode())).decode()
        cluster.move(uid, "Running", {}, compressedNodes=packed)
        assert [node["task"] for node in api.get(f"Job/{uid}").json["nodes"]] == ["a"]

    def test_the_sweep_keeps_jobs_current_when_nobody_looks(self, api, project, algorithm, cluster):
        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
        cluster.move(uid, "Succeeded")
        status_sync.sweep(30)
        assert records.get(RUN, uid).phase == "Succeeded"
        assert uid not in [run.uid for run in records.list_linked(RUN, "active", "yes")]


class TestTranscodesAsJobs:
    def test_they_are_seen_and_cancelled_by_their_uid_and_group(self, api, project, algorithm, stranger):
        gid, uid = str(uuid.uuid1()), str(uuid.uuid1())
        job = StoredJob(
            uid=uid, gid=gid, project=project, user=api.user.id, media=7, start_time=now(), spec=TranscodeSpec(url="x")
        )
        records.create(JOB, job)
        assert api.get(f"Job/{uid}").json["status"] == "Pending"
        assert stranger.get(f"Job/{uid}").status == 404
        assert [one["uid"] for one in api.get(f"Jobs/{project}", gid=gid).json] == [uid]
        assert api.get(f"Jobs/{project}").json == []
        assert api.delete(f"Job/{uid}").status == 200
        assert api.get(f"Job/{uid}").status == 404


class TestClusterThatMisbehaves:
    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch):
        monkeypatch.setattr(kubernetes, "ANSWER_SECONDS", 0.5)

    @pytest.mark.slow
    @pytest.mark.parametrize("fault", ["slow", "nonsense", "other_json", "endless", "broken"])
    def test_the_api_stays_quick_and_a_later_call_recovers(self, api, project, algorithm, cluster, fault):
        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
        cluster.move(uid, "Succeeded", {"a": clusters.node("a", "Succeeded")})
        cluster.fault = getattr(clusters, fault)
        for path in (f"Job/{uid}", f"Jobs/{project}"):
            began = time.monotonic()
            said = api.get(path)
            assert time.monotonic() - began < QUICK
            assert said.status == 200
            job = said.json[0] if isinstance(said.json, list) else said.json
            assert job["status"] == "Running"
            assert "The job cluster c" in job["message"]
        cluster.fault = None
        seen = api.get(f"Job/{uid}").json
        assert (seen["status"], seen["message"]) == ("Succeeded", None)

    @pytest.mark.slow
    @pytest.mark.parametrize("fault", ["slow", "nonsense", "broken"])
    def test_a_launch_waits_for_it(self, api, project, algorithm, cluster, fault):
        cluster.fault = getattr(clusters, fault)
        began = time.monotonic()
        said = launched(api, project, algorithm)
        assert time.monotonic() - began < QUICK
        assert [job["status"] for job in said["object"]] == ["Pending"] * 4
        assert "The job cluster c" in said["object"][0]["message"]
        cluster.fault = None
        assert {job["status"] for job in api.get(f"Jobs/{project}").json} == {"Running"}
        assert len(cluster.workflows) == 4
        assert {job["status"] for job in api.get(f"Jobs/{project}").json} == {"Running"}
        assert len(cluster.workflows) == 4

    def test_a_workflow_whose_creation_was_not_heard_of_is_not_made_twice(self, api, project, algorithm, cluster):
        def deaf(handler):
            cluster.fault = None
            handler._serve = type(handler)._serve  # the next request is served
            clusters.broken(handler)

        cluster.fault = deaf
        said = launched(api, project, algorithm, media_ids=media_of(project))
        run = records.get(RUN, said["uid"][0])
        cluster.workflows["default", run.id] = {"metadata": {"labels": {"limn-uid": run.uid}, "name": run.id}}
        assert api.get(f"Job/{run.uid}").json["status"] == "Running"
        assert len(cluster.workflows) == 1

    @pytest.mark.slow
    def test_a_workflow_it_lost_is_missing_then_lost_and_may_come_back(
        self, api, project, algorithm, cluster, move_clock
    ):
        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
        kept = dict(cluster.workflows)
        cluster.workflows.clear()
        seen = api.get(f"Job/{uid}").json
        assert seen["status"] == "Running"
        assert "does not know" in seen["message"]
        cluster.workflows |= kept
        assert api.get(f"Job/{uid}").json["message"] is None
        cluster.workflows.clear()
        api.get(f"Job/{uid}")
        move_clock(status_sync.LOST_SECONDS + 1)
        assert api.get(f"Job/{uid}").json["status"] == "Error"

    def test_what_it_refuses_is_not_started(self, api, project, algorithm, organization, cluster):
        number = api.get(f"JobClusters/{organization}").json[0]["id"]
        body = {"name": "c", "host": "127.0.0.1", "port": cluster.port, "token": "wrong", "cert": cluster.ca}
        assert api.patch(f"JobCluster/{number}", body).status == 200
        said = api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_ids": media_of(project, 10)})
        assert said.status == 400
        assert "Unauthorized" in said.message
        assert api.get(f"Jobs/{project}").json == []

    def test_a_server_with_another_certificate_is_not_trusted(
        self, api, project, algorithm, organization, cluster, tmp_path
    ):
        number = api.get(f"JobClusters/{organization}").json[0]["id"]
        (tmp_path / "other").mkdir()
        other, _ = clusters.certificates(tmp_path / "other")
        body = {"name": "c", "host": "127.0.0.1", "port": cluster.port, "token": clusters.TOKEN, "cert": other}
        api.patch(f"JobCluster/{number}", body)
        said = launched(api, project, algorithm, media_ids=media_of(project))
        assert said["object"][0]["status"] == "Pending"
        assert cluster.asked == []

    def test_a_deleted_cluster_ends_its_jobs(self, api, project, algorithm, organization):
        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
        number = api.get(f"JobClusters/{organization}").json[0]["id"]
        api.delete(f"JobCluster/{number}")
        seen = api.get(f"Job/{uid}").json
        assert (seen["status"], "was deleted" in seen["message"]) == ("Error", True)


class TestMail:
    def mail(self, api, what: str) -> dict:
        return {"recipients": [api.user.email], "subject": what, "text": f"It {what}."}

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("phase", "subject"), [("Succeeded", "succeeded"), ("Failed", "failed"), ("Error", "failed")]
    )
    def test_the_right_one_is_sent_once(self, api, project, algorithm, cluster, monkeypatch, phase, subject):
        from chalicelib.resources.email import service as mails

        api.drain()  # what others have left behind
        sent: list[str] = []
        monkeypatch.setattr(mails, "send_email", lambda message, **_: sent.append(message.subject))
        said = launched(
            api,
            project,
            algorithm,
            media_ids=media_of(project),
            success_email_spec=self.mail(api, "succeeded"),
            failure_email_spec=self.mail(api, "failed"),
        )
        api.drain()
        assert sent == []
        cluster.move(said["uid"][0], phase)
        for _ in range(3):
            api.get(f"Job/{said['uid'][0]}")
        api.drain()
        assert sent == [subject]

    def test_a_job_ends_only_when_its_mail_is_on_its_way(self, api, project, algorithm, cluster):
        said = launched(
            api, project, algorithm, media_ids=media_of(project), success_email_spec=self.mail(api, "succeeded")
        )
        cluster.move(said["uid"][0], "Succeeded")

        away = mock.Mock(side_effect=Unavailable("The queue does not take messages."))
        with mock.patch.object(status_sync, "send_many", away):
            assert api.get(f"Job/{said['uid'][0]}").json["status"] == "Running"
        assert api.get(f"Job/{said['uid'][0]}").json["status"] == "Succeeded"

    def test_a_mail_that_cannot_be_sent_stops_the_launch(self, api, project, algorithm, cluster):
        bad = {"recipients": ["stranger@example.org"], "subject": "s", "text": "t"}
        body = {"algorithm_name": algorithm, "media_ids": media_of(project), "failure_email_spec": bad}
        assert api.post(f"Jobs/{project}", body).status == 400
        assert cluster.workflows == {}
