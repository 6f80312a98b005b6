"""Account administration: the functions behind `python -m infra.admin`, and behind requests of staff."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from chalicelib.access import authentication, passwords
from chalicelib.core.models.accounts import MEMBERSHIP, TOKEN, USER, User, UserSpec
from chalicelib.core.models.credentials import session_key
from chalicelib.core.models.personal import ANNOUNCEMENT, Announcement
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.errors import BadInput
from chalicelib.resources.accounts import creation
from chalicelib.storage.dynamodb import credentials, ids, records
from chalicelib.storage.objects import presigned

ANNOUNCED_DAYS = 7
_LONGEST_ANNOUNCEMENT = 50_000


def create_superuser(spec: UserSpec) -> User:
    """Create a user of staff. Raises BadInput if the name is taken or a member breaks a rule."""
    return creation.register(spec, is_staff=True)


def list_users() -> list[User]:
    """Every user, by id. Reads the whole table of records."""
    return sorted(records.everything(USER), key=lambda user: user.id)


def unlock(username: str) -> User:
    """Unlock a user who entered too many wrong passwords."""
    user = find_user(username)
    passwords.unlock(user.id)
    return user


def set_active(user: User, *, active: bool) -> User:
    """Deactivate or reactivate a user.

    Deactivation removes all its tokens, the link that confirms its registration, and a pending change of its address.
    Presigned URLs that it has already obtained remain valid until they expire: object stores cannot revoke them.
    """

    def change(current: User) -> User:
        if active:
            return msgspec.structs.replace(current, is_active=True)
        return msgspec.structs.replace(
            current, is_active=False, tokens=[], confirmation_token=None, pending_email=None, pending_email_token=None
        )

    changed = records.edit(USER, user.id, change, also=passwords.revoke_removed)
    if not active:
        presigned.forget(user.id)
    return changed


def set_staff(username: str, *, staff: bool) -> User:
    """Add a user to staff, or remove it; takes effect on the user's tokens at once."""
    user = records.edit(USER, find_user(username).id, lambda current: msgspec.structs.replace(current, is_staff=staff))
    for hashed in user.tokens:
        credentials.edit(session_key(hashed), lambda held: msgspec.structs.replace(held, is_staff=staff))
        if records.maybe(TOKEN, hashed):
            records.edit(TOKEN, hashed, lambda stored: msgspec.structs.replace(stored, is_staff=staff))
    return user


def announce(
    subject: str, text: str, *, days: int = ANNOUNCED_DAYS, project: int | None = None, username: str | None = None
) -> int:
    """Announce something to every user, to the members of a project, or to one user.

    Args:
        subject: what it is about, may be empty.
        text: Markdown.
        days: after how many days it is over.
        project: whose members it is for.
        username: the one user it is for.

    Returns:
        to how many users it was announced.
    """
    if not 0 < len(text) <= _LONGEST_ANNOUNCEMENT:
        raise BadInput(f"text: 1 to {_LONGEST_ANNOUNCEMENT} characters are needed.")
    if days < 1:
        raise BadInput("days: at least 1 is needed.")
    if project is not None and username is not None:
        raise BadInput("Give a project or a user, not both.")
    if username is not None:
        wanted = [find_user(username).id]
    elif project is not None:
        authentication.project_of(project)
        wanted = [membership.user for membership in records.list_children(MEMBERSHIP, project)]
    else:
        wanted = [user.id for user in records.everything(USER)]
    over = timestamp(clock.utc_now() + timedelta(days=days))
    for number, user in zip(ids.reserve(ANNOUNCEMENT.name, max(1, len(wanted))), wanted, strict=False):
        records.create(
            ANNOUNCEMENT,
            Announcement(
                id=number, user=user, subject=subject, markdown=text, created_datetime=now(), eol_datetime=over
            ),
        )
    return len(wanted)


def find_user(username: str) -> User:
    """The user with a name, in any case. Raises BadInput if it does not exist."""
    user = records.get_claimed(USER, "username", username.strip().casefold())
    if user is None:
        raise BadInput(f"There is no user called {username!r}.")
    return user
