"""Organizations, projects and memberships, as a client meets them."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.access import view_queries
from chalicelib.resources.projects import counts as projects_counts
from chalicelib.resources.projects import service as projects_service
from chalicelib.storage.log import log
from chalicelib.storage.view import views
from tests.service import join, new_user


def name():
    return f"name {uuid.uuid4().hex[:10]}"


class TestOrganizations:
    def test_its_maker_administers_it(self, api):
        number = api.made("Organizations", {"name": name()})
        assert api.get(f"Organization/{number}").json["permission"] == "Admin"
        assert number in [organization["id"] for organization in api.get("Organizations").json]

    def test_nobody_makes_one(self, nobody):
        assert nobody.post("Organizations", {"name": name()}).status == 401

    def test_a_second_one_of_a_name_is_refused_in_any_case(self, api):
        wanted = name()
        api.made("Organizations", {"name": wanted})
        assert api.post("Organizations", {"name": wanted.upper()}).status == 400

    def test_of_eight_at_once_one_is_made(self, api):
        wanted = name()
        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda _: api.post("Organizations", {"name": wanted}).status, range(8)))
        assert sorted(said) == [201] + [400] * 7

    def test_a_stranger_is_told_that_it_is_not_there(self, organization, stranger):
        assert stranger.get(f"Organization/{organization}").status == 404
        assert stranger.patch(f"Organization/{organization}", {"name": "x"}).status == 404

    def test_patch_touches_only_what_it_names(self, api, organization):
        before = api.get(f"Organization/{organization}").json
        api.patch(f"Organization/{organization}", {"default_membership_permission": "View Only"})
        after = api.get(f"Organization/{organization}").json
        assert after == {**before, "default_membership_permission": "View Only"}
        assert api.patch(f"Organization/{organization}", {}).status == 400

    def test_one_with_projects_is_not_deleted(self, api, organization, project):
        assert api.delete(f"Organization/{organization}").status == 400
        assert api.delete(f"Project/{project}").status == 200
        assert api.delete(f"Organization/{organization}").status == 200
        assert api.get(f"Organization/{organization}").status == 404

    def test_an_affiliation_may_be_given_twice(self, api, organization):
        spec = {"user": api.user.id, "permission": "Admin"}
        assert api.post(f"Affiliations/{organization}", spec).status == 201
        assert len(api.get(f"Affiliations/{organization}").json) == 2
        assert api.post(f"Affiliations/{organization}", {"user": 999999999, "permission": "Admin"}).status == 404


class TestProjects:
    def test_a_new_one_is_usable_at_once(self, api, organization):
        said = api.post("Projects", {"name": name(), "organization": organization, "summary": "s"})
        assert said.status == 201
        project = said.json["object"]
        assert project["permission"] == "Creator"
        assert project["usernames"] == ["Ada Lovelace"]
        versions = api.get(f"Versions/{project['id']}").json
        assert [(version["name"], version["number"]) for version in versions] == [("Baseline", 0)]
        assert api.get(f"Project/{project['id']}").json == project
        assert project in api.get("Projects").json

    def test_its_organization_and_elemental_id_may_stand_in_the_query(self, api, organization):
        elemental_id = str(uuid.uuid4())
        number = api.made("Projects", {"name": name()}, organization=organization, elemental_id=elemental_id)
        made = api.get(f"Project/{number}").json
        assert (made["organization"], made["elemental_id"]) == (organization, elemental_id)
        refused = api.post("Projects", {"name": name(), "organization": organization}, organization=organization + 1)
        assert refused.status == 400
        assert refused.json["details"].startswith(f"organization is {organization} in the body")

    def test_only_an_administrator_of_the_organization_makes_one(self, organization, stranger):
        assert stranger.post("Projects", {"name": name(), "organization": organization}).status == 403
        assert stranger.post("Projects", {"name": name(), "organization": 999999999}).status == 403

    def test_a_name_is_taken_until_the_project_is_gone(self, api, organization):
        spec = {"name": name(), "organization": organization}
        first = api.made("Projects", spec)
        assert api.post("Projects", spec).status == 400
        assert api.delete(f"Project/{first}").status == 200
        assert api.post("Projects", spec).status == 201

    def test_members_by_default_get_the_level_the_organization_gives(self, api):
        organization = api.made("Organizations", {"name": name(), "default_membership_permission": "Can Edit"})
        other = new_user()
        api.made(f"Affiliations/{organization}", {"user": other.user.id, "permission": "Member"})
        project = api.made("Projects", {"name": name(), "organization": organization})
        levels = {item["user"]: item["permission"] for item in api.get(f"Memberships/{project}").json}
        assert levels == {api.user.id: "Full Control", other.user.id: "Can Edit"}

    @pytest.mark.slow
    def test_many_members_by_default_are_stored_together_with_one_who_became_one_meanwhile(self, api, monkeypatch):
        organization = api.made("Organizations", {"name": name(), "default_membership_permission": "View Only"})
        others = [new_user() for _ in range(60)]
        for each in others:
            api.made(f"Affiliations/{organization}", {"user": each.user.id, "permission": "Member"})
        add, commits = projects_service._add_members, []

        def meanwhile(some, creator):
            if not commits:
                early = {"user": some[3].user, "permission": "Full Control"}
                api.made(f"Memberships/{some[0].project}", early)
                commits.append(early)
            before = log.last(some[0].project, fresh=True)
            add(some, creator)
            commits.append(log.last(some[0].project, fresh=True) - before)

        monkeypatch.setattr(projects_service, "_add_members", meanwhile)
        project = api.made("Projects", {"name": name(), "organization": organization})
        levels = {item["user"]: item["permission"] for item in api.get(f"Memberships/{project}").json}
        early, of_the_first, of_the_last = commits
        assert len(levels) == 61
        assert levels[early["user"]] == "Full Control"
        assert (of_the_first > 1, of_the_last) == (True, 1), "one after the other, and together"

    def test_nothing_of_a_deleted_one_is_reached_any_more(self, api, project):
        version = api.get(f"Versions/{project}").json[0]["id"]
        assert api.delete(f"Project/{project}").status == 200
        assert api.get(f"Project/{project}").status == 404
        assert api.get(f"Version/{version}").status == 404
        assert project not in [item["id"] for item in api.get("Projects").json]

    def test_a_deleted_one_leaves_the_memory(self, api, project):
        assert api.get(f"MediaCount/{project}").json == 0
        assert views.loaded(project)
        assert api.delete(f"Project/{project}").status == 200
        assert not views.loaded(project)

    def test_only_its_creator_deletes_it(self, project, member):
        assert member("Full Control").delete(f"Project/{project}").status == 403

    def test_a_patch_of_nothing_is_refused(self, api, project):
        assert api.patch(f"Project/{project}", {}).status == 400
        assert api.patch(f"Project/{project}", {"unknown": 1}).status == 400
        assert api.patch(f"Project/{project}", {"enable_downloads": False}).json["object"]["enable_downloads"] is False

    def test_ids_that_are_no_ids_are_not_found(self, api):
        for bad in ("abc", "-1", "0", "1.5", "99999999999999999999999", "%00"):
            assert api.get(f"Project/{bad}").status == 404, bad


class TestMemberships:
    def test_a_member_is_named(self, api, project, stranger):
        number = api.made(f"Memberships/{project}", {"user": stranger.user.id, "permission": "View Only"})
        seen = api.get(f"Membership/{number}").json
        assert seen["username"] == stranger.user.username
        assert seen["email"] == stranger.user.email

    def test_a_second_one_of_a_user_says_so(self, api, project):
        said = api.post(f"Memberships/{project}", {"user": api.user.id, "permission": "Can Edit"})
        assert said.status == 400
        assert said.message.startswith("Membership already exists")

    def test_of_eight_at_once_one_is_made(self, api, project, stranger):
        spec = {"user": stranger.user.id, "permission": "Can Edit"}
        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda _: api.post(f"Memberships/{project}", spec).status, range(8)))
        assert sorted(said) == [201] + [400] * 7

    def test_a_changed_level_holds_at_once(self, api, project):
        other = new_user()
        join(other, project, "View Only")
        number = next(item["id"] for item in api.get(f"Memberships/{project}").json if item["user"] == other.user.id)
        assert other.patch(f"Project/{project}", {"summary": "x"}).status == 403
        api.patch(f"Membership/{number}", {"permission": "Full Control"})
        assert other.patch(f"Project/{project}", {"summary": "x"}).status == 200
        api.delete(f"Membership/{number}")
        assert other.get(f"Project/{project}").status == 404

    def test_an_unknown_level_user_or_version_is_refused(self, api, project, stranger):
        user = stranger.user.id
        assert api.post(f"Memberships/{project}", {"user": user, "permission": "No Access"}).status == 400
        assert api.post(f"Memberships/{project}", {"user": 10**9, "permission": "Can Edit"}).status == 404
        spec = {"user": user, "permission": "Can Edit", "default_version": 10**9}
        assert api.post(f"Memberships/{project}", spec).status == 404


def test_a_list_counts_the_files_of_projects_that_nobody_opened(api, project):
    assert next(each for each in api.get("Projects").json if each["id"] == project)["num_files"] == 0
    media_type = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})
    for _ in range(2):
        api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})
        listed = next(each for each in api.get("Projects").json if each["id"] == project)["num_files"]
        assert listed == len(api.get(f"Medias/{project}").json)


def test_a_list_counts_again_only_where_something_was_committed(api, organization, monkeypatch):
    ours = [api.made("Projects", {"name": f"counted {n}", "organization": organization}) for n in range(3)]
    types = [api.made(f"MediaTypes/{each}", {"name": "Video", "dtype": "video"}) for each in ours]
    for each, kind in zip(ours, types, strict=True):
        api.made(f"Medias/{each}", {"type": kind, "name": "a.mp4", "md5": ""})

    def listed():
        return {each["id"]: each["num_files"] for each in api.get("Projects").json if each["id"] in ours}

    assert set(listed().values()) == {1}
    read, current = [], view_queries.current
    monkeypatch.setattr(view_queries, "current", lambda project: read.append(project) or current(project))
    assert set(listed().values()) == {1}
    assert not read
    api.made(f"Medias/{ours[1]}", {"type": types[1], "name": "b.mp4", "md5": ""})
    assert listed() == {ours[0]: 1, ours[1]: 2, ours[2]: 1}
    assert set(read) == {ours[1]}


def test_a_project_is_answered_with_its_last_counts_while_its_view_catches_up(api, project, monkeypatch):
    late = []
    monkeypatch.setattr(projects_counts, "MOST_BEHIND", 2)
    monkeypatch.setattr(view_queries, "catch_up", late.append)
    media_type = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})

    def shown():
        listed = next(each for each in api.get("Projects").json if each["id"] == project)
        return api.get(f"Project/{project}").json["num_files"], listed["num_files"]

    def create(number):
        for _ in range(number):
            api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})

    create(1)
    assert shown() == (1, 1)
    create(2)
    assert shown() == (3, 3)
    create(3)
    assert shown() == (3, 3)
    assert late == [project, project]
    view_queries.current(project)
    assert shown() == (6, 6)


def test_a_project_that_was_not_counted_yet_is_counted_however_much_was_written(api, project, monkeypatch):
    monkeypatch.setattr(projects_counts, "MOST_BEHIND", 0)
    media_type = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})
    api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})
    assert api.get(f"Project/{project}").json["num_files"] == 1
