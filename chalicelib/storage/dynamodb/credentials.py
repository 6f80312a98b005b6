"""Credentials by the hash of their token, in a table of their own: one row each, written with what they belong to.

    session#{hash}   access#{hash}   job#{hash}   guest#{hash}

The kind begins the key, so that a role can be allowed one kind only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.update import Action

from chalicelib.core.models.credentials import Credential
from chalicelib.errors import Unavailable
from chalicelib.storage.dynamodb import ahead
from chalicelib.storage.dynamodb.ahead import RowKey
from chalicelib.storage.dynamodb.tables import CredentialRow
from chalicelib.storage.dynamodb.transactions import Transaction

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Credential).decode


def row_key(key: str) -> RowKey:
    """The row of a credential, to be read ahead."""
    return RowKey(CredentialRow, (key,))


def read(key: str) -> tuple[Credential, CredentialRow] | None:
    """A credential and its row, whether or not it has expired; None where there is none."""
    is_read, row = ahead.pop(CredentialRow, key)
    if not is_read:
        row = CredentialRow.find(key)
    return (_decode(row.doc), row) if row is not None else None


def many(keys: Iterable[str]) -> dict[str, tuple[Credential, CredentialRow]]:
    """The existing credentials among some keys, by key."""
    return {row.pk: (_decode(row.doc), row) for row in CredentialRow.many([(key,) for key in keys])}


def put(change: Transaction, credential: Credential, expires: int | None, used: str | None = None) -> None:
    """Add a new or changed credential to a transaction; it ends at `expires`, in seconds since the epoch."""
    change.put(CredentialRow(credential.id, doc=_encode(credential), expires=expires, used=used))


def remove(change: Transaction, keys: Iterable[str]) -> None:
    """Add the deletion of credentials to a transaction; missing ones have ended already."""
    for key in keys:
        if key:
            change.delete(CredentialRow(key))


def edit(key: str, edited: Callable[[Credential], Credential]) -> None:
    """Change a credential, unless it has ended or ends meanwhile."""
    found = read(key)
    if found is not None:
        _update(key, [CredentialRow.doc.set(_encode(edited(found[0])))])


def prolong(key: str, expires: int) -> None:
    """Give a credential another end; one that has ended, or ends meanwhile, stays ended."""
    _update(key, [CredentialRow.expires.set(expires)])


def touch(row: CredentialRow, day: str, expires: int | None) -> None:
    """Note the day on which a credential was used, and a new end; one that ends meanwhile stays ended."""
    actions = [CredentialRow.used.set(day)]
    _update(row.pk, [*actions, CredentialRow.expires.set(expires)] if expires is not None else actions)


def _update(key: str, actions: list[Action]) -> None:
    try:
        CredentialRow(key).update(actions=actions, condition=CredentialRow.pk.exists())
    except UpdateError as failure:
        if failure.cause_response_code != "ConditionalCheckFailedException":
            raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure
