"""Row protections, and what they do where fine-grained permissions are on."""

from __future__ import annotations

import pytest

from chalicelib.access import authentication
from chalicelib.access.masks import ACL, EXIST, FULL, READ, below, mask_of
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.storage.dynamodb import entities
from tests.service import join

VIEW = EXIST | READ
ALL = mask_of(Level.FULL)
DOOR = VIEW
"""On a project: to reach it, and nothing in it."""


@pytest.fixture
def things(api, project):
    """Media in two folders and in none, with a box on each in one of two versions."""
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": [kind]})
    track = api.made(f"StateTypes/{project}", {"name": "s", "association": "Media", "media_types": [kind]})
    found = {"versions": [api.get(f"Versions/{project}").json[0]["id"], api.made(f"Versions/{project}", {"name": "2"})]}
    found["sections"] = [api.made(f"Sections/{project}", {"name": name}) for name in ("one", "two")]
    found["media"], found["boxes"], found["states"] = [], [], []
    for place, section in enumerate([*found["sections"], None]):
        spec = {"type": kind, "name": f"{place}.jpg", "md5": ""} | ({"section_id": section} if section else {})
        media = api.made(f"Medias/{project}", spec)
        found["media"].append(media)
        on = {"type": box, "media_id": media, "frame": 0, "version": found["versions"][place % 2]}
        found["boxes"] += api.made(f"Localizations/{project}", [on])
        state = {"type": track, "media_ids": [media], "version": found["versions"][place % 2]}
        found["states"] += api.made(f"States/{project}", [state])
    return found


def allow(api, permission, **names):
    return api.made("RowProtections", {"permission": permission, **names})


class TestRecords:
    def test_one_is_made_seen_changed_and_deleted(self, api, project, colleague):
        number = allow(api, 3, project=project, user=colleague.user.id)
        row = api.get(f"RowProtection/{number}").json
        assert (row["project"], row["user"], row["permission"], row["media"]) == (project, colleague.user.id, 3, None)
        assert row["created_by"] == api.user.id
        assert "scope" not in row
        assert api.patch(f"RowProtection/{number}", {"permission": 0}).status == 200
        assert api.get(f"RowProtection/{number}").json["permission"] == 0
        assert api.patch(f"RowProtection/{number}", {}).status == 400
        assert api.delete(f"RowProtection/{number}").json["id"] == number
        assert api.get(f"RowProtection/{number}").status == 404

    def test_every_kind_of_thing_can_be_protected(self, api, project, organization, things):
        group = api.made(f"Groups/{organization}", {"name": "g"})
        cluster = {"name": "c", "host": "h", "port": 1, "token": "t", "cert": "c"}
        targets = {
            "project": project,
            "media": things["media"][0],
            "localization": things["boxes"][0],
            "state": things["states"][0],
            "section": things["sections"][0],
            "version": things["versions"][0],
            "target_organization": organization,
            "target_group": group,
            "job_cluster": api.made(f"JobClusters/{organization}", cluster),
        }
        for name, number in targets.items():
            row = allow(api, FULL, **{name: number}, group=group)
            assert [item["id"] for item in api.get("RowProtections", **{name: number}).json] == [row]
        assert len(api.get("RowProtections", group=group).json) == len(targets)
        assert api.get("RowProtections", group=group, project=project + 1).json == []
        assert api.delete("RowProtections", group=group).message == f"Deleted {len(targets)} row protections!"
        assert api.get("RowProtections", group=group).json == []

    def test_exactly_one_thing_and_one_subject(self, api, project, organization):
        user = api.user.id
        for spec in (
            {"project": project},
            {"user": user},
            {},
            {"project": project, "version": 1, "user": user},
            {"project": project, "user": user, "organization": organization},
        ):
            assert api.post("RowProtections", {"permission": 1, **spec}).status == 400, spec
        assert api.post("RowProtections", {"project": project, "user": user}).status == 400
        assert api.post("RowProtections", {"project": project, "user": user, "permission": -1}).status == 400
        assert api.delete("RowProtections").status == 400

    def test_what_does_not_exist_is_not_found(self, api, project):
        missing = 10**9
        for name in ("project", "media", "section", "version", "algorithm", "file", "bucket", "target_group"):
            said = api.post("RowProtections", {name: missing, "user": api.user.id, "permission": 1})
            assert said.status == 404, name
        assert api.post("RowProtections", {"project": project, "user": missing, "permission": 1}).status == 404

    def test_a_subject_of_others_is_refused_as_one_that_does_not_exist(self, api, project, organization, stranger):
        elsewhere = stranger.made("Organizations", {"name": f"home of {stranger.user.username}"})
        theirs = {
            "user": stranger.user.id,
            "organization": elsewhere,
            "group": stranger.made(f"Groups/{elsewhere}", {"name": "g"}),
        }
        for subject, number in theirs.items():
            for target in ({"project": project}, {"target_organization": organization}):
                said = [
                    api.post("RowProtections", {**target, subject: each, "permission": 1}) for each in (number, 10**9)
                ]
                assert [each.status for each in said] == [404, 404], subject
                words = [each.message.split() for each in said]
                assert words[0][-4:-1] == words[1][-4:-1] == ["No", subject.capitalize(), "matches"]
        assert api.get("RowProtections", project=project, user=stranger.user.id).json == []

    def test_only_who_decides_about_the_thing_sees_and_sets_them(self, api, project, member, colleague, nobody):
        number = allow(api, FULL, project=project, user=colleague.user.id)
        spec = {"project": project, "user": colleague.user.id, "permission": FULL}
        below_full = member("Can Execute")
        for who, status in ((colleague, 404), (below_full, 403), (nobody, 401)):
            assert who.post("RowProtections", spec).status == status
            assert who.get(f"RowProtection/{number}").status == status
            assert who.patch(f"RowProtection/{number}", {"permission": 0}).status == status
            assert who.delete(f"RowProtection/{number}").status == status
        assert colleague.get("RowProtections", project=project).json == []
        assert below_full.get("RowProtections").json == []
        assert member("Full Control").get("RowProtections").json[0]["id"] == number
        assert api.get(f"RowProtection/{number}").json["permission"] == FULL

    def test_they_count_for_nothing_where_permissions_are_not_fine_grained(self, api, project, colleague):
        allow(api, ALL, project=project, user=colleague.user.id)
        assert colleague.get(f"Project/{project}").status == 404
        assert api.get(f"Project/{project}").json["effective_permission"] == 0


