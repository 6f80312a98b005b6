"""`If-Match` with the time of the row that was read: a change of a row that another request changed since is a 409."""

from __future__ import annotations

import dataclasses
import time

import pytest

from tests.resources.annotations.boxes import settle


@pytest.fixture
def here(api, project):
    return settle(api, project)


@pytest.fixture(params=["Localization", "State"])
def row(request, here):
    """The path and the row of one annotation."""
    if request.param == "Localization":
        return "Localization", here.one(here.make(x=0.1))
    types = {"name": "track", "association": "Localization", "media_types": [here.media_type]}
    track = here.api.made(f"StateTypes/{here.project}", types)
    (number,) = here.api.made(f"States/{here.project}", {"type": track, "media_ids": [here.media]})
    return "State", here.api.get(f"State/{number}").json


def matching(api, stamp):
    return dataclasses.replace(api, headers={"If-Match": stamp})


def change(row):
    time.sleep(0.002)  # times are in milliseconds
    return {"frame": (row.get("frame") or 0) + 1}


@pytest.mark.parametrize("stamp", ['"{0}"', 'W/"{0}"', "{0}", "*"])
def test_the_row_that_was_read_is_changed_and_deleted(here, row, stamp):
    word, read = row
    said = matching(here.api, stamp.format(read["modified_datetime"])).patch(f"{word}/{read['id']}", change(read))
    assert said.status == 200, said.body
    now = said.json["object"]["modified_datetime"]
    assert matching(here.api, stamp.format(now)).delete(f"{word}/{read['id']}").status == 200


@pytest.mark.parametrize("path", ["{id}", "{version}/{elemental_id}"])
def test_a_row_that_another_request_changed_is_a_conflict_and_stays(here, row, path):
    word, read = row
    assert here.api.patch(f"{word}/{read['id']}", change(read)).status == 200
    late = matching(here.api, f'"{read["modified_datetime"]}"')
    place = f"{word}/{path.format(**read)}"
    for said in (late.patch(place, change(read)), late.delete(place)):
        assert said.status == 409
        assert said.message.startswith(f"If-Match: {read['id']} was modified at ")
    assert here.api.get(f"{word}/{read['id']}").json["frame"] == 1


def test_a_row_that_another_request_deleted_is_a_conflict(here, row):
    word, read = row
    time.sleep(0.002)
    assert here.api.delete(f"{word}/{read['id']}").status == 200
    late = matching(here.api, f'"{read["modified_datetime"]}"')
    assert late.patch(f"{word}/{read['id']}", change(read)).status == 409
    assert late.delete(f"{word}/{read['id']}").status == 409
