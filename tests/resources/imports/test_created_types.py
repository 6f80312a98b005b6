"""Types, attributes and videos that an import makes where the project lacks them."""

from __future__ import annotations

import io
import json

import pytest

from chalicelib.resources.imports import creating
from chalicelib.resources.imports.inference import dtypes_of, narrowest
from tests.resources.imports.archives import imported, uploaded, zipped
from tests.resources.imports.test_imports import COCO
from tests.resources.media.samples import video
from tests.service import join, new_user


def shown(report):
    return {(each["kind"], each["dtype"], each["name"]): each["attributes"] for each in report["types"]}


def types_of(api, project):
    """By kind and name: dtype, and the dtypes of attributes."""
    return {
        (word, each["name"]): (each["dtype"], {one["name"]: one["dtype"] for one in each["attribute_types"]})
        for word in ("Media", "Localization", "State")
        for each in api.get(f"{word}Types/{project}").json
    }


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([True], "bool"), ([1, 2], "int"), ([1, 2.5], "float"), (["1", "2"], "int"), (["1", "x"], "string"),
        (["true", "false"], "bool"), (["007"], "float"), (["1e3", "2"], "float"), ([[170.5, -60]], "geopos"),
        ([[1, 2, 3]], "float_array"), (["[1, 2, 3]"], "float_array"), (["nan"], "string"), (["1_0"], "string"),
        ([True, 1], "string"), ([{"a": 1}], "string"), (["[1"], "string"), ([[]], "string"),
        ([f"[{10**400}]"], "string"), ([[10**400, 1]], "string"), ([["1", None]], "string"), (["1e400"], "string"),
    ],
)  # fmt: skip
def test_the_narrowest_dtype_that_holds_all_values_is_taken(values, dtype):
    found = dtypes_of(values[0], is_text=True)[0]
    for value in values[1:]:
        found &= dtypes_of(value, is_text=True)[0]
    assert narrowest(found) == dtype


def test_texts_of_formats_with_types_stay_texts():
    assert narrowest(dtypes_of("1", is_text=False)[0]) == "string"


