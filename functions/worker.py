"""The loop of every queue function around its handlers: `handler = worker({SendEmail: send})`.

    a message of unknown kind      reported as failed at once, so that it moves to the dead letters; no handler runs
    a handler that returns         the message is done; redeliveries within a day are skipped
    … raises `Retry(after=…)`      it comes back after that time
    … raises `GiveUp`, or an error of the request (400, 403, 404, 413)
                                   retrying cannot help: `on_poison` records the reason and the message is
                                   done; without an `on_poison` it moves to the dead letters
    … raises anything else         it comes back after a pause that doubles with each delivery; at the last delivery
                                   `on_poison` records the reason and the message moves to the dead letters
    … dies (killed, out of time)   it comes back after its visibility timeout, and the handler runs again:
                                   handlers are idempotent, this layer only skips finished messages. At the last
                                   delivery it is not run again after it died: `on_poison` records that. Where the
                                   last run itself died, one of the `BURIALS` deliveries after it does so

Messages of a batch fail individually (`ReportBatchItemFailures`).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Forbidden, LimnError, NotFound, TooLarge
from chalicelib.queues import Message, Unreadable, client, decode
from chalicelib.queues.base import of_tenant, tag_of, within
from chalicelib.settings import Settings, settings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig
    from aws_lambda_powertools.utilities.typing import LambdaContext

RECEIVES = 5
"""How often a message is delivered to its handler."""
BURIALS = 2
"""Deliveries after these, which run no handler and record that its runs died. `maxReceiveCount` of a queue counts both,
so that no message gets to the dead-letter queue before its reason is recorded."""
REMEMBERED = 24 * 3600
"""Seconds for which a finished message is remembered."""
FIRST_PAUSE = 2.0
LONGEST_PAUSE = 900.0
"""Seconds before a failed message is delivered again: the first time, and at most."""
STORED = (1.0, 3.0, 8.0, 28.0)
"""Seconds to wait for what a message was sent before, such as its record.

The sum is longer than API Gateway gives a request: after that it is stored or never will be.
"""
HOPELESS = (BadInput, Forbidden, NotFound, TooLarge)

KEY_PREFIX = "limn"
DONE, RUNNING, LEFT = "done", "running", "left"
"""States of a message's runs: finished, running, or neither returned nor raised in time."""

logger = Logger(service="limn")
NAMESPACE = "Limn"
"""The namespace of our metrics: log lines that CloudWatch reads, without a permission.

infra/stack/dashboard.py shows them.
"""


class Retry(Exception):
    """Deliver the message again in `after` seconds. It counts as a delivery."""

    def __init__(self, message: str = "not yet", *, after: float) -> None:
        super().__init__(message)
        self.after = after


class Busy(Retry):
    """Another run is handling the same message."""


class GiveUp(Exception):
    """The work cannot be done, now or later; the message gives the reason, for its requester."""


class Died(LimnError):
    """The last run ended without a result, where a run that fails says why: killed, out of memory, or out of time."""

    def __init__(self) -> None:
        super().__init__("The work was killed, or ran out of memory or time, each time that it was tried.")


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One delivery of a message to this function."""

    message_id: str
    queue_url: str
    receipt: str
    count: int
    """The number of this delivery of the message, from 1."""
    receives: int
    """The most deliveries of a message."""
    context: LambdaContext

    @property
    def is_last(self) -> bool:
        """Whether the message is given up unless this run succeeds."""
        return self.count >= self.receives

    @property
    def is_burial(self) -> bool:
        """Whether the last run ended without a result, or its message waits to be moved to the dead-letter queue."""
        return self.count > self.receives

    def seconds_left(self) -> float:
        """Seconds left in this invocation."""
        return self.context.get_remaining_time_in_millis() / 1000

    def wait_for(self, reason: str) -> None:
        """Raise Retry where what the message was sent before may still be stored."""
        if self.count <= len(STORED):
            raise Retry(reason, after=STORED[self.count - 1])

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Retry where a record is not found yet: messages are sent before their records. Later, NotFound is raised."""
        try:
            yield
        except NotFound as missing:
            self.wait_for(str(missing))
            raise

    def come_back(self, seconds: float) -> None:
        """Have the message delivered again after a pause instead of after its queue's visibility timeout."""
        try:
            client().change_message_visibility(
                QueueUrl=self.queue_url, ReceiptHandle=self.receipt, VisibilityTimeout=max(0, round(seconds))
            )
        except (ClientError, BotoCoreError) as failure:
            # the queue's own timeout applies then
            logger.warning("could not change when a message comes back", extra={"error": str(failure)})


