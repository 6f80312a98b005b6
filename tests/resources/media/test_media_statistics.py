"""Media beside media: neighbours, sums, clones, and the objects that clones share."""

import itertools
import json
import uuid
from base64 import b64encode

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.values.attributes import AttributeType
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.storage.dynamodb import entities, ids
from chalicelib.storage.objects import owners
from tests import objects
from tests.resources.media.samples import bare_media, media_type
from tests.service import join, new_user

_names = itertools.count(1)


@pytest.fixture
def video_type(project):
    return media_type(project, attribute_types=[AttributeType(name="Depth", dtype="int")])


@pytest.fixture
def make(api, project, video_type):
    def make(name="a.mp4", **more):
        return api.made(f"Medias/{project}", {"type": video_type, "name": name, "md5": "", **more})

    return make


@pytest.fixture
def other(api, organization):
    """Another project, with a media type."""
    number = api.made("Projects", {"name": f"other {next(_names)}", "organization": organization})
    return number, media_type(number)


@pytest.fixture
def put(api, project, organization):
    """Gives a media a file of a role, with an object; its key."""

    def put(media, role="audio", size=5, within=project):
        key = f"{organization}/{within}/{media}/{role}{next(_names)}"
        objects.write(key, b"x" * size)
        body = {"path": key, "size": size}
        word = {"audio": "Audio", "thumbnail": "Image", "image": "Image", "attachment": "Auxiliary"}.get(role, "Video")
        if word in ("Audio", "Video"):
            body["codec"] = "aac"
        if word in ("Image", "Video"):
            body["resolution"] = [1, 1]
        if role == "streaming":
            objects.write(f"{key}.json", b"{}")
            body["segment_info"] = f"{key}.json"
        said = api.post(f"{word}Files/{media}", body, role=role)
        assert said.status == 201, said.body
        return key

    return put


class TestNeighbours:
    def walk(self, api, first, **query):
        walked = [first]
        while (number := api.get(f"MediaNext/{walked[-1]}", **query).json["next"]) != -1:
            assert api.get(f"MediaPrev/{number}", **query).json["prev"] == walked[-1]
            walked.append(number)
        return walked

    def test_by_name_and_id(self, api, make):
        b, a, c, second = make("b"), make("a"), make("c"), make("b")
        assert self.walk(api, a) == [a, b, second, c]
        assert api.get(f"MediaPrev/{a}").json == {"prev": -1}
        assert api.get(f"MediaNext/{c}").json == {"next": -1}

    def test_among_those_that_match_in_the_order_asked_for(self, api, make):
        numbers = [make("x", attributes={"Depth": depth}) for depth in (5, 1, 3, 1)]
        assert self.walk(api, numbers[2], attribute_gt="Depth::1") == [numbers[2]]
        assert self.walk(api, numbers[1], sort_by="Depth,-$id") != []
        assert self.walk(api, numbers[3], sort_by="Depth,-$id") == [numbers[i] for i in (3, 1, 2, 0)]

    def test_one_that_does_not_match_stands_between_those_that_do(self, api, make):
        a, b, c = make("a", md5="1"), make("b"), make("c", md5="1")
        assert api.get(f"MediaNext/{b}", md5="1").json == {"next": c}
        assert api.get(f"MediaPrev/{b}", md5="1").json == {"prev": a}
        assert api.get(f"MediaPrev/{b}", md5="1", sort_by="-$name").json == {"prev": -1}

    def test_a_deleted_one_is_no_neighbour(self, api, make, stranger):
        a, b, c = make("a"), make("b"), make("c")
        api.delete(f"Media/{b}")
        assert api.get(f"MediaNext/{a}").json == {"next": c}
        assert api.get(f"MediaNext/{b}").status == 404
        assert stranger.get(f"MediaNext/{a}").status == 404
        assert api.get(f"MediaPrev/{a}", attribute="Nope::1").status == 400


class TestGetMediaStats:
    def test_sums(self, api, project, make, put):
        first, second = make(num_frames=50, fps=25), make("b", num_frames=10, fps=0)
        make("c", num_frames=None, fps=30)
        for role, size in (("archival", 7), ("archival", 9), ("streaming", 20), ("audio", 100), ("thumbnail", 1)):
            put(first, role, size)
        put(second, "attachment", 3)
        assert api.get(f"MediaStats/{project}").json == {
            "count": 3,
            "duration": 2.0,
            "total_size": 40,
            "download_size": 7,
        }
        assert api.get(f"MediaStats/{project}", media_id=second).json["total_size"] == 3
        asked = {"kind": "media", "measure": "sum::$total_size,sum::$duration"}
        (row,) = api.get(f"Statistics/{project}", **asked).json["rows"]
        shown = api.get(f"Project/{project}").json
        assert (row["sum::$total_size"], row["sum::$duration"]) == (shown["size"], shown["duration"]) == (40, 2)

    def test_of_nothing(self, api, project, stranger, member):
        nothing = {"count": 0, "duration": 0.0, "total_size": 0, "download_size": 0}
        assert member("View Only").get(f"MediaStats/{project}").json == nothing
        assert stranger.get(f"MediaStats/{project}").status == 404


