"""Exports, through HTTP."""

import csv
import io
import re

import msgspec
import pytest
from PIL import Image

from chalicelib.core.models.datasets import EXPORT
from chalicelib.formats.registry import WRITERS
from chalicelib.maintenance import compaction
from chalicelib.resources.exports import joining, planning, steps
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import pieces
from tests import objects
from tests.resources.exports.samples import Dataset, document
from tests.resources.exports.test_export_jobs import left_in
from tests.resources.media.samples import shade, uploaded

COCO = "annotations/instances_all.json"


class TestAnnotations:
    def test_coco_has_boxes_polygons_keypoints_and_interpolated_tracks(self, pictured):
        track, members = pictured.annotate()
        archive, export = pictured.export(format="coco", classes={"attribute": "Species"})
        made = document(archive, COCO)
        classes = {each["id"]: each["name"] for each in made["categories"]}
        assert list(classes.values()) == ["box", "cod", "dot", "eel", "line"]
        files = {each["id"]: (each["file_name"], each["width"], each["height"]) for each in made["images"]}
        rows = [
            (files[each["image_id"]][0], classes[each["category_id"]], each["bbox"], each.get("track_id"))
            for each in made["annotations"]
        ]
        image = f"a-b_{pictured.images[0]}.jpg"
        assert (image, 200, 100) in files.values()
        assert [(name, box) for file, name, box, _ in rows if file == image] == [
            ("cod", [50.0, 50.0, 100.0, 25.0]),
            ("eel", [20.0, 10.0, 80.0, 80.0]),
            ("dot", [100.0, 50.0, 0.0, 0.0]),
        ]
        [poly] = [each for each in made["annotations"] if each["segmentation"]]
        assert (poly["segmentation"], poly["area"]) == ([[20.0, 10.0, 100.0, 10.0, 100.0, 90.0]], 3200.0)
        [dot] = [each for each in made["annotations"] if "keypoints" in each]
        assert dot["keypoints"] == [100.0, 50.0, 2]
        # the class of a track's boxes is the track's where they have none; frames 2 to 9 are interpolated
        [frames] = [[box[0] for _, name, box, of in rows if of == track]]
        assert frames == pytest.approx([frame / 40 * 96 for frame in range(11)])
        assert {name for _, name, _, of in rows if of == track} == {"eel"}
        assert made["videos"][0]["length"] == 30
        [line_is_left_out] = [export["left_out"]]
        assert (export["media"], export["labels"], line_is_left_out) == (3, 14, 1)
        assert export["interpolated"] == 8
        assert members

    def test_a_member_without_a_place_is_a_gap_that_no_format_fills(self, dataset):
        _, members = dataset.annotate()
        gone = dataset.add(dataset.box_type, dataset.video, 5)
        dataset.api.patch(f"State/{dataset.track}", {"localization_ids_add": [gone]})
        archive, export = dataset.export(format="mot")
        rows = archive.read(f"clip_{dataset.video}/gt/gt.txt").decode().split()
        assert [row.split(",")[0] for row in rows] == ["1", "2", "11"]
        assert (export["interpolated"], len(members)) == (0, 3)

    def test_tracks_are_not_interpolated_where_that_is_not_wanted(self, dataset):
        dataset.annotate()
        archive, _ = dataset.export(format="mot", interpolate=False)
        rows = archive.read(f"clip_{dataset.video}/gt/gt.txt").decode().split()
        assert [row.split(",")[0] for row in rows] == ["1", "2", "11"]

    def test_classes_are_renamed_merged_left_out_and_ordered(self, pictured):
        pictured.annotate()
        classes = {"attribute": "Species", "rename": {"eel": "fish", "cod": "fish", "dot": None}, "order": ["fish"]}
        archive, export = pictured.export(format="yolo", classes=classes)
        assert 'names:\n  0: "fish"\n  1: "box"\n  2: "line"\n' in archive.read("data.yaml").decode()
        lines = archive.read(f"labels/train/a-b_{pictured.images[0]}.txt").decode().splitlines()
        assert lines == ["0 0.5 0.625 0.5 0.25", "0 0.3 0.5 0.4 0.8"]
        assert archive.read(f"labels/train/c_{pictured.images[1]}.txt") == b""
        assert export["left_out"] == 2

    @pytest.mark.slow
    def test_media_are_split_by_seed_and_shares(self, dataset):
        numbers = [dataset.add_bare(f"{n}.jpg") for n in range(20)]

        def splits(**more):
            split = {"train": 0.5, "val": 0.3, "test": 0.2, **more}
            archive, _ = dataset.export(format="csv", split=split, media={"ids": numbers})
            rows = csv.DictReader(io.StringIO(archive.read("media.csv").decode()))
            return {int(row["id"]): row["split"] for row in rows}

        found = splits()
        assert sorted(found.values()) == ["test"] * 4 + ["train"] * 10 + ["val"] * 6
        assert splits() == found != splits(seed=1)

    @pytest.mark.parametrize("form", WRITERS)
    def test_an_export_of_nothing_is_an_archive(self, api, project, form):
        archive, export = Dataset.__new__(Dataset), None
        archive.api, archive.project = api, project
        made, export = archive.export(format=form, split={"train": 1, "val": 0}, name="x")
        assert made.namelist()
        assert (export["media"], export["labels"]) == (0, 0)


class TestSelection:
    @pytest.mark.slow
    def test_a_query_selects_localizations_and_their_media(self, dataset):
        dataset.annotate()
        archive, _ = dataset.export(format="coco", localizations={"attribute": ["Species::cod"]})
        media = [row["name"] for row in csv.DictReader(io.StringIO(archive.read("media.csv").decode()))]
        assert media == ["a b.jpg"]
        archive, export = dataset.export(format="jsonl", localizations={"type": dataset.box_type, "frame": 10})
        assert export["labels"] == 1
        assert msgspec.json.decode(archive.read("localizations.jsonl"))["x"] == 0.25

    @pytest.mark.slow
    def test_sections_versions_and_states_narrow_it(self, api, project, dataset):
        dataset.annotate()
        other = api.made(f"Versions/{project}", {"name": "other"})
        dataset.add(dataset.box_type, dataset.video, 3, x=0, y=0, width=1, height=1, version=other)
        section = api.made(f"Sections/{project}", {"name": "s"})
        api.patch(f"Media/{dataset.video}", {"primary_section": section})
        assert dataset.export(format="csv", sections=[section])[1]["media"] == 1
        assert dataset.export(format="csv", versions=[other])[1]["labels"] == 1
        unused = {"name": "Unused", "association": "Media", "media_types": [dataset.video_type]}
        unused = api.made(f"StateTypes/{project}", unused)
        archive, _ = dataset.export(format="csv", states={"type": unused}, interpolate=True)
        assert archive.read("states.csv").count(b"\n") == 1
        assert b"false" not in archive.read("localizations.csv")

    @pytest.mark.slow
    def test_an_export_has_the_rows_of_one_commit_whatever_is_written_and_compacted_meanwhile(
        self, api, project, dataset, monkeypatch
    ):
        dataset.annotate()
        before = dataset.export(format="csv")[0].read("localizations.csv")
        for after_plan in (False, True):
            uid = api.made(f"Exports/{project}", {"format": "csv"})
            if after_plan:
                monkeypatch.setattr(steps, "send_many", lambda *_: None)
                steps.plan(steps.PlanExport(uid=uid))
                monkeypatch.undo()
            extra = dataset.box(dataset.video, 20, (0, 0, 1, 1))
            compaction.compact(project, force=True)
            api.drain()
            if after_plan:
                steps.write(steps.WritePart(uid=uid, index=0))
                api.drain()
            assert api.get(f"Export/{uid}").json["status"] == "succeeded"
            archive = dataset_archive(project, uid)
            assert archive.read("localizations.csv") == before
            api.delete(f"Localization/{extra}", {"prune": 1})

    @pytest.mark.slow
    def test_an_earlier_commit_can_be_exported_until_the_next_snapshot(self, api, project, dataset):
        dataset.annotate()
        before, export = dataset.export(format="csv")
        dataset.box(dataset.video, 20, (0, 0, 1, 1))
        archive, again = dataset.export(format="csv", seq=export["seq"])
        assert again["seq"] == export["seq"]
        assert archive.read("localizations.csv") == before.read("localizations.csv")
        compaction.compact(project, force=True)
        refused = api.post(f"Exports/{project}", {"format": "csv", "seq": export["seq"]})
        assert (refused.status, "cannot be read" in refused.json["message"]) == (400, True)

    @pytest.mark.parametrize(
        ("spec", "says"),
        [
            ({"format": "pdf"}, "format"),
            ({}, "'format' is a required property"),
            ({"format": "csv", "every": 2}, "every"),
            ({"format": "csv", "frames": "every"}, "every"),
            ({"format": "csv", "image_height": 100}, "image_height"),
            ({"format": "csv", "split": {"train": 0.5, "val": 0.1}}, "add up to 0.6"),
            ({"format": "csv", "classes": {"attribute": "Nope"}}, "classes.attribute"),
            ({"format": "csv", "classes": {"attribute": "Place"}}, "geopos"),
            ({"format": "csv", "localizations": {"atribute": ["a::b"]}}, "atribute"),
            ({"format": "csv", "localizations": {"attribute": ["a"]}}, "name::value"),
            ({"format": "csv", "media": {"stop": 3}}, "media.stop"),
            ({"format": "csv", "states": {"show_deleted": 1}}, "states.show_deleted"),
            ({"format": "csv", "seq": 10_000}, "seq"),
            ({"format": "csv", "dataset": "x", "seq": 1}, "leave out seq"),
            ({"format": "csv", "dataset": "x"}, "Dataset"),
        ],
    )
    def test_what_cannot_be_exported_is_refused_at_once(self, api, project, dataset, spec, says):
        said = api.post(f"Exports/{project}", spec)
        assert said.status in (400, 404)
        assert says in said.json["message"] + said.json["details"]
        assert records.list_children(EXPORT, project) == []


