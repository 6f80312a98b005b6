"""The local stack as a user runs it: a process of its own, on ports of its own, with a home of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
READY_SECONDS = 240


class Stack:
    """`make run`, from `start` to `stop`."""

    def __init__(self, home: Path, module: str = "infra.local") -> None:
        self.home, self._module = home, module
        self.port = two_free_ports()
        self._process: subprocess.Popen[str] | None = None

    @property
    def place(self) -> dict[str, Any]:
        """What it wrote into local.json."""
        return json.loads((self.home / ".limn" / "local.json").read_text())

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process
        return self._process.pid

    def start(self, **environment: str) -> dict[str, Any]:
        """Start it and wait until it is ready: what it wrote into local.json."""
        place = self.home / ".limn" / "local.json"
        before = place.stat().st_mtime_ns if place.exists() else 0
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("LIMN_", "AWS_"))}
        with (self.home / "log.txt").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                cwd=ROOT,
                env={**clean, "PORT": str(self.port), "LIMN_HOME": str(self.home), **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            if place.exists() and place.stat().st_mtime_ns > before:
                return self.place
            time.sleep(0.05)
        raise AssertionError(f"the local stack did not start:\n{self.log()}")

    def stop(self) -> int:
        """Ctrl-C; its exit code."""
        assert self._process
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(timeout=40)

    def kill(self) -> None:
        """SIGKILL."""
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait(timeout=10)

    def run_guide(self, guide: str) -> str:
        """Run the first script of a guide; returns what it printed."""
        script = guide.partition("```python\n")[2].partition("```")[0]
        assert script
        ran = subprocess.run(
            [sys.executable, "-c", script], cwd=self.home, capture_output=True, text=True, timeout=180, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr + self.log()
        return ran.stdout

    def log(self) -> str:
        """What it printed."""
        return (self.home / "log.txt").read_text()


def connect(place: dict[str, Any]) -> Any:
    """The published client; it reads the schema, which a busy machine may not make in the time of a request."""
    import requests
    import tator

    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            return tator.get_api(host=place["url"], token=place["token"])
        except requests.HTTPError as refusal:
            if refusal.response.status_code not in (503, 504) or time.monotonic() > deadline:
                raise
            time.sleep(1)


def two_free_ports() -> int:
    """A port that is free, as the one after it is."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
