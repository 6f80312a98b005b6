"""Read CoralNet's CSV: any `.csv` of an archive with the columns Name, Row, Column and Label.

A line is a dot in the middle of its pixel. `Name` is the name of an image; other columns become attributes. Lines
without a label are points that nobody has labelled: dots without a class.
"""

from __future__ import annotations

from chalicelib.errors import BadInput
from chalicelib.formats.model import MANIFEST, Archive, Label
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    csv_lines,
    matching,
    refusal,
    stem,
    whole,
)
from chalicelib.formats.writers.science.coralnet import COLUMNS

_NEWER = {"Label code": "Label"}
"""Columns of newer files, by what they are called here."""


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    table = MediaTable(archive)
    found = [path for path in matching(archive, r".*\.csv") if path != MANIFEST]
    if not found:
        raise BadInput("CoralNet: the archive has no .csv file.")
    pictures = {base(name): name for name in archive.names()}
    for path in found:
        for place, given in csv_lines(archive, path):
            line = {_NEWER.get(name, name): value for name, value in given.items()}
            if missing := [name for name in COLUMNS if name not in line]:
                raise BadInput(f"{path}: it has no column {', '.join(missing)}; it is not CoralNet's.")
            name = base(line["Name"])
            key, frame = table.locate(stem(name)) if table.is_ours else (name, 0)
            try:
                row, column = (whole(line[each]) for each in ("Row", "Column"))
            except (ValueError, OverflowError) as error:
                yield refusal(place, str(error))
                continue
            if row < 0 or column < 0:
                yield refusal(place, f"row {row}, column {column}: pixels count from 0")
                continue
            yield from table.new(place, key, name=name, path=pictures.get(name, ""))
            more = {each: value for each, value in line.items() if each not in COLUMNS and value}
            dot = (column + 0.5, row + 0.5)
            label = Label(
                media=key, kind="dot", shape=dot, frame=frame, unit="pixel", class_name=line["Label"], attributes=more
            )
            yield Placed(place, label)
    yield from table.rest()