def dataset_archive(project, uid):
    from tests.resources.exports.samples import opened

    return opened(project, uid)


class TestPictures:
    def test_frames_are_those_of_the_annotations(self, pictured):
        pictured.annotate()
        archive, _ = pictured.export(format="coco", frames="frames", image_format="png", interpolate=False)
        made = document(archive, COCO)
        shown = {}
        for each in made["images"]:
            image = Image.open(io.BytesIO(archive.read(f"images/{each['file_name']}")))
            assert image.size == (each["width"], each["height"])
            if "video_id" in each:
                shown[each["frame_id"]] = image.convert("L").getpixel((40, 30))
        assert {frame: round((level - shade(0)) / 3) for frame, level in shown.items()} == {0: 0, 1: 1, 10: 10}

    @pytest.mark.slow
    def test_scaled_frames_scale_the_pixels_of_annotations(self, pictured):
        pictured.annotate()
        archive, _ = pictured.export(format="coco", frames="frames", image_height=50)
        made = document(archive, COCO)
        name = f"a-b_{pictured.images[0]}.jpg"
        [image] = [each for each in made["images"] if each["file_name"] == name]
        assert (image["width"], image["height"]) == (100, 50)
        assert Image.open(io.BytesIO(archive.read(f"images/{name}"))).size == (100, 50)
        boxes = [each["bbox"] for each in made["annotations"] if each["image_id"] == image["id"]]
        assert boxes[0] == [25.0, 25.0, 50.0, 12.5]

    @pytest.mark.slow
    def test_every_nth_frame_is_a_sample_and_labels_between_are_left_out(self, pictured):
        pictured.annotate()
        archive, export = pictured.export(format="yolo", frames="every", every=10, media={"ids": [pictured.video]})
        names = {name.rpartition("_")[2] for name in archive.namelist() if name.startswith("images/")}
        assert names == {"000000.jpg", "000010.jpg", "000020.jpg"}
        assert {name.rpartition("_")[2] for name in archive.namelist() if name.startswith("labels/")} == {
            "000000.txt", "000010.txt", "000020.txt",
        }  # fmt: skip
        assert (export["labels"], export["left_out"]) == (2, 9)

    @pytest.mark.slow
    def test_crops_are_in_a_folder_for_each_class(self, pictured):
        pictured.annotate()
        archive, _ = pictured.export(format="csv", frames="crops", classes={"attribute": "Species"}, interpolate=False)
        crops = [name for name in archive.namelist() if name.startswith("crops/")]
        assert sorted(name.split("/")[1] for name in crops) == ["cod", "eel", "eel", "eel", "eel"]
        [cod] = [name for name in crops if "/cod/" in name]
        assert Image.open(io.BytesIO(archive.read(cod))).size == (100, 25)

    @pytest.mark.slow
    def test_media_without_pictures_are_named_and_the_rest_is_exported(self, pictured):
        pictured.annotate()
        bare = pictured.add_bare("bare.jpg")
        archive, _ = pictured.export(format="voc", frames="frames")
        [problem] = csv.DictReader(io.StringIO(archive.read("problems.csv").decode()))
        assert (problem["media"], problem["name"]) == (f"bare_{bare}", "bare.jpg")
        assert f"Annotations/bare_{bare}.xml" not in archive.namelist()
        assert f"Annotations/a-b_{pictured.images[0]}.xml" in archive.namelist()


