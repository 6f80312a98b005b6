"""Exports read by the field's own readers, which have an environment of their own: they are large."""

import io
import json
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco

from chalicelib.formats.interpolation import interpolate
from chalicelib.formats.model import Group, Label, Media, Refined, State, box_of, in_pixels, picture_name
from chalicelib.formats.registry import WRITERS
from tests.formats.camtrap_schemas import schema_of
from tests.formats.worlds import dataset, write

ROOT = Path(__file__).parents[2]
READERS = (
    *("datumaro==1.13.12", "labelformat==0.1.17", "kwcoco==0.9.1", "python-dwca-reader==0.17.1"),
    *("frictionless==5.21.0", "ifdo==1.6.0"),
)
READ = {"datumaro": ("coco", "yolo", "voc", "mot", "cvat"), "labelformat": ("coco", "yolo", "voc")}
CLASSES = ("cod", "eel")


def groups(seed):
    """Two images and a video with boxes, polygons and a track."""
    dice, made, numbers = random.Random(seed), [], iter(range(1, 1000))
    for key, frames, split in (("a", 1, "train"), ("b", 1, "val"), ("dive", 12, "train")):
        media = Media(
            key=key, name=key, is_video=frames > 1, width=dice.randint(50, 200), height=dice.randint(50, 200),
            frames=frames, fps=25.0, split=split, id=next(numbers),
        )  # fmt: skip
        labels = []

        def add(kind, frame, track=None, *, media=media, labels=labels):
            x, y = dice.uniform(0, 0.6), dice.uniform(0, 0.6)
            width, height = dice.uniform(0.1, 0.3), dice.uniform(0.1, 0.3)
            shape = (x, y, width, height) if kind == "box" else (x, y, x + width, y, x + width, y + height)
            class_name = "cod" if track else dice.choice(CLASSES)
            labels.append(
                Label(media=media.key, kind=kind, shape=shape, frame=frame, class_name=class_name, track=track,
                      id=next(numbers))
            )  # fmt: skip

        for _ in range(4):
            add(dice.choice(["box", "box", "poly"]), dice.randrange(frames))
        states = []
        if frames > 1:
            states = [State(media=key, key="900", id=900, class_name="cod")]
            for frame in (2, 5, 9):
                add("box", frame, "900")
        labels = interpolate(sorted(labels, key=lambda label: (label.frame, label.id)))
        made.append(Group(media=media, labels=labels, states=states))
    return made


def pictures(group):
    """The frames that have a picture, and a PNG of the size of the media."""
    out = io.BytesIO()
    Image.new("RGB", (group.media.width, group.media.height)).save(out, "PNG")
    return sorted({label.frame for label in group.labels}) or [0], out.getvalue()


def unpack(form, made, place, **more):
    """Write an export with its pictures into a folder."""
    made = [msgspec.structs.replace(each, pictures=pictures(each)[0]) for each in made]
    archive, left_out = write(form, dataset(classes=CLASSES, picture="png", **more), [made])
    assert left_out == 0
    archive.extractall(place)
    for group in made:
        frames, body = pictures(group)
        for frame in frames:
            picture = place / WRITERS[form].picture_path(group.media, frame, "png")
            picture.parent.mkdir(parents=True, exist_ok=True)
            picture.write_bytes(body)


def wanted(form, made):
    """The boxes of each picture, as the program prints them."""
    found = defaultdict(list)
    for group in made:
        for label in group.labels:
            key = Path(picture_name(group.media, label.frame, "png")).stem
            if form in ("mot", "cvat"):
                key = f"{group.media.key}/{label.frame + (form == 'mot')}"
            if form == "mot" and label.track is None:
                continue  # a detection, in det.txt
            found[key].append((label.class_name, box_of(in_pixels(label, group.media))))
    return found


def recorded(group):
    """The group with a time and place of its media, and other values that columns of standards take."""
    attributes = {"At": "2026-05-01T10:00:00.25Z", "Place": [7.5, 54.1], "cameraDepth": 12.5, "filePublic": True}
    media = msgspec.structs.replace(group.media, attributes=attributes)
    labels = [msgspec.structs.replace(each, attributes={"sex": "female", "count": 2}) for each in group.labels]
    return msgspec.structs.replace(group, media=media, labels=labels)