Handler = Callable[[Any, Delivery], object]
Poison = Callable[[Any, Exception], object]
LambdaHandler = Callable[[dict[str, Any], Any], "PartialItemFailureResponse"]


def worker(
    handlers: Mapping[type[Message], Handler],
    *,
    on_poison: Poison | None = None,
    receives: int = RECEIVES,
    first_pause: float = FIRST_PAUSE,
    remembers: bool = True,
) -> LambdaHandler:
    """A Lambda handler for an SQS queue.

    Args:
        handlers: the handler of each kind of message. It may run again after an interrupted run.
        on_poison: called with a message that failed for good and the reason, to record it for its sender. Returns False
            where it could not, so that the dead-letter queue keeps it. It may be called more than once for a message.
        receives: deliveries to a handler; `maxReceiveCount` of the queue is larger by `BURIALS`.
        first_pause: seconds before the second delivery; each further pause is twice as long.
        remembers: whether finished messages are remembered and skipped. Without it a message costs no write; its
            handler holds a lease of its own, or does no harm when it runs twice.
    """

    def handle(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
        _count_cold_start(context)

        def run(record: SQSRecord) -> None:
            delivery = _delivery(record, receives, context)
            with of_tenant(record.attributes.get("MessageGroupId")):  # also what the handler sends
                _Attempt(handlers, on_poison, first_pause, delivery, remembers).run(record.body)

        processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
        return process_partial_response(event=event, record_handler=run, processor=processor, context=context)

    return handle


def _delivery(record: SQSRecord, receives: int, context: LambdaContext) -> Delivery:
    return Delivery(
        message_id=record.message_id,
        queue_url=_queue_url(record.event_source_arn),
        receipt=record.receipt_handle,
        count=int(record.attributes.approximate_receive_count or 1),
        receives=receives,
        context=context,
    )


def _queue_url(arn: str) -> str:
    """The URL of a queue of the service by its name; needs no permission to ask SQS for it."""
    name = arn.rpartition(":")[2]
    ours = [getattr(settings(), field) for field in Settings.__struct_fields__ if field.endswith("_queue_url")]
    return next((url for url in ours if url.rpartition("/")[2] == name), name)


@dataclass(frozen=True)
class _Attempt:
    """Handle one message of a batch. An exception reports it as failed."""

    handlers: Mapping[type[Message], Handler]
    on_poison: Poison | None
    first_pause: float
    delivery: Delivery
    remembers: bool = True

    def run(self, body: str) -> None:
        began = time.monotonic()
        try:
            message = decode(body, self.handlers)
        except Unreadable as failure:
            self._say("error", "unreadable message", error=str(failure), body=body[:1000])
            self.delivery.come_back(0)
            raise
        tag = tag_of(type(message))
        try:
            with within(message):
                self._handle(message)
        except Retry as wish:
            _count("MessagesDelayed", tag)
            self._say("info", "not yet", kind=tag, error=str(wish), after=wish.after)
            if self.delivery.is_last and not isinstance(wish, Busy):
                self._give_up(message, wish)
            self.delivery.come_back(wish.after)
            raise
        except (GiveUp, *HOPELESS) as reason:
            _count("MessagesGivenUp", tag)
            self._say("warning", "given up", kind=tag, error=str(reason))
            if self._give_up(message, reason):
                return
            self.delivery.come_back(0)
            raise
        except Exception as failure:
            _count("MessagesFailed", tag)
            logger.exception("failed", extra=self._extra(kind=tag))
            if self.delivery.is_last:
                self._give_up(message, failure)
            self.delivery.come_back(0 if self.delivery.is_last else self._pause())
            raise
        _count("MessagesDone", tag)
        self._say("info", "done", kind=tag, seconds=round(time.monotonic() - began, 3))

    def _handle(self, message: Message) -> None:
        """Run the handler unless the message is done, or another run of it is in progress.

        Raises:
            Busy: another run is in progress; it ends with its invocation at the latest.
            Died: the run before the last delivery did not end, and `on_poison` can record it; or the last one did not.
            Whatever the handler raises.
        """
        if not self.remembers:
            if self.delivery.is_burial:
                raise Died
            self.handlers[type(message)](message, self.delivery)
            return
        # 150 ms of imports that a cold start can skip
        from aws_lambda_powertools.utilities.idempotency import IdempotencyConfig, idempotent_function
        from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyAlreadyInProgressError

        config = IdempotencyConfig(
            expires_after_seconds=REMEMBERED, hash_function="sha256", lambda_context=self.delivery.context
        )

        def run(*, key: str) -> None:  # noqa: ARG001 powertools takes it from the call
            self.handlers[type(message)](message, self.delivery)

        once: Callable[..., None] = idempotent_function(
            run, data_keyword_argument="key", persistence_store=_store(), config=config, key_prefix=KEY_PREFIX
        )
        key = message.idempotency_key()
        if message.generation:
            key = f"{key}#{message.generation}"
        state = _state(key, config) if self.delivery.is_last else ""
        if self.delivery.is_burial and state not in (DONE, RUNNING):
            raise Died
        if self.delivery.is_last and self.on_poison and state == LEFT:
            raise Died
        try:
            once(key=key)
        except IdempotencyAlreadyInProgressError as failure:
            raise Busy("another run goes on", after=self.delivery.seconds_left() + 1) from failure

    def _give_up(self, message: Message, reason: Exception) -> bool:
        """Record the reason; returns whether that worked."""
        if self.on_poison is None:
            return False
        try:
            return self.on_poison(message, reason) is not False
        except Exception:
            logger.exception("could not record a failure", extra=self._extra())
            return False

    def _pause(self) -> float:
        """A pause that doubles with each delivery, with jitter, so that failures do not come back together."""
        whole = min(LONGEST_PAUSE, self.first_pause * 2 ** (self.delivery.count - 1))
        return random.uniform(whole / 2, whole)  # noqa: S311 no secret

    def _say(self, level: str, message: str, **more: Any) -> None:
        getattr(logger, level)(message, extra=self._extra(**more), stacklevel=3)

    def _extra(self, **more: Any) -> dict[str, Any]:
        delivery = self.delivery
        return {"sqs_message": delivery.message_id, "delivery": delivery.count, **more}


def _count(name: str, tag: str) -> None:
    """Count a message under its kind: `transcode.piece.1` done is the number of encoded pieces."""
    _measure(name, "kind", tag)


_warm: set[str] = set()


def _count_cold_start(context: LambdaContext) -> None:
    """Made once in a container."""
    if context.function_name not in _warm:
        _warm.add(context.function_name)
        _measure("ColdStart", "function_name", context.function_name)


def _measure(name: str, dimension: str, value: str) -> None:
    stage = os.environ.get("LIMN_STAGE", "local")
    with single_metric(
        name=name, unit=MetricUnit.Count, value=1, namespace=NAMESPACE, default_dimensions={"stage": stage}
    ) as metric:
        metric.add_dimension(name=dimension, value=value)


@lru_cache(maxsize=1)
def _store() -> DynamoDBPersistenceLayer:
    import boto3
    from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer
    from botocore.config import Config

    config = Config(connect_timeout=2, read_timeout=10, retries={"max_attempts": 5, "mode": "standard"})
    table = boto3.client("dynamodb", endpoint_url=settings().aws_endpoint or None, config=config)
    return DynamoDBPersistenceLayer(settings().idempotency_table, expiry_attr="expires", boto3_client=table)


def _state(key: str, config: IdempotencyConfig) -> str:
    """What is remembered of the runs of a message: `DONE`, `RUNNING`, `LEFT` or nothing."""
    from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyItemNotFoundError

    store = _store()
    store.configure(config, key_prefix=KEY_PREFIX)
    try:
        found = store.get_record(data=key)  # type: ignore[arg-type]  # hashed as any data is
    except IdempotencyItemNotFoundError:
        return ""
    if found is None or found.status == "EXPIRED":
        return ""
    if found.status != "INPROGRESS":
        return DONE
    return LEFT if (found.in_progress_expiry_timestamp or 0) < clock.seconds() * 1000 else RUNNING
