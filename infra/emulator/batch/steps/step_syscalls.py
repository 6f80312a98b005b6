"""What a step as a process may not ask of the kernel, beyond Landlock: the program of a seccomp filter.

Processes of one user may set each other's limits and priorities, and share System V memory, message queues and keys.
A step is such a process beside the service and other steps, so it may set its own only; a refused call gets EPERM.
Landlock restricts the ports of plain TCP only, so a confined step makes no other sockets of the Internet protocols.
`launch_step` installs the filter in the process that becomes the step, and writes that process's id into it.
"""

from __future__ import annotations

import os
import struct
import sys

from infra.emulator.batch.steps import launch_step

_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
"""What the kernel does with a call; the second is EPERM."""
_LOAD, _AND, _IS, _HAS, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x45, 0x35, 0x06
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
_UNIX, _INTERNET, _INTERNET_6, _NETLINK = 1, 2, 10, 16
_STREAM, _ANY_PROTOCOL, _TCP = 1, 0, 6
_KIND = 0xF
"""The bits of a socket's type that are no flags."""
_FAST_OPEN = 0x20000000
"""The flag with which a message connects, past Landlock."""
_FLAGS = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
"""The place of the flags of a message."""
_NUMBERS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (0xC000003E, {
        "setpriority": 141, "ioprio_set": 251, "prlimit64": 302, "sched_setparam": 142, "sched_setscheduler": 144,
        "sched_setattr": 314, "sched_setaffinity": 203, "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64,
        "semop": 65, "semctl": 66, "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71,
        "mq_open": 240, "mq_unlink": 241, "add_key": 248, "request_key": 249, "keyctl": 250,
        "socket": 41, "sendto": 44, "sendmsg": 46, "sendmmsg": 307, "io_uring_setup": 425,
    }),
    "aarch64": (0xC00000B7, {
        "setpriority": 140, "ioprio_set": 30, "prlimit64": 261, "sched_setparam": 118, "sched_setscheduler": 119,
        "sched_setattr": 274, "sched_setaffinity": 122, "shmget": 194, "shmctl": 195, "shmat": 196, "semget": 190,
        "semctl": 191, "semtimedop": 192, "semop": 193, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189,
        "mq_open": 180, "mq_unlink": 181, "add_key": 217, "request_key": 218, "keyctl": 219,
        "socket": 198, "sendto": 206, "sendmsg": 211, "sendmmsg": 269, "io_uring_setup": 425,
    }),
}  # fmt: skip
"""By machine: the kernel's number of the architecture, and the numbers of the calls."""


def program(*, is_tcp_only: bool = False) -> bytes:
    """The instructions of the filter; none where the machine's calls are not known.

    Args:
        is_tcp_only: Refuse sockets of the Internet protocols other than plain TCP, and calls that make or connect
            sockets past Landlock.
    """
    known = _NUMBERS.get(os.uname().machine) if sys.platform.startswith("linux") else None
    return b"".join(struct.pack("=HBBI", *line) for line in _assemble(*known, is_tcp_only)) if known else b""


def _assemble(architecture: int, numbers: dict[str, int], is_tcp_only: bool) -> list[tuple[int, int, int, int]]:
    """Code, jumps where true and false, value. Calls of another architecture, such as 32-bit ones, are refused."""
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IS, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for name in (*NEVER, *(("io_uring_setup",) if is_tcp_only else ())):
        lines += [(_IS, 0, 1, numbers[name]), (_RETURN, 0, 0, _REFUSE)]
    for name, arguments in OWN.items():
        check = []
        for place, values in arguments.items():
            check.append((_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * place))
            check += [(_IS, len(values) - at, 0, value) for at, value in enumerate(values)]
            check.append((_RETURN, 0, 0, _REFUSE))
        check.append((_RETURN, 0, 0, _ALLOW))
        lines += [(_IS, 0, len(check), numbers[name]), *check]
    for name, check in _network_checks().items() if is_tcp_only else ():
        lines += [(_IS, 0, len(check), numbers[name]), *check]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return lines


def _network_checks() -> dict[str, list[tuple[int, int, int, int]]]:
    """By call, the instructions that allow or refuse it."""
    ends = [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    domain, kind, protocol = ((_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * place) for place in range(3))
    checks = {
        "socket": [
            domain,
            (_IS, 9, 0, _UNIX),
            (_IS, 8, 0, _NETLINK),
            (_IS, 1, 0, _INTERNET),
            (_IS, 0, 7, _INTERNET_6),
            kind,
            (_AND, 0, 0, _KIND),
            (_IS, 0, 4, _STREAM),
            protocol,
            (_IS, 1, 0, _ANY_PROTOCOL),
            (_IS, 0, 1, _TCP),
            *ends,
        ]
    }
    for name, place in _FLAGS.items():
        checks[name] = [(_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * place), (_HAS, 1, 0, _FAST_OPEN), *ends]
    return checks
