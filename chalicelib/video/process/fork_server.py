"""The process that forks a child for each task of `video.process.isolation`.

Run as `python -m chalicelib.video.process.fork_server FD MODULE`. It imports the module of the tasks once, with FFmpeg
and Pillow or with the readers of archives, so that a child costs a few milliseconds. It has one thread, no credentials
in its environment and no work of its own: a child may corrupt its memory, run out of it or loop without harm to
anything else.

    control socket   one byte with two file descriptors for each task: the task's socket and the write end of a pipe
    task socket      frames of `FRAME` (kind, length) and a body; the child reads the task from it
    pipe             the number of the signal that ended the child, 0 for none
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import pickle
import resource
import selectors
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec

from chalicelib.errors import LimnError
from chalicelib.video.files.source import Source

FRAME = struct.Struct(">BQ")
TASK, DATA = 1, 2
"""Frames from the parent: the task, and bytes of a source."""
READ, DONE, REFUSED, OUT_OF_MEMORY, BROKEN, PART = 11, 12, 13, 14, 15, 16
"""Frames from the child: a read request, the result, an error (the caller's, out of memory, or internal), or a part."""
RANGE = struct.Struct(">BQQ")
LARGEST_READ = 16 * 1024 * 1024
"""Maximum bytes of one read request of a child."""
LARGEST_FRAME = 1024**3
"""Bytes of one frame. A child is not trusted, and the parent makes room for what a frame says of its length."""
_PR_SET_PDEATHSIG = 1


class Task(msgspec.Struct, frozen=True):
    """A function of a module, its arguments, the sizes of its sources (its first arguments) and its limits."""

    module: str
    function: str
    arguments: tuple[Any, ...]
    sources: tuple[int, ...]
    seconds: float
    memory: int
    file_size: int
    nice: int = 0


class RemoteSource:
    """A source whose bytes the parent reads."""

    def __init__(self, connection: socket.socket, number: int, size: int) -> None:
        self._connection = connection
        self._number = number
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        parts = []
        while length > 0:
            part = self._part(offset, min(length, LARGEST_READ))
            if not part:
                break
            parts.append(part)
            offset, length = offset + len(part), length - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _part(self, offset: int, length: int) -> bytes:
        try:
            send(self._connection, READ, RANGE.pack(self._number, offset, length))
            return receive(self._connection)[1]
        except (EOFError, OSError):
            # The parent could not read the source, or has exited; it needs no answer.
            os._exit(0)


def send(connection: socket.socket, kind: int, body: bytes) -> None:
    """Write one frame."""
    connection.sendall(FRAME.pack(kind, len(body)))
    if body:
        connection.sendall(body)


def receive(connection: socket.socket) -> tuple[int, bytes]:
    """Read one frame. Raises EOFError if the peer has closed the connection, OverflowError for a frame too large."""
    kind, length = FRAME.unpack(_exactly(connection, FRAME.size))
    if length > LARGEST_FRAME:
        raise OverflowError
    return kind, _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = bytearray(length)
    view, done = memoryview(data), 0
    while done < length:
        count = connection.recv_into(view[done:])
        if not count:
            raise EOFError
        done += count
    return bytes(data)


def serve(control: socket.socket) -> None:
    """Fork a child for each task until the parent exits."""
    woken, waker = socket.socketpair()
    woken.setblocking(False)
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    woken.recv(4096)
                _reap(children)
            if control in ready:
                data, descriptors, _, _ = socket.recv_fds(control, 1, 2)
                if not data:
                    return
                task, report = descriptors
                child = os.fork()
                if not child:
                    for descriptor in (control.fileno(), report, *children.values()):
                        os.close(descriptor)
                    _work(socket.socket(fileno=task))
                os.close(task)
                children[child] = report


def _reap(children: dict[int, int]) -> None:
    """Report how children ended."""
    while children:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        report = children.pop(child)
        with contextlib.suppress(OSError):
            os.write(report, bytes([os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0]))
        os.close(report)


def _work(connection: socket.socket) -> NoReturn:
    """Run the task of this child and exit without cleanup, because memory may be damaged."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        kind, body = receive(connection)
        if kind == TASK:
            task: Task = pickle.loads(body)  # noqa: S301 - from the parent
            _limit(task)
            _run(connection, task)
    except (EOFError, OSError):
        # The parent has exited or no longer waits.
        pass
    finally:
        os._exit(0)


def _limit(task: Task) -> None:
    """Set the limits of this process. The kernel ends it when its time is over; too much memory is a MemoryError."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.nice(task.nice)
    for ending in (signal.SIGALRM, signal.SIGXFSZ, signal.SIGXCPU):
        signal.signal(ending, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, task.seconds)
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = {
        resource.RLIMIT_CPU: int(task.seconds * processors) + 1,
        resource.RLIMIT_DATA: task.memory,
        resource.RLIMIT_FSIZE: task.file_size,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        hard = resource.getrlimit(limit)[1]
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, hard) if hard == resource.RLIM_INFINITY or hard > value else (hard, hard))


def _run(connection: socket.socket, task: Task) -> None:
    """Call the function and send its result or error; of a generator its parts, each as it is made."""
    sources: list[Source] = [RemoteSource(connection, number, size) for number, size in enumerate(task.sources)]
    try:
        function = getattr(importlib.import_module(task.module), task.function)
        result = function(*sources, *task.arguments)
        if isinstance(result, Iterator):
            for part in result:
                send(connection, PART, part)
            result = None
        body = msgspec.msgpack.encode(result)
    except MemoryError:
        send(connection, OUT_OF_MEMORY, b"")
    except LimnError as error:
        refusal = (type(error).__name__, error.message, error.details)
        send(connection, OUT_OF_MEMORY if _is_of_memory(error) else REFUSED, msgspec.msgpack.encode(refusal))
    except Exception:  # noqa: BLE001 - the parent raises it
        send(connection, BROKEN, traceback.format_exc().encode())
    else:
        send(connection, DONE, body)


def _is_of_memory(error: BaseException | None) -> bool:
    """Whether the error, or one of its causes, is out of memory."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _main() -> None:
    importlib.import_module(sys.argv[2]).warm_up()
    # Children share what is there now instead of copying it when they collect garbage.
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    _main()
