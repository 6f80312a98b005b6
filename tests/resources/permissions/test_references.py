"""Fine-grained permissions hold for whatever refers to entities: naming one needs View, taking one along its level."""

import uuid

import msgspec
import pytest

from chalicelib.access.authentication import ANONYMOUS
from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.core.models.accounts import USER
from chalicelib.core.models.jobs import JOB, StoredJob, TranscodeSpec
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.resources.jobs.runs import RUN, Run
from chalicelib.resources.temporary_files import service as temporary_files
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE, ClipOrder
from chalicelib.storage.dynamodb import records
from tests.resources.media.samples import picture, uploaded
from tests.resources.uploads.tus_client import pairs
from tests.service import join, new_sibling, new_user

EDIT, VIEW, FULL = mask_of(Level.EDIT), mask_of(Level.VIEW), mask_of(Level.FULL)


@pytest.fixture
def guest(api, project, colleague, fine_grained):
    """A user who sees the project, and nothing in it."""
    api.made("RowProtections", {"project": project, "user": colleague.user.id, "permission": EXIST | READ})
    return colleague


@pytest.fixture
def allow(api, guest):
    """Gives the guest a mask on an entity or record."""

    def allow(permission, **names):
        api.made("RowProtections", {**names, "user": guest.user.id, "permission": permission})

    return allow


def test_what_is_open_to_one_user_is_closed_to_another(api, project, place, guest, allow):
    allow(mask_of(Level.VIEW), media=place.media[0])
    other = new_user()
    join(other, new_sibling(api, project), "View Only")
    api.made("RowProtections", {"project": project, "user": other.user.id, "permission": EXIST | READ})
    assert guest.get(f"Media/{place.media[0]}").status == 200
    assert other.get(f"Media/{place.media[0]}").status == 404
    assert other.get(f"Medias/{project}").json == []


