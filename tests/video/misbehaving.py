"""Tasks for the tests of isolation."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from chalicelib.formats.readers.tasks import Listing


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


def count(source, number: int) -> Iterator[bytes]:
    for each in range(number):
        yield source.read(each, 1)


def yield_then_crash(source, *_) -> Iterator[bytes]:
    yield b"one"
    os.abort()


def yield_then_hang(source, *_) -> Iterator[bytes]:
    yield b"one"
    time.sleep(60)


def yield_then_grow(source, *_) -> Iterator[bytes]:
    yield b"one"
    yield bytes(8 << 30)


def yield_then_fail(source, *_) -> Iterator[bytes]:
    yield b"one"
    raise KeyError("ours")


def yield_process(source) -> Iterator[bytes]:
    while True:
        yield str(os.getpid()).encode()


def _listing() -> bytes:
    return msgspec.msgpack.encode(Listing({}, bytes(32)))


def crash_after_listing(source, *_) -> Iterator[bytes]:
    yield _listing()
    os.abort()


def hang_after_listing(source, *_) -> Iterator[bytes]:
    yield _listing()
    time.sleep(60)


def grow_after_listing(source, *_) -> Iterator[bytes]:
    yield _listing()
    yield bytes(8 << 30)


def yield_nonsense(source, *_) -> Iterator[bytes]:
    yield _listing()
    yield b"\xc1"
