"""The steps of an export: plan → parts → join, each a queue message.

    plan    find what is exported and divide it into parts; a message for each
    part    read its rows, write its annotations, store them as an object; the last sends the join. Where it has
            pictures, they are drawn first: the part is put off until a function with FFmpeg has stored them
    join    put the archive together by copies inside the store, over as many messages as it takes

A version of a dataset takes the first two steps; its parts are Parquet files, which are kept (`frozen.py`).

Every step may crash between any two calls and run again, also twice at once: the record says whether work is left, the
rows are those of one commit, objects are overwritten with the same bytes, and a part counts once.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from chalicelib.core.log.commits import Note
from chalicelib.core.models.datasets import DATASET, EXPORT, ExportWork, StoredExport, StoredVersion
from chalicelib.core.records import RecordKind
from chalicelib.core.values.frames import is_beyond
from chalicelib.errors import NotFound, reason_of
from chalicelib.formats import manifest, registry
from chalicelib.formats.model import Dataset, Group, Layout, Media, Section
from chalicelib.formats.registry import WRITERS, is_simplified
from chalicelib.formats.writers.archive import Content, PartArchive
from chalicelib.queues import send, send_many
from chalicelib.resources.exports import frozen, pictures, places, planning
from chalicelib.resources.exports.frozen import Prepared, Written
from chalicelib.resources.exports.messages import (
    DrawPictures,
    JoinExport,
    PlanExport,
    RemoveExport,
    WorkKind,
    WritePart,
)
from chalicelib.resources.exports.rows import PartPlan, order_classes
from chalicelib.resources.exports.schemas import ExportSpec
from chalicelib.resources.exports.selection import scope_of, seen_now, view_of
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import outcomes, pieces
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import log
from chalicelib.storage.objects import objects

STRIDE = 100_000_000
"""Numbers that a part may use for its images, labels and tracks."""
PROBLEMS = "problems.csv"
"""The media that lack pictures, or labels on frames that they do not have."""
KINDS: dict[str, RecordKind[Any]] = {"export": EXPORT, "dataset": DATASET}
_encode = msgspec.json.Encoder().encode


_written = msgspec.json.Decoder(Written).decode


def at_work(uid: str, kind: WorkKind) -> Any:
    """The record if it has work left."""
    found = records.maybe(KINDS[kind], uid)
    return None if found is None or found.is_finished else found


def exists(message: PlanExport | WritePart | DrawPictures | RemoveExport) -> bool:
    """Whether the record of an export or a version is stored."""
    return records.maybe(KINDS[_kind_of(message)], message.uid) is not None


def _kind_of(message: PlanExport | WritePart | DrawPictures | RemoveExport) -> WorkKind:
    return "export" if isinstance(message, DrawPictures) else message.kind


def plan(message: PlanExport) -> None:
    """Divide the work into parts and queue them. Raises BadInput, NotFound, Forbidden: it cannot be done."""
    work = at_work(message.uid, message.kind)
    if work is None:
        remove_leftovers(message)
        return
    if not work.parts:
        work = _make_plan(work, message.kind)
    if work is None:
        return
    missing = [index for index in range(work.parts) if not pieces.is_done(work.uid, index)]
    if missing:
        send_many(
            settings().dataset_queue_url,
            [WritePart(uid=work.uid, index=index, kind=message.kind, project=work.project) for index in missing],
        )
    else:
        _continue(work, message.kind)


def _make_plan(work: Any, kind: WorkKind) -> Any:
    spec = places.spec_of(work)
    if isinstance(work, StoredExport) and work.dataset:
        header, found = frozen.plan(spec, work)
    else:
        reader = planning.reader_of(spec, view_of(work), scope_of(work))
        header = planning.header_of(spec, work, reader)
        found = list(planning.parts(spec, reader))
    scope = scope_of(work)
    if kind == "export" and scope.terms(work.project) and (work.dataset or log.last(work.project) != work.seq):
        header = _with_seen_classes(header, work, spec, found)
    offsets, lines = [0], []
    for part in found:
        lines.append(_encode(part))
        offsets.append(offsets[-1] + len(lines[-1]))
    if not lines:  # a part without media: an export of nothing is an archive, too
        lines.append(_encode(PartPlan(media=[])))
        offsets.append(len(lines[0]))
    objects.write(places.parts_key(work), b"".join(lines))
    objects.write(places.plan_key(work), _encode(Prepared(header=header, offsets=offsets)), "application/json")

    def edit(current: Any) -> Any:
        if current.parts or current.is_finished:
            return None
        return msgspec.structs.replace(current, status="running", parts=len(lines))

    try:
        return records.edit(KINDS[kind], work.uid, edit)
    except NotFound:
        clean_up(work, whole=True)
        return None


def _with_seen_classes(header: Dataset, work: Any, spec: ExportSpec, found: Sequence[PartPlan]) -> Dataset:
    """The header with the classes of those rows of an earlier commit alone that the user may see now."""
    names: set[str] = set()
    for part in found:
        for group, _ in _groups(work, spec, part):
            names.update(label.class_name for label in group.labels)
            names.update(state.class_name for state in group.states if state.association == "track")
    order = (spec.classes.order if spec.classes else None) or ()
    return msgspec.structs.replace(header, classes=order_classes(names & {*header.classes}, order))


def find_plan(work: ExportWork) -> Prepared:
    """The plan."""
    return frozen.prepared(objects.read(places.plan_key(work)))


def write(message: WritePart) -> None:
    """Write one part, and after the last one send the join. Raises BadInput, NotFound, Forbidden: it cannot be done."""
    work = at_work(message.uid, message.kind)
    if work is None or not work.parts:
        remove_leftovers(message)
        return
    if not pieces.is_done(work.uid, message.index):
        spec, prepared = places.spec_of(work), find_plan(work)
        start, stop = prepared.offsets[message.index : message.index + 2]
        part = frozen.part_plan(objects.read_range(places.parts_key(work), start, stop - start))
        groups = _groups(work, spec, part)
        if message.kind == "dataset":
            written = frozen.write(work, groups, prepared.header, message.index)
        elif spec.frames != "none" and not message.has_pictures:
            objects.write(places.orders_key(work, message.index), pictures.orders(work, scope_of(work), groups))
            send(
                settings().transcode_queue_url,
                DrawPictures(uid=work.uid, index=message.index, project=work.project),
            )
            _forget_cancelled(work, message.kind)
            return
        else:
            with tempfile.TemporaryFile() as out:
                written = _write_part(work, spec, prepared.header, groups, message.index, out)
                out.seek(0)
                objects.write(places.part_key(work, message.index), out)
        pieces.finish(work.uid, message.index, _encode(written))
    if not _forget_cancelled(work, message.kind) and pieces.count_of_group(work.uid, 0) >= work.parts:
        _continue(work, message.kind)


def _forget_cancelled(work: ExportWork, kind: WorkKind) -> bool:
    """Remove what was written after the cleanup of work that was cancelled meanwhile; whether it was."""
    if at_work(work.uid, kind) is not None:
        return False
    clean_up(work, whole=True)
    return True


def draw(message: DrawPictures) -> None:
    """Draw the pictures of a part, and have the part written. Raises Unavailable: the store does not answer."""
    work = at_work(message.uid, "export")
    if work is None:
        remove_leftovers(message)
        return
    spec = places.spec_of(work)
    with tempfile.TemporaryFile() as out:
        ordered = objects.read(places.orders_key(work, message.index))
        pictures.draw(spec, ordered, WRITERS[spec.format].picture_path, out)
        out.seek(0)
        objects.write(places.pictures_key(work, message.index), out)
    part = WritePart(uid=work.uid, index=message.index, project=work.project, has_pictures=True)
    send(settings().dataset_queue_url, part)
    _forget_cancelled(work, "export")


def _write_part(
    work: StoredExport, spec: ExportSpec, header: Dataset, found: Iterator[tuple[Group, int]], index: int, out: Any
) -> Written:
    module = WRITERS[spec.format]
    archive = PartArchive(out, lambda path: layout_of(spec, header, path))
    counts = {"labels": 0, "interpolated": 0, "left_out": 0, "simplified": 0, "media": 0}

    def groups() -> Iterator[Group]:
        for group, lost in found if spec.frames == "none" else _with_pictures(work, index, archive):
            counts["labels"] += len(group.labels)
            counts["interpolated"] += group.interpolated
            counts["left_out"] += lost
            counts["simplified"] += sum(is_simplified(spec.format, header, label) for label in group.labels)
            counts["media"] += group.is_first
            if group.beyond:
                _add_problem(archive, group.media, f"labels left out whose frames are not in the video: {group.beyond}")
            yield group

    first = index * STRIDE + 1
    left_out = module.write(header, groups(), archive, first)
    content = archive.finish()
    offset = out.tell()
    out.write(_encode(content))
    return Written(
        labels=counts["labels"] - left_out,
        interpolated=counts["interpolated"],
        left_out=counts["left_out"] + left_out,
        simplified=counts["simplified"],
        media=counts["media"],
        offset=offset,
        length=out.tell() - offset,
    )


def _groups(work: Any, spec: ExportSpec, part: PartPlan) -> Iterator[tuple[Group, int]]:
    """The media of a part with their rows, and with the frames whose pictures are wanted where that is every n-th."""
    scope = scope_of(work)
    if isinstance(work, StoredExport) and work.dataset:
        found = frozen.groups(spec, work, part)
    else:
        found = planning.reader_of(spec, view_of(work), scope).groups(part)
    for group, lost in found:
        seen = seen_now(group, work.project, scope)
        if seen is not None:
            within = _within(seen) if isinstance(work, StoredExport) else seen
            yield (_every(spec, part, within) if spec.frames == "every" else within), lost + within.beyond


def _within(group: Group) -> Group:
    """The group without labels on frames that its media does not have; a version of a dataset keeps them."""
    if not any(is_beyond(label.frame, [group.media.frames]) for label in group.labels):
        return group
    labels = [label for label in group.labels if not is_beyond(label.frame, [group.media.frames])]
    return msgspec.structs.replace(group, labels=labels, beyond=len(group.labels) - len(labels))


def _add_problem(archive: PartArchive, media: Media, problem: str) -> None:
    archive.append(PROBLEMS, "rows", manifest.line((media.key, media.name, problem)))


def _every(spec: ExportSpec, part: PartPlan, group: Group) -> Group:
    stop = group.media.frames if part.stop is None else min(part.stop, group.media.frames)
    step = spec.every or 1
    start = -(-part.start // step) * step
    return msgspec.structs.replace(group, pictures=list(range(start, stop, step)))


def _with_pictures(work: StoredExport, index: int, archive: PartArchive) -> Iterator[tuple[Group, int]]:
    """The groups of a part with the pictures that they have, each after its pictures were added to the archive."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pictures"
        objects.download(places.pictures_key(work, index), path)
        with path.open("rb") as drawn:
            for each in pictures.read(drawn, partial(archive.add, stored=True)):
                if each.problem:
                    _add_problem(archive, each.group.media, each.problem)
                yield each.group, each.lost


