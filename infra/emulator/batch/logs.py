"""What a job printed: the last of it, on disk, however much it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Self

HALF = 512 * 1024
"""Bytes of each of the two files that hold the last of the output."""


class Log:
    """The output of one job while it is written: when a file is full it becomes the older of the two."""

    def __init__(self, folder: Path, job: str) -> None:
        self._new, self._old = folder / f"{job}.log", folder / f"{job}.log.1"
        self._old.unlink(missing_ok=True)
        self._file = self._new.open("wb", buffering=0)
        self._size = 0

    def write(self, data: bytes) -> None:
        """Add output."""
        for start in range(0, len(data), HALF):
            part = data[start : start + HALF]
            if self._size + len(part) > HALF:
                self._file.close()
                self._new.replace(self._old)
                self._file = self._new.open("wb", buffering=0)
                self._size = 0
            self._file.write(part)
            self._size += len(part)

    def say(self, sentence: str) -> None:
        """Add a line of the runner's own."""
        self.write(f"limn: {sentence}\n".encode())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def tail(folder: Path, job: str, lines: int) -> list[str]:
    """The last lines of a job's output; none where it has printed nothing."""
    data = b""
    for name in (f"{job}.log.1", f"{job}.log"):
        path = folder / name
        if path.exists():
            data += path.read_bytes()
    return data.decode(errors="replace").splitlines()[-lines:]


def remove(folder: Path, job: str) -> None:
    """Remove the output of a job."""
    for name in (f"{job}.log.1", f"{job}.log"):
        (folder / name).unlink(missing_ok=True)
