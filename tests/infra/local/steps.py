"""Workflows of a few lines, and what runs of them on this machine."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml


def manifest(*templates: dict[str, Any], **more: Any) -> str:
    """A workflow that begins with the first of its templates."""
    body = {"entrypoint": templates[0]["name"], "templates": list(templates), **more}
    return yaml.safe_dump({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": body}, sort_keys=False)


def shell(name: str, text: str, **more: Any) -> dict[str, Any]:
    """A template that runs a line of sh."""
    return {"name": name, "container": {"image": "alpine", "command": ["sh", "-c"], "args": [text]}, **more}


def python(name: str, text: str, **more: Any) -> dict[str, Any]:
    """A template that runs a Python script."""
    return {"name": name, "script": {"image": "python:3", "command": ["python"], "source": text}, **more}


def mounted(template: dict[str, Any], mounts: list[dict[str, Any]]) -> dict[str, Any]:
    """A template whose container mounts volumes."""
    return {**template, "container": {**template["container"], "volumeMounts": mounts}}


def claim(name: str, size: str) -> dict[str, Any]:
    """A work folder of a size."""
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": name}, "spec": wanted}


_numbers = itertools.count(1)


def endless() -> str:
    """The start of a command that sleeps for years, to which digits are added; no other test has it."""
    return f"sleep 3{os.getpid():08d}{next(_numbers):03d}"


def brief() -> str:
    """A command that sleeps for a hundredth of a second; no other test has it."""
    return f"sleep 0.01{os.getpid():08d}{next(_numbers):03d}"


def processes(start: str) -> list[str]:
    """The commands of processes that begin so."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if command.startswith(start):
                found.append(command)
    return found


def wait_until(is_so: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)