def layout_of(spec: ExportSpec, header: Dataset, path: str) -> Layout:
    """The layout of a file that all parts write."""
    if path == PROBLEMS:
        return manifest.line(("media", "name", "problem")), Section("rows")
    return registry.layout_of(spec.format, header, path)


def _continue(work: ExportWork, kind: WorkKind) -> None:
    """Finish a version, or send the join of an export."""
    if kind == "dataset":
        objects.write(places.counts_key(work), _encode(results(work)), "application/json")
        finish(work, kind, size=sum(objects.size(key) or 0 for key in objects.under(places.rows_prefix(work))))
    else:
        send(settings().dataset_queue_url, JoinExport(uid=work.uid, kind=kind))


def results(work: ExportWork) -> list[Written]:
    """The results of all parts, in order."""
    found = pieces.results(work.uid)
    return [_written(found[index]) for index in sorted(found)]


def contents(work: ExportWork) -> list[Content]:
    """WorkKind is in the archives of all parts, in order."""
    decode = msgspec.json.Decoder(Content).decode
    return [
        decode(objects.read_range(places.part_key(work, index), each.offset, each.length))
        for index, each in enumerate(results(work))
    ]


def finish(work: ExportWork, kind: WorkKind, size: int) -> None:
    """Mark the work as done, and remove what only its steps need."""
    totals = frozen.numbers_of(results(work))

    def edit(current: Any) -> Any:
        if current.is_finished:
            return None
        return msgspec.structs.replace(current, status="succeeded", size=size, **totals)

    with contextlib.suppress(NotFound):  # cancelled during the last step
        records.edit(KINDS[kind], work.uid, edit, also=note_end)
    clean_up(work, whole=records.maybe(KINDS[kind], work.uid) is None)


