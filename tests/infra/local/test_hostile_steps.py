"""Steps that are wrong on purpose, as processes of this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from infra.emulator.batch.logs import Log, tail
from infra.emulator.batch.steps import launch_step, step_syscalls
from infra.emulator.batch.steps import processes as step_processes
from infra.emulator.batch.steps import step as step_module
from infra.emulator.batch.steps.processes import Processes
from infra.emulator.batch.steps.step import Step
from infra.local.job_runner import obstacle
from tests import objects
from tests.infra.local.local_jobs import ended, launched, output, printed
from tests.infra.local.steps import endless, manifest, processes, python, shell, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("queue")]


class TestEscapes:
    """Processes of a step that try to be none of it."""

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="descendants are followed on Linux")
    def test_processes_that_leave_session_and_environment_end_with_their_step(self, api, project):
        sleep = endless()
        escapes = f"(env -i setsid sh -c '{sleep}$$ & exit' &); (env -i setsid {sleep}1 &); sleep 0.3"
        text = manifest(shell("main", escapes))
        assert ended(api, launched(api, project, text)[0])["status"] == "Succeeded"
        assert not processes(sleep)

    def test_and_with_its_cancellation(self, api, project):
        sleep = endless()
        text = manifest(shell("main", f"(env -i setsid {sleep}1 &) ; {sleep}2"))
        [uid] = launched(api, project, text)
        wait_until(lambda: len(processes(sleep)) >= 2)
        assert api.delete(f"Job/{uid}").status == 200
        assert not processes(sleep)

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="descendants are followed on Linux")
    def test_memory_of_processes_in_other_sessions_counts(self, api, project):
        greedy = "import time; kept = bytearray(b'x' * 700_000_000); time.sleep(60)"
        text = manifest(shell("main", f'env -i setsid python3 -c "{greedy}"'))
        job = ended(api, launched(api, project, text)[0])
        assert job["status"] == "Failed"
        assert "more memory than its limit of 512 MiB" in job["message"]

    def test_one_that_multiplies_is_ended_with_all_its_processes(self, api, project, queue, monkeypatch):
        # it ends by itself at 64 processes: a failure of this test leaves the machine usable
        monkeypatch.setattr(step_processes, "MOST_PROCESSES", 24)
        bomb = "import os, time\nfor _ in range(6):\n    if not os.fork():\n        os.setsid()\ntime.sleep(5)"
        job = ended(api, launched(api, project, manifest(python("main", bomb)))[0])
        assert job["status"] == "Failed"
        assert "more than 24 processes" in job["message"]
        assert not _working_in(queue._scheduler._work)

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are found on Linux")
    def test_a_step_whose_launcher_was_killed_has_ended_with_all_its_processes(self, tmp_path):
        text = "import os, time\nfor _ in range(5):\n    if not os.fork():\n        os.setsid()\ntime.sleep(60)"
        step, found = _plain_step(tmp_path / "step", ["python3", "-c", text]), []
        with Log(tmp_path, "a") as log:
            run = threading.Thread(
                target=lambda: found.append(Processes(tmp_path.name).run(step, log, threading.Event()))
            )
            run.start()
            wait_until(lambda: len(_working_in(step.folder)) > 32)
            [launcher] = [pid for pid in _working_in(step.folder) if _parent_of(pid) == os.getpid()]
            os.kill(launcher, signal.SIGKILL)
            run.join(60)
        assert found[0].reason == "It was ended by signal SIGKILL."
        assert not _working_in(step.folder)


class TestWrongOnPurpose:
    def test_one_that_eats_memory_is_ended_at_its_limit(self, api, project, queue):
        greedy = "kept = []\nwhile True:\n    kept.append(bytearray(b'x' * 10_000_000))"
        job = ended(api, launched(api, project, manifest(python("main", greedy)))[0])
        assert job["status"] == "Failed"
        assert "memory" in job["message"]

    @pytest.mark.parametrize(
        "way", ["one large file", "files that are deleted while they are open", "many small files"]
    )
    def test_one_that_fills_the_disk_is_ended_at_its_limit(self, api, project, queue, monkeypatch, way):
        monkeypatch.setattr(step_module, "LARGEST_FOLDER", 20_000_000)
        each = {"one large file": 100, "many small files": 1}.get(way, 4)
        delete = "os.unlink(str(n))" if "deleted" in way else "pass"
        # it ends by itself at 100 MB: a failure of this test leaves the machine usable
        text = f"""
