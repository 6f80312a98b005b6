"""The operator's own commands on a deployed stage: `infra.deploy` and `infra.admin`, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from infra import package
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

    class Gateway(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, headers, answer = stage.request(self.command, self.path, dict(self.headers), data)
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() != "content-length":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 names of http.server

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
