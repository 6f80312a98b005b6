"""KWCOCO: `data.kwcoco.json`, or one for each split, beside the pictures; else COCO (`coco.py`)."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.formats.model import Dataset, Group, Media, Sink, split_picture_path
from chalicelib.formats.writers import coco

picture_path = split_picture_path
BY_FRAMES = True
layout = coco.layout


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:
    """Write one part; see `model.Format`."""
    return coco.write(dataset, groups, sink, first, path_of=_path, file_name=split_picture_path)


def always(dataset: Dataset) -> list[str]:
    """The documents of all splits."""
    return [f"{split}.kwcoco.json" for split in dataset.splits or ("data",)]


def _path(media: Media) -> str:
    return f"{media.split or 'data'}.kwcoco.json"
