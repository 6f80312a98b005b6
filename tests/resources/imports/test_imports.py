"""Imports over HTTP: what becomes of rows, dry runs, repetition, cancelling, permissions."""

from __future__ import annotations

import json

import duckdb
import pytest

from chalicelib.queues.base import tenant
from chalicelib.resources.imports import checking
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports.schemas import IMPORT
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from tests.resources.imports.archives import imported, uploaded, zipped
from tests.resources.imports.conftest import make_types

COCO = {
    "categories": [{"id": 1, "name": "Box"}, {"id": 7, "name": "Cod"}],
    "images": [{"id": 5, "file_name": "images/reef.png", "width": 640, "height": 480}],
    "annotations": [
        {"id": 1, "image_id": 5, "category_id": 1, "bbox": [64, 48, 320, 240]},
        {"id": 2, "image_id": 5, "category_id": 7, "bbox": [0, 0, 64, 48]},
        {"id": 3, "image_id": 9, "category_id": 1, "bbox": [0, 0, 64, 48]},
        {"id": 4, "image_id": 5, "category_id": 1, "bbox": [0, 0, 6400, 48]},
    ],
}


def test_rows_become_localizations_and_each_refusal_has_its_place_and_reason(world):
    found = imported(world.api, world.project, {"a.json": COCO}, "coco", class_attribute="Species")
    assert (found["status"], found["message"]) == ("succeeded", None)
    shown = [[box[name] for name in ("media", "type", "x", "y", "width", "height")] for box in world.localizations()]
    box = world.types["box"]
    assert shown == [[world.image, box, 0.1, 0.1, 0.5, 0.5], [world.image, box, 0, 0, 0.1, 0.1]]
    assert [each["attributes"].get("Species") for each in world.localizations()] == [None, "Cod"]
    report = found["report"]
    assert report["localizations"] == {"read": 4, "accepted": 2, "present": 0, "refused": 2, "skipped": 0}
    assert [each["place"] for each in report["refusals"]] == ["a.json annotations[2]", "a.json annotations[3]"]
    assert "image_id: 9" in report["refusals"][0]["reason"]
    assert "reaches beyond the picture" in report["refusals"][1]["reason"]
    assert found["progress"] == {"done": 2, "total": 2}


def test_a_class_that_would_be_lost_is_refused(world):
    report = imported(world.api, world.project, {"a.json": COCO}, "coco")["report"]
    assert report["localizations"]["accepted"] == 1
    [cod] = [each for each in report["classes"] if each["name"] == "Cod"]
    assert "neither the name of a type nor in classes" in cod["reason"]


def test_classes_map_to_types_and_attributes_or_are_skipped(world):
    classes = {"Cod": {"attributes": {"Species": "Gadus", "Depth": 3}}, "Box": {"skip": True}}
    report = imported(world.api, world.project, {"a.json": COCO}, "coco", classes=classes)["report"]
    assert (report["localizations"]["accepted"], report["localizations"]["skipped"]) == (1, 2)
    [box] = world.localizations()
    assert {name: box["attributes"][name] for name in ("Species", "Depth")} == {"Species": "Gadus", "Depth": 3.0}


def test_a_dry_run_reports_the_same_and_creates_nothing(world):
    before = len(world.api.get(f"Versions/{world.project}").json)
    dry = imported(world.api, world.project, {"a.json": COCO}, "coco", class_attribute="Species", dry_run=True)
    assert (dry["status"], world.localizations()) == ("succeeded", [])
    assert len(world.api.get(f"Versions/{world.project}").json) == before
    real = imported(world.api, world.project, {"a.json": COCO}, "coco", class_attribute="Species")
    assert real["report"] == dry["report"]


def test_the_same_archive_creates_nothing_twice_however_it_was_zipped(world):
    imported(world.api, world.project, {"a.json": COCO}, "coco", class_attribute="Species")
    before = world.localizations()
    again = imported(world.api, world.project, zipped({"a.json": COCO}), "coco", class_attribute="Species")
    assert again["report"]["localizations"]["present"] == 2
    assert world.localizations() == before


