"""Run functions on untrusted media in a child process with limits of time, processor, memory and file size.

Decoders are written in C for speed, and a file may crash them: a 7.1 PCM track in a .mov corrupts the heap in FFmpeg's
demuxer. Code that parses bytes from callers therefore runs in a child that a server process
(`video.process.fork_server`) forks for one task. The child has no credentials; the parent reads the bytes of a source
and sends them. A child that crashes, hangs or grows too large becomes a BadInput with a readable message. For tasks
within a request the server keeps a few children forked ahead.

`run` and `run_all` return the result of a task on media, `stream` the parts that a task on an archive yields, and
`render` the text that a template gives. Each of the three has a server of its own, so that an import does not load
FFmpeg.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import typing
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from chalicelib.core import process
from chalicelib.errors import BadInput, LimnError, NotFound, TooLarge, Unavailable
from chalicelib.video.files.source import Source
from chalicelib.video.process import fork_server
from chalicelib.video.process.fork_server import LARGEST_READ, RANGE, Task

T = TypeVar("T")

GIGABYTE = 1024**3
AHEAD = 2
"""Children that are kept forked ahead, some 20 MB each: one for this request, one for the next."""
_GRACE = 10.0
_ERRORS: dict[str, type[LimnError]] = {error.__name__: error for error in (BadInput, TooLarge, NotFound)}
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR", "TZ", "LANG", "HOME", "OPENBLAS_CORETYPE")
_OWN_ENVIRONMENT = {
    "SVT_LOG": "1",
    # Pages of 2 MB where the system has them: pictures take some 4,000 small ones, each with a fault of its own.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
_WORDS = {
    signal.SIGALRM: "Working on the {subject} takes longer than allowed.",
    signal.SIGXCPU: "Working on the {subject} takes longer than allowed.",
    signal.SIGXFSZ: "The {subject} becomes larger than allowed.",
    signal.SIGKILL: "Working on the {subject} takes more memory than allowed.",
}


class Limits(Struct, frozen=True, kw_only=True):
    """Limits of a child: wall-clock seconds (processor time follows), bytes of memory and of one written file.

    `nice` above 0 lets other processes go first. `ahead` is true where a child that was forked ahead does the task.
    `subject` is what messages call the data that is worked on.
    """

    seconds: float = 840.0
    memory: int = 3 * GIGABYTE
    file_size: int = 16 * GIGABYTE
    nice: int = 0
    ahead: bool = False
    subject: str = "file"


TRANSCODING = Limits()
"""For queue functions, which end after 15 minutes."""
UNHURRIED = Limits(nice=10)
"""For the larger renditions, while smaller ones and pictures are waited for."""
ANSWERING = Limits(seconds=25.0, memory=2 * GIGABYTE, ahead=True)
"""For requests, which end after 29 seconds."""


def run(function: Callable[..., T], source: Source, *arguments: Any, limits: Limits = TRANSCODING) -> T:
    """Call a function of a module in a child process; its first argument is the source, and its result plain data.

    Raises:
        BadInput: the child died or broke a limit; or what the function raised.
        LimnError: what the source raised.
    """
    return run_all(function, [source], *arguments, limits=limits)


def run_all(function: Callable[..., T], sources: Sequence[Source], *arguments: Any, limits: Limits = TRANSCODING) -> T:
    """As `run`, of a function whose first arguments are sources."""
    return _result(_media_server, function, sources, arguments, limits)


def render(function: Callable[..., T], *arguments: Any, limits: Limits) -> T:
    """As `run`, of a function on a template, which takes no source."""
    return _result(_template_server, function, (), arguments, limits)


def _result(
    server: _Server, function: Callable[..., T], sources: Sequence[Source], arguments: tuple[Any, ...], limits: Limits
) -> T:
    with _child(server, function, sources, arguments, limits) as next_frame:
        kind, body = next_frame()
    if kind == fork_server.DONE:
        return typing.cast("T", _decoder(function).decode(body))
    raise _failure(kind, body, limits.subject)


def stream(
    function: Callable[..., Iterator[bytes]], source: Source, *arguments: Any, limits: Limits = TRANSCODING
) -> Generator[bytes]:
    """The parts that a generator function yields in a child process; its first argument is the source.

    The child makes the next part while this process works on one, then waits. It ends when the iterator is closed.

    Raises:
        BadInput, LimnError: as `run`, after the parts that were made before.
    """
    with _child(_archive_server, function, [source], arguments, limits) as next_frame:
        kind, body = next_frame()
        while kind == fork_server.PART:
            yield body
            kind, body = next_frame()
    if kind != fork_server.DONE:
        raise _failure(kind, body, limits.subject)


_Frames = Callable[[], tuple[int | None, bytes]]


@contextlib.contextmanager
def _child(
    server: _Server, function: Callable[..., Any], sources: Sequence[Source], arguments: tuple[Any, ...], limits: Limits
) -> Iterator[_Frames]:
    """A child at work on a task, until the end of the block, as what waits for its next frame.

    The kind of a frame is None where the child takes too long.
    """
    task = Task(
        module=function.__module__,
        function=function.__name__,
        arguments=arguments,
        sources=tuple(source.size for source in sources),
        seconds=limits.seconds,
        memory=min(limits.memory, _memory_here()),
        file_size=limits.file_size,
        nice=limits.nice,
    )
    connection, report = server.start_child(limits.ahead)

    def next_frame() -> tuple[int | None, bytes]:
        try:
            return _serve(connection, sources)
        except TimeoutError:
            return None, b""
        except OverflowError:
            return fork_server.OUT_OF_MEMORY, b""
        except (EOFError, ConnectionError):
            raise _death(report, limits.subject) from None

    try:
        with connection:
            connection.settimeout(limits.seconds + _GRACE)
            with contextlib.suppress(OSError):  # it died at once: `next_frame` says how
                fork_server.send(connection, fork_server.TASK, pickle.dumps(task))
            yield next_frame
    finally:
        if report >= 0:
            os.close(report)


def warm_up() -> None:
    """Start the process that works on media without waiting for it; it takes half a second to load its libraries."""
    with contextlib.suppress(OSError):  # the first task tries again
        _media_server.start()


def _serve(connection: socket.socket, sources: Sequence[Source]) -> tuple[int, bytes]:
    """Answer the child's read requests until it sends the result."""
    while True:
        kind, body = fork_server.receive(connection)
        if kind != fork_server.READ:
            return kind, body
        number, offset, length = RANGE.unpack(body)
        # If this raises, the connection is closed, which ends the child.
        fork_server.send(connection, fork_server.DATA, sources[number].read(offset, min(length, LARGEST_READ)))


