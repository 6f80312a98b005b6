"""Health checks of the tables and buckets: one small read each."""

from __future__ import annotations

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import PynamoDBException

from chalicelib.errors import Unavailable
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.tables import CounterRow, EntityRow, LogRow, RecordRow
from chalicelib.storage.objects import objects
from chalicelib.storage.store_answers import no_answer

_NOTHING = "health"


def reach_database() -> None:
    """Read from every table. Raises Unavailable where one does not answer."""
    tables = ((RecordRow, (_NOTHING, "@")), (EntityRow, (_NOTHING,)), (LogRow, (0, 0)), (CounterRow, (_NOTHING, "@")))
    for table, key in tables:
        try:
            table.get(*key)
        except table.DoesNotExist:
            continue
        except PynamoDBException as failure:
            raise Unavailable("The database does not answer.", type(failure).__name__) from failure


def reach_objects() -> None:
    """Read from every bucket. Raises Unavailable where one does not answer."""
    for bucket in (settings().media_bucket, settings().upload_bucket, settings().views_bucket):
        try:
            objects.client().head_bucket(Bucket=bucket)
        except (ClientError, BotoCoreError) as failure:
            raise no_answer(type(failure).__name__) from failure
