"""Served models answer by each convention, and refuse what breaks a rule of it.

They need `pip install '.[annotators]' onnx`, which the lock has not; without, they are skipped.
"""

from __future__ import annotations

import base64
import io
import json

import pytest

pytest.importorskip("cv2", reason="needs pip install '.[annotators]'")
pytest.importorskip("onnxruntime", reason="needs pip install '.[annotators]'")
pytest.importorskip("onnx", reason="needs pip install onnx")

import cv2
import numpy as np
import onnx

from infra.client.annotator import classic, onnx_models, server
from infra.client.failures import Failure
from tests.client.annotator import files

WIDE, HIGH = 128, 64
TOKEN = "a token"


def picture(draw=None, size=(WIDE, HIGH)):
    """A black picture, in base64; `draw` draws on its pixels."""
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    if draw:
        draw(pixels)
    return base64.b64encode(cv2.imencode(".png", pixels)[1].tobytes()).decode()


def white_box(left, top, right, bottom):
    return picture(lambda pixels: pixels.__setitem__((slice(top, bottom), slice(left, right)), 255))


class Served:
    """An application, asked in this process."""

    def __init__(self, models):
        self._application = server.application(models, TOKEN)

    def ask(self, body=None, path="/", method="POST", token=TOKEN, raw=None):
        data = json.dumps(body).encode() if raw is None else raw
        told = []
        environ = {
            "REQUEST_METHOD": method, "PATH_INFO": path, "CONTENT_LENGTH": str(len(data)),
            "HTTP_AUTHORIZATION": f"Bearer {token}", "wsgi.input": io.BytesIO(data),
        }  # fmt: skip
        answer = b"".join(self._application(environ, lambda status, _: told.append(int(status[:3]))))
        return told[0], json.loads(answer)

    def answer(self, body=None, path="/", method="POST"):
        status, document = self.ask(body, path, method)
        assert status == 200, document
        return document


def served(path, **config):
    return Served({"": onnx_models.load(path, onnx_models.Config(**config))})


# In a letterbox of 64 x 64, a picture of 128 x 64 is 64 x 32: one pixel of the input is two of the picture.
ROWS = [
    [16, 8, 8, 8, 0.9, 0.1],
    [17, 8, 8, 8, 0.8, 0.1],
    [48, 24, 16, 8, 0.0, 0.5],
    [48, 24, 16, 8, 0.2, 0.0],
    [float("nan"), 8, 8, 8, 0.9, 0.1],
]
COD = {"x": 0.1875, "y": 0.125, "width": 0.125, "height": 0.25}


class TestDetectors:
    @pytest.fixture
    def fish(self, tmp_path):
        return served(files.yolo8(tmp_path / "fish.onnx", ROWS), output="yolo8", labels=["cod", "hake"], version="2")

    def test_overlapping_boxes_of_a_class_are_one_and_unlikely_ones_none(self, fish):
        said = fish.answer({"image": picture()})
        assert (said["model"], said["version"]) == ("fish", "2")
        assert [(each["label"], round(each["confidence"], 3)) for each in said["boxes"]] == [
            ("cod", 0.9),
            ("hake", 0.5),
        ]
        assert {name: said["boxes"][0][name] for name in COD} == pytest.approx(COD)

    def test_label_studio_gets_per_cent_and_cvat_pixels(self, fish):
        task = {"id": 5, "data": {"image": f"data:image/png;base64,{picture()}"}}
        said = fish.answer({"tasks": [task]}, "/predict")
        region = said["results"][0]["result"][0]
        assert region["value"]["rectanglelabels"] == ["cod"]
        assert (region["value"]["x"], region["original_width"]) == (pytest.approx(18.75), WIDE)
        assert fish.answer({}, "/setup") == {"model_version": "2"}
        assert fish.answer(path="/health", method="GET")["status"] == "UP"
        [first, _] = fish.answer({"image": picture()}, "/nuclio")
        assert (first["type"], first["points"]) == ("rectangle", pytest.approx([24, 8, 40, 24]))

    def test_older_and_finished_outputs(self, tmp_path):
        five = files.constant(tmp_path / "five.onnx", [[[16, 8, 8, 8, 0.5, 0.8, 0.2]]])
        [found] = served(five, output="yolo5").answer({"image": picture()})["boxes"]
        assert (found["label"], found["confidence"], found["x"]) == ("0", pytest.approx(0.4), pytest.approx(0.1875))
        boxes = files.constant(tmp_path / "boxes.onnx", [[[12, 4, 20, 12, 0.9, 1], [0, 0, 1, 1, 0.1, 0]]])
        [found] = served(boxes, output="boxes", labels=["a", "b"]).answer({"image": picture()})["boxes"]
        assert (found["label"], found["x"]) == ("b", pytest.approx(0.1875))


