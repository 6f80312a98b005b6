"""Mails about what happened to accounts. One that cannot be sent is logged and does not stop the operation."""

from __future__ import annotations

import logging

from chalicelib.access import passwords, rate_limits, users
from chalicelib.core.models.accounts import AFFILIATION, ORGANIZATION, USER, Affiliation, Membership, Project, User
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.errors import LimnError
from chalicelib.resources.email import system_emails
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records

MOST_ADMINISTRATORS = 20
"""How many are mailed about a new affiliation, each separately: a mail does not show other recipients."""
log = logging.getLogger("limn.notifications")


def notify_of_lock(user: User) -> None:
    """Mail a user whose account was just locked, with a link to sign in nevertheless."""
    if not settings().email_enabled or not user.email:
        return
    try:
        rate_limits.check(rate_limits.LOCK_MAIL, address=user.email)
        link = f"{settings().public_url}/unlock?unlock_token={passwords.create_unlock(user)}"
    except LimnError as failure:
        log.warning("a mail about a lock was not sent: %s", type(failure).__name__)
        return
    _send(system_emails.lockout(user, link), user.email)


def notify_of_wrong_codes(user: User) -> None:
    """Mail a user whose password somebody has, and no code of the second factor."""
    if not settings().email_enabled or not user.email:
        return
    try:
        rate_limits.check(rate_limits.LOCK_MAIL, address=user.email)
    except LimnError:
        return
    _send(system_emails.wrong_codes(user.username), user.email)


def sign_in_changed(user: User, change: str) -> None:
    """Mail a user a change of the passkeys or the second factor of the account; `change` is a sentence."""
    if user.email:
        _send(system_emails.sign_in_changed(user.username, change), user.email)


def usage_warning(user: User, where: str, measure: str, percent: int, number: str) -> None:
    """Mail an administrator that a limit of use is nearly reached, once for each `number`."""
    if user.email:
        _send(system_emails.usage_warning(where, measure, percent), user.email, f"{number}-{user.id}")


def password_changed(user: User) -> None:
    """Mail a user whose password was replaced."""
    if user.email:
        _send(system_emails.password_changed(user.username), user.email)


def address_change_requested(user: User, address: str) -> None:
    """Mail the present address of a user for whom another one was asked for."""
    if user.email:
        _send(system_emails.address_change_requested(user.username, address), user.email)


def address_changed(before: User, address: str) -> None:
    """Notify the previous address of a user that it was replaced."""
    if before.email:
        _send(system_emails.address_changed(before.username, address), before.email)


def notify_of_account(user: User) -> None:
    """Mail the operator about a new account."""
    if settings().notify_address:
        _send(system_emails.new_user(user), settings().notify_address)


def notify_of_affiliation(affiliation: Affiliation, by: int) -> None:
    """Mail the other administrators of an organization about a new affiliation."""
    if not settings().email_enabled:
        return
    affiliations = records.list_children(AFFILIATION, affiliation.organization)
    admins = {item.user for item in affiliations if LEVEL_OF[item.permission] >= Level.FULL}
    found = users.by_id([affiliation.user, *sorted(admins - {by, affiliation.user})])
    user = found.pop(affiliation.user, None)
    addresses = sorted({admin.email for admin in found.values() if admin.email and admin.is_active})
    if user is None or not addresses:
        return
    name = records.get(ORGANIZATION, affiliation.organization).name
    for address in addresses[:MOST_ADMINISTRATORS]:
        _send(system_emails.new_affiliation(name, user, affiliation.permission), address)


def notify_of_membership(membership: Membership, project: Project) -> None:
    """Mail the operator about a new member of a project."""
    if settings().notify_address:
        user = records.get(USER, membership.user)
        _send(system_emails.new_membership(project.name, user, membership.permission), settings().notify_address)


def listener_disabled(user: User, noun: str, name: str, where: str, reason: str, number: str) -> None:
    """Mail the owner of a webhook or rule that was disabled, once for each `number`."""
    if user.email:
        _send(system_emails.listener_disabled(noun, name, where, reason), user.email, number)


def _send(email: system_emails.SystemEmail, address: str, number: str = "") -> None:
    if not settings().email_enabled:
        return
    try:
        system_emails.enqueue(email, address, number=number)
    except LimnError as failure:
        log.warning("a mail could not be sent: %s", type(failure).__name__)
