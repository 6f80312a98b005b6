"""Workflows that really run, as processes of this machine, through the engine that AWS Batch has."""

from __future__ import annotations

import time

import pytest

from chalicelib.resources.jobs.runs import RUN
from chalicelib.storage.dynamodb import records
from infra.emulator.batch import logs
from tests.infra.local.local_jobs import ended, launched, output, printed, statuses
from tests.infra.local.steps import claim, endless, manifest, mounted, processes, python, shell, wait_until
from tests.resources.algorithms.test_algorithms import saved, spec
from tests.resources.jobs.media import media_of

pytestmark = pytest.mark.slow


class TestWhatRuns:
    """The same workflows on both engines."""

    def test_parameters_reach_scripts_and_come_back_from_files_and_output(self, api, project, engine):
        text = manifest(
            {
                "name": "main",
                "steps": [
                    [{"name": "count", "template": "count"}],
                    [
                        {
                            "name": "use",
                            "template": "use",
                            "arguments": {
                                "parameters": [
                                    {"name": "number", "value": "{{steps.count.outputs.parameters.number}}"},
                                    {"name": "printed", "value": "{{steps.count.outputs.result}}"},
                                ]
                            },
                        }
                    ],
                ],
            },
            python(
                "count",
                "ids = '{{workflow.parameters.media_ids}}'.split(',')\n"
                "open('/out/number', 'w').write(str(len(ids)))\n"
                "print('counted', len(ids))\n",
                outputs={"parameters": [{"name": "number", "valueFrom": {"path": "/out/number"}}]},
            ),
            shell(
                "use",
                "echo {{inputs.parameters.number}} {{inputs.parameters.printed}}",
                inputs={"parameters": [{"name": "number"}, {"name": "printed"}]},
            ),
        )
        [uid] = launched(api, project, text, media=media_of(project, 3), **engine)
        assert ended(api, uid)["status"] == "Succeeded"
        assert printed(api, uid, "use") == ["3 counted 3"]

    def test_steps_share_a_work_folder_and_have_folders_of_their_own(self, api, project, engine):
        mounts = [{"name": "work", "mountPath": "/work"}, {"name": "own", "mountPath": "/own"}]
        names = ("write", "read")
        text = manifest(
            {"name": "main", "steps": [[{"name": name, "template": name}] for name in names]},
            *(mounted(shell(name, line), mounts) for name, line in (
                ("write", "mkdir /work/a && echo shared > /work/a/b && echo mine > /own/c"),
                ("read", "cat /work/a/b; ls /own"),
            )),
            volumeClaimTemplates=[claim("work", "1Gi")],
            volumes=[{"name": "own", "emptyDir": {}}],
        )  # fmt: skip
        uids = [launched(api, project, text, **engine)[0] for _ in range(2)]
        for uid in uids:
            assert ended(api, uid)["status"] == "Succeeded"
            assert printed(api, uid, "read") == ["shared"]

    def test_files_travel_between_the_tasks_of_a_dag(self, api, project, engine):
        made = {"artifacts": [{"name": "made", "path": "/work/made.bin"}]}
        text = manifest(
            {
                "name": "main",
                "dag": {
                    "tasks": [
                        {"name": "make", "template": "make"},
                        {
                            "name": "sum",
                            "template": "sum",
                            "dependencies": ["make"],
                            "arguments": {
                                "artifacts": [{"name": "made", "from": "{{tasks.make.outputs.artifacts.made}}"}]
                            },
                        },
                    ]
                },
            },
            python("make", "open('/work/made.bin', 'wb').write(bytes(range(256)) * 1000)", outputs=made),
            python(
                "sum",
                "print(sum(open('/work/made.bin', 'rb').read()))",
                inputs=made,
            ),
        )
        [uid] = launched(api, project, text, **engine)
        assert ended(api, uid)["status"] == "Succeeded"
        assert printed(api, uid, "sum") == [str(sum(range(256)) * 1000)]

    def test_loops_and_conditions_follow_what_steps_print(self, api, project, engine):
        text = manifest(
            {
                "name": "main",
                "steps": [
                    [{"name": "list", "template": "list"}],
                    [
                        {
                            "name": "each",
                            "template": "each",
                            "withParam": "{{steps.list.outputs.result}}",
                            "when": "{{item}} > 1",
                            "arguments": {"parameters": [{"name": "item", "value": "{{item}}"}]},
                        },
                        {"name": "never", "template": "list", "when": "'{{steps.list.outputs.result}}' == none"},
                    ],
                ],
            },
            python("list", "print([1, 2, 3])"),
            shell("each", "echo {{inputs.parameters.item}}", inputs={"parameters": [{"name": "item"}]}),
        )
        [uid] = launched(api, project, text, **engine)
        job = ended(api, uid)
        assert job["status"] == "Succeeded"
        assert statuses(job) == {
            "main": "Succeeded",
            "list": "Succeeded",
            "each(0:1)": "Skipped",
            "each(1:2)": "Succeeded",
            "each(2:3)": "Succeeded",
            "never": "Skipped",
        }

    def test_a_step_that_fails_twice_and_then_not_succeeds_with_three_attempts(self, api, project, queue, tmp_path):
        marks = tmp_path / "jobs" / "marks"
        marks.mkdir()
        queue._scheduler._runner._readable.append(str(marks))
        text = manifest(
            python(
                "main",
                f"import os, sys, urllib.request\nsys.exit(0 if len(os.listdir({str(marks)!r})) >= 2 else 3)",
                retryStrategy={"limit": 2},
            )
        )
        original = queue._scheduler._attempt

        def attempt(job, event):
            ended_as = original(job, event)
            (marks / str(time.monotonic_ns())).touch()
            return ended_as

        queue._scheduler._attempt = attempt
        [uid] = launched(api, project, text)
        assert ended(api, uid)["status"] == "Succeeded"
        assert len(list(marks.iterdir())) == 3
        assert "attempt 3 of 3" in output(queue, uid)

    def test_what_waits_for_a_failed_step_is_omitted(self, api, project, engine):
        tasks = [{"name": "a", "template": "bad"}, {"name": "b", "template": "bad", "dependencies": ["a"]}]
        [uid] = launched(
            api,
            project,
            manifest({"name": "main", "dag": {"tasks": tasks}}, shell("bad", "echo lost; exit 3")),
            **engine,
        )
        job = ended(api, uid)
        assert (job["status"], statuses(job)) == ("Failed", {"main": "Failed", "a": "Failed", "b": "Omitted"})
        assert "exited with code 3" in job["message"]
        assert "lost" in job["message"].splitlines()
        assert printed(api, uid, "a") == ["lost"]

    def test_a_cancelled_job_is_gone_with_its_processes(self, api, project, engine):
        sleep = endless()
        text = manifest(shell("main", f"{sleep}0 & setsid {sleep}1 & {sleep}2"))
        [uid] = launched(api, project, text, **engine)
        wait_until(lambda: len(processes(sleep)) >= 3)
        assert api.delete(f"Job/{uid}").status == 200
        assert api.get(f"Job/{uid}").status == 404
        wait_until(lambda: not processes(sleep))

    def test_the_environment_has_what_the_manifest_says_and_nothing_of_the_service(self, api, project, queue):
        step = shell("main", "env; pwd")
        step["container"]["env"] = [{"name": "COLOUR", "value": "blue"}]
        [uid] = launched(api, project, manifest(step))
        assert ended(api, uid)["status"] == "Succeeded"
        said = output(queue, uid)
        assert "COLOUR=blue" in said
        assert "AWS_SECRET" not in said
        assert "LIMN_JOB_QUEUE" not in said
        assert not any(line.startswith(("AWS_ACCESS", "LIMN_RECORDS")) for line in said.splitlines())


