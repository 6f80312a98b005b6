"""Members of Argo's Workflow that bound or end a run, or say where a step starts, on this machine."""

from __future__ import annotations

import pytest

from tests.infra.local.local_jobs import ended, launched, printed, statuses
from tests.infra.local.steps import claim, manifest, mounted, shell

pytestmark = pytest.mark.slow


def test_steps_start_in_a_folder_and_share_parts_of_one(api, project, queue):
    part = [{"name": "work", "mountPath": "/part", "subPath": "a/b"}]
    whole = [{"name": "work", "mountPath": "/work", "readOnly": True}]
    write, read = (
        mounted(shell("write", "pwd; echo here > made"), part),
        mounted(shell("read", "pwd; cat /work/a/b/made; echo x > /work/new || echo refused"), whole),
    )
    write["container"]["workingDir"], read["container"]["workingDir"] = "/part/deep", "/srv/nothing/here"
    write["container"]["args"] = ["echo here > made; mv made .."]
    main = {"name": "main", "steps": [[{"name": name, "template": name}] for name in ("write", "read")]}
    [uid] = launched(api, project, manifest(main, write, read, volumeClaimTemplates=[claim("work", "1Mi")]))
    job = ended(api, uid)
    assert job["status"] == "Succeeded", (job["message"], printed(api, uid, "write"))
    folder, *lines = printed(api, uid, "read")
    assert folder.endswith("/start")
    assert lines[0] == "here"
    assert lines[-1] == "refused"


def test_a_run_ends_with_a_step_that_knows_how_it_went(api, project, queue):
    tell = shell("tell", "echo it {{workflow.status}}")
    for line, status in (("true", "Succeeded"), ("exit 3", "Failed")):
        [uid] = launched(api, project, manifest(shell("main", line), tell, onExit="tell"))
        assert ended(api, uid)["status"] == status
        assert printed(api, uid, "onExit") == [f"it {status}"]


def test_one_step_after_the_other_where_one_may_run_at_once(api, project, queue):
    say = {
        **shell("say", "mkdir /work/busy && sleep 0.3 && rmdir /work/busy"),
        "inputs": {"parameters": [{"name": "n"}]},
    }
    step = {"name": "s", "template": "say", "withSequence": {"count": 3}}
    step["arguments"] = {"parameters": [{"name": "n", "value": "{{item}}"}]}
    mounts = [{"name": "work", "mountPath": "/work"}]
    main = {"name": "main", "steps": [[step]]}
    text = manifest(main, mounted(say, mounts), parallelism=1, volumeClaimTemplates=[claim("work", "1Mi")])
    job = ended(api, launched(api, project, text)[0])
    assert job["status"] == "Succeeded", job["message"]
    assert sum(node["task"].startswith("s(") for node in job["nodes"]) == 3


def test_a_run_that_takes_too_long_fails(api, project, queue):
    [uid] = launched(
        api, project, manifest(shell("main", "sleep 60"), shell("tell", "true"), onExit="tell", activeDeadlineSeconds=1)
    )
    job = ended(api, uid)
    assert job["status"] == "Failed"
    assert "activeDeadlineSeconds" in job["message"]
    assert statuses(job)["onExit"] == "Succeeded"
