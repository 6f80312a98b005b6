"""The restore of docs/operations.md, rehearsed: a project is as it was at an instant, and goes on from there."""

from __future__ import annotations

import uuid
from contextlib import suppress

import boto3
import pytest

from chalicelib.storage.log import log
from chalicelib.storage.view import views
from infra.local.deploy import STAGE
from infra.operating import restoring
from tests.resources.annotations.boxes import settle

pytestmark = pytest.mark.slow


@pytest.fixture
def here(api, project):
    return settle(api, project)


@pytest.fixture
def backup():
    """What AWS would restore: copies of the tables as they are now; how their names end."""
    client, suffix = boto3.client("dynamodb"), uuid.uuid4().hex[:6]
    copies = []

    def copy():
        for name, keys in restoring.TABLES.items():
            place = f"limn-{STAGE}-{name}"
            table = client.describe_table(TableName=place)["Table"]
            copies.append(f"{place}-{suffix}")
            client.create_table(
                TableName=copies[-1],
                KeySchema=table["KeySchema"],
                AttributeDefinitions=table["AttributeDefinitions"],
                BillingMode="PAY_PER_REQUEST",
            )
            rows = list(restoring.rows_of(client, place))
            restoring.write(client, copies[-1], [{"PutRequest": {"Item": row}} for row in rows])
            assert len(keys) == len(table["KeySchema"])
        return suffix

    yield copy
    for name in copies:
        with suppress(client.exceptions.ResourceNotFoundException):
            client.delete_table(TableName=name)


def cold(project):
    """A container that has just started, as all have after a restore."""
    log._hints.clear()
    views.drop(project)


def test_a_table_that_is_not_restored_yet_is_named_and_nothing_changes(here, backup, capsys):
    kept, suffix = here.make(), backup()
    boto3.client("dynamodb").delete_table(TableName=f"limn-{STAGE}-counters-{suffix}")
    later = here.make()
    assert restoring.main([STAGE, suffix]) == 1
    assert f"The table limn-{STAGE}-counters-{suffix} is MISSING" in capsys.readouterr().err
    assert {kept, later} <= {each["id"] for each in here.listed()}


def test_a_project_that_is_not_in_the_backup_stays(here, api, organization, backup, capsys):
    suffix = backup()
    later = api.made("Projects", {"name": "later", "organization": organization})
    assert restoring.main([STAGE, suffix, "--project", str(later)]) == 1
    assert f"The project {later} is not in the restored tables" in capsys.readouterr().err
    assert api.get(f"Project/{later}").status == 200


def test_a_project_is_what_it_was_and_no_id_comes_twice(here, api, project, backup):
    kept = [here.make() for _ in range(3)]
    before = api.get(f"Localization/{kept[0]}").json
    suffix = backup()
    assert api.patch(f"Localization/{kept[0]}", {"x": 0.25}).status == 200
    assert api.delete(f"Localization/{kept[1]}").status == 200
    later = here.make()
    put, gone = restoring.restore(STAGE, suffix)["entities"]
    assert put >= 2  # what was changed and what was deleted
    assert gone >= 1
    cold(project)
    assert sorted(each["id"] for each in here.listed()) == kept
    assert api.get(f"Localization/{kept[0]}").json == before
    assert api.get(f"Localization/{later}").status == 404
    assert here.make() > later
    assert here.count() == 4


def test_it_may_be_run_again(here, project, backup):
    here.make()
    suffix = backup()
    here.make()
    restoring.restore(STAGE, suffix)
    assert set(restoring.restore(STAGE, suffix).values()) == {(0, 0)}
    cold(project)
    assert here.count() == 1


def test_one_project_is_restored_and_the_others_go_on(here, api, project, backup, monkeypatch):
    monkeypatch.setattr(restoring, "ROWS_PER_READ", 3)  # so that there are many pages
    other_project = api.made(
        "Projects", {"name": uuid.uuid4().hex, "organization": api.get(f"Project/{project}").json["organization"]}
    )
    other = settle(api, other_project)
    kept, others = [here.make() for _ in range(4)], [other.make()]
    section = api.made(f"Sections/{project}", {"name": "kept"})
    suffix = backup()
    assert api.delete(f"Localization/{kept[0]}").status == 200
    assert api.delete(f"Section/{section}").status == 200
    api.made(f"Sections/{project}", {"name": "later"})
    others.append(other.make())
    assert api.patch(f"Localization/{others[0]}", {"x": 0.25}).status == 200
    before = api.get(f"Localization/{others[0]}").json
    restoring.restore(STAGE, suffix, project)
    assert set(restoring.restore(STAGE, suffix, project).values()) == {(0, 0)}
    cold(project)
    cold(other_project)
    assert sorted(each["id"] for each in here.listed()) == kept
    assert [each["name"] for each in api.get(f"Sections/{project}").json] == ["kept"]
    assert api.post(f"Sections/{project}", {"name": "kept"}).status == 400  # its name is taken again
    assert api.post(f"Sections/{project}", {"name": "later"}).status == 201  # and that of the later one is free
    assert sorted(each["id"] for each in other.listed()) == others
    assert api.get(f"Localization/{others[0]}").json == before