class TestLogs:
    def test_the_last_lines_of_a_step_are_answered_and_those_of_a_failure_are_in_the_message(self, api, project, queue):
        tasks = [{"name": "fine", "template": "fine"}, {"name": "bad", "template": "bad", "dependencies": ["fine"]}]
        lines = "for n in $(seq 1 300); do echo line $n; done"
        text = manifest(
            {"name": "main", "dag": {"tasks": tasks}},
            shell("fine", lines),
            shell("bad", "echo no such species; exit 3"),
        )
        [uid] = launched(api, project, text)
        job = ended(api, uid)
        assert job["message"].splitlines()[:2] == ["bad: It exited with code 3.", "no such species"]
        nodes = {node["task"]: node for node in job["nodes"]}
        assert nodes["bad"]["message"] == "It exited with code 3."
        assert nodes["bad"]["log"].startswith("/aws/batch/job:limn-local-")
        said = api.get(f"JobLog/{uid}", node="fine", lines=2).json
        assert (said["task"], said["status"], said["lines"]) == ("fine", "Succeeded", ["line 299", "line 300"])
        assert api.get(f"JobLog/{uid}").json["task"] == "bad"
        assert len(api.get(f"JobLog/{uid}", node=nodes["fine"]["id"]).json["lines"]) == 100
        missing = api.get(f"JobLog/{uid}", node="nothing")
        assert missing.status == 404
        assert "its steps are fine, bad" in missing.message
        assert api.get(f"JobLog/{uid}", lines=5000).status == 400

    def test_a_very_long_line_is_cut(self, api, project, queue):
        [uid] = launched(api, project, manifest(python("main", "print('x' * 1_000_000)")))
        ended(api, uid)
        assert len(api.get(f"JobLog/{uid}").json["lines"][-1]) == 2000

    def test_others_do_not_read_it(self, api, project, queue, stranger):
        [uid] = launched(api, project, manifest(shell("main", "echo secret")))
        ended(api, uid)
        assert stranger.get(f"JobLog/{uid}").status == 404


