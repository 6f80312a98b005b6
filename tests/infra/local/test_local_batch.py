"""The local queue by itself: order, room, restarts, and which runner is taken."""

from __future__ import annotations

import itertools
import json
import threading
import time
import uuid
from pathlib import Path

import pytest

from infra.emulator.batch import tasks
from infra.emulator.batch.calls import QUEUE, CallRefused, Calls
from infra.emulator.batch.logs import tail
from infra.emulator.batch.scheduler import MOST_INTERRUPTIONS, Scheduler
from infra.emulator.batch.steps.containers import Containers
from infra.emulator.batch.steps.processes import Processes
from infra.emulator.batch.steps.step import Ended
from infra.emulator.batch.store import FAILED, RUNNABLE, RUNNING, SUCCEEDED, JobStore
from infra.local.job_runner import NoJobs, choose, why_not_confined
from tests.infra.local.steps import endless, processes, wait_until

_numbers = itertools.count(1)


class Fake:
    """A runner whose steps take no time, unless their command is `wait`."""

    name = "fake"

    def __init__(self):
        self.order, self.at_once, self.most = [], 0, 0
        self.lock = threading.Lock()

    def run(self, step, log, stop):
        with self.lock:
            self.order.append(step.id)
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        if step.command == ["wait"]:
            stop.wait(30)
        stop.wait(0.001)
        with self.lock:
            self.at_once -= 1
        return Ended(exit_code=1, reason="It exited with code 1.") if step.command == ["fail"] else Ended(exit_code=0)

    def clean_up(self):
        """Nothing was left."""

    def description(self):
        return "fakes"


class Rig:
    def __init__(self, folder: Path, runner, width=2):
        self.folder, self.told = folder, []
        self.store = JobStore(folder / "jobs.sqlite")
        self.scheduler = Scheduler(self.store, runner, folder, self.told.append, width=width)
        self.calls = Calls(self.store, self.scheduler)

    def define(self, processors="1", memory="512", image="alpine"):
        sizes = [{"type": "VCPU", "value": processors}, {"type": "MEMORY", "value": memory}]
        name = f"d{next(_numbers)}"
        properties = {"image": image, "resourceRequirements": sizes}
        self.calls.register_job_definition(jobDefinitionName=name, type="container", containerProperties=properties)
        return name

    def submit(self, definition, *needs, command=("true",), **more):
        body = {"jobName": "limn-a-b", "jobQueue": QUEUE, "jobDefinition": definition}
        body["dependsOn"] = [{"jobId": need} for need in needs]
        body["containerOverrides"] = {"command": list(command)}
        return self.calls.submit_job(**body, **more)["jobId"]

    def status(self, job):
        return self.store.get(job).status

    def wait(self, *jobs):
        wait_until(lambda: all(self.status(job) in (SUCCEEDED, FAILED) for job in jobs), 30)

    def close(self):
        self.scheduler.stop()
        self.store.close()


@pytest.fixture
def rig(tmp_path):
    made = []

    def make(runner=None, width=2, folder=tmp_path):
        made.append(Rig(folder, runner or Fake(), width))
        return made[-1]

    yield make
    for each in made:
        each.close()


