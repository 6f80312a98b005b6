"""What annotators answer, by convention, and how it becomes an annotation of a type."""

from __future__ import annotations

import itertools
import json
import math

import pytest

from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.values import outlines, rle
from chalicelib.errors import BadInput
from chalicelib.resources.annotators import conventions, interactive
from chalicelib.resources.annotators.conventions import Asked
from chalicelib.resources.annotators.found import geometry
from chalicelib.resources.annotators.schemas import Prompt, Sides
from tests.sweeps import sweep

SIDES = {"x": 0.25, "y": 0.5, "width": 0.25, "height": 0.25}
SIZE = 40, 20
# the pixels 10 to 19 across and 5 to 9 down, of 40 x 20
INSIDE = rle.filled([[(10, 5), (20, 5), (20, 10), (10, 10)]], (20, 40))
ROWS = bytes(255 if 10 <= x < 20 and 5 <= y < 10 else 0 for y in range(20) for x in range(40))


def of_type(dtype, *refinements):
    return LocalizationType(
        id=1, project=1, name="t", elemental_id="", dtype=dtype, refinements=list(refinements), media=[]
    )


def one(convention, answer, dtype="box", *refinements, media=SIZE):
    [each] = conventions.read(convention, answer, SIZE).found
    return geometry(each.shape, of_type(dtype, *refinements), SIZE, media)


def studio(kind, value, **more):
    return {"results": [{"score": 0.5, "result": [{"type": kind, "value": value, **more}]}]}


