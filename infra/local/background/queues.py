"""What Lambda's event source mappings do: take messages off the queues and run the queue functions on them.

Every worker thread takes a batch, calls its function with the event that Lambda would build, and deletes what the
function did not report as failed. The rest comes back when its visibility time-out ends, with a higher
`ApproximateReceiveCount`, until the queue's redrive policy moves it to the dead-letter queue.
"""

from __future__ import annotations

import base64
import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.sqs.models import Message, Queue, sqs_backends

from infra.emulator.sqlite.integrity import CannotStore, Damaged
from infra.emulator.sqs import messages_of

Handler = Callable[[dict[str, Any], Any], Any]

LONGEST_WAIT = 20.0
"""Seconds after which an idle worker looks again of its own accord."""
LARGEST_BATCH = 10
PAUSE = 1.0
"""Seconds until a worker tries again where nothing can be stored."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class EventSourceMapping:
    """A queue and the function that works on it."""

    queue_url: str
    handler: Handler
    name: str = "function"
    """The function's name, as its context and the log have it."""
    batch_size: int = 1
    concurrency: int = 2
    """How many batches run at once."""
    share: int | None = None
    """How many of them may be of one tenant; None for all."""
    visibility_timeout: int | None = None
    """Seconds until an unfinished message comes back; None takes the queue's own."""
    timeout: float = 900.0
    """Seconds the function believes to have. Nothing stops it when they are over."""
    memory: int = 2048
    """MB the function believes to have."""


