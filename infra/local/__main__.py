"""`make run`: the whole service in one process, on an AWS of its own.

It deploys the stack's own template, restores what the last run left in `.limn/data`, makes a first user, and serves
the API on PORT (8000) and S3 on PORT + 1 until Ctrl-C, while pollers run the queue functions.

    PORT=8000     where the API listens
    FRESH=1       start empty
    LIMN_HOME     where `.limn` lies; the current directory otherwise
    LIMN_JOBS     what runs the steps of jobs: auto (confined processes), process, unconfined, docker, podman or off
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import threading
import time
from pathlib import Path

from infra.emulator import aws
from infra.emulator.batch.steps.step import Runner
from infra.emulator.sqlite.integrity import CannotStore, Damaged
from infra.local.folder import CannotStart, Folder, demand_ports, port_refusal, read_port
from infra.local.job_runner import VARIABLES, NoJobs, choose

HOST = os.environ.get("HOST", "127.0.0.1")
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3
"""The C library's numbers of the settings."""
SETTLED = 3.0
"""Seconds after which what the first upload and the first list need is loaded, so that neither waits for it."""


def main() -> None:
    """Start everything, say where it is, and stop it cleanly. What keeps it from starting is one sentence."""
    try:
        _run()
    except (CannotStart, CannotStore) as reason:
        sys.exit(f"limn: it does not start: {reason}")
    except Damaged as reason:
        sys.exit(f"limn: it does not start: {reason} {reason.remedy}".rstrip())


def _run() -> None:
    began = time.monotonic()
    _limit_heaps()
    port = read_port(os.environ.get("PORT", "8000"))
    folder = Folder(Path(os.environ.get("LIMN_HOME", ".")) / ".limn")
    home = folder.home
    folder.lock(f"make run on port {port}")
    demand_ports(HOST, port, port + 1)
    if os.environ.get("FRESH"):
        folder.empty()
    folder.refuse_previous()
    folder.hold_temporary()

    _say(f"opening the data in {folder.data}")
    cloud = aws.start(data=folder.data)
    public, s3_public = f"http://{HOST}:{port}", f"http://{HOST}:{port + 1}"
    os.environ.update({"LIMN_PUBLIC_URL": public, "LIMN_S3_ENDPOINT": s3_public, "LIMN_ANSWERS_URL": public})
    # buckets that a user makes at the S3 port can be registered
    os.environ.setdefault("LIMN_STORE_ORIGINS", s3_public)
    os.environ.setdefault("LIMN_ANYONE_MAY_CREATE_ORGANIZATIONS", "true")
    os.environ.setdefault("POWERTOOLS_TRACE_DISABLED", "true")
    os.environ.setdefault("LIMN_PIECES_AT_ONCE", "1")

    _say("deploying infra/stateful.yaml")
    from infra.local.deploy import deploy

    os.environ.update(deploy(aws.REGION))
    runner = _job_runner(home, port)

    # From here on the service's own modules may be imported: they read the environment.
    from chalicelib.core import process
    from chalicelib.storage.objects import s3
    from chalicelib.storage.view.database.engine import engine
    from chalicelib.video.process import isolation
    from infra.local.service import Service

    process.hide()
    try:
        service = Service(home, HOST, port, runner)
    except OSError as failure:  # another stack that began at the same time was sooner
        raise port_refusal(HOST, f"{port} or {port + 1}", failure) from None
    for step in service.start():
        _say(step)
    # moto and the service are some hundred thousand objects that stay; requests make thousands that do not
    gc.collect()
    gc.freeze()
    _say(f"ready after {time.monotonic() - began:.1f} s\n")
    print(service.greeting(), flush=True)

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if not stop.wait(SETTLED):
        isolation.warm_up()
        engine()
        s3.client()
    stop.wait()
    print(flush=True)
    for step in service.stop():
        _say(step)
    cloud.stop()


def _job_runner(home: Path, port: int) -> Runner | None:
    """What runs the steps of jobs; None, after a line that says why, where nothing does."""
    try:
        runner = choose(HOST, home, ports=(port, port + 1))
    except NoJobs as reason:
        _say(f"jobs do not run here: {reason}")
        return None
    os.environ.update(VARIABLES)
    _say(f"jobs run as {runner.description()}")
    return runner


def _limit_heaps() -> None:
    """Bound what the C library keeps of what was freed.

    The threads share two arenas, for each keeps its fragments to itself. Large blocks, as passwords and pictures take
    them, never lie in an arena: once one was freed, the library would put the next ones there.
    """
    if hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(_ARENA_MAX, 2)
        library.mallopt(_MMAP_THRESHOLD, 1_000_000)


def _say(step: str) -> None:
    print(f"limn: {step}", flush=True)


if __name__ == "__main__":
    main()
    # all is stored and closed: taking the interpreter apart would take a second, and DuckDB would list what is left
    sys.stdout.flush()
    os._exit(0)
