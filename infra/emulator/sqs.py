"""Standard queues of SQS whose messages are rows of the database, indexed by the time at which they become visible.

moto keeps messages in memory, scans a queue for each call, and polls once a second. Here a condition wakes long polls
when a message becomes visible. FIFO queues are moto's own.
"""

# ruff: noqa: SLF001 -- what is kept here has no public name in moto
from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from moto.sqs.exceptions import InvalidParameterValue, ReceiptHandleIsInvalid
from moto.sqs.models import MAXIMUM_MESSAGE_DELAY, Message, Queue, SQSBackend, _filter_message_attributes

from infra.emulator.patches import Patches
from infra.emulator.sqlite import database
from infra.emulator.sqlite.database import pack, unpack
from infra.emulator.sqlite.integrity import checksum

LONGEST_VISIBILITY = 43_200
"""Seconds since it was sent after which a message cannot be kept invisible any longer (12 hours)."""
_HANDLE = "#"
"""What stands between the message's id and the rest of a receipt handle."""
_MEMBERS = (
    "body", "message_attributes", "system_attributes", "group_id", "receipt_handle", "sent_timestamp",
    "approximate_first_receive_timestamp", "approximate_receive_count",
)  # fmt: skip
_SELECT = "SELECT id, due, delayed, doc, crc FROM messages WHERE queue = ?"
_UPSERT = """INSERT INTO messages (id, queue, due, delayed, doc, crc, tenant) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
queue = excluded.queue, due = excluded.due, delayed = excluded.delayed, doc = excluded.doc, crc = excluded.crc"""
_DUE_BY_TENANT = """WITH RECURSIVE tenants (name) AS (
    SELECT min(tenant) FROM messages WHERE queue = ?1 UNION ALL
    SELECT (SELECT min(tenant) FROM messages WHERE queue = ?1 AND tenant > name) FROM tenants WHERE name IS NOT NULL
) SELECT name, (SELECT min(due) FROM messages WHERE queue = ?1 AND tenant = name) FROM tenants WHERE name IS NOT NULL"""
"""Each tenant of a queue, and when its first message is due: a few steps in an index for each, however many wait."""

_patches = Patches()


def now() -> float:
    """The time in milliseconds, as moto stamps messages."""
    return time.time() * 1000.0