@pytest.mark.slow
def test_deleted_annotations_come_back(world):
    imported(world.api, world.project, {"a.json": COCO}, "coco", class_attribute="Species")
    elements = [box["elemental_id"] for box in world.localizations()]
    world.api.delete(f"Localizations/{world.project}")
    assert world.localizations() == []
    imported(world.api, world.project, {"a.json": COCO}, "coco", class_attribute="Species")
    assert sorted(box["elemental_id"] for box in world.localizations()) == sorted(elements)


def test_outside_shapes_are_clipped_where_the_body_says_so(world):
    imported(world.api, world.project, {"a.json": COCO}, "coco", class_attribute="Species", outside="clip")
    assert [box["width"] for box in world.localizations()] == [0.5, 0.1, 1.0]


def test_a_box_whose_far_edge_lies_beyond_the_picture_is_outside_too(world):
    def sides():
        return [(box["x"], box["width"]) for box in world.localizations()]

    wide = COCO["images"][0]["width"]
    document = {**COCO, "annotations": [{**COCO["annotations"][0], "bbox": [0.5 * wide, 0, 0.59 * wide, 10]}]}
    how = {"class_attribute": "Species"}
    report = imported(world.api, world.project, {"a.json": document}, "coco", **how, dry_run=True)["report"]
    assert "reaches beyond the picture by 0.09 of a side" in report["refusals"][0]["reason"]
    imported(world.api, world.project, {"a.json": document}, "coco", **how, outside="clip")
    assert sides() == [(0.5, 0.5)]


def test_a_turned_box_is_judged_and_clipped_by_its_corners(world):
    world.api.patch(f"LocalizationType/{world.types['box']}", {"refinements": ["angle"]})
    turned = {**COCO["annotations"][0], "limn": {"kind": "box", "box": [64, 210, 512, 60], "angle": 90.0}}
    document = {**COCO, "annotations": [turned]}
    report = imported(world.api, world.project, {"a.json": document}, "coco", dry_run=True)["report"]
    assert "reaches beyond the picture by 0.0667 of a side" in report["refusals"][0]["reason"]
    report = imported(world.api, world.project, {"a.json": document}, "coco", outside="clip")["report"]
    assert "upright box around it" in report["notes"][0]["reason"]
    [box] = world.localizations()
    assert [box[name] for name in ("x", "y", "width", "height")] == pytest.approx([290 / 640, 0.0, 60 / 640, 1.0])
    assert "angle" not in box


def test_members_and_attributes_that_are_dropped_are_named(world):
    annotation = {**COCO["annotations"][0], "score": 0.5, "limn": {"attributes": {"Weight": 3}}}
    how = {"class_attribute": "Species", "unknown_attributes": "drop", "dry_run": True}
    document = {**COCO, "annotations": [annotation]}
    report = imported(world.api, world.project, {"a.json": document}, "coco", **how)["report"]
    reasons = [each["reason"] for each in report["notes"]]
    assert report["dropped"] == [{"name": "annotations.score", "rows": 1}]
    assert any(reason.endswith("dropped: 'Weight'") for reason in reasons), reasons


@pytest.mark.parametrize(
    ("match", "row", "is_found"),
    [
        ("name", {"file_name": "REEF.png"}, True),
        ("name", {"file_name": "deep/reef.jpg"}, True),
        ("name", {"file_name": "other.png"}, False),
        ("path", {"file_name": "other.png"}, False),
    ],
)
def test_media_are_matched(world, match, row, is_found):
    document = {**COCO, "images": [{**COCO["images"][0], **row}]}
    report = imported(world.api, world.project, {"a.json": document}, "coco", match=match, dry_run=True)["report"]
    assert report["media"]["present"] == is_found


def test_a_name_that_several_media_have_is_refused(world):
    body = {"type": world.types["image"], "name": "reef.png", "md5": "2" * 32}
    world.api.made(f"Medias/{world.project}", body)
    report = imported(world.api, world.project, {"a.json": COCO}, "coco", dry_run=True)["report"]
    assert "2 media match it by name" in report["refusals"][0]["reason"]
    assert report["localizations"]["refused"] == 4


