"""Boxes drawn from an export on its own pictures cover what was annotated: the digits of frame numbers in a clip."""

import io
import xml.etree.ElementTree as ET

import pytest
from PIL import Image

from tests.resources.exports.samples import Dataset, document
from tests.video.clips import BITS, CORNERS, COUNT, X264, Kind, make

FRAMES = (3, 17, 42)


def is_white(frame, cell):
    return CORNERS[cell] if cell in CORNERS else bool(frame >> BITS.index(cell) & 1)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return make(Kind("plain", options=X264), tmp_path_factory.mktemp("clip")).read_bytes()


def boxes(archive, form):  # noqa: C901, PLR0912 a branch for each format
    """The picture, the class and the edges of each box, read as the format says."""
    if form == "coco":
        made = document(archive, "annotations/instances_all.json")
        images = {each["id"]: f"images/{each['file_name']}" for each in made["images"]}
        names = {each["id"]: each["name"] for each in made["categories"]}
        for each in made["annotations"]:
            x, y, width, height = each["bbox"]
            yield images[each["image_id"]], names[each["category_id"]], (x, y, x + width, y + height)
    elif form == "yolo":
        names = {}
        for line in archive.read("data.yaml").decode().partition("names:\n")[2].splitlines():
            number, _, name = line.strip().partition(": ")
            names[number] = name.strip('"')
        for path in archive.namelist():
            if path.startswith("labels/"):
                picture = path.replace("labels/", "images/").replace(".txt", ".png")
                wide, high = Image.open(io.BytesIO(archive.read(picture))).size
                for line in archive.read(path).decode().splitlines():
                    number, *numbers = line.split()
                    x, y, width, height = map(float, numbers)
                    left, top = (x - width / 2) * wide, (y - height / 2) * high
                    yield picture, names[number], (left, top, left + width * wide, top + height * high)
    elif form == "voc":
        for path in archive.namelist():
            if path.startswith("Annotations/"):
                root = ET.fromstring(archive.read(path))
                for each in root.iter("object"):
                    edges = [int(each.find(f"bndbox/{edge}").text) for edge in ("xmin", "ymin", "xmax", "ymax")]
                    picture = f"JPEGImages/{root.find('filename').text}"
                    yield picture, each.find("name").text, (edges[0] - 1, edges[1] - 1, edges[2], edges[3])
    else:
        [path] = [path for path in archive.namelist() if path.endswith("annotations.xml")]
        for track in ET.fromstring(archive.read(path)).iter("track"):
            for shape in track.iter("box"):
                if shape.get("outside") == "0":
                    edges = [float(shape.get(edge)) for edge in ("xtl", "ytl", "xbr", "ybr")]
                    picture = f"{path.partition('/')[0]}/images/frame_{int(shape.get('frame')):06d}.png"
                    yield picture, track.get("label"), edges


@pytest.mark.slow
def test_boxes_of_every_format_cover_the_drawn_numbers(api, project, clip):
    dataset = Dataset(api, project, clip)
    colour = {"name": "Colour", "dtype": "string"}
    types = {"media_types": [dataset.video_type], "attribute_types": [colour]}
    cell_type = api.made(f"LocalizationTypes/{project}", {"name": "cell", "dtype": "box", **types})
    specs = [
        {
            "type": cell_type, "media_id": dataset.video, "frame": frame, "width": 0.25, "height": 0.25,
            "x": cell % 4 / 4, "y": cell // 4 / 4, "Colour": "white" if is_white(frame, cell) else "black",
        }
        for frame in FRAMES
        for cell in range(16)
    ]  # fmt: skip
    api.made(f"Localizations/{project}", specs)
    assert max(FRAMES) < COUNT
    chosen = {"media": {"ids": [dataset.video]}, "classes": {"attribute": "Colour"}}
    for form in ("coco", "yolo", "voc", "cvat"):
        archive, _ = dataset.export(format=form, frames="frames", image_format="png", **chosen)
        found = list(boxes(archive, form))
        assert len(found) == len(specs), form
        for picture, name, (left, top, right, bottom) in found:
            image = Image.open(io.BytesIO(archive.read(picture))).convert("L")
            inset = 0.2 * (right - left)
            area = (left + inset, top + inset, right - inset, bottom - inset)
            level = image.resize((1, 1), Image.Resampling.BOX, area).getpixel((0, 0))
            assert (level > 128) == (name == "white"), (form, picture, area)
