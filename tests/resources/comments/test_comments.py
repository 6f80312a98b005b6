"""Comments: what they are on, who sees and changes them, threads, mentions."""

import pytest

from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.core.permissions import Level
from chalicelib.settings import override
from tests.resources.media.samples import media_type
from tests.service import join, new_user


@pytest.fixture
def media(api, project):
    type_ = media_type(project)
    return api.made(f"Medias/{project}", {"type": type_, "name": "a.mp4", "md5": ""})


@pytest.fixture
def box(api, project, media):
    types = [api.get(f"Media/{media}").json["type"]]
    type_ = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": types})
    spec = {"media_id": media, "type": type_, "frame": 7, "x": 0, "y": 0, "width": 0.1, "height": 0.1}
    return api.made(f"Localizations/{project}", [spec])[0]


def said(api, project, **members):
    return api.made(f"Comments/{project}", {"text": "Is this a cod?", **members})


class TestTargets:
    def test_a_comment_on_a_span_of_frames_reads_back_whole(self, api, project, media):
        region = {"x": 0.1, "y": 0.2, "width": 0.5, "height": 0.25}
        number = said(api, project, media_id=media, frame=3, end_frame=9, region=region)
        found = api.get(f"Comment/{number}").json
        assert (found["media_id"], found["frame"], found["end_frame"]) == (media, 3, 9)
        assert found["region"] == region
        assert found["resolved"] is False
        assert found["created_by"] == api.user.id

    def test_a_comment_on_a_localization_has_its_media_and_frame(self, api, project, media, box):
        number = said(api, project, localization_id=box)
        found = api.get(f"Comment/{number}").json
        assert (found["media_id"], found["frame"], found["localization_id"]) == (media, 7, box)

    def test_frame_zero_is_a_frame(self, api, project, media):
        number = said(api, project, media_id=media, frame=0)
        assert api.get(f"Comment/{number}").json["frame"] == 0
        assert [each["id"] for each in api.get(f"Comments/{project}", frame=0).json] == [number]

    @pytest.mark.parametrize(
        ("members", "named"),
        [
            ({}, "media_id"),
            ({"media_id": 1, "state_id": 2}, "exactly one"),
            ({"media_id": 1, "text": ""}, "text"),
            ({"media_id": 1, "frame": -1}, "frame"),
            ({"media_id": 1, "colour": "red"}, "colour"),
        ],
    )
    def test_a_wrong_body_is_refused_by_name(self, api, project, members, named):
        answer = api.post(f"Comments/{project}", {"text": "x", **members})
        assert answer.status == 400
        assert named in str(answer.json)

    def test_a_frame_beside_a_localization_is_refused(self, api, project, box):
        answer = api.post(f"Comments/{project}", {"text": "x", "localization_id": box, "frame": 0})
        assert (answer.status, "frame" in answer.json["message"]) == (400, True)

    def test_a_span_that_ends_before_it_begins_is_refused(self, api, project, media):
        answer = api.post(f"Comments/{project}", {"text": "x", "media_id": media, "frame": 9, "end_frame": 3})
        assert (answer.status, "end_frame" in answer.json["message"]) == (400, True)

    def test_a_target_of_another_project_is_not_found(self, api, organization, media):
        other = api.made("Projects", {"name": f"other of {media}", "organization": organization})
        assert api.post(f"Comments/{other}", {"text": "x", "media_id": media}).status == 404