@pytest.mark.slow
def test_pictures_of_the_archive_become_media_once(world, picture):
    files = {
        "data.yaml": "names: [Box]",
        "labels/train/new.txt": "0 0.5 0.5 0.5 0.5\n",
        "images/train/new.png": picture,
        "images/train/empty.png": picture,
    }
    found = imported(world.api, world.project, files, "yolo", section="From outside")
    assert found["report"]["media"] == {"read": 2, "accepted": 2, "present": 0, "refused": 0, "skipped": 0}
    media = {each["name"]: each for each in world.api.get(f"Medias/{world.project}").json}
    assert media["new.png"]["width"] == 64  # the file was imported
    [box] = world.localizations()
    assert (box["media"], box["x"], box["width"]) == (media["new.png"]["id"], 0.25, 0.5)
    [section] = [each for each in world.api.get(f"Sections/{world.project}").json if each["name"] == "From outside"]
    assert media["empty.png"]["primary_section"] == section["id"]
    again = imported(world.api, world.project, files, "yolo", section="From outside")
    assert again["report"]["media"]["present"] == 2
    assert len(world.api.get(f"Medias/{world.project}").json) == 4


def test_a_manifest_cannot_name_files_outside_or_elements_that_are_none(world, picture):
    header = "key,name,path,elemental_id"
    rows = ("a,a.png,not/there.png,", "b,b.png,images/b.png,../../../other", "c,c.png,images/c.png,")
    files = {"media.csv": "\n".join((header, *rows)) + "\n", "images/b.png": picture, "images/c.png": picture}
    found = imported(world.api, world.project, files, "csv")
    assert found["status"] == "succeeded"
    reasons = {each["place"]: each["reason"] for each in found["report"]["refusals"]}
    assert "the archive has no file of it" in reasons["media.csv:2"]
    assert "is not a UUID" in reasons["media.csv:3"]
    assert found["report"]["media"]["accepted"] == 1


@pytest.mark.slow
def test_rows_that_no_database_takes_are_refused_one_by_one(world):
    rows = [{"media": "reef.png", "x": 0, "y": 0, "width": 1, "height": 1, "type": "Box"} for _ in range(2)]
    rows[1]["attributes.Species"] = "x" * 400_001
    lines = "\n".join(map(json.dumps, rows))
    found = imported(world.api, world.project, {"localizations.jsonl": lines}, "jsonl")
    assert (found["status"], found["report"]["localizations"]["accepted"]) == ("succeeded", 1)
    assert "at most 400000 are held" in found["report"]["refusals"][0]["reason"]


def test_parts_are_as_small_as_their_rows_are_large(world, monkeypatch):
    monkeypatch.setattr(checking, "LARGEST_PART", 1_000)
    row = {"media": "reef.png", "x": 0, "y": 0, "width": 1, "height": 1, "type": "Box", "attributes.Species": "x" * 400}
    lines = "\n".join(json.dumps(row) for _ in range(7))
    found = imported(world.api, world.project, {"localizations.jsonl": lines}, "jsonl")
    assert (found["progress"], len(world.localizations())) == ({"done": 7, "total": 7}, 7)
    assert records.get(IMPORT, found["uid"]).parts == {"labels": [3, 3, 1]}


@pytest.mark.slow
def test_values_of_parquet_that_are_no_json_are_refused_row_by_row(world, tmp_path):
    path = tmp_path / "localizations.parquet"
    values = ("1", "'a'::blob", "uuid()", "INTERVAL 1 DAY", "1.5::decimal(9, 2)", "'infinity'::double", "{'a': 1}",
              "map {'a': 1}", "TIME '10:00'", "DATE '2020-01-01'", "[[1]]", "170141183460469231731687303715884105727",
              "chr(0)")  # fmt: skip
    for attribute in ("Species", "Depth", "Place"):
        for value in values:
            shape = "'reef.png' AS media, 0.1 AS x, 0.1 AS y, 0.1 AS width, 0.1 AS height, 'Box' AS type"
            duckdb.sql(f"COPY (SELECT {shape}, {value} AS \"attributes.{attribute}\") TO '{path}' (FORMAT parquet)")
            found = imported(world.api, world.project, path.read_bytes(), "parquet")
            assert found["status"] == "succeeded", (attribute, value, found["message"])


