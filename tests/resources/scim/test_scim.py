"""SCIM 2.0, step by step as Okta's and Entra's published tests go."""

from __future__ import annotations

import uuid

import pytest

from chalicelib.core.models.accounts import USER
from chalicelib.resources.scim import protocol
from chalicelib.storage.dynamodb import records
from tests.service import Api, join, new_user


@pytest.fixture
def scim(api, organization):
    """The provider: a token for `scim` alone."""
    token = api.post("AccessTokens", {"name": "Okta", "operations": ["scim"]}).json["token"]
    return Scim(organization, Api(api.user, token, {"Content-Type": "application/scim+json"}))


class Scim:
    def __init__(self, organization, api):
        self.api, self.root = api, f"/scim/v2/{organization}"

    def ask(self, method, path, body=None, **query):
        return self.api.ask(method, f"{self.root}/{path}", body, **query)


def a_user(**more):
    name = f"{uuid.uuid4().hex[:8]}@reef.example.org"
    return {
        "schemas": [protocol.USER],
        "userName": name,
        "name": {"givenName": "Ines", "familyName": "Reyes"},
        "emails": [{"primary": True, "value": name, "type": "work"}],
        "displayName": "Ines Reyes",
        "locale": "en-US",
        "externalId": uuid.uuid4().hex,
        "groups": [],
        "password": "1mz050nq",
        "active": True,
        **more,
    }


def made(scim, **more):
    said = scim.ask("POST", "Users", a_user(**more))
    assert said.status == 201, said.body
    return said.json


def patched(scim, path, *operations):
    said = scim.ask("PATCH", path, {"schemas": [protocol.PATCH], "Operations": list(operations)})
    assert said.status == 200, said.body
    return said.json


def can_sign_in(number):
    return records.get(USER, int(number)).is_active