class TestCloneMediaList:
    def test_into_another_project(self, api, project, make, put, other):
        there, type_ = other
        section = api.get(f"Media/{make('c', section='Here')}").json["primary_section"]
        assert section
        body = {"dest_project": there, "dest_type": -1, "dest_section": "Copies"}
        originals = [make(name, attributes={"Depth": 0}, gid="g", fps=25.0) for name in ("b", "a")]
        key = put(originals[0])
        said = api.post(f"CloneMedia/{project}", body, attribute="Depth::0")
        assert said.status == 201
        clones = [api.get(f"Media/{number}").json for number in said.json["id"]]
        assert [clone["name"] for clone in clones] == ["a", "b"]
        (folder,) = api.get(f"Sections/{there}").json
        clone, original = clones[1], api.get(f"Media/{originals[0]}").json
        assert (clone["project"], clone["type"], clone["primary_section"]) == (there, type_, folder["id"])
        tag = folder["tator_user_sections"]
        assert clone["attributes"] == {"Depth": 0, "tator_user_sections": tag, "svc_user_sections": tag}
        assert clone["media_files"] == original["media_files"] == {"audio": [{"path": key, "codec": "aac", "size": 5}]}
        for name in ("elemental_id", "gid", "fps", "archive_state", "md5"):
            assert clone[name] == original[name]
        assert clone["created_datetime"] > original["created_datetime"]
        assert [media["id"] for media in api.get(f"Medias/{there}").json] == said.json["id"]
        again = api.post(f"CloneMedia/{project}", {**body, "dest_section": "copies"}, media_id=originals[0]).json["id"]
        assert api.get(f"Media/{again[0]}").json["primary_section"] == folder["id"]

    def test_without_a_section_it_lies_in_none_of_another_project_and_the_same_in_its_own(
        self, api, project, make, video_type, other
    ):
        media = make(section="Here")
        original = api.get(f"Media/{media}").json
        (there,) = api.post(
            f"CloneMedia/{project}", {"dest_project": other[0], "dest_type": other[1], "dest_section": None}
        ).json["id"]
        clone = api.get(f"Media/{there}").json
        assert (clone["primary_section"], clone["attributes"]["tator_user_sections"]) == (None, "")
        (here,) = api.post(f"CloneMedia/{project}", {"dest_project": project, "dest_type": video_type}).json["id"]
        assert api.get(f"Media/{here}").json["primary_section"] == original["primary_section"]

    def test_a_section_by_id(self, api, project, make, other):
        make()
        section = api.made(f"Sections/{other[0]}", {"name": "Target"})
        body = {"dest_project": other[0], "dest_type": -1, "dest_section_id": section}
        (clone,) = api.post(f"CloneMedia/{project}", body).json["id"]
        assert api.get(f"Media/{clone}").json["primary_section"] == section
        assert api.post(f"CloneMedia/{project}", {**body, "dest_section_id": 9_999_999}).status == 400

    def test_annotations_stay_where_they_are(self, api, project, make, video_type, other):
        media = make()
        box = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [video_type]})
        api.made(f"Localizations/{project}", {"media_id": media, "type": box, "frame": 0})
        api.made(f"CloneMedia/{project}", {"dest_project": other[0], "dest_type": -1})
        assert api.get(f"LocalizationCount/{other[0]}").json == 0

    def test_nothing_found_is_nothing_cloned(self, api, project, other):
        said = api.post(f"CloneMedia/{project}", {"dest_project": other[0], "dest_type": -1}, name="nobody")
        assert (said.status, said.json["id"]) == (201, [])

    @pytest.mark.slow
    def test_more_than_500_are_refused_and_500_are_not(self, api, project, video_type, other):
        made = [bare_media(project, video_type, number) for number in ids.reserve(Kind.MEDIA, 501)]
        entities.create(Kind.MEDIA, made, user=None)
        body = {"dest_project": other[0], "dest_type": -1}
        assert api.post(f"CloneMedia/{project}", body).status == 400
        assert api.get(f"MediaCount/{other[0]}").json == 0
        assert len(api.made(f"CloneMedia/{project}", body, stop=500)) == 500
        assert api.get(f"MediaCount/{other[0]}").json == 500

    @pytest.mark.parametrize(
        ("change", "status"),
        [
            ({"dest_type": 9_999_999}, 404),
            ({"dest_type": -2}, 400),
            ({"dest_type": 0}, 400),
            ({"dest_project": 9_999_999}, 404),
            ({"dest_project": None}, 400),
        ],
    )
    def test_destinations_that_are_none(self, api, project, make, other, change, status):
        make()
        body = {"dest_project": other[0], "dest_type": other[1], **change}
        body = {name: value for name, value in body.items() if value is not None}
        assert api.post(f"CloneMedia/{project}", body).status == status

    def test_a_type_of_elsewhere_is_refused(self, api, project, make, video_type, other):
        make()
        assert api.post(f"CloneMedia/{project}", {"dest_project": other[0], "dest_type": video_type}).status == 400

    @pytest.mark.parametrize(
        ("here", "there", "status"),
        [
            ("Can Transfer", "Can Transfer", 201),
            ("Can Edit", "Full Control", 403),
            ("Full Control", "Can Edit", 403),
            ("Full Control", None, 404),
            (None, "Full Control", 404),
        ],
    )
    def test_both_projects_must_allow_it(self, project, make, other, here, there, status):
        make()
        somebody = new_user()
        for number, level in ((project, here), (other[0], there)):
            if level:
                join(somebody, number, level)
        body = {"dest_project": other[0], "dest_type": other[1]}
        assert somebody.post(f"CloneMedia/{project}", body).status == status

    def test_a_search_chooses(self, api, project, make, other):
        make("a")
        b = make("b")
        search = {"attribute": "$id", "operation": "eq", "value": b}
        encoded = b64encode(json.dumps(search).encode()).decode()
        (clone,) = api.made(
            f"CloneMedia/{project}", {"dest_project": other[0], "dest_type": -1}, encoded_search=encoded
        )
        assert api.get(f"Media/{clone}").json["name"] == "b"


