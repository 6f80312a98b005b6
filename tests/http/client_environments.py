"""Environments with a published client each, in `build/clients`; a test without the package index skips itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.stack import ROOT


def python_with(client: str, urllib3: str = "urllib3>=2.8") -> Path:
    """The Python of an environment that has a version of the client."""
    environment = ROOT / "build" / "clients" / f"{client}-{urllib3.lstrip('urlib3=>')}"
    python = environment / "bin" / "python"
    if not (environment / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        wanted = [f"tator=={client}", urllib3, "psutil"]
        installed = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
            capture_output=True,
            text=True,
            check=False,
        )
        if installed.returncode:
            pytest.skip(f"cannot be installed here: {installed.stderr[-300:]}")
        (environment / "ready").touch()
    return python