class TestOrder:
    def test_first_submitted_runs_first_and_what_waits_runs_after_what_it_waits_for(self, rig):
        found = rig(Fake(), width=1)
        definition = found.define()
        first = found.submit(definition)
        second = found.submit(definition, first)
        third = found.submit(definition)
        last = found.submit(definition, second, third)
        found.scheduler.start()
        found.wait(last)
        assert found.scheduler._runner.order == [first, second, third, last]

    def test_what_waits_for_a_failure_fails_without_running(self, rig):
        found = rig()
        definition = found.define()
        bad = found.submit(definition, command=["fail"])
        after = found.submit(definition, bad)
        last = found.submit(definition, after)
        found.scheduler.start()
        found.wait(last)
        assert found.scheduler._runner.order == [bad]
        assert found.store.get(last).reason == "Dependent Job failed"
        late = found.submit(definition, bad)
        assert found.status(late) == FAILED

    @pytest.mark.slow
    def test_two_hundred_jobs_of_five_steps_keep_to_the_room_and_lose_nothing(self, rig):
        found = rig(Fake(), width=2)
        definition = found.define()
        found.scheduler.start()
        last = []
        for _ in range(200):
            job = None
            for _ in range(5):
                job = found.submit(definition, *([job] if job else []))
            last.append(job)
        found.wait(*last)
        runner = found.scheduler._runner
        assert (len(runner.order), len(set(runner.order)), runner.most) == (1000, 1000, 2)
        assert found.store.counts() == {SUCCEEDED: 1000}
        assert found.scheduler._running == {}

    def test_a_wide_step_waits_for_room_and_is_not_overtaken(self, rig):
        found = rig(Fake(), width=2)
        narrow, wide = found.define("0.25"), found.define("16")
        waiting = found.submit(narrow, command=["wait"])
        found.scheduler.start()
        wait_until(lambda: found.status(waiting) == RUNNING)
        broad, small = found.submit(wide), found.submit(narrow)
        time.sleep(0.2)
        assert (found.status(broad), found.status(small)) == (RUNNABLE, RUNNABLE)
        found.calls.terminate_job(jobId=waiting, reason="enough")
        found.wait(broad, small)
        assert found.scheduler._runner.order == [waiting, broad, small]

    def test_an_unknown_definition_queue_or_job_is_refused(self, rig):
        found = rig()
        definition = found.define()
        for wrong in ({"jobDefinition": "none"}, {"jobQueue": "none"}, {"dependsOn": [{"jobId": "none"}]}):
            with pytest.raises(CallRefused):
                found.calls.submit_job(**{"jobName": "a", "jobQueue": QUEUE, "jobDefinition": definition, **wrong})
        assert found.store.counts() == {}


class TestRestarts:
    def test_what_ran_is_begun_again_and_what_waited_still_runs_after_it(self, rig):
        before = rig(Fake(), width=1)
        definition = before.define()
        running = before.submit(definition, command=["wait"])
        waiting = before.submit(definition, running)
        before.scheduler.start()
        wait_until(lambda: before.status(running) == RUNNING)
        before.scheduler.stop()
        assert before.status(running) == RUNNING
        after = rig(Fake(), width=1)
        assert after.scheduler.start() == 1
        wait_until(lambda: after.status(running) == RUNNING)
        assert after.status(waiting) == "PENDING"

    def test_one_that_is_interrupted_again_and_again_fails(self, rig):
        found = rig()
        job = found.submit(found.define())
        for _ in range(MOST_INTERRUPTIONS):
            found.store.start(job)
            found.store.interrupted()
        found.store.start(job)
        found.scheduler.start()
        found.wait(job)
        assert "stopped 5 times" in found.store.get(job).reason
        assert found.scheduler._runner.order == []

    def test_processes_of_a_killed_service_are_ended_at_the_next_start(self, rig, tmp_path):
        owner = uuid.uuid4().hex
        before = rig(Processes(owner))
        sleep = endless()
        job = before.submit(before.define(image="a"), command=["sh", "-c", f"setsid {sleep}1 & {sleep}2"])
        before.scheduler.start()
        wait_until(lambda: len(processes(sleep)) == 2)
        Processes("another stack").clean_up()
        assert len(processes(sleep)) == 2
        Processes(owner).clean_up()
        assert not processes(sleep)
        before.wait(job)

    def test_old_jobs_are_forgotten_with_their_output(self, rig):
        found = rig()
        job = found.submit(found.define())
        found.scheduler.start()
        found.wait(job)
        wait_until(lambda: not found.scheduler._running)
        assert found.store.forget(time.time() - 60) == []
        assert found.store.forget(time.time() + 1) == [job]
        assert found.calls.describe_jobs(jobs=[job]) == {"jobs": []}


