"""Mail: what a mail may hold, its making and its sending through SES.

`check` is for those who ask for a mail, so that they hear at once what is wrong with it; `send_email` is for the queue
function that sends it later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP
from functools import lru_cache
from mimetypes import guess_type
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.text import email_addresses
from chalicelib.errors import BadInput, TooLarge, TooMany, Unavailable
from chalicelib.resources.email.messages import SendEmail
from chalicelib.settings import settings

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

LARGEST_MAIL = 10_000_000
"""Bytes of a mail as it is sent, attachments encoded. SES takes 40 MB, most mailboxes do not."""
LARGEST_ATTACHMENTS = LARGEST_MAIL * 70 // 100
"""Bytes of all attachments together: base64 makes 100 bytes of 73."""
MOST_RECIPIENTS = 50
"""What SES takes in one call."""
MOST_ATTACHMENTS = 20
LONGEST_SUBJECT = 500

Read = Callable[[str, str], bytes]
"""Reads an object whole, given its bucket and key."""

_REFUSED = ("MessageRejected", "BadRequestException", "InvalidParameterValue")
_THROTTLED = ("TooManyRequestsException", "ThrottlingException", "Throttling", "LimitExceededException")


@lru_cache(maxsize=1)
def client() -> SESV2Client:
    """The SES client of this process. It tries once: a mail whose answer was lost may be out already."""
    config = Config(connect_timeout=2, read_timeout=20, retries={"total_max_attempts": 1, "mode": "standard"})
    return boto3.client("sesv2", endpoint_url=settings().aws_endpoint or None, config=config)


def check(message: SendEmail, attachment_bytes: int = 0) -> None:
    """Whether a mail can be made.

    Args:
        message: the mail.
        attachment_bytes: the sizes of its attachments together.

    Raises:
        BadInput: no or too many recipients, a bad address, an empty subject or text, a subject of several lines.
        TooLarge: text and attachments are more than a mail may have.
    """
    if not 1 <= len(message.recipients) <= MOST_RECIPIENTS:
        raise BadInput(f"recipients: a mail has 1 to {MOST_RECIPIENTS}, not {len(message.recipients)}.")
    email_addresses.parse(message.sender)
    for text in message.recipients:
        email_addresses.parse(text, "recipients")
    if not message.subject.strip() or len(message.subject) > LONGEST_SUBJECT:
        raise BadInput(f"subject: must have 1 to {LONGEST_SUBJECT} characters.")
    if not email_addresses.is_one_line(message.subject):
        raise BadInput("subject: must be one line without control characters.")
    if not message.text.strip():
        raise BadInput("text: must not be empty.")
    if len(message.attachments) > MOST_ATTACHMENTS:
        raise BadInput(f"attachments: at most {MOST_ATTACHMENTS}, not {len(message.attachments)}.")
    if attachment_bytes > LARGEST_ATTACHMENTS:
        raise TooLarge(f"attachments: {LARGEST_ATTACHMENTS} bytes at most together, not {attachment_bytes}.")


def compose(message: SendEmail, read: Read) -> bytes:
    """The mail as RFC 5322 has it, with CRLF, every header encoded so that no value can begin another.

    Raises:
        BadInput, TooLarge: as `check`, and TooLarge where the whole is more than `LARGEST_MAIL`.
        Whatever `read` raises, for an attachment.
    """
    check(message)
    mail = EmailMessage(policy=SMTP)
    mail["From"] = email_addresses.parse(message.sender).header()
    mail["To"] = [email_addresses.parse(recipient).header() for recipient in message.recipients]
    mail["Subject"] = message.subject
    mail["Message-ID"] = f"<{re.sub('[^A-Za-z0-9.-]', '-', message.id)[:100]}@limn>"
    mail.set_content(message.text)
    if message.html is not None:
        mail.add_alternative(message.html, subtype="html")
    for file in message.files:
        _attach(mail, file.name, file.text.encode())
    left = LARGEST_ATTACHMENTS
    for attachment in message.attachments:
        body = read(attachment.bucket, attachment.key)
        left -= len(body)
        if left < 0:
            raise TooLarge(f"attachments: {LARGEST_ATTACHMENTS} bytes at most together.")
        _attach(mail, attachment.name, body)
    raw = mail.as_bytes()
    if len(raw) > LARGEST_MAIL:
        raise TooLarge(f"A mail may have {LARGEST_MAIL} bytes; this one has {len(raw)}.")
    return raw


def send_email(message: SendEmail, read: Read) -> None:
    """Make a mail and hand it to SES.

    Args:
        message: the mail.
        read: reads the objects it attaches.

    Raises:
        BadInput, TooLarge: it cannot be made, or SES refuses it; trying again does not help.
        TooMany: SES asks us to come back later.
        Unavailable: SES does not answer, or may not send for us; trying again may help.
    """
    raw = compose(message, read)
    try:
        # its own To says who gets it
        client().send_email(
            FromEmailAddress=email_addresses.parse(message.sender).address, Content={"Raw": {"Data": raw}}
        )
    except ClientError as failure:
        code = failure.response["Error"]["Code"]
        if code in _REFUSED:
            raise BadInput("The mail was refused.", str(failure)) from failure
        if code in _THROTTLED:
            raise TooMany("Too many mails at once.", str(failure)) from failure
        raise Unavailable("The mail service does not send for us.", str(failure)) from failure
    except BotoCoreError as failure:
        raise Unavailable("The mail service does not answer.", str(failure)) from failure


def _attach(mail: EmailMessage, name: str, body: bytes) -> None:
    maintype, subtype = _type_of(name)
    mail.add_attachment(body, maintype=maintype, subtype=subtype, filename=_file_name(name))


def _type_of(name: str) -> tuple[str, str]:
    """The content type by the name's ending. Text is sent as bytes too, so that its line ends do not change."""
    guessed, encoding = guess_type(name)
    if guessed is None or encoding is not None or guessed.startswith(("message/", "multipart/")):
        return "application", "octet-stream"
    maintype, _, subtype = guessed.partition("/")
    return maintype, subtype


def _file_name(name: str) -> str:
    """A name for a file: no folders, nothing that could end a header."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    kept = "".join(character for character in last if email_addresses.is_one_line(character))
    return kept[:200] or "attachment"
