"""Notices of what happened to accounts. None stands in the way of what it tells of: one that cannot go is logged."""

from __future__ import annotations

import logging

from chalicelib.access import users
from chalicelib.core.accounts import AFFILIATION, ORGANIZATION, USER, Affiliation, Membership, Project, User
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.errors import LimnError
from chalicelib.resources.email import system_emails
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records

MOST_ADMINISTRATORS = 20
"""So many are told of a new affiliation, each by a mail of their own: addresses are nobody else's business."""
log = logging.getLogger("limn.notices")


def locked_out(user: User) -> None:
    """To a user whose account was just locked."""
    _send(system_emails.lockout(user), user.email)


def registered(user: User) -> None:
    """To the operator's people, of a new account."""
    if settings().notify_address:
        _send(system_emails.new_user(user), settings().notify_address)


def affiliated(affiliation: Affiliation, by: int) -> None:
    """To the other administrators of an organization, of somebody who came to it."""
    if not settings().email_enabled:
        return
    everybody = records.listed(AFFILIATION, affiliation.organization)
    admins = {item.user for item in everybody if LEVEL_OF[item.permission] >= Level.FULL}
    found = users.by_id([affiliation.user, *sorted(admins - {by, affiliation.user})])
    user = found.pop(affiliation.user, None)
    addresses = sorted({admin.email for admin in found.values() if admin.email and admin.is_active})
    if user is None or not addresses:
        return
    name = records.get(ORGANIZATION, affiliation.organization).name
    for address in addresses[:MOST_ADMINISTRATORS]:
        _send(system_emails.new_affiliation(name, user, affiliation.permission), address)


def joined(membership: Membership, project: Project) -> None:
    """To the operator's people, of a new member of a project."""
    if settings().notify_address:
        user = records.get(USER, membership.user)
        _send(system_emails.new_membership(project.name, user, membership.permission), settings().notify_address)


def _send(letter: system_emails.Letter, address: str) -> None:
    if not settings().email_enabled:
        return
    try:
        system_emails.post(letter, address)
    except LimnError as failure:
        log.warning("a notice could not be sent: %s", type(failure).__name__)