def test_tracks_have_their_localizations(world):
    lines = "".join(f"{frame},3,{10 * frame},20,40,50,1,1,1\n" for frame in (1, 2, 5))
    files = {"dive/gt/gt.txt": lines + "1,4,0,0,10,10,0,1,1\n", "dive/gt/labels.txt": "Box\n"}
    found = imported(world.api, world.project, files, "mot")
    boxes = world.localizations()
    assert [(box["frame"], box["x"]) for box in boxes] == [(0, 0.05), (1, 0.1), (4, 0.25)]
    [track] = world.states()
    assert track["localizations"] == [box["id"] for box in boxes]
    assert track["segments"] == [[0, 1], [4, 4]]
    assert found["report"]["states"]["accepted"] == 1
    assert "the benchmark ignores it" in found["report"]["refusals"][0]["reason"]


def test_a_cancelled_import_stops_and_its_parts_are_removed(world, monkeypatch):
    from tests import objects

    key = uploaded(world.api, world.project, zipped({"a.json": COCO}))
    made = world.api.post(f"Imports/{world.project}", {"format": "coco", "key": key}).json
    assert [each["uid"] for each in world.api.get(f"Imports/{world.project}").json] == [made["uid"]]
    assert world.api.delete(f"Import/{made['uid']}").status == 200
    world.api.drain()
    assert world.localizations() == []
    assert world.api.get(f"Import/{made['uid']}").status == 404
    assert list(objects.under(f"_pieces/{world.project}/")) == []


@pytest.mark.slow
def test_more_imports_at_work_than_a_user_may_have_are_refused_until_one_ends(world):
    body = {"format": "coco", "key": uploaded(world.api, world.project, zipped({"a.json": COCO})), "dry_run": True}
    made = [world.api.post(f"Imports/{world.project}", body).json["uid"] for _ in range(5)]
    refused = world.api.post(f"Imports/{world.project}", body)
    assert (refused.status, "5 imports of yours are at work" in refused.message) == (429, True)
    assert world.api.delete(f"Import/{made[0]}").status == 200
    assert world.api.post(f"Imports/{world.project}", body).status == 201
    world.api.drain()
    assert world.api.post(f"Imports/{world.project}", body).status == 201


def test_an_archive_of_another_user_or_none_is_refused(world, member):
    key = uploaded(world.api, world.project, b"x")
    other = member("Full Control")
    assert other.post(f"Imports/{world.project}", {"format": "coco", "key": key}).status == 400
    missing = key.replace("dataset", "missing")
    said = world.api.post(f"Imports/{world.project}", {"format": "coco", "key": missing})
    assert (said.status, "there is no object" in said.message) == (400, True)
    assert member("Can Edit").post(f"Imports/{world.project}", {"format": "coco", "key": key}).status == 403


def test_types_of_another_kind_or_project_are_refused(world):
    key = uploaded(world.api, world.project, b"x")
    for types in ({"box": world.types["dot"]}, {"track": 999_999}, {"media": world.types["video"]}):
        said = world.api.post(f"Imports/{world.project}", {"format": "coco", "key": key, "types": types})
        assert (said.status, next(iter(types)) in said.message) == (400, True)


def test_an_unreadable_archive_fails_with_its_reason(world):
    found = imported(world.api, world.project, b"PK\x03\x04 no zip", "coco")
    assert (found["status"], "not a zip" in found["message"]) == ("failed", True)
    found = imported(world.api, world.project, b"[]", "coco")
    assert (found["status"], "is not a JSON object" in found["message"]) == ("failed", True)


def test_a_failed_import_is_told_to_its_user_alone_and_one_that_succeeds_is_not(world, member):
    writer, other = member("Can Transfer"), member("Full Control")
    imported(writer, world.project, zipped({"a.json": COCO}), "coco")
    assert writer.get("Notifications").json == []
    imported(writer, world.project, b"[]", "coco")
    (notice,) = writer.get("Notifications").json
    assert (notice["topic"], notice["text"].startswith("An import failed: ")) == ("imports", True)
    assert "is not a JSON object" in notice["text"]
    assert other.get("Notifications").json == []


