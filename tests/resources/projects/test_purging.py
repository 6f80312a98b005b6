"""What goes with a project and with an organization, also where somebody dies on the way."""

from __future__ import annotations

import importlib
import pkgutil
import uuid

import boto3
import pytest

import chalicelib
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, PROJECT
from chalicelib.core.records import RecordKind
from chalicelib.errors import NotFound, Unavailable
from chalicelib.resources.organizations import service as organizations_service
from chalicelib.resources.projects import purging
from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.objects import view_objects
from tests import objects
from tests.service import join, new_user


def kinds():
    """Every kind of record there is."""
    found = pkgutil.walk_packages(chalicelib.__path__, "chalicelib.")
    modules = [importlib.import_module(each.name) for each in found if each.name != "chalicelib.api.site"]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, RecordKind)]
    return {kind.name: kind for kind in found}.values()


def test_no_kind_of_record_is_forgotten():
    under = {
        word: {kind.name for kind in kinds() if kind.parent and kind.parent[1] == word}
        for word in ("project", "organization")
    }
    assert under["project"] == {kind.name for kind in purging.PROJECT_KINDS}
    assert under["organization"] == {kind.name for kind in (*organizations_service.ORGANIZATION_KINDS, AFFILIATION)}


def rows(project, organization):
    """Everything any table or bucket says of a project, its own record and pointers apart."""
    client = boto3.client("dynamodb")
    found = []
    for table in (settings().records_table, settings().entities_table, settings().log_table):
        for page in client.get_paginator("scan").paginate(TableName=table):
            for row in page["Items"]:
                text = str(row)
                own = (row.get("project", {}).get("N"), row.get("pk", {}).get("S"), row.get("home_pk", {}).get("S"))
                if (
                    own[0] == str(project)
                    or f"project#{project}" in own[1:]
                    or f"protections#project|{project}" in own[1:]
                ):
                    found.append(text)
    keys = [key for prefix in purging._prefixes(project, organization) for key in objects.under(prefix)]
    return [
        text for text in found if f"'project#{project}'}}, 'sk': {{'S': '@'" not in text and "link|project|" not in text
    ] + keys


@pytest.fixture
def full(api, project, organization):
    """A project with something of everything in it."""
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": [kind]})
    media = api.made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": ""})
    boxes = [{"media_id": media, "type": box, "frame": 0} for _ in range(20)]
    made = api.made(f"Localizations/{project}", boxes)
    api.delete(f"Localization/{made[0]}")
    api.made(f"Sections/{project}", {"name": "s"})
    api.made(f"Bookmarks/{project}", {"name": "b", "uri": "/"})
    api.made(f"Favorites/{project}", {"name": "f", "type": box, "values": {}})
    api.made("RowProtections", {"project": project, "user": api.user.id, "permission": 255})
    for _ in range(30):
        join(new_user(), project, "View Only")
    objects.write(f"{organization}/{project}/{media}/a.jpg", b"x")
    objects.write(f"_temporary/{project}/a.zip", b"x")
    view_objects.put(project, "commits", b"x")
    return records.get(PROJECT, project)


def message(project, **more):
    return PurgeProject(id=str(uuid.uuid4()), project=project.id, organization=project.organization, **more)


@pytest.mark.slow
def test_a_purge_leaves_nothing(api, full):
    other = rows(full.id, full.organization)
    assert len(other) > 50
    assert api.delete(f"Project/{full.id}").status == 200
    purging.purge(message(full), 60)
    assert rows(full.id, full.organization) == []
    assert records.get(PROJECT, full.id).deleted
    purging.purge(message(full, round=purging.ROUNDS), 60)
    with pytest.raises(NotFound):
        records.get(PROJECT, full.id)
    purging.purge(message(full, round=purging.ROUNDS), 60)


@pytest.mark.slow
def test_a_purge_that_is_out_of_time_at_every_step_goes_on_until_nothing_is_left(api, full, monkeypatch):
    sent = []
    monkeypatch.setattr(purging, "send", lambda _url, message, delay=0: sent.append((message, delay)))
    api.delete(f"Project/{full.id}")
    sent.append((message(full), 0))
    runs = 0
    while sent:
        runs += 1
        assert runs < 500
        purging.purge(sent.pop(0)[0], -1.0)
    assert runs > 10
    assert rows(full.id, full.organization) == []