class TestOkta:
    """The steps of Okta's SCIM 2.0 specification test (Runscope)."""

    def test_the_lists_have_pages(self, scim):
        for _ in range(3):
            made(scim)
        said = scim.ask("GET", "Users", count=1, startIndex=1)
        assert said.headers["Content-Type"].startswith("application/scim+json")
        assert (said.status, said.json["itemsPerPage"], said.json["startIndex"]) == (200, 1, 1)
        assert said.json["totalResults"] == 3
        assert said.json["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:ListResponse"]
        [first] = said.json["Resources"]
        assert {"id", "name", "userName", "active", "emails"} <= first.keys()
        [third] = scim.ask("GET", "Users", count=100, startIndex=3).json["Resources"]
        assert third["id"] != first["id"]
        assert scim.ask("GET", "Users", count=0).json["Resources"] == []
        assert scim.ask("GET", "Users", startIndex=9).json["Resources"] == []

    def test_a_user_is_read_by_id(self, scim):
        user = made(scim)
        assert scim.ask("GET", f"Users/{user['id']}").json == user

    def test_a_missing_user_is_an_error_of_scim(self, scim):
        for number in ("010101001010101011001010101011", "9999999", "x"):
            said = scim.ask("GET", f"Users/{number}")
            assert said.status == 404
            assert said.json["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
            assert (said.json["status"], bool(said.json["detail"])) == ("404", True)

    def test_a_name_that_is_not_there_is_an_empty_list(self, scim):
        made(scim)
        said = scim.ask("GET", "Users", filter='userName eq "abcdefgh@atko.example.org"')
        assert (said.status, said.json["totalResults"], said.json["Resources"]) == (200, 0, [])

    def test_a_user_is_made_and_found_by_name_in_any_case(self, scim):
        body = a_user()
        user = scim.ask("POST", "Users", body).json
        assert user["active"] is True
        assert user["name"]["givenName"] == "Ines"
        assert user["userName"] == body["userName"]
        assert user["meta"]["location"].endswith(f"/Users/{user['id']}")
        for text in (f'userName eq "{body["userName"].upper()}"', f'externalId eq "{body["externalId"]}"'):
            [found] = scim.ask("GET", "Users", filter=text).json["Resources"]
            assert found["id"] == user["id"]
        assert "password" not in user

    def test_a_second_user_with_the_name_is_a_conflict(self, scim):
        body = a_user()
        assert scim.ask("POST", "Users", body).status == 201
        said = scim.ask("POST", "Users", body)
        assert (said.status, said.json["scimType"]) == (409, "uniqueness")

    def test_without_or_with_a_wrong_token_nothing_is_told(self, scim, organization):
        for token in ("", "wrong"):
            assert Api(None, token).ask("GET", f"/scim/v2/{organization}/Users").status == 401

    def test_a_user_is_replaced_and_deactivated(self, scim):
        user = made(scim)
        body = {**user, "name": {"givenName": "Another", "familyName": "Name"}}
        said = scim.ask("PUT", f"Users/{user['id']}", body)
        assert said.json["name"]["givenName"] == "Another"
        assert scim.ask("PUT", f"Users/{user['id']}", {**body, "active": False}).json["active"] is False
        assert not can_sign_in(user["id"])
        assert scim.ask("GET", f"Users/{user['id']}").json["active"] is False
        assert scim.ask("PUT", f"Users/{user['id']}", {**body, "active": True}).json["active"] is True
        assert can_sign_in(user["id"])

    def test_groups_are_made_filled_renamed_and_deleted(self, scim):
        user = made(scim)
        said = scim.ask("POST", "Groups", {"schemas": [protocol.GROUP], "displayName": "Annotators", "members": []})
        assert said.status == 201
        path = f"Groups/{said.json['id']}"
        members = {"op": "add", "path": "members", "value": [{"value": user["id"], "display": "Ines"}]}
        assert [each["value"] for each in patched(scim, path, members)["members"]] == [user["id"]]
        renamed = {"op": "replace", "value": {"id": said.json["id"], "displayName": "Reviewers"}}
        assert patched(scim, path, renamed)["displayName"] == "Reviewers"
        assert patched(scim, path, {"op": "replace", "path": "members", "value": []})["members"] == []
        assert scim.ask("DELETE", path).status == 204
        assert scim.ask("GET", path).status == 404


class TestEntra:
    """The steps of Entra's SCIM validator."""

    def test_users_are_patched_by_paths_with_filters_and_texts_for_flags(self, scim):
        user = made(scim)
        after = patched(
            scim,
            f"Users/{user['id']}",
            {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "new@reef.example.org"},
            {"op": "Replace", "path": "name.givenName", "value": "Grace"},
            {"op": "Add", "path": "name.familyName", "value": "Hopper"},
            {"op": "Replace", "path": "externalId", "value": "e-1"},
            {"op": "Replace", "path": "active", "value": "False"},
        )
        assert after["emails"][0]["value"] == "new@reef.example.org"
        assert after["name"]["formatted"] == "Grace Hopper"
        assert (after["externalId"], after["active"]) == ("e-1", False)
        assert not can_sign_in(user["id"])

    def test_users_are_patched_without_path(self, scim):
        user = made(scim)
        value = {
            "active": "True",
            "name.givenName": "Ada",
            f"{protocol.USER}:name.familyName": "L",
            "userName": "ada.l",
        }
        after = patched(scim, f"Users/{user['id']}", {"op": "replace", "value": value})
        assert (after["userName"], after["name"]["formatted"]) == ("ada.l", "Ada L")

    def test_names_are_unique_when_they_change_too(self, scim):
        first, second = made(scim), made(scim)
        body = {"Operations": [{"op": "Replace", "path": "userName", "value": first["userName"]}]}
        said = scim.ask("PATCH", f"Users/{second['id']}", body)
        assert (said.status, said.json["scimType"]) == (409, "uniqueness")

    def test_a_user_is_deleted_and_gone(self, scim):
        user = made(scim)
        assert scim.ask("DELETE", f"Users/{user['id']}").status == 204
        assert scim.ask("GET", f"Users/{user['id']}").status == 404
        assert scim.ask("DELETE", f"Users/{user['id']}").status == 404
        assert not can_sign_in(user["id"])

    def test_groups_are_found_without_their_members(self, scim):
        user = made(scim)
        body = {"displayName": "Kelp", "externalId": "g-1", "members": [{"value": user["id"]}]}
        group = scim.ask("POST", "Groups", body).json
        said = scim.ask("GET", "Groups", filter='displayName eq "kelp"', excludedAttributes="members")
        [found] = said.json["Resources"]
        assert (found["id"], "members" in found) == (group["id"], False)
        assert scim.ask("GET", "Groups", filter='externalId eq "g-1"').json["totalResults"] == 1
        assert "members" not in scim.ask("GET", f"Groups/{group['id']}", excludedAttributes="members").json

    def test_members_are_added_once_and_removed_by_value_or_filter(self, scim):
        first, second = made(scim), made(scim)
        group = scim.ask("POST", "Groups", {"displayName": "Fish"}).json
        add = {"op": "Add", "path": "members", "value": [{"value": first["id"]}, {"value": second["id"]}]}
        path = f"Groups/{group['id']}"
        patched(scim, path, add)
        assert len(patched(scim, path, add)["members"]) == 2
        gone = {"op": "Remove", "path": "members", "value": [{"value": first["id"]}]}
        assert [each["value"] for each in patched(scim, path, gone)["members"]] == [second["id"]]
        assert patched(scim, path, {"op": "remove", "path": f'members[value eq "{second["id"]}"]'})["members"] == []

    def test_a_second_group_with_the_name_is_a_conflict(self, scim):
        assert scim.ask("POST", "Groups", {"displayName": "Crabs"}).status == 201
        assert scim.ask("POST", "Groups", {"displayName": "crabs"}).status == 409

    def test_what_is_spoken_is_told(self, scim):
        assert scim.ask("GET", "ServiceProviderConfig").json["patch"]["supported"] is True
        types = scim.ask("GET", "ResourceTypes").json["Resources"]
        assert [each["endpoint"] for each in types] == ["/Users", "/Groups"]
        schemas = scim.ask("GET", "Schemas").json["Resources"]
        assert [each["id"] for each in schemas] == [protocol.USER, protocol.GROUP]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"Operations": []}, "invalidSyntax"),
        ({"Operations": [{"op": "copy", "path": "active"}]}, "invalidSyntax"),
        ({"Operations": [{"op": "remove"}]}, "noTarget"),
        ({"Operations": [{"op": "replace", "path": "a b", "value": 1}]}, "invalidPath"),
        ({"Operations": [{"op": "replace", "path": "active", "value": "perhaps"}]}, "invalidValue"),
        ({"Operations": [{"op": "replace", "path": "userName", "value": ""}]}, "invalidValue"),
        ({"Operations": [{"op": "replace", "path": "userName", "value": ["x"]}]}, "invalidValue"),
        ({"Operations": [{"op": "replace", "path": "emails", "value": "x"}]}, "invalidValue"),
        ({"Operations": [{"op": "replace", "path": "name", "value": 7}]}, "invalidValue"),
        ({"Operations": [{"op": "replace", "path": 'name[type eq "x"].value', "value": 7}]}, "invalidPath"),
        ({"Operations": [{"op": "replace", "path": 'emails[type co "x"].value', "value": 7}]}, "invalidFilter"),
        ([], "invalidSyntax"),
        (None, "invalidSyntax"),
    ],
)
def test_wrong_requests_are_told_what_is_wrong(scim, body, kind):
    user = made(scim)
    said = scim.ask("PATCH", f"Users/{user['id']}", body)
    assert said.status == 400, said.body
    if body is not None:
        assert said.json["scimType"] == kind