@pytest.fixture
def clone(api, project, video_type):
    def clone(media, into=(None, -1), source=project):
        there, type_ = into
        body = {"dest_project": there or project, "dest_type": type_ if there else video_type}
        return api.made(f"CloneMedia/{source}", body, media_id=media)[0]

    return clone


class TestGetClonedMedia:
    def test_all_that_share_files_from_any_of_them(self, api, make, put, clone, other):
        media, alone = make("a"), make("b")
        put(media)
        put(alone)
        first = clone(media)
        second = clone(media, other)
        third = clone(second, source=other[0])
        family = [media, first, second, third]
        for number in family:
            assert api.get(f"GetClonedMedia/{number}").json["ids"] == family
        assert api.get(f"GetClonedMedia/{alone}").json["ids"] == [alone]
        api.delete(f"Media/{second}")
        assert api.get(f"GetClonedMedia/{first}").json["ids"] == [media, first, third]

    def test_without_files_just_itself(self, api, make, clone):
        media = make()
        clone(media)
        assert api.get(f"GetClonedMedia/{media}").json["ids"] == [media]

    def test_a_multi_is_refused(self, api, project):
        type_ = media_type(project, "multi")
        media = api.made(f"Medias/{project}", {"type": type_, "name": "m", "md5": ""})
        assert api.get(f"GetClonedMedia/{media}").status == 400

    def test_what_lies_where_the_caller_may_not_look_is_left_out(self, member, stranger, make, put, clone, other):
        media = make()
        put(media)
        clone(media, other)
        assert member("View Only").get(f"GetClonedMedia/{media}").json["ids"] == [media]
        assert stranger.get(f"GetClonedMedia/{media}").status == 404