class TestChoice:
    @pytest.fixture
    def programs(self, tmp_path, monkeypatch):
        """Puts programs on an otherwise empty PATH."""
        folder = tmp_path / "bin"
        folder.mkdir()
        monkeypatch.setenv("PATH", str(folder))

        def put(name, code):
            (folder / name).write_text(f"#!/bin/sh\nexit {code}\n")
            (folder / name).chmod(0o755)

        return put

    def test_confined_processes_are_taken_and_containers_by_name_only(self, programs, tmp_path):
        for name in ("docker", "podman"):
            with pytest.raises(NoJobs, match=f"{name} does not answer"):
                choose("127.0.0.1", tmp_path, {"LIMN_JOBS": name})
            programs(name, 0)
            assert choose("127.0.0.1", tmp_path, {}, find_obstacle=lambda: "").name == "process"
            assert choose("0.0.0.0", tmp_path, {"LIMN_JOBS": name}).name == name

    @pytest.mark.parametrize("wanted", ["auto", "process"])
    def test_steps_are_not_run_unconfined_by_default(self, programs, tmp_path, wanted):
        programs("docker", 0)
        variables = {"LIMN_JOBS": wanted}
        with pytest.raises(NoJobs, match=r"the kernel is old.*LIMN_JOBS=docker.*LIMN_JOBS=unconfined"):
            choose("127.0.0.1", tmp_path, variables, find_obstacle=lambda: "the kernel is old")
        allowed = choose("127.0.0.1", tmp_path, {"LIMN_JOBS": "unconfined"}, find_obstacle=lambda: "the kernel is old")
        assert "every port" in allowed.description()
        confined = choose("127.0.0.1", tmp_path, variables, (8000, 8001), lambda: "")
        assert "the ports of the API and of S3 only" in confined.description()

    @pytest.mark.parametrize(
        ("version", "program", "says"),
        [(0, b"x", "no Landlock"), (3, b"x", "it is version 3"), (4, b"", "system calls of"), (4, b"x", "")],
    )
    def test_confining_needs_ports_in_landlock_and_a_known_machine(self, version, program, says):
        found = why_not_confined(version, program)
        assert says in found
        assert bool(says) == bool(found)

    @pytest.mark.parametrize(
        ("host", "wanted", "says"),
        [
            ("0.0.0.0", "auto", "on loopback only"),
            ("192.168.1.4", "process", "on loopback only"),
            ("127.0.0.1", "off", "off"),
            ("127.0.0.1", "docker", "docker does not answer"),
            ("127.0.0.1", "vm", "must be one of"),
        ],
    )
    def test_where_nothing_may_run_the_reason_is_given(self, programs, tmp_path, host, wanted, says):
        with pytest.raises(NoJobs, match=says):
            choose(host, tmp_path, {"LIMN_JOBS": wanted})

    def test_names_and_addresses_of_this_machine_are_loopback(self, programs, tmp_path):
        for host in ("localhost", "127.0.0.1", "::1", "127.3.4.5"):
            assert choose(host, tmp_path, {"LIMN_JOBS": "unconfined"}).name == "process"


SLEEP = endless()
FAKE_DOCKER = """#!/bin/sh
echo "$*" >> {log}
case "$1" in
  info) exit 0 ;;
  ps) echo left-over; exit 0 ;;
  rm) [ -f {log}.pid ] && kill $(cat {log}.pid); exit 0 ;;
esac
case "$*" in
  *missing:1*) echo "Unable to find image 'missing:1' locally"; exit 125 ;;
  *nosuch*) exit 127 ;;
  *endless*) echo $$ > {log}.pid; exec {sleep} ;;
esac
for last; do :; done
for part; do case "$part" in */files/v0:/out) echo made > "${{part%%:*}}/result" ;; esac; done
echo "ran with COLOUR=$COLOUR: $last"
"""