def brush_stream(mask):
    """The stream of a byte for each pixel, row by row, as Label Studio's converter writes it: runs only."""
    bits = [f"{len(mask) * 4:032b}", f"{7:05b}", *(f"{length - 1:04b}" for length in (3, 4, 8, 16))]
    for value, run in itertools.groupby(mask):
        bits.append(f"111{len(list(run)) * 4 - 1:016b}{value:08b}")
    text = "".join(bits)
    text += "0" * (-len(text) % 8)
    return list(int(text, 2).to_bytes(len(text) // 8))


class TestMasks:
    MASKS = [
        ("limn", {"masks": [{"size": [20, 40], "counts": rle.encode(INSIDE)}]}),
        ("limn", {"masks": [{"size": [20, 40], "counts": INSIDE}]}),
        ("label-studio", studio("brushlabels", {"format": "rle", "rle": brush_stream(ROWS)})),
        ("nuclio", [{"type": "mask", "label": "a", "points": [], "mask": [1] * 50 + [10, 5, 19, 9]}]),
    ]

    @sweep("convention, answer", MASKS)
    def test_each_convention_gives_the_same_mask(self, convention, answer):
        assert one(convention, answer, "box", "mask") == {
            "x": 0.25, "y": 0.25, "width": 0.25, "height": 0.25,
            "mask": {"size": [5, 10], "counts": rle.encode([0, 50])},
        }  # fmt: skip

    def test_a_type_without_masks_gets_the_box_and_one_of_polygons_the_outline(self):
        answer = self.MASKS[0][1]
        assert one("limn", answer) == {"x": 0.25, "y": 0.25, "width": 0.25, "height": 0.25}
        assert sorted(one("limn", answer, "poly")["points"]) == [[0.25, 0.25], [0.25, 0.5], [0.5, 0.25], [0.5, 0.5]]
        assert one("limn", answer, "dot") is None

    def test_a_mask_of_a_smaller_picture_has_the_pixels_of_the_media(self):
        made = one("limn", self.MASKS[0][1], "box", "mask", media=(80, 40))
        assert (made["mask"]["size"], made["x"]) == ([10, 20], 0.25)
        assert rle.area(rle.decode(made["mask"]["counts"])) == 200

    def test_a_polygon_fills_a_mask_where_the_type_holds_masks(self):
        answer = {"polygons": [{"points": [[0.25, 0.25], [0.5, 0.25], [0.5, 0.5], [0.25, 0.5]]}]}
        assert one("limn", answer, "box", "mask")["mask"] == {"size": [5, 10], "counts": rle.encode([0, 50])}

    @pytest.mark.parametrize(
        "mask",
        [
            {"size": [20, 41], "counts": INSIDE},
            {"size": [20, 40], "counts": [801]},
            {"size": [20, 40], "counts": [-1, 801]},
            {"size": [20, 40], "counts": "not runs \u00ff"},
            {"size": [20, 40], "counts": "0" * 70_000},
            {"size": [20, 40], "counts": [0, 0] * 40_000 + [800]},
            {"size": [20], "counts": INSIDE},
            {"size": 20, "counts": INSIDE},
        ],
    )
    def test_masks_of_other_sizes_and_runs_are_refused(self, mask):
        with pytest.raises(BadInput, match="does not follow the convention limn"):
            conventions.read("limn", {"masks": [mask]}, SIZE)

    @pytest.mark.parametrize("stream", [[], [0] * 8, brush_stream(ROWS)[:-3], [256], ["x"], [255] * 60])
    def test_streams_of_brushes_that_end_or_lie_are_refused(self, stream):
        with pytest.raises(BadInput, match="label-studio"):
            conventions.read("label-studio", studio("brushlabels", {"rle": stream}), SIZE)

    @pytest.mark.parametrize("end", [[10, 5, 19, 10], [10, 5, 40, 9], [-1, 5, 8, 9], ["nan", 5, 19, 9], []])
    def test_masks_that_do_not_fill_their_box_are_refused(self, end):
        with pytest.raises(BadInput, match="nuclio"):
            conventions.read("nuclio", [{"type": "mask", "mask": [1] * 50 + end}], SIZE)


class TestShapes:
    def test_boxes_are_cut_at_the_border_and_bad_numbers_are_refused(self):
        answer = {"boxes": [{"x": -0.5, "y": 0.5, "width": 1, "height": 9}, {"x": 2, "y": 0, "width": 1, "height": 1}]}
        read = conventions.read("limn", answer, SIZE)
        assert (read.found[0].shape.shape, read.left_out) == ((0, 0.5, 0.5, 0.5), 1)
        for wrong in ("nan", None, "x", [1], 10**400, True):
            with pytest.raises(BadInput):
                conventions.read("limn", {"boxes": [{**SIDES, "x": wrong}]}, SIZE)
        with pytest.raises(BadInput, match="1000 that are accepted"):
            conventions.read("limn", {"boxes": [SIDES] * 1001}, SIZE)

    @sweep(
        "answer",
        [
            None,
            5,
            "x",
            [],
            {},
            {"boxes": 5},
            {"boxes": [5]},
            {"boxes": [None]},
            {"masks": {}, "polygons": [{"points": 5}]},
        ],
    )
    def test_what_is_no_answer_is_refused(self, answer):
        with pytest.raises(BadInput):
            conventions.read("limn", answer, SIZE)

    @sweep(
        "convention, answer",
        [
            ("limn", {"boxes": [{**SIDES, "angle": 30, "x": 0.3}]}),
            ("nuclio", [{"type": "rectangle", "points": [12, 10, 22, 15], "rotation": 30}]),
        ],
    )
    def test_a_turned_box_is_kept_where_the_type_holds_it_and_is_its_bounds_elsewhere(self, convention, answer):
        assert one(convention, answer, "box", "angle") == pytest.approx({**SIDES, "x": 0.3, "angle": 30})
        upright = one(convention, answer)
        wide = 10 * math.cos(math.pi / 6) + 5 * math.sin(math.pi / 6)
        assert upright["width"] * 40 == pytest.approx(wide)
        assert len(one(convention, answer, "poly")["points"]) == 4

    def test_label_studio_turns_about_the_top_left_corner(self):
        value = {"x": 50, "y": 50, "width": 25, "height": 25, "rotation": 90}  # 10 x 5 pixels at (20, 10)
        made = one("label-studio", studio("rectanglelabels", value))
        assert made == pytest.approx({"x": 15 / 40, "y": 0.5, "width": 5 / 40, "height": 0.5})

    def test_other_shapes_of_each_convention(self):
        ellipse = {"x": 50, "y": 50, "radiusX": 10, "radiusY": 20}
        assert one("label-studio", studio("ellipselabels", ellipse), "box", "ellipse") == pytest.approx(
            {"x": 0.4, "y": 0.3, "width": 0.2, "height": 0.4, "form": "ellipse"}
        )
        points = {"points": [[0, 0], [50, 0], [50, 50]]}
        assert one("label-studio", studio("polygonlabels", points), "poly") == {
            "points": [[0, 0], [0.5, 0], [0.5, 0.5]]
        }
        assert one("label-studio", studio("keypointlabels", {"x": 10, "y": 20}), "dot") == {"x": 0.1, "y": 0.2}
        line = [{"type": "polyline", "points": [0, 0, 40, 20]}]
        assert one("nuclio", line, "poly", "open") == {"points": [[0, 0], [1, 1]], "closed": False}
        assert one("nuclio", line, "poly") is None
        assert one("nuclio", [{"type": "points", "points": [4, 4]}], "dot") == {"x": 0.1, "y": 0.2}

    def test_classes_confidences_tracks_and_the_model_are_read(self):
        answer = {"boxes": [{**SIDES, "label": "cod", "confidence": 0.5, "track": 7}], "model": "fish", "version": 2}
        read = conventions.read("limn", answer, SIZE)
        [each] = read.found
        assert (each.label, each.confidence, each.track, read.model) == ("cod", 0.5, "7", ("fish", "2"))
        choice = studio("choices", {"choices": ["night"]}) | {"model_version": "3"}
        [each] = (read := conventions.read("label-studio", choice, SIZE)).found
        assert (each.shape, each.label, each.confidence, read.model) == (None, "night", 0.5, (None, "3"))
        [each] = conventions.read("nuclio", [{"type": "tag", "label": "night", "confidence": "0.5"}], SIZE).found
        assert (each.shape, each.label, each.confidence) == (None, "night", 0.5)

    def test_what_has_no_form_here_is_counted(self):
        read = conventions.read("nuclio", [{"type": "skeleton", "elements": []}, {"type": "cuboid"}], SIZE)
        assert (read.found, read.left_out) == ([], 2)


class TestInteractors:
    ASKED = Asked(media=5, frame=7, size=SIZE, picture=b"jpeg", key="k")
    POINTS = [Prompt(x=0.25, y=0.5), Prompt(x=0.5, y=0.5, positive=False)]
    BOX = Sides(x=0.25, y=0.25, width=0.5, height=0.5)

    def test_clicks_are_sent_as_each_convention_has_them(self):
        made = interactive.ask_object("limn", self.ASKED, self.POINTS, self.BOX)
        assert made["points"][1] == {"x": 0.5, "y": 0.5, "positive": False}
        assert (made["key"], made["box"]["width"], made["width"]) == ("k", 0.5, 40)
        made = interactive.ask_object("nuclio", self.ASKED, self.POINTS, self.BOX)
        assert (made["pos_points"], made["neg_points"]) == ([[10, 10]], [[20, 10]])
        assert made["obj_bbox"] == [[10, 5], [30, 15]]
        made = interactive.ask_object("label-studio", self.ASKED, self.POINTS, self.BOX)
        first, second, third = made["params"]["context"]["result"]
        assert (first["value"]["x"], first["is_positive"], second["is_positive"]) == (25, 1, 0)
        assert third["value"]["width"] == 50

    def test_a_mask_or_an_outline_of_cvat_is_read(self):
        rows = [[int(bool(ROWS[40 * y + x])) for x in range(40)] for y in range(20)]
        [each] = interactive.read_object("nuclio", {"mask": rows}, SIZE).found
        assert geometry(each.shape, of_type("box", "mask"), SIZE, SIZE)["mask"]["size"] == [5, 10]
        [each] = interactive.read_object("nuclio", [[0, 0], [20, 0], [20, 10]], SIZE).found
        assert geometry(each.shape, of_type("poly"), SIZE, SIZE)["points"][1] == [0.5, 0]
        assert interactive.read_object("nuclio", [], SIZE).found == []
        for wrong in (rows[1:], [row[1:] for row in rows], [5] * 20):
            with pytest.raises(BadInput):
                interactive.read_object("nuclio", {"mask": wrong}, SIZE)

    def test_the_shape_with_the_highest_confidence_is_taken(self):
        boxes = [{**SIDES, "confidence": 0.2}, {**SIDES, "x": 0.5, "confidence": 0.7}]
        [each] = interactive.read_object("limn", {"boxes": boxes}, SIZE).found
        assert each.confidence == 0.7


class TestTrackersAndEmbedders:
    def test_lost_boxes_are_none_and_counts_must_agree(self):
        found, states = interactive.read_boxes("limn", {"boxes": [SIDES, None], "states": [1, None]}, SIZE, 2)
        assert (found[0].shape.shape, found[1], states) == ((0.25, 0.5, 0.25, 0.25), None, [1, None])
        found, _ = interactive.read_boxes("nuclio", {"shapes": [[10, 10, 20, 15]], "states": ["s"]}, SIZE, 1)
        assert found[0].shape.shape == (0.25, 0.5, 0.25, 0.25)
        for wrong in ({"boxes": [SIDES]}, {"boxes": [SIDES], "states": []}, {"boxes": 5, "states": 5}, [], None):
            with pytest.raises(BadInput):
                interactive.read_boxes("limn", wrong, SIZE, 1)

    def test_vectors_are_finite_and_of_one_length(self):
        assert interactive.read_vectors({"vectors": [[1, 2], [3, 4]]}, 2)[0] == [[1, 2], [3, 4]]
        wrong = ([[1, 2]], [[1, 2], [3]], [[], []], [[1, "nan"], [1, 2]], [[0] * 2001] * 2, 5, [5, 5])
        for vectors in wrong:
            with pytest.raises(BadInput):
                interactive.read_vectors({"vectors": vectors}, 2)


class TestOutlines:
    def test_the_outlines_of_a_mask_fill_it_again(self):
        pattern = json.dumps([(5 * x * x + 3 * y) % 7 < 4 for x in range(17) for y in range(11)])
        runs = rle.runs_of(bytes(int(each) for each in json.loads(pattern)))
        rings = outlines.rings(runs, 11)
        assert rle.pixels(rle.filled(rings, (11, 17))) == rle.pixels(runs)
        assert sum(map(outlines.signed_area, rings)) == rle.area(runs)

    def test_the_hole_of_the_largest_part_is_found(self):
        picture = rle.filled([[(2, 2), (18, 2), (18, 18), (2, 18)], [(6, 6), (12, 6), (12, 12), (6, 12)]], (20, 40))
        outer, holes = outlines.of_mask(picture, 20)
        assert (len(outer), [sorted(hole) for hole in holes]) == (4, [[(6, 6), (6, 12), (12, 6), (12, 12)]])
