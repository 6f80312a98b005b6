"""Rows of dicts as changes: creations run beside each other, and look as if they had not."""

from __future__ import annotations

import threading

import pytest

from infra import client as limn_client
from infra.client import tables
from infra.client.configuration import Profile


@pytest.fixture
def there(service, api, project):
    """A project of the client, and a box of it."""
    picture = api.made(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})
    [media] = api.made(f"Medias/{project}", [{"type": picture, "name": "a.png", "md5": ""}])
    kind = api.made(f"LocalizationTypes/{project}", {"name": "Box", "dtype": "box", "media_types": [picture]})
    with limn_client.Client(Profile(service, api.token, project)) as client:
        found = client.project()
        found.box = {"type": kind, "media_id": media, "frame": 0, "width": 0.25, "height": 0.25, "y": 0.5}
        yield found


@pytest.fixture
def small(monkeypatch):
    """Two rows of a creation."""
    monkeypatch.setattr(tables, "ROWS_PER_CREATION", 2)


def test_ids_are_in_the_order_of_the_rows_and_refused_rows_are_named(there, small):
    rows = [{**there.box, "x": n / 16} for n in range(11)]
    rows[5] = {**rows[5], "x": 7.0}  # its creation is refused as a whole: rows 4 and 5
    done = there.write(rows)
    boxes = {each["id"]: each["x"] for each in there.localizations()}
    assert [boxes[each] for each in done.created] == [n / 16 for n in range(11) if n not in (4, 5)]
    assert [number for number, _ in done.refused] == [4, 5]
    assert all("x" in why for _, why in done.refused)


def test_a_row_changes_what_an_earlier_row_with_its_elemental_id_creates(there, small):
    element = "6f2b1c9e-2f0e-4c57-9c39-0a4d6f1f8a11"
    others = [{**there.box, "x": n / 16} for n in range(6)]
    rows = [{**there.box, "x": 0.0, "elemental_id": element}, *others, {"elemental_id": element, "x": 0.5}]
    done = there.write(rows)
    assert (len(done.created), done.updated, done.refused) == (7, 1, [])
    [found] = [each for each in there.localizations() if each["elemental_id"] == element]
    assert found["x"] == 0.5


def test_creations_run_beside_each_other(there, small):
    """Each waits for another one; a third at once would be left waiting."""
    pairs = threading.Barrier(2, timeout=20)
    create = there.client.create_localization_list

    def paired(*given):
        pairs.wait()
        return create(*given)

    there.client.create_localization_list = paired
    done = there.write([{**there.box, "x": n / 32} for n in range(24)], parallel=2)
    assert (len(done.created), done.refused) == (24, [])