def test_labels_on_frames_that_the_video_does_not_have_are_left_out_and_named(dataset):
    dataset.annotate()
    clip = dataset.add_bare("late.mp4", num_frames=None)
    for frame in (9, 10, 9999):
        dataset.box(clip, frame, (0.1, 0.1, 0.2, 0.2))
    before = dataset.export(format="coco")[1]
    assert dataset.api.patch(f"Media/{clip}", {"num_frames": 10}).status == 200
    archive, export = dataset.export(format="coco")
    assert (export["labels"], export["left_out"]) == (before["labels"] - 2, before["left_out"] + 2)
    [problem] = csv.DictReader(io.StringIO(archive.read("problems.csv").decode()))
    assert problem["media"] == f"late_{clip}"
    assert problem["problem"].endswith("not in the video: 2")


class TestParts:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "form", ["coco", *(pytest.param(form, marks=pytest.mark.slow) for form in ("csv", "mot", "voc", "cvat"))]
    )
    def test_an_archive_of_many_parts_and_uploads_is_the_same_as_one_of_one(self, dataset, monkeypatch, form):
        dataset.annotate()
        for frame in (2, 5, 20, 21):
            dataset.box(dataset.video, frame, (0, 0, 0.5, 0.5))
        whole, _ = dataset.export(format=form)
        monkeypatch.setattr(planning, "LABELS_A_PART", 2)
        monkeypatch.setattr(planning, "MEDIA_A_PART", 1)
        parts, export = dataset.export(format=form)
        assert export["progress"]["total"] >= 3
        assert sorted(parts.namelist()) == sorted(whole.namelist())
        for name in whole.namelist():
            if name == COCO:
                assert plain(parts) == plain(whole)
            else:
                assert undated(parts.read(name)) == undated(whole.read(name)), name

    @pytest.mark.slow
    def test_an_archive_of_several_uploads_is_joined_over_several_messages(self, api, project, pictured, monkeypatch):
        noise = Image.effect_noise((2400, 2400), 200).tobytes()
        for name in ("x.png", "y.png"):
            out = io.BytesIO()
            Image.frombytes("RGB", (1200, 1600), noise).save(out, "PNG", compress_level=0)
            url = uploaded(api, project, out.getvalue(), name)
            api.made(f"Medias/{project}", {"type": pictured.image_type, "name": name, "md5": "", "url": url})
        api.drain()
        monkeypatch.setattr(planning, "MEDIA_A_PART", 1)
        monkeypatch.setattr(joining, "PIECES_PER_BATCH", 1)
        monkeypatch.setattr(joining, "SPARE", 10_000.0)
        archive, export = pictured.export(format="csv", frames="frames", image_format="png")
        assert export["size"] > 10_000_000
        for name in archive.namelist():
            if name.startswith("images/x"):
                assert Image.open(io.BytesIO(archive.read(name))).tobytes() == noise

    def test_nothing_but_the_archive_is_left(self, project, dataset):
        dataset.annotate()
        _, export = dataset.export(format="csv")
        assert left_in(project, export["uid"]) == ["archive.zip", "plan.json", "spec.json"]
        assert pieces.results(export["uid"]) == {}
        assert objects.size(f"_exports/{project}/{export['uid']}/archive.zip") == export["size"]


def undated(body):
    return re.sub(rb"<created>.*</created>", b"", body)


def plain(archive):
    """A COCO document without the numbers that depend on parts."""
    made = document(archive, COCO)
    files = {each["id"]: each["file_name"] for each in made["images"]}
    made.pop("info")
    rows = [{**each, "id": 0, "image_id": files[each["image_id"]]} for each in made["annotations"]]
    return [*sorted(map(str, rows)), *sorted(files.values()), str(made["videos"]), str(made["tracks"])]


@pytest.mark.parametrize("path", ["Exports", "Datasets"])
@pytest.mark.parametrize("member", ["sections", "versions"])
def test_a_section_or_version_of_another_project_is_refused(api, project, dataset, path, member):
    said = api.post(
        f"{path}/{project}",
        {"format": "csv", member: [987_654_321]} if path == "Exports" else {"name": "x", member: [987_654_321]},
    )
    assert (said.status, said.message) == (400, f"{member}: the project has no {member[:-1]} 987654321.")
