"""moto's SQS made flat: the messages of a queue by when they may next be received.

moto walks through all messages of a queue to send, receive, delete or count; and a long poll looks once a second. Here
a queue's messages are a heap by the time they become visible, and a condition wakes those who wait as soon as there is
something to do. FIFO queues keep moto's own ways.
"""

# ruff: noqa: SLF001 -- what is kept here has no public name in moto
from __future__ import annotations

import copy
import heapq
import itertools
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from moto.sqs.exceptions import InvalidParameterValue, ReceiptHandleIsInvalid
from moto.sqs.models import MAXIMUM_MESSAGE_DELAY, Message, Queue, SQSBackend, _filter_message_attributes

LONGEST_VISIBILITY = 43_200
"""Seconds since it was sent after which a message cannot be kept invisible any longer (12 hours)."""
REMEMBERED_DELETIONS = 10_000

_order = itertools.count()
_originals: list[tuple[Any, str, Any]] = []


def now() -> float:
    """The time in milliseconds, as moto stamps messages."""
    return time.time() * 1000.0


class Shelf:
    """The messages of one queue, in the place of moto's list `Queue._messages`; moto's code may still iterate it."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._messages: dict[str, Message] = {}
        self._due: list[tuple[float, int, str]] = []
        self._entry: dict[str, int] = {}
        """Message id → number of its valid entry in `_due`; older entries are stale."""
        self._handles: dict[str, str] = {}
        self._deleted: dict[str, None] = {}

    def __iter__(self) -> Iterator[Message]:
        with self.changed:
            return iter(list(self._messages.values()))

    def __len__(self) -> int:
        return len(self._messages)

    def append(self, message: Message) -> None:
        """Add a message; it can be received once it is neither delayed nor invisible."""
        with self.changed:
            self._messages[message.id] = message
            for handle in message.all_receipt_handles:
                if handle:
                    self._handles[handle] = message.id
            self._schedule(message)
            self.changed.notify_all()

    def _schedule(self, message: Message) -> None:
        number = next(_order)
        self._entry[message.id] = number
        heapq.heappush(self._due, (max(message.visible_at, message.delayed_until), number, message.id))

    def _peek(self) -> float | None:
        """When the next message may be received."""
        while self._due and self._entry.get(self._due[0][2]) != self._due[0][1]:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else None

    def next_due(self) -> float | None:
        """When the next message may be received, in milliseconds of `now()`."""
        with self.changed:
            return self._peek()

    def take(self, queue: Queue, count: int, visibility: int, wait: float = 0.0,
             stopped: Callable[[], bool] = bool) -> list[Message]:  # fmt: skip
        """Receive up to `count` messages, waiting for the first up to `wait` seconds or until `stopped()`."""
        deadline = now() + wait * 1000
        while True:
            with self.changed:
                taken, dead = self._take(queue, count, visibility)
                if not taken and not dead:
                    moment = now()
                    if moment >= deadline or stopped():
                        return []
                    due = self._peek()
                    self.changed.wait(
                        max(0.0, min(deadline, deadline if due is None else due) - moment) / 1000 + 0.0005
                    )
            for message in dead:
                queue.dead_letter_queue.add_message(message)
            if taken:
                return taken

    def _take(self, queue: Queue, count: int, visibility: int) -> tuple[list[Message], list[Message]]:
        moment = now()
        most = queue.redrive_policy["maxReceiveCount"] if queue.dead_letter_queue is not None else None
        expired = moment - queue.message_retention_period * 1000
        taken: list[Message] = []
        dead: list[Message] = []
        while len(taken) < count and (due := self._peek()) is not None and due <= moment:
            message = self._messages[heapq.heappop(self._due)[2]]
            del self._entry[message.id]
            if message.sent_timestamp < expired:
                self._forget(message)
            elif most is not None and message.approximate_receive_count >= most:
                self._forget(message)
                dead.append(message)
            else:
                taken.append(message)
        for message in taken:
            message.mark_received(visibility_timeout=visibility)
            self._handles[message.receipt_handle] = message.id
            self._schedule(message)
        return [copy.copy(message) for message in taken], dead

    def _forget(self, message: Message) -> None:
        del self._messages[message.id]
        self._entry.pop(message.id, None)
        for handle in message.all_receipt_handles:
            self._handles.pop(handle, None)

    def _held(self, handle: str) -> Message:
        message = self._messages.get(self._handles.get(handle, ""))
        if message is None:
            raise ReceiptHandleIsInvalid
        return message

    def delete(self, handle: str) -> None:
        """Delete the message with this receipt handle, the latest or an earlier one; twice does no harm."""
        with self.changed:
            if handle in self._deleted:
                return
            message = self._held(handle)
            for each in message.all_receipt_handles:
                if each:
                    self._deleted[each] = None
            while len(self._deleted) > REMEMBERED_DELETIONS:
                del self._deleted[next(iter(self._deleted))]
            self._forget(message)
            self.changed.notify_all()

    def remove(self, message: Message) -> None:
        """Remove a message, as from a list."""
        with self.changed:
            self._forget(message)

    def change_visibility(self, handle: str, seconds: int) -> None:
        """Let a received message be received again `seconds` from now."""
        with self.changed:
            message = self._held(handle)
            if now() + seconds * 1000 - message.sent_timestamp > LONGEST_VISIBILITY * 1000:
                raise InvalidParameterValue(
                    f"Value {seconds} for parameter VisibilityTimeout is invalid. Reason: Total "
                    "VisibilityTimeout for the message is beyond the limit [43200 seconds]"
                )
            message.visible_at = now() + seconds * 1000
            self._schedule(message)
            self.changed.notify_all()

    def clear(self) -> None:
        """Delete every message."""
        with self.changed:
            self._messages.clear()
            self._due.clear()
            self._entry.clear()
            self._handles.clear()
            self.changed.notify_all()

    def counts(self) -> tuple[int, int, int]:
        """How many messages can be received, are delayed, and are in flight."""
        moment = now()
        delayed = flying = 0
        messages = list(self)
        for message in messages:
            delayed += message.delayed_until > moment
            flying += message.visible_at > moment
        return len(messages) - delayed - flying, delayed, flying


def shelf_of(queue: Queue) -> Shelf:
    """The shelf of a standard queue made after `install`."""
    shelf = queue._messages
    if not isinstance(shelf, Shelf):
        raise TypeError(f"{queue.name} is a FIFO queue, or older than the local stack")
    return shelf


def clear(queue: Queue) -> None:
    """Delete every message of a queue."""
    if isinstance(queue._messages, Shelf):
        queue._messages.clear()
    else:
        queue._messages = []
    queue._pending_messages = set()


def install() -> None:
    """Change moto's SQS. Queues made before keep moto's own ways."""
    if _originals:
        return
    _replace(Queue, "__init__", _with_shelf)
    _replace(Queue, "add_message", _add_message)
    for index, name in enumerate(("", "_delayed", "_not_visible")):
        _count(f"approximate_number_of_messages{name}", index)
    for name, replacement in _BACKEND.items():
        _replace(SQSBackend, name, replacement)


def uninstall() -> None:
    """Put moto back as it was."""
    while _originals:
        target, name, original = _originals.pop()
        setattr(target, name, original)


def _replace(target: Any, name: str, replacement: Callable[..., Any]) -> None:
    original = getattr(target, name)
    _originals.append((target, name, original))
    setattr(target, name, replacement(original))


def _with_shelf(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Queue, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        if not self.fifo_queue:
            self._messages = Shelf()

    return init


def _add_message(original: Callable[..., None]) -> Callable[..., None]:
    def add_message(self: Queue, message: Message) -> None:
        if isinstance(self._messages, Shelf):
            self._messages.append(message)
        else:
            original(self, message)

    return add_message


def _count(name: str, index: int) -> None:
    original = Queue.__dict__[name]

    def count(self: Queue) -> int:
        if isinstance(self._messages, Shelf):
            return self._messages.counts()[index]
        number: int = original.fget(self)
        return number

    _originals.append((Queue, name, original))
    setattr(Queue, name, property(count))


def _on_shelf(own: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A method of the backend that does standard queues itself and leaves FIFO queues to moto."""

    def replace(original: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: SQSBackend, queue_name: str, *args: Any, **options: Any) -> Any:
            queue = self.get_queue(queue_name)
            if not isinstance(queue._messages, Shelf):
                return original(self, queue_name, *args, **options)
            return own(self, queue, *args, **options)

        return method

    return replace


def _send(
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
    taken = shelf_of(queue).take(queue, int(count), int(visibility_timeout or 0), float(wait_seconds_timeout or 0))
    for message in taken:
        _filter_message_attributes(message, message_attribute_names or [])
    return taken


def _delete(_: SQSBackend, queue: Queue, receipt_handle: str) -> None:
    shelf_of(queue).delete(receipt_handle)


def _change_visibility(_: SQSBackend, queue: Queue, receipt_handle: str, visibility_timeout: int) -> None:
    shelf_of(queue).change_visibility(receipt_handle, int(visibility_timeout))


def _purge(_: SQSBackend, queue: Queue) -> None:
    clear(queue)


_BACKEND = {
    "send_message": _on_shelf(_send),
    "receive_message": _on_shelf(_receive),
    "delete_message": _on_shelf(_delete),
    "change_message_visibility": _on_shelf(_change_visibility),
    "purge_queue": _on_shelf(_purge),
}