class TestProgress:
    def test_it_counts_steps_until_a_step_reports_its_own(self, api, project, queue, member):
        tasks = [{"name": "a", "template": "quick"}, {"name": "b", "template": "slow", "dependencies": ["a"]}]
        text = manifest({"name": "main", "dag": {"tasks": tasks}}, shell("quick", "true"), shell("slow", "sleep 320"))
        [uid] = launched(api, project, text)
        wait_until(lambda: api.get(f"Job/{uid}").json["progress"] == {"done": 1, "total": 2})
        report = {"progress": {"done": 40, "total": 100, "message": "reef.mp4"}}
        assert member("Can Transfer").patch(f"Job/{uid}", report).status == 403
        assert api.patch(f"Job/{uid}", report).status == 200
        assert api.get(f"Job/{uid}").json["progress"] == report["progress"]
        assert [job["progress"] for job in api.get(f"Jobs/{project}").json] == [report["progress"]]
        for wrong in ({"done": 3, "total": 2}, {"done": -1, "total": 2}, {"done": 1}, {"done": "many", "total": 2}):
            assert api.patch(f"Job/{uid}", {"progress": wrong}).status == 400
        assert api.delete(f"Job/{uid}").status == 200

    def test_a_group_answers_its_sum(self, api, project, queue):
        uids = launched(api, project, manifest(shell("main", "true")), media=media_of(project, 10))
        for uid in uids:
            ended(api, uid)
        [group] = api.get(f"JobGroups/{project}").json
        assert group["jobs"] == len(uids) == 4
        assert group["statuses"] == {"Succeeded": 4}
        assert group["progress"] == {"done": 4, "total": 4}
        assert api.get(f"JobGroups/{project}", gid=group["gid"]).json == [group]
        assert api.patch(f"Job/{uids[0]}", {"progress": {"done": 1, "total": 2}}).status == 409


class TestWhatEnds:
    def test_a_time_limit_ends_a_step_and_what_it_started(self, api, project, queue, tmp_path):
        sleep = endless()
        text = manifest(shell("main", f"{sleep}0 & setsid {sleep}1 & {sleep}2", activeDeadlineSeconds=1))
        [uid] = launched(api, project, text)
        job = ended(api, uid)
        assert job["status"] == "Failed"
        assert "time limit of 1 seconds" in job["message"]
        assert not processes(sleep)

    def test_cancellation_waits_for_the_processes_and_removes_their_files(self, api, project, queue):
        sleep = endless()
        [uid] = launched(api, project, manifest(shell("main", f"setsid {sleep}0 & {sleep}1")))
        wait_until(lambda: len(processes(sleep)) >= 2)
        assert api.delete(f"Job/{uid}").status == 200
        assert not processes(sleep)
        assert list((queue._scheduler._work).iterdir()) == []

    def test_a_command_that_is_not_here_fails_with_a_sentence(self, api, project, queue):
        text = manifest({"name": "main", "container": {"image": "org/tool:2", "command": ["nosuchtool", "-x"]}})
        job = ended(api, launched(api, project, text)[0])
        assert job["status"] == "Failed"
        assert "The command 'nosuchtool' is not on this machine" in job["message"]
        assert "org/tool:2" in job["message"]

    def test_an_image_without_a_command_fails_with_a_sentence(self, api, project, queue):
        job = ended(api, launched(api, project, manifest({"name": "main", "container": {"image": "org/tool:2"}}))[0])
        assert (job["status"], "The step has no command" in job["message"]) == ("Failed", True)