def test_a_purge_of_what_was_not_deleted_after_all_does_nothing(api, full):
    before = rows(full.id, full.organization)
    purging.purge(message(full), 60)
    assert rows(full.id, full.organization) == before


def test_nothing_is_deleted_where_the_purge_cannot_be_ordered(api, full, monkeypatch):
    def away(*_args, **_more):
        raise Unavailable("The queue does not take messages.")

    monkeypatch.setattr(purging, "send", away)
    assert api.delete(f"Project/{full.id}").status == 503
    assert api.get(f"Project/{full.id}").status == 200


def test_who_dies_after_the_mark_has_let_go_of_most_and_the_purge_of_the_rest(api, full, monkeypatch):
    def die(_project):
        raise KeyboardInterrupt

    monkeypatch.setattr(purging, "let_go", die)
    with pytest.raises(KeyboardInterrupt):
        projects_service.delete_project(full)
    assert api.get(f"Project/{full.id}").status == 404
    left = len(records.list_children(MEMBERSHIP, full.id))
    assert 0 < left < 31
    monkeypatch.undo()
    purging.purge(message(full), 60)
    assert records.list_children(MEMBERSHIP, full.id) == []


def test_deleted_entities_are_purged_too(api, full):
    media = api.get(f"Medias/{full.id}").json[0]["id"]
    api.delete(f"Project/{full.id}")
    purging.purge(message(full), 60)
    assert entities.many(Kind.MEDIA, [media]) == {}


class TestOrganizations:
    def test_all_that_is_its_own_goes_with_it(self, api, organization):
        things = [
            api.made(f"Groups/{organization}", {"name": "g"}),
            api.made(
                f"Invitations/{organization}", {"email": f"{uuid.uuid4().hex}@example.org", "permission": "Member"}
            ),
            api.made(f"JobClusters/{organization}", {"name": "c", "host": "h", "port": 1, "token": "t", "cert": "c"}),
        ]
        other = new_user()
        api.made(f"Affiliations/{organization}", {"user": other.user.id, "permission": "Member"})
        api.made("RowProtections", {"target_organization": organization, "user": other.user.id, "permission": 3})
        assert api.delete(f"Organization/{organization}").status == 200
        for path, number in zip(("Group", "Invitation", "JobCluster"), things, strict=True):
            assert api.get(f"{path}/{number}").status == 404
        assert organization not in [item["id"] for item in other.get("Organizations").json]
        client = boto3.client("dynamodb")
        left = str(
            [page["Items"] for page in client.get_paginator("scan").paginate(TableName=settings().records_table)]
        )
        assert f"'organization#{organization}'" not in left
        assert f"organization|{organization}'" not in left

    def test_one_that_is_being_deleted_gets_no_more_projects(self, api, organization, monkeypatch):
        seen = []
        linked = records.list_linked

        def look(kind, word, number):
            if word == "organization" and kind is PROJECT:
                seen.append(api.post("Projects", {"name": uuid.uuid4().hex, "organization": organization}).status)
            return linked(kind, word, number)

        monkeypatch.setattr(records, "list_linked", look)
        assert api.delete(f"Organization/{organization}").status == 200
        assert seen == [403]

    def test_one_that_was_not_deleted_gets_projects_again(self, api, organization, project):
        assert api.delete(f"Organization/{organization}").status == 400
        assert api.post("Projects", {"name": uuid.uuid4().hex, "organization": organization}).status == 201

    def test_its_deletion_may_be_repeated(self, api, organization, monkeypatch):
        monkeypatch.setattr(records, "drop", lambda *_args, **_more: (_ for _ in ()).throw(Unavailable("away")))
        assert api.delete(f"Organization/{organization}").status == 503
        monkeypatch.undo()
        assert api.delete(f"Organization/{organization}").status == 200