@pytest.fixture(scope="module")
def python():
    """The interpreter of the environment with the readers; it is made once."""
    environment = ROOT / "build" / "oracles" / "-".join(READERS).replace("==", "-")
    found = environment / "bin" / "python"
    if not (environment / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        command = [found, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *READERS]
        installed = subprocess.run(command, capture_output=True, text=True, check=False)
        if installed.returncode:
            pytest.skip(f"cannot be installed here: {installed.stderr[-300:]}")
        (environment / "ready").touch()
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_readers_of_the_field_find_each_box(python, tmp_path, seed):
    made = groups(seed)
    for reader, forms in READ.items():
        for form in forms:
            unpack(form, made, tmp_path / reader / form)
    ran = subprocess.run(
        [python, Path(__file__).with_name("oracle_program.py"), tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    for name, rows in json.loads(ran.stdout.rpartition("\n")[2]).items():
        found = defaultdict(list)
        for key, class_name, box in rows:
            found[key].append((class_name, box))
        expected = wanted(name.split()[1], made)
        assert found.keys() == expected.keys(), name
        for key, boxes in expected.items():
            # Both readers take VOC's whole pixels, from 1 and with both ends, for edges from 0.
            assert_same(found[key], boxes, 2 if name.endswith("voc") else 0.02, f"{name} {key}")


@pytest.mark.nightly
def test_the_tools_of_science_find_no_fault(python, tmp_path):
    """KWCOCO's own check of a bundle, the reader of Darwin Core Archives, frictionless by TDWG's schemas, and ifdo."""
    made = [recorded(group) for group in groups(1)]
    for form in ("kwcoco", "dwca", "camtrapdp", "ifdo"):
        unpack(form, made, tmp_path / form, media_attributes={"At": "datetime", "Place": "geopos"})
    package = tmp_path / "camtrapdp" / "datapackage.json"
    described = json.loads(package.read_text())
    for each in described["resources"]:  # those of the standard lie in the network
        each["schema"] = schema_of(each["name"])
    package.write_text(json.dumps({**described, "profile": "tabular-data-package"}))
    program = Path(__file__).with_name("science_program.py")
    ran = subprocess.run([python, program, tmp_path], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    found = json.loads(ran.stdout.rpartition("\n")[2])
    assert found["kwcoco"] == {"train.kwcoco.json": [], "val.kwcoco.json": []}
    animals = {group.media.key: {each.track or f"label {each.id}" for each in group.labels} for group in made}
    assert found["dwca"] == {key: len(each) for key, each in animals.items()}
    keyed = {group.media.key: sum(label.keyed for label in group.labels) for group in made}
    assert found["ifdo"] == {f"{key}.{'mp4' if key == 'dive' else 'png'}": count for key, count in keyed.items()}
    labels = sum(len(group.labels) for group in made)
    assert found["camtrapdp"] == {"errors": [], "rows": {"deployments": 3, "media": 3, "observations": labels}}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
def test_datumaro_finds_the_pixels_of_masks_and_the_points_of_polylines(python, tmp_path):
    """Its reader of CVAT takes masks of pictures only, and it has no skeletons."""
    pixels = np.random.default_rng(5).random((20, 30)) < 0.7
    counts = coco.encode(np.asfortranarray(pixels, dtype=np.uint8))["counts"].decode()
    media = Media(key="a", name="a", width=100, height=80, id=1, split="train")
    members = {"media": "a", "class_name": "cod"}
    mask = Label(kind="box", shape=(0.2, 0.25, 0.3, 0.25), id=5, refined=Refined(mask=(20, 30, counts)), **members)
    line = Label(kind="poly", shape=(0.1, 0.1, 0.2, 0.1, 0.2, 0.3), id=6, refined=Refined(is_open=True), **members)
    for form, label in (("coco", mask), ("masks", mask), ("cvat", line)):
        unpack(form, [Group(media=media, labels=[label])], tmp_path / form)
    program = Path(__file__).with_name("refined_program.py")
    ran = subprocess.run([python, program, tmp_path], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    whole = np.zeros((80, 100), dtype=bool)
    whole[20:40, 20:50] = pixels
    places = np.flatnonzero(whole).tolist()
    assert json.loads(ran.stdout.rpartition("\n")[2]) == {
        "coco": [["mask", "cod", places]],
        "masks": [["mask", "cod", places]],
        "cvat": [["polyline", "cod", [10.0, 8.0, 20.0, 8.0, 20.0, 24.0]]],
    }


def assert_same(found, expected, within, name):
    """Hold that the same boxes were found, each edge within some pixels."""
    assert len(found) == len(expected), name
    for class_name, box in expected:
        near = [each for each in found if each[0] == class_name and is_near(each[1], box, within)]
        assert near, (name, class_name, box, found)
        found.remove(near[0])


def is_near(found, box, within):
    """Whether two boxes are equal within some pixels."""
    return all(abs(one - other) <= within for one, other in zip(found, box, strict=True))
