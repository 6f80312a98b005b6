"""Chromium for tests: the one of the machine, on PATH or named by `CHROMIUM`."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--mute-audio"),
]
ABSENT = "there is no Chromium on PATH; install it, or name one by CHROMIUM=/path/to/chromium"


def find() -> str | None:
    """The path of Chromium; None where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
