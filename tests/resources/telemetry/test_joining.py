"""Telemetry over HTTP: an attachment of a media sets attributes of its annotations by time."""

from __future__ import annotations

import pytest

from chalicelib.storage.objects import objects
from tests.resources.annotations.boxes import Here, settle

SECONDS = "time,depth,lon,lat\n0,10.5,8.5,48.5\n2,20,8.6,48.6\n10,30,8.7,48.7\n"


@pytest.fixture
def here(api, project) -> Here:
    found = settle(api, project)
    api.patch(f"Media/{found.media}", {"fps": 10.0, "num_frames": 1000})
    return found


def attach(here: Here, text: str | bytes, name: str = "ctd.csv") -> str:
    key = here.api.get(f"UploadInfo/{here.project}", filename=name, media_id=here.media).json["key"]
    objects.write(_key(here, key), text.encode() if isinstance(text, str) else text)
    said = here.api.post(f"AuxiliaryFiles/{here.media}", {"path": key, "name": name}, role="attachment")
    assert said.status == 201, said.json
    return key


def _key(here: Here, key: str):
    from chalicelib.core.keys import object_keys

    organization = here.api.get(f"Project/{here.project}").json["organization"]
    return object_keys.authorize_media_key(key, organization, here.project, here.media)


def join(here: Here, body=None, **query):
    return here.api.patch(
        f"TelemetryValues/{here.project}", {"file": "ctd.csv", "columns": {"size": "depth"}, **(body or {})}, **query
    )


def sizes(here: Here) -> list:
    return [box["attributes"].get("size") for box in here.listed(sort_by="$id")]


def test_annotations_get_the_preceding_value_of_their_time(here):
    attach(here, SECONDS)
    here.api.made(here.many, [here.spec(frame=frame) for frame in (0, 19, 20, 99, 500)])
    dry = join(here, dry_run=True).json
    assert (dry["matched"], dry["changed"], dry["refused"]) == (5, 5, 0)
    assert sizes(here) == [None] * 5
    assert join(here, {"columns": {"size": "depth", "place": ["lon", "lat"]}}).status == 200
    assert sizes(here) == [10.5, 10.5, 20, 20, 30]
    assert here.listed(sort_by="$id")[2]["attributes"]["place"] == [8.6, 48.6]
    rows = here.api.get(f"Statistics/{here.project}", group_by="size::10").json["rows"]
    assert rows == [{"size::10": 10, "count": 2}, {"size::10": 20, "count": 2}, {"size::10": 30, "count": 1}]
    listed = here.api.get(here.many, format="csv", sort_by="$id").body.decode()
    assert "10.5" in listed


def test_the_nearest_value_and_a_tolerance(here):
    attach(here, SECONDS)
    here.api.made(here.many, [here.spec(frame=frame) for frame in (9, 11, 50, 300)])
    assert join(here, {"join": "nearest", "tolerance": 3}).json["changed"] == 3
    assert sizes(here) == [10.5, 20, 20, None]


def test_instants_need_the_attribute_with_the_start_of_the_media(here):
    attach(here, "time,depth\n2026-01-02T03:04:05Z,1\n2026-01-02T04:04:06+01:00,2\n")
    assert here.api.post(f"AttributeType/{here.media_type}", START).status == 201
    here.make(frame=10)
    assert "start: the telemetry has instants" in join(here).json["details"]
    assert "no date in 'Start'" in join(here, {"start": "Start"}).json["details"]
    here.api.patch(f"Media/{here.media}", {"attributes": {"Start": "2026-01-02T03:04:05Z"}})
    assert join(here, {"start": "Start"}).json["changed"] == 1
    assert sizes(here) == [2]


START = {"entity_type": "MediaType", "addition": {"name": "Start", "dtype": "datetime"}}


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"columns": {"size": "deptj"}}, "Did you mean 'depth'?"),
        ({"columns": {}}, "at least one"),
        ({"columns": {"sise": "depth"}}, "Did you mean 'size'?"),
        ({"columns": {"place": "depth"}}, "[longitude, latitude]"),
        ({"columns": {"size": ["lon", "lat"]}}, "one column"),
        ({"file": "other.csv"}, "no attachment"),
        ({"time": "tiem"}, "Did you mean 'time'?"),
    ],
)
def test_a_refusal_names_the_member(here, body, part):
    attach(here, SECONDS)
    here.make(frame=0)
    said = join(here, body)
    assert said.status == 400
    assert part in said.message + said.json["details"]


def test_an_attachment_that_names_the_object_of_another_media_is_not_read(here):
    other = here.api.made(f"Medias/{here.project}", {"type": here.media_type, "name": "b.mp4", "md5": ""})
    key = attach(here, SECONDS)
    assert here.api.post(f"AuxiliaryFiles/{other}", {"path": key, "name": "ctd.csv"}).status == 403
