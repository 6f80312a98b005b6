"""What runs the steps of jobs on this machine: `LIMN_JOBS=auto|docker|podman|process|off`.

`auto` takes Docker or Podman where one answers, and processes otherwise. Processes are the user's own, so they are run
only while the stack listens on loopback: a caller from outside could otherwise run programs here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from infra.local.batch.steps.containers import Containers, answers
from infra.local.batch.steps.processes import Processes
from infra.local.batch.steps.step import Runner
from infra.local.http import peers

CHOICES = ("auto", "docker", "podman", "process", "off")


class NoJobs(Exception):
    """Jobs do not run here; the message says why."""


def choose(host: str, home: Path, variables: Mapping[str, str] = os.environ) -> Runner:
    """What runs steps.

    Args:
        host: where the stack listens.
        home: the folder of the stack's data.
        variables: `LIMN_JOBS`, and `LIMN_JOB_PATHS` with folders that processes may read.

    Raises:
        NoJobs: nothing does.
    """
    wanted = variables.get("LIMN_JOBS", "auto").strip().lower()
    owner = hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]
    if wanted not in CHOICES:
        raise NoJobs(f"LIMN_JOBS must be one of {', '.join(CHOICES)}, not {wanted!r}")
    if wanted == "off":
        raise NoJobs("LIMN_JOBS is off")
    for program in ("docker", "podman"):
        if wanted in (program, "auto") and answers(program):
            return Containers(program, owner)
        if wanted == program:
            raise NoJobs(f"LIMN_JOBS is {program}, and {program} does not answer")
    if not is_loopback(host):
        raise NoJobs(f"the stack listens on {host}; without Docker or Podman, jobs run on loopback only")
    paths = tuple(part for part in variables.get("LIMN_JOB_PATHS", "").split(os.pathsep) if part)
    return Processes(owner, paths)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    return host == "localhost" or peers.is_loopback(host)
