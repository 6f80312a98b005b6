"""Workflows on AWS Batch: folders of containers, and limits of a run, by what Batch is told."""

from __future__ import annotations

import yaml

from tests.resources.jobs import test_engines_batch
from tests.resources.jobs.test_engines_batch import launched, numbers
from tests.workflows.test_workflows import template

told = test_engines_batch.told


class TestFolders:
    def test_a_command_starts_in_its_working_folder_and_mounts_are_as_the_manifest_says(self, api, project, told):
        mounts = [
            {"name": "own", "mountPath": "/own", "readOnly": True},
            {"name": "other", "mountPath": "/a", "subPath": "a"},
            {"name": "other", "mountPath": "/b", "subPath": "b"},
        ]
        volumes = [{"name": name, "emptyDir": {}} for name in ("own", "other")]
        container = {
            "image": "x",
            "command": ["run"],
            "args": ["it"],
            "workingDir": "/own/here",
            "volumeMounts": mounts,
        }
        launched(api, project, template(container=container, volumes=volumes), media=[1])
        [definition] = [each for each in told.definitions.values() if "ecsProperties" in each]
        [task] = definition["ecsProperties"]["taskProperties"]
        main = next(each for each in task["containers"] if each["name"] == "main")
        assert [(each["containerPath"], each.get("readOnly", False)) for each in main["mountPoints"]] == [
            ("/own", True), ("/a", False), ("/b", False),
        ]  # fmt: skip
        assert len({each["sourceVolume"] for each in main["mountPoints"]}) == len(task["volumes"]) == 3
        [override] = told.submitted[-1]["ecsPropertiesOverride"]["taskProperties"][0]["containers"]
        assert override["command"][-3:] == ["/own/here", "run", "it"]


class TestLimitsOfARun:
    def test_no_more_jobs_are_submitted_than_may_run(self, api, project, told):
        steps = [[{"name": name, "template": "say"} for name in "abc"]]
        found = yaml.safe_load(template(steps=steps))
        found["spec"] |= {"parallelism": 2}
        found["spec"]["templates"].append({"name": "say", "container": {"image": "x", "command": ["y"]}})
        uid = launched(api, project, yaml.safe_dump(found), media=[1])["uid"][0]
        assert set(numbers(uid)) == {"a", "b"}
        assert api.get(f"Job/{uid}").json["status"] == "Pending"
        told.jobs[numbers(uid)["a"]]["status"] = "SUCCEEDED"
        api.get(f"Job/{uid}")
        assert set(numbers(uid)) == {"a", "b", "c"}

    def test_its_jobs_end_when_its_time_is_over(self, api, project, told):
        found = yaml.safe_load(template(container={"image": "x", "command": ["y"]}))
        found["spec"] |= {"activeDeadlineSeconds": 0}
        uid = launched(api, project, yaml.safe_dump(found), media=[1])["uid"][0]
        job = api.get(f"Job/{uid}").json
        assert (job["status"], "activeDeadlineSeconds" in job["message"]) == ("Failed", True)