class MessageStore:
    """The messages of one queue, in the place of moto's list `Queue._messages`; moto's code may still iterate it.

    They are rows of the database, in order of when they may next be received. A message that moves to another queue,
    as a dead letter does, does so in one transaction. Message groups, which are tenants, are served in turn.
    """

    def __init__(self, name: str) -> None:
        self._changed = threading.Condition()
        """Never held while the database is locked or asked: a transaction that sends messages wakes those who wait."""
        self._changes = 0
        self._turn, self._turns = 0, dict[str, int]()
        """The number of the last turn, and of the last one of each tenant."""
        self._running = Counter[str]()
        """How many messages of each tenant were received and not `finish`ed, where they are counted."""
        self._name = name
        self._database = database.current()

    def __iter__(self) -> Iterator[Message]:
        found = self._database.read(f"{_SELECT} ORDER BY due, number", self._name)
        return iter([self._message(*row) for row in found])

    def __len__(self) -> int:
        return int(self._database.one("SELECT count(*) FROM messages WHERE queue = ?", self._name)[0])

    def append(self, message: Message) -> None:
        """Store a message, or the new state of one; it can be received once it is neither delayed nor invisible."""
        self._store(message)
        self.wake()

    def wake(self) -> None:
        """Have all that wait for a message look again."""
        with self._changed:
            self._changes += 1
            self._changed.notify_all()

    def _store(self, message: Message) -> None:
        doc = pack([getattr(message, name) for name in _MEMBERS])
        crc = checksum(0, message.id.encode(), self._name.encode(), doc)
        due = max(message.visible_at, message.delayed_until)
        tenant = message.group_id or ""
        self._database.write(_UPSERT, message.id, self._name, due, message.delayed_until, doc, crc, tenant)

    def _message(self, number: str, due: float, delayed: float, doc: bytes, crc: int) -> Message:
        if checksum(0, number.encode(), self._name.encode(), doc) != crc:
            raise self._database.found_damaged(f"the message {number} of {self._name} differs from its checksum")
        message = Message(number, "")
        for name, value in zip(_MEMBERS, unpack(doc), strict=True):
            setattr(message, name, value)
        message.visible_at, message.delayed_until = due, delayed
        return message

    def next_due(self, share: int | None = None) -> float | None:
        """When the next message may be received, in milliseconds of `now()`."""
        return min((due for _, due in self._waiting(share)), default=None)

    def _waiting(self, share: int | None) -> list[tuple[str, float]]:
        """Each tenant with less than its share at work, and when its next message may be received."""
        found = self._database.read(_DUE_BY_TENANT, self._name)
        return [(name, due) for name, due in found if share is None or self._running[name] < share]

    def receive(self, queue: Queue, count: int, visibility: int, wait: float = 0.0,
             stopped: Callable[[], bool] = bool, share: int | None = None) -> list[Message]:  # fmt: skip
        """Receive up to `count` messages of a tenant, waiting for the first up to `wait` seconds or until `stopped()`.

        Of a tenant, `share` are received at most before they are `finish`ed.
        """
        deadline = now() + wait * 1000
        while True:
            with self._changed:
                seen = self._changes
            due, moment = self.next_due(share), now()
            if due is None or due > moment:
                if moment >= deadline or stopped():
                    return []
                # until then nothing happens, or `wake` says so
                latest = min(deadline, deadline if due is None else due)
                with self._changed:
                    if self._changes == seen:
                        self._changed.wait((latest - moment) / 1000 + 0.0005)
                continue
            taken = self._receive(queue, count, visibility, share)
            if taken:
                return taken

    def finish(self, messages: Iterable[Message]) -> None:
        """Received messages are not worked on any more, done or failed."""
        with self._database.transaction():
            self._running -= Counter(message.group_id or "" for message in messages)
        self.wake()

    def _receive(self, queue: Queue, count: int, visibility: int, share: int | None) -> list[Message]:
        moment = now()
        most = queue.redrive_policy["maxReceiveCount"] if queue.dead_letter_queue is not None else None
        expired = moment - queue.message_retention_period * 1000
        taken: list[Message] = []
        dead: list[Message] = []
        with self._database.transaction():
            ready = [(self._turns.get(name, 0), due, name) for name, due in self._waiting(share) if due <= moment]
            if not ready:  # another worker was faster
                return []
            *_, tenant = min(ready)
            self._turn += 1
            self._turns[tenant] = self._turn
            sql = f"{_SELECT} AND tenant = ? AND due <= ? ORDER BY due, number LIMIT ?"
            due = self._database.read(sql, self._name, tenant, moment, count)
            for message in (self._message(*row) for row in due):
                if message.sent_timestamp < expired:
                    self.remove(message)
                elif most is not None and message.approximate_receive_count >= most:
                    messages_of(queue.dead_letter_queue)._store(message)
                    dead.append(message)
                else:
                    message.mark_received(visibility_timeout=visibility)
                    message.receipt_handle = f"{message.id}{_HANDLE}{uuid.uuid4().hex}"
                    self._store(message)
                    taken.append(message)
            if share is not None:
                self._running[tenant] += len(taken)
        if dead:
            messages_of(queue.dead_letter_queue).wake()
        return taken

    def delete(self, handle: str) -> None:
        """Delete the message with this receipt handle, the latest or an earlier one; twice does no harm."""
        number = _id_in(handle)
        self._database.write("DELETE FROM messages WHERE id = ? AND queue = ?", number, self._name)
        self.wake()

    def remove(self, message: Message) -> None:
        """Remove a message, as from a list."""
        self._database.write("DELETE FROM messages WHERE id = ? AND queue = ?", message.id, self._name)

    def change_visibility(self, handle: str, seconds: int) -> None:
        """Let a received message be received again `seconds` from now."""
        with self._database.transaction():
            found = self._database.one(f"{_SELECT} AND id = ?", self._name, _id_in(handle))
            if found is None:
                raise ReceiptHandleIsInvalid
            message = self._message(*found)
            if now() + seconds * 1000 - message.sent_timestamp > LONGEST_VISIBILITY * 1000:
                raise InvalidParameterValue(
                    f"Value {seconds} for parameter VisibilityTimeout is invalid. Reason: Total "
                    "VisibilityTimeout for the message is beyond the limit [43200 seconds]"
                )
            message.visible_at = now() + seconds * 1000
            self._store(message)
        self.wake()

    def clear(self) -> None:
        """Delete every message."""
        self._database.write("DELETE FROM messages WHERE queue = ?", self._name)
        self.wake()

    def counts(self) -> tuple[int, int, int]:
        """How many messages can be received, are delayed, and are in flight."""
        moment = now()
        sql = "SELECT count(*), total(delayed > ?), total(due > ? AND delayed <= ?) FROM messages WHERE queue = ?"
        every, delayed, flying = self._database.one(sql, moment, moment, moment, self._name)
        return every - int(delayed) - int(flying), int(delayed), int(flying)