@pytest.mark.usefixtures("fine_grained")
class TestFineGrained:
    @pytest.mark.parametrize("level", ["View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control"])
    def test_memberships_mean_what_they_meant(self, project, member, level, api):
        who = member(level)
        assert who.get(f"Project/{project}").json["permission"] == level
        assert who.patch(f"Project/{project}", {"summary": "x"}).status == (200 if level == "Full Control" else 403)
        assert who.post(f"Sections/{project}", {"name": "s"}).status == (403 if level == "View Only" else 201)
        assert api.get(f"Project/{project}").json["effective_permission"] == ALL

    @pytest.mark.parametrize("subject", ["user", "group", "organization"])
    def test_somebody_else_comes_in_by_a_row_for_themselves_a_group_or_an_organization(
        self, api, project, organization, colleague, subject
    ):
        home = colleague.made("Organizations", {"name": f"home of {colleague.user.username}"})
        colleague.made(f"Affiliations/{home}", {"user": api.user.id, "permission": "Member"})
        numbers = {"user": colleague.user.id, "organization": home}
        numbers["group"] = api.made(f"Groups/{organization}", {"name": "g", "initial_members": [colleague.user.id]})
        assert colleague.get(f"Project/{project}").status == 404
        number = allow(api, mask_of(Level.VIEW), project=project, **{subject: numbers[subject]})
        assert colleague.get(f"Project/{project}").json["permission"] == "View Only"
        assert colleague.patch(f"Project/{project}", {"summary": "x"}).status == 403
        if subject != "group":
            assert project in [item["id"] for item in colleague.get("Projects").json]
        api.delete(f"RowProtection/{number}")
        assert colleague.get(f"Project/{project}").status == 404

    def test_a_part_can_be_shown_alone(self, api, project, colleague, things):
        allow(api, DOOR, project=project, user=colleague.user.id)
        assert colleague.get(f"Project/{project}").status == 200
        assert colleague.get(f"Medias/{project}").json == []
        assert colleague.get(f"MediaCount/{project}").json == 0
        allow(api, mask_of(Level.VIEW), section=things["sections"][0], user=colleague.user.id)
        assert self.ids(colleague, f"Medias/{project}") == things["media"][:1]
        assert colleague.get(f"MediaCount/{project}").json == 1
        assert self.ids(colleague, f"Localizations/{project}") == things["boxes"][:1]
        assert self.ids(colleague, f"States/{project}") == things["states"][:1]
        assert [colleague.get(f"Media/{number}").status for number in things["media"]] == [200, 404, 404]
        assert [colleague.get(f"Localization/{number}").status for number in things["boxes"]] == [200, 404, 404]

    @pytest.mark.parametrize(
        ("target", "place", "media", "boxes"),
        [("media", 1, [1], [1]), ("section", 1, [1], [1]), ("version", 0, [], [0, 2]), ("localization", 2, [], [2])],
    )
    def test_lists_counts_and_single_reads_agree(self, api, project, colleague, things, target, place, media, boxes):
        names = {"media": "media", "section": "sections", "version": "versions", "localization": "boxes"}
        allow(api, DOOR, project=project, user=colleague.user.id)
        allow(api, mask_of(Level.VIEW), **{target: things[names[target]][place]}, user=colleague.user.id)
        for path, key, places in (("Media", "media", media), ("Localization", "boxes", boxes)):
            readable = [number for number in things[key] if colleague.get(f"{path}/{number}").status == 200]
            assert readable == [things[key][place] for place in places]
            assert self.ids(colleague, f"{path}s/{project}") == readable
            assert colleague.get(f"{path}Count/{project}").json == len(readable)

    def test_bits_from_several_places_add_up_in_lists_as_in_single_reads(self, api, project, colleague, things):
        user = colleague.user.id
        allow(api, DOOR, project=project, user=user)
        allow(api, EXIST << 16, project=project, user=user)
        allow(api, READ << 8, section=things["sections"][0], user=user)
        allow(api, READ, media=things["media"][2], user=user)
        assert self.ids(colleague, f"Medias/{project}") == [things["media"][0], things["media"][2]]
        assert [colleague.get(f"Media/{number}").status for number in things["media"]] == [200, 404, 200]

    def test_who_reads_all_and_writes_a_part_changes_only_that_part(self, api, project, member, things):
        viewer = member("View Only")
        assert len(viewer.get(f"Medias/{project}").json) == 3
        change = {"name": "renamed.jpg"}
        assert viewer.patch(f"Media/{things['media'][0]}", change).status == 403
        allow(api, mask_of(Level.EDIT), media=things["media"][0], user=viewer.user.id)
        assert viewer.patch(f"Media/{things['media'][0]}", change).status == 200
        assert viewer.patch(f"Media/{things['media'][1]}", change).status == 403
        assert viewer.delete(f"Localization/{things['boxes'][1]}").status == 403
        assert viewer.delete(f"Localization/{things['boxes'][0]}").status == 200

    def test_a_bulk_change_reaches_only_what_a_single_change_would(self, api, project, colleague, things):
        user = colleague.user.id
        allow(api, below(ALL, 4) | mask_of(Level.VIEW), project=project, user=user)
        allow(api, mask_of(Level.EDIT), version=things["versions"][0], user=user)
        allowed = [colleague.patch(f"Localization/{number}", {"x": 0.5}).status for number in things["boxes"]]
        assert allowed == [200, 403, 200]
        assert colleague.delete(f"Localizations/{project}").status == 200
        assert len(api.get(f"Localizations/{project}").json) == 1

    def test_a_search_by_relation_does_not_tell_of_what_may_not_be_seen(self, api, project, colleague, things):
        user = colleague.user.id
        allow(api, DOOR | (mask_of(Level.VIEW) & (FULL << 16)), project=project, user=user)
        assert self.ids(colleague, f"Medias/{project}") == things["media"]
        found = colleague.get(f"Medias/{project}", related_attribute_null="$x::true")
        assert (found.status, found.json) == (200, [])
        assert len(api.get(f"Medias/{project}", related_attribute_null="$x::true").json) == 3

    def test_the_service_itself_sees_everything(self, api, project, member, things):
        editor = member("Can Edit")
        allow(api, 0, media=things["media"][0], user=editor.user.id)
        assert editor.delete(f"Media/{things['media'][0]}").status == 200
        assert entities.many(Kind.LOCALIZATION, things["boxes"][:1]) == {}

    def test_an_organizations_parts_can_be_given_alone(self, api, organization, colleague):
        group = api.made(f"Groups/{organization}", {"name": "g"})
        assert colleague.get(f"Group/{group}").status == 404
        allow(api, VIEW, target_group=group, user=colleague.user.id)
        assert colleague.get(f"Group/{group}").status == 200
        assert colleague.patch(f"Group/{group}", {"name": "h"}).status == 403
        assert colleague.get(f"Organization/{organization}").status == 404
        allow(api, VIEW, target_organization=organization, user=colleague.user.id)
        assert colleague.get(f"Organization/{organization}").json["effective_permission"] == VIEW
        assert organization in [item["id"] for item in colleague.get("Organizations").json]

    def test_the_acl_bit_decides_who_may_give(self, api, project, colleague, member):
        spec = {"project": project, "user": colleague.user.id, "permission": VIEW}
        giver = member("View Only")
        assert giver.post("RowProtections", spec).status == 403
        allow(api, ACL, project=project, user=giver.user.id)
        assert giver.post("RowProtections", spec).status == 201
        assert colleague.get(f"Project/{project}").status == 200

    def ids(self, who, path):
        said = who.get(path)
        assert said.status == 200, said.body
        return sorted(item["id"] for item in said.json)


def test_requests_of_other_callers_do_not_share_what_was_read(api, project, stranger, fine_grained):
    join(stranger, project, "View Only")
    assert stranger.get(f"Project/{project}").status == 200
    caller = authentication.Caller(id=api.user.id)
    other = authentication.Caller(id=stranger.user.id)
    Scope.from_caller(other, Level.VIEW).project_level(project, "project", lambda: None)
    assert Scope.from_caller(caller, Level.VIEW).project_level(project, "project", lambda: None) is Level.FULL


def test_a_group_of_another_organization_is_not_there(api, project, colleague):
    other = colleague.made("Organizations", {"name": f"of a colleague {colleague.user.id}"})
    group = colleague.made(f"Groups/{other}", {"name": "g"})
    said = api.post("RowProtections", {"project": project, "group": group, "permission": 1})
    assert (said.status, said.message) == (
        404,
        api.post("RowProtections", {"project": project, "group": 10**9, "permission": 1}).message.replace(
            str(10**9), str(group)
        ),
    )
