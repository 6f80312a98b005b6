"""Mail to the members of a project, with objects of the project attached (`spec/3` §13)."""

from __future__ import annotations

from chalicelib.domain import addresses, keys
from chalicelib.domain.accounts import USER
from chalicelib.domain.jobs import EmailSpec
from chalicelib.errors import BadInput
from chalicelib.messages import Attachment, SendEmail
from chalicelib.services import mail
from chalicelib.services.access import membership
from chalicelib.settings import settings
from chalicelib.storage import objects, records


def prepare(project: int, spec: EmailSpec, number: str) -> SendEmail:
    """A mail ready for the queue, whose id is `number`.

    Raises:
        BadInput: this deployment sends no mail, an address is none or nobody's or not a member's, subject or text are
            empty, or an attachment does not exist.
        Forbidden: an attachment belongs to another project.
        TooLarge: the attachments are more than a mail may have.
    """
    if not settings().email_enabled:
        raise BadInput("This deployment does not send email.")
    attachments = []
    size = 0
    for wanted in spec.attachments or []:
        keys.check_project(wanted.key, project)
        attachments.append(Attachment(bucket=objects.bucket_of(wanted.key), key=wanted.key, name=wanted.name))
    message = SendEmail(
        id=number,
        sender=settings().email_sender,
        recipients=spec.recipients,
        subject=spec.subject,
        text=spec.text,
        attachments=attachments,
    )
    mail.check(message)
    for recipient in spec.recipients:
        _check_member(project, recipient)
    for attachment in attachments:
        found = objects.size(attachment.key)
        if found is None:
            message_text = f"attachments: there is no object {attachment.key}."
            raise BadInput(message_text)
        size += found
    mail.check(message, size)
    return message


def _check_member(project: int, recipient: str) -> None:
    """Raise BadInput unless an address is that of a member; whose it is otherwise is not told."""
    wanted = addresses.parse(recipient).address.casefold()
    users = records.linked(USER, "email", wanted)
    if not any(membership(user.id, project) for user in users):
        message = f"recipients: {recipient!r} is not the address of a member of project {project}."
        raise BadInput(message)