HALF = [0.25, 0.25, 0.125, 0.125]
"""The middle and sides of COD in shares of the input of 64 x 64."""
LOGITS = [[9.0, -9.0, -9.0], [-9.0, -9.0, 9.0]]
PICTURE = ("images", [1, 3, files.SIDE, files.SIDE])


def many(row, count):
    """Rows as long as one, of which the others are nothing."""
    return np.vstack([np.float32([row]), np.zeros((count - 1, len(row)), np.float32)])[None]


class TestPublishedSignatures:
    """Files whose inputs and outputs are those of the exports of other programs, found without a word on their form."""

    @pytest.mark.parametrize(
        ("inputs", "outputs"),
        [
            pytest.param([], {"output0": many([16, 16, 8, 8, 0.9, *[0.1] * 79], 8400).transpose(0, 2, 1)}, id="yolo8"),
            pytest.param([], {"output0": many([16, 16, 8, 8, 0.9, 1.0, *[0.1] * 79], 25200)}, id="yolo5"),
            pytest.param([], {"output0": many([12, 12, 20, 20, 0.9, 0], 300)}, id="yolo10"),
            pytest.param([], {"output0": many([*HALF, 0.9, *[0.1] * 79], 300)}, id="rtdetr of Ultralytics"),
            pytest.param(
                [("orig_target_sizes", [1, 2], "INT64")],
                {"labels": np.int64([[0, 1]]), "boxes": many([12, 12, 20, 20], 2), "scores": np.float32([[0.9, 0.1]])},
                id="rtdetr of its authors",
            ),
        ],
    )
    def test_of_detectors(self, tmp_path, inputs, outputs):
        path = files.answers(tmp_path / "model.onnx", [PICTURE, *inputs], outputs)
        [found] = served(path, resize="stretch").answer({"image": picture()})["boxes"]
        assert (found["label"], found["confidence"]) == ("0", pytest.approx(0.9))
        assert [found[name] for name in COD] == pytest.approx([0.1875, 0.1875, 0.125, 0.125])

    @pytest.mark.parametrize("form", ["detr", "rtdetr"])
    def test_of_transformers(self, tmp_path, form):
        outputs = {"logits": np.float32([LOGITS]), "pred_boxes": many(HALF, 2)}
        mask = ("pixel_mask", [1, 64, 64], "INT64")
        path = files.answers(tmp_path / "model.onnx", [PICTURE, mask], outputs)
        with pytest.raises(Failure, match="give detr"):
            served(path)
        found = served(path, output=form, resize="stretch").answer({"image": picture()})["boxes"]
        assert found[0]["label"] == "0"
        assert [found[0][name] for name in COD] == pytest.approx([0.1875, 0.1875, 0.125, 0.125])
        assert len(found) == {"detr": 1, "rtdetr": 2}[form]

    def test_an_unknown_input_of_a_detector_is_refused(self, tmp_path):
        path = files.answers(tmp_path / "model.onnx", [PICTURE, ("text", [1, 4])], {"output0": many([1] * 6, 3)})
        with pytest.raises(Failure, match="the input text is not known"):
            served(path)

    def test_the_names_of_classes_are_read_from_the_file(self, tmp_path):
        path = files.answers(tmp_path / "model.onnx", [PICTURE], {"output0": many([12, 12, 20, 20, 0.9, 1], 300)})
        model = onnx.load(path)
        onnx.helper.set_model_props(model, {"names": "{0: 'cod', 1: 'hake'}"})
        onnx.save(model, path)
        assert served(path).answer({"image": picture()})["boxes"][0]["label"] == "hake"

    @pytest.mark.parametrize(
        ("encoded", "prompts", "answered"),
        [
            pytest.param(
                {"image_embeddings": (1, 256, 64, 64)},
                [("point_coords", [1, "n", 2]), ("point_labels", [1, "n"]), ("mask_input", [1, 1, 256, 256]),
                 ("has_mask_input", [1]), ("orig_im_size", [2])],
                {"masks": (1, 4, HIGH, WIDE), "iou_predictions": (1, 4), "low_res_masks": (1, 4, 256, 256)},
                id="Segment Anything",
            ),
            pytest.param(
                {"high_res_feats_0": (1, 32, 16, 16), "high_res_feats_1": (1, 64, 8, 8), "image_embed": (1, 256, 4, 4)},
                [("point_coords", [1, "n", 2]), ("point_labels", [1, "n"]), ("mask_input", [1, 1, 256, 256]),
                 ("has_mask_input", [1]), ("orig_im_size", [2], "INT32")],
                {"masks": (1, 3, HIGH, WIDE), "iou_predictions": (1, 3)},
                id="SAM 2",
            ),
            pytest.param(
                {"image_embeddings.0": (1, 32, 16, 16), "image_embeddings.1": (1, 64, 8, 8)},
                [("input_points", [1, 1, "n", 2]), ("input_labels", [1, 1, "n"], "INT64"),
                 ("input_boxes", [1, "b", 4])],
                {"iou_scores": (1, 1, 3), "pred_masks": (1, 1, 3, 16, 16), "object_score_logits": (1, 1, 1)},
                id="SAM 2 of Transformers",
            ),
            pytest.param(
                {"image_embeddings": (1, 8, 8, 8), "image_positional_embeddings": (1, 8, 8, 8)},
                [("input_points", [1, 1, "n", 2]), ("input_labels", [1, 1, "n"], "INT64")],
                {"iou_scores": (1, 1, 3), "pred_masks": (1, 1, 3, 16, 16)},
                id="Segment Anything of Transformers",
            ),
        ],
    )  # fmt: skip
    def test_of_interactors(self, tmp_path, encoded, prompts, answered):
        files.answers(
            tmp_path / "encoder.onnx", [PICTURE], {name: np.zeros(of, np.float32) for name, of in encoded.items()}
        )
        made = {name: np.ones(shape, np.float32) for name, shape in answered.items()}
        path = files.answers(tmp_path / "decoder.onnx", [*encoded.items(), *prompts], made)
        model = onnx_models.load(path, onnx_models.Config(kind="interactor", encoder="encoder.onnx"))
        sam = Served({"": model})
        takes_boxes = not any(name == "input_points" for name, *_ in prompts) or len(prompts) == 3
        assert ("box" in model.prompts) is takes_boxes
        click = {
            "key": "k",
            "image": picture(),
            "points": [{"x": 0.3, "y": 0.5}, {"x": 0.9, "y": 0.9, "positive": False}],
        }
        [found] = sam.answer(click)["masks"]
        assert (found["size"], sum(found["counts"][1::2])) == ([HIGH, WIDE], HIGH * WIDE)
        if takes_boxes:
            box = {"x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}
            assert sam.answer({"key": "k", "points": [], "box": box})["masks"]


class TestClassifiersAndEmbedders:
    RED = picture(lambda pixels: pixels.__setitem__((..., 2), 255))

    def test_a_class_has_its_probability(self, tmp_path):
        path = files.averages(tmp_path / "colours.onnx", 1)
        colours = served(path, kind="classifier", labels=["red", "green", "blue"], mean=(0, 0, 0), std=(0.1, 0.1, 0.1))
        [found] = colours.answer({"image": self.RED})["classes"]
        assert (found["label"], found["confidence"] > 0.99) == ("red", True)
        assert colours.answer({"image": self.RED}, "/nuclio")[0]["type"] == "tag"

    @pytest.mark.parametrize("batch", ["n", 1])
    def test_vectors_have_the_length_one(self, tmp_path, batch):
        path = files.averages(tmp_path / "colours.onnx", batch)
        model = served(path, kind="embedder", mean=(0, 0, 0), std=(1, 1, 1))
        vectors = model.answer({"images": [self.RED, picture()]})["vectors"]
        assert vectors == [[1, 0, 0], [0, 0, 0]]
        assert model.ask({"images": []})[0] == 400
        assert model.ask({"image": picture()}, "/nuclio")[0] == 400


class TestInteractors:
    @pytest.fixture
    def sam(self, tmp_path):
        path = files.interactor(tmp_path)
        return served(path, kind="interactor", encoder="encoder.onnx", name="sam", mean=(0.5,) * 3)

    def test_a_picture_is_embedded_once_and_asked_by_its_key(self, sam):
        click = {"key": "k", "points": [{"x": 0.3, "y": 0.5}]}
        assert sam.ask(click)[0] == 409
        image = white_box(32, 16, 64, 48)
        [first] = sam.answer({**click, "image": image})["masks"]
        [again] = sam.answer(click)["masks"]
        assert first == again
        assert (first["size"], first["confidence"]) == ([HIGH, WIDE], 0.75)
        inside = sum(first["counts"][1::2])
        assert abs(inside - 32 * 32) < 150

    def test_the_same_mask_by_label_studio_and_cvat(self, sam):
        image = white_box(32, 16, 64, 48)
        said = sam.answer({"image": image, "pos_points": [[40, 30]], "neg_points": [], "obj_bbox": []}, "/nuclio")
        assert abs(np.sum(said["mask"]) - 32 * 32) < 150
        click = {"type": "keypointlabels", "is_positive": 1, "value": {"x": 30, "y": 50}}
        task = {"id": 1, "data": {"image": f"data:image/png;base64,{image}"}}
        said = sam.answer({"tasks": [task], "params": {"context": {"result": [click]}}}, "/predict")
        [region] = said["results"][0]["result"]
        from chalicelib.resources.annotators import brush

        columns = brush.columns(region["value"]["rle"], WIDE, HIGH)
        assert abs(sum(map(bool, columns)) - 32 * 32) < 150

    def test_it_needs_its_encoder(self, tmp_path):
        path = files.interactor(tmp_path)
        with pytest.raises(Failure, match="encoder"):
            served(path, kind="interactor")
        with pytest.raises(Failure, match="cannot be read"):
            served(path, kind="interactor", encoder="none.onnx")


@pytest.fixture(scope="module")
def methods():
    return Served(classic.models())


class TestClassic:
    def test_grabcut_finds_the_object_in_a_box(self, methods):
        image = white_box(32, 16, 64, 48)
        box = {"x": 0.15, "y": 0.1, "width": 0.5, "height": 0.8}
        [found] = methods.answer({"image": image, "key": "k", "box": box}, "/grabcut")["masks"]
        assert abs(sum(found["counts"][1::2]) - 32 * 32) < 100
        points = [{"x": 0.4, "y": 0.5}, {"x": 0.9, "y": 0.9, "positive": False}]
        assert methods.answer({"key": "k", "points": points}, "/grabcut")["masks"]

    def test_a_box_is_followed_and_lost(self, methods):
        texture = np.random.default_rng(1).integers(0, 255, (HIGH, WIDE * 2, 3), np.uint8)
        patch = np.random.default_rng(2).integers(0, 255, (20, 20, 3), np.uint8)
        patch = cv2.resize(cv2.resize(patch, (5, 5)), (20, 20))

        def at(left):
            shown = (texture[:, :WIDE] // 4).copy()
            if left is not None:
                shown[20:40, left : left + 20] = patch
            return base64.b64encode(cv2.imencode(".png", shown)[1].tobytes()).decode()

        boxes = [{"x": 20 / WIDE, "y": 20 / HIGH, "width": 20 / WIDE, "height": 20 / HIGH}]
        said = methods.answer({"image": at(20), "boxes": boxes, "states": None}, "/track")
        for left in range(22, 60, 2):
            said = methods.answer({"image": at(left), "boxes": boxes, "states": said["states"]}, "/track")
            boxes = [{name: said["boxes"][0][name] for name in ("x", "y", "width", "height")}]
            assert abs(boxes[0]["x"] * WIDE - left) < 2
        said = methods.answer({"image": at(None), "boxes": boxes, "states": said["states"]}, "/track")
        assert said["boxes"] == [None]

    def test_cvat_tracks_by_pixels(self, methods):
        image = white_box(32, 16, 64, 48)
        said = methods.answer({"image": image, "shapes": [[24, 8, 72, 56]], "states": []}, "/track/nuclio")
        said = methods.answer({"image": image, "shapes": said["shapes"], "states": said["states"]}, "/track/nuclio")
        assert said["shapes"][0] == pytest.approx([24, 8, 72, 56], abs=2)

    def test_motion_is_what_differs_from_the_frames_before(self, methods):
        for frame in range(5):
            said = methods.answer({"image": picture(), "media": 5, "frame": frame}, "/motion")
            assert said["boxes"] == []
        said = methods.answer({"image": white_box(32, 16, 64, 48), "media": 5, "frame": 5}, "/motion")
        [found] = said["boxes"]
        assert (found["x"] * WIDE, found["width"] * WIDE) == (pytest.approx(32, abs=3), pytest.approx(32, abs=6))


class TestRefusals:
    @pytest.mark.parametrize(
        ("path", "body", "says"),
        [
            ("/grabcut", {"key": "k2", "points": []}, "give clicks"),
            ("/grabcut", {"image": "no", "points": [{"x": 0, "y": 0}]}, "image"),
            ("/grabcut", {"image": "aGVsbG8=", "points": [{"x": 0, "y": 0}]}, "image"),
            ("/grabcut", {"image": picture(), "points": [{"x": "1", "y": 0}]}, "finite number"),
            ("/grabcut", {"image": picture(), "points": 5}, "points"),
            ("/grabcut", {"image": picture(), "box": {"x": 2, "y": 0, "width": 1, "height": 1}}, "box"),
            ("/track", {"image": picture(), "boxes": [5]}, "x: it is missing"),
            ("/track", {"image": picture(), "boxes": [], "states": [1]}, "states"),
            ("/track/nuclio", {"image": picture(), "shapes": [[1, 2]]}, "shapes"),
            ("/track/predict", {"tasks": [{"data": {"image": "data:,"}}]}, "Label Studio has no tracker"),
            ("/motion", {}, "image"),
            ("/motion/predict", {"tasks": [{"data": {"image": "/data/a.jpg"}}]}, "data URL"),
            ("/motion/predict", {"tasks": 5}, "tasks"),
        ],
    )
    def test_a_request_that_breaks_a_rule_is_told_which(self, methods, path, body, says):
        status, document = methods.ask(body, path)
        assert (status, says in document["message"]) == (400, True), document

    def test_of_token_path_method_and_body(self, methods):
        assert methods.ask({}, "/motion", token="other")[0] == 401
        assert methods.ask({}, "/none")[0] == 404
        assert methods.ask({}, "/motion/none")[0] == 404
        assert methods.ask(path="/motion/predict", method="GET")[0] == 405
        assert methods.ask(path="/motion", raw=b"[1]")[0] == 400
        assert methods.ask(path="/motion", raw=b"[" * 100_000)[0] == 400

    @pytest.mark.parametrize("text", ["kind: fish", "labels: 5", "unknown: 1", "size: [1]", "[", "confidence: much"])
    def test_a_configuration_that_breaks_a_rule_is_refused(self, tmp_path, text):
        (tmp_path / "a.yaml").write_text(text)
        with pytest.raises(Failure, match="--config"):
            onnx_models.read_config(tmp_path / "a.yaml")

    def test_a_file_that_is_no_model_is_refused(self, tmp_path):
        (tmp_path / "a.onnx").write_bytes(b"no")
        with pytest.raises(Failure, match="cannot be read as an ONNX model"):
            onnx_models.load(tmp_path / "a.onnx", onnx_models.Config())
