"""Files: made, found, given an object, changed, deleted."""

import uuid

import pytest

from tests import objects
from tests.service import new_user

ATTRIBUTES = [
    {"name": "Kind", "dtype": "string"},
    {"name": "Pages", "dtype": "int", "default": 3, "minimum": 0},
    {"name": "Place", "dtype": "geopos"},
]


@pytest.fixture
def file_type(api, project):
    return api.made(f"FileTypes/{project}", {"name": "report", "attribute_types": ATTRIBUTES})


@pytest.fixture
def make(api, project, file_type):
    def make(name="a", **more):
        return api.made(f"Files/{project}", {"name": name, "description": "d", "type": file_type, **more})

    return make


@pytest.fixture
def put(api, project):
    """Uploads something for a File, the way clients do; the key."""

    def put(number, body=b"hello"):
        key = api.get(f"UploadInfo/{project}", file_id=number, filename="notes.txt").json["key"]
        objects.write(key, body)
        return key

    return put


class TestCreateFile:
    def test_it_has_its_attributes_and_nothing_in_it(self, api, project, file_type, make):
        found = api.get(f"File/{make(attributes={'Kind': ''})}").json
        assert found["attributes"] == {"Kind": "", "Pages": 3}
        assert (found["path"], found["type"], found["meta"]) == ("", file_type, file_type)
        assert found["project"] == project
        assert found["created_by"] == found["modified_by"] == api.user.id
        assert uuid.UUID(found["elemental_id"])

    def test_older_clients_say_meta(self, api, project, file_type):
        body = {"name": "a", "description": "d", "meta": file_type}
        assert api.get(f"File/{api.made(f'Files/{project}', body)}").json["type"] == file_type

    @pytest.mark.parametrize(
        "change",
        [
            {"name": None},
            {"description": None},
            {"type": None},
            {"type": 9_999_999},
            {"attributes": {"Pages": "x"}},
            {"attributes": {"Pages": -1}},
            {"elemental_id": "x"},
        ],
    )
    def test_what_breaks_a_rule_is_refused(self, api, project, file_type, change):
        body = {"name": "a", "description": "d", "type": file_type, **change}
        body = {name: value for name, value in body.items() if value is not None}
        assert api.post(f"Files/{project}", body).status == 400
        assert api.get(f"Files/{project}").json == []

    def test_the_type_of_another_project_is_refused(self, api, project, organization, file_type):
        other = api.made("Projects", {"name": "other", "organization": organization})
        assert api.post(f"Files/{other}", {"name": "a", "description": "d", "type": file_type}).status == 400

    def test_another_author_needs_full_control(self, api, project, file_type, member):
        other = new_user()
        body = {"name": "a", "description": "", "type": file_type, "user_elemental_id": other.user.elemental_id}
        assert api.get(f"File/{api.made(f'Files/{project}', body)}").json["created_by"] == other.user.id
        assert member("Can Execute").post(f"Files/{project}", body).status == 403
        assert api.post(f"Files/{project}", {**body, "user_elemental_id": str(uuid.uuid4())}).status == 404


class TestGetFileList:
    def test_filters(self, api, project, file_type, make):
        a, b, c = make("a", attributes={"Pages": 0}), make("b"), make("b", attributes={"Kind": "Ω\n'\""})
        element = api.get(f"File/{b}").json["elemental_id"]

        def found(**query):
            return [file["id"] for file in api.get(f"Files/{project}", **query).json]

        assert found() == [a, b, c]
        assert found(name="b") == [b, c]
        assert found(type=file_type, after=a) == found(meta=file_type, after=a) == [b, c]
        assert api.get(f"Files/{project}", type=9_999_999).status == 400
        assert found(elemental_id=element) == [b]
        assert found(attribute="Pages::0") == [a]
        assert found(attribute_gt="Pages::1", start=1) == [c]
        assert found(attribute="Kind::Ω\n'\"") == [c]
        assert found(sort_by="-$id", stop=1) == [c]
        assert api.get(f"Files/{project}", attribute="Nope::1").status == 400

    def test_a_project_without_types_has_none(self, api, project):
        assert api.get(f"Files/{project}").json == []

    def test_a_list_shows_what_one_shows(self, api, project, make):
        number = make()
        assert api.get(f"Files/{project}").json == [api.get(f"File/{number}").json]