class TestThreads:
    def test_a_reply_has_the_target_of_its_thread(self, api, project, media):
        first = said(api, project, media_id=media, frame=4)
        reply = said(api, project, parent=first)
        nested = said(api, project, parent=reply)
        assert api.get(f"Comment/{nested}").json["parent"] == first
        assert api.get(f"Comment/{nested}").json["frame"] == 4
        assert [each["id"] for each in api.get(f"Comments/{project}", parent=first).json] == [reply, nested]

    def test_resolution_belongs_to_the_first_comment(self, api, project, media):
        first = said(api, project, media_id=media)
        reply = said(api, project, parent=first)
        assert api.patch(f"Comment/{reply}", {"resolved": True}).status == 400
        assert api.patch(f"Comment/{first}", {"resolved": True}).status == 200
        assert api.get(f"Comment/{first}").json["resolved_by"] == api.user.id
        assert [each["id"] for each in api.get(f"Comments/{project}", resolved=True).json] == [first]
        assert api.patch(f"Comment/{first}", {"resolved": False}).status == 200
        assert api.get(f"Comment/{first}").json["resolved_by"] is None

    def test_a_thread_is_deleted_whole(self, api, project, media):
        first = said(api, project, media_id=media)
        reply = said(api, project, parent=first)
        assert api.delete(f"Comment/{first}").status == 200
        assert api.get(f"Comment/{reply}").status == 404


class TestMentions:
    def test_members_are_mentioned_by_user_name(self, api, project, media):
        friend, stranger = new_user(), new_user()
        join(friend, project, "View Only")
        text = f"@{friend.user.username.upper()}, ask @{stranger.user.username} or a@{friend.user.username}"
        number = said(api, project, media_id=media, text=text)
        assert api.get(f"Comment/{number}").json["mentions"] == [friend.user.id]
        assert [each["id"] for each in friend.get(f"Comments/{project}", mentions=friend.user.id).json] == [number]

    def test_a_changed_text_changes_the_mentions(self, api, project, media):
        number = said(api, project, media_id=media, text=f"@{api.user.username}")
        assert api.patch(f"Comment/{number}", {"text": "nobody"}).status == 200
        assert api.get(f"Comment/{number}").json["mentions"] == []


class TestPermissions:
    def test_only_the_author_changes_the_text(self, api, project, media):
        number = said(api, project, media_id=media)
        editor = new_user()
        join(editor, project, "Can Edit")
        assert editor.patch(f"Comment/{number}", {"text": "no"}).status == 403
        assert editor.patch(f"Comment/{number}", {"resolved": True}).status == 200
        assert editor.delete(f"Comment/{number}").status == 403

    def test_a_comment_on_hidden_media_is_hidden(self, api, project, media, colleague):
        number = said(api, project, media_id=media)
        guest, seen = colleague, api.get(f"Media/{media}").json["type"]
        other = api.made(f"Medias/{project}", {"type": seen, "name": "b.mp4", "md5": ""})
        on_other = said(api, project, media_id=other)
        api.made("RowProtections", {"project": project, "user": guest.user.id, "permission": EXIST | READ})
        api.made("RowProtections", {"media": other, "user": guest.user.id, "permission": mask_of(Level.VIEW)})
        with override(fine_grained_permissions=True):
            assert guest.get(f"Comment/{number}").status == 404
            assert guest.get(f"Comment/{on_other}").status == 200
            assert [each["id"] for each in guest.get(f"Comments/{project}").json] == [on_other]

    def test_the_comments_of_a_deleted_target_come_back_with_it(self, api, project, media, box):
        number = said(api, project, localization_id=box)
        deletion = api.delete(f"Localization/{box}")
        assert deletion.status == 200
        assert api.get(f"Comment/{number}").status == 404
        assert api.get(f"Comments/{project}", media_id=media).json == []
        commit = max(
            event["commit"] for event in api.get(f"Events/{project}", kinds="localization.deleted").json["events"]
        )
        assert api.post(f"Restore/{project}", {"changes": [commit]}).status == 200
        assert api.get(f"Comment/{number}").status == 200


def test_events_tell_of_comments(api, project, media):
    start = api.get(f"Events/{project}", after="now").json["next"]
    number = said(api, project, media_id=media)
    api.patch(f"Comment/{number}", {"resolved": True})
    api.delete(f"Comment/{number}")
    events = api.get(f"Events/{project}", after=start, kinds="comment").json["events"]
    assert [event["type"] for event in events] == [f"limn.comment.{word}" for word in ("created", "updated", "deleted")]
    assert events[0]["data"]["text"] == "Is this a cod?"
    assert events[1]["data"]["resolved"] is True
