"""A frozen version for other tools: as a dataset of Hugging Face, and as one of FiftyOne.

    from limn.training import sharing

    data = sharing.huggingface(samples, frames, "Species")        # pip install datasets
    view = sharing.fiftyone(samples, frames, "Species", Path("pictures"), name="dive 1")    # pip install fiftyone

Neither library is needed by `limn`: each is imported when it is asked for. Pictures need Pillow.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..failures import library
from .frames import Frames
from .samples import Label, Sample


def huggingface(samples: Sequence[Sample], frames: Frames, attribute: str) -> Any:
    """A `datasets.Dataset` with the columns of object detection.

    Args:
        samples: those of a version, as `Samples.of` gives them.
        frames: where their pictures come from.
        attribute: the one that has the class.

    Returns:
        rows of `image`, `media`, `frame` and `objects`: lists `bbox`, of left, top, width and height in pixels, and
        `category`. Localizations that are no boxes are left out.
    """
    datasets = library("datasets")
    number, text = datasets.Value("int64"), datasets.Value("string")
    box = datasets.Sequence(datasets.Value("float32"), length=4)
    objects = {"bbox": datasets.Sequence(box), "category": datasets.Sequence(text)}
    features = datasets.Features({"image": datasets.Image(), "media": number, "frame": number, "objects": objects})
    return datasets.Dataset.from_generator(
        rows, features=features, gen_kwargs={"samples": list(samples), "frames": frames, "attribute": attribute}
    )


def rows(samples: Sequence[Sample], frames: Frames, attribute: str) -> Iterator[dict[str, Any]]:
    """The rows of `huggingface`."""
    for sample in samples:
        picture = frames.read(sample.media, sample.frame)
        height, width = picture.shape[:2]
        boxes = [label for label in sample.labels if _is_box(label)]
        yield {
            "image": {"bytes": _png(picture), "path": None},
            "media": sample.media,
            "frame": sample.frame,
            "objects": {
                "bbox": [[e["x"] * width, e["y"] * height, e["width"] * width, e["height"] * height] for e in boxes],
                "category": [_class(label, attribute) for label in boxes],
            },
        }


def fiftyone(samples: Sequence[Sample], frames: Frames, attribute: str, folder: Path, *, name: str) -> Any:
    """A `fiftyone.Dataset` over pictures that are written into a folder.

    Args:
        samples: those of a version.
        frames: where their pictures come from.
        attribute: the one that has the class.
        folder: where the pictures go; those that are there are not written again.
        name: of the dataset.

    Returns:
        samples with `ground_truth`, their boxes as detections, and `media` and `frame`.
    """
    voxel = library("fiftyone")
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for sample in samples:
        path = folder / f"{sample.media}_{sample.frame}.png"
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_bytes(_png(frames.read(sample.media, sample.frame)))
            part.replace(path)
        detections = [
            voxel.Detection(label=_class(label, attribute), bounding_box=_corners(label))
            for label in sample.labels
            if _is_box(label)
        ]
        one = voxel.Sample(filepath=str(path.resolve()), media=sample.media, frame=sample.frame)
        one["ground_truth"] = voxel.Detections(detections=detections)
        made.append(one)
    dataset = voxel.Dataset(name)
    dataset.add_samples(made)
    return dataset


def _is_box(label: Label) -> bool:
    return label.get("width") is not None and label.get("height") is not None


def _corners(label: Label) -> list[float]:
    return [label["x"], label["y"], label["width"], label["height"]]


def _class(label: Label, attribute: str) -> str:
    return str((label.get("attributes") or {}).get(attribute, ""))


def _png(picture: Any) -> bytes:
    out = io.BytesIO()
    library("PIL.Image", "pillow").fromarray(picture).save(out, "PNG")
    return out.getvalue()