class TestUpdateFile:
    def test_members_given_change_and_no_others(self, api, make):
        number = make(attributes={"Kind": "x", "Place": [1, 2]})
        before = api.get(f"File/{number}").json
        change = {"description": "", "attributes": {"Pages": 0}, "null_attributes": ["Kind"]}
        assert api.patch(f"File/{number}", change).status == 200
        after = api.get(f"File/{number}").json
        assert after["description"] == ""
        assert after["name"] == before["name"]
        assert after["attributes"] == {"Kind": None, "Pages": 0, "Place": [1.0, 2.0]}
        assert after["modified_datetime"] > before["modified_datetime"]
        api.patch(f"File/{number}", {"reset_attributes": ["Pages"], "name": "b"})
        after = api.get(f"File/{number}").json
        assert (after["name"], after["attributes"]["Pages"]) == ("b", 3)

    def test_its_object_is_the_one_that_was_uploaded_for_it(self, api, project, make, put):
        number = make()
        key = put(number)
        assert api.patch(f"File/{number}", {"path": key}).status == 200
        assert api.get(f"File/{number}").json["path"] == key
        assert api.post(f"DownloadInfo/{project}", {"keys": [key]}).json[0]["key"] == key

    def test_the_object_before_goes_and_the_same_stays(self, api, make, put):
        number = make()
        first, second = put(number), put(number)
        for path in (first, first, second):
            api.patch(f"File/{number}", {"path": path})
            assert objects.size(path) == 5
        assert objects.size(first) is None

    def test_keys_of_others_are_forbidden(self, api, project, organization, make, put):
        number, other = make(), make()
        mine = f"{organization}/{project}/files/{number}/"
        for path in (put(other), mine, f"{organization}/{project}/{number}/x"):
            assert api.patch(f"File/{number}", {"path": path}).status == 403
        nested = f"{organization}/{project}/files/{number}/a/b"
        assert api.patch(f"File/{number}", {"path": nested}).status == 403

    def test_another_type_keeps_what_it_has_too(self, api, project, make):
        definitions = [{"name": "Pages", "dtype": "float"}, {"name": "New", "dtype": "bool", "default": False}]
        other = api.made(f"FileTypes/{project}", {"name": "other", "attribute_types": definitions})
        number = make(attributes={"Kind": "x"})
        assert api.patch(f"File/{number}", {"type": other, "attributes": {"New": True}}).status == 200
        found = api.get(f"File/{number}").json
        assert (found["type"], found["attributes"]) == (other, {"Pages": 3.0, "New": True})
        assert api.patch(f"File/{number}", {"type": 9_999_999}).status == 400

    @pytest.mark.parametrize(
        "change", [{"attributes": {"Nope": 1}}, {"attributes": {"Pages": "x"}}, {"null_attributes": ["Nope"]}]
    )
    def test_what_breaks_a_rule_changes_nothing(self, api, make, change):
        number = make()
        before = api.get(f"File/{number}").json
        assert api.patch(f"File/{number}", {**change, "name": "b"}).status == 400
        assert api.get(f"File/{number}").json == before

    def test_levels(self, member, make):
        number = make()
        assert member("Can Transfer").patch(f"File/{number}", {"name": "b"}).status == 403
        assert member("Can Execute").patch(f"File/{number}", {"name": "b"}).status == 200
        assert member("View Only").get(f"File/{number}").json["name"] == "b"


class TestDeleteFile:
    def test_its_object_goes_with_it(self, api, project, make, put):
        number, other = make(), make()
        key, kept = put(number), put(other)
        api.patch(f"File/{number}", {"path": key})
        api.patch(f"File/{other}", {"path": kept})
        assert api.delete(f"File/{number}").status == 200
        assert api.get(f"File/{number}").status == 404
        assert api.delete(f"File/{number}").status == 404
        assert [file["id"] for file in api.get(f"Files/{project}").json] == [other]
        assert (objects.size(key), objects.size(kept)) == (None, 5)

    def test_one_without_an_object(self, api, project, make):
        assert api.delete(f"File/{make()}").status == 200
        assert api.get(f"Files/{project}").json == []
