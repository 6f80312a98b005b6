"""The formats by name."""

from __future__ import annotations

from typing import Any, Literal

from chalicelib.formats import coco, cvat, fathomnet, geojson, mot, voc, yolo
from chalicelib.formats.table import Csv, JsonLines, Parquet

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
