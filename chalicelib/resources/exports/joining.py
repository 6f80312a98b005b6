"""The join of an export: one zip of the objects of its parts, by a multipart upload.

What is large is copied inside the store; what is small is read and sent together, for a part of an upload has at least
5 MB. How the archive is divided into parts of the upload follows from the contents alone, so that a step that is
repeated makes the same ones, and goes on after those that are there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec
from msgspec import Struct

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.datasets import EXPORT, StoredExport
from chalicelib.errors import NotFound, TooLarge
from chalicelib.formats.registry import shared_files
from chalicelib.formats.writers import archive
from chalicelib.formats.writers.archive import Directory, Piece, Range, length_of
from chalicelib.queues import send
from chalicelib.resources.exports import places, steps
from chalicelib.resources.exports.messages import JoinExport
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import pieces
from chalicelib.storage.objects import objects

GATHERED = 8 * 1024 * 1024
"""Bytes of small pieces that are sent together."""
COPIED = 256 * 1024 * 1024
"""Most bytes of one copy."""
MOST_UPLOADED = 10_000
"""Parts of a multipart upload, S3's limit."""
PIECES_PER_BATCH = 8
SPARE = 120.0
"""Seconds that must be left in an invocation for the next parts of the upload."""
_JOINED = 1
"""The group of `pieces` that counts parts of the upload."""


class UploadPart(Struct, frozen=True):
    """A part of the upload: its pieces, in order. A single range of 5 MB or more is copied by the store."""

    pieces: tuple[Piece, ...]

    @property
    def length(self) -> int:
        """Its bytes."""
        return sum(map(length_of, self.pieces))


def join(message: JoinExport, seconds_left: Callable[[], float]) -> None:
    """Join the parts for as long as there is time, then go on with another message.

    Raises:
        TooLarge: the archive would have more parts than an upload may.
    """
    export = records.maybe(EXPORT, message.uid)
    if export is None:
        return
    if export.is_finished:
        steps.clean_up(export, whole=False)
        return
    key = places.archive_key(export)
    parts = upload_parts(_pieces(export))
    size = sum(part.length for part in parts)
    if len(parts) == 1:
        objects.write(key, _body(export, parts[0]), "application/zip")
    else:
        if len(parts) > MOST_UPLOADED:
            limit = f"The archive would have {size:,} bytes in {len(parts)} pieces; {MOST_UPLOADED} are possible."
            raise TooLarge(f"{limit} Export fewer media at once.")
        export = _begin_upload(export, key)
        if export is None or not _send_parts(export, key, parts, seconds_left):
            if export is not None:
                following = msgspec.structs.replace(message, turn=message.turn + 1)
                send(settings().dataset_queue_url, following)
            return
        etags = pieces.results(export.uid, group=_JOINED)
        listed = [{"ETag": etags[number].decode(), "PartNumber": number + 1} for number in range(len(parts))]
        objects.complete(key, export.upload, listed)
    steps.finish(export, "export", size)


def _pieces(export: StoredExport) -> list[Piece]:
    """The archive, in order."""
    spec, header, contents = places.spec_of(export), steps.find_plan(export).header, steps.contents(export)
    named = (fragment.path for content in contents for fragment in content.fragments)
    paths = dict.fromkeys([*shared_files(spec.format, header), *named])
    return archive.plan(contents, {path: steps.layout_of(spec, header, path) for path in paths})


def upload_parts(found: Sequence[Piece]) -> list[UploadPart]:
    """The parts of the upload; each but the last has at least 5 MB."""
    made: list[UploadPart] = []
    held: list[Piece] = []
    size = 0

    def hold(piece: Piece, enough: int) -> None:
        nonlocal size
        held.append(piece)
        size += length_of(piece)
        if size >= enough:
            close()

    def close() -> None:
        nonlocal size
        made.append(UploadPart(tuple(held)))
        held.clear()
        size = 0

    for piece in found:
        if not isinstance(piece, Range):
            hold(piece, GATHERED)
            continue
        offset, end = piece.offset, piece.offset + piece.length
        while offset < end:
            left = end - offset
            if left < objects.SMALLEST_PART:
                hold(Range(piece.part, offset, left), GATHERED)
                break
            if size >= objects.SMALLEST_PART:
                close()
            length = min(left, COPIED) if not held else objects.SMALLEST_PART - size
            hold(Range(piece.part, offset, length), objects.SMALLEST_PART)
            offset += length
    if held or not made:
        close()
    return made


def _begin_upload(export: StoredExport, key: ObjectKey) -> StoredExport | None:
    """The export with an upload; None if it was cancelled. Of two uploads that begin at once, one is aborted."""
    if export.upload:
        return export
    upload = objects.begin(key)

    def edit(current: StoredExport) -> StoredExport | None:
        return None if current.upload else msgspec.structs.replace(current, upload=upload)

    try:
        begun: StoredExport = records.edit(EXPORT, export.uid, edit)
    except NotFound:
        objects.abort(key, upload)
        return None
    if begun.upload != upload:
        objects.abort(key, upload)
    return begun


def _send_parts(
    export: StoredExport, key: ObjectKey, parts: Sequence[UploadPart], seconds_left: Callable[[], float]
) -> bool:
    """Send the parts of the upload that are not there yet; False if time ran out before the last."""
    done = pieces.results(export.uid, group=_JOINED)
    missing = [number for number in range(len(parts)) if number not in done]

    def send_one(number: int) -> None:
        part = parts[number]
        first = part.pieces[0]
        if len(part.pieces) == 1 and isinstance(first, Range):
            source = places.part_key(export, first.part)
            etag = objects.copy_part(key, export.upload, number + 1, source, (first.offset, first.length))
        else:
            etag = objects.put_part(key, export.upload, number + 1, _body(export, part))
        pieces.finish(export.uid, number, etag.encode(), group=_JOINED)

    with ThreadPoolExecutor(PIECES_PER_BATCH, thread_name_prefix="join") as pool:
        for start in range(0, len(missing), PIECES_PER_BATCH):
            if start and seconds_left() < SPARE:
                return False
            for _ in pool.map(send_one, missing[start : start + PIECES_PER_BATCH]):
                pass
    return True


def _body(export: StoredExport, part: UploadPart) -> bytes:
    """The bytes of a part of the upload."""

    def read(piece: Piece) -> bytes:
        if isinstance(piece, bytes):
            return piece
        data = objects.read_range(places.part_key(export, piece.part), piece.offset, piece.length)
        return archive.move_directory(data, piece.base) if isinstance(piece, Directory) else data

    return b"".join(map(read, part.pieces))