@dataclass(frozen=True)
class Context:
    """The context object of one invocation."""

    function_name: str
    memory_limit_in_mb: int
    invoked_function_arn: str
    deadline: float
    """In seconds of `time.monotonic()`."""
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    function_version: str = "$LATEST"
    log_stream_name: str = "local"

    @property
    def log_group_name(self) -> str:
        """Where Lambda would put the log."""
        return f"/aws/lambda/{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """The time left to the function."""
        return max(0, int((self.deadline - time.monotonic()) * 1000))


def join(threads: Sequence[threading.Thread], timeout: float | None) -> list[threading.Thread]:
    """Join threads with a timeout in seconds; None waits forever. Returns the threads that still run."""
    end = None if timeout is None else time.monotonic() + timeout
    for thread in threads:
        thread.join(None if end is None else max(0.0, end - time.monotonic()))
    return [thread for thread in threads if thread.is_alive()]


class Pollers:
    """Worker threads for a number of sources, from `start` to `stop`."""

    def __init__(self, sources: Iterable[EventSourceMapping], *, region: str = "us-east-1") -> None:
        self.sources = tuple(sources)
        self.region = region
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._busy = 0
        self._idle = threading.Condition()

    def start(self) -> None:
        """Begin to poll. The queues must exist."""
        self._stopping.clear()
        for source in self.sources:
            queue = queue_of(source.queue_url, self.region)
            for number in range(source.concurrency):
                thread = threading.Thread(
                    target=self._work, args=(source, queue), name=f"{source.name}-{number}", daemon=True
                )
                self._threads.append(thread)
                thread.start()

    def stop(self, timeout: float | None = None) -> bool:
        """Take no more messages and wait for the running functions.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes.

        Returns:
            Whether all have finished. A message whose function has not is in flight and will come back.
        """
        self._stopping.set()
        for source in self.sources:
            messages_of(queue_of(source.queue_url, self.region)).wake()
        self._threads = join(self._threads, timeout)
        return not self._threads

    def wait_until_idle(self, timeout: float = 60.0) -> bool:
        """Wait until no source has a message that is waiting, delayed or in flight and no function runs.

        Returns:
            Whether it came to that in time.
        """
        deadline = time.monotonic() + timeout
        stores = [messages_of(queue_of(source.queue_url, self.region)) for source in self.sources]
        with self._idle:
            while self._busy or any(map(len, stores)):
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._idle.wait(min(left, 0.05))
        return True

    def _work(self, source: EventSourceMapping, queue: Queue) -> None:
        store = messages_of(queue)
        while not self._stopping.is_set():
            visibility = queue.visibility_timeout if source.visibility_timeout is None else source.visibility_timeout
            size = min(source.batch_size, LARGEST_BATCH)
            try:
                messages = store.receive(queue, size, visibility, LONGEST_WAIT, self._stopping.is_set, source.share)
            except (CannotStore, Damaged):  # its receipt must be stored before a message is worked on
                self._stopping.wait(PAUSE)
                continue
            if not messages:
                continue
            with self._idle:
                self._busy += 1
            try:
                run(source, queue, messages)
            finally:
                if source.share is not None:
                    store.finish(messages)
                with self._idle:
                    self._busy -= 1
                    self._idle.notify_all()


def run(source: EventSourceMapping, queue: Queue, messages: Sequence[Message]) -> None:
    """Call a function on a batch it has received, and delete what it has done."""
    function = f"arn:aws:lambda:{queue.region}:{queue.account_id}:function:{source.name}"
    context = Context(source.name, source.memory, function, time.monotonic() + source.timeout)
    try:
        answer = source.handler(event_of(queue, messages), context)
        failed = failures(answer, {message.id for message in messages})
    except BaseException:  # a function that dies must not take its poller along, however it died
        log.exception("%s failed on %s", source.name, ", ".join(message.id for message in messages))
        return
    for message in messages:
        if message.id not in failed:
            try:
                messages_of(queue).delete(message.receipt_handle)
            except (CannotStore, Damaged):  # it comes back, and its function finds it done
                log.warning("%s could not be deleted", message.id)


def failures(answer: Any, given: set[str]) -> set[str]:
    """The ids of the messages that a function's answer reports as failed, as Lambda reads it.

    Nothing reported means that all went well, anything unintelligible that all failed.
    """
    if not isinstance(answer, dict) or not answer.get("batchItemFailures"):
        return set()
    reported = answer["batchItemFailures"]
    if not isinstance(reported, list):
        return given
    failed = {item.get("itemIdentifier") if isinstance(item, dict) else None for item in reported}
    return {str(each) for each in failed} if failed <= given else given


def queue_of(url: str, region: str) -> Queue:
    """The queue in moto for a queue URL. Raises moto.sqs.exceptions.QueueDoesNotExist: there is none."""
    return sqs_backends[DEFAULT_ACCOUNT_ID][region].get_queue(url.rsplit("/", 1)[-1])


def event_of(queue: Queue, messages: Sequence[Message]) -> dict[str, Any]:
    """The event that Lambda hands to a function for a batch of messages."""
    event: dict[str, Any] = json.loads(json.dumps({"Records": [_record(queue, message) for message in messages]}))
    return event


def _record(queue: Queue, message: Message) -> dict[str, Any]:
    attributes = {
        "ApproximateReceiveCount": str(message.approximate_receive_count),
        "SentTimestamp": str(message.sent_timestamp),
        "SenderId": message.sender_id,
        "ApproximateFirstReceiveTimestamp": str(message.approximate_first_receive_timestamp),
    }
    if message.group_id is not None:
        attributes["MessageGroupId"] = message.group_id
    trace = message.system_attributes.get("AWSTraceHeader")
    if trace:
        attributes["AWSTraceHeader"] = trace.get("StringValue", "")
    return {
        "messageId": message.id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": attributes,
        "messageAttributes": {name: _attribute(value) for name, value in message.message_attributes.items()},
        "md5OfBody": message.body_md5,
        "eventSource": "aws:sqs",
        "eventSourceARN": queue.queue_arn,
        "awsRegion": queue.region,
    }


def _attribute(given: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = {"stringListValues": [], "binaryListValues": [], "dataType": given["DataType"]}
    if given.get("StringValue") is not None:
        value["stringValue"] = given["StringValue"]
    if given.get("BinaryValue") is not None:
        binary = given["BinaryValue"]
        value["binaryValue"] = binary if isinstance(binary, str) else base64.b64encode(binary).decode()
    return value
