"""The five notebooks run in their order, cell by cell, and what they show draws what there is."""

from __future__ import annotations

import ast
import importlib
import io
import json
import random
import sys
import threading
import time
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from infra import client as limn_client
from infra.client import configuration, display
from infra.client.configuration import Profile
from tests.client.moving import upload

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
COLORS = {"Cod": (220, 30, 30), "Hare": (30, 30, 220)}


def cells(path):
    """The code of a notebook's cells."""
    return ["".join(each["source"]) for each in json.loads(path.read_text())["cells"] if each["cell_type"] == "code"]


def run(code, known, name):
    """Run a cell: the value of its last line, if that is an expression, as a notebook shows it."""
    tree = ast.parse(code, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), known)
    return eval(compile(ast.Expression(last.value), name, "eval"), known) if last else None


@pytest.fixture
def pictures(service, config, api, project):
    """Six dark pictures with a bright rectangle each, which a person has labelled."""
    configuration.write(configuration.Configuration("default", {"default": Profile(service, api.token, project)}))
    attributes = [{"name": "Species", "dtype": "string"}]
    picture = api.made(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})
    body = {"name": "Box", "dtype": "box", "media_types": [picture], "attribute_types": attributes}
    kind = api.made(f"LocalizationTypes/{project}", body)
    dice = random.Random(1)
    with limn_client.Client(Profile(service, api.token, project)) as client:
        for number, species in enumerate(["Cod", "Hare"] * 3):
            left, top = dice.randrange(8, 32), dice.randrange(8, 24)
            canvas = Image.new("RGB", (80, 60), (10, 10, 10))
            ImageDraw.Draw(canvas).rectangle((left, top, left + 31, top + 23), fill=COLORS[species])
            out = io.BytesIO()
            canvas.save(out, "PNG")
            url = upload(client, project, f"{number}.png", out.getvalue())
            [media] = api.made(f"Medias/{project}", [{"type": picture, "name": f"{number}.png", "md5": "", "url": url}])
            box = {"x": left / 80, "y": top / 60, "width": 32 / 80, "height": 24 / 60}
            label = {"type": kind, "media_id": media, "frame": 0, **box, "attributes": {"Species": species}}
            api.made(f"Localizations/{project}", [label])
        api.drain()
        yield client


@pytest.mark.slow
def test_the_notebooks_run_in_order(pictures, api, project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("training.frames", "training.samples", "cli.datasets", "display"):
        importlib.import_module(f"infra.client.{name}")
    for name, module in list(sys.modules.items()):  # in the checkout the package `limn` is `infra.client`
        if name.startswith("infra.client"):
            monkeypatch.setitem(sys.modules, name.replace("infra.client", "limn", 1), module)
    real, here = time.sleep, threading.current_thread()

    def work(seconds):
        if threading.current_thread() is here:
            api.drain()
        else:
            real(seconds)

    monkeypatch.setattr(time, "sleep", work)
    shown = {}
    for path in NOTEBOOKS:
        known = {"__name__": "__main__"}
        shown[path.stem] = [run(code, known, path.name) for code in cells(path)]
        assert all(each._repr_html_().startswith("<") for each in shown[path.stem] if hasattr(each, "_repr_html_"))
        known["client"].close()
    assert len(shown) == 5
    assert shown["1_explore"][1].counts == {"Cod": 3, "Hare": 3}
    assert len(shown["1_explore"][2].shapes) == 1
    assert len(shown["2_label_with_a_model"][2].shapes) == 1
    assert sorted(json.loads((tmp_path / "model.json").read_text())) == ["Cod", "Hare"]
    assert shown["4_evaluate"][0]["matched"] == 6
    assert shown["5_publish"][0] == 6


@pytest.mark.slow
def test_a_frame_is_drawn_with_its_boxes(pictures, project):
    media = next(iter(pictures.project().media()))["id"]
    frame = pictures.project().frame(media, label="Species")
    [shape] = frame.shapes
    assert (shape.text, frame.size) == ("Cod", (80, 60))
    page = frame._repr_html_()
    x, y = shape.points[0]
    assert f"{x * 80:.1f},{y * 60:.1f}" in page
    assert ">Cod</text>" in page
    drawn = Image.open(io.BytesIO(frame._repr_png_())).convert("RGB")
    assert drawn.getpixel((round(x * 80), round(y * 60))) == (0xE6, 0x19, 0x4B)


def test_texts_of_people_are_shown_as_texts():
    evil = "<script>alert(1)</script>"
    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "PNG")
    row = {"type": 1, "x": 0, "y": 0, "attributes": {"Name": evil}}
    pages = [
        display.Frame(1, 0, out.getvalue(), (row,), "Name")._repr_html_(),
        display.Bars({evil: 1}, evil)._repr_html_(),
        display.table([{evil: evil}], 1),
    ]
    assert all(evil not in page and "&lt;script&gt;" in page for page in pages)


def test_lines_dots_and_open_shapes_have_their_points():
    rows = [
        {"x": 0.25, "y": 0.5, "u": 0.25, "v": 0.0},
        {"x": 0.5, "y": 0.5},
        {"points": [[0, 0], [1, 0], [1, 1]], "closed": False},
    ]
    shapes = display.Frame(1, 0, b"", tuple(rows)).shapes
    assert [(each.points, each.is_closed) for each in shapes] == [
        (((0.25, 0.5), (0.5, 0.5)), False),
        (((0.5, 0.5),), False),
        (((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)), False),
    ]


def test_what_cannot_be_shown_is_said():
    with pytest.raises(limn_client.Failure, match="int cannot be shown"):
        limn_client.show(7)
