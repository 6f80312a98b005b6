"""Mail to the members of a project, with objects of the project attached."""

from __future__ import annotations

import msgspec

from chalicelib.access import users
from chalicelib.access.authentication import Caller, membership
from chalicelib.access.scope import Scope
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


def prepare(project: int, spec: EmailSpec, number: str, asked_by: int) -> list[SendEmail]:
    """The mails of a spec, ready for the queue: one for each recipient, so that each arrives or fails by itself.

    Args:
        project: whose members they are for.
        spec: what they say.
        number: their ids begin with it: the same mails prepared again are sent once.
        asked_by: the user, who must be able to see the attachments, and gets a mail about each one that could not be
            sent.

    Raises:
        BadInput: this deployment sends no mail, an address is malformed or not a member's, subject or text are
            empty, or an attachment does not exist.
        Forbidden: the account of the user was ended, or an attachment belongs to another project, or to a media or
            file that is closed to the caller.
        TooLarge: the attachments are more than a mail may have.
    """
    if not settings().email_enabled:
        raise BadInput("This deployment does not send email.")
    asked = users.by_id([asked_by]).get(asked_by)
    if asked is not None and not asked.is_active:
        raise Forbidden("The account of the user who asked for this mail was ended.")
    attachments = []
    size = 0
    for wanted in spec.attachments or []:
        scope = Scope.from_caller(Caller(id=asked_by), Level.VIEW)
        (key,) = uploads_service.authorize(scope, records.get(PROJECT, project), [wanted.key])
        attachments.append(Attachment(bucket=objects.bucket_of(key), key=key.path, name=wanted.name))
    whole = SendEmail(
        id=number,
        sender=settings().email_sender,
        recipients=spec.recipients,
        subject=spec.subject,
        text=spec.text,
        attachments=attachments,
        asked_by=asked.email if asked and asked.email else None,
    )
    email_service.check(whole)
    _check_members(project, spec.recipients)
    for attachment in attachments:
        found = objects.size(attachment_key(attachment.key))
        if found is None:
            message_text = f"attachments: there is no object {attachment.key}."
            raise BadInput(message_text)
        size += found
    email_service.check(whole, size)
    single = {email_addresses.parse(recipient).address.casefold(): recipient for recipient in reversed(spec.recipients)}
    return [
        msgspec.structs.replace(whole, id=f"{number}-{index}", recipients=[single[address]])
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


def _check_members(project: int, recipients: list[str]) -> None:
    """Raise BadInput with all addresses that are not of members, whether or not they are of other users."""
    others = [recipient for recipient in recipients if not _is_member(project, recipient)]
    if others:
        raise BadInput(f"recipients: {', '.join(map(repr, others))}: not the address of a member of project {project}.")


def _is_member(project: int, recipient: str) -> bool:
    found = records.list_linked(USER, "email", email_addresses.parse(recipient).address.casefold())
    return any(user.is_active and membership(user.id, project) for user in found)
