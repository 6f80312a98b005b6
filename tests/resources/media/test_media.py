"""Media: made, listed, changed, deleted."""

import uuid

import pytest
from PIL import Image

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import SECTION, Section
from chalicelib.core.models.media_files import ImageDefinition, MediaFiles, VideoDefinition
from chalicelib.core.values.attributes import AttributeType
from chalicelib.storage.dynamodb import entities, ids, records
from tests import objects
from tests.resources.media.samples import box_type, media_type, picture, state_type, uploaded

ATTRIBUTES = [AttributeType(name="Species", dtype="string"), AttributeType(name="Depth", dtype="int", default=5)]


@pytest.fixture
def video_type(project):
    return media_type(project, attribute_types=ATTRIBUTES)


@pytest.fixture
def image_type(project):
    return media_type(project, "image", attribute_types=ATTRIBUTES)


@pytest.fixture
def media(api, project, video_type):
    return api.made(f"Medias/{project}", {"type": video_type, "name": "a.mp4", "md5": ""})


def folder(project, name="Folder"):
    number = ids.reserve(SECTION.name)[0]
    made = Section(
        id=number,
        project=project,
        name=name,
        path=f"{name}{number}",
        tator_user_sections=str(uuid.uuid1()),
        elemental_id=str(uuid.uuid4()),
    )
    return records.create(SECTION, made)


