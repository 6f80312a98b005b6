"""Whether a connection to this stack comes from a step of a job.

Steps reach the stack by HTTP as people do, so its pages for the person at this machine, the outbox above all, would
show them the mail of others. Linux names the process at the other end of a loopback connection; elsewhere no step is
found.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from infra.local.batch.steps.step import Runner

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LOCAL, _REMOTE, _INODE = 1, 2, 9


def is_step(runner: Runner, port: int, server: int) -> bool:
    """Whether the client of a connection is a process of a step.

    Args:
        runner: what runs steps.
        port: the client's port.
        server: the port that it connected to.
    """
    inodes = set(_inodes(port, server))
    return bool(inodes) and any(runner.owns(pid) for pid in _holders(inodes))


def _inodes(port: int, server: int) -> Iterator[str]:
    """The client's socket, as the kernel numbers it."""
    for table in _TABLES:
        with suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                ends = [int(fields[place].rpartition(":")[2], 16) for place in (_LOCAL, _REMOTE)]
                if ends == [port, server]:
                    yield f"socket:[{fields[_INODE]}]"


def _holders(sockets: set[str]) -> Iterator[int]:
    """The processes of this user that have one of the sockets open."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for link in (folder / "fd").iterdir():
                with suppress(OSError):
                    if str(link.readlink()) in sockets:
                        yield int(folder.name)
                        break
