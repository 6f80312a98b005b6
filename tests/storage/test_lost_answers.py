"""What a write comes to whose answer did not arrive."""

from __future__ import annotations

import random
import uuid

import pytest
from botocore.client import BaseClient
from botocore.exceptions import EndpointConnectionError

from chalicelib.core.kinds import Kind
from chalicelib.errors import Conflict, Unavailable
from chalicelib.storage.dynamodb import entities, ids
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import bodies
from tests.faults.crashes import crasher
from tests.resources.annotations.boxes import settle
from tests.resources.media.samples import bare_media, media_type


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


class StoreIsDown:
    """No request reaches S3."""

    def __init__(self, monkeypatch):
        self.asked = 0
        real = BaseClient._make_api_call

        def call(client, name, arguments):
            if client.meta.service_model.service_name == "s3":
                self.asked += 1
                raise EndpointConnectionError(endpoint_url=client.meta.endpoint_url)
            return real(client, name, arguments)

        monkeypatch.setattr(BaseClient, "_make_api_call", call)
        monkeypatch.setattr(bodies, "_shunned_until", 0.0)


@pytest.mark.slow
def test_large_creations_succeed_while_the_object_store_is_down(api, project, monkeypatch):
    here = settle(api, project)
    store = StoreIsDown(monkeypatch)
    chance = random.Random(1)
    specs = [here.spec(frame=n, attributes={"text": chance.randbytes(100).hex()}) for n in range(500)]
    for _ in range(2):
        said = api.post(here.many, specs)
        assert said.status == 201, said.body
    assert store.asked == 1  # then it is left alone for a while
    assert here.count() == 1_000
    assert here.listed(start=500)[7]["attributes"]["text"] == specs[7]["attributes"]["text"]


@pytest.mark.slow
def test_what_no_row_can_hold_is_unavailable_and_nothing_of_it_is_seen(api, project, monkeypatch):
    here = settle(api, project)
    chance = random.Random(1)
    specs = [here.spec(frame=n, attributes={"text": chance.randbytes(1_000).hex()}) for n in range(500)]
    with monkeypatch.context() as patch:
        StoreIsDown(patch)
        assert api.post(here.many, specs).status == 503
        assert here.count() == 0
    assert api.post(here.many, specs).status == 201
    assert here.count() == 500
