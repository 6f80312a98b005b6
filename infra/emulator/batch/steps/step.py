"""A step as it is run, and what the runners of steps have in common: following the process that it is."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from infra.emulator.batch.logs import Log

LARGEST_FILE = 4 * 2**30
LARGEST_FOLDER = 20 * 2**30
"""Bytes of all files of one step: what Fargate gives a task."""
MOST_PROCESSES = 256
LONGEST_SECONDS = 6 * 3600
"""How long an attempt may take whose job has no time limit of its own."""
_PATIENCE = 0.2
_BLOCK = 65_536
_LAST_SECONDS = 1.0
"""For what is still in the pipe when the process has ended."""
_FOLDER_EVERY = 5.0


@dataclass(frozen=True, kw_only=True)
class Step:
    """A container to be run."""

    id: str
    image: str
    command: list[str]
    environment: Mapping[str, str]
    folder: Path
    """A folder of its own, which is removed when the step has ended."""
    mounts: Mapping[str, Path]
    """Folders within it, by the path that the command knows them by."""
    processors: float
    memory: int
    """Bytes."""
    seconds: float
    """How long it may take."""
    grace: float = 0.0
    """Seconds between SIGTERM and SIGKILL where it is stopped, or takes too long."""
    shared: Mapping[Path, int] = field(default_factory=dict)
    """Folders of which `mounts` are, or have parts, that other steps have, too, with their most bytes."""
    read_only: frozenset[str] = frozenset()
    """Those of the paths in `mounts` that it may not write to."""
    start: str = ""
    """The folder in which its command starts; the command itself goes there."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a step ended: with success where there is no reason."""

    exit_code: int | None = None
    reason: str | None = None


class Stop(threading.Event):
    """Ends a step; `at_once` leaves it no time of grace, because the service ends."""

    at_once = False


class Runner(Protocol):
    """A way to run steps: containers or processes."""

    name: str

    def run(self, step: Step, log: Log, stop: threading.Event) -> Ended:
        """Run a step to its end, or until `stop` is set: none of its processes is left then."""

    def clean_up(self) -> None:
        """End what an earlier run of the service left running."""

    def description(self) -> str:
        """The line about it that the start prints."""


def follow(
    process: subprocess.Popen[bytes],
    step: Step,
    log: Log,
    stop: threading.Event,
    excess: Callable[[], str | None] = lambda: None,
    processes: Callable[[], Iterable[int]] = tuple,
) -> str | None:
    """Read what a process prints until it ends; the reason to end it before that, if there is one.

    `excess` says which limit is exceeded, if one is; `processes` are those of the step, as far as they are known.
    """
    pipe = process.stdout
    if pipe is None:
        raise AssertionError("the process has no pipe")
    os.set_blocking(pipe.fileno(), False)
    end = time.monotonic() + step.seconds
    folder_at = time.monotonic() + _FOLDER_EVERY
    is_open = True
    while process.poll() is None:
        is_open = is_open and _read(pipe.fileno(), log, _PATIENCE)
        if not is_open:
            stop.wait(_PATIENCE / 10)
        moment = time.monotonic()
        if stop.is_set():
            return "The job was stopped."
        if moment > end:
            return f"It took longer than its time limit of {step.seconds:g} seconds."
        if reason := excess():
            return reason
        if moment > folder_at:
            folder_at = moment + _FOLDER_EVERY
            if reason := overfull(step, deleted_bytes(processes())):
                return reason
    return overfull(step) if step.shared else None


def overfull(step: Step, deleted: int = 0) -> str | None:
    """Why a step's files take too much room; None where they do not.

    `deleted` is the number of bytes of deleted files that it still holds open.
    """
    if size_of(step.folder) + deleted > LARGEST_FOLDER:
        return f"Its files take more than {LARGEST_FOLDER // 2**30} GiB."
    for folder, most in step.shared.items():
        if size_of(folder) > most:
            return f"The work folder {folder.name!r} holds more than its size of {most / 2**20:g} MiB."
    return None


def grace_of(step: Step, stop: threading.Event) -> float:
    """The seconds that a step has left when it is to end."""
    return 0.0 if getattr(stop, "at_once", False) else step.grace


def drain(process: subprocess.Popen[bytes], log: Log) -> None:
    """Read what is left in the pipe of a process that has ended, and close it."""
    pipe = process.stdout
    if pipe is None:
        return
    end = time.monotonic() + _LAST_SECONDS
    while time.monotonic() < end and _read(pipe.fileno(), log, 0.01, _BLOCK):
        pass
    pipe.close()


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 a folder may hold many
            except OSError:
                continue
    return total


def deleted_bytes(processes: Iterable[int]) -> int:
    """The bytes on the disk of files that processes hold open and that have no name any more."""
    found: dict[tuple[int, int], int] = {}
    for pid in processes:
        with contextlib.suppress(OSError):  # it has ended, or there is no /proc
            for descriptor in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    state = os.stat(descriptor.path)  # noqa: PTH116 as above
                    if stat.S_ISREG(state.st_mode) and not state.st_nlink:
                        found[state.st_dev, state.st_ino] = state.st_blocks * 512
    return sum(found.values())


def _read(pipe: int, log: Log, patience: float, most: int = 16 * _BLOCK) -> bool:
    """Read what is there; False where nothing more will come."""
    poller = select.poll()  # not select.select, which takes no descriptor above 1,023
    poller.register(pipe, select.POLLIN)
    if not poller.poll(patience * 1000):
        return True
    done = 0
    while done < most:
        try:
            block = os.read(pipe, _BLOCK)
        except BlockingIOError:
            return True
        if not block:
            return False
        log.write(block)
        done += len(block)
    return True