class TestContainers:
    @pytest.fixture
    def docker(self, tmp_path, monkeypatch):
        """A command `docker` that writes down what it is given; the file."""
        folder = tmp_path / "bin"
        folder.mkdir()
        log = tmp_path / "docker.log"
        (folder / "docker").write_text(FAKE_DOCKER.format(log=log, sleep=SLEEP))
        (folder / "docker").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        return log

    def test_a_step_is_given_its_image_limits_and_variables_and_its_output_is_kept(self, rig, docker):
        found = rig(Containers("docker", "me"))
        sizes = [{"type": "VCPU", "value": "0.5"}, {"type": "MEMORY", "value": "1024"}]
        properties = {"image": "org/tool:2", "resourceRequirements": sizes}
        found.calls.register_job_definition(jobDefinitionName="d", type="container", containerProperties=properties)
        more = {"environment": [{"name": "COLOUR", "value": "blue"}], "command": ["detect", "--fast"]}
        body = {"jobName": "a", "jobQueue": QUEUE, "jobDefinition": "d", "containerOverrides": more}
        job = found.calls.submit_job(**body)["jobId"]
        found.scheduler.start()
        found.wait(job)
        assert found.status(job) == SUCCEEDED
        told = next(line for line in docker.read_text().splitlines() if line.startswith("run "))
        for part in ("--cpus 0.5", "--memory 1024m", "--memory-swap 1024m", "--cap-drop ALL", "--network host"):
            assert part in told
        assert told.endswith("org/tool:2 detect --fast")
        assert "--env COLOUR " in told
        assert "blue" not in told
        assert tail(found.scheduler.logs, job, 5) == ["ran with COLOUR=blue: --fast"]

    @pytest.mark.parametrize(
        ("image", "command", "says"),
        [
            ("missing:1", "a", "docker could not start the image missing:1"),
            ("tool:1", "nosuch", "The command 'nosuch' cannot be run in the image tool:1"),
        ],
    )
    def test_a_missing_image_or_command_fails_with_a_sentence(self, rig, docker, image, command, says):
        found = rig(Containers("docker", "me"))
        job = found.submit(found.define(image=image), command=[command])
        found.scheduler.start()
        found.wait(job)
        assert (found.status(job), says in found.store.get(job).reason) == (FAILED, True)

    def test_one_that_is_cancelled_is_removed_and_so_is_what_a_killed_service_left(self, rig, docker):
        found = rig(Containers("docker", "me"))
        job = found.submit(found.define(), command=["endless"])
        found.scheduler.start()
        wait_until(lambda: processes(SLEEP))
        found.calls.terminate_job(jobId=job, reason="enough")
        assert not processes(SLEEP)
        told = docker.read_text()
        assert "ps --all --quiet --filter label=limn.stack=me" in told
        assert "rm --force left-over" in told
        assert f"rm --force limn-{job}" in told
        assert found.store.get(job).reason == "enough"


def test_a_job_definition_of_several_containers_is_read_with_its_overrides(tmp_path):
    store = JobStore(tmp_path / "jobs.sqlite")
    calls = Calls(store, Scheduler(store, Fake(), tmp_path))
    mounts = [{"sourceVolume": "v0", "containerPath": "/out"}]
    containers = [
        {"name": "main", "image": "tool", "mountPoints": mounts},
        {"name": "out0", "image": "aws", "mountPoints": mounts,
         "dependsOn": [{"containerName": "main", "condition": "SUCCESS"}]},
    ]  # fmt: skip
    calls.register_job_definition(jobDefinitionName="d", ecsProperties={"taskProperties": [{"containers": containers}]})
    overrides = {"taskProperties": [{"containers": [{"name": "main", "command": ["a"]}]}]}
    body = {"jobName": "a", "jobQueue": QUEUE, "jobDefinition": "d", "ecsPropertiesOverride": overrides}
    job = store.get(calls.submit_job(**body)["jobId"])
    main, out = tasks.containers_of(job)
    assert (main.command, main.mounts) == (["a"], {"/out": "v0"})
    assert json.dumps(out.after) == '[{"containerName": "main", "condition": "SUCCESS"}]'
    store.close()