def test_a_body_that_is_nested_deeply_is_refused(scim):
    deep = b'{"Operations": [{"op": "add", "value": ' + b"[" * 5000 + b"]" * 5000 + b"}]}"
    for method, path in (("POST", "Users"), ("POST", "Groups"), ("PATCH", f"Users/{made(scim)['id']}")):
        said = scim.api.ask(method, f"{scim.root}/{path}", raw=deep)
        assert (said.status, said.json["scimType"]) == (400, "invalidSyntax")


def test_a_filter_whose_text_is_no_text_is_refused(scim):
    said = scim.ask("GET", "Users", filter=r'userName eq "\ud800"')
    assert (said.status, said.json["scimType"]) == (400, "invalidFilter")


def test_other_filters_are_refused(scim):
    for text in ('userName sw "a"', "userName", 'title eq "x"', 'userName eq "a" and active eq true'):
        said = scim.ask("GET", "Users", filter=text)
        assert (said.status, said.json["scimType"]) == (400, "invalidFilter")


class TestWhoMay:
    def test_only_an_access_token_that_names_scim(self, api, organization):
        path = f"/scim/v2/{organization}/Users"
        assert api.ask("GET", path).status == 403
        for operations in (["all"], ["read"], ["Organizations"]):
            token = api.post("AccessTokens", {"name": "other", "operations": operations}).json["token"]
            assert Api(api.user, token).ask("GET", path).status == 403
            assert Api(api.user, token).ask("POST", path, a_user()).status == 403

    def test_a_token_for_scim_calls_nothing_else(self, scim, organization, project):
        for path in (f"Organization/{organization}", f"Project/{project}", "User/GetCurrent", "Token"):
            assert scim.api.get(path).status == 403

    def test_administrators_of_the_organization_alone(self, scim, organization):
        someone = new_user()
        token = someone.post("AccessTokens", {"name": "mine", "operations": ["scim"]}).json["token"]
        assert Api(someone.user, token).ask("GET", f"/scim/v2/{organization}/Users").status == 404
        low = scim.api.user
        token = Api(low, new_token(low)).post(
            "AccessTokens", {"name": "low", "operations": ["scim"], "level": "Can Edit"}
        )
        assert Api(low, token.json["token"]).ask("GET", f"/scim/v2/{organization}/Users").status == 403

    def test_users_and_groups_of_other_organizations_are_not_there(self, scim, api):
        other = new_user(is_staff=True)
        elsewhere = other.made("Organizations", {"name": f"elsewhere {uuid.uuid4().hex[:6]}"})
        token = other.post("AccessTokens", {"name": "x", "operations": ["scim"]}).json["token"]
        foreign = Scim(elsewhere, Api(other.user, token))
        theirs = made(foreign)
        group = foreign.ask("POST", "Groups", {"displayName": "theirs"}).json
        for path in (f"Users/{theirs['id']}", f"Groups/{group['id']}"):
            for method, body in (("GET", None), ("DELETE", None), ("PUT", a_user(displayName="x"))):
                assert scim.ask(method, path, body).status == 404
        said = scim.ask("POST", "Groups", {"displayName": "mixed", "members": [{"value": theirs["id"]}]})
        assert (said.status, said.json["scimType"]) == (400, "invalidValue")
        said = scim.ask("POST", "Users", a_user(userName="x", emails=theirs["emails"]))
        assert said.status == 409


