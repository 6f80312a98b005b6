"""The rows of the audit logs: `audit  organization, number`."""

from __future__ import annotations

from chalicelib.settings import settings
from chalicelib.storage.dynamodb.tables import BinaryAttribute, NumberAttribute, Row, UnicodeAttribute


class AuditRow(Row):
    """An entry of the audit log of an organization."""

    class Meta:
        table_name = settings().audit_table

    organization = NumberAttribute(hash_key=True)
    number = NumberAttribute(range_key=True)
    doc = BinaryAttribute(legacy_encoding=False)
    expires = NumberAttribute(null=True)
    writer = UnicodeAttribute(null=True)
    """Made up for each write: two processes may write entries that are equal otherwise."""
