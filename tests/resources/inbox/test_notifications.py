"""Notifications: who is told of what, how often they are mailed, and that nobody reads what they may not see."""

from __future__ import annotations

import re

import pytest

from chalicelib.resources.notifications import service as notifications_service
from chalicelib.resources.notifications.schemas import INBOX
from chalicelib.storage.dynamodb import records
from tests.resources.media.samples import media_type
from tests.resources.transcodes.test_transcodes import sent
from tests.service import Api, join, new_user


@pytest.fixture
def media(api, project):
    return api.made(f"Medias/{project}", {"type": media_type(project), "name": "a.mp4", "md5": ""})


@pytest.fixture
def grace(project):
    user = new_user()
    join(user, project, "Can Edit")
    return user


def mention(api, project, media, user, text="look"):
    body = {"text": f"{text} @{user.user.username}", "media_id": media}
    return api.post(f"Comments/{project}", body).json["id"]


def told(user, **query):
    return [each["text"] for each in user.get("Notifications", **query).json]


def outbox(user):
    """The texts of the mails that a user got."""
    own = [mail for mail in sent() if [each.addr_spec for each in mail["To"].addresses] == [user.user.email]]
    return [mail.get_body(("plain",)).get_content() for mail in own]


class TestTelling:
    def test_a_mention_tells_the_member_and_not_its_author(self, api, project, media, grace):
        mention(api, project, media, grace)
        (notice,) = grace.get("Notifications").json
        assert notice["text"].startswith(f"{api.user.username} mentions you: look")
        assert (notice["topic"], notice["project"], notice["is_read"]) == ("mentions", project, False)
        assert f"/media/{media}?" in notice["link"]
        mention(api, project, media, api)
        assert told(api) == []

    def test_a_changed_text_tells_only_those_it_mentions_newly(self, api, project, media, grace):
        comment = mention(api, project, media, grace)
        api.patch(f"Comment/{comment}", {"text": f"again @{grace.user.username}"})
        assert len(told(grace)) == 1

    def test_a_rejection_tells_the_person_and_gives_the_reason(self, api, project, media, grace):
        api.post(f"Tasks/{project}", {"name": "survey", "media_ids": [media]})
        task = grace.post(f"NextTask/{project}", {}).json["id"]
        grace.patch(f"Task/{task}", {"state": "to review"})
        assert told(grace) == []
        api.post(f"NextTask/{project}", {"stage": "review"})
        api.patch(f"Task/{task}", {"state": "rejected", "reason": "too large"})
        assert told(grace) == [f"Task {task} of survey is rejected: too large"]

    def test_none_keeps_nothing(self, api, project, media, grace):
        assert grace.patch("NotificationSettings", {"mentions": "none"}).json["mentions"] == "none"
        mention(api, project, media, grace)
        assert told(grace) == []

    def test_read_ones_are_left_out_on_request(self, api, project, media, grace):
        mention(api, project, media, grace)
        mention(api, project, media, grace)
        first = grace.get("Notifications").json[0]["id"]
        assert grace.patch("Notifications", {"ids": [first]}).status == 200
        assert (len(told(grace)), len(told(grace, unread=True))) == (2, 1)
        grace.patch("Notifications", {})
        assert told(grace, unread=True) == []

    @pytest.mark.parametrize(("body", "named"), [({}, "mentions"), ({"mentions": "pigeon"}, "mentions")])
    def test_wrong_settings_are_refused_by_name(self, grace, body, named):
        answer = grace.patch("NotificationSettings", body)
        assert (answer.status, named in str(answer.json)) == (400, True)


class TestVisibility:
    def test_what_is_gone_or_out_of_reach_is_not_told(self, api, project, media, grace):
        comment = mention(api, project, media, grace)
        api.delete(f"Media/{media}")
        assert told(grace) == []
        other = api.made(f"Medias/{project}", {"type": media_type(project), "name": "b.mp4", "md5": ""})
        comment = mention(api, project, other, grace)
        assert len(told(grace)) == 1
        api.patch(f"Comment/{comment}", {"text": "nobody"})
        assert told(grace) == []

    def test_who_left_the_project_reads_nothing_of_it(self, api, project, media, grace):
        mention(api, project, media, grace)
        (own,) = [each for each in api.get(f"Memberships/{project}").json if each["user"] == grace.user.id]
        api.delete(f"Membership/{own['id']}")
        assert told(grace) == []


class TestMails:
    @pytest.fixture(autouse=True)
    def _at_once(self, monkeypatch):
        monkeypatch.setattr(notifications_service, "MAIL_DELAY", 0)

    def test_a_flood_is_one_mail(self, api, project, media, grace):
        grace.patch("NotificationSettings", {"mentions": "mail"})
        for turn in range(5):
            mention(api, project, media, grace, f"number {turn}")
        api.drain()
        (mail,) = outbox(grace)
        assert all(f"number {turn}" in mail for turn in range(5))
        mention(api, project, media, grace, "later")
        api.drain()
        assert [("later" in each, "number 1" in each) for each in outbox(grace)[1:]] == [(True, False)]

    def test_what_was_read_or_may_not_be_seen_is_not_mailed(self, api, project, media, grace):
        grace.patch("NotificationSettings", {"mentions": "mail"})
        mention(api, project, media, grace, "seen")
        grace.patch("Notifications", {})
        gone = mention(api, project, media, grace, "withdrawn")
        api.delete(f"Comment/{gone}")
        api.drain()
        assert outbox(grace) == []

    def test_a_digest_comes_once_a_day(self, api, project, media, grace):
        grace.patch("NotificationSettings", {"mentions": "daily"})
        mention(api, project, media, grace, "one")
        mention(api, project, media, grace, "two")
        api.drain()
        assert outbox(grace) == []
        notifications_service.order_digests()
        notifications_service.order_digests()
        api.drain()
        (mail,) = outbox(grace)
        assert "one" in mail
        assert "two" in mail
        assert records.get(INBOX, grace.user.id).digest is None

    def test_one_signed_link_ends_all_mails_and_a_get_of_it_none(self, api, project, media, grace):
        grace.patch("NotificationSettings", {"mentions": "mail", "tasks": "daily", "jobs": "none"})
        mention(api, project, media, grace)
        api.drain()
        (mail,) = outbox(grace)
        path = re.search(r"/unsubscribe\?\S+", mail)[0]
        visitor = Api(None)
        assert visitor.get(path).status == 200
        assert grace.get("NotificationSettings").json["mentions"] == "mail"
        assert visitor.post(path[:-1] + ("0" if path[-1] != "0" else "1")).status == 404
        assert visitor.post(path[:-1] + "%C3%A9").status == 404
        assert visitor.post(path).status == 200
        ways = grace.get("NotificationSettings").json
        assert (ways["mentions"], ways["tasks"], ways["jobs"]) == ("console", "console", "none")
