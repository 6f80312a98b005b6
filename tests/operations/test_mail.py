"""Mail to members of a project."""

import pytest

from chalicelib.settings import settings
from chalicelib.storage import objects
from tests.conftest import new_user
from tests.operations.media_things import uploaded
from tests.operations.test_transcodes import key_of, sent


@pytest.fixture
def spec(api):
    return {"recipients": [f"Ada <{api.user.email}>"], "subject": "Hello", "text": "Text"}


class TestSendEmail:
    def test_a_member_gets_it_with_what_was_attached(self, api, project, spec):
        key = key_of(uploaded(api, project, b"a,b\n", "r.csv"))
        said = api.post(f"Email/{project}", {**spec, "attachments": [{"key": key, "name": "r.csv"}]})
        assert (said.status, said.json) == (201, {"message": "Email message sent!"})
        before = len(sent())
        api.drain()  # other tests' letters may go out with it
        (mail,) = [each for each in sent()[before:] if each["Subject"] == "Hello"]
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

    def test_files_of_other_projects_cannot_be_attached(self, api, project, spec, organization):
        other = api.made("Projects", {"name": "other", "organization": organization})
        key = key_of(uploaded(api, other, b"secret"))
        assert api.post(f"Email/{project}", {**spec, "attachments": [{"key": key, "name": "x"}]}).status == 403

    def test_what_is_not_there_or_too_large_cannot_be_attached(self, api, project, spec):
        key = key_of(uploaded(api, project, bytes(8_000_000)))
        body = {**spec, "attachments": [{"key": key, "name": "x"}]}
        assert api.post(f"Email/{project}", body).status == 413
        objects.remove([key])
        assert api.post(f"Email/{project}", body).status == 400

    def test_it_needs_execute(self, member, project, spec):
        assert member("Can Transfer").post(f"Email/{project}", spec).status == 403

    def test_where_mail_is_switched_off_it_says_so(self, api, project, spec, monkeypatch):
        monkeypatch.setenv("LIMN_EMAIL_ENABLED", "false")
        settings.cache_clear()
        said = api.post(f"Email/{project}", spec)
        monkeypatch.undo()
        settings.cache_clear()
        assert said.status == 400
