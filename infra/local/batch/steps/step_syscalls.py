"""What a step as a process may not ask of the kernel, beyond files (Landlock): the program of a seccomp filter.

Processes of one user may set each other's limits and priorities, and share System V memory, message queues and keys.
A step is such a process beside the service and other steps, so it may set its own only; a refused call gets EPERM.
`launch_step` installs the filter in the process that becomes the step, and writes that process's id into it.
"""

from __future__ import annotations

import os
import struct
import sys

from infra.local.batch.steps import launch_step

_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
"""What the kernel does with a call; the second is EPERM."""
_LOAD, _IS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
"""Numbers from here on are those of the x32 interface."""

SELF = launch_step.SELF
_ITSELF = (0, SELF)
OWN: dict[str, dict[int, tuple[int, ...]]] = {
    "setpriority": {0: (0,), 1: _ITSELF},
    "ioprio_set": {0: (1,), 1: _ITSELF},
    "prlimit64": {0: _ITSELF},
    "sched_setparam": {0: _ITSELF},
    "sched_setscheduler": {0: _ITSELF},
    "sched_setattr": {0: _ITSELF},
    "sched_setaffinity": {0: _ITSELF},
}
"""Calls that are allowed with these arguments only, by place: 0 for the caller, or the id of the step's first process.

Another process of the step, which the filter cannot know, names itself by 0.
"""
NEVER = (
    "shmget", "shmat", "shmctl", "semget", "semctl", "semop", "semtimedop", "msgget", "msgctl", "msgsnd", "msgrcv",
    "mq_open", "mq_unlink", "add_key", "request_key", "keyctl",
)  # fmt: skip
_NUMBERS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (0xC000003E, {
        "setpriority": 141, "ioprio_set": 251, "prlimit64": 302, "sched_setparam": 142, "sched_setscheduler": 144,
        "sched_setattr": 314, "sched_setaffinity": 203, "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64,
        "semop": 65, "semctl": 66, "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71,
        "mq_open": 240, "mq_unlink": 241, "add_key": 248, "request_key": 249, "keyctl": 250,
    }),
    "aarch64": (0xC00000B7, {
        "setpriority": 140, "ioprio_set": 30, "prlimit64": 261, "sched_setparam": 118, "sched_setscheduler": 119,
        "sched_setattr": 274, "sched_setaffinity": 122, "shmget": 194, "shmctl": 195, "shmat": 196, "semget": 190,
        "semctl": 191, "semtimedop": 192, "semop": 193, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189,
        "mq_open": 180, "mq_unlink": 181, "add_key": 217, "request_key": 218, "keyctl": 219,
    }),
}  # fmt: skip
"""By machine: the kernel's number of the architecture, and the numbers of the calls."""


def program() -> bytes:
    """The instructions of the filter; none where the machine's calls are not known."""
    known = _NUMBERS.get(os.uname().machine) if sys.platform.startswith("linux") else None
    return b"".join(struct.pack("=HBBI", *line) for line in _assemble(*known)) if known else b""


def _assemble(architecture: int, numbers: dict[str, int]) -> list[tuple[int, int, int, int]]:
    """Code, jumps where true and false, value. Calls of another architecture, such as 32-bit ones, are refused."""
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IS, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for name in NEVER:
        lines += [(_IS, 0, 1, numbers[name]), (_RETURN, 0, 0, _REFUSE)]
    for name, arguments in OWN.items():
        check = []
        for place, values in arguments.items():
            check.append((_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * place))
            check += [(_IS, len(values) - at, 0, value) for at, value in enumerate(values)]
            check.append((_RETURN, 0, 0, _REFUSE))
        check.append((_RETURN, 0, 0, _ALLOW))
        lines += [(_IS, 0, len(check), numbers[name]), *check]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return lines