class TestCreateMediaList:
    def test_a_video_record_has_no_files(self, api, project, video_type):
        said = api.post(f"Medias/{project}", {"type": video_type, "name": "a.mp4", "md5": "", "attributes": None})
        assert said.status == 201
        found = api.get(f"Media/{said.json['id']}").json
        assert found["media_files"] is None
        assert found["attributes"] == {"Depth": 5, "tator_user_sections": "", "svc_user_sections": ""}
        assert said.json["object"] == found

    def test_one_in_a_list_answers_with_lists(self, api, project, video_type):
        said = api.post(f"Medias/{project}", [{"type": video_type, "name": "a.mp4", "md5": ""}])
        assert isinstance(said.json["id"], list)
        assert said.json["object"][0]["name"] == "a.mp4"

    def test_images_are_imported_later_with_exact_sizes(self, api, project, image_type):
        body = [
            {"type": image_type, "name": f"{number}.jpg", "md5": "", "url": uploaded(api, project, picture(), "x.jpg")}
            for number in range(3)
        ]
        said = api.post(f"Medias/{project}", body)
        assert "3" in said.message
        assert [one["media_files"] for one in said.json["object"]] == [{}] * 3
        api.drain()
        for number in said.json["id"]:
            found = api.get(f"Media/{number}").json
            image = found["media_files"]["image"][0]
            assert (found["width"], found["height"], image["resolution"]) == (640, 480, [480, 640])
            assert image["size"] == objects.size(image["path"])
            assert found["media_files"]["thumbnail"][0]["mime"] == "image/jpeg"

    def test_a_turned_photograph_becomes_upright(self, api, project, image_type):
        exif = Image.Exif()
        exif[0x0112] = 6
        url = uploaded(api, project, picture(64, 32, exif=exif), "x.jpg")
        media = api.made(f"Medias/{project}", {"type": image_type, "name": "a.jpg", "md5": "", "url": url})
        api.drain()
        found = api.get(f"Media/{media}").json
        assert (found["width"], found["height"]) == (32, 64)
        assert found["media_files"]["image"][0]["mime"] == "image/png"

    def test_what_is_no_image_leaves_the_media_without_files(self, api, project, image_type):
        url = uploaded(api, project, b"<html>", "x.jpg")
        media = api.made(f"Medias/{project}", {"type": image_type, "name": "a.jpg", "md5": "", "url": url})
        api.drain()
        found = api.get(f"Media/{media}").json
        assert (found["media_files"], "image" in found["import_error"]) == ({}, True)

    def test_one_bad_item_creates_nothing(self, api, project, image_type):
        body = [{"type": image_type, "name": f"{number}.jpg", "md5": ""} for number in range(20)]
        body[13]["attributes"] = {"Depth": "deep"}
        said = api.post(f"Medias/{project}", body)
        assert said.status == 400
        assert "Depth" in said.message + said.json["details"]
        assert api.get(f"MediaCount/{project}").json == 0

    @pytest.mark.parametrize(
        "change",
        [
            {"name": None},
            {"md5": None},
            {"md5": "x" * 33},
            {"type": -2},
            {"section_id": 99_999},
            {"elemental_id": "x"},
            {"attributes": {"Depth": []}},
        ],
    )
    def test_what_breaks_a_rule_is_refused(self, api, project, video_type, change):
        body = {"type": video_type, "name": "a.mp4", "md5": "", **change}
        body = {name: value for name, value in body.items() if value is not None}
        assert api.post(f"Medias/{project}", body).status == 400

    def test_unknown_type_is_404_and_that_of_another_project_400(self, api, project, organization):
        body = {"name": "a.mp4", "md5": ""}
        own = media_type(project)
        said = api.post(f"Medias/{project}", {**body, "type": 9_999_999})
        assert said.status == 404
        assert said.message.startswith(f"type: the project has no media type 9999999; it has {own} ")
        other = api.made("Projects", {"name": "other", "organization": organization})
        assert api.post(f"Medias/{project}", {**body, "type": media_type(other)}).status == 400

    def test_several_must_be_images_and_an_empty_list_is_refused(self, api, project, video_type):
        body = [{"type": video_type, "name": "a.mp4", "md5": ""}] * 2
        assert api.post(f"Medias/{project}", body).status == 400
        assert api.post(f"Medias/{project}", []).status == 400

    def test_a_url_from_elsewhere_is_forbidden_before_anything_else_is_missed(self, api, project, image_type):
        said = api.post(f"Medias/{project}", {"type": image_type, "url": "https://example.com/a.jpg"})
        assert said.status == 403
        assert "not from an allowed origin" in said.message

    def test_minus_one_chooses_the_type_by_the_name(self, api, project, video_type, image_type):
        for name, type_ in (("a.png", image_type), ("a.MTS", video_type)):
            made = api.post(f"Medias/{project}", {"type": -1, "name": name, "md5": ""}).json["object"]
            assert made["type"] == type_
        assert api.post(f"Medias/{project}", {"type": -1, "name": "a.unheard", "md5": ""}).status == 400

    @pytest.mark.parametrize(
        ("name", "dtype", "kind"),
        [("a.mp4", "image", "video"), ("a.png", "video", "image"), ("a.mov", "multi", "video")],
    )
    def test_minus_one_refuses_a_file_that_no_type_of_the_project_is_for(self, api, project, name, dtype, kind):
        api.made(f"MediaTypes/{project}", {"name": "Only one", "dtype": dtype})
        url = api.post(f"DownloadInfo/{project}", {"keys": [api.get(f"UploadInfo/{project}").json["key"]]}).json[0][
            "url"
        ]
        file = {"type": -1, "name": name, "md5": "", "url": url}
        asked = [api.post(f"Medias/{project}", file), api.post(f"Medias/{project}", {**file, "reference_only": 1})]
        if kind == "video":
            uids = {"gid": str(uuid.uuid4()), "uid": str(uuid.uuid4())}
            asked.append(api.post(f"Transcodes/{project}", {"type": -1, "name": name, "url": url, "size": 9, **uids}))
        for said in asked:
            assert said.status == 400, said.body
            assert f"no media type of {kind}s" in said.message
            assert f"Only one ({dtype})" in said.message
        assert api.get(f"MediaCount/{project}").json == 0

    def test_folders_by_id_give_their_tag(self, api, project, video_type):
        section = folder(project)
        body = {"type": video_type, "name": "a.mp4", "md5": "", "section_id": section.id}
        made = api.post(f"Medias/{project}", body).json["object"]
        assert made["primary_section"] == section.id
        assert made["attributes"]["tator_user_sections"] == section.tator_user_sections

    def test_editors_may_not_create(self, member, project, video_type):
        body = {"type": video_type, "name": "a.mp4", "md5": ""}
        assert member("Can Edit").post(f"Medias/{project}", body).status == 403


