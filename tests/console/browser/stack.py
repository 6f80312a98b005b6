"""`make run` in a process of its own, on free ports and in an empty folder."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from playwright.sync_api import BrowserContext

from infra import demo
from tests.console import browser_session

SECONDS = 120
"""How long a stack may take to start on a slow machine."""


@dataclass(frozen=True)
class Stack:
    """A running local stack."""

    url: str
    username: str
    password: str
    token: str
    hooks: int
    """A port of this machine to which the stack may send webhooks."""
    s3_url: str
    s3_keys: dict[str, str]
    """The access key and the secret key of the stack's S3, as boto3 takes them."""

    @property
    def api(self) -> demo.Service:
        """The REST interface as its first user."""
        return demo.Service(self.url, self.token)

    def sign_in(self, window: BrowserContext, token: str) -> None:
        """Sign a browser in by a token, as its sign-in page does."""
        browser_session.keep(window, self.url, token)

    def user(self, name: str, **more: Any) -> tuple[int, str]:
        """A new user with the password `reef watch 77`: the id and a token."""
        spec = {
            "username": name,
            "first_name": "Ada",
            "last_name": "Lovelace",
            "email": f"{name}@example.org",
            "password": "reef watch 77",
        }
        number = self.api.create("Users", {**spec, **more})
        signed = requests.post(
            f"{self.url}/rest/Token", json={"username": name, "password": "reef watch 77"}, timeout=60
        )
        return number, signed.json()["token"]


@contextlib.contextmanager
def run(home: Path) -> Iterator[Stack]:
    """Start a stack in a folder, and stop it in the end. Raises RuntimeError with its log where it does not start."""
    port, hooks = _free_ports(), _free_ports()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LIMN_", "AWS_"))}
    environment = {**kept, "LIMN_HOME": str(home), "PORT": str(port), "LIMN_JOBS": "process"}
    environment |= {"LIMN_SERVICE_ORIGINS": f"http://127.0.0.1:{hooks}", "LIMN_SCORE_SPREAD": "1"}
    with (home / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "infra.local"], env=environment, stdout=log, stderr=log)
    try:
        place = _wait_for(home / ".limn" / "local.json", f"http://127.0.0.1:{port}", process, home / "log")
        keys = {"aws_access_key_id": place["s3_access_key"], "aws_secret_access_key": place["s3_secret_key"]}
        yield Stack(place["url"], place["username"], place["password"], place["token"], hooks, place["s3_url"], keys)
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_ports() -> int:
    """A port that is free with the next one, for the API and S3."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


def _wait_for(place: Path, url: str, process: subprocess.Popen[bytes], log: Path) -> dict[str, str]:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            if place.exists() and requests.get(f"{url}/health", timeout=5).status_code < 500:
                found: dict[str, str] = json.loads(place.read_text())
                return found
        except (requests.RequestException, ValueError):
            pass
        time.sleep(0.1)
    message = f"the local stack did not start:\n{log.read_text()[-2000:]}"
    raise RuntimeError(message)
