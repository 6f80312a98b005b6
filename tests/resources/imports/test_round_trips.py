"""Export, import into an empty project, export again: the second archive holds what the first one does."""

from __future__ import annotations

import io
import itertools
from collections import defaultdict

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from chalicelib.formats.model import Label, Media, State
from chalicelib.formats.readers.unzip import ZipArchive
from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import ProjectSpec
from tests import objects
from tests.formats.test_reading import READERS
from tests.formats.worlds import SHAPES
from tests.resources.imports.archives import imported

ATTRIBUTES = {"Species": "string", "Count": "int", "Depth": "float", "Sure": "bool", "Place": "geopos"}
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "Species": st.sampled_from(["cod", "Große <Qualle> & \"blau\", 'x'", " 0: yes", "=1"]),
        "Count": st.integers(-(2**40), 2**40),
        "Depth": st.floats(-1e6, 1e6),
        "Sure": st.booleans(),
        "Place": st.tuples(st.floats(-180, 180), st.floats(-90, 90)).map(list),
    },
)
MEMBERS = {"box": ("x", "y", "width", "height"), "line": ("x", "y", "u", "v"), "dot": ("x", "y")}
MEDIA = (("reef.mp4", "video", 1), ("dive one.mp4", "video", 40))
FORMATS = {
    "coco": {},
    "kwcoco": {},
    "dive": {},
    "yolo": {},
    "yolo segment": {"conventions": {"task": "segment"}},
    "voc": {},
    "mot": {},
    "cvat": {},
    "viame": {},
    "camtrapdp": {},
    "ifdo": {},
    "vars": {},
    "eventmeasure": {},
    "biigle": {},
    "csv": {},
    "jsonl": {},
    "parquet": {},
}
TOLERANCES = {
    "yolo": 2e-12, "mot": 2e-9, "cvat": 2e-9, "viame": 2e-9, "ifdo": 2e-12, "vars": 2e-12, "biigle": 2e-12,
    "eventmeasure": 2e-12,
}  # fmt: skip
"""How far a number may be from that of the first archive; of others, not at all.

These write twelve digits: YOLO fractions up to 1, the others pixels up to 640. A shape that they round to beyond the
picture is moved to its edge, once: a box by no more than the last digit of its middle and half that of its width.
"""
SHAPE = 3
"""The place of the shape in a label of `content`."""
_names = itertools.count(1)


@st.composite
def annotations(draw):
    """Shapes on two media, some of them in tracks."""
    made, taken = [], set()
    for _ in range(draw(st.integers(3, 8))):
        kind = draw(st.sampled_from(sorted(SHAPES)))
        media = draw(st.sampled_from([0, 1]))
        frame = draw(st.integers(0, MEDIA[media][2] - 1))
        track = draw(st.sampled_from([None, 0, 1])) if media == 1 and kind == "box" else None
        if (track, frame) in taken:
            track = None
        taken.add((track, frame))
        made.append((kind, draw(SHAPES[kind]), media, frame, track, draw(VALUES)))
    return made


class Project:
    """A project with types and media, and no annotations."""

    def __init__(self, api, organization):
        self.api = api
        spec = ProjectSpec(name=f"round trip {next(_names)}", organization=organization)
        self.id = projects_service.create_project(spec, api.user.id, "No Access").id
        media = [api.made(f"MediaTypes/{self.id}", {"name": name, "dtype": name}) for name in ("image", "video")]
        attributes = [{"name": name, "dtype": dtype} for name, dtype in ATTRIBUTES.items()]
        body = {"media_types": media, "attribute_types": attributes}
        self.types = {
            kind: api.made(f"LocalizationTypes/{self.id}", {"name": kind, "dtype": kind, **body}) for kind in SHAPES
        }
        track = {"name": "Track", "association": "Localization", "media_types": media}
        self.track = api.made(f"StateTypes/{self.id}", track)
        self.media = [
            api.made(
                f"Medias/{self.id}",
                {
                    "type": media[1],
                    "name": name,
                    "md5": "",
                    "width": 640,
                    "height": 479,
                    "num_frames": frames,
                    "fps": 25,
                },
            )
            for name, _, frames in MEDIA
        ]

    def annotate(self, shapes):
        """Add annotations, and the tracks of some."""
        specs = []
        for kind, shape, media, frame, _, values in shapes:
            place = {"type": self.types[kind], "media_id": self.media[media], "frame": frame, "attributes": values}
            if kind == "poly":
                place["points"] = [list(point) for point in zip(shape[::2], shape[1::2], strict=True)]
            specs.append(place | dict(zip(MEMBERS.get(kind, ()), shape, strict=False)))
        numbers = self.api.made(f"Localizations/{self.id}", specs)
        for track in (0, 1):
            own = [number for number, each in zip(numbers, shapes, strict=True) if each[4] == track]
            if own:
                body = {"type": self.track, "media_ids": [self.media[1]], "localization_ids": own}
                self.api.made(f"States/{self.id}", [body])

    def export(self, name, **more):
        """The bytes of an archive."""
        spec = {"format": name, "classes": {"attribute": "Species"}, **more}
        uid = self.api.made(f"Exports/{self.id}", spec)
        self.api.drain()
        export = self.api.get(f"Export/{uid}").json
        assert export["status"] == "succeeded", export
        return objects.read(f"_exports/{self.id}/{uid}/archive.zip")


