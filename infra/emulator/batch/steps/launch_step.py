"""What the process of a step runs: it starts the step's command within its limits, and outlives all its processes.

    python -I -S launch_step.py '{"parent": 1, "command": ["/bin/echo", "a"], "limits": {"RLIMIT_CPU": 60}, …}'

Only the standard library is imported, and little of it: 1,000 steps are 1,000 starts. On Linux the kernel's Landlock
keeps the step from writing outside its folder, from reading what is not a program or a library (the data of the service
and of other steps among it), from signalling other processes, and from TCP ports other than those of the stack.
`landlock_version` tells whether it is there. A seccomp filter (`step_syscalls`) refuses calls that Landlock does not
know, and root loses most capabilities.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

CANNOT_RUN = 126
TOO_MANY = 125
"""The exit code of a step that had more processes or threads than it may."""
THREADS_EACH = 4
"""Threads that a step may have, for each process that it may have."""
_WATCH_SECONDS = 0.05
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _SECCOMP_MODE_FILTER = 22, 24, 2
SELF = 0x7E57ED01
"""Placeholder in a filter for the id of the process that becomes the step."""
_CAPABILITIES = 64
_KEPT = (0, 1, 3, 4, 5, 6, 7)
"""Capabilities of root that a step keeps: chown, dac_override, fowner, fsetid, kill, setgid, setuid."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_READ = 0b1101
"""Execute, read files, list folders."""
_FILE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""Rights that may be granted on files."""
SHARED = "/dev/shm"  # noqa: S108 where multiprocessing keeps locks and shared memory
_PLAIN = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 8 | 1 << 14
"""Write, read, list, remove, make and truncate plain files: what is allowed there."""
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Kinds of access to files that each version of Landlock knows; 16 from the fifth on."""
NETWORK_VERSION = 4
"""The first version of Landlock that knows TCP ports."""
_TCP, _CONNECT, _PORT = 0b11, 0b10, 2
"""Bind and connect; connect alone; the kind of a rule for a port."""
_NEW_MOUNTS, _NEW_USERS = 0x20000, 0x10000000
_NO_SUID, _NO_DEVICES, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_RECURSIVE = 442, 0x8000
_SCOPED_VERSION, _SCOPES = 6, 0b11


