"""What the process of a step runs first: it takes its limits, then becomes the step's command.

    python -I -S launch_step.py '{"parent": 1, "command": ["/bin/echo", "a"], "limits": {"RLIMIT_CPU": 60}, …}'

Only the standard library is imported, and little of it: 1,000 steps are 1,000 starts. On Linux the kernel's Landlock
keeps the step from writing outside its folder, from reading what is not a program or a library (the data of the service
and of other steps among it), and from signalling other processes. `can_confine` tells whether it is there.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys

CANNOT_RUN = 126
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_READ = 0b1101
"""Execute, read files, list folders."""
_FILE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""What may be allowed for what is no folder."""
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Kinds of access to files that each version of Landlock knows; 16 from the fifth on."""
_SCOPED_VERSION, _SCOPES = 6, 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def can_confine() -> bool:
    """Whether this machine's kernel has Landlock."""
    return _version() > 0


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _version() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    return int(_library().syscall(_CREATE_RULESET, None, 0, 1))


def _confine(writable: list[str], readable: list[str]) -> None:
    """Allow nothing of the file system but these paths and what lies beneath. Raises OSError."""
    version = _version()
    every = (1 << _RIGHTS.get(version, 16)) - 1
    library = _library()
    rules = _Ruleset(every, 0, _SCOPES if version >= _SCOPED_VERSION else 0)
    size = 24 if version >= _SCOPED_VERSION else 8
    ruleset = library.syscall(_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    for paths, access in ((readable, _READ & every), (writable, every)):
        for path in paths:
            if not os.path.exists(path):  # noqa: PTH110 pathlib takes as long to import as all the rest
                continue
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = access if os.path.isdir(path) else access & _FILE  # noqa: PTH112
            rule = _Beneath(allowed, place)
            if library.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0) < 0:
                raise OSError(ctypes.get_errno(), "landlock_add_rule")
            os.close(place)
    library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if library.syscall(_RESTRICT_SELF, ruleset, 0) < 0:
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    os.close(ruleset)


def main() -> None:
    """Take the limits and become the command; exit code 126 where that cannot be."""
    plan = json.loads(sys.argv[1])
    try:
        if sys.platform.startswith("linux"):
            # the step ends with the service, even when that is killed
            _library().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != plan["parent"]:
                sys.exit(CANNOT_RUN)
        os.nice(plan["nice"])
        for name, most in plan["limits"].items():
            number = getattr(resource, name, None)
            if number is not None:
                _, hard = resource.getrlimit(number)
                least = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(number, (least, least))
        if plan["confine"]:
            _confine(plan["writable"], [*plan["readable"], f"/proc/{os.getpid()}"])
        os.execv(plan["command"][0], plan["command"])  # noqa: S606 the step's own command, without a shell
    except (OSError, ValueError) as failure:
        print(f"limn: {plan['command'][0]} cannot be run: {failure}", flush=True)
        sys.exit(CANNOT_RUN)


if __name__ == "__main__":
    main()