def release() -> int:
    """Make every message that a stopped process was working on receivable again; how many messages wait."""
    store, latest = database.current(), now() + MAXIMUM_MESSAGE_DELAY * 1000
    with store.transaction():
        # a clock that was set back must not delay a message for longer than SQS can
        store.write("UPDATE messages SET delayed = min(delayed, ?)", latest)
        store.write("UPDATE messages SET due = delayed")
    return int(store.one("SELECT count(*) FROM messages")[0])


def _id_in(handle: str) -> str:
    number, mark, _ = handle.partition(_HANDLE)
    if not mark:
        raise ReceiptHandleIsInvalid
    return number


def messages_of(queue: Queue) -> MessageStore:
    """The store of a standard queue made after `install`."""
    store = queue._messages
    if not isinstance(store, MessageStore):
        raise TypeError(f"{queue.name} is a FIFO queue, or older than the local stack")
    return store


def clear(queue: Queue) -> None:
    """Delete every message of a queue."""
    if isinstance(queue._messages, MessageStore):
        queue._messages.clear()
    else:
        queue._messages = []
    queue._pending_messages = set()


def install() -> None:
    """Change moto's SQS. Queues made before keep moto's own ways."""
    if _patches:
        return
    _patches.replace(Queue, "__init__", _with_shelf(Queue.__init__))
    _patches.replace(Queue, "add_message", _add_message(Queue.add_message))
    for index, name in enumerate(("", "_delayed", "_not_visible")):
        _count(f"approximate_number_of_messages{name}", index)
    for name, replacement in _BACKEND.items():
        _patches.replace(SQSBackend, name, replacement(getattr(SQSBackend, name)))


def uninstall() -> None:
    """Put moto back as it was."""
    _patches.undo()


def _with_shelf(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Queue, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        if not self.fifo_queue:
            self._messages = MessageStore(f"{self.region}/{self.name}")

    return init


def _add_message(original: Callable[..., None]) -> Callable[..., None]:
    def add_message(self: Queue, message: Message) -> None:
        if isinstance(self._messages, MessageStore):
            self._messages.append(message)
        else:
            original(self, message)

    return add_message


def _count(name: str, index: int) -> None:
    original = Queue.__dict__[name]

    def count(self: Queue) -> int:
        if isinstance(self._messages, MessageStore):
            return self._messages.counts()[index]
        number: int = original.fget(self)
        return number

    _patches.replace(Queue, name, property(count))


def _on_shelf(own: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A method of the backend that does standard queues itself and leaves FIFO queues to moto."""

    def replace(original: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: SQSBackend, queue_name: str, *args: Any, **options: Any) -> Any:
            queue = self.get_queue(queue_name)
            if not isinstance(queue._messages, MessageStore):
                return original(self, queue_name, *args, **options)
            return own(self, queue, *args, **options)

        return method

    return replace


def send(
    self: SQSBackend,
    queue: Queue,
    message_body: str,
    message_attributes: dict[str, Any] | None = None,
    delay_seconds: int | str | None = None,
    deduplication_id: str | None = None,
    group_id: str | None = None,
    system_attributes: dict[str, Any] | None = None,
    validate_group_id: bool = True,
) -> Message:
    """Send a message to a standard queue."""
    self._validate_message(queue, message_body, int(delay_seconds or 0), deduplication_id, group_id, validate_group_id)
    delay = int(queue.delay_seconds if delay_seconds is None else delay_seconds)
    if delay > MAXIMUM_MESSAGE_DELAY:
        raise InvalidParameterValue(
            f"Value {delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900."
        )
    message = Message(str(uuid.uuid4()), message_body, system_attributes)
    message.group_id = group_id
    if message_attributes:
        message.message_attributes = message_attributes
    message.mark_sent(delay_seconds=delay)
    queue.add_message(message)
    return message


def _receive(
    _: SQSBackend,
    queue: Queue,
    count: int,
    wait_seconds_timeout: int,
    visibility_timeout: int,
    message_attribute_names: list[str] | None = None,
) -> list[Message]:
    taken = messages_of(queue).receive(
        queue, int(count), int(visibility_timeout or 0), float(wait_seconds_timeout or 0)
    )
    for message in taken:
        _filter_message_attributes(message, message_attribute_names or [])
    return taken


def _delete(_: SQSBackend, queue: Queue, receipt_handle: str) -> None:
    messages_of(queue).delete(receipt_handle)


def _change_visibility(_: SQSBackend, queue: Queue, receipt_handle: str, visibility_timeout: int) -> None:
    messages_of(queue).change_visibility(receipt_handle, int(visibility_timeout))


def _purge(_: SQSBackend, queue: Queue) -> None:
    clear(queue)


_BACKEND = {
    "send_message": _on_shelf(send),
    "receive_message": _on_shelf(_receive),
    "delete_message": _on_shelf(_delete),
    "change_message_visibility": _on_shelf(_change_visibility),
    "purge_queue": _on_shelf(_purge),
}