class TestGetMedia:
    def with_files(self, media, project, organization):
        key = f"{organization}/{project}/{media}"
        stream = VideoDefinition(path=f"{key}/a.mp4", segment_info=f"{key}/a.json", codec="h264", resolution=[1, 1])
        still = ImageDefinition(path=f"{key}/t.jpg", resolution=[1, 1])
        outside = VideoDefinition(path="https://example.com/v.mp4", codec="h264", resolution=[1, 1], reference_only=1)
        files = MediaFiles(streaming=[stream], thumbnail=[still], archival=[outside])

        def how(current):
            current.media_files = files
            return current

        entities.edit(Kind.MEDIA, media, how, user=None)

    def test_paths_become_urls_and_urls_stay(self, api, project, organization, media):
        self.with_files(media, project, organization)
        files = api.get(f"Media/{media}", presigned=600).json["media_files"]
        assert "X-Amz-Expires=600" in files["streaming"][0]["path"]
        assert "X-Amz-Expires=600" in files["streaming"][0]["segment_info"]
        assert files["archival"][0]["path"] == "https://example.com/v.mp4"

    def test_an_earlier_url_is_given_again_unless_no_cache(self, api, project, organization, media):
        self.with_files(media, project, organization)

        def path(**query):
            return api.get(f"Medias/{project}", **query).json[0]["media_files"]["streaming"][0]["path"]

        first = path(presigned=7200)
        assert path(presigned=86_400) == first
        assert "X-Amz-Expires=86400" in path(presigned=86_400, no_cache=True)
        assert path(presigned=86_400) == first

    def test_presign_only_leaves_other_roles_alone(self, api, project, organization, media):
        self.with_files(media, project, organization)
        found = api.get(f"Medias/{project}", presigned=600, presign_only="thumbnail").json[0]["media_files"]
        assert found["thumbnail"][0]["path"].startswith("http")
        assert not found["streaming"][0]["path"].startswith("http")

    def test_bounds_hold(self, api, media):
        assert api.get(f"Media/{media}", presigned=0).status == 400
        assert api.get(f"Media/{media}", presigned=700_000).status == 400

    def test_strangers_see_404(self, stranger, media):
        assert stranger.get(f"Media/{media}").status == 404


class TestUpdateMedia:
    def test_zero_is_a_value(self, api, media):
        assert api.patch(f"Media/{media}", {"num_frames": 0, "fps": 0.0, "name": "b.mp4"}).status == 200
        found = api.get(f"Media/{media}").json
        assert (found["num_frames"], found["fps"], found["name"]) == (0, 0.0, "b.mp4")

    def test_attributes_merge_and_reset(self, api, media):
        api.patch(f"Media/{media}", {"attributes": {"Species": "Tuna", "Depth": 7}})
        assert api.patch(f"Media/{media}", {"reset_attributes": ["Depth"]}).status == 200
        found = api.get(f"Media/{media}").json["attributes"]
        assert (found["Species"], found["Depth"]) == ("Tuna", 5)
        assert api.patch(f"Media/{media}", {"attributes": {"Unknown": 1}}).status == 400

    def test_section_and_tag_follow_each_other(self, api, project, media):
        section = folder(project)
        api.patch(f"Media/{media}", {"primary_section": section.id})
        found = api.get(f"Media/{media}").json
        assert found["attributes"]["tator_user_sections"] == section.tator_user_sections
        api.patch(f"Media/{media}", {"primary_section": -1})
        found = api.get(f"Media/{media}").json
        assert (found["primary_section"], found["attributes"]["tator_user_sections"]) == (None, "")
        api.patch(f"Media/{media}", {"attributes": {"tator_user_sections": section.tator_user_sections}})
        assert api.get(f"Media/{media}").json["primary_section"] == section.id
        assert api.patch(f"Media/{media}", {"primary_section": 99_999}).status == 400

    @pytest.mark.parametrize(
        ("wishes", "state"),
        [(["to_archive"], "to_archive"), (["to_live"], "live"), (["to_archive", "to_live"], "live")],
    )
    def test_archive_states(self, api, media, wishes, state):
        for wish in wishes:
            assert api.patch(f"Media/{media}", {"archive_state": wish}).status == 200
        assert api.get(f"Media/{media}").json["archive_state"] == state
        assert api.patch(f"Media/{media}", {"archive_state": "live"}).status == 400

    def test_unrelated_changes_leave_the_archive_date(self, api, media):
        before = api.get(f"Media/{media}").json
        api.patch(f"Media/{media}", {"name": "c.mp4"})
        after = api.get(f"Media/{media}").json
        assert after["archive_status_date"] == before["archive_status_date"]
        assert after["modified_datetime"] > before["modified_datetime"]

    def test_a_multi_shows_others_in_order_and_hands_archiving_on(self, api, project, media, video_type):
        parts = [api.made(f"Medias/{project}", {"type": video_type, "name": f"{n}", "md5": ""}) for n in range(2)]
        body = {"multi": {"ids": [parts[1], parts[0]], "layout": [1, 2], "quality": 0}}
        assert api.patch(f"Media/{media}", body).status == 200
        files = api.get(f"Media/{media}").json["media_files"]
        assert files == {"ids": [parts[1], parts[0]], "layout": [1, 2]}
        api.patch(f"Media/{media}", {"archive_state": "to_archive"})
        assert [api.get(f"Media/{part}").json["archive_state"] for part in parts] == ["to_archive"] * 2
        assert api.patch(f"Media/{media}", {"concat": [{"id": parts[0], "timestampOffset": 0}]}).status == 400

    def test_members_of_a_multi_must_exist_once_each(self, api, media):
        assert api.patch(f"Media/{media}", {"multi": {"ids": [media, media]}}).status == 400
        assert api.patch(f"Media/{media}", {"multi": {"ids": [9_999_999]}}).status == 400

    def test_files_given_replace_their_role_and_must_be_the_media_s_own(self, api, project, organization, media):
        still = {"path": f"{organization}/{project}/{media}/t.jpg", "resolution": [2, 3]}
        assert api.patch(f"Media/{media}", {"media_files": {"thumbnail": [still]}}).status == 200
        assert api.get(f"Media/{media}").json["media_files"] == {"thumbnail": [still]}
        foreign = {**still, "path": f"{organization}/{project}/999999/t.jpg"}
        assert api.patch(f"Media/{media}", {"media_files": {"thumbnail": [foreign]}}).status == 403

    def test_viewers_may_not(self, member, media):
        assert member("View Only").patch(f"Media/{media}", {"name": "x"}).status == 403


