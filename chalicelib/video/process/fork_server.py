"""The process that forks a child for each task of `video.process.isolation`.

Run as `python -m chalicelib.video.process.fork_server FD MODULE AHEAD`. It imports the module of the tasks once, with
FFmpeg and Pillow or with the readers of archives, so that a child costs a few milliseconds. It has one thread, no
credentials in its environment and no work of its own: a child may corrupt its memory, run out of it or loop without
harm to anything else.

It keeps AHEAD children forked ahead for tasks that a request waits for. Such a child rehearses: it does a task of the
module's own (`rehearse`), and has then its own copies of the memory that it writes to. It waits for one task, does it
and ends, as every child: no child sees two tasks.

    control socket   `ANEW` or `READY` with two file descriptors for each task: the task's socket, and the write end of
                     a pipe
    task socket      frames of `FRAME` (kind, length) and a body; the child reads the task from it
    pipe             the number of the signal that ended the child, 0 for none
    child's socket   of a child forked ahead: one byte from it once it has rehearsed, then the task's socket to it
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
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import msgspec

from chalicelib.errors import LimnError
from chalicelib.video.files.source import Source

ANEW, READY = b"a", b"r"
"""Whether a task is for a child forked anew, or for one forked ahead if there is one."""
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
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""Parameters of glibc's `mallopt`."""
_LARGEST_FROM_HEAP = 32 * 1024 * 1024


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


class Server:
    """Forks a child for each task, and up to `ahead` children before there is one."""

    def __init__(self, control: socket.socket, ahead: int = 0, rehearse: Callable[[], object] = int) -> None:
        self._control = control
        self._ahead = ahead
        self._rehearse = rehearse
        self._missing = ahead
        """Children to fork ahead as soon as there is no other work."""
        self._rehearsing: dict[socket.socket, int] = {}
        self._ready: deque[tuple[int, socket.socket]] = deque()
        self._reports: dict[int, int] = {}
        """The pipes of the children that have a task."""
        self._selector = selectors.DefaultSelector()
        self._woken, self._waker = socket.socketpair()
        self._id = os.getpid()

    def serve(self) -> None:
        """Work until the parent exits."""
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._selector.register(self._control, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        while True:
            events = {key.fileobj for key, _ in self._selector.select(0 if self._missing > 0 else None)}
            if not events:
                self.fork_ahead()
            if self._woken in events:
                with contextlib.suppress(BlockingIOError):
                    self._woken.recv(4096)
                self._reap()
            for connection in [each for each in self._rehearsing if each in events]:
                self._note_rehearsed(connection)
            if self._control in events and not self.take_task():
                # The children that die now need no report.
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.set_wakeup_fd(-1)
                return

    def close(self) -> None:
        """Close all descriptors of this server; a child that waits for a task ends then."""
        self._selector.close()
        others = (*self._rehearsing, *(connection for _, connection in self._ready))
        for connection in (self._control, self._woken, self._waker, *others):
            connection.close()
        for report in self._reports.values():
            os.close(report)

    def take_task(self) -> bool:
        """Give the next task to a child; False if the parent has exited.

        Where no child can be forked, the task's descriptors are closed, which the parent takes for an error.
        """
        kind, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
        if not kind:
            return False
        try:
            task, report = descriptors
        except ValueError:  # this process has as many descriptors as it may have
            for descriptor in descriptors:
                os.close(descriptor)
            return True
        child = (self._hand_over(task) if kind == READY else None) or self._fork_for(task, report)
        os.close(task)
        if child:
            self._reports[child] = report
        else:
            os.close(report)
        return True

    def fork_ahead(self) -> None:
        """Fork a child that rehearses, and waits for a task."""
        self._missing -= 1
        try:
            ours, theirs = socket.socketpair()
        except OSError:  # this process has as many descriptors as it may have
            self._missing = 0
            return
        child = self._fork()
        if child is None:
            # Not again until a child has ended.
            self._missing = 0
            ours.close()
        elif child:
            self._rehearsing[ours] = child
            self._selector.register(ours, selectors.EVENT_READ)
        else:
            ours.close()
            _await_task(theirs, self._rehearse)
        theirs.close()

    def _hand_over(self, task: int) -> int | None:
        """Give a task to a child that was forked ahead: its process id, None if there is none."""
        while self._ready:
            child, connection = self._ready.popleft()
            try:
                with connection:
                    socket.send_fds(connection, [b"t"], [task])
            except OSError:  # it has died
                continue
            return child
        return None

    def _fork_for(self, task: int, report: int) -> int | None:
        child = self._fork()
        if child == 0:
            os.close(report)
            _work(socket.socket(fileno=task))
        return child

    def _fork(self) -> int | None:
        """As `os.fork`, None where there is no process or memory left; the child has none of this server's descriptors.

        The child ends when this process does.
        """
        try:
            child = os.fork()
        except OSError:
            return None
        if child:
            return child
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._id:
            os._exit(0)
        self.close()
        return 0

    def _note_rehearsed(self, connection: socket.socket) -> None:
        """Count a child that has rehearsed as ready, and forget one that has died."""
        child = self._rehearsing.pop(connection)
        self._selector.unregister(connection)
        with contextlib.suppress(OSError):
            if connection.recv(1):
                self._ready.append((child, connection))
                return
        connection.close()

    def _reap(self) -> None:
        """Report how children ended, and have as many forked ahead as are missing."""
        with contextlib.suppress(ChildProcessError):
            while True:
                child, status = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                report = self._reports.pop(child, None)
                if report is None:
                    # One that died while it waited is replaced after the next task: no loop of children that die.
                    continue
                with contextlib.suppress(OSError):
                    os.write(report, bytes([os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0]))
                os.close(report)
                self._missing = self._ahead - len(self._ready) - len(self._rehearsing)


def _await_task(connection: socket.socket, rehearse: Callable[[], object]) -> NoReturn:
    """Rehearse, and do the task that comes."""
    try:
        _keep_memory()
        rehearse()
        connection.send(b"r")
        _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
        connection.close()
        if descriptors:
            _work(socket.socket(fileno=descriptors[0]))
    except OSError:
        # The server has exited.
        pass
    except Exception:  # noqa: BLE001 - whatever it is, there is no stock then
        traceback.print_exc()
    finally:
        os._exit(0)


def _keep_memory() -> None:
    """Keep freed pages in one heap for reuse after warm-up."""
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_ARENA_MAX, 1)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGEST_FROM_HEAP)
        library.mallopt(_M_TRIM_THRESHOLD, 2**30)


def _work(connection: socket.socket) -> NoReturn:
    """Run the task of this child and exit without cleanup, because memory may be damaged."""
    try:
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
    descriptor, name, ahead = sys.argv[1:]
    module = importlib.import_module(name)
    module.warm_up()
    # Children share what is there now instead of copying it when they collect garbage.
    gc.freeze()
    Server(socket.socket(fileno=int(descriptor)), int(ahead), getattr(module, "rehearse", int)).serve()


if __name__ == "__main__":
    _main()
