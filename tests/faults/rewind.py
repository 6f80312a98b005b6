"""AWS as it was, again and again: a state to which everything can be put back in a millisecond.

Rows are undone from a journal of their changes, so it does not matter how much else is stored. `restart` forgets what
a process keeps in memory: what runs afterwards is a new container.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from moto.s3.models import FakeKey

from chalicelib.services import project_counts, streams
from chalicelib.settings import settings
from chalicelib.storage import entities, entity_rows, log, views
from infra.local import aws, dynamo_rows
from infra.local.aws import ses_backends, sqs_backends
from infra.local.sqs import shelf_of


class Rewind:
    """What changed since `mark`, and the way back."""

    def __init__(self):
        self._journal = []
        self._buckets = {}

    def listen(self, changes):
        self._journal += changes

    def mark(self):
        """From here on: this is where `back` leads."""
        self._journal.clear()
        self._buckets = {
            bucket.name: (dict(bucket.keys.lists()), dict(bucket.multiparts.items())) for bucket in _buckets()
        }
        self._mails = [len(mail.sent_messages) for mail in _mails()]
        self._empty_queues()

    def back(self):
        """Put everything back, and restart."""
        for rows, partition, sort, old, _ in reversed(self._journal):
            rows.store(partition, sort, old)
        self._journal.clear()
        for bucket in _buckets():
            keys, uploads = self._buckets.get(bucket.name, ({}, {}))
            dict.clear(bucket.keys)
            for key, versions in keys.items():
                dict.__setitem__(bucket.keys, key, list(versions))
            dict.clear(bucket.multiparts)
            dict.update(bucket.multiparts, uploads)
        for mail, count in zip(_mails(), self._mails, strict=True):
            del mail.sent_messages[count:]
        self._empty_queues()
        restart()

    @contextmanager
    def aside(self):
        """Whatever is done within is undone at its end, and what was before it stands again."""
        journal, objects_ = (
            list(self._journal),
            [(b, dict(b.keys.lists()), dict(b.multiparts.items())) for b in _buckets()],
        )
        waiting = [(queue, list(shelf_of(queue))) for queue in _queues()]
        mails = [list(mail.sent_messages) for mail in _mails()]
        try:
            yield
        finally:
            self.back()
            for rows, partition, sort, _, new in journal:
                rows.store(partition, sort, new)
            self._journal = journal
            for bucket, keys, uploads in objects_:
                dict.clear(bucket.keys)
                dict.update(bucket.keys, keys)
                dict.clear(bucket.multiparts)
                dict.update(bucket.multiparts, uploads)
            for queue, messages in waiting:
                for message in messages:
                    shelf_of(queue).append(message)
            for mail, sent in zip(_mails(), mails, strict=True):
                mail.sent_messages[:] = sent

    def changed(self):
        """The rows that are not as they were: (table, partition key, sort key) → (row before, row now), unpacked."""
        first, now = {}, {}
        for rows, partition, sort, old, new in self._journal:
            first.setdefault((rows, partition, sort), old)
            now[rows, partition, sort] = new
        unpack = dynamo_rows.unpack
        return {
            (rows.table, partition, sort): (
                old and unpack(old),
                now[rows, partition, sort] and unpack(now[rows, partition, sort]),
            )
            for (rows, partition, sort), old in first.items()
            if old != now[rows, partition, sort]
        }

    def new_objects(self):
        """(bucket, key) of the objects that were not there, and of the uploads begun."""
        found = set()
        for bucket in _buckets():
            keys, uploads = self._buckets.get(bucket.name, ({}, {}))
            found |= {(bucket.name, key) for key, _ in bucket.keys.lists() if key not in keys}
            found |= {
                (bucket.name, f"upload of {upload.key_name}")
                for name, upload in bucket.multiparts.items()
                if name not in uploads
            }
        return found

    def messages(self):
        """The bodies of all messages that wait, by the name of their queue."""
        return [(queue.name, message.body) for queue in _queues() for message in shelf_of(queue)]

    def mails(self):
        return [mail.sent_messages[count:] for mail, count in zip(_mails(), self._mails, strict=True)]

    def set_counters(self, numbers):
        """Give the counters of ids values, as if so many had been taken before."""
        table = next(rows for rows in _tables() if rows.table == settings().counters_table)
        for name, value in numbers.items():
            row = table.get(name, "@")
            native = dynamo_rows.unpack(row) if row else {"pk": {"S": name}, "sk": {"S": "@"}}
            native["n"] = {"N": str(value)}
            table.put(name, "@", dynamo_rows.pack(native))

    def counters(self):
        """The last number given out of every kind of ids."""
        table = next(rows for rows in _tables() if rows.table == settings().counters_table)
        return {
            partition: int(dynamo_rows.unpack(row)["n"]["N"])
            for partition, _, row in table.snapshot()
            if partition.startswith("ids|")
        }

    def _empty_queues(self):
        for queue in _queues():
            shelf_of(queue).clear()


def restart():
    """Forget what a process keeps in memory."""
    entity_rows._pool.shutdown(wait=True, cancel_futures=True)
    entity_rows._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="entities")
    entities._visible.clear()
    log._hints.clear()
    project_counts._known.clear()
    with views._views._lock:
        views._views._views.clear()
        views._views._refreshes.clear()
    for name in vars(streams).values():
        if hasattr(name, "cache_clear") and getattr(name, "__module__", "") == streams.__name__:
            name.cache_clear()


@contextmanager
def rewinding():
    """A `Rewind` that listens; at the end everything is as it was at the beginning of the last `mark`."""
    undo = Rewind()
    dispose = FakeKey.dispose
    # moto closes the content of what is replaced or removed; here it may come back
    FakeKey.dispose = lambda self, garbage=False: None
    dynamo_rows.listeners.append(undo.listen)
    try:
        yield undo
    finally:
        dynamo_rows.listeners.remove(undo.listen)
        FakeKey.dispose = dispose
        restart()


def _tables():
    for backend in aws._backends(aws.dynamodb_backends):
        for table in backend.tables.values():
            yield table.items


def _buckets():
    for store in aws._backends(aws.s3_backends):
        yield from store.buckets.values()


def _queues():
    for backend in aws._backends(sqs_backends):
        yield from backend.queues.values()


def _mails():
    return list(aws._backends(ses_backends))