def _failure(kind: int | None, body: bytes, subject: str) -> Exception:
    if kind == fork_server.REFUSED:
        name, message, details = msgspec.msgpack.decode(body, type=tuple[str, str, str])
        return _ERRORS.get(name, BadInput)(message, details)
    if kind == fork_server.OUT_OF_MEMORY:
        return BadInput(_WORDS[signal.SIGKILL].format(subject=subject))
    if kind is None:
        return BadInput(_WORDS[signal.SIGALRM].format(subject=subject))
    return RuntimeError(f"a task failed in its process:\n{body.decode(errors='replace')}")


def _death(report: int, subject: str) -> LimnError:
    """The reason why a child ended without a result."""
    number = os.read(report, 1) if report >= 0 and _is_ready(report) else b""
    if not number:
        return Unavailable(f"The process that reads {subject}s was stopped.")
    if not number[0]:
        return BadInput(f"The program that reads the {subject} ended without a result.")
    ended = signal.Signals(number[0])
    words = _WORDS.get(ended, "The {subject} crashes the program that reads it; it is damaged or made to do so.")
    return BadInput(words.format(subject=subject), ended.name)


def _is_ready(report: int) -> bool:
    """Whether a pipe can be read within `_GRACE`; `select` takes no descriptors from 1024 on."""
    waiting = select.poll()
    waiting.register(report, select.POLLIN)
    return bool(waiting.poll(_GRACE * 1000))


@lru_cache(maxsize=32)
def _decoder(function: Callable[..., Any]) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(typing.get_type_hints(function)["return"])


def _memory_here() -> int:
    """The part of a Lambda function's memory that a child may use."""
    megabytes = int(os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE") or 1 << 20)
    return max(GIGABYTE, (megabytes - 512) * 1024 * 1024)


class _Server:
    """The server process; started on first use, and again after it exits."""

    def __init__(self, tasks: str, ahead: int = 0) -> None:
        self._tasks = tasks
        """The module that the server imports."""
        self._ahead = ahead
        """The number of children that it keeps forked ahead."""
        self._lock = threading.Lock()
        self._owner = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start_child(self, ahead: bool) -> tuple[socket.socket, int]:
        """A connection to a child that has no task yet, and a pipe that reports how it ended.

        The child is one that was forked ahead, if there is one and `ahead` is true.
        """
        kind = fork_server.READY if ahead else fork_server.ANEW
        for attempt in (1, 2):
            ours, theirs = socket.socketpair()
            report, told = os.pipe()
            try:
                with self._lock:
                    socket.send_fds(self._running(), [kind], [theirs.fileno(), told])
            except OSError:
                ours.close()
                os.close(report)
                self.stop()
                if attempt == 2:  # noqa: PLR2004 - the second try is with a new server
                    raise
            else:
                return ours, report
            finally:
                theirs.close()
                os.close(told)
        raise AssertionError  # pragma: no cover

    def start(self) -> None:
        """Start the server unless it runs."""
        with self._lock:
            self._running()

    def stop(self) -> None:
        """End the server; its children end with it."""
        with self._lock:
            control, server, is_ours = self._control, self._process, self._owner == os.getpid()
            self._control = self._process = None
        if control:
            control.close()
        if server and is_ours:
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(2)

    def _running(self) -> socket.socket:
        # A fork of this process must not share its parent's server.
        if self._control is None or self._owner != os.getpid():
            ours, theirs = socket.socketpair()
            environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
            environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)  # noqa: PTH109
            environment |= _OWN_ENVIRONMENT
            with theirs:
                number = str(theirs.fileno())
                arguments = [number, self._tasks, str(self._ahead)]
                command = [sys.executable, "-m", "chalicelib.video.process.fork_server", *arguments]
                # The children parse what callers sent; this process has credentials.
                process.hide()
                self._process = subprocess.Popen(  # noqa: S603 - our own module
                    command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL
                )
            self._control, self._owner = ours, os.getpid()
        return self._control


_media_server = _Server("chalicelib.video.process.tasks", ahead=AHEAD)
_archive_server = _Server("chalicelib.formats.readers.tasks")
_template_server = _Server("chalicelib.resources.hosted_templates.rendering")
atexit.register(_media_server.stop)
atexit.register(_archive_server.stop)
atexit.register(_template_server.stop)
