"""Mail to members of a project."""

from __future__ import annotations

import uuid

import pytest
from botocore.exceptions import ClientError

from chalicelib import queues
from chalicelib.queues import encode
from chalicelib.resources.email import service as mail_service
from chalicelib.resources.email.service import LARGEST_ATTACHMENTS
from chalicelib.settings import override, settings
from tests import objects
from tests.resources.media.samples import uploaded
from tests.resources.transcodes.test_transcodes import key_of, sent
from tests.service import new_user


def mails(subject):
    """Those of a subject that went out."""
    return [mail for mail in sent() if mail["Subject"] == subject]


@pytest.fixture
def spec(api):
    return {"recipients": [f"Ada <{api.user.email}>"], "subject": "Hello", "text": "Text"}


class TestSendEmail:
    @pytest.mark.slow
    def test_a_member_gets_it_with_what_was_attached(self, api, project, spec):
        key = key_of(uploaded(api, project, b"a,b\n", "r.csv"))
        said = api.post(f"Email/{project}", {**spec, "attachments": [{"key": key, "name": "r.csv"}]})
        assert (said.status, said.json) == (201, {"message": "Email message sent!"})
        api.drain()
        (mail,) = mails("Hello")
        (attachment,) = mail.iter_attachments()
        assert (attachment.get_filename(), attachment.get_payload(decode=True)) == ("r.csv", b"a,b\n")

    @pytest.mark.parametrize(
        "change",
        [
            {"subject": ""},
            {"text": " "},
            {"recipients": []},
            {"recipients": ["nobody"]},
            {"recipients": ["nobody@example.org"]},
            {"subject": "a\nBcc: b@example.org"},
            {"attachments": [{"key": "x", "name": "x"}]},
        ],
    )
    def test_what_breaks_a_rule_is_refused(self, api, project, spec, change):
        assert api.post(f"Email/{project}", {**spec, **change}).status == 400

    def test_only_members_may_be_written_to(self, api, project, spec):
        other = new_user()
        said = api.post(f"Email/{project}", {**spec, "recipients": [other.user.email]})
        assert (said.status, "member" in said.message) == (400, True)

    def test_all_who_cannot_be_written_to_are_named(self, api, project, spec):
        others = [new_user().user.email, f"Eve <{new_user().user.email}>"]
        said = api.post(f"Email/{project}", {**spec, "recipients": [others[0], *spec["recipients"], others[1]]})
        assert said.status == 400
        assert all(other in said.message for other in others)
        assert api.user.email not in said.message

    @pytest.mark.parametrize(
        "recipient",
        [
            "Ada\r\nBcc: eve@example.org <{0}>",
            "Ada\u2028Bcc: eve@example.org <{0}>",
            "{0}\nBcc: eve@example.org",
            "{0}, eve@example.org",
            "<{0}> <eve@example.org>",
            "\x00{0}",
        ],
    )
    def test_a_name_cannot_add_a_header_or_a_recipient(self, api, project, spec, recipient):
        body = {**spec, "recipients": [recipient.format(api.user.email)]}
        assert api.post(f"Email/{project}", body).status == 400

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ['Ada "Countess" <{0}>', "Lovelace, Ada <{0}>", "Größe; x=y <{0}>"])
    def test_a_name_with_what_headers_mean_something_by_stays_a_name(self, api, project, spec, name):
        subject = f"Names {uuid.uuid4()}"
        body = {**spec, "recipients": [name.format(api.user.email)], "subject": subject}
        assert api.post(f"Email/{project}", body).status == 201
        api.drain()
        [mail] = mails(subject)
        [address] = mail["To"].addresses
        assert (address.display_name, address.addr_spec) == (name.partition(" <")[0], api.user.email)

    @pytest.mark.parametrize("end", ["\r\n", "\r", "\n", "\0", "\x0b"])
    def test_a_name_of_an_attachment_with_a_control_character_is_refused(self, api, project, spec, end):
        key = key_of(uploaded(api, project, b"x"))
        attachments = [{"key": key, "name": f"a{end}Bcc: eve@example.org{end}{end}.txt"}]
        said = api.post(f"Email/{project}", {**spec, "attachments": attachments})
        assert said.status == 400
        assert said.json["details"].startswith("attachments[0].name: must be one line")

    @pytest.mark.slow
    @pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
    def test_a_name_of_an_attachment_cannot_add_a_header(self, api, project, spec, end):
        subject = f"Attached {uuid.uuid4()}"
        key = key_of(uploaded(api, project, b"x"))
        attachments = [{"key": key, "name": f'a"; x="{end}Bcc: eve@example.org{end}{end}.txt'}]
        body = {**spec, "subject": subject, "attachments": attachments}
        assert api.post(f"Email/{project}", body).status == 201
        api.drain()
        [mail] = mails(subject)
        assert mail["Bcc"] is None
        [attachment] = mail.iter_attachments()
        assert attachment["Bcc"] is None
        assert attachment.get_payload(decode=True) == b"x"

    def test_files_of_other_projects_cannot_be_attached(self, api, project, spec, organization):
        other = api.made("Projects", {"name": "other", "organization": organization})
        key = key_of(uploaded(api, other, b"secret"))
        assert api.post(f"Email/{project}", {**spec, "attachments": [{"key": key, "name": "x"}]}).status == 403

    @pytest.mark.slow
    def test_attachments_of_the_limit_arrive_and_a_byte_more_is_refused(self, api, project, spec):
        subject = f"Large {uuid.uuid4()}"
        half, rest, more = (
            key_of(uploaded(api, project, bytes(size)))
            for size in (3_500_000, LARGEST_ATTACHMENTS - 3_500_000, LARGEST_ATTACHMENTS - 3_500_000 + 1)
        )
        attachments = [{"key": half, "name": "a.bin"}, {"key": more, "name": "b.bin"}]
        said = api.post(f"Email/{project}", {**spec, "subject": subject, "attachments": attachments})
        assert said.status == 413
        assert said.message == "attachments: 7000000 bytes at most together, not 7000001."
        attachments[1]["key"] = rest
        assert api.post(f"Email/{project}", {**spec, "subject": subject, "attachments": attachments}).status == 201
        api.drain()
        [mail] = mails(subject)
        sizes = [len(attachment.get_payload(decode=True)) for attachment in mail.iter_attachments()]
        assert sum(sizes) == LARGEST_ATTACHMENTS

    def test_what_is_not_there_cannot_be_attached(self, api, project, spec):
        key = key_of(uploaded(api, project, b"x"))
        objects.remove([key])
        assert api.post(f"Email/{project}", {**spec, "attachments": [{"key": key, "name": "x"}]}).status == 400

    def test_it_needs_execute(self, member, project, spec):
        assert member("Can Transfer").post(f"Email/{project}", spec).status == 403

    def test_where_mail_is_switched_off_it_says_so(self, api, project, spec):
        with override(email_enabled=False):
            assert api.post(f"Email/{project}", spec).status == 400