def test_a_user_who_lost_the_permission_imports_nothing(world, member):
    writer = member("Can Transfer")
    key = uploaded(writer, world.project, zipped({"a.json": COCO}))
    made = writer.post(f"Imports/{world.project}", {"format": "coco", "key": key}).json
    [membership] = [
        each["id"] for each in world.api.get(f"Memberships/{world.project}").json if each["user"] == writer.user.id
    ]
    assert world.api.patch(f"Membership/{membership}", {"permission": "Can Edit"}).status == 200
    world.api.drain()
    found = world.api.get(f"Import/{made['uid']}").json
    assert (found["status"], "no longer has 'Can Transfer'" in found["message"]) == ("failed", True)
    assert world.localizations() == []
    assert settings().dataset_queue_url


def test_types_and_versions_of_another_project_are_refused_as_missing_ones(world, organization):
    other = world.api.made("Projects", {"name": "other", "organization": organization})
    foreign = make_types(world.api, other)
    version = world.api.get(f"Versions/{other}").json[0]["id"]
    body = {"format": "coco", "key": uploaded(world.api, world.project, zipped({"a.json": COCO})), "dry_run": True}
    for number, lie in (
        (version, lambda number: {"version": number}),
        (foreign["box"], lambda number: {"types": {"box": number}}),
        (foreign["image"], lambda number: {"types": {"image": number}}),
        (foreign["track"], lambda number: {"types": {"track": number}}),
        (foreign["box"], lambda number: {"classes": {"Cod": {"type": number}}}),
    ):
        foreign_said, missing_said = (
            world.api.post(f"Imports/{world.project}", body | lie(each)) for each in (number, 987_654_321)
        )
        assert (foreign_said.status, missing_said.status) == (400, 400)
        assert foreign_said.message.replace(str(number), "") == missing_said.message.replace("987654321", "")


CVAT = """<annotations><version>1.1</version><meta><task><name>dive.mp4</name><size>50</size><mode>interpolation</mode>
<original_size><width>200</width><height>100</height></original_size></task></meta>
<track id="0" label="Box">{}</track></annotations>"""
CVAT_BOX = '<box frame="{}" keyframe="1" outside="{}" occluded="{}" xtl="20" ytl="10" xbr="40" ybr="20"></box>'


def test_a_cvat_shape_that_is_outside_begins_a_gap_and_occluded_is_an_attribute(world):
    shapes = [(1, 1, 0), (2, 0, 0), (6, 1, 0), (20, 0, 1), (24, 0, 0), (25, 1, 0)]
    content = CVAT.format("".join(CVAT_BOX.format(*shape) for shape in shapes))
    report = imported(world.api, world.project, {"annotations.xml": content}, "cvat")["report"]
    assert report["localizations"]["accepted"] == 4
    assert "'Occluded'" in str(report["notes"])
    rows = sorted(world.localizations(), key=lambda row: row["frame"])
    assert [(row["frame"], row["x"]) for row in rows] == [(2, 0.1), (6, None), (20, 0.1), (24, 0.1)]
    seen = world.localizations(interpolate="true")
    assert sorted(row["frame"] for row in seen if row["x"] is not None) == [2, *range(20, 25)]
    addition = {"entity_type": "LocalizationType", "addition": {"name": "Occluded", "dtype": "bool"}}
    assert world.api.post(f"AttributeType/{world.types['box']}", addition).status == 201
    imported(world.api, world.project, {"b/annotations.xml": content}, "cvat")
    assert [row["frame"] for row in world.localizations(attribute="Occluded::true")] == [20]


def test_its_messages_wait_their_turn_among_those_of_other_organizations(api, project, monkeypatch):
    seen = []
    monkeypatch.setattr(imports_service, "send", lambda *_: seen.append(tenant()))
    key = uploaded(api, project, zipped({"instances.json": b"{}"}))
    assert api.post(f"Imports/{project}", {"format": "coco", "key": key}).status == 201
    assert seen == [f"organization-{api.get(f'Project/{project}').json['organization']}"]
