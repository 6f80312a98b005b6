"""Mail to the members of a project, with objects of the project attached."""

from __future__ import annotations

import msgspec

from chalicelib.access.authentication import membership
from chalicelib.access.background import scope_of
from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.accounts import PROJECT, USER
from chalicelib.core.models.jobs import EmailSpec
from chalicelib.core.permissions import Level
from chalicelib.core.text import email_addresses
from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput, Forbidden
from chalicelib.resources.email import service as email_service
from chalicelib.resources.email.messages import Attachment, SendEmail
from chalicelib.resources.uploads import service as uploads_service
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects


def prepare(project: int, spec: EmailSpec, number: str, asked_by: int, needed: Level) -> list[SendEmail]:
    """The mails of a spec, ready for the queue: one for each recipient, so that each arrives or fails by itself.

    Args:
        project: whose members they are for.
        spec: what they say.
        number: their ids begin with it: the same mails prepared again are sent once.
        asked_by: the user, who must be able to see the attachments, and gets a mail about each one that could not be
            sent.
        needed: the level in the project that the user must have now.

    Raises:
        BadInput: this deployment sends no mail, an address is malformed or not a member's, subject or text are
            empty, or an attachment does not exist.
        Forbidden: the account of the user was ended, the user's level is too low by now, or an attachment belongs to
            another project, or to a media or file that is closed to the user.
        TooLarge: the attachments are more than a mail may have.
    """
    if not settings().email_enabled:
        raise BadInput("This deployment does not send email.")
    scope = scope_of(asked_by, project, "mail", needed).for_level(Level.VIEW)
    attachments = []
    size = 0
    for wanted in spec.attachments or []:
        (key,) = uploads_service.authorize(scope, records.get(PROJECT, project), [wanted.key])
        attachments.append(Attachment(bucket=objects.bucket_of(key), key=key.path, name=wanted.name))
    whole = SendEmail(
        id=number,
        sender=settings().email_sender,
        recipients=spec.recipients,
        subject=spec.subject,
        text=spec.text,
        attachments=attachments,
        asked_by=records.get(USER, asked_by).email or None,
        project=project,
        author=asked_by,
    )
    email_service.check(whole)
    members = _members(project, spec.recipients)
    for attachment in attachments:
        found = objects.size(attachment_key(attachment.key))
        if found is None:
            message_text = f"attachments: there is no object {attachment.key}."
            raise BadInput(message_text)
        size += found
    email_service.check(whole, size)
    single = {email_addresses.parse(recipient).address.casefold(): recipient for recipient in reversed(spec.recipients)}
    return [
        msgspec.structs.replace(
            whole, id=f"{number}-{index}", recipients=[single[address]], members=members[single[address]]
        )
        for index, address in enumerate(sorted(single))
    ]


def attachment_key(path: str) -> ObjectKey:
    """The key of an object that a mail was prepared with; the project is the one that the key names.

    Raises:
        BadInput, Forbidden: it is no key of a project.
        NotFound: the project is gone.
    """
    parts = path.split("/")
    number = parts[3] if parts[0] == key_forms.UPLOADS and len(parts) > 3 else parts[min(1, len(parts) - 1)]  # noqa: PLR2004
    project = records.get(PROJECT, natural(number) or 0)
    return object_keys.authorize_project_key(path, project.organization, project.id)


def check_now(message: SendEmail) -> None:
    """Raise Forbidden where the account of a mail's author was ended since it was queued, or no recipient is a member.

    A mail may lie for days where SES is away, or among the dead letters.
    """
    if message.author and not _is_active(message.author):
        raise Forbidden("The user of this mail is no longer active.")
    if message.project and not any(_is_active(user) and membership(user, message.project) for user in message.members):
        raise Forbidden(f"The recipient of this mail is no longer a member of project {message.project}.")


def _is_active(user: int) -> bool:
    found = records.maybe(USER, user)
    return found is not None and found.is_active


def _members(project: int, recipients: list[str]) -> dict[str, list[int]]:
    """The members who have each address. Raises BadInput with all that are not of members, be they of users or not."""
    found = {}
    for recipient in recipients:
        users = records.list_linked(USER, "email", email_addresses.parse(recipient).address.casefold())
        found[recipient] = [user.id for user in users if user.is_active and membership(user.id, project)]
    if others := [recipient for recipient, members in found.items() if not members]:
        raise BadInput(f"recipients: {', '.join(map(repr, others))}: not the address of a member of project {project}.")
    return found