class TestEachRecipient:
    @pytest.fixture
    def team(self, api, member, spec):
        """A mail to three members; the other two."""
        others = [member("View Only"), member("View Only")]
        spec["recipients"] += [other.user.email for other in others]
        spec["subject"] = f"Team {uuid.uuid4()}"
        return others

    @pytest.mark.slow
    def test_gets_one_mail_and_sees_nobody_elses_address(self, api, project, spec, team):
        spec["recipients"].append(api.user.email.upper())
        assert api.post(f"Email/{project}", spec).status == 201
        api.drain()
        addressed = sorted(mail["To"].addresses[0].addr_spec for mail in mails(spec["subject"]))
        assert addressed == sorted([api.user.email, *(other.user.email for other in team)])

    @pytest.mark.slow
    def test_who_cannot_be_reached_is_reported_and_the_others_are(self, api, project, spec, team, monkeypatch):
        client = mail_service.client()

        class Refusing:
            def send_email(self, **given):
                if team[0].user.email.encode() in given["Content"]["Raw"]["Data"].partition(b"\r\n\r\n")[0]:
                    error = {"Code": "MessageRejected", "Message": "Email address is not verified."}
                    raise ClientError({"Error": error}, "SendEmail")
                return client.send_email(**given)

        monkeypatch.setattr(mail_service, "client", Refusing)
        assert api.post(f"Email/{project}", spec).status == 201
        api.drain()
        assert len(mails(spec["subject"])) == 2
        [report] = mails(f"Not sent: {spec['subject']}")
        assert report["To"] == api.user.email
        text = report.get_body(("plain",)).get_content()
        assert team[0].user.email in text
        assert "not verified" in text

    @pytest.mark.slow
    def test_redelivery_sends_each_once(self, api, project, spec, team, monkeypatch):
        from chalicelib.resources.email import operations as operation

        queued = []
        monkeypatch.setattr(operation, "send_many", lambda _, messages: queued.extend(messages))
        assert api.post(f"Email/{project}", spec).status == 201
        assert len({encode(message) for message in queued}) == 3
        for _ in range(2):
            queues.send_many(settings().email_queue_url, queued)
            api.drain()
        assert len(mails(spec["subject"])) == 3
