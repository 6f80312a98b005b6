"""Models of ONNX files, as a small YAML describes them.

kind: detector                detector, classifier, embedder or interactor
name: fish
version: "2.1"
labels: [cod, hake]           of detectors and classifiers, in the order of the model's classes
size: [640, 640]              width and height of the input; by default that of the file
mean: [0, 0, 0]               taken off the values from 0 to 1, then
std: [1, 1, 1]                divided by this
confidence: 0.25              of detectors: the least
overlap: 0.45                 of detectors: boxes of one class that overlap more are one
output: yolo8                 of detectors; without it by the shape of what the file answers (`Detector`)
encoder: encoder.onnx         of interactors: the file that embeds a picture; the served one decodes clicks
resize: letterbox             letterbox keeps the aspect, stretch does not
"""

from __future__ import annotations

import ast
import math
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import cv2
import msgspec
import numpy as np
import onnxruntime

from ..failures import Failure
from .models import Model

_PAD = 114
_FEW, _FINISHED = 1_000, 6
_NUMBERS = {
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
}
_THREADS = 0
"""Threads of onnxruntime; 0 for as many as there are processors."""
Form = Literal["yolo8", "yolo5", "boxes", "detr", "rtdetr"]
"""The layouts of the outputs of detectors."""


class Config(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What the YAML beside a model says."""

    kind: Literal["detector", "classifier", "embedder", "interactor"] = "detector"
    name: str | None = None
    version: str | None = None
    labels: list[str] = []
    size: tuple[int, int] | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None
    confidence: float = 0.25
    overlap: float = 0.45
    output: Form | None = None
    encoder: str | None = None
    resize: Literal["letterbox", "stretch"] | None = None


_IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""What classifiers, embedders and interactors are mostly trained with."""


def read_config(path: Path | None) -> Config:
    """The YAML of a model. Raises Failure where it is malformed or names something unknown."""
    if path is None:
        return Config()
    try:
        found = msgspec.yaml.decode(path.read_bytes(), type=Config)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Failure(f"--config {path}: {error}") from None
    return found


def load(path: Path, config: Config) -> Model:
    """The model of a file. Raises Failure where it is none, or not one of the kind."""
    kinds: dict[str, type[_OnnxModel]] = {
        "detector": Detector, "classifier": Classifier, "embedder": Embedder, "interactor": Interactor
    }  # fmt: skip
    return kinds[config.kind](path, config)


def _session(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=onnxruntime.get_available_providers())
    except Exception as error:  # noqa: BLE001 its errors have no common class
        raise Failure(f"{path} cannot be read as an ONNX model: {str(error)[:300]}") from None


class _OnnxModel(Model):
    defaults: tuple[tuple[float, float, float], tuple[float, float, float]] = _IMAGENET
    resize = "stretch"

    def __init__(self, path: Path, config: Config) -> None:
        self.config = config
        self.name = config.name or path.stem
        self.version = config.version
        self.session = _session(path)
        self._prepare(self.session, path)

    def _prepare(self, session: Any, path: Path) -> None:
        """Read the input's name, type and size off a file."""
        first = session.get_inputs()[0]
        shape = [each if isinstance(each, int) else None for each in first.shape]
        if len(shape) != 4 or shape[1] not in (3, None):  # noqa: PLR2004 pictures, colours, rows, columns
            raise Failure(
                f"{path}: the input {first.name} has the shape {first.shape}; pictures are [n, 3, height, width]."
            )
        own = (shape[3], shape[2]) if shape[2] and shape[3] else None
        size = self.config.size or own
        if size is None:
            raise Failure(f"{path}: the input has no fixed size; give size: [width, height] in the configuration.")
        self.size: tuple[int, int] = size
        self.input = first.name
        self.batch = shape[0]
        self.dtype = np.float16 if "float16" in first.type else np.float32
        mean, std = (self.config.mean or self.defaults[0]), (self.config.std or self.defaults[1])
        self._mean, self._std = np.float32(mean), np.float32(std)

    def tensor(self, image: Any) -> tuple[Any, float, float]:
        """The input of a picture, and by how much it was scaled across and down; what is left is grey at the end."""
        (wide, high), (height, width) = self.size, image.shape[:2]
        across, down = wide / width, high / height
        if (self.config.resize or self.resize) == "letterbox":
            across = down = min(across, down)
        shown = max(1, round(width * across)), max(1, round(height * down))
        canvas: Any = np.full((high, wide, 3), _PAD, np.uint8)
        canvas[: shown[1], : shown[0]] = cv2.resize(image, shown, interpolation=cv2.INTER_LINEAR)
        values = (canvas.astype(np.float32) / 255 - self._mean) / self._std
        return np.ascontiguousarray(values.transpose(2, 0, 1)[None]).astype(self.dtype), across, down

    def run(self, session: Any, feed: dict[str, Any]) -> dict[str, Any]:
        """The outputs of a file by name, of inputs with the numbers that it takes."""
        names = [each.name for each in session.get_outputs()]
        types = {each.name: _NUMBERS.get(each.type, np.float32) for each in session.get_inputs()}
        cast = {name: np.asarray(value).astype(types[name], copy=False) for name, value in feed.items()}
        return dict(zip(names, session.run(names, cast), strict=True))

    def label(self, number: int) -> str:
        """The name of a class."""
        return self.labels[number] if number < len(self.labels) else str(number)

    @cached_property
    def labels(self) -> list[str]:
        """The names of classes: of the configuration, else those that Ultralytics writes into its files."""
        try:
            named = ast.literal_eval(self.session.get_modelmeta().custom_metadata_map.get("names", "{}"))
            return self.config.labels or [str(named[each]) for each in range(len(named))]
        except (ValueError, SyntaxError, KeyError, TypeError):
            return []


class Detector(_OnnxModel):
    """Boxes, in the forms of the published exports; coordinates are pixels of the input, or shares of it in DETR's.

    yolo8    (4 + classes, n): middle, sides, scores; of YOLO 8, 9, 11 and later
    yolo5    (n, 5 + classes): with the score of any object before those of classes; of YOLO 5 and 7
    boxes    (n, 6): corners, score, class; of YOLO 10, and of exports with their own suppression
    detr     `logits`, whose last class is nothing, and `pred_boxes`
    rtdetr   the same without a class for nothing; `labels`, `boxes` and `scores`; or (n, 4 + classes)

    Without `output`, two outputs that are `labels` and `boxes` are rtdetr; of others up to 1,000 rows of six are boxes,
    of more members rtdetr, more rows than members yolo5, and the rest yolo8.
    """

    kind = "detector"
    defaults = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    resize = "letterbox"

    def detect(self, image: Any, stream: str) -> dict[str, list[dict[str, Any]]]:  # noqa: ARG002 each picture alone
        """The boxes above the least confidence, without those that overlap a better one of their class."""
        tensor, across, down = self.tensor(image)
        made = self.run(self.session, {self.input: tensor, **self._more})
        corners, scores, classes = self._boxes({name: np.asarray(each, np.float32)[0] for name, each in made.items()})
        fine = np.isfinite(corners).all(axis=1) & (scores >= self.config.confidence)
        corners, scores, classes = corners[fine], scores[fine], classes[fine]
        height, width = image.shape[:2]
        corners = corners / np.float32([across * width, down * height, across * width, down * height])
        sides = np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1)
        kept: Any = range(len(sides))
        if self.form in ("yolo5", "yolo8") and len(sides):
            kept = cv2.dnn.NMSBoxesBatched(
                sides.astype(float).tolist(),
                scores.tolist(),
                classes.tolist(),
                self.config.confidence,
                self.config.overlap,
            )
        return {
            "boxes": [
                {
                    **dict(zip(("x", "y", "width", "height"), map(float, sides[each]), strict=True)),
                    "label": self.label(int(classes[each])),
                    "confidence": float(scores[each]),
                }
                for each in list(kept)[:1000]
            ]
        }

    def _prepare(self, session: Any, path: Path) -> None:
        super()._prepare(session, path)
        wide, high = self.size
        more = {"orig_target_sizes": np.array([[wide, high]]), "pixel_mask": None}
        for each in session.get_inputs()[1:]:
            if each.name not in more:
                raise Failure(f"{path}: the input {each.name} is not known; detectors take a picture alone.")
            if each.name == "pixel_mask":
                sides = (
                    side if isinstance(side, int) else own
                    for side, own in zip(each.shape[1:], (high, wide), strict=False)
                )
                more["pixel_mask"] = np.ones((1, *sides))
        self._more = {each.name: more[each.name] for each in session.get_inputs()[1:]}
        names = {each.name for each in session.get_outputs()}
        self.form = self.config.output or ("rtdetr" if {"labels", "boxes", "scores"} <= names else None)
        if self.form is None and "pred_boxes" in names:
            raise Failure("output: give detr where the last of the classes is nothing, as in DETR, or else rtdetr.")

    def _boxes(self, made: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Corners in pixels of the input, scores and numbers of classes."""
        rows = next(iter(made.values()))
        if "labels" in made:
            return made["boxes"], made["scores"], made["labels"].astype(int)
        if self.form is None:
            count, members = rows.shape
            few: Form = "boxes" if members == _FINISHED else "rtdetr"
            self.form = "yolo8" if count <= members else "yolo5" if count > _FEW else few
        if self.form == "boxes":
            return rows[:, :4], rows[:, 4], rows[:, 5].astype(int)
        if self.form == "yolo8":
            rows = rows.T
            of_classes = rows[:, 4:]
        elif self.form == "yolo5":
            of_classes = rows[:, 5:] * rows[:, 4:5]
        elif "pred_boxes" in made:
            of_classes = _likely(made["logits"], ends_with_nothing=self.form == "detr")
            rows = made["pred_boxes"] * np.float32(self.size * 2)
        else:
            of_classes = rows[:, 4:]
            rows = rows[:, :4] * np.float32(self.size * 2)
        half = rows[:, 2:4] / 2
        corners = np.concatenate([rows[:, :2] - half, rows[:, :2] + half], axis=1)
        return corners, of_classes.max(axis=1), of_classes.argmax(axis=1)


def _likely(logits: Any, *, ends_with_nothing: bool) -> Any:
    """The probabilities of classes: together with that of nothing they are 1, or each stands alone."""
    if not ends_with_nothing:
        return 1 / (1 + np.exp(-np.clip(logits, -80, 80)))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True))[:, :-1]


class Classifier(_OnnxModel):
    """The classes of a picture, the most probable first."""

    kind = "detector"

    def detect(self, image: Any, stream: str) -> dict[str, list[dict[str, Any]]]:  # noqa: ARG002 each picture alone
        """The class with the highest value, and others above the least confidence."""
        tensor, _, _ = self.tensor(image)
        values = np.asarray(next(iter(self.run(self.session, {self.input: tensor}).values())), np.float64).ravel()
        if values.min() < 0 or not math.isclose(values.sum(), 1, abs_tol=1e-3):
            exponents = np.exp(values - values.max())
            values = exponents / exponents.sum()
        order = [int(each) for each in np.argsort(-values)]
        chosen = [each for each in order if values[each] >= self.config.confidence] or order[:1]
        return {"classes": [{"label": self.label(each), "confidence": float(values[each])} for each in chosen]}


class Embedder(_OnnxModel):
    """Vectors of pictures, of the length 1."""

    kind = "embedder"

    def embed(self, images: list[Any]) -> list[list[float]]:
        """A vector for each picture, several at once where the file takes them."""
        tensors = [self.tensor(image)[0] for image in images]
        groups = [np.concatenate(tensors)] if self.batch is None else tensors
        found = np.concatenate([self._vectors(group) for group in groups])
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return [[float(each) for each in row] for row in found / np.where(lengths > 0, lengths, 1)]

    def _vectors(self, group: Any) -> Any:
        made = next(iter(self.run(self.session, {self.input: group}).values()))
        return np.asarray(made, np.float64).reshape(len(group), -1)


class Interactor(_OnnxModel):
    """Masks of clicks, by an encoder of pictures and a decoder of a published signature.

    - Segment Anything's own: `point_coords`, `point_labels`, `mask_input`, `has_mask_input`, `orig_im_size`, and
      `image_embeddings` of the encoder; answers `masks` and `iou_predictions`. Exports of SAM 2 have more embeddings,
      pictures that are stretched, and may have whole numbers in `orig_im_size` or none.
    - That of Transformers: `input_points`, `input_labels`, `input_boxes` where it takes boxes; answers `pred_masks`
      and `iou_scores`.
    """

    kind = "interactor"
    prompts: tuple[str, ...] = ("points", "box")
    resize = "letterbox"

    def __init__(self, path: Path, config: Config) -> None:
        if config.encoder is None:
            raise Failure("encoder: an interactor needs the ONNX file of its encoder in the configuration.")
        super().__init__(path, config)

    def _prepare(self, session: Any, path: Path) -> None:
        place = path.parent / str(self.config.encoder)
        self.encoder = _session(place)
        super()._prepare(self.encoder, place)
        self._takes = {each.name for each in session.get_inputs()}
        made = {each.name for each in self.encoder.get_outputs()}
        known = {"point_coords", "point_labels", "mask_input", "has_mask_input", "orig_im_size"}
        known |= {"input_points", "input_labels", "input_boxes"}
        if missing := self._takes - made - known:
            raise Failure(f"{path}: the decoder needs {min(missing)}, which the encoder does not give.")
        if "input_points" in self._takes and "input_boxes" not in self._takes:
            self.prompts = ("points",)
        if self._takes & {"high_res_feats_0", "image_embeddings.0"}:
            self.resize = "stretch"  # SAM 2

    def embed_picture(self, image: Any) -> Any:
        """What the encoder makes of a picture, by name; its size and scales."""
        tensor, across, down = self.tensor(image)
        made = self.run(self.encoder, {self.input: tensor})
        return {name: value for name, value in made.items() if name in self._takes}, image.shape[:2], (across, down)

    def segment(self, picture: Any, points: list[dict[str, Any]], box: dict[str, float] | None) -> tuple[Any, float]:
        """The mask with the highest predicted quality."""
        made, (height, width), (across, down) = picture
        places = [[each["x"], each["y"]] for each in points]
        kinds = [1.0 if each.get("positive", True) else 0.0 for each in points]
        scale = np.float32([width * across, height * down])
        alone = np.float32([[places or [[0, 0]]]]) * scale, np.float32([[kinds or [-1.0]]])
        far = [] if box is None else [box["x"] + box["width"], box["y"] + box["height"]]
        boxes = np.float32([[[box["x"], box["y"], *far]] if box else []]).reshape(1, -1, 4) * np.tile(scale, 2)
        if box is None:
            places, kinds = [*places, [0, 0]], [*kinds, -1.0]
        else:
            places, kinds = [*places, [box["x"], box["y"]], far], [*kinds, 2.0, 3.0]
        feed = {
            "point_coords": np.float32([places]) * scale,
            "point_labels": np.float32([kinds]),
            "mask_input": np.zeros((1, 1, 256, 256), np.float32),
            "has_mask_input": np.zeros(1, np.float32),
            "orig_im_size": np.float32([height, width]),
            "input_points": alone[0],
            "input_labels": alone[1],
            "input_boxes": boxes,
        }
        found = self.run(self.session, made | {name: value for name, value in feed.items() if name in self._takes})
        made = found["masks"] if "masks" in found else found["pred_masks"][0]
        masks = np.asarray(made, np.float32)[0]
        told = found.get("iou_predictions", found.get("iou_scores", np.zeros((1, len(masks)))))
        scores = np.asarray(told, np.float32).ravel()
        best = int(scores.argmax())
        return self._whole(masks[best], (height, width), (across, down)) > 0, float(np.clip(scores[best], 0, 1))

    def _whole(self, mask: Any, shape: tuple[int, int], scales: tuple[float, float]) -> Any:
        """A mask of the input in the size of the picture, as decoders give it that do not scale it themselves."""
        height, width = shape
        if mask.shape == shape:
            return mask
        full = cv2.resize(mask, self.size)
        shown = max(1, round(width * scales[0])), max(1, round(height * scales[1]))
        return cv2.resize(full[: shown[1], : shown[0]], (width, height))
