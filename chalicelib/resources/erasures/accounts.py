"""What the request erases: the account, and the records that open it or invite to it. Only the API may write them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from chalicelib.access import passwords
from chalicelib.access.identities.providers import IDENTITY
from chalicelib.access.identities.scim_users import SCIM_USER
from chalicelib.core.models.accounts import USER, User
from chalicelib.core.models.personal import ANNOUNCEMENT
from chalicelib.core.personal_data import Person, erased_name, without
from chalicelib.core.records import RecordKind
from chalicelib.errors import NotFound
from chalicelib.resources.access_tokens import service as access_tokens_service
from chalicelib.resources.access_tokens.schemas import ACCESS_TOKEN
from chalicelib.resources.accounts.invitations import INVITATION, PASSWORD_RESET
from chalicelib.resources.notifications.schemas import INBOX
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.transactions import Transaction

Finding = tuple[str, Callable[[], Any]]
"""Where something of a person is, and what erases it; again, it does no harm."""


def person_of(user: User) -> Person:
    """The id, name and addresses of a user, by which an erasure finds data."""
    addresses = [address for address in (user.email, user.pending_email) if address]
    return Person(id=user.id, username=user.username, addresses=addresses)


def find(person: Person, organizations: Iterable[int]) -> Iterator[Finding]:
    """The other records that name a person; most are deleted with the account."""
    user = person.id
    for token in records.list_children(ACCESS_TOKEN, user):
        yield "access tokens", partial(_end_token, token)
    for identity in records.list_children(IDENTITY, user):
        yield "identities", partial(records.discard, IDENTITY, identity.id)
    for announcement in records.list_children(ANNOUNCEMENT, user):
        yield "announcements", partial(records.discard, ANNOUNCEMENT, announcement.id)
    for reset in records.list_linked(PASSWORD_RESET, "user", user):
        yield PASSWORD_RESET.plural, partial(records.discard, PASSWORD_RESET, reset.id)
    if records.maybe(INBOX, user) is not None:
        yield "notifications", partial(records.discard, INBOX, user)
    for organization in organizations:
        yield from _find_in_organization(person, organization)


def _find_in_organization(person: Person, organization: int) -> Iterator[Finding]:
    known = records.get_claimed(SCIM_USER, "user", f"{organization}|{person.id}")
    if known is not None:
        yield "users of identity providers", partial(records.discard, SCIM_USER, known.id)
    for invitation in records.list_children(INVITATION, organization):
        if invitation.status == "Pending" and person.is_named(invitation.email):
            yield "invitations", partial(records.discard, INVITATION, invitation.id)
        elif without(invitation, person) != invitation:
            yield "invitations", partial(_change, INVITATION, invitation.id, person)


def count_members(user: User) -> int:
    """How many members of an account hold something of its person."""
    blank = without_person(user)
    return sum(bool(getattr(user, name)) and getattr(user, name) != getattr(blank, name) for name in User.personal)


def close(user: int, also: Callable[[Transaction], None]) -> None:
    """Erase an account within a transaction: all sessions end, and the user can no longer sign in."""

    def add(change: Transaction, before: User, after: User) -> None:
        passwords.revoke_removed(change, before, after)
        also(change)

    found = records.get(USER, user)
    if found == without_person(found):
        change = Transaction()
        also(change)
        change.run()
    else:
        records.edit(USER, user, without_person, also=add)


def without_person(user: User) -> User:
    """An account without its person: the id, its dates and a name that says so are left."""
    blank = User(id=user.id, username="", elemental_id="", created_datetime="")
    cleared = {name: getattr(blank, name) for name in User.personal - {"username"}}
    return msgspec.structs.replace(
        user,
        **cleared,
        username=user.username if _is_erased(user) else _free_name(user.id),
        is_active=False,
        is_staff=False,
        password_hash="",
        email_standing="vouched",
        confirmation_token=None,
        tokens=[],
        provider=None,
        confirmed_until=None,
        second_factor=None,
        passkeys=[],
    )


def _is_erased(user: User) -> bool:
    return not user.password_hash and not user.email and user.username.startswith(erased_name(user.id))


def _free_name(user: int) -> str:
    name = erased_name(user)
    holder = records.get_claimed(USER, "username", name)
    return name if holder is None or holder.id == user else f"{name}-{uuid.uuid4().hex[:6]}"


def _end_token(token: Any) -> None:
    with suppress(NotFound):
        access_tokens_service.end(token)


def _change(kind: RecordKind[Any], number: int | str, person: Person) -> None:
    with suppress(NotFound):
        records.edit(kind, number, lambda current: without(current, person))