class Place:
    """A project with images, a box on each, tracks of boxes, a multi-view."""

    def __init__(self, api, project):
        self.api, self.project = api, project
        self.image = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
        self.multi = api.made(f"MediaTypes/{project}", {"name": "multi", "dtype": "multi"})
        types = {"media_types": [self.image]}
        self.box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", **types})
        track = {"name": "t", "association": "Localization", "delete_child_localizations": True, **types}
        self.track = api.made(f"StateTypes/{project}", track)
        self.version = api.get(f"Versions/{project}").json[0]["id"]
        self.media = [api.made(f"Medias/{project}", {"type": self.image, "name": name, "md5": ""}) for name in "ab"]
        self.boxes = [self.made_box(number) for number in self.media]

    def made_box(self, media, frame=0):
        shape = {"x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}
        spec = {"type": self.box, "media_id": media, "frame": frame, **shape}
        return self.api.made(f"Localizations/{self.project}", [spec])[0]

    def made_track(self, media, boxes):
        spec = {"type": self.track, "media_ids": media, "localization_ids": boxes}
        return self.api.made(f"States/{self.project}", [spec])[0]


@pytest.fixture
def place(api, project):
    return Place(api, project)


class TestPermalinks:
    @pytest.fixture
    def anonymous(self):
        """The id of the user called anonymous, who is it for the length of a test."""
        number = new_user().user.id
        records.edit(USER, number, lambda user: _with(user, username=ANONYMOUS))
        yield number
        records.edit(USER, number, lambda user: _with(user, username=str(uuid.uuid4())))

    def image(self, api, project, place):
        url = uploaded(api, project, picture(20, 20), "a.jpg")
        number = api.made(f"Medias/{project}", {"type": place.image, "name": "a", "md5": "", "url": url})
        api.drain()
        return number

    def test_one_of_a_hidden_media_leads_nowhere(self, api, project, place, guest, allow):
        hidden = self.image(api, project, place)
        assert guest.get(f"Permalink/{hidden}").status == 404
        allow(VIEW, media=hidden)
        assert guest.get(f"Permalink/{hidden}").status == 301

    def test_the_public_sees_what_the_user_called_anonymous_may(self, api, project, place, fine_grained, anonymous):
        hidden = self.image(api, project, place)
        names = {"user": anonymous, "permission": EXIST | READ}
        api.made("RowProtections", {**names, "project": project})
        stranger = new_user()
        assert stranger.get(f"Permalink/{hidden}").status == 404
        api.made("RowProtections", {**names, "media": hidden})
        assert stranger.get(f"Permalink/{hidden}").status == 301


class TestNames:
    """A member of a body that names a hidden entity is refused as if there were none."""

    def refused(self, said, member, number):
        assert said.status == 400, said.body
        assert said.message.startswith(f"{member}: the project has no ")
        assert said.message.endswith(f" {number}.")

    def test_by_states(self, project, place, guest, allow):
        allow(EDIT, media=place.media[0])
        state = place.made_track(place.media[:1], place.boxes[:1])
        hidden = place.boxes[1]
        spec = {"type": place.track, "media_ids": place.media[:1], "localization_ids": place.boxes}
        self.refused(guest.post(f"States/{project}", [spec]), "[0].localization_ids", hidden)
        self.refused(guest.patch(f"State/{state}", {"localization_ids": [hidden]}), "localization_ids", hidden)
        self.refused(guest.patch(f"State/{state}", {"media_ids": place.media}), "media_ids", place.media[1])
        assert guest.patch(f"State/{state}", {"localization_ids_add": [hidden]}).status == 200
        assert guest.get(f"State/{state}").json["localizations"] == place.boxes[:1]

    def test_by_parents(self, project, place, guest, allow):
        allow(EDIT, media=place.media[0])
        said = guest.patch(f"Localization/{place.boxes[0]}", {"parent": place.boxes[1]})
        self.refused(said, "parent", place.boxes[1])

    def test_by_media(self, project, place, guest, allow):
        multi = place.api.made(f"Medias/{project}", {"type": place.multi, "name": "m", "md5": ""})
        allow(EDIT, media=multi)
        hidden = place.media[0]
        for member, body in (
            ("multi.ids", {"multi": {"ids": [hidden]}}),
            ("concat[0].id", {"concat": [{"id": hidden}]}),
            ("media_files.ids", {"media_files": {"ids": [hidden]}}),
            ("media_files.concat[0].id", {"media_files": {"concat": [{"id": hidden}]}}),
        ):
            self.refused(guest.patch(f"Media/{multi}", body), member, hidden)
        allow(VIEW, media=hidden)
        assert guest.patch(f"Media/{multi}", {"multi": {"ids": [hidden]}}).status == 200

    def test_by_sections(self, project, place, guest, allow):
        section = place.api.made(f"Sections/{project}", {"name": "list", "dtype": "playlist"})
        allow(EDIT, section=section)
        self.refused(guest.patch(f"Section/{section}", {"media_add": place.media[:1]}), "media_add", place.media[0])

    def test_by_versions(self, project, place, guest, allow):
        version = place.api.made(f"Versions/{project}", {"name": "mine"})
        allow(EDIT, version=version)
        self.refused(guest.patch(f"Version/{version}", {"bases": [place.version]}), "bases", place.version)

    def test_of_another_project_are_refused_to_everybody(self, api, project, place, organization):
        other = Place(api, api.made("Projects", {"name": "other", "organization": organization}))
        multi = api.made(f"Medias/{project}", {"type": place.multi, "name": "m", "md5": ""})
        for files in ({"ids": other.media}, {"concat": [{"id": other.media[0]}]}):
            assert api.patch(f"Media/{multi}", {"media_files": files}).status == 400

    @pytest.mark.slow
    def test_by_filters_of_rewrites_and_statistics_and_selections_of_exports(self, project, place, guest, allow):
        allow(EDIT, media=place.media[0])
        for named in ({"ids": place.boxes}, {"media_ids": place.media}):
            said = guest.patch(f"AnnotationFrames/{project}", {**named, "shift": 1}, dry_run=True)
            assert (said.status, said.json["matched"]) == (200, 1), said.body
            said = guest.put(f"Statistics/{project}", named, kind="localization")
            assert (said.status, said.json["matched"]) == (200, 1), said.body
            said = guest.post(f"Exports/{project}", {"format": "csv", "localizations": named})
            assert (said.status, "the project has no" in said.message) == (400, True), named
            open_ = {name: ids[:1] for name, ids in named.items()}
            made = guest.made(f"Exports/{project}", {"format": "csv", "localizations": open_})
            place.api.drain()
            assert guest.get(f"Export/{made}").json["labels"] == 1, named


class TestWhatGoesAlong:
    """Deleting, archiving or moving one entity takes others along only where the caller may do that to each."""

    @pytest.mark.slow
    def test_the_localizations_of_a_track(self, api, project, place, guest, allow):
        for path, how in (("State/{}", {"prune": 1}), ("State/{}", {}), ("States", {"prune": 1}), ("States", {})):
            state = place.made_track(place.media, place.boxes)
            allow(EDIT, state=state)
            allow(VIEW, localization=place.boxes[1])
            allow(EDIT, localization=place.boxes[0])
            body = {**how, "ids": [state]} if path == "States" else how
            where = f"States/{project}" if path == "States" else path.format(state)
            assert guest.delete(where, body).status == 403, (path, how)
            assert [row["id"] for row in api.get(f"Localizations/{project}").json] == place.boxes, (path, how)
            assert api.get(f"State/{state}").json["localizations"] == place.boxes
            assert api.delete(f"States/{project}", {"ids": [state], "prune": 1}).status == 200
            place.boxes = [place.made_box(number) for number in place.media]

    def test_the_localizations_that_a_trim_cuts_off(self, api, project, place, guest, allow):
        late = place.made_box(place.media[1], frame=5)
        state = place.made_track(place.media, [place.boxes[0], late])
        allow(EDIT, state=state)
        allow(EDIT, localization=place.boxes[0])
        trim = {"frame": 3, "endpoint": "end"}
        assert guest.patch(f"TrimStateEnd/{state}", trim).status == 403
        assert api.get(f"Localization/{late}").status == 200
        allow(EDIT, localization=late)
        assert guest.patch(f"TrimStateEnd/{state}", trim).status == 200
        assert api.get(f"Localization/{late}").status == 404

    def test_the_media_that_a_multi_view_shows(self, api, project, place, guest, allow):
        multi = api.made(f"Medias/{project}", {"type": place.multi, "name": "m", "md5": ""})
        assert api.patch(f"Media/{multi}", {"multi": {"ids": place.media}}).status == 200
        allow(EDIT, media=multi)
        for where, body in ((f"Media/{multi}", {}), (f"Medias/{project}", {"ids": [multi]})):
            assert guest.patch(where, {**body, "archive_state": "to_archive"}).status == 403
            assert {api.get(f"Media/{each}").json["archive_state"] for each in [multi, *place.media]} == {"live"}
        for number in place.media:
            allow(EDIT, media=number)
        assert guest.patch(f"Media/{multi}", {"archive_state": "to_archive"}).status == 200
        assert api.get(f"Media/{place.media[0]}").json["archive_state"] == "to_archive"

    def test_the_annotations_on_a_media(self, api, project, place, guest, allow):
        only = 0xFF  # on the media itself, and nothing on what lies on it
        allow(only, media=place.media[0])
        for where, body in ((f"Media/{place.media[0]}", None), (f"Medias/{project}", {"ids": place.media[:1]})):
            assert guest.delete(where, body).status == 403
        assert api.get(f"Localization/{place.boxes[0]}").status == 200
        allow(EDIT, localization=place.boxes[0])
        assert guest.delete(f"Media/{place.media[0]}").status == 200

    def test_the_annotations_of_a_version(self, api, project, place, guest, allow):
        allow(0xFF, version=place.version)
        assert guest.delete(f"Version/{place.version}").status == 403
        assert api.get(f"Localization/{place.boxes[0]}").status == 200

    def test_the_entities_of_a_type(self, api, project, place, guest, allow):
        allow(0xFF, project=project)
        assert guest.delete(f"LocalizationType/{place.box}").status == 403
        assert guest.delete(f"MediaType/{place.image}").status == 403
        assert api.get(f"Localization/{place.boxes[0]}").status == 200

    def test_the_media_in_a_folder(self, api, project, place, guest, allow):
        section = api.made(f"Sections/{project}", {"name": "folder"})
        assert api.patch(f"Media/{place.media[0]}", {"primary_section": section}).status == 200
        allow(0xFF, section=section)
        assert guest.delete(f"Section/{section}").status == 403
        assert guest.delete(f"Sections/{project}").status == 403
        allow(EDIT, media=place.media[0])
        assert guest.delete(f"Section/{section}").status == 200

    def test_the_marks_of_an_element(self, api, project, place, guest, allow):
        hidden = api.get(f"Localization/{place.boxes[1]}").json
        allow(EDIT, media=place.media[0])
        spec = {"type": place.box, "media_id": place.media[0], "frame": 0, "elemental_id": hidden["elemental_id"]}
        assert guest.post(f"Localizations/{project}", [{**spec, "version": place.version}]).status == 400
        allow(VIEW, version=place.version)
        assert guest.post(f"Localizations/{project}", [{**spec, "version": place.version}]).status == 403
        change = {"ids": place.boxes[:1], "new_elemental_id": hidden["elemental_id"]}
        assert guest.patch(f"Localizations/{project}", change).status == 403
        one = {"elemental_id": hidden["elemental_id"]}
        assert guest.patch(f"Localization/{place.boxes[0]}", one).status == 403
        assert api.get(f"Localizations/{project}").json[1]["id"] == place.boxes[1]


class TestWhatIsMadeOfMedia:
    """Clips, copies, jobs and transcodes are as open as the media that they are made of."""

    def clip(self, api, project, media):
        order = ClipOrder(media=media, path="x", segment_info="y", ranges=[(0, 1)])
        file = temporary_files.order_clip(project, api.user.id, order, "x")
        records.edit(TEMPORARY_FILE, file.id, lambda current: _with(current, status="ready"))
        return file

    def test_clips(self, api, project, place, guest, allow):
        hidden, shown = (self.clip(api, project, number) for number in place.media)
        allow(VIEW, media=place.media[1])
        assert [file["id"] for file in guest.get(f"TemporaryFiles/{project}").json] == [shown.id]
        assert guest.get(f"TemporaryFile/{hidden.id}").status == 404
        assert guest.delete(f"TemporaryFile/{hidden.id}").status == 404
        assert guest.delete(f"TemporaryFile/{shown.id}").status == 403
        assert guest.ask("GET", f"/media/{project}/{hidden.object_name}").status == 404
        assert guest.ask("GET", f"/media/{project}/{shown.object_name}").status == 302
        allow(EDIT, media=place.media[1])
        assert guest.delete(f"TemporaryFiles/{project}").status == 200
        assert [file["id"] for file in api.get(f"TemporaryFiles/{project}").json] == [hidden.id]

    def test_jobs(self, api, project, organization, place, guest, allow):
        uids = []
        for media in ([place.media[0]], [place.media[1]], place.media):
            uids.append(str(uuid.uuid4()))
            run = Run(
                id=f"run-{uids[-1]}", uid=uids[-1], gid="g", project=project, organization=organization,
                user=api.user.id, algorithm=1, algorithm_name="a", media_ids=media, parameters=[], created=now(),
                phase="Succeeded",
            )  # fmt: skip
            records.create(RUN, run)
        allow(VIEW, media=place.media[0])
        assert [job["uid"] for job in guest.get(f"Jobs/{project}").json] == uids[:1]
        assert [guest.get(f"Job/{uid}").status for uid in uids] == [200, 404, 404]
        assert guest.delete(f"Job/{uids[0]}").status == 403
        assert guest.delete(f"Job/{uids[1]}").status == 404
        assert guest.delete(f"Jobs/{project}").status == 403
        allow(FULL, media=place.media[0])
        assert guest.delete(f"Jobs/{project}").status == 200
        assert {job["uid"] for job in api.get(f"Jobs/{project}").json} == set(uids[1:])

    def test_transcodes(self, api, project, place, guest, allow):
        uids = [str(uuid.uuid4()) for _ in place.media]
        gid = str(uuid.uuid4())
        for uid, media in zip(uids, place.media, strict=True):
            spec = TranscodeSpec(url="https://x", name="x")
            job = StoredJob(
                uid=uid, gid=gid, project=project, user=api.user.id, media=media, start_time=now(), spec=spec
            )
            records.create(JOB, job)
        allow(VIEW, media=place.media[0])
        assert [guest.get(f"Transcode/{uid}").status for uid in uids] == [200, 404]
        assert [guest.get(f"Job/{uid}").status for uid in uids] == [200, 404]
        assert [job["uid"] for job in guest.get(f"Jobs/{project}", gid=gid).json] == uids[:1]
        assert [each["job"]["uid"] for each in guest.get(f"Transcodes/{project}").json] == uids[:1]


_with = msgspec.structs.replace


def test_sums_of_a_project_count_what_may_be_seen(api, project, place, guest, allow):
    assert api.get(f"Project/{project}").json["num_files"] == 2
    assert guest.get(f"Project/{project}").json["num_files"] == 0
    allow(VIEW, media=place.media[0])
    assert guest.get(f"Project/{project}").json["num_files"] == 1
    listed = {each["id"]: each["num_files"] for each in guest.get("Projects").json}
    assert listed[project] == 1
    assert {each["id"]: each["num_files"] for each in api.get("Projects").json}[project] == 2


def test_change_logs_of_several_show_no_value_of_a_hidden_one(api, project, place, guest, allow):
    allow(VIEW, media=place.media[1])
    for name, number in zip(("secret", "open"), place.media, strict=True):
        assert api.patch(f"Media/{number}", {"name": name}).status == 200
    section = api.made(f"Sections/{project}", {"name": "one"})
    assert api.patch(f"Media/{place.media[0]}", {"primary_section": section}).status == 200
    assert api.patch(f"Medias/{project}", {"primary_section": -1}).status == 200
    told = guest.get(f"ChangeLog/{project}", entity_type="media").body.decode()
    assert "open" in told
    assert "secret" not in told
    changes = [log["description_of_change"] for log in guest.get(f"ChangeLog/{project}", entity_type="media").json]
    assert {"name": "_primary_section", "value": section} not in [old for change in changes for old in change["old"]]


def test_the_order_of_media_tells_nothing_of_a_hidden_name(api, project, place, guest, allow):
    hidden, shown = place.media  # called a and b
    third = api.made(f"Medias/{project}", {"type": place.image, "name": "0", "md5": ""})
    for number in (shown, third):
        allow(VIEW, media=number)
    missing = third + 1000
    assert [each["id"] for each in guest.get(f"Medias/{project}", after=hidden).json] == [third, shown]
    assert [each["id"] for each in guest.get(f"Medias/{project}", after=missing).json] == []


def test_hidden_sections_select_nothing(api, project, place, guest, allow):
    section = api.made(f"Sections/{project}", {"name": "closed", "dtype": "playlist", "media": place.media})
    allow(VIEW, media=place.media[0])
    assert guest.get(f"Medias/{project}", section=section).status == 404
    assert guest.get(f"Medias/{project}", section=section + 1000).status == 404
    assert guest.get(f"Medias/{project}", multi_section=section).json == []
    allow(VIEW, section=section)
    assert [each["id"] for each in guest.get(f"Medias/{project}", section=section).json] == place.media[:1]


@pytest.mark.slow
def test_attachments_of_mails_are_as_open_as_what_they_belong_to(api, project, place, guest, allow):
    url = uploaded(api, project, picture(20, 20), "a.jpg")
    hidden = api.made(f"Medias/{project}", {"type": place.image, "name": "a", "md5": "", "url": url})
    api.drain()
    key = api.get(f"Media/{hidden}").json["media_files"]["image"][0]["path"]
    join(guest, project, "View Only")
    records_of = {"recipients": [guest.user.email], "subject": "s", "text": "t"}
    spec = {**records_of, "attachments": [{"key": key, "name": "a.jpg"}]}
    sender = new_user()
    join(sender, new_sibling(api, project), "View Only")
    api.made("RowProtections", {"project": project, "user": sender.user.id, "permission": 0x7F})
    said = sender.post(f"Email/{project}", spec)
    assert (said.status, "closed" in said.message) == (403, True), said.body
    api.made("RowProtections", {"media": hidden, "user": sender.user.id, "permission": VIEW})
    assert sender.post(f"Email/{project}", spec).status != 403


def test_uploads_by_tus_need_what_uploads_need(api, project, place, guest, allow):
    section = api.made(f"Sections/{project}", {"name": "mine"})
    guest.headers |= {"Tus-Resumable": "1.0.0", "Upload-Length": "3", "Upload-Metadata": pairs(project=project)}
    assert guest.ask("POST", "/files/").status == 403
    allow(mask_of(Level.TRANSFER), section=section)
    said = guest.ask("POST", "/files/")
    assert said.status == 201, said.body
