"""Mail from the queue to the mailbox: once, whole, and as harmless as it was asked for."""

from __future__ import annotations

import email
import email.policy
import json
import os
import time
import uuid

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends

from chalicelib import queues
from chalicelib.errors import BadInput, TooLarge
from chalicelib.resources.email import service as email_service
from chalicelib.resources.email.messages import Attachment, SendEmail
from chalicelib.settings import settings
from functions.email import handler

PICTURE = bytes(range(256)) * 40


class Context:
    """What Lambda hands to a function."""

    function_name = "limn-email"
    memory_limit_in_mb = 256
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:limn-email"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self) -> None:
        self._end = time.monotonic() + 60

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._end - time.monotonic()) * 1000))


def letter(**changes):
    given = {
        "id": uuid.uuid4().hex,
        "sender": settings().email_sender,
        "recipients": ["Ada Lovelace <ada@example.org>", "grace@example.org"],
        "subject": "Thirty cod in one frame: größer als sonst",
        "text": "Dear all,\n\nsee the picture.\n",
    }
    return SendEmail(**{**given, **changes})


def deliver(message):
    """Hand a message to the function as Lambda does; what it reported as failed."""
    record = {
        "messageId": "19dd0b57-b21e-4ac1-bd88-01bbb068cb78",
        "receiptHandle": "none",
        "body": queues.encode(message),
        "attributes": {"ApproximateReceiveCount": "1"},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{settings().email_queue_url.rpartition('/')[2]}",
    }
    return handler({"Records": [record]}, Context())["batchItemFailures"]


def outbox(subject):
    """The mails of a subject that SES took."""
    sent = ses_backends[DEFAULT_ACCOUNT_ID][os.environ["AWS_REGION"]].sent_messages
    mails = []
    for each in sent:
        raw = each.raw_data
        data = raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else raw
        parsed = email.message_from_bytes(data, policy=email.policy.default)
        if parsed["Subject"] == subject:
            mails.append((each, parsed))
    return mails


@pytest.fixture
def subject():
    return f"Frame {uuid.uuid4().hex} größer als sonst"


@pytest.fixture
def picture(project, organization):
    key = f"_uploads/2026-01-01/{organization}/{project}/1/{uuid.uuid4().hex}.png"
    place = {"Bucket": settings().upload_bucket, "Key": key}
    boto3.client("s3").put_object(**place, Body=PICTURE)
    return Attachment(bucket=place["Bucket"], key=place["Key"], name="cod.png")


def test_a_mail_with_an_attachment_arrives_once_even_when_delivered_twice(subject, picture):
    message = letter(subject=subject, attachments=[picture])
    assert deliver(message) == []
    assert deliver(message) == []
    [(sent, parsed)] = outbox(subject)
    assert sent.destinations == ["Ada Lovelace <ada@example.org>", "grace@example.org"]
    assert parsed["From"] == settings().email_sender
    assert parsed["To"] == "Ada Lovelace <ada@example.org>, grace@example.org"
    assert parsed.get_body(("plain",)).get_content().splitlines() == ["Dear all,", "", "see the picture."]
    [attached] = parsed.iter_attachments()
    assert attached.get_filename() == "cod.png"
    assert attached.get_content_type() == "image/png"
    assert attached.get_payload(decode=True) == PICTURE


def test_two_mails_of_the_same_words_are_two_mails(subject):
    assert deliver(letter(subject=subject)) == []
    assert deliver(letter(subject=subject)) == []
    assert len(outbox(subject)) == 2


def test_html_comes_beside_the_text(subject):
    deliver(letter(subject=subject, html="<p>see the <b>picture</b></p>"))
    [(_, parsed)] = outbox(subject)
    assert parsed.get_body(("html",)).get_content().strip() == "<p>see the <b>picture</b></p>"
    assert "see the picture." in parsed.get_body(("plain",)).get_content()


def test_a_missing_attachment_sends_nothing(subject):
    gone = Attachment(bucket=settings().upload_bucket, key="_uploads/gone", name="gone.txt")
    assert len(deliver(letter(subject=subject, attachments=[gone]))) == 1
    assert outbox(subject) == []


def test_a_sender_that_ses_does_not_know_is_reported(subject):
    assert len(deliver(letter(subject=subject, sender="somebody@else.example"))) == 1
    assert outbox(subject) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": "Hello\nBcc: all@example.org"},
        {"subject": "Hello\r\n\r\n<script>"},
        {"subject": "Hello\u2028there"},
        {"recipients": ["Ada\r\nBcc: eve@example.org <ada@example.org>"]},
        {"recipients": ["ada@example.org\nBcc: eve@example.org"]},
        {"recipients": ["ada@example.org, eve@example.org"]},
        {"recipients": []},
        {"recipients": [f"user{number}@example.org" for number in range(51)]},
        {"recipients": ["nobody"]},
        {"sender": "limn"},
        {"subject": " "},
        {"text": "\n"},
    ],
    ids=repr,
)
def test_a_mail_that_cannot_be_made_is_refused_before_anything_is_read(changes):
    with pytest.raises(BadInput):
        email_service.compose(letter(**changes), read=lambda *_: pytest.fail("read"))


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a\r\nX-Bad: 1.txt", 'quote".txt', "größe.csv", "", "C:\\x\\y.eml"]
)
def test_a_name_of_an_attachment_stays_a_name(name):
    attachment = Attachment(bucket="b", key="k", name=name)
    raw = email_service.compose(letter(attachments=[attachment]), read=lambda *_: b"body")
    parsed = email.message_from_bytes(raw, policy=email.policy.default)
    assert set(parsed.keys()) == {"From", "To", "Subject", "Message-ID", "MIME-Version", "Content-Type"}
    [attached] = parsed.iter_attachments()
    assert attached["X-Bad"] is None
    assert "/" not in attached.get_filename()
    assert "\\" not in attached.get_filename()
    assert attached.get_payload(decode=True) == b"body"


def test_a_mail_larger_than_its_limit_is_refused():
    half = Attachment(bucket="b", key="k", name="half.bin")
    body = b"x" * (email_service.LARGEST_ATTACHMENTS // 2 + 1)
    with pytest.raises(TooLarge):
        email_service.compose(letter(attachments=[half, half]), read=lambda *_: body)
    assert len(email_service.compose(letter(attachments=[half]), read=lambda *_: body)) < email_service.LARGEST_MAIL
    with pytest.raises(TooLarge):
        email_service.check(letter(), attachment_bytes=email_service.LARGEST_ATTACHMENTS + 1)


@pytest.mark.slow
def test_the_largest_attachments_fit_into_a_mail():
    attachment = Attachment(bucket="b", key="k", name="all.bin")
    raw = email_service.compose(
        letter(attachments=[attachment]), read=lambda *_: b"x" * email_service.LARGEST_ATTACHMENTS
    )
    assert len(raw) <= email_service.LARGEST_MAIL


def test_a_text_too_long_for_the_queue_is_refused_before_it_is_sent():
    with pytest.raises(TooLarge, match="262144"):
        queues.send(settings().email_queue_url, letter(text="x" * 300_000))


def test_a_queued_mail_is_what_the_function_reads():
    message = letter(attachments=[Attachment(bucket="b", key="k", name="n")])
    body = queues.encode(message)
    assert json.loads(body)["kind"] == "email.1"
    assert queues.decode(body, [SendEmail]) == message
