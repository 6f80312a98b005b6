"""A process that is killed after one of its AWS calls, and the queue that delivers its messages again."""

from botocore.client import BaseClient

from chalicelib.queues import decode, encode
from chalicelib.resources.annotations import reassign
from chalicelib.resources.bulk import service as bulk_service

MOST_DELIVERIES = 400


class Killed(Exception):
    """What stands for SIGKILL."""


class Killer:
    """Lets so many AWS calls through, the last of which never answers."""

    def __init__(self, monkeypatch):
        self.left = None
        self.calls = 0
        real = BaseClient._make_api_call

        def call(client, name, arguments):
            answer = real(client, name, arguments)
            self.calls += 1
            if self.left is not None:
                self.left -= 1
                if self.left <= 0:
                    self.left = None
                    raise Killed(name)
            return answer

        monkeypatch.setattr(BaseClient, "_make_api_call", call)


def make_bulk_changes_small(monkeypatch, rows):
    """Bulk changes of more than some rows are left to the queue, and have commits of so many."""
    for module, limit in (
        (bulk_service, "SOON_DONE"),
        (bulk_service, "A_PART"),
        (reassign, "MOST_MOVED"),
        (reassign, "MOST_COPIED"),
    ):
        monkeypatch.setattr(module, limit, rows)


class Queue:
    """What is sent is delivered until its handler returns. A message whose handler was killed comes behind the others.

    Args:
        monkeypatch: replaces `send`, and `send_many` where there is one, in the modules.
        modules: what sends the messages.
        kinds: the messages.
        handle: what handles one.
    """

    def __init__(self, monkeypatch, modules, kinds, handle):
        self.waiting, self.kinds, self.handle = [], kinds, handle
        for module in modules:
            monkeypatch.setattr(module, "send", lambda _, message, **more: self.take(message))
            if hasattr(module, "send_many"):
                monkeypatch.setattr(module, "send_many", lambda _, messages: [self.take(each) for each in messages])

    def take(self, message):
        self.waiting.append(decode(encode(message), self.kinds))

    def run(self):
        """Deliver until nothing waits; how often a handler was killed."""
        killed = 0
        for _ in range(MOST_DELIVERIES):
            if not self.waiting:
                return killed
            message = self.waiting.pop(0)
            try:
                self.handle(message)
            except Killed:
                killed += 1
                self.waiting.append(message)
        raise AssertionError("the queue never became empty")