NO_FILTER = (
    "this kernel refuses the seccomp filter that keeps steps from setting the limits of other processes. Run steps in "
    "containers (LIMN_JOBS=docker or podman), or start the stack where prctl(PR_SET_SECCOMP) is allowed: a kernel with "
    "CONFIG_SECCOMP_FILTER, or a container without its own ban of it"
)


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class _Port(ctypes.Structure):
    _fields_ = [("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.c_char_p)]


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """The version of Landlock in this machine's kernel; 0 where it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    return int(_library().syscall(_CREATE_RULESET, None, 0, 1))


def _seal(writable: list[str]) -> bool:
    """Have all files but those in some folders read-only for this process; whether the machine allows that.

    Landlock knows no modes, owners, times and extended attributes of files. In a mount namespace of its own, a step
    changes those of its own files alone, and has shared memory of its own, of 64 MB.
    """
    library = _library()
    root, user, group = not os.geteuid(), os.geteuid(), os.getegid()
    if library.unshare(_NEW_MOUNTS if root else _NEW_MOUNTS | _NEW_USERS):
        return False
    library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a new namespace of users forgets it
    try:
        if not root:
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 as below
                    file.write(text)
        folders = [path for path in writable if path != SHARED and os.path.isdir(path)]  # noqa: PTH112 as below
        _mount(library, None, "/", None, _RECURSIVE | _PRIVATE)
        for path in folders:
            _mount(library, path, path, None, _BIND | _RECURSIVE)
        if os.path.isdir(SHARED):  # noqa: PTH112
            _mount(library, "tmpfs", SHARED, "tmpfs", _NO_SUID | _NO_DEVICES, "size=64m,mode=1777")
        _set_read_only(library, "/", is_set=True)
        for path in [*folders, SHARED]:
            _set_read_only(library, path, is_set=False)
        os.chdir(os.getcwd())  # noqa: PTH109 the folder lies in its new mount now
    except OSError:
        return False
    return True


def _mount(library: ctypes.CDLL, source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    if library.mount(*words, ctypes.c_ulong(flags), data.encode() or None):
        raise OSError(ctypes.get_errno(), f"mount {target}")


def _set_read_only(library: ctypes.CDLL, path: str, *, is_set: bool) -> None:
    change = (ctypes.c_uint64 * 4)(int(is_set), int(not is_set), 0, 0)
    if library.syscall(_MOUNT_SETATTR, -100, path.encode(), _AT_RECURSIVE, ctypes.byref(change), 32):
        raise OSError(ctypes.get_errno(), f"mount_setattr {path}")


def _confine(writable: list[str], readable: list[str], ports: list[int] | None) -> None:
    """Allow only these paths with what lies beneath, and these TCP ports; every port for None. Raises OSError."""
    version = landlock_version()
    every = (1 << _RIGHTS.get(version, 16)) - 1
    library = _library()
    rules = _Ruleset(every, 0 if ports is None else _TCP, _SCOPES if version >= _SCOPED_VERSION else 0)
    size = 24 if version >= _SCOPED_VERSION else 16 if version >= NETWORK_VERSION else 8
    ruleset = library.syscall(_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    for paths, access in ((readable, _READ & every), (writable, every)):
        for path in paths:
            if not os.path.exists(path):  # noqa: PTH110 pathlib takes as long to import as all the rest
                continue
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = access if os.path.isdir(path) else access & _FILE  # noqa: PTH112
            allowed &= _PLAIN if path == SHARED else allowed
            rule = _Beneath(allowed, place)
            if library.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0) < 0:
                raise OSError(ctypes.get_errno(), "landlock_add_rule")
            os.close(place)
    for port in ports or ():
        if library.syscall(_ADD_RULE, ruleset, _PORT, ctypes.byref(_Port(_CONNECT, port)), 0) < 0:
            raise OSError(ctypes.get_errno(), "landlock_add_rule")
    library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if library.syscall(_RESTRICT_SELF, ruleset, 0) < 0:
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    os.close(ruleset)


def _restrict(program: bytes) -> None:
    """Take most of root's capabilities, and the calls that a seccomp filter refuses; on Linux. Raises OSError."""
    library = _library()
    for number in range(_CAPABILITIES):
        if number not in _KEPT:  # only root may; others have none
            library.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    if program:
        library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        own = program.replace(SELF.to_bytes(4, sys.byteorder), os.getpid().to_bytes(4, sys.byteorder))
        described = _Program(len(own) // 8, own)
        if library.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0):
            raise OSError(ctypes.get_errno(), NO_FILTER)


def main() -> None:
    """Run the command of a plan to its end and exit as it did; exit code 126 where it cannot be run.

    On Linux this process stays as the parent of the step. Every process of the step remains its descendant, in whatever
    session or environment, because orphans become its children (PR_SET_CHILD_SUBREAPER). They are killed when the
    command ends, when there are too many (exit code 125), at SIGTERM, and when the service dies.
    """
    plan = json.loads(sys.argv[1])
    if not sys.platform.startswith("linux"):
        _become(plan)
    signals = {signal.SIGCHLD, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    _library().prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    _library().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getppid() != plan["parent"]:
        sys.exit(CANNOT_RUN)
    with suppress(OSError):  # only root may; the step does not inherit it
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    leader = os.getpid()
    command = os.fork()
    if not command:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        os.setsid()
        _library().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != leader:
            os._exit(CANNOT_RUN)
        _become(plan)
    status = _wait(command, signals, plan["most"], plan["grace"])
    _kill_descendants()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(leader, number)
    sys.exit(os.waitstatus_to_exitcode(status))


def _wait(command: int, signals: set[signal.Signals], most: int, grace: float) -> int:
    """Wait for the end of the command, or of the step; the status as `os.wait` gives it.

    With a time of grace in seconds, the first SIGTERM is passed on to the step; the second one, or the end of that
    time, ends it.
    """
    end = 0.0
    while True:
        happened = signal.sigtimedwait(signals, _WATCH_SECONDS)
        if happened is not None and happened.si_signo == signal.SIGTERM:
            if end or not grace:
                return int(signal.SIGKILL)
            end = time.monotonic() + grace
            _signal_descendants(signal.SIGTERM)
        if end and time.monotonic() > end:
            return int(signal.SIGKILL)
        if happened is None and _are_too_many(most):
            return TOO_MANY << 8
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == command:
                return status
            if not ended:
                break


def _are_too_many(most: int) -> bool:
    """Whether the step has more processes or threads than it may."""
    count, threads = 0, 0
    for number in _descendants():
        count += 1
        threads += len(_list(f"/proc/{number}/task"))
    return count > most or threads > THREADS_EACH * most


def _signal_descendants(number: int) -> None:
    for process in _descendants():
        with suppress(OSError):
            os.kill(process, number)


def _become(plan: dict[str, Any]) -> NoReturn:
    """Take the limits and become the command."""
    try:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and commands inherit
            signal.signal(number, signal.SIG_DFL)
        os.nice(plan["nice"])
        for name, most in plan["limits"].items():
            limit = getattr(resource, name, None)
            if limit is not None:
                _, hard = resource.getrlimit(limit)
                least = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(limit, (least, least))
        if plan["confine"]:
            _seal(plan["writable"])
            _confine(plan["writable"], [*plan["readable"], f"/proc/{os.getpid()}"], plan["ports"])
        if sys.platform.startswith("linux"):
            _restrict(bytes.fromhex(plan["filter"]))
        os.execv(plan["command"][0], plan["command"])  # noqa: S606 the step's own command, without a shell
    except (OSError, ValueError) as failure:
        print(f"limn: {plan['command'][0]} cannot be run: {failure}", flush=True)
        os._exit(CANNOT_RUN)


def _kill_descendants() -> None:
    """Kill and reap every descendant; those that are forked meanwhile, too."""
    while True:
        _signal_descendants(signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _descendants() -> Iterator[int]:
    """The processes of the step, parents first."""
    waiting = [os.getpid()]
    while waiting:
        parent = waiting.pop()
        for thread in _list(f"/proc/{parent}/task"):
            try:
                with open(f"/proc/{parent}/task/{thread}/children") as file:  # noqa: PTH123 as above
                    found = [int(number) for number in file.read().split()]
            except OSError:
                continue
            yield from found
            waiting += found


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 as above
    except OSError:
        return []


if __name__ == "__main__":
    main()
