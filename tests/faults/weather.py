"""AWS on a bad day, by a seed: throttled, slow, half done, in conflict; queues that deliver twice and out of order.

    with weather(seed, rate) as faults:
        ...                                what runs here meets a fault in about `rate` of its calls
    faults.counts                          which faults, how often

What happens to a call depends on the seed and on how many calls of its name there were before it, so in one thread a
seed replays. Faults are those that AWS documents and that its clients are to expect:

    throttled       the call was not done; botocore has given up asking (its own retries are above)
    timed out       the call may have been done or not; no answer came
    unprocessed     BatchWriteItem and BatchGetItem leave out a part of what was asked
    conflict        TransactWriteItems is cancelled for another transaction that was under way

S3 has listed what was just written ever since December 2020, so listings are not delayed.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from contextlib import contextmanager

from botocore.client import BaseClient
from botocore.exceptions import ClientError, ReadTimeoutError

STREAMING = frozenset({"PutObject", "UploadPart", "GetObject"})
THROTTLES = {
    "dynamodb": "ProvisionedThroughputExceededException",
    "s3": "SlowDown",
    "sqs": "RequestThrottled",
    "kms": "ThrottlingException",
    "sesv2": "TooManyRequestsException",
}


class Weather:
    """Decides what happens to each call, and counts it."""

    def __init__(self, seed, rate, only=()):
        self.seed, self.rate = seed, rate
        self.only = frozenset(only)
        self.counts = Counter()
        self.calls = 0
        self._seen = Counter()
        self._lock = threading.Lock()

    def _dice(self, name):
        with self._lock:
            self._seen[name] += 1
            self.calls += 1
            word = f"{self.seed} {name} {self._seen[name]}"
        digest = hashlib.sha256(word.encode()).digest()
        return int.from_bytes(digest[:4], "big") / 2**32, digest[4]

    def call(self, do, client, name, arguments):
        """A call, with what becomes of it."""
        chance, which = self._dice(name)
        if chance > self.rate:
            return do(arguments)
        fault = self._choose(name, which)
        if self.only and fault not in self.only:
            return do(arguments)
        with self._lock:
            self.counts[fault] += 1
        return getattr(self, "_" + fault.replace(" ", "_"))(do, client, name, arguments)

    def _choose(self, name, which):
        choices = ["throttled", "timed out"]
        if name in ("BatchWriteItem", "BatchGetItem"):
            choices = ["unprocessed", "unprocessed", "throttled"]
        if name == "TransactWriteItems":
            choices = ["conflict", "conflict", "conflict", "throttled", "timed out"]
        return choices[which % len(choices)]

    def _throttled(self, do, client, name, arguments):
        code = THROTTLES.get(client.meta.service_model.service_name, "ThrottlingException")
        raise ClientError({"Error": {"Code": code, "Message": "the weather is bad"}}, name)

    def _timed_out(self, do, client, name, arguments):
        if name not in STREAMING and self._dice("after")[1] % 2:
            do(arguments)
        raise ReadTimeoutError(endpoint_url=client.meta.endpoint_url)

    def _unprocessed(self, do, client, name, arguments):
        kept, left = {}, {}
        for table, wanted in arguments["RequestItems"].items():
            items = wanted if name == "BatchWriteItem" else wanted["Keys"]
            half = max(1, len(items) // 2)
            wrap = (lambda part: part) if name == "BatchWriteItem" else (lambda part, w=wanted: {**w, "Keys": part})
            kept[table] = wrap(items[:half])
            if items[half:]:
                left[table] = wrap(items[half:])
        answer = do({**arguments, "RequestItems": kept})
        answer["UnprocessedItems" if name == "BatchWriteItem" else "UnprocessedKeys"] = left
        return answer

    def _conflict(self, do, client, name, arguments):
        count = len(arguments["TransactItems"])
        reasons = [{"Code": "TransactionConflict", "Message": "x"}, *[{"Code": "None"}] * (count - 1)]
        answer = {
            "Error": {"Code": "TransactionCanceledException", "Message": "Transaction cancelled"},
            "CancellationReasons": reasons,
        }
        raise ClientError(answer, name)


@contextmanager
def weather(seed, rate, only=()):
    """Every client of this process meets it."""
    faults = Weather(seed, rate, only)
    real = BaseClient._make_api_call
    BaseClient._make_api_call = lambda client, name, arguments: faults.call(
        lambda given: real(client, name, given), client, name, arguments
    )
    try:
        yield faults
    finally:
        BaseClient._make_api_call = real