def new_token(user):
    from chalicelib.access import passwords

    return passwords.issue_token(user, refresh=False)


class TestMembersThatWereThere:
    def test_a_member_is_taken_over_and_keeps_the_account(self, scim, api, organization, project):
        member = new_user()
        api.made(f"Affiliations/{organization}", {"user": member.user.id, "permission": "Member"})
        join(member, project, "Can Edit")
        user = made(scim, emails=[{"value": member.user.email}])
        assert user["id"] == str(member.user.id)
        after = patched(scim, f"Users/{user['id']}", {"op": "replace", "path": "name.givenName", "value": "Eve"})
        assert after["name"]["givenName"] == member.user.first_name
        assert member.get(f"Project/{project}").status == 200
        patched(scim, f"Users/{user['id']}", {"op": "replace", "path": "active", "value": False})
        assert member.get("User/GetCurrent").status == 200
        assert member.get(f"Project/{project}").status == 404
        assert member.get(f"Organization/{organization}").status == 404
        patched(scim, f"Users/{user['id']}", {"op": "replace", "path": "active", "value": True})
        assert member.get(f"Organization/{organization}").status == 200

    def test_the_account_of_staff_is_not_closed(self, scim):
        user = made(scim)
        from chalicelib.resources.accounts import administration

        administration.set_staff(records.get(USER, int(user["id"])).username, staff=True)
        assert scim.ask("DELETE", f"Users/{user['id']}").status == 204
        assert can_sign_in(user["id"])


def test_the_audit_log_tells_of_it(scim, api, organization):
    user = made(scim)
    [entry, *_] = api.get(f"AuditLog/{organization}", sort_by="-number", operation="CreateScimUser").json
    assert (entry["kind"], entry["target"]) == ("membership", f"user {user['id']}")
    assert entry["credential"].startswith("access ")
