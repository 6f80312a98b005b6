"""Jobs on the local stack as users run it: killed with all steps in the middle, cancelled, and hundreds at once."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

import pytest
import requests

from tests.infra.local.steps import brief, endless, manifest, processes, shell, wait_until
from tests.journeys.stack import connect

pytestmark = pytest.mark.slow

SECONDS = 240


class Client:
    """A user of a stack, with a project of their own."""

    def __init__(self, place):
        self.url, self.headers = place["url"], {"Authorization": f"Token {place['token']}"}
        self.api = connect(place)

    def begin(self):
        self.user = self.api.whoami().id
        organization = self.api.create_organization(organization_spec={"name": uuid.uuid4().hex}).id
        self.project = self.api.create_project(project_spec={"name": "p", "organization": organization}).id
        return self

    def ask(self, method, path, **more):
        answer = requests.request(method, f"{self.url}/rest/{path}", headers=self.headers, timeout=60, **more)
        answer.raise_for_status()
        return answer.json()

    def launch(self, text, count):
        """Register a manifest and launch it on so many media, one a job; the group."""
        image = self.ask("POST", f"MediaTypes/{self.project}", json={"name": uuid.uuid4().hex, "dtype": "image"})["id"]
        specs = [{"type": image, "name": f"{number}.png", "md5": ""} for number in range(count)]
        media = self.ask("POST", f"Medias/{self.project}", json=specs)["id"]
        upload = self.api.get_upload_info(self.project)
        requests.put(upload.urls[0], data=text.encode(), timeout=30).raise_for_status()
        url = self.api.get_download_info(self.project, download_info_spec={"keys": [upload.key]})[0].url
        spec = {"name": "m.yaml", "upload_url": url}
        saved = self.api.save_algorithm_manifest(self.project, algorithm_manifest_spec=spec).url
        name = uuid.uuid4().hex
        spec = {"name": name, "user": self.user, "files_per_job": 1, "manifest": saved}
        self.api.register_algorithm(self.project, algorithm_spec=spec)
        said = self.ask("POST", f"Jobs/{self.project}", json={"algorithm_name": name, "media_ids": media})
        return said["gid"], said["uid"]

    def statuses(self, gid):
        [group] = self.ask("GET", f"JobGroups/{self.project}", params={"gid": gid})
        return group["statuses"]


def chain(*steps):
    """A workflow of steps one after the other."""
    tasks = [
        {"name": f"step{number}", "template": f"t{number}", "dependencies": [f"step{number - 1}"] if number else []}
        for number in range(len(steps))
    ]
    return manifest({"name": "main", "dag": {"tasks": tasks}}, *(shell(f"t{n}", text) for n, text in enumerate(steps)))


def test_jobs_survive_the_kill_of_the_service_and_are_cancelled_with_their_processes(stack):
    client = Client(stack.start(LIMN_JOBS="process")).begin()
    sleep = endless()
    gid, uids = client.launch(chain("echo one", f"env -i setsid {sleep} & sleep 3; echo two", "echo three"), 2)
    wait_until(lambda: processes(sleep), SECONDS)
    stack.kill()
    wait_until(lambda: not processes(sleep), SECONDS)

    client_after = Client(stack.start(LIMN_JOBS="process"))
    client_after.project = client.project
    wait_until(lambda: client_after.statuses(gid) == {"Succeeded": 2}, SECONDS)
    assert "interrupted steps of jobs are begun again" in stack.log()
    assert not processes(sleep)
    for uid in uids:
        said = client_after.ask("GET", f"JobLog/{uid}", params={"node": "step1"})
        assert said["lines"] == ["two"]

    client_after.user = client.user
    gid, uids = client_after.launch(chain(f"env -i setsid {sleep}1 & {sleep}2"), 3)
    wait_until(lambda: processes(f"{sleep}2"), SECONDS)
    assert client_after.ask("DELETE", f"Jobs/{client.project}", params={"gid": gid})["message"].startswith("Deleted 3")
    assert not processes(sleep)
    assert not list((stack.home / ".limn" / "jobs" / "work").iterdir())


@pytest.mark.nightly
def test_two_hundred_jobs_of_five_steps_end_in_order_of_launch_with_memory_flat(stack):
    client = Client(stack.start(LIMN_JOBS="process")).begin()
    began, sleep = time.monotonic(), brief()
    gid, uids = client.launch(chain(*[sleep] * 5), 200)
    assert len(uids) == 200
    peak, most, statuses = 0, 0, {}
    first = resident(stack)
    while statuses != {"Succeeded": 200}:
        assert time.monotonic() - began < 900, statuses
        if set(statuses) - {"Pending", "Running", "Succeeded"}:
            jobs = client.ask("GET", f"Jobs/{client.project}", params={"gid": gid})
            raise AssertionError([job for job in jobs if job["status"] in ("Failed", "Error")])
        most = max(most, len(processes(sleep)))
        peak = max(peak, resident(stack))
        statuses = client.statuses(gid)
    assert most <= 2 * (os.cpu_count() or 1)
    print(f"1000 steps in {time.monotonic() - began:.0f} s; {first // 2**20} MiB at first, {peak // 2**20} at most")  # noqa: T201 the figures of docs/reliability.md
    assert peak < first + 400 * 2**20


def resident(stack):
    """Bytes of memory of the service."""
    pages = Path(f"/proc/{stack._process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096