def note_end(change: Transaction, _before: ExportWork, after: ExportWork) -> None:
    """Add the event of the end of an export or a version: `export.done`, which its maker alone sees, `dataset.done`."""
    if after.is_finished:
        data = {"status": after.status, "name": after.name, "seq": after.seq, "message": after.message}
        if isinstance(after, StoredExport):
            data["format"] = after.format
            note = Note(type="export.done", kind="export", id=after.uid, reader=after.user, data=data)
        else:
            note = Note(type="dataset.done", kind="dataset", id=after.uid, data=data)
        change.add_note(after.project, after.user, note)


def fail(uid: str, kind: WorkKind, reason: Exception) -> None:
    """Record why the work failed, and remove what it made; work that succeeded keeps its result."""
    work = records.maybe(KINDS[kind], uid)
    if work is None:
        return
    message = reason_of(reason)

    def edit(current: Any) -> Any:
        return None if current.is_finished else msgspec.structs.replace(current, status="failed", message=message)

    with contextlib.suppress(NotFound):
        work = records.edit(KINDS[kind], uid, edit, also=note_end)
    if work.status != "succeeded":
        clean_up(work, whole=True, is_kept=True)


def reopen(uid: str, kind: WorkKind) -> None:
    """Restart an export or a version that failed; others are unchanged."""
    outcomes.reopen(KINDS[kind], uid, message="", parts=0, upload="")


def remove_leftovers(message: PlanExport | WritePart | DrawPictures | RemoveExport) -> None:
    """Remove the objects and rows of an export or a version that has no record. Idempotent."""
    if message.project and not exists(message):
        objects.remove(list(objects.under(places.folder_of(_kind_of(message), message.project, message.uid))))
        pieces.remove(message.uid)


def clean_up(work: ExportWork, *, whole: bool, is_kept: bool = False) -> None:
    """Remove the objects and rows of the steps; with `whole` the result as well. Idempotent.

    Where the record is kept, what was asked for stays with it, from which the work can begin anew.
    """
    if work.upload and whole and work.status != "succeeded":
        objects.abort(places.archive_key(work), work.upload)
    kept = {places.archive_key(work), places.plan_key(work), places.spec_key(work)}
    if isinstance(work, StoredVersion):
        kept |= {places.parts_key(work), places.counts_key(work)}
    rows = places.rows_prefix(work)
    if whole:
        kept = {places.spec_key(work)} if is_kept else set()
    doomed = [key for key in objects.under(places.folder(work)) if not (key in kept or (not whole and rows.holds(key)))]
    if doomed:
        objects.remove(doomed)
    pieces.remove(work.uid)
