"""What a write comes to whose answer did not arrive."""

from __future__ import annotations

import uuid

import pytest

from chalicelib.domain.kinds import Kind
from chalicelib.errors import Conflict, Unavailable
from chalicelib.storage import entities, ids
from chalicelib.storage.tables import RecordRow
from chalicelib.storage.transactions import Transaction
from tests.faults.crashes import crasher
from tests.operations.media_things import bare_media, media_type


def put(row):
    change = Transaction()
    change.put(row, RecordRow.pk.does_not_exist())
    change.run()


def test_a_put_that_meets_itself_is_done():
    row = RecordRow(f"lost#{uuid.uuid4()}", "@", doc=b'"mine"')
    with crasher() as hook:
        hook.arm(1, "lost")
        put(row)
    assert RecordRow.get(*row.key()).doc == b'"mine"'


def test_a_put_that_meets_another_is_a_conflict():
    key = f"lost#{uuid.uuid4()}"
    put(RecordRow(key, "@", doc=b'"theirs"'))
    with crasher() as hook:
        hook.arm(1, "lost")
        with pytest.raises(Conflict):
            put(RecordRow(key, "@", doc=b'"mine"'))
    assert RecordRow.get(key, "@").doc == b'"theirs"'


def test_a_database_that_does_not_answer_is_unavailable_to_reader_and_writer(api, project):
    with crasher() as hook:
        hook.arm(1, "cut")
        assert api.get(f"Project/{project}").status == 503
        hook.arm(1, "cut")
        with pytest.raises(Unavailable):
            put(RecordRow(f"lost#{uuid.uuid4()}", "@", doc=b"1"))


def test_many_rows_that_are_not_written_are_unavailable(project):
    type_ = media_type(project)
    numbers = ids.reserve(Kind.MEDIA, 20)
    media = [bare_media(project, type_, number) for number in numbers]
    with crasher() as hook:
        hook.arm(2, "cut")
        with pytest.raises(Unavailable):
            entities.create(Kind.MEDIA, media, user=None)
        assert hook.fired == "dynamodb.BatchWriteItem"
    assert entities.many(Kind.MEDIA, numbers) == {}