def states(api, project, number):
    """The archive states that the change log tells of after the creation: before and after each change."""
    logged = api.get(f"ChangeLog/{project}", entity_id=number, entity_type="media").json[1:]
    changes = [log["description_of_change"] for log in logged]
    sides = [change[side] for change in changes for side in ("old", "new")]
    return [each["value"] for side in sides for each in side if each["name"] == "_archive_state"]


class TestBulk:
    @pytest.fixture
    def many(self, api, project, image_type):
        body = [{"type": image_type, "name": f"{number:02}.jpg", "md5": ""} for number in range(5)]
        return api.made(f"Medias/{project}", body)

    def test_text_survives_verbatim(self, api, project, many):
        text = 'line\nbreak \\ "quotes"'
        said = api.patch(f"Medias/{project}", {"attributes": {"Species": text}}, media_id=many[:3])
        assert "3" in said.message
        found = api.get(f"Medias/{project}").json
        assert [one["attributes"].get("Species") for one in found] == [text] * 3 + [None] * 2

    def test_count_protects(self, api, project, many):
        for method in (api.patch, api.delete):
            said = method(f"Medias/{project}", {"attributes": {"Depth": 1}, "ids": many}, count=4)
            assert said.status == 400
        assert api.get(f"MediaCount/{project}", attribute="Depth::5").json == 5
        assert api.patch(f"Medias/{project}", {"primary_section": -1}, media_id=many[0], count=1).status == 200

    def test_several_types_at_once_are_refused(self, api, project, many, media):
        body = {"attributes": {"Depth": 1}, "ids": [media, *many]}
        assert api.patch(f"Medias/{project}", body).status == 400
        assert api.patch(f"Medias/{project}", {"ids": many}).status == 400

    def test_archived_media_leave_the_list_unless_named(self, api, project, many):
        api.patch(f"Medias/{project}", {"archive_state": "to_archive", "ids": many[:2]})
        assert api.get(f"MediaCount/{project}").json == 3
        assert api.get(f"MediaCount/{project}", media_id=many).json == 5
        assert api.put(f"MediaCount/{project}", {"ids": many}, archive_lifecycle="archived").json == 2

    def test_the_change_log_tells_the_archive_state_before_and_after(self, api, project, many):
        api.patch(f"Medias/{project}", {"archive_state": "to_archive", "ids": many[:2]})
        api.patch(f"Medias/{project}", {"archive_state": "to_live", "ids": many})
        assert [states(api, project, number) for number in many[1:3]] == [
            ["live", "to_archive", "to_archive", "live"],
            [],
        ]

    def test_the_change_log_tells_of_media_that_another_shows(self, api, project, media, video_type):
        parts = [api.made(f"Medias/{project}", {"type": video_type, "name": name, "md5": ""}) for name in "ab"]
        api.patch(f"Media/{media}", {"multi": {"ids": parts, "layout": [1, 2]}})
        api.patch(f"Medias/{project}", {"archive_state": "to_archive", "ids": [media]})
        api.patch(f"Media/{media}", {"archive_state": "to_live"})
        assert states(api, project, parts[0]) == ["live", "to_archive", "to_archive", "live"]

    def test_the_change_log_tells_of_the_first_that_changes(self, api, project, many):
        api.patch(f"Media/{many[0]}", {"attributes": {"Depth": 7}})
        api.patch(f"Medias/{project}", {"attributes": {"Depth": 7}, "ids": many})
        logged = api.get(f"ChangeLog/{project}", entity_id=many[1], entity_type="media").json
        change = logged[-1]["description_of_change"]
        assert {"name": "Depth", "value": 5} in change["old"]
        assert {"name": "Depth", "value": 7} in change["new"]
        assert len(logged) == 2

    def test_0_becomes_false_and_1_becomes_true(self, api, project, many):
        for url, more in ((f"Media/{many[0]}", {}), (f"Medias/{project}", {"ids": many[:1]})):
            for value in (0, False, 1, True):
                assert api.patch(url, {"attributes": {"Species": value}, **more}).status == 200
                assert api.get(f"Media/{many[0]}").json["attributes"]["Species"] is value

    def test_nothing_matched_is_no_error(self, api, project, many):
        said = api.patch(f"Medias/{project}", {"attributes": {"Depth": 1}}, name="none")
        assert (said.status, "0" in said.message) == (200, True)