class TestCreateTypes:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("more", "wanted"),
        [
            ({}, {"Box": ("box", {}), "Cod": ("box", {})}),
            ({"class_attribute": "Species"}, {"Box": ("box", {"Species": "string"})}),
        ],
    )
    def test_an_empty_project_gets_a_type_for_each_class_or_one_with_an_attribute(
        self, api, project, picture, more, wanted
    ):
        files = {"a.json": COCO, "images/reef.png": picture}
        dry = imported(api, project, files, "coco", create_types=True, dry_run=True, **more)["report"]
        assert types_of(api, project) == {}
        done = imported(api, project, files, "coco", create_types=True, **more)
        assert done["status"] == "succeeded", done
        assert done["report"] | {"classes": 0} == dry | {"classes": 0}
        found = types_of(api, project)
        assert found.pop(("Media", "Image"))[0] == "image"
        assert found == {("Localization", name): each for name, each in wanted.items()}
        assert {name for _, _, name in shown(dry)} == {"Image", *wanted}
        assert len(api.get(f"Localizations/{project}").json) == 2
        again = imported(api, project, files, "coco", create_types=True, **more)["report"]
        assert (again["types"], again["localizations"]["present"]) == ([], 2)

    @pytest.mark.slow
    def test_attributes_are_added_to_types_that_are_there(self, world):
        row = {"media": "reef.png", "frame": 0, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2, "type": "Box"}
        rows = [row | {"attributes": {"Score": 1, "Depth": 3.5}}, row | {"attributes": {"Score": 0.5, "Sure": True}}]
        files = {"localizations.jsonl": "\n".join(map(json.dumps, rows))}
        assert imported(world.api, world.project, files, "jsonl")["report"]["localizations"]["refused"] == 2
        report = imported(world.api, world.project, files, "jsonl", create_types=True)["report"]
        assert shown(report) == {("localization", "box", "Box"): {"Score": "float", "Sure": "bool"}}
        assert report["localizations"]["accepted"] == 2
        assert sorted(box["attributes"].get("Score") for box in world.localizations()) == [0.5, 1.0]

    def test_tracks_and_shapes_of_each_kind_get_types_and_the_project_s_types_are_taken_first(self, world):
        shapes = {
            "box": {"x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1, "type": "Box"},
            "poly": {"points": [[0.1, 0.1], [0.5, 0.1], [0.5, 0.5]], "type": "Outline"},
        }
        rows = [{"media": "dive.mp4", "frame": 1, "kind": kind, **shape} for kind, shape in shapes.items()]
        state = {"media": "dive.mp4", "key": "1", "association": "frame", "frame": 3, "attributes": {"Light": "dim"}}
        files = {"localizations.jsonl": "\n".join(map(json.dumps, rows)), "states.jsonl": json.dumps(state)}
        report = imported(world.api, world.project, files, "jsonl", create_types=True)["report"]
        assert shown(report) == {
            ("localization", "poly", "Outline"): {}, ("state", "frame", "Frame"): {"Light": "string"},
        }  # fmt: skip
        assert {box["type"] for box in world.localizations()} > {world.types["box"]}
        assert world.states()[0]["attributes"] == {"Light": "dim"}

    def test_with_drop_only_the_types_are_created(self, world):
        row = {"media": "reef.png", "frame": 0, "x": 0.1, "y": 0.1, "type": "Spot", "kind": "dot"}
        files = {"localizations.jsonl": json.dumps(row | {"attributes": {"Score": 1}})}
        more = {"create_types": True, "unknown_attributes": "drop"}
        report = imported(world.api, world.project, files, "jsonl", **more)["report"]
        assert shown(report) == {("localization", "dot", "Spot"): {}}

    def test_too_many_classes_are_refused(self, api, project, picture):
        names = [{"id": number, "name": f"c{number}"} for number in range(101)]
        boxes = [{"id": n, "image_id": 5, "category_id": n, "bbox": [0, 0, 9, 9]} for n in range(101)]
        files = {"a.json": COCO | {"categories": names, "annotations": boxes}, "images/reef.png": picture}
        found = imported(api, project, files, "coco", create_types=True)
        assert found["status"] == "failed"
        assert "Give class_attribute" in found["message"]
        assert types_of(api, project) == {}

    def test_it_needs_full_control(self, api, project):
        editor = new_user()
        join(editor, project, "Can Transfer")
        key = uploaded(editor, project, zipped({"a.json": COCO}))
        body = {"format": "coco", "key": key}
        assert editor.post(f"Imports/{project}", body).status == 201
        said = editor.post(f"Imports/{project}", body | {"create_types": True})
        assert (said.status, "create_types" in said.json["message"]) == (403, True)


class TestVideos:
    @pytest.mark.slow
    def test_a_video_of_the_archive_is_transcoded_once_and_has_its_tracks(self, api, project):
        boxes = [{"id": n, "image_id": n, "category_id": 1, "bbox": [n, 1, 4, 4], "track_id": 7} for n in range(1, 4)]
        document = {
            "categories": [{"id": 1, "name": "Fish"}],
            "videos": [{"id": 1, "name": "dive.mp4", "width": 64, "height": 48}],
            "images": [{"id": n, "video_id": 1, "frame_id": n - 1, "file_name": f"{n}.jpg"} for n in range(1, 4)],
            "annotations": boxes,
        }
        files = {"annotations/a.json": document, "videos/dive.mp4": video(12)}
        found = imported(api, project, files, "coco", create_types=True, section="From outside")
        assert found["status"] == "succeeded", found
        assert found["report"]["media"] == {"read": 1, "accepted": 1, "present": 0, "refused": 0, "skipped": 0}
        [media] = api.get(f"Medias/{project}").json
        assert (media["name"], media["num_frames"]) == ("dive.mp4", 12)
        assert media["media_files"]["streaming"]
        [track] = api.get(f"States/{project}").json
        assert (track["media"], len(track["localizations"]), track["segments"]) == ([media["id"]], 3, [[0, 2]])
        again = imported(api, project, files, "coco", create_types=True, section="From outside")["report"]
        assert (again["media"]["present"], again["localizations"]["present"]) == (1, 3)
        assert len(api.get(f"Transcodes/{project}").json) == 1

    @pytest.mark.slow
    def test_one_of_the_same_name_is_found_where_the_format_names_no_file(self, api, project):
        lines = "1,1,3,3,9,9,1,1,1\n2,1,4,3,9,9,1,1,1\n"
        info = "[Sequence]\nname=dive\nimWidth=64\nimHeight=48\nseqLength=12\n"
        files = {"dive/gt/gt.txt": lines, "dive/seqinfo.ini": info, "dive/gt/labels.txt": "Fish\n"}
        refused = imported(api, project, files, "mot", create_types=True, dry_run=True)["report"]
        assert "upload the video first" in refused["refusals"][0]["reason"]
        found = imported(api, project, files | {"dive.mp4": video(12)}, "mot", create_types=True)
        assert found["status"] == "succeeded", found
        assert [each["num_frames"] for each in api.get(f"Medias/{project}").json] == [12]
        assert len(api.get(f"Localizations/{project}").json) == 2

    @pytest.mark.slow
    def test_a_large_file_is_copied_in_parts(self, api, project, monkeypatch):
        from PIL import Image

        monkeypatch.setattr(creating, "A_PART", 5 * 1024 * 1024)
        noise, out = Image.effect_noise((2600, 2400), 100), io.BytesIO()
        noise.save(out, "PNG", compress_level=0)
        assert len(out.getvalue()) > creating.A_PART
        files = {"data.yaml": "names: [Fish]", "labels/a.txt": "0 .5 .5 .5 .5\n", "images/a.png": out.getvalue()}
        found = imported(api, project, files, "yolo", create_types=True)
        assert found["status"] == "succeeded", found
        [media] = api.get(f"Medias/{project}").json
        assert (media["width"], media["height"]) == (2600, 2400)

    @pytest.mark.slow
    def test_a_file_that_is_no_video_leaves_a_media_with_a_failed_transcode(self, api, project):
        row = {"media": "dive.mp4", "frame": 0, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
        files = {"localizations.jsonl": json.dumps(row), "dive.mp4": b"nothing"}
        found = imported(api, project, files, "jsonl", create_types=True)
        assert (found["status"], found["report"]["localizations"]["accepted"]) == ("succeeded", 1)
        [transcode] = api.get(f"Transcodes/{project}").json
        assert transcode["job"]["status"] == "failed"
        assert len(api.get(f"Localizations/{project}").json) == 1


class TestRowsWithoutClasses:
    """Rows without a class beside rows with one, as detections beside tracks."""

    FILES = {
        "dive/gt/gt.txt": "1,7,3,3,9,9,1,1,1\n",
        "dive/gt/labels.txt": "Fish\n",
        "dive/det/det.txt": "2,-1,1,1,8,8,1\n",
        "dive/seqinfo.ini": "[Sequence]\nimWidth=64\nimHeight=48\nseqLength=12\n",
    }

    def names(self, api, project):
        return sorted(each["name"] for each in api.get(f"LocalizationTypes/{project}").json)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("there", "expected"),
        [
            ([], ["Box", "Fish"]),
            (["Box"], ["Box", "Fish"]),
            (["Fish"], ["Fish"]),
            (["Crab"], ["Box", "Crab", "Fish"]),
            (["Box", "Crab"], ["Box", "Crab", "Fish"]),
        ],
    )
    def test_they_take_the_only_type_or_that_of_the_title(self, api, project, there, expected):
        media = [api.made(f"MediaTypes/{project}", {"name": "Dive", "dtype": "video"})]
        for name in there:
            api.made(f"LocalizationTypes/{project}", {"name": name, "dtype": "box", "media_types": media})
        spec = {"type": media[0], "name": "dive", "md5": "", "width": 64, "height": 48, "num_frames": 12, "fps": 25.0}
        api.made(f"Medias/{project}", spec)
        for present in (0, 2):  # a repetition finds the same types
            report = imported(api, project, self.FILES, "mot", create_types=True)["report"]
            assert report["refusals"] == []
            tally = report["localizations"]
            assert (tally["accepted"], tally["present"]) == (2, present)
            assert self.names(api, project) == expected