def snapped(name, shape, shapes):
    """The nearest of some shapes, if a format's digits hold no difference; else the shape itself."""

    def distance(other):
        return max(abs(one - two) for one, two in zip(shape, other, strict=True))

    alike = [other for other in shapes if len(other) == len(shape)]
    nearest = min(alike, key=distance, default=shape)
    return nearest if distance(nearest) <= TOLERANCES.get(name, 0) else shape


def content(name, body, shapes=()):
    """What an archive holds, without ids and keys: they differ between projects.

    Returns:
        the media, the labels and the states; shapes that equal some of `shapes`, within the tolerance, are those.
    """
    rows = [placed.row for placed in READERS[name](ZipArchive(io.BytesIO(body)))]
    names = {row.key: row.name for row in rows if isinstance(row, Media)}
    tracks = defaultdict(list)
    labels = []
    for row in rows:
        if isinstance(row, Label):
            shape = snapped(name, row.shape, shapes)
            held = (names[row.media], row.frame, row.kind, shape, row.class_name, row.keyed, row.elemental_id)
            # They have no types: the class of a polygon without a species was its type, and becomes a species.
            is_class = name in ("voc", "camtrapdp", "eventmeasure") and row.attributes.get("Species") == row.class_name
            attributes = {key: value for key, value in row.attributes.items() if not (is_class and key == "Species")}
            labels.append((*held, repr(sorted(attributes.items()))))
            if row.track is not None:
                tracks[row.track].append(labels[-1])
    states = sorted((row.elemental_id, repr(sorted(tracks[row.key]))) for row in rows if isinstance(row, State))
    return sorted(names.values()), sorted(labels), states


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("examples", [1, pytest.param(15, marks=pytest.mark.nightly)])
def test_a_second_export_equals_the_first(api, organization, name, examples):
    @settings(max_examples=examples, phases=[Phase.generate])
    @given(annotations())
    def check(shapes):
        format_, more = name.partition(" ")[0], FORMATS[name]
        first, second = Project(api, organization), Project(api, organization)
        first.annotate(shapes)
        archive = first.export(format_, **more)
        found = imported(api, second.id, archive, format_, class_attribute="Species")
        assert (found["status"], found["report"]["refusals"]) == ("succeeded", [])
        again = second.export(format_, **more)
        expected = content(format_, archive)
        assert content(format_, again, [label[SHAPE] for label in expected[1]]) == expected
        assert sum(map(len, expected)) > 2

    check()


@pytest.mark.slow
def test_an_export_imported_into_its_own_project_creates_nothing(api, organization):
    project = Project(api, organization)
    project.annotate([("box", (0.1, 0.2, 0.3, 0.4), 1, frame, 0, {"Species": "cod"}) for frame in (3, 9)])
    for name in ("coco", "csv", "jsonl"):
        report = imported(api, project.id, project.export(name), name, class_attribute="Species")["report"]
        assert report["localizations"]["present"] == report["localizations"]["accepted"] == 2
        assert report["states"]["present"] == report["states"]["accepted"] == 1
        assert report["localizations"]["skipped"] == 5


def test_only_formats_of_so_many_digits_take_shapes_for_equal():
    first = (0.0, 0.25, 0.5, 0.5)
    assert snapped("yolo", (1e-12, 0.25, 0.5, 0.5), [first]) == first
    assert snapped("yolo", (1e-11, 0.25, 0.5, 0.5), [first]) != first
    assert snapped("coco", (1e-12, 0.25, 0.5, 0.5), [first]) != first


@pytest.fixture(scope="module")
def photographed():
    """A project with images, some of one name, and boxes on them."""
    from tests.resources.exports.samples import Dataset
    from tests.service import new_user

    api = new_user(is_staff=True)
    organization = api.made("Organizations", {"name": f"round trips {next(_names)}"})
    project = api.made("Projects", {"name": "pictures", "organization": organization})
    dataset = Dataset(api, project, pictures=False)
    api.delete(f"Medias/{project}")
    for name in ("a b.jpg", "c.png", "c.png"):
        number = dataset.add_image(name)
        dataset.box(number, 0, (0.25, 0.5, 0.5, 0.25), Species="cod")
    return api, organization, dataset


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({name.partition(" ")[0] for name in FORMATS}))
def test_pictures_of_an_export_become_images_again(photographed, name):
    api, organization, dataset = photographed
    _, export = dataset.export(format=name, frames="frames", classes={"attribute": "Species"})
    body = objects.read(f"_exports/{dataset.project}/{export['uid']}/archive.zip")
    project = api.made("Projects", {"name": f"again {next(_names)}", "organization": organization})
    found = imported(api, project, body, name, create_types=True, class_attribute="Species")
    assert (found["status"], found["report"]["refusals"]) == ("succeeded", [])
    assert found["report"]["media"]["accepted"] == found["report"]["localizations"]["accepted"] == 3
    media = api.get(f"Medias/{project}").json
    assert sorted((each["name"], each["width"], each["height"]) for each in media) == [
        ("a b.jpg", 200, 100), ("c.png", 200, 100), ("c.png", 200, 100),
    ]  # fmt: skip
    boxes = api.get(f"Localizations/{project}").json
    assert {box["media"] for box in boxes} == {each["id"] for each in media}
