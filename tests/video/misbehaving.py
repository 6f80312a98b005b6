"""Tasks for the tests of isolation."""

import os
import time
from pathlib import Path


def echo(source, number: int) -> tuple[int, bytes]:
    return number, source.read(0, source.size)


def crash(source) -> int:
    os.abort()


def hang(source) -> int:
    time.sleep(60)
    return 0


def spin(source) -> int:
    while True:
        pass


def grow(source) -> int:
    return len(bytes(4 << 30))


def fill(source, path: str) -> int:
    with Path(path).open("wb") as file:
        while True:
            file.write(bytes(1 << 20))


def environment(source) -> dict[str, str]:
    return dict(os.environ)


def fail(source) -> int:
    raise KeyError("ours")