class TestSharedObjects:
    def test_a_record_taken_out_takes_its_object_along(self, api, make, put):
        media = make()
        key, kept = put(media, "streaming"), put(media, "streaming")
        assert api.delete(f"VideoFile/{media}", role="streaming", index=0).status == 200
        assert [objects.size(each) for each in (key, f"{key}.json", kept)] == [None, None, 5]

    def test_another_record_in_its_place(self, api, make, put):
        media = make()
        key = put(media, "streaming")
        body = api.get(f"VideoFile/{media}", role="streaming", index=0).json
        assert api.patch(f"VideoFile/{media}", {**body, "size": 9}, role="streaming", index=0).status == 200
        assert objects.size(key) == 5
        objects.write(f"{key}.2.json", b"{}")
        body["segment_info"] = f"{key}.2.json"
        api.patch(f"VideoFile/{media}", body, role="streaming", index=0)
        assert [objects.size(each) for each in (key, f"{key}.json", f"{key}.2.json")] == [5, None, 2]

    def test_named_twice_it_stays_until_neither_does(self, api, make, put):
        media = make()
        key = put(media)
        api.post(f"AuxiliaryFiles/{media}", {"path": key})
        api.delete(f"AudioFile/{media}", index=0)
        assert objects.size(key) == 5
        api.delete(f"AuxiliaryFile/{media}", index=0)
        assert objects.size(key) is None

    def test_roles_replaced_by_a_patch(self, api, make, put):
        media = make()
        key, new = put(media, "attachment"), put(media, "attachment")
        assert api.patch(f"Media/{media}", {"media_files": {"attachment": [{"path": new}]}}).status == 200
        assert (objects.size(key), objects.size(new)) == (None, 5)

    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_the_last_owner_takes_it_along(self, api, project, make, put, clone, other, order):
        media = make()
        key = put(media)
        second = clone(media, other)
        family = [media, second, clone(second, source=other[0])]
        for place in order[:-1]:
            api.delete(f"AudioFile/{family[place]}", index=0)
            assert objects.size(key) == 5
        api.delete(f"AudioFile/{family[order[-1]]}", index=0)
        assert objects.size(key) is None
        assert list(owners.due_notes(project)) == list(owners.due_notes(other[0])) == []

    def test_deleted_media_hold_their_objects_until_they_are_purged(self, api, project, make, put, clone, other):
        media = make()
        key = put(media)
        copy = clone(media, other)
        for number in (media, copy):
            api.delete(f"Media/{number}")
        assert objects.size(key) == 5
        object_cleanup.purge(project, Kind.MEDIA, [media])
        assert objects.size(key) == 5
        object_cleanup.purge(other[0], Kind.MEDIA, [copy])
        assert objects.size(key) is None

    def test_what_a_crash_left_is_swept(self, api, project, make, put, monkeypatch):
        media = make()
        key = put(media)

        def crash(keys, **more):
            raise OSError("gone")

        with monkeypatch.context() as patch:
            patch.setattr("chalicelib.storage.objects.objects.remove", crash)
            assert api.delete(f"AudioFile/{media}", index=0).status == 200
        assert objects.size(key) == 5
        object_cleanup.sweep(project)
        assert objects.size(key) is None
        assert list(owners.due_notes(project)) == []

    def test_a_clone_on_its_way_is_waited_for(self, api, project, make, put, monkeypatch):
        media = make()
        key = put(media)
        coming = ids.reserve(Kind.MEDIA)[0]
        owners.share([(project, media, coming)])
        api.delete(f"AudioFile/{media}", index=0)
        assert objects.size(key) == 5
        object_cleanup.sweep(project)
        assert objects.size(key) == 5
        monkeypatch.setattr(object_cleanup, "GRACE", object_cleanup.GRACE * 0)
        object_cleanup.sweep(project)
        assert objects.size(key) is None
        assert owners.clones(project, media) == {}

    def test_a_deleted_project_leaves_what_clones_elsewhere_have(self, api, project, organization, make, put, other):
        media, alone = make("a"), make("b")
        shared, lost = put(media), put(alone)
        body = {"dest_project": other[0], "dest_type": other[1]}
        (copy,) = api.made(f"CloneMedia/{project}", body, media_id=media)
        assert api.delete(f"Project/{project}").status == 200
        purging.purge(PurgeProject(id=str(uuid.uuid4()), project=project, organization=organization), 60)
        assert (objects.size(shared), objects.size(lost)) == (5, None)
        assert api.delete(f"AudioFile/{copy}", index=0).status == 200
        assert objects.size(shared) is None

    def test_a_deleted_project_of_clones_takes_along_what_nobody_else_has(
        self, api, organization, make, put, clone, other
    ):
        media, kept = make("a"), make("b")
        keys = [put(media), put(kept)]
        for number in (media, kept):
            clone(number, other)
        api.delete(f"AudioFile/{media}", index=0)
        assert api.delete(f"Project/{other[0]}").status == 200
        purging.purge(PurgeProject(id=str(uuid.uuid4()), project=other[0], organization=organization), 60)
        assert [objects.size(key) for key in keys] == [None, 5]
