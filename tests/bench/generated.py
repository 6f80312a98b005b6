"""A project of any number of boxes, made in the database and not through the API: some 10 µs of processor time a row.

Random UUIDs and boxes, eight attributes, `MEDIA_EACH` boxes a media, a document each. DuckDB computes columns and
documents; Python only packs the documents.
"""

from __future__ import annotations

import itertools
import random

import msgspec
import numpy as np

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Localization
from chalicelib.core.resource import answer
from chalicelib.query.geodesy import unit_sql
from chalicelib.query.layout import place_columns
from chalicelib.storage.view.rows import DOCUMENT
from chalicelib.storage.view.view import View
from tests.bench import views as small

BATCH = 122_880
"""Rows made together: a row group of DuckDB, so that the tables are compressed in whole ones."""
COMPRESSED_EVERY = 8
"""Batches after which the tables are written to the file: uncompressed rows take memory."""
MEDIA_EACH = 1000
"""Boxes of each media."""
_MEDIA_AT_ONCE = 5000
_TIME = "TIMESTAMP '2026-01-02 03:04:05.678' + to_milliseconds(i * 731)"


def filled(rows: int) -> View:
    """A project with so many boxes."""
    commits = small.commits(1, rows, random.Random(rows))
    view = View(1)
    view.apply([next(commits)])
    media = max(1, rows // MEDIA_EACH)
    for start in range(1, media + 1, _MEDIA_AT_ONCE):
        some = [small.media(1, number) for number in range(start, min(start + _MEDIA_AT_ONCE, media + 1))]
        view.apply([small.commit_of(1, view.seq + 1, some)])
    columns = _columns(view, media)
    slots = view.state.layout.slots[Kind.LOCALIZATION][small.BOX]
    lon, lat, *vector = place_columns(slots["place"].column)
    names = ", ".join(f'"{name}"' for name in columns)
    taken = ", ".join(f'{value} AS "{name}"' for name, value in columns.items())
    unit = ", ".join(f"{value} AS {name}" for name, value in zip(vector, unit_sql(lon, lat), strict=True))
    body = document(view)
    cursor = view.store.writer
    add = view.store.documents.add_all
    for batch, start in enumerate(range(1, rows + 1, BATCH), 1):
        stop = min(start + BATCH, rows + 1)
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE made AS SELECT {taken} FROM range({start}, {stop}) r(i)")
        found = cursor.execute(f"SELECT id, encode({body}) FROM temp.made").fetchall()
        places = np.array(add([text for _, text in found], small.BOX, 0))
        cursor.register("places", {"id": np.array([number for number, _ in found]), "place": places})
        cursor.execute(
            f"INSERT INTO localization ({names}, {', '.join(vector)}, {DOCUMENT}) SELECT m.*, {unit}, p.place"
            " FROM temp.made m JOIN places p ON p.id = m.id"
        )
        cursor.unregister("places")
        if batch % COMPRESSED_EVERY == 0:
            view.compress()
    cursor.execute("DROP TABLE temp.made")
    view.state.highest[Kind.LOCALIZATION] = rows
    view.compress()
    return view


def _columns(view: View, media: int) -> dict[str, str]:
    """By column of a box, its value from the number `i`."""
    slots = view.state.layout.slots[Kind.LOCALIZATION][small.BOX]
    lon, lat, *_ = place_columns(slots["place"].column)
    return {
        "id": "i", "type": str(small.BOX), "created_by": "1", "modified_by": "1",
        "media": f"1 + (i // {MEDIA_EACH}) % {media}", "created_datetime": _TIME, "modified_datetime": _TIME,
        "frame": "i % 10000", "version": "1", "elemental_id": "uuid()::VARCHAR", "mark": "0", "latest": "true",
        "variant_deleted": "false", "x": "random()", "y": "random()", "width": "random() / 4", "height": "random() / 4",
        slots["flag"].column: "random() < 0.5", slots["count"].column: "(random() * 1000)::BIGINT",
        slots["score"].column: "random()", slots["letter"].column: "chr(97 + (random() * 4)::INT % 4)",
        slots["word"].column: "'w' || (random() * 50)::INT % 50",
        slots["label"].column: "'label ' || (random() * 2000)::INT % 2000",
        slots["seen"].column: "TIMESTAMP '2026-01-01 03:04:05' + to_days((random() * 28)::INT)",
        lon: "random() * 360 - 180", lat: "random() * 180 - 90",
    }  # fmt: skip


def document(view: View) -> str:
    """The expression of a box's document, as responses show it, from the columns of its row."""
    slots = view.state.layout.slots[Kind.LOCALIZATION][small.BOX]
    lon, lat, *_ = place_columns(slots["place"].column)
    stamp = small.STAMP
    given = {"project": 1, "created_by": 1, "created_datetime": stamp, "modified_by": 1, "modified_datetime": stamp}
    box = Localization(**given, id=1, type=small.BOX, media=1, frame=0, version=1, elemental_id="", attributes={})
    members = msgspec.json.decode(msgspec.json.encode(answer(box)))
    taken = {name: f'"{name}"' for name in ("id", "media", "frame", "x", "y", "width", "height")}
    taken["elemental_id"] = "'\"' || elemental_id || '\"'"
    for name in ("created_datetime", "modified_datetime"):
        taken[name] = f"strftime({name}, '\"%Y-%m-%dT%H:%M:%S.%gZ\"')"
    attributes = {name: slots[name].column for name in ("flag", "count", "score")}
    attributes |= {name: f"'\"' || {slots[name].column} || '\"'" for name in ("letter", "word", "label")}
    attributes["seen"] = f"strftime({slots['seen'].column}, '\"%Y-%m-%dT%H:%M:%S.000Z\"')"
    attributes["place"] = f"'[' || {lon} || ',' || {lat} || ']'"
    for name, value in members.items():
        taken.setdefault(name, "'" + msgspec.json.encode(value).decode().replace("'", "''") + "'")
    taken["attributes"] = _object(attributes)
    return _object(taken)


def _object(members: dict[str, str]) -> str:
    """The expression of a JSON object, from the expressions of its members' JSON."""
    pairs = (f"'{sign}\"{name}\":', {value}" for sign, (name, value) in zip(_signs(), members.items(), strict=False))
    return f"concat({', '.join(pairs)}, '}}')"


def _signs() -> itertools.chain[str]:
    return itertools.chain("{", itertools.repeat(","))
