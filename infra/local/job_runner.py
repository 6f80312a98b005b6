"""What runs the steps of jobs on this machine: `LIMN_JOBS=auto|process|unconfined|docker|podman|off`.

`auto` and `process` run steps as processes that reach no file of others and no port but those of the stack. Where the
kernel cannot hold them to that, steps do not run, unless the operator names what runs them without that: `unconfined`,
or `docker` or `podman`, whose containers are on the network of the machine. Processes are the user's own, so they are
run only while the stack listens on loopback: a caller from outside could otherwise run programs here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from infra.emulator import peers
from infra.emulator.batch.calls import QUEUE, ROLE
from infra.emulator.batch.steps import launch_step, step_syscalls
from infra.emulator.batch.steps.containers import Containers, answers
from infra.emulator.batch.steps.processes import Processes
from infra.emulator.batch.steps.step import Runner

VARIABLES = {
    "LIMN_JOB_QUEUE": QUEUE,
    "LIMN_JOB_EXECUTION_ROLE": ROLE,
    "LIMN_JOB_FILES_ROLE": ROLE,
    "LIMN_JOB_SHORTEST_TIMEOUT": "1",
    "LIMN_JOB_ENGINE": "this machine",
}
"""What the service has to be configured with before its first import, where jobs run here."""
CHOICES = ("auto", "process", "unconfined", "docker", "podman", "off")


class NoJobs(Exception):
    """Jobs do not run here; the message says why."""


def obstacle() -> str:
    """What keeps steps of this machine from being confined; empty for none."""
    return why_not_confined(launch_step.landlock_version(), step_syscalls.program())


def why_not_confined(version: int, filter_program: bytes) -> str:
    """What keeps steps on this machine from being confined to their folder and the ports of the stack; empty for none.

    Args:
        version: of Landlock in the kernel.
        filter_program: the seccomp filter for this machine.
    """
    if version < launch_step.NETWORK_VERSION:
        return (
            f"Landlock of version {launch_step.NETWORK_VERSION} (Linux 6.7) or later must be in the kernel to restrict "
            f"their ports; it is version {version}"
            if version
            else "this machine has no Landlock (Linux 6.7 or later)"
        )
    return "" if filter_program else f"the system calls of {os.uname().machine} are not known"


def choose(
    host: str,
    home: Path,
    variables: Mapping[str, str] = os.environ,
    ports: tuple[int, ...] = (),
    find_obstacle: Callable[[], str] = obstacle,
) -> Runner:
    """Choose the runner of steps: Docker, Podman or processes.

    Args:
        host: where the stack listens.
        home: the folder of the stack's data.
        variables: `LIMN_JOBS`, and `LIMN_JOB_PATHS` with folders that processes may read.
        ports: the ports of the stack, which confined steps may connect to.
        find_obstacle: says what keeps steps from being confined.

    Raises:
        NoJobs: nothing does.
    """
    wanted = variables.get("LIMN_JOBS", "auto").strip().lower()
    owner = hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]
    if wanted not in CHOICES:
        raise NoJobs(f"LIMN_JOBS must be one of {', '.join(CHOICES)}, not {wanted!r}")
    if wanted == "off":
        raise NoJobs("LIMN_JOBS is off")
    if wanted in ("docker", "podman"):
        if answers(wanted):
            return Containers(wanted, owner)
        raise NoJobs(f"LIMN_JOBS is {wanted}, and {wanted} does not answer")
    if not is_loopback(host):
        raise NoJobs(
            f"the stack listens on {host}, and processes run on loopback only. LIMN_JOBS=docker or LIMN_JOBS=podman "
            "runs steps in containers, which reach every port of this machine"
        )
    paths = tuple(part for part in variables.get("LIMN_JOB_PATHS", "").split(os.pathsep) if part)
    if wanted == "unconfined":
        return Processes(owner, paths)
    if reason := find_obstacle():
        raise NoJobs(
            f"steps cannot be confined: {reason}. LIMN_JOBS=docker or LIMN_JOBS=podman runs them in containers, which "
            "reach every port of this machine; LIMN_JOBS=unconfined runs them as processes that may do what you may"
        )
    return Processes(owner, paths, ports)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    return host == "localhost" or peers.is_loopback(host)