import os, time
held = []
for n in range({100 // each}):
    held.append(open(str(n), "wb"))
    for _ in range({each}):
        held[-1].write(bytes(1_000_000))
        time.sleep(0.02)
    held[-1].flush()
    {delete}
time.sleep(20)
"""
        job = ended(api, launched(api, project, manifest(python("main", text)))[0])
        assert job["status"] == "Failed"
        assert "Its files take more than" in job["message"]

    def test_of_a_hundred_megabytes_of_output_the_last_is_kept(self, api, project, queue):
        text = "import sys\nfor n in range(1600):\n    sys.stdout.write(('%07d ' % n) * 8192)\nprint('\\nthe end')"
        [uid] = launched(api, project, manifest(python("main", text)))
        assert ended(api, uid)["status"] == "Succeeded"
        assert output(queue, uid).endswith("the end")
        assert sum(path.stat().st_size for path in queue._scheduler.logs.iterdir()) <= 1_100_000

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="Landlock is Linux's")
    def test_one_that_leaves_its_folder_is_refused(self, api, project, queue, tmp_path):
        secret = tmp_path / "secret"
        secret.write_text("token")
        text = f"""
import os, signal
def attempt(what, do):
    try:
        do()
        print(what, "DONE")
    except OSError as error:
        print(what, error.errno)
attempt("write beside", lambda: open({str(tmp_path / "mine")!r}, "w"))
attempt("write tmp", lambda: open("/tmp/limn-escape", "w"))
attempt("read data", lambda: open({str(secret)!r}).read())
attempt("read environment", lambda: open("/proc/{os.getpid()}/environ").read())
attempt("read command", lambda: open("/proc/{os.getpid()}/cmdline").read())
attempt("list processes", lambda: os.listdir("/proc"))
attempt("signal", lambda: os.kill({os.getpid()}, 0))
attempt("own file", lambda: open("mine", "w").write("x"))
"""
        [uid] = launched(api, project, manifest(python("main", text)))
        assert ended(api, uid)["status"] == "Succeeded"
        said = [line for line in output(queue, uid).splitlines() if "DONE" in line]
        assert said == ["own file DONE"]

    @pytest.mark.skipif(bool(obstacle()), reason=f"steps cannot be confined here: {obstacle()}")
    def test_it_changes_no_modes_owners_and_times_but_of_its_own_files(self, api, project, queue, tmp_path):
        if not can_seal():
            pytest.skip("this machine allows no mount namespaces")
        beside = tmp_path / "beside"
        beside.write_text("x")
        beside.chmod(0o640)
        before = beside.stat()
        text = f"""
import os
def attempt(what, do):
    try:
        do()
        print(what, "DONE")
    except OSError as error:
        print(what, "refused")
places = {{"beside": {str(beside)!r}, "own": "mine", "settings": "/etc/passwd", "shared": "/dev/shm/mine"}}
for name, path in places.items():
    if name in ("own", "shared"):
        open(path, "w").close()
    mode = 0o600 if name in ("own", "shared") else 0o777
    attempt(name + " mode", lambda: os.chmod(path, mode))
    attempt(name + " time", lambda: os.utime(path, (1, 1)))
    attempt(name + " owner", lambda: os.chown(path, os.getuid(), os.getgid()))
    attempt(name + " attribute", lambda: os.setxattr(path, "user.x", b"1") if name != "shared" else None)
    descriptor = os.open(path, os.O_PATH)
    attempt(name + " by /proc", lambda: os.chmod(f"/proc/self/fd/{{descriptor}}", mode))
attempt("fill shared memory", lambda: open("/dev/shm/full", "wb").write(bytes(80_000_000)))
"""
        [uid] = launched(api, project, manifest(python("main", text)))
        assert ended(api, uid)["status"] == "Succeeded", printed(api, uid, "main")
        said = [line for line in output(queue, uid).splitlines() if "DONE" in line]
        kinds = ("mode", "time", "owner", "attribute", "by /proc")
        assert said == [f"{name} {kind} DONE" for name in ("own", "shared") for kind in kinds], output(queue, uid)
        after = beside.stat()
        assert (after.st_mode, after.st_mtime_ns, after.st_uid) == (before.st_mode, before.st_mtime_ns, before.st_uid)

    @pytest.mark.skipif(not step_syscalls.program(), reason="the calls of this machine are not known")
    def test_it_sets_limits_and_priorities_of_itself_only_and_shares_no_memory(self, api, project, queue):
        service = os.getpid()
        text = f"""
import ctypes, os, resource
library = ctypes.CDLL(None, use_errno=True)
def attempt(what, do):
    try:
        print(what, "DONE" if do() != -1 else "refused")
    except OSError:
        print(what, "refused")
limit = (resource.RLIMIT_NOFILE, (64, 64))
attempt("limits", lambda: resource.prlimit({service}, *limit))
attempt("limits read", lambda: resource.prlimit({service}, resource.RLIMIT_NOFILE))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, {service}, 19))
attempt("priority of all", lambda: os.setpriority(os.PRIO_USER, 0, 19))
attempt("schedule", lambda: os.sched_setscheduler({service}, os.SCHED_BATCH, os.sched_param(0)))
attempt("processors", lambda: os.sched_setaffinity({service}, os.sched_getaffinity(0)))
attempt("memory", lambda: library.shmget(0, 4096, 0o1600))
attempt("queue", lambda: library.msgget(0, 0o1600))
attempt("own limits", lambda: resource.setrlimit(*limit))
attempt("own priority", lambda: os.nice(1))
attempt("own processors", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
me = os.getpid()
attempt("limits by id", lambda: resource.prlimit(me, *limit))
attempt("priority by id", lambda: os.setpriority(os.PRIO_PROCESS, me, 19))
attempt("processors by id", lambda: os.sched_setaffinity(me, os.sched_getaffinity(me)))
attempt("limits of the parent", lambda: resource.prlimit(os.getppid(), *limit))
"""
        [uid] = launched(api, project, manifest(python("main", text)))
        assert ended(api, uid)["status"] == "Succeeded", printed(api, uid, "main")
        said = [line for line in output(queue, uid).splitlines() if "DONE" in line]
        own = [f"own {what} DONE" for what in ("limits", "priority", "processors")]
        assert said == [*own, *(f"{what} by id DONE" for what in ("limits", "priority", "processors"))]

    @pytest.mark.skipif(bool(obstacle()), reason=f"steps cannot be confined here: {obstacle()}")
    def test_it_reaches_no_port_but_those_of_the_stack(self, tmp_path):
        text = """
import ctypes, os, socket, sys
allowed, other = int(sys.argv[1]), int(sys.argv[2])
library = ctypes.CDLL(None, use_errno=True)
def attempt(what, do):
    try:
        print(what, "refused" if do() == -1 else "DONE", flush=True)
    except OSError:
        print(what, "refused", flush=True)
def make(*kind):
    made = socket.socket(*kind)
    made.settimeout(5)
    return made
def bind(*place):
    with make() as made:
        made.bind(place)
        made.listen()
def fast(port):
    with make() as made:
        made.sendto(b"x", 0x20000000, ("127.0.0.1", port))
def fast_message(port):
    with make() as made:
        made.sendmsg([b"x"], [], 0x20000000, ("127.0.0.1", port))
def connect(port, *kind):
    with make(*kind) as made:
        made.connect(("127.0.0.1", port))
attempt("stack", lambda: connect(allowed))
attempt("name", lambda: socket.create_connection(("localhost", allowed), 5).close())
attempt("pair", lambda: [end.close() for end in socket.socketpair()] and 0)
attempt("other port", lambda: connect(other))
attempt("any port", lambda: bind("127.0.0.1", 0))
attempt("fast open", lambda: fast(other))
attempt("fast open by message", lambda: fast_message(other))
attempt("multipath", lambda: connect(other, socket.AF_INET, socket.SOCK_STREAM, 262))
attempt("datagrams", lambda: make(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", other)))
attempt("datagrams 6", lambda: make(socket.AF_INET6, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC).close())
attempt("raw", lambda: make(socket.AF_INET, socket.SOCK_RAW, 6).close())
attempt("packets", lambda: make(17, socket.SOCK_RAW).close())
attempt("virtual machines", lambda: make(40, socket.SOCK_STREAM).close())
attempt("rings", lambda: library.syscall(425, 1, ctypes.byref(ctypes.create_string_buffer(120))))
"""
        with socket.create_server(("127.0.0.1", 0)) as stack, socket.create_server(("127.0.0.1", 0)) as other:
            ports = [str(server.getsockname()[1]) for server in (stack, other)]
            step = _plain_step(tmp_path / "step", ["python3", "-c", text, *ports])
            with Log(tmp_path, "a") as log:
                ended = Processes("ports", ports=(int(ports[0]),)).run(step, log, threading.Event())
        lines = tail(tmp_path, "a", 100)
        assert ended.exit_code == 0, lines
        assert [line for line in lines if "DONE" in line] == ["stack DONE", "name DONE", "pair DONE"]
        assert len([line for line in lines if "refused" in line]) == 11, lines

    @pytest.mark.skipif(not step_syscalls.program(), reason="the calls of this machine are not known")
    def test_where_the_kernel_takes_no_filter_the_step_says_what_to_do(self):
        plan = {"parent": os.getpid(), "command": ["/bin/echo", "ran"], "limits": {}, "nice": 0, "most": 10}
        plan |= {"confine": False, "ports": None, "filter": "ff" * 8, "grace": 0}
        asked = [sys.executable, "-I", "-S", launch_step.__file__, json.dumps(plan)]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == launch_step.CANNOT_RUN
        assert "ran" not in done.stdout.replace("cannot be run", "")
        assert "LIMN_JOBS=docker" in done.stdout

    @pytest.mark.skipif(os.geteuid() != 0, reason="other users cannot read them anyway")
    @pytest.mark.skipif(not Path("/etc/shadow").exists(), reason="this machine has no such file")
    def test_one_of_root_reads_no_settings_that_other_users_may_not_read(self, api, project, queue):
        text = manifest(shell("main", "cat /etc/passwd > /dev/null && echo open; cat /etc/shadow || echo closed"))
        [uid] = launched(api, project, text)
        assert ended(api, uid)["status"] == "Succeeded", printed(api, uid, "main")
        assert {"open", "closed"} <= set(output(queue, uid).splitlines())

    @pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="shared memory has no folder here")
    def test_shared_memory_that_is_left_is_removed(self, api, project):
        name = f"limn-left-{os.getpid()}"
        text = f"""
import multiprocessing, os
with multiprocessing.Pool(2) as pool:
    assert pool.map(abs, [-1, -2]) == [1, 2]
open("/dev/shm/{name}", "w").write("left")
try:
    os.mkdir("/dev/shm/{name}-folder")
except OSError as error:
    print(type(error).__name__)
"""
        [uid] = launched(api, project, manifest(python("main", text)))
        assert ended(api, uid)["status"] == "Succeeded", printed(api, uid, "main")
        assert not list(Path("/dev/shm").glob(f"{name}*"))

    def test_a_link_in_place_of_a_result_brings_nothing_out(self, api, project, queue, tmp_path):
        secret = tmp_path / "secret"
        secret.write_text("token")
        outputs = {"parameters": [{"name": "stolen", "valueFrom": {"path": "/out/stolen"}}]}
        text = manifest(shell("main", f"ln -s {secret} /out/stolen", outputs=outputs))
        job = ended(api, launched(api, project, text)[0])
        assert job["status"] == "Failed"
        assert "did not make the file /out/stolen" in job["message"]
        assert not [key for key in objects.under(f"{project}/") if b"token" in objects.read(key)]

    def test_files_without_permissions_are_removed_all_the_same(self, api, project, queue):
        text = manifest(shell("main", "mkdir -p a/b && touch a/b/c && chmod 0 a/b a"))
        assert ended(api, launched(api, project, text)[0])["status"] == "Succeeded"
        wait_until(lambda: list(queue._scheduler._work.iterdir()) == [])


def can_seal():
    """Whether this machine lets a process have mounts of its own."""
    folder = str(Path(launch_step.__file__).parent)
    code = f"import sys; sys.path.insert(0, {folder!r}); import launch_step; sys.exit(not launch_step._seal([]))"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _plain_step(folder, command):
    """A step without files, which may take a minute."""
    return Step(
        id="a", image="", command=command, environment={}, folder=folder, mounts={},
        processors=1, memory=2**29, seconds=60,
    )  # fmt: skip


def _working_in(folder):
    """The processes that run in a folder, or in one below it."""
    links = Path("/proc").glob("[0-9]*/cwd")
    return [int(link.parent.name) for link in links if Path(_target(link)).is_relative_to(folder.resolve())]


def _parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _target(link):
    """Where a link of /proc leads."""
    try:
        return str(link.readlink())
    except OSError:
        return ""
