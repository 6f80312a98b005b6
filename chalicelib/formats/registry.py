"""The formats by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Literal, get_args

from chalicelib.core.values.shapes import Refinement
from chalicelib.formats import manifest
from chalicelib.formats.model import MANIFEST, Dataset, Label, Layout
from chalicelib.formats.refined import names_of

FormatName = Literal[
    "coco", "kwcoco", "yolo", "voc", "mot", "mots", "cvat", "dota", "masks", "viame", "dive", "coralnet", "fathomnet",
    "dwca", "camtrapdp", "ifdo", "biigle", "vars", "eventmeasure", "geojson", "csv", "jsonl", "parquet",
]  # fmt: skip
_PLACES = {
    **{name: name for name in ("coco", "kwcoco", "yolo", "voc", "mot", "mots", "cvat", "dota", "masks", "geojson")},
    **{
        name: f"science.{name}"
        for name in ("viame", "dive", "coralnet", "fathomnet", "dwca", "camtrapdp", "ifdo", "biigle", "eventmeasure")
    },
    "vars": "science.vars_json",
    "csv": "table:Csv",
    "jsonl": "table:JsonLines",
    "parquet": "table:Parquet",
}
"""The module of each format in `formats/writers`, and the class where it has several."""


class _Writers(Mapping[str, Any]):
    """Modules that are imported when they are used first, which spares most cold starts all of them."""

    def __getitem__(self, name: str) -> Any:
        place, _, kind = _PLACES[name].partition(":")
        module = import_module(f"chalicelib.formats.writers.{place}")
        return getattr(module, kind)() if kind else module

    def __iter__(self) -> Iterator[str]:
        return iter(get_args(FormatName))

    def __len__(self) -> int:
        return len(_PLACES)


WRITERS = _Writers()
"""What implements `model.Format`'s writing, by name."""


_ALL = frozenset(get_args(Refinement))
_HOLDS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("coco", "kwcoco"), _ALL - {"open"}),
    "cvat": _ALL - {"holes"},
    "dota": frozenset({"angle"}),
    **dict.fromkeys(("ifdo", "biigle"), frozenset({"angle", "open"})),
    **dict.fromkeys(("masks", "mots"), frozenset({"mask", "angle", "ellipse", "holes"})),
    "geojson": frozenset({"angle", "ellipse", "open", "holes"}),
    **dict.fromkeys(("csv", "jsonl", "parquet"), _ALL),
}
_YOLO_HOLDS = {
    "segment": frozenset({"angle", "ellipse"}), "obb": frozenset({"angle"}), "pose": frozenset({"skeleton"})
}  # fmt: skip


def is_simplified(name: str, dataset: Dataset, label: Label) -> bool:
    """Whether a format writes a label's basic shape without its refinements, because it cannot hold all of them."""
    held = _YOLO_HOLDS.get(dataset.task, frozenset()) if name == "yolo" else _HOLDS.get(name, frozenset())
    return label.refined is not None and not held.issuperset(names_of(label.refined))


def layout_of(name: str, dataset: Dataset, path: str) -> Layout:
    """How the sections of a file that all parts of an archive write become the file."""
    if path == MANIFEST:
        return manifest.LAYOUT
    layout: Layout = WRITERS[name].layout(dataset, path)
    return layout


def shared_files(name: str, dataset: Dataset) -> list[str]:
    """The files with a layout that every archive of a format has, also one of nothing."""
    return list(dict.fromkeys([*WRITERS[name].always(dataset), MANIFEST]))
