"""A step as a process of this machine: no image, its command by the programs that are here, within limits.

What a container would give it is made up for: a folder of its own, an environment without anything of the service's,
and limits of time, processor, memory, file size and processes. Its folders of files, `/out` and so on, lie within its
own folder: their paths are replaced in its command, its environment and its script.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from infra.emulator.batch.logs import Log
from infra.emulator.batch.steps import launch_step, places, step_syscalls
from infra.emulator.batch.steps.step import LARGEST_FILE, MOST_PROCESSES, Ended, Step, drain, follow, grace_of

MARK = "LIMN_STEP"
"""A variable that every process of a step inherits: those that left its session are found by it."""
_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_NICE = 3
_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/sys", "/nix", "/snap")
_SETTINGS = "/etc"
_PROC = tuple(f"/proc/{name}" for name in ("cpuinfo", "meminfo", "stat", "sys", "filesystems", "loadavg", "version"))
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", launch_step.SHARED)
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
"""Variables of the service that a step gets too."""
_SCAN_SECONDS = 0.2
_END_SECONDS = 5.0
_SPARE_THREADS = launch_step.THREADS_EACH * MOST_PROCESSES


class Processes:
    """Runs steps as processes.

    Args:
        owner: tells the steps of this stack from those of another on the same machine.
        readable: more folders that steps may read, such as one with models.
        ports: the TCP ports that steps may connect to; None allows the whole network.
    """

    name = "process"

    def __init__(self, owner: str, readable: tuple[str, ...] = (), ports: tuple[int, ...] | None = None) -> None:
        self._owner = owner
        self._readable = [*_PROGRAMS, *_open_to_all(_SETTINGS), *_PROC, *_prefixes(), *readable]
        self._ports = ports
        self._confines = launch_step.landlock_version() > 0
        self._filter = step_syscalls.program(is_tcp_only=ports is not None).hex()

    def description(self) -> str:
        """The line about it that the start prints."""
        files = "confined to their folder by Landlock" if self._confines else "NOT confined: they can read your files"
        network = "every port of this machine" if self._ports is None else "the ports of the API and of S3 only"
        return f"processes of this machine, {files}; they reach {network}; images are not used"

    def run(self, step: Step, log: Log, stop: threading.Event) -> Ended:
        """Run a step to its end, or until `stop` is set."""
        step = places.with_start(step)
        home = step.folder / "home"
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        command = [places.mapped(part, step) for part in step.command]
        places.map_script(step)
        environment = self._environment(step, home)
        if not command:
            return Ended(reason=f"The step has no command. Without containers its image {step.image} gives none.")
        program = _program(command[0], home, environment["PATH"])
        if program is None:
            where = f"its image {step.image} is not used without containers"
            return Ended(exit_code=127, reason=f"The command {command[0]!r} is not on this machine; {where}.")
        plan = {
            "parent": os.getpid(),
            "command": [program, *command[1:]],
            "nice": _NICE,
            "most": MOST_PROCESSES,
            "limits": _limits(step),
            "confine": self._confines,
            "ports": self._ports,
            "filter": self._filter,
            "grace": step.grace,
            "writable": [str(step.folder), *places.shared_mounts(step, read_only=False), *_DEVICES],
            "readable": [*self._readable, *places.shared_mounts(step, read_only=True)],
        }
        launcher = [sys.executable, "-I", "-S", launch_step.__file__, json.dumps(plan)]
        began = time.time()
        process = _start(launcher, home, environment)
        try:
            reason = follow(
                process, step, log, stop, lambda: _excess(process.pid, step), lambda: usage.below(process.pid)
            )
        finally:
            _end(process, grace_of(step, stop))
            _kill_marked(f"{MARK}={self._owner}:{step.id}")
            _clear_shared(began)
            drain(process, log)
        return Ended(exit_code=process.returncode, reason=reason or self._reason(process.returncode, step))

    def _reason(self, code: int, step: Step) -> str | None:
        if code == launch_step.TOO_MANY:
            threads = MOST_PROCESSES * launch_step.THREADS_EACH
            return f"It started more than {MOST_PROCESSES} processes, or {threads} threads."
        return _reason(code, step)

    def clean_up(self) -> None:
        """End the processes of steps whose service was killed."""
        _kill_marked(f"{MARK}={self._owner}:")

    def _environment(self, step: Step, home: Path) -> dict[str, str]:
        own = {name: os.environ[name] for name in _KEPT if name in os.environ}
        threads = str(max(1, round(step.processors)))
        paths = [str(Path(sys.executable).parent), *own.get("PATH", os.defpath).split(os.pathsep)]
        return {
            **own,
            "PATH": os.pathsep.join(dict.fromkeys(paths)),
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "MALLOC_ARENA_MAX": "2",
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            **{name: places.mapped(value, step) for name, value in step.environment.items()},
            MARK: f"{self._owner}:{step.id}",
        }


def _start(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a process, tried again where the machine has no room for one more."""
    for pause in (0.2, 1.0, 5.0, None):
        try:
            return subprocess.Popen(  # noqa: S603 the step's command is what must be run
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as failure:
            if pause is None or failure.errno not in (errno.EAGAIN, errno.ENOMEM):
                raise
            time.sleep(pause)
    raise AssertionError("the last try raises")


def _kill_marked(mark: str) -> None:
    """Kill every process whose environment has a variable that is, or begins with, a mark; on Linux only.

    Returns when none is left. A killed process takes a moment to end, on a busy machine more than one: at most 5 s.
    """
    wanted = mark.encode()
    end = time.monotonic() + _END_SECONDS
    while time.monotonic() < end:
        found = [pid for pid in _numbers() if _carries(pid, wanted)]
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _clear_shared(since: float) -> None:
    """Remove this user's shared memory that appeared since a time and that no process uses."""
    try:
        found = {entry.path for entry in os.scandir(launch_step.SHARED) if _is_newer(entry, since)}
    except OSError:
        return
    for pid in _numbers() if found else ():
        with suppress(OSError):
            maps = Path(f"/proc/{pid}/maps").read_text()
            links = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
            found -= {path for path in found if path in links or path in maps}
    for path in found:
        with suppress(OSError):
            Path(path).unlink()


def _is_newer(entry: os.DirEntry[str], since: float) -> bool:
    status = entry.stat(follow_symlinks=False)
    return status.st_uid == os.getuid() and status.st_ctime >= since and not entry.is_dir(follow_symlinks=False)


def _carries(pid: int, mark: bytes) -> bool:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(item == mark or (mark.endswith(b":") and item.startswith(mark)) for item in variables)


def _numbers() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208
    except FileNotFoundError:
        return []


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """End a step: its launcher kills the descendants; a launcher that does not answer is killed with its session.

    With a time of grace, the launcher passes SIGTERM on first; a second SIGTERM ends that time.
    """
    for patience in (*((grace,) if grace else ()), _END_SECONDS):
        if process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _limits(step: Step) -> dict[str, int]:
    """Hard limits. That of memory is a backstop: programs reserve more than they use, so what they use is watched."""
    return {
        "RLIMIT_CPU": int(step.seconds * max(1.0, step.processors)) + 1,
        "RLIMIT_AS": 2 * step.memory + 2 * 2**30,
        "RLIMIT_FSIZE": LARGEST_FILE,
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": 1024,
        "RLIMIT_NPROC": usage.threads() + _SPARE_THREADS,
    }


def _excess(leader: int, step: Step) -> str | None:
    used = usage.memory(leader)
    if used is None or used <= step.memory:
        return None
    return f"It used more memory than its limit of {step.memory // 2**20} MiB."


def _reason(code: int, step: Step) -> str | None:
    if code == 0:
        return None
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        if name == "SIGXCPU":
            return f"It used more processor time than its limit of {step.seconds:g} seconds."
        if name == "SIGXFSZ":
            return f"It wrote a file larger than {LARGEST_FILE // 2**30} GiB."
        return f"It was ended by signal {name}."
    return f"It exited with code {code}."


def _program(name: str, home: Path, path: str) -> str | None:
    """The file that a command names; any Python is the one that runs the service, with its packages."""
    if _PYTHON.fullmatch(Path(name).name):
        return sys.executable
    found = str(home / name) if "/" in name else name
    return shutil.which(found, path=path)


def _prefixes() -> list[str]:
    """Where Python and the packages of this environment are."""
    return list(dict.fromkeys(str(Path(place).resolve()) for place in (sys.prefix, sys.base_prefix)))


def _open_to_all(folder: str) -> list[str]:
    """The folder, or for root, who reads everything, those of its files and folders that every user may read."""
    return [folder] if os.geteuid() else [*_readable_parts(folder)[0], f"{folder}/resolv.conf"]


def _readable_parts(path: str) -> tuple[list[str], bool]:
    """The largest parts of a path that all users may read, links left out; whether that is all of it."""
    try:
        mode = Path(path).stat().st_mode
        is_folder = stat.S_ISDIR(mode)
        is_open = bool(mode & stat.S_IROTH) and (bool(mode & stat.S_IXOTH) or not is_folder)
        entries = [entry.path for entry in os.scandir(path) if not entry.is_symlink()] if is_folder and is_open else []
    except OSError:  # removed meanwhile
        return [], False
    found = [_readable_parts(entry) for entry in entries]
    if is_open and all(is_whole for _, is_whole in found):
        return [path], True
    return [part for parts, _ in found for part in parts], False


@dataclass(frozen=True)
class _Process:
    parent: int
    memory: int
    """Bytes."""
    threads: int = 1


class _Usage:
    """The processes of the machine, read at most every `_SCAN_SECONDS` for all steps together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at = 0.0
        self._found: dict[int, _Process] = {}
        self._children: dict[int, list[int]] = {}

    def memory(self, leader: int) -> int | None:
        """Bytes of memory of the descendants of a process; None if it does not run."""
        with self._lock:
            self._read()
            if leader not in self._found:
                return None
            return sum(self._found[number].memory for number in descendants(leader, self._children))

    def below(self, leader: int) -> list[int]:
        """The descendants of a process."""
        with self._lock:
            self._read()
            return descendants(leader, self._children)

    def threads(self) -> int:
        """The threads of the machine, which a limit of processes counts too."""
        with self._lock:
            self._read()
            return sum(process.threads for process in self._found.values())

    def _read(self) -> None:
        if time.monotonic() - self._at <= _SCAN_SECONDS:
            return
        self._found = _read_proc() or _read_ps()
        self._children = {}
        for number, process in self._found.items():
            self._children.setdefault(process.parent, []).append(number)
        self._at = time.monotonic()


usage = _Usage()


def descendants(leader: int, children: Mapping[int, list[int]]) -> list[int]:
    """All descendants of a process, from the children of each; those of a process group include its leader."""
    found = dict.fromkeys(children.get(leader, ()))
    waiting = [number for number in found if number != leader]
    while waiting:
        for number in children.get(waiting.pop(), ()):
            if number not in found:
                found[number] = None
                waiting.append(number)
    return list(found)


def _read_proc() -> dict[int, _Process]:
    page = os.sysconf("SC_PAGE_SIZE")
    found: dict[int, _Process] = {}
    for pid in _numbers():
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        fields = text.rpartition(")")[2].split()
        found[pid] = _Process(int(fields[1]), int(fields[21]) * page, int(fields[17]))
    return found


def _read_ps() -> dict[int, _Process]:
    """As `_read_proc`, where there is no /proc. There the leader is the step's command: it is its own descendant."""
    try:
        said = subprocess.run(
            ["ps", "-axo", "pid=,pgid=,rss="],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return {}
    rows = [tuple(map(int, line.split())) for line in said.splitlines()]
    return {pid: _Process(group, kilobytes * 1024) for pid, group, kilobytes in rows}
