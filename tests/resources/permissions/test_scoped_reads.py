"""What change logs, graphics, clones and sums show where fine-grained permissions hide some things."""

import pytest

from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.core.permissions import Level
from tests.resources.media.samples import picture, uploaded

pytestmark = pytest.mark.usefixtures("fine_grained")


@pytest.fixture
def guest(api, project, colleague):
    """Somebody who reaches the project, and nothing in it."""
    api.made("RowProtections", {"project": project, "user": colleague.user.id, "permission": EXIST | READ})
    return colleague


@pytest.fixture
def show(api, guest):
    def show(**names):
        api.made("RowProtections", {**names, "user": guest.user.id, "permission": mask_of(Level.VIEW)})

    return show


@pytest.fixture
def things(api, project):
    """Two images with a box on each, and a track of both boxes."""
    image = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    types = {"media_types": [image]}
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", **types})
    track = api.made(f"StateTypes/{project}", {"name": "t", "association": "Localization", **types})
    media, boxes = [], []
    for name in "ab":
        spec = {"type": image, "name": name, "md5": "", "url": uploaded(api, project, picture(20, 20), "a.jpg")}
        media.append(api.made(f"Medias/{project}", spec))
        shape = {"x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}
        boxes += api.made(f"Localizations/{project}", {"type": box, "media_id": media[-1], "frame": 0, **shape})
    api.drain()
    state = api.made(f"States/{project}", {"type": track, "media_ids": media, "localization_ids": boxes})[0]
    return media, boxes, state


def test_change_logs_tell_of_what_may_be_seen(api, project, guest, show, things):
    media, boxes, _ = things
    assert guest.get(f"ChangeLog/{project}", user_id=api.user.id).json == []
    show(media=media[0])
    found = guest.get(f"ChangeLog/{project}", user_id=api.user.id).json
    told = [{item["name"]: item["value"] for item in log["description_of_change"]["new"]} for log in found]
    assert [new["_id"] for new in told if "_md5" in new] == media[:1]
    assert [new["_id"] for new in told if "_x" in new] == boxes[:1]
    assert guest.get(f"ChangeLog/{project}", entity_id=media[1], entity_type="media").json == []


def test_a_box_shows_nothing_of_a_media_that_is_hidden(api, project, guest, show, things):
    media, boxes, state = things
    show(localization=boxes[0])
    show(state=state)
    assert guest.get(f"Localization/{boxes[0]}").status == 200
    assert guest.get(f"LocalizationGraphic/{boxes[0]}").status == 404
    assert guest.get(f"StateGraphic/{state}").status == 404
    show(media=media[0])
    assert guest.get(f"LocalizationGraphic/{boxes[0]}").status == 200
    assert guest.get(f"StateGraphic/{state}").status == 404
    assert guest.get(f"StateGraphic/{state}", length=1).status == 200
    assert guest.get(f"StateGraphic/{state}", length=1, interpolate=True).status == 404
    show(media=media[1])
    assert guest.get(f"StateGraphic/{state}").status == 200


def test_clones_and_sums_leave_out_what_is_hidden(api, project, guest, show, things):
    media, _, _ = things
    type_ = api.get(f"Media/{media[0]}").json["type"]
    (copy,) = api.made(f"CloneMedia/{project}", {"dest_project": project, "dest_type": type_}, media_id=media[0])
    show(media=media[0])
    assert api.get(f"GetClonedMedia/{media[0]}").json["ids"] == [media[0], copy]
    assert guest.get(f"GetClonedMedia/{media[0]}").json["ids"] == [media[0]]
    assert guest.get(f"MediaStats/{project}").json["count"] == 1
    assert guest.get(f"MediaNext/{media[0]}").json == {"next": -1}
    assert guest.post(f"CloneMedia/{project}", {"dest_project": project, "dest_type": type_}).status == 403


def test_files_that_are_hidden_are_not_listed(api, project, guest, show):
    kind = api.made(f"FileTypes/{project}", {"name": "f"})
    numbers = [api.made(f"Files/{project}", {"name": name, "description": "", "type": kind}) for name in "ab"]
    show(file=numbers[1])
    assert [file["id"] for file in guest.get(f"Files/{project}").json] == numbers[1:]
    assert [guest.get(f"File/{number}").status for number in numbers] == [404, 200]
    assert guest.delete(f"File/{numbers[1]}").status == 403


ROUND = mask_of(Level.TRANSFER)


def allow(api, who, permission, **names):
    api.made("RowProtections", {**names, "user": who.user.id, "permission": permission})


def folders(api, project):
    return [api.made(f"Sections/{project}", {"name": name}) for name in ("open", "closed")]


class TestWriting:
    """Who may write in one section, version or media only writes there, and as whoever may do it everywhere."""

    def test_media_are_made_in_and_moved_to_open_sections_only(self, api, project, guest):
        image = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
        opened, closed = folders(api, project)
        spec = {"type": image, "name": "a.jpg", "md5": ""}
        assert guest.post(f"Medias/{project}", {**spec, "section_id": opened}).status == 403  # no level to create
        allow(api, guest, ROUND, section=opened)
        said = guest.post(f"Medias/{project}", {**spec, "section_id": opened})
        assert said.status == 201
        assert said.json["object"]["effective_permission"] == ROUND >> 8
        number = said.json["id"]
        for place, status in (({"section_id": closed}, 400), ({}, 403), ({"section": "another"}, 403)):
            assert guest.post(f"Medias/{project}", {**spec, **place}).status == status, place
        assert {section["name"] for section in api.get(f"Sections/{project}").json} == {"open", "closed"}
        assert guest.patch(f"Media/{number}", {"primary_section": closed}).status == 400
        assert guest.patch(f"Medias/{project}", {"primary_section": closed}).status == 400
        assert guest.patch(f"Medias/{project}", {"primary_section": opened}).status == 200
        assert guest.get(f"Media/{number}").json["primary_section"] == opened

    def test_annotations_are_made_on_open_media_and_moved_to_open_versions_only(self, api, project, guest, things):
        media, boxes, state = things
        kind = api.get(f"Localization/{boxes[0]}").json["type"]
        track = api.get(f"State/{state}").json["type"]
        other = api.made(f"Versions/{project}", {"name": "other"})
        shape = {"type": kind, "frame": 0, "x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1}
        allow(api, guest, ROUND, media=media[0])
        assert guest.post(f"Localizations/{project}", [{**shape, "media_id": media[1]}]).status == 400
        both = [{**shape, "media_id": number} for number in media]
        said = guest.post(f"Localizations/{project}", both)
        assert (said.status, said.message) == (400, f"[1].media_id: the project has no media {media[1]}.")
        (mine,) = guest.made(f"Localizations/{project}", [{**shape, "media_id": media[0]}])
        assert guest.get(f"Localization/{mine}").json["effective_permission"] == ROUND >> 8
        assert guest.post(f"States/{project}", [{"type": track, "media_ids": media[1:]}]).status == 400
        own = api.get(f"Localization/{boxes[1]}").json["version"]
        allow(api, guest, mask_of(Level.EDIT), version=own)
        assert guest.patch(f"Localization/{boxes[1]}", {"version": other}).status == 400
        said = guest.patch(f"Localizations/{project}", {"new_version": other, "ids": [boxes[1]]})
        assert said.status == 400
        assert guest.patch(f"Localization/{boxes[0]}", {"version": other}).status == 400
        allow(api, guest, mask_of(Level.VIEW), version=other)
        assert guest.patch(f"Localization/{boxes[1]}", {"version": other}).status == 403
        said = guest.patch(f"Localizations/{project}", {"new_version": other, "ids": [boxes[1]]})
        assert said.status == 403
        assert guest.patch(f"Localization/{boxes[0]}", {"version": other}).status == 200
        assert api.get(f"Localization/{boxes[1]}").json["version"] == own

    def test_a_track_is_merged_with_open_ones_only(self, api, project, guest, things):
        media, _, state = things
        track = api.get(f"State/{state}").json["type"]
        (other,) = api.made(f"States/{project}", [{"type": track, "media_ids": media[1:]}])
        allow(api, guest, mask_of(Level.EDIT), state=state)
        assert guest.patch(f"MergeStates/{state}", {"merge_state_id": other}).status == 400
        allow(api, guest, mask_of(Level.VIEW), state=other)
        assert guest.patch(f"MergeStates/{state}", {"merge_state_id": other}).status == 403
        allow(api, guest, mask_of(Level.EDIT), state=other)
        assert guest.patch(f"MergeStates/{state}", {"merge_state_id": other}).status == 200

    def test_who_may_write_a_part_deletes_that_part(self, api, project, guest, things):
        _, boxes, _ = things
        assert guest.delete(f"Localizations/{project}").status == 403
        allow(api, guest, mask_of(Level.EDIT), localization=boxes[1])
        assert guest.delete(f"Localizations/{project}", count=2).status == 400
        assert guest.delete(f"Localizations/{project}", count=1).status == 200
        assert [box["id"] for box in api.get(f"Localizations/{project}").json] == boxes[:1]

    def test_naming_another_author_takes_full_control_of_the_project(self, api, project, guest, things):
        allow(api, guest, mask_of(Level.FULL), version=api.get(f"Versions/{project}").json[0]["id"])
        change = {"attributes": {}, "user_elemental_id": api.get("User/GetCurrent").json["elemental_id"]}
        assert guest.patch(f"Localizations/{project}", change).status == 403

    def test_sections_change_together_as_they_do_alone(self, api, project, guest):
        opened, _ = folders(api, project)
        for name in ("open", "closed"):
            api.made(f"Sections/{project}", {"name": f"in {name}", "path": f"{name}.in"})
        allow(api, guest, mask_of(Level.EDIT), section=opened)
        assert [section["id"] for section in guest.get(f"Sections/{project}").json] == [opened]
        assert guest.post(f"Sections/{project}", {"name": "new"}).status == 403
        said = guest.delete(f"Sections/{project}")
        assert said.message == "Successfully deleted 1 sections!"
        assert len(api.get(f"Sections/{project}").json) == 3


def test_urls_of_objects_are_as_open_as_what_they_belong_to(api, project, guest, things):
    media, _, _ = things
    keys = [api.get(f"Media/{number}").json["media_files"]["image"][0]["path"] for number in media]
    assert guest.post(f"DownloadInfo/{project}", {"keys": keys[:1]}).status == 403
    assert guest.get(f"UploadInfo/{project}").status == 403
    allow(api, guest, ROUND, media=media[0])
    assert guest.post(f"DownloadInfo/{project}", {"keys": keys[:1]}).status == 201
    assert guest.post(f"DownloadInfo/{project}", {"keys": keys}).status == 403
    assert guest.get(f"UploadInfo/{project}", media_id=media[0]).status == 200
    assert guest.get(f"UploadInfo/{project}", media_id=media[1]).status == 400
    parts = [{"PartNumber": number, "ETag": "x"} for number in (1, 2)]
    finish = {"key": keys[1], "upload_id": "x", "parts": parts}
    assert guest.post(f"UploadCompletion/{project}", finish).status == 403
    assert api.post(f"DownloadInfo/{project}", {"keys": keys}).status == 201


def test_uploads_of_other_users_are_open_only_to_users_who_see_all_media(api, project, guest, things):
    media, _, _ = things
    key = api.get(f"UploadInfo/{project}").json["key"]
    folder, user, name = key.rsplit("/", 2)
    assert int(user) == api.user.id
    guests = f"{folder}/{guest.user.id}/{name}"
    allow(api, guest, ROUND, media=media[0])
    assert guest.post(f"DownloadInfo/{project}", {"keys": [guests]}).status == 201
    assert guest.post(f"DownloadInfo/{project}", {"keys": [guests, key]}).status == 403
    assert api.post(f"DownloadInfo/{project}", {"keys": [guests, key]}).status == 201


def test_a_clone_opens_the_objects_it_shares(api, project, guest, things):
    media, _, _ = things
    type_ = api.get(f"Media/{media[0]}").json["type"]
    (copy,) = api.made(f"CloneMedia/{project}", {"dest_project": project, "dest_type": type_}, media_id=media[0])
    found = api.get(f"Media/{copy}").json["media_files"]
    allow(api, guest, ROUND, media=copy)
    assert guest.post(f"DownloadInfo/{project}", {"keys": [found["image"][0]["path"]]}).status == 201
    other = found["image"][0]["path"].rpartition("/")[0] + "/another.jpg"
    assert guest.post(f"DownloadInfo/{project}", {"keys": [other]}).status == 403


def test_marks_are_as_open_as_their_element(api, project, guest, show, things):
    _, boxes, _ = things
    box = api.get(f"Localization/{boxes[0]}").json
    path = f"Localization/{box['version']}/{box['elemental_id']}"
    assert guest.get(path).status == 404
    show(localization=boxes[0])
    assert guest.get(path).status == 200
    assert guest.patch(path, {"x": 0.2}).status == 403
    assert api.patch(path, {"x": 0.2}).status == 200
    assert guest.get(path).status == 404  # the next mark is another row, which nobody opened
    assert guest.get(path, mark=0).status == 404
    assert guest.get(f"Localization/{box['version']}/00000000-0000-1000-8000-000000000000").status == 404


def test_what_an_organization_has_is_listed_as_far_as_it_is_open(api, organization, colleague):
    groups = [api.made(f"Groups/{organization}", {"name": name}) for name in "ab"]
    assert colleague.get(f"Groups/{organization}").status == 404
    allow(api, colleague, EXIST | READ, target_group=groups[1])
    assert [group["id"] for group in colleague.get(f"Groups/{organization}").json] == groups[1:]
    assert colleague.get(f"JobClusters/{organization}").status == 403
    spec = {"host": "h", "port": 1, "token": "t", "cert": "c"}
    clusters = [api.made(f"JobClusters/{organization}", {"name": name, **spec}) for name in "ab"]
    allow(api, colleague, mask_of(Level.FULL), job_cluster=clusters[0])
    (shown,) = colleague.get(f"JobClusters/{organization}").json
    assert (shown["id"], shown["effective_permission"]) == (clusters[0], mask_of(Level.FULL))


def test_transcodes_and_analyses_tell_of_open_media_only(api, project, guest, show, things):
    media, _, _ = things
    api.made(f"Analyses/{project}", {"name": "all", "data_query": "*"})
    assert guest.get(f"SectionAnalysis/{project}").json == {"all": 0}
    show(media=media[0])
    assert guest.get(f"SectionAnalysis/{project}").json == {"all": 2}


def test_every_answer_tells_what_the_caller_may_do_with_what_it_shows(api, project, things):
    media, boxes, state = things
    everything = mask_of(Level.FULL)
    for path, depth in (
        (f"Media/{media[0]}", 2), (f"Localization/{boxes[0]}", 3), (f"State/{state}", 3), (f"Project/{project}", 0)
    ):  # fmt: skip
        assert api.get(path).json["effective_permission"] == everything >> 8 * depth, path
    for path in ("MediaTypes", "LocalizationTypes", "StateTypes"):
        assert {each["effective_permission"] for each in api.get(f"{path}/{project}").json} == {everything}, path
    said = api.patch(f"Localization/{boxes[0]}", {"x": 0.3}).json
    assert said["object"]["effective_permission"] == everything >> 24
    text = api.get(f"Localizations/{project}", format="jsonl").body.decode()
    assert text.count(f'"effective_permission":{everything >> 24}') == 2


def test_the_guide_shows_one_section_to_a_group(api, project, organization, colleague, things):
    media, boxes, _ = things
    section = api.made(f"Sections/{project}", {"name": "shown"})
    assert api.patch(f"Media/{media[0]}", {"primary_section": section}).status == 200
    group = api.made(f"Groups/{organization}", {"name": "divers", "initial_members": [colleague.user.id]})
    api.made("RowProtections", {"project": project, "group": group, "permission": 0x3})
    api.made("RowProtections", {"section": section, "group": group, "permission": 0x1F0303})
    assert [one["id"] for one in colleague.get(f"Medias/{project}").json] == media[:1]
    assert [one["id"] for one in colleague.get(f"Sections/{project}").json] == [section]
    assert colleague.patch(f"Media/{media[0]}", {"name": "x"}).status == 403
    assert colleague.patch(f"Localization/{boxes[0]}", {"x": 0.4}).status == 200
    assert colleague.get(f"Localization/{boxes[1]}").status == 404


def test_statistics_count_only_what_may_be_seen_and_show_no_value_of_a_hidden_media(api, project, guest, show, things):
    media, boxes, _ = things
    by_name = {"group_by": "$media.$name", "measure": "count,maxn"}
    everything = {"a": 1, "b": 1}
    assert {row["$media.$name"]: row["count"] for row in api.get(f"Statistics/{project}", **by_name).json["rows"]} == (
        everything
    )
    assert guest.get(f"Statistics/{project}", **by_name).json["rows"] == []
    show(localization=boxes[1])
    hidden = {"$media.$name": None, "count": 1, "maxn": 1, "maxn::$media": media[1], "maxn::$frame": 0}
    assert guest.get(f"Statistics/{project}", **by_name).json["rows"] == [hidden]
    show(media=media[0])
    (own, _) = guest.get(f"Statistics/{project}", **by_name).json["rows"]
    assert (own["$media.$name"], own["count"]) == ("a", 1)
    assert guest.get(f"Statistics/{project}", kind="media", facets="$name").json["facets"][0]["total"] == 1
    assert str(media[1]) in guest.get(f"Statistics/{project}", group_by="$media", format="csv").body.decode()
