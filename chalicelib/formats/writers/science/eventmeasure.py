"""SeaGIS EventMeasure: `annotations_Points.txt`, the table of points of a database export.

A line is a dot, or a box as its top left corner with RectWidth and RectHeight, in continuous pixels; polygons become
boxes. Frames count from 0, Time is in minutes from the begin of the video. The class is Genus and Species, or Family.
An attribute with the name of a column fills it, of the label before that of its media. `limn`, a column after those of
EventMeasure, holds the rest as JSON, and which cells are not attributes of the label.
Lines, and labels of media of unknown size, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from chalicelib.core.text import csv_cells
from chalicelib.formats import manifest
from chalicelib.formats.model import (
    Dataset,
    Group,
    Label,
    Media,
    Section,
    Sink,
    State,
    box_of,
    fixed_files,
    fixed_layout,
    in_pixels,
)
from chalicelib.formats.model import split_picture_path as picture_path
from chalicelib.formats.writers.science import terms
from chalicelib.formats.writers.science.vars_json import more_of

__all__ = ["BY_FRAMES", "always", "layout", "picture_path", "write"]
BY_FRAMES = True
FILE = "annotations_Points.txt"
_PLACE = ("Filename", "Frame", "ImageCol", "ImageRow", "RectWidth", "RectHeight")
_NAME = ("Genus", "Species")
COLUMNS = (
    *("OpCode", "PointIndex", "Filename", "Frame", "Time", "Period", "PeriodTime", "ImageCol", "ImageRow"),
    *("RectWidth", "RectHeight", "Family", "Genus", "Species", "Code", "Number", "Stage", "Activity", "Comment"),
    *("Attribute9", "Attribute10", "limn"),
)
TERMS = tuple(name for name in COLUMNS if name not in (*_PLACE, *_NAME, "PointIndex", "limn"))
"""Columns that attributes fill."""
_SPACES = str.maketrans("\t\r\n", "   ")


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:
    """Write one part; see `model.Format`."""
    classes, left_out = set(dataset.classes), 0
    for group in groups:
        media = group.media
        manifest.write(group, sink)
        waiting = {state.key: state for state in group.states if state.association == "track"}
        for label in group.labels:
            if label.kind == "line" or label.class_name not in classes or not (media.width and media.height):
                left_out += 1
                continue
            state = waiting.pop(label.track, None) if label.track is not None else None
            sink.append(FILE, "rows", _line(_cells(dataset, media, label, state, first)))
            first += 1
    return left_out


layout = fixed_layout("\t".join(COLUMNS).encode() + b"\n", Section("rows"))
always = fixed_files(FILE)


def _cells(dataset: Dataset, media: Media, label: Label, state: State | None, number: int) -> dict[str, str]:
    taxon = dataset.taxa.get(label.class_name, {})
    given, rest = terms.split_terms(TERMS, label.attributes)
    found = {"OpCode": media.key, "Number": 1, "Code": taxon.get("AphiaID")}
    if media.is_video and media.fps:
        found["Time"] = label.frame / media.fps / 60
    found |= terms.split_terms(TERMS, media.attributes)[0]
    derived = {name: _cell(value) for name, value in found.items() if name not in given}
    genus, species, family = map(_cell, _taxon(label.class_name, str(taxon.get("rank") or "")))
    place = (media.name, label.frame, *box_of(in_pixels(label, media)))
    if family:
        derived["Family"] = family
        given.pop("Family", None)
    more = {**more_of(media, label, state), "attributes": rest, "derived": derived}
    if label.kind == "poly":
        more["type"] = ""
    names = {name.casefold(): name for name in label.attributes}
    more["names"] = {term: names[term.casefold()] for term in given}
    if class_of(genus, species, family) != label.class_name:
        more["class"] = label.class_name
    cells = {**{name: _cell(value) for name, value in given.items()}, **derived}
    cells |= {name: _cell(value) for name, value in zip(_PLACE, place, strict=True)}
    cells |= {"PointIndex": str(number), "Genus": genus, "Species": species}
    return {**cells, "limn": msgspec.json.encode(more).decode()}


def class_of(genus: str, species: str, family: str) -> str:
    """The name of the class in the cells of a line: genus and species, or else the family."""
    return " ".join(csv_cells.restore(each) for each in (genus, species) if each) or csv_cells.restore(family)


def _taxon(name: str, rank: str) -> tuple[str, str, str]:
    """Genus, species and family of a class: a family by its rank or its ending (ICZN 29.2), else genus and species."""
    genus, _, species = name.partition(" ")
    if not species and (rank.casefold() == "family" or genus.endswith("idae")):
        return "", "", genus
    return genus, species, ""


def _cell(value: Any) -> str:
    """A value as it is written and read: without space at its ends, tabs and ends of lines as spaces."""
    return "" if value is None else str(manifest.cell(value)).translate(_SPACES).strip()


def _line(cells: Mapping[str, str]) -> bytes:
    return "\t".join(cells.get(name, "") for name in COLUMNS).encode() + b"\n"
