"""AWS as it was, again and again: a state to which everything can be put back in a millisecond.

Rows are undone from a journal of their changes, so it does not matter how much else is stored. `restart` forgets what
a process keeps in memory: what runs afterwards is a new container.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from moto.s3.models import FakeKey

from chalicelib.resources.annotations import creation
from chalicelib.resources.media import streams
from chalicelib.resources.projects import counts as projects_counts
from chalicelib.resources.webhooks import delivery
from chalicelib.settings import settings
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import entities, entity_rows, ids, limits
from chalicelib.storage.log import log, wakeups
from chalicelib.storage.view import views
from infra.emulator import aws
from infra.emulator.aws import ses_backends, sqs_backends
from infra.emulator.dynamodb import rows as dynamo_rows
from infra.emulator.sqlite.database import pack, unpack
from infra.emulator.sqs import messages_of


class Rewind:
    """What changed since `mark`, and the way back. Marks nest: see `within`."""

    def __init__(self):
        self._journal = []
        """What changed since the last mark: (rows, partition, sort, old, new)."""
        self._earlier = []
        """What changed before it, since the present `within` began."""
        self._objects = {}
        self._mails = []

    def listen(self, changes):
        self._journal += changes

    def mark(self):
        """From here on: this is where `back` leads."""
        self._earlier += self._journal
        self._journal.clear()
        self._objects = {bucket.name: _Objects(store, bucket) for store, bucket in _buckets()}
        self._mails = [len(mail.sent_messages) for mail in _mails()]
        self._empty_queues()

    def back(self):
        """Put everything back, and restart."""
        self._undo(self._journal)
        for store, bucket in _buckets():
            self._objects.get(bucket.name, _NOTHING).put_back(store, bucket)
        for mail, count in zip(_mails(), self._mails, strict=True):
            del mail.sent_messages[count:]
        self._empty_queues()
        restart()

    @contextmanager
    def within(self):
        """What is done and marked within is undone at its end, and `back` leads where it led before."""
        journal, earlier, objects_, mails = self._journal, self._earlier, self._objects, self._mails
        waiting = self.messages()
        self._journal, self._earlier = [], []
        self.mark()
        begun = self._objects, self._mails
        try:
            yield
        finally:
            self._undo(self._journal)
            self._journal, (self._objects, self._mails) = self._earlier, begun
            self.back()
            self._journal, self._earlier, self._objects, self._mails = journal, earlier, objects_, mails
            self.put(waiting)

    @contextmanager
    def aside(self):
        """What is done within is undone at its end, and what was before it stands again; `back` leads where it led."""
        journal = list(self._journal)
        objects_ = [(store, bucket, _Objects(store, bucket)) for store, bucket in _buckets()]
        waiting = [(queue, list(messages_of(queue))) for queue in _queues()]
        mails = [list(mail.sent_messages) for mail in _mails()]
        try:
            yield
        finally:
            self.back()
            for rows, partition, sort, _, new in journal:
                rows.store(partition, sort, new)
            self._journal = journal
            for store, bucket, kept in objects_:
                kept.put_back(store, bucket)
            for queue, messages in waiting:
                for message in messages:
                    messages_of(queue).append(message)
            for mail, sent in zip(_mails(), mails, strict=True):
                mail.sent_messages[:] = sent

    def put(self, messages):
        """Put messages into their queues, as `messages` gives them."""
        for queue, body in messages:
            for backend in aws._backends(sqs_backends):
                if queue in backend.queues:
                    backend.send_message(queue, body)

    @staticmethod
    def _undo(journal):
        for rows, partition, sort, old, _ in reversed(journal):
            rows.store(partition, sort, old)
        journal.clear()

    def changed(self):
        """The rows that are not as they were: (table, partition key, sort key) → (row before, row now), unpacked."""
        first, now = {}, {}
        for rows, partition, sort, old, new in self._journal:
            first.setdefault((rows, partition, sort), old)
            now[rows, partition, sort] = new
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
        for _, bucket in _buckets():
            before = self._objects.get(bucket.name, _NOTHING)
            found |= {(bucket.name, key) for key, _ in bucket.keys.lists() if key not in before.keys}
            found |= {
                (bucket.name, f"upload of {upload.key_name}")
                for name, upload in bucket.multiparts.items()
                if name not in before.uploads
            }
        return found

    def messages(self):
        """The bodies of all messages that wait, by the name of their queue."""
        return [(queue.name, message.body) for queue in _queues() for message in messages_of(queue)]

    def mails(self):
        return [mail.sent_messages[count:] for mail, count in zip(_mails(), self._mails, strict=True)]

    def set_counters(self, numbers):
        """Give the counters of ids values, as if so many had been taken before."""
        table = next(rows for rows in _tables() if rows.table == settings().counters_table)
        for name, value in numbers.items():
            row = table.get(name, "@")
            native = unpack(row) if row else {"pk": {"S": name}, "sk": {"S": "@"}}
            native["n"] = {"N": str(value)}
            table.put(name, "@", pack(native))
        ids.forget()

    def counters(self):
        """The last number given out of every kind of ids."""
        table = next(rows for rows in _tables() if rows.table == settings().counters_table)
        return {
            partition: int(unpack(row)["n"]["N"])
            for partition, _, row in table.snapshot()
            if partition.startswith("ids|")
        }

    def _empty_queues(self):
        for queue in _queues():
            messages_of(queue).clear()


class _Objects:
    """What a bucket has: its objects with what may be changed of them in place, and its uploads."""

    def __init__(self, store=None, bucket=None):
        self.keys = {name: list(versions) for name, versions in bucket.keys.lists()} if bucket else {}
        self.uploads = dict(bucket.multiparts.items()) if bucket else {}
        self._tags = {arn: dict(tags) for arn, tags in store.tagger.tags.items()} if store else {}
        every = [key for versions in self.keys.values() for key in versions if isinstance(key, FakeKey)]
        self._places = [(key, key._storage_class, key._expiry) for key in every]

    def put_back(self, store, bucket):
        dict.clear(bucket.keys)
        for name, versions in self.keys.items():
            dict.__setitem__(bucket.keys, name, list(versions))
        dict.clear(bucket.multiparts)
        dict.update(bucket.multiparts, self.uploads)
        for key, storage_class, expiry in self._places:
            key._storage_class, key._expiry = storage_class, expiry
        for arn in [arn for arn in store.tagger.tags if arn.startswith(f"{bucket.arn}/")]:
            del store.tagger.tags[arn]
        mine = {arn: dict(tags) for arn, tags in self._tags.items() if arn.startswith(f"{bucket.arn}/")}
        store.tagger.tags.update(mine)


_NOTHING = _Objects()


def restart():
    """Forget what a process keeps in memory."""
    entity_rows._pool.shutdown(wait=True, cancel_futures=True)
    entity_rows._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="entities")
    entities._visible.clear()
    ids.forget()
    chain._heads.clear()
    limits._counts.clear()
    creation._firsts.clear()
    log._hints.clear()
    log._watched.clear()
    wakeups._sent.clear()
    projects_counts._known.clear()
    delivery._unseal.cache_clear()
    with views._views._lock:
        views._views._views.clear()
        views._views._refreshes.clear()
    for name in vars(streams).values():
        if hasattr(name, "cache_clear") and getattr(name, "__module__", "") == streams.__name__:
            name.cache_clear()
    streams.kept_segments.clear()


@contextmanager
def rewinding():
    """A `Rewind` that listens; at the end everything is as it was at the beginning of the last `mark`."""
    undo = Rewind()
    dispose = FakeKey.dispose
    # moto closes the content of what is replaced or removed; here it may come back
    FakeKey.dispose = lambda self, garbage=False: None
    dynamo_rows.listeners.append(undo.listen)
    waits, log.HOLE_SECONDS = log.HOLE_SECONDS, 0  # who is slow is dead here
    try:
        yield undo
    finally:
        log.HOLE_SECONDS = waits
        dynamo_rows.listeners.remove(undo.listen)
        FakeKey.dispose = dispose
        restart()


def _tables():
    for backend in aws._backends(aws.dynamodb_backends):
        for table in backend.tables.values():
            yield table.items


def _buckets():
    for store in aws._backends(aws.s3_backends):
        for bucket in store.buckets.values():
            yield store, bucket


def _queues():
    for backend in aws._backends(sqs_backends):
        yield from backend.queues.values()


def _mails():
    return list(aws._backends(ses_backends))