class TestDeleteMedia:
    def test_what_lies_on_it_goes_with_it_at_once(self, api, project, media, video_type):
        other = api.made(f"Medias/{project}", {"type": video_type, "name": "b.mp4", "md5": ""})
        boxes, state = box_type(project, video_type), state_type(project, video_type)
        box = {"type": boxes, "frame": 0, "x": 0, "y": 0, "width": 0.1, "height": 0.1}
        api.made(f"Localizations/{project}", [{**box, "media_id": media}] * 12)
        api.made(f"Localizations/{project}", {**box, "media_id": other})
        both, alone = api.made(
            f"States/{project}", [{"type": state, "media_ids": [media, other]}, {"type": state, "media_ids": [media]}]
        )
        assert api.delete(f"Media/{media}").status == 200
        assert api.get(f"Media/{media}").status == 404
        assert api.get(f"LocalizationCount/{project}").json == 1
        assert [one["id"] for one in api.get(f"States/{project}").json] == [both]
        api.delete(f"Medias/{project}", {"ids": [other]})
        assert api.get(f"StateCount/{project}").json == 0
        assert api.get(f"State/{alone}").status == 404

    @pytest.mark.parametrize("word", ["Localization", "State"])
    def test_an_earlier_mark_on_another_media_counts_again(self, api, project, media, video_type, word):
        other = api.made(f"Medias/{project}", {"type": video_type, "name": "b.mp4", "md5": ""})
        if word == "Localization":
            spec = {"type": box_type(project, video_type), "frame": 0, "elemental_id": str(uuid.uuid4())}
            first = api.made(f"Localizations/{project}", {**spec, "media_id": other})
            api.made(f"Localizations/{project}", {**spec, "media_id": media})
        else:
            spec = {"type": state_type(project, video_type), "elemental_id": str(uuid.uuid4())}
            first = api.made(f"States/{project}", {**spec, "media_ids": [other]})
            api.made(f"States/{project}", {**spec, "media_ids": [media]})
        assert api.delete(f"Media/{media}").status == 200
        number = first[0] if isinstance(first, list) else first
        assert [one["id"] for one in api.get(f"{word}s/{project}").json] == [number]
        assert api.patch(f"{word}/{number}", {"attributes": {}}).status == 200

    def test_viewers_may_not(self, member, media):
        assert member("View Only").delete(f"Media/{media}").status == 403
