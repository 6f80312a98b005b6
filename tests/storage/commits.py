"""Commits of boxes for the tests of views, snapshots and logs, and views made of them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change, Commit, Edit
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.query.columns import BY_NAME
from chalicelib.query.layout import Layout, codes
from chalicelib.query.tree import Everything, Query
from chalicelib.query.vector_codes import code
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import log
from chalicelib.storage.view.database.devices import Device, Extent
from chalicelib.storage.view.database.store import Store
from chalicelib.storage.view.deleted_definitions import DeletedDefinitions
from chalicelib.storage.view.snapshot import files as view_files
from chalicelib.storage.view.state import ViewState
from chalicelib.storage.view.view import View
from tests.query.query_rig import box, type_of, types
from tests.query.query_worlds import change_of


def put(project: int, *changes: Change, edits: list[Edit] | None = None) -> int:
    change = Transaction()
    change.log(project, 7, list(changes), edits)
    return change.run()


def boxed(number: int, attributes=None, **more) -> Change:
    return change_of("localization", box(number, attributes, **more))


def typed(number: int = 1, **dtypes: str) -> Change:
    return change_of("localization_type", type_of(LocalizationType, number, types(**dtypes), dtype="box"))


def grow(project: int, boxes: int = 5) -> None:
    """A type, then boxes, a commit each."""
    put(project, typed(n="int", g="geopos", vector="float_array"))
    for number in range(1, boxes + 1):
        put(project, boxed(number, {"n": number, "g": [8.0, number], "vector": [1.0, number]}))


def replayed(project: int, commits: list[Commit]) -> View:
    view = View(project)
    view.apply(commits)
    return view


def lose(project: int, below: int) -> None:
    """What TTL does."""
    log.forget(project, range(1, below))


def contents(view: View):
    """All that queries see of a view, whatever its columns are called."""
    rows = {}
    for kind in Kind:
        builtins = ", ".join(f'"{name}"' for name in BY_NAME[kind])
        rows[kind] = view.store.run(f'SELECT {builtins} FROM "{kind}" ORDER BY id')
        for number, slots in view.state.layout.slots[kind].items():
            for name, slot in slots.items():
                column = f"[{slot.column}, {slot.column}b]" if slot.dtype == "geopos" else slot.column
                rows[kind, number, name] = view.store.run(
                    f'SELECT {column} FROM "{kind}" WHERE type = {number} ORDER BY id'
                )
                if slot.dtype == "float_array":
                    column = codes(slot.column)
                    coded = view.store.run(f'SELECT {column} FROM "{kind}" WHERE type = {number} ORDER BY id')
                    assert coded == [(code(vector),) for (vector,) in rows[kind, number, name]]
    documents = {kind: view.documents(all_of(kind)) for kind in Kind}
    return view.seq, documents, view.definitions, rows


def all_of(kind: Kind) -> Query:
    """A query for every row of a kind."""
    return Query(kind=kind, where=Everything(), merge=False, show_deleted=True, show_all_marks=True)


def reopened(view: View, _: Path | None = None) -> View:
    """A view as a container opens it that has the snapshot of another, with no object store between them."""
    view.compress()
    view.store.documents.seal()
    engine = view.store.engine

    def opened(device: Device) -> Device:
        body = device.read(0, device.size)
        half = len(body) // 2
        extents = [Extent(half, len(body) - half, "object", half), Extent(0, half, "object", 0)]
        return engine.device(lambda _, offset, length: body[offset : offset + length], extents, len(body))

    store = Store(opened(view.store.database), opened(view.store.documents.device))
    layout = msgspec.json.decode(msgspec.json.encode(view.state.layout), type=Layout)
    definitions = view_files.definitions_of(view.project, view_files.definitions_json(view.definitions))
    lost = msgspec.json.decode(msgspec.json.encode(view.lost), type=DeletedDefinitions)
    state = ViewState(definitions, seq=view.seq, lost=lost, layout=layout, highest=dict(view.state.highest))
    return View(view.project, state, store)


def written_and_replayed(view: View, folder: Path) -> View:
    """A view made from the Parquet files of another."""
    definitions = view_files.definitions_of(view.project, view_files.definitions_json(view.definitions))
    parts = [(part, path) for part, _, path in view_files.write(view, folder)]
    return view_files.replay(definitions, view.seq, parts)