def test_an_annotator_runs_over_a_query_in_jobs_of_twenty_media(api, project, queue):
    kind = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})
    other = api.made(f"MediaTypes/{project}", {"name": "w", "dtype": "video"})
    body = {"section": "s", "md5": "", "attributes": {}}
    media = [api.post(f"Medias/{project}", {**body, "type": kind, "name": f"{n}"}).json["id"] for n in range(21)]
    api.post(f"Medias/{project}", {**body, "type": other, "name": "none of them"})
    boxes = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [kind]})
    annotator = api.made(f"Annotators/{project}", {"name": "m", "url": "https://model.example.org", "type": boxes})
    version = api.made(f"Versions/{project}", {"name": "model"})
    spec = {"annotator": annotator, "version": version, "media_query": f"?type={kind}", "every": 25}
    said = api.post(f"Annotate/{project}", spec)
    assert said.status == 201, said.body
    first, second = (job["media_ids"] for job in said.json["object"])
    assert (len(first), len(second)) == (20, 1)
    assert sorted(first + second) == media
    [group] = api.get(f"JobGroups/{project}", gid=said.json["gid"]).json
    assert group["jobs"] == 2
    assert api.delete(f"Jobs/{project}", gid=said.json["gid"]).status == 200


def test_a_work_folder_has_a_size(api, project, queue):
    write = mounted(shell("main", "head -c 3000000 /dev/zero > /work/a"), [{"name": "work", "mountPath": "/work"}])
    for size, status in (("1Mi", "Failed"), ("4M", "Succeeded")):
        [uid] = launched(api, project, manifest(write, volumeClaimTemplates=[claim("work", size)]))
        job = ended(api, uid)
        assert job["status"] == status
        assert ("holds more than its size of 1 MiB" in (job["message"] or "")) == (status == "Failed")


def test_a_stopped_step_has_its_time_of_grace(api, project, queue):
    text = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    [uid] = launched(api, project, manifest(shell("main", text, terminationGracePeriodSeconds=20)))
    wait_until(lambda: "ready" in output(queue, uid))
    [job] = [node.job for node in records.get(RUN, uid).nodes if node.job]
    assert api.delete(f"Job/{uid}").status == 200
    wait_until(lambda: "saved" in logs.tail(queue._scheduler.logs, job, 10))


@pytest.mark.parametrize("name", ["../x", "/etc", "a b", ""])
def test_a_work_folder_has_no_path_for_a_name(api, project, queue, name):
    text = manifest(shell("main", "true"), volumeClaimTemplates=[claim(name, "1Mi")])
    wanted = spec(api, project, manifest=saved(api, project, text))
    assert api.post(f"Algorithms/{project}", wanted).status == 201
    said = api.post(f"Jobs/{project}", {"algorithm_name": wanted["name"], "media_ids": media_of(project)})
    assert (said.status, "a name has small letters" in said.message) == (400, True)


def test_refusals_name_this_machine(api, project, queue):
    text = manifest(shell("main", "true"), hooks={"exit": {"template": "main"}})
    wanted = spec(api, project, manifest=saved(api, project, text))
    assert api.post(f"Algorithms/{project}", wanted).status == 201
    said = api.post(f"Jobs/{project}", {"algorithm_name": wanted["name"], "media_ids": media_of(project)})
    assert (said.status, "hooks is not supported by this machine: onExit of spec" in said.message) == (400, True)
