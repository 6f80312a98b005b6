"""The operator's own commands on a deployed stage: `infra.deploy` and `infra.admin`, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from infra import package
from tests.loopback import Handler, Server
from tests.rehearsal.deployment import STAGE, Stage


def run(*words: str, **more: str) -> str:
    """What `python -m …` prints, without the variables of this process that a shell has not. Raises AssertionError."""
    return finish(start(*words, **more))


def start(*words: str, **more: str) -> subprocess.Popen[str]:
    """Begin a command."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LIMN_")}
    clean |= {"LIMN_AWS_ENDPOINT": os.environ["AWS_ENDPOINT_URL"], **more}
    command = [sys.executable, "-m", *words]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=package.ROOT, env=clean, text=True, **pipes)


def finish(command: subprocess.Popen[str]) -> str:
    """What it printed. Raises AssertionError: it failed."""
    said, wrong = command.communicate()
    assert command.returncode == 0, f"{command.args}: {wrong}{said}"
    return said


def administer(*words: str, **more: str) -> str:
    """What `infra.admin` prints about the stage."""
    return run("infra.admin", "--stage", STAGE, *words, **more)


def smoke(stage: Stage, organization: int) -> str:
    """What `infra.deploy smoke` prints, which asks the gateway over HTTP while the queues are delivered."""
    with served(stage) as url:
        command = start("infra.deploy", "smoke", url, str(organization), LIMN_TOKEN=stage.token)
        while command.poll() is None:
            stage.deliver_all()
        return finish(command)


@contextmanager
def served(stage: Stage) -> Iterator[str]:
    """The gateway of a stage as an HTTP server; its address."""

    class Gateway(Handler):
        def _answer(self) -> None:
            status, headers, answer = stage.request(self.command, self.path, dict(self.headers), self.read_body())
            kept = {name: value for name, value in headers.items() if name.lower() != "content-length"}
            self.answer(status, answer, kept)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer

    with Server(Gateway) as server:
        yield server.url
