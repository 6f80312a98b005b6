"""The formats by name."""

from __future__ import annotations

from typing import Any, Literal

from chalicelib.formats import manifest
from chalicelib.formats.model import MANIFEST, Dataset, Layout
from chalicelib.formats.writers import coco, cvat, fathomnet, geojson, mot, voc, yolo
from chalicelib.formats.writers.table import Csv, JsonLines, Parquet

FormatName = Literal["coco", "yolo", "voc", "mot", "cvat", "fathomnet", "geojson", "csv", "jsonl", "parquet"]
WRITERS: dict[str, Any] = {
    "coco": coco,
    "yolo": yolo,
    "voc": voc,
    "mot": mot,
    "cvat": cvat,
    "fathomnet": fathomnet,
    "geojson": geojson,
    "csv": Csv(),
    "jsonl": JsonLines(),
    "parquet": Parquet(),
}
"""What implements `model.Format`'s writing, by name."""


def layout_of(name: str, dataset: Dataset, path: str) -> Layout:
    """How the sections of a file that all parts of an archive write become the file."""
    if path == MANIFEST:
        return manifest.LAYOUT
    layout: Layout = WRITERS[name].layout(dataset, path)
    return layout


def shared_files(name: str, dataset: Dataset) -> list[str]:
    """The files with a layout that every archive of a format has, also one of nothing."""
    return list(dict.fromkeys([*WRITERS[name].always(dataset), MANIFEST]))
