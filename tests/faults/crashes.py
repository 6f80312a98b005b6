"""A process that dies at a chosen AWS call, or whose answer is lost on the way back.

Every call of every client is counted. At the chosen one:

    before   the process dies; AWS never heard of it
    after    the process dies; AWS did it
    lost     AWS did it, the answer does not arrive, and botocore asks again of its own accord, so AWS is told twice;
             where the client was told to try once, as `cut`
    cut      AWS did it, and no answer arrives: the caller gets botocore's error

A process that died makes no further call, on whatever thread: everything raises `Killed` until `revive`.
"""

from __future__ import annotations

import copy
import threading
import uuid
from contextlib import contextmanager, suppress

from botocore.client import BaseClient
from botocore.exceptions import ClientError, ConnectionClosedError

_STREAMS = frozenset({"PutObject", "UploadPart"})
"""Calls whose arguments may hold a stream."""
MODES = ("before", "after", "lost", "cut")

READS = frozenset(
    {"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems", "HeadObject", "GetObject", "ListObjectsV2"}
    | {"GetObjectTagging", "ListParts", "GET", "DescribeJobs", "ListJobs", "DescribeJobDefinitions", "Decrypt"}
)
"""Calls that change nothing."""


def points(calls):
    """The crash points of a run that made these calls, (number, mode), each state of AWS at death once.

    A process that dies before or after a read, or has it answered twice, leaves AWS as one that dies between the writes
    around it. So a read is only cut, which is an error that the process sees; every write dies in all ways.
    """
    found = [
        (number, mode)
        for mode in MODES
        for number, call in enumerate(calls, 1)
        if mode == "cut" or call.partition(".")[2] not in READS
    ]
    return found or [(1, "before")]


class Killed(BaseException):
    """What stands for SIGKILL: no `except Exception` sees it."""


class KilledReading(Exception):
    """The same where an object is read: PyAV, which reads through a callback, would ignore a `Killed` and ask again."""


class Crasher:
    """Counts calls, and does what was asked at one of them."""

    def __init__(self):
        self.calls = []
        """The names of the calls since the last `arm`, in order."""
        self.fired = ""
        """The call at which something was done, empty if none was."""
        self._target = 0
        self._mode = ""
        self._dead = False
        self._lock = threading.RLock()

    def arm(self, number=0, mode=""):
        """Start counting; at call `number`, from 1, do what `mode` says."""
        with self._lock:
            self.calls, self.fired = [], ""
            self._target, self._mode, self._dead = number, mode, False

    @property
    def dead(self):
        """Whether the process died, whatever seems to have come after."""
        return self._dead

    def revive(self):
        """Let calls through again, in a new process."""
        with self._lock:
            self._target, self._dead = 0, False

    @contextmanager
    def resting(self):
        """Neither count nor do anything: it is the test that asks."""
        with self._lock:
            target, calls = self._target, self.calls
            self._target, self.calls = 0, []
        try:
            yield
        finally:
            self._target, self.calls = target, calls

    def on_call(self, call, client, name, arguments):
        with self._lock:  # nothing is still under way when a process has died
            if self._dead:
                raise _death(name)
            self.calls.append(f"{client.meta.service_model.service_name}.{name}")
            if self.fired or len(self.calls) != self._target:
                return call(arguments)
            self.fired = self.calls[-1]
            if self._mode == "before":
                self._die(name)
            if name == "TransactWriteItems":  # as botocore does, once for all its attempts
                arguments.setdefault("ClientRequestToken", str(uuid.uuid4()))
            is_told_again = self._mode == "lost" and not _tries_once(client)
            again = copy.deepcopy(arguments) if is_told_again and name not in _STREAMS else arguments
            with suppress(ClientError):  # what AWS refuses it has answered too
                call(arguments)
            if self._mode == "after":
                self._die(name)
            if is_told_again:
                for body in (value for value in again.values() if hasattr(value, "seek")):
                    body.seek(0)
                return call(again)
            raise ConnectionClosedError(endpoint_url=client.meta.endpoint_url)

    def _die(self, name):
        self._dead = True
        raise _death(name)


def _tries_once(client):
    config = getattr(client.meta, "config", None)
    return config is None or (config.retries or {}).get("total_max_attempts") == 1


def _death(name):
    return KilledReading(name) if name == "GetObject" else Killed(name)


@contextmanager
def crasher():
    """Hook into every client of this process."""
    hook = Crasher()
    real = BaseClient._make_api_call
    BaseClient._make_api_call = lambda client, name, arguments: hook.on_call(
        lambda given: real(client, name, given), client, name, arguments
    )
    try:
        yield hook
    finally:
        BaseClient._make_api_call = real
