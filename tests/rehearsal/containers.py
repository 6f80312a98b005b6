"""Functions as Lambda runs them: the unpacked zip under awslambdaric, with the environment and limits of the template.

A function is a process that asks this module's server for events by Lambda's Runtime API. Its code is a folder without
the repository, its `TMPDIR` a folder of its own. Memory (proportional set size of the process and its children) and
disk are looked at while it works; a function that needs more than it has is ended, as Lambda would end it.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loopback import Handler, Server

LARGEST_PAYLOAD = 6 * 1024 * 1024
"""Bytes of an event or an answer that Lambda takes."""
LOOK_SECONDS = 0.05
_START = """
import sys
sys.path[:0] = [{code!r}, {client!r}]
from awslambdaric.__main__ import main
main(["awslambdaric", {handler!r}])
"""


class Ended(Exception):
    """The function died, raised, or broke a limit; the message says which."""


@dataclass
class Peaks:
    """What a function needed at most."""

    memory: int = 0
    disk: int = 0
    events: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    """The largest event and answer, in bytes, by what it was about."""
    cold: list[float] = field(default_factory=list)
    """Seconds from each start to the first request for an event."""
    invocations: int = 0


class Container:
    """One container of a function; it starts with its first event."""

    def __init__(
        self, configuration: dict[str, Any], code: Path, client: Path, python: str, places: dict[str, str]
    ) -> None:
        self.name: str = configuration["FunctionName"]
        self.memory: int = configuration["MemorySize"] * 1024 * 1024
        self.disk: int = configuration.get("EphemeralStorage", {}).get("Size", 512) * 1024 * 1024
        self.seconds: int = configuration["Timeout"]
        self.peaks = Peaks()
        self._handler: str = configuration["Handler"]
        given = configuration.get("Environment", {}).get("Variables", {})
        self._variables = {**{name: str(value) for name, value in given.items()}, **places}  # moto keeps numbers
        self._code, self._client, self._python = code, client, python
        self._events: queue.Queue[tuple[str, bytes]] = queue.Queue()
        self._answers: queue.Queue[tuple[bool, bytes]] = queue.Queue()
        self._busy = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._server = _Server(type("Runtime", (_Runtime,), {"container": self}))

    def invoke(self, event: Any, about: str) -> Any:
        """The answer to an event about something, such as `GET Media`. Raises Ended: there is none."""
        with self._busy:
            return self._invoke(json.dumps(event).encode(), about)

    def _invoke(self, body: bytes, about: str) -> Any:
        if len(body) > LARGEST_PAYLOAD:
            raise Ended(f"{self.name}: an event of {len(body)} bytes; Lambda takes {LARGEST_PAYLOAD}")
        self.peaks.events[about] = max(self.peaks.events[about], len(body))
        self.peaks.invocations += 1
        if self._process is None or self._process.poll() is not None:
            self._start()
        self._events.put((str(uuid.uuid4()), body))
        good, answer = self._wait()
        self.peaks.answers[about] = max(self.peaks.answers[about], len(answer))
        if not good:
            raise Ended(f"{self.name}: {answer.decode()[:2000]}\n{self._log()}")
        if len(answer) > LARGEST_PAYLOAD:
            raise Ended(f"{self.name}: an answer of {len(answer)} bytes; Lambda takes {LARGEST_PAYLOAD}")
        return json.loads(answer)

    def stop(self) -> None:
        """End the process, as Lambda does with a container that has no work."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End the process and its server."""
        self.stop()
        self._server.close()

    def asked(self) -> tuple[str, bytes]:
        """The next event; the first request for one ends the cold start."""
        if self._began is not None:
            self.peaks.cold.append(time.monotonic() - self._began)
            self._began = None
        return self._events.get()

    def answered(self, body: bytes, *, good: bool) -> None:
        """Take what the function answered."""
        self._answers.put((good, body))

    def _start(self) -> None:
        self._place = self._code.parent / f"{self.name}.tmp"
        self._place.mkdir(exist_ok=True)
        self._events, self._answers = queue.Queue(), queue.Queue()  # a request of the process before may still wait
        host, port = self._server.server_address[:2]
        variables = {
            **self._variables,
            "AWS_LAMBDA_RUNTIME_API": f"{host}:{port}",
            "AWS_LAMBDA_FUNCTION_NAME": self.name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(self.memory // 1024 // 1024),
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
            "AWS_LAMBDA_LOG_GROUP_NAME": self.name,
            "AWS_LAMBDA_LOG_STREAM_NAME": "1",
            "LAMBDA_TASK_ROOT": str(self._code),
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self._place),
        }
        code = _START.format(code=str(self._code), client=str(self._client), handler=self._handler)
        self._began: float | None = time.monotonic()
        with (self._code.parent / f"{self.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._python, "-s", "-S", "-B", "-X", "faulthandler", "-c", code],
                cwd=self._code,
                env=variables,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _wait(self) -> tuple[bool, bytes]:
        end = time.monotonic() + self.seconds
        while True:
            try:
                return self._answers.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                problem = self._problem(end)
            if problem:
                self._show()
                self.stop()
                raise Ended(f"{self.name}: {problem}\n{self._log()}")

    def _show(self) -> None:
        """Have a function that does not answer write into its log where it is."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            self._process.send_signal(signal.SIGABRT)
            self._process.wait(5)

    def _problem(self, end: float) -> str:
        assert self._process is not None
        if self._process.poll() is not None:
            return f"the process ended with {self._process.returncode}"
        self.peaks.memory = max(self.peaks.memory, memory_of(self._process.pid))
        self.peaks.disk = max(self.peaks.disk, size_of(self._place))
        if self.peaks.memory > self.memory:
            return f"{self.peaks.memory} bytes of memory; it has {self.memory}"
        if self.peaks.disk > self.disk:
            return f"{self.peaks.disk} bytes in its temporary folder; it has {self.disk}"
        return f"no answer within {self.seconds} s" if time.monotonic() > end else ""

    def _log(self) -> str:
        return (self._code.parent / f"{self.name}.log").read_text()[-3000:]


class _Server(Server):
    def handle_error(self, *_: Any) -> None:
        """Say nothing of a process that was ended while it waited."""


class _Runtime(Handler):
    protocol_version = "HTTP/1.1"
    container: Container

    def do_GET(self) -> None:
        number, body = self.container.asked()
        arn = f"arn:aws:lambda:us-east-1:123456789012:function:{self.container.name}"
        headers = {
            "Lambda-Runtime-Aws-Request-Id": number,
            "Lambda-Runtime-Deadline-Ms": str(int((time.time() + self.container.seconds) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": arn,
            "Lambda-Runtime-Trace-Id": "Root=1-00000000-000000000000000000000000",
            "Content-Type": "application/json",
        }
        self.answer(200, body, headers)

    def do_POST(self) -> None:
        body = self.read_body() if self.headers.get("Content-Length") else self._chunks()
        self.container.answered(body, good=self.path.endswith("/response"))
        self.answer(202)

    def _chunks(self) -> bytes:
        found = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        return found


def memory_of(group: int) -> int:
    """Bytes of memory of the processes of a session, shared pages counted once."""
    total = 0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(path.name)) == group:
                pss = next(line for line in (path / "smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
                total += int(pss.split()[1]) * 1024
        except (OSError, StopIteration, ProcessLookupError):
            continue
    return total


def size_of(folder: Path) -> int:
    """Bytes of the files of a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(Path(place) / name).st_size
            except OSError:
                continue
    return total
