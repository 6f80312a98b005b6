"""Media with their files: copied through this machine part by part, or referred to where they lie."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from .. import uploads
from ..failures import NOT_FOUND, NOT_PERMITTED, REFUSED, Failure
from . import source
from .move import ROWS_PER_CREATION, Move, given
from .source import Row

PAGE = 500
"""Media of one page: presigned URLs are good for a day, in which the files of a page are copied."""
MEDIA = ("name", "gid", "uid", "elemental_id", "num_frames", "fps", "codec", "width", "height", "summary_level")
SIZES = ("num_frames", "fps", "codec", "width", "height")
"""The members that are set again with the files: those of images count only then."""
ROLES = ("streaming", "archival", "audio", "image", "thumbnail", "thumbnail_gif", "attachment")
OURS = ("tator_user_sections", "svc_user_sections", "_tator")
"""How attributes begin that the service itself sets."""
FILES = "media files"


def move_media(move: Move) -> None:
    """Media, with their files, page by page; those of which a part was refused before come first."""
    types = {each["id"]: each["dtype"] for each in move.source.get_media_type_list(move.source_project)}
    query: dict[str, Any] = {"archive_lifecycle": "all"}
    if move.options.files == "copy" and not move.is_trial:
        query["presigned"] = uploads.URL_SECONDS
    refused = sorted({*move.ledger.refused("media"), *move.ledger.refused(FILES)})
    signed: Any = {"presigned": query["presigned"]} if "presigned" in query else {}
    again = [found for number in refused for found in _read_again(move, number, signed)]
    for kind in ("media", FILES):
        move.ledger.forgive(kind, refused)
    _move_page(move, again, types)
    after, is_first = int(move.ledger.fact("media after") or 0), True
    for page in source.pages(move.source, "media", move.source_project, after, PAGE, **query):
        _move_page(move, page, types, may_be_there=is_first)
        if move.is_trial:
            return
        is_first = False
        after = max(after, *(row["id"] for row in page))
        move.ledger.store_fact("media after", after)


def _read_again(move: Move, number: int, signed: Any) -> list[Any]:
    """A media that was refused before; nothing if it is gone."""
    try:
        return [move.source.get_media(number, **signed)]
    except Failure as failure:
        if failure.status != NOT_FOUND:
            raise
        return []


def _move_page(move: Move, page: list[Any], types: Mapping[int, str], *, may_be_there: bool = False) -> None:
    known = move.ledger.targets("media", (row["id"] for row in page))
    new = [row for row in page if row["id"] not in known]
    if may_be_there and not move.is_trial:
        new = [row for row in new if not _find_copy(move, row)]
    images: list[tuple[Row, Row]] = []
    others: list[tuple[Row, Row]] = []
    for row in new:
        if body := _body(move, row):
            (images if types.get(row["type"]) == "image" else others).append((row, body))
    if move.is_trial:
        move.advance("media", len(images) + len(others))
        return
    for start in range(0, len(images), ROWS_PER_CREATION):
        move.create("media", images[start : start + ROWS_PER_CREATION])
    move.parallel(lambda each: move.create("media", [each]), others)
    copies = move.ledger.targets("media", (row["id"] for row in page))
    done = move.ledger.targets(FILES, copies)
    move.parallel(
        lambda row: _move_files(move, row, copies[row["id"]]),
        [row for row in page if row["id"] in copies and row["id"] not in done],
    )


def _body(move: Move, row: Row) -> Row | None:
    target = move.ledger.target("media_type", row["type"])
    if target is None:
        move.ledger.refuse("media", row["id"], f"Its type {row['type']} was not copied.")
        return None
    body = {**given(row, MEDIA), "type": target, "md5": row.get("md5") or "", **move.author(row)}
    values = {name: value for name, value in (row.get("attributes") or {}).items() if not name.startswith(OURS)}
    body["attributes"] = {name: value for name, value in values.items() if value is not None}
    if section := move.ledger.target("section", row.get("primary_section")):
        body["section_id"] = section
    if master := move.ledger.target("section", row.get("master_section")):
        body["master_section"] = master
    return body


def _find_copy(move: Move, row: Row) -> bool:
    """Whether an interrupted run created a media and could not note it: it is found by elemental id and name."""
    if not row.get("elemental_id"):
        return False
    found = move.target.get_media_list(
        move.target_project, elemental_id=row["elemental_id"], name=row["name"], fields="id", archive_lifecycle="all"
    )
    if found:
        move.ledger.record("media", {row["id"]: found[0]["id"]})
    return bool(found)


# --- files -----------------------------------------------------------------------------------------------------------


def _move_files(move: Move, row: Row, target: int) -> None:
    """The files of one media, all in one change; what its members need waits for `move_groups`."""
    files: dict[str, list[Row]] = {}
    try:
        if move.options.files != "none":
            for role, entry in _entries(row):
                files.setdefault(role, []).append(_file(move, row["id"], target, entry))
        body: Any = given(row, SIZES)
        if files:
            body["media_files"] = files
        if body:
            move.target.update_media(target, body)
    except Failure as failure:
        if failure.status not in (REFUSED, NOT_FOUND, NOT_PERMITTED):
            raise
        move.ledger.refuse(FILES, row["id"], failure.message)
        return
    move.ledger.record(FILES, {row["id"]: target})
    move.advance(FILES, 1)


def _entries(row: Row) -> Iterator[tuple[str, Row]]:
    """The definitions of the files of a media, by role."""
    for role in ROLES:
        for entry in (row.get("media_files") or {}).get(role) or ():
            yield role, entry


def _file(move: Move, media: int, target: int, entry: Row) -> Row:
    """The definition of the copy of one file, or of a reference to it."""
    made = {name: value for name, value in entry.items() if value is not None and name not in ("bucket_id", "host")}
    if entry.get("reference_only"):
        return made
    if move.options.files == "refer":
        base = move.options.refer_to.rstrip("/")
        names = [name for name in ("path", "segment_info") if made.get(name)]
        return {**made, **{name: f"{base}/{quote(str(made[name]))}" for name in names}, "reference_only": 1}
    for name in ("path", "segment_info"):
        if made.get(name):
            made[name], size = copy_object(move, str(made[name]), f"media {media}", media_id=target)
            if name == "path":
                made["size"] = size
    return made


def copy_object(move: Move, url: str, owner: str, **where: Any) -> tuple[str, int]:
    """Copy an object by its presigned URL, part by part; parts that arrived before are not sent again.

    Args:
        move: the migration.
        url: where the object can be read.
        owner: what it belongs to at the source; with the path of the URL it names the copy in the journal.
        where: the parameters of GetUploadInfo: `media_id` or `file_id` of the target.

    Returns:
        the key of the copy, and its bytes.
    """
    journal = uploads.Journal(move.ledger.place)
    try:
        return _Copy(move, journal, url, owner, where).run()
    finally:
        journal.close()


class _Copy:
    """One object."""

    def __init__(self, move: Move, journal: uploads.Journal, url: str, owner: str, where: dict[str, Any]) -> None:
        self._move, self._journal, self._url, self._where = move, journal, url, where
        path = urlsplit(url).path
        self._name, self._file = f"{owner}|{path}|{where}", PurePosixPath(path).name

    def run(self) -> tuple[str, int]:
        """Copy it, unless an earlier run did."""
        first, size = self._move.source.read_range(self._url, 0, uploads.PART)
        part_size = max(uploads.PART, -(-size // uploads.MOST_PARTS))
        state = self._journal.get(self._name)
        if state.is_stored:
            return state.key, size
        if not state.urls or state.until - uploads.MARGIN_SECONDS < time.time():
            state = self._begin(size, part_size)
        for number in range(1, len(state.urls) + 1):
            if str(number) in state.parts:
                continue
            start = (number - 1) * state.part_size
            end = min(start + state.part_size, size)
            data = (
                first[:end]
                if number == 1 and len(first) >= end
                else self._move.source.read_bytes(self._url, start, end)
            )
            tag = self._move.target.put_bytes(state.urls[number - 1], data).headers.get("ETag", "")
            self._journal.add_part(self._name, state, number, tag)
            self._move.advance("bytes", len(data))
        if state.upload_id:
            parts = [{"PartNumber": int(number), "ETag": tag} for number, tag in state.parts.items()]
            body: Any = {"key": state.key, "upload_id": state.upload_id, "parts": parts}
            self._move.target.complete_upload(self._move.target_project, body)
        state.is_stored, state.urls = True, []
        self._journal.put(self._name, state)
        return state.key, size

    def _begin(self, size: int, part_size: int) -> uploads.UploadState:
        made = self._move.target.get_upload_info(
            self._move.target_project,
            num_parts=max(1, -(-size // part_size)),
            expiration=uploads.URL_SECONDS,
            filename=self._file,
            **self._where,
        )
        state = uploads.UploadState(
            key=made["key"],
            upload_id=made.get("upload_id") or "",
            part_size=part_size,
            urls=made["urls"],
            until=time.time() + uploads.URL_SECONDS,
        )
        self._journal.put(self._name, state)
        return state


# --- media that show others ------------------------------------------------------------------------------------------


def move_groups(move: Move) -> None:
    """Set the media that others show or join, and those of playlists, now that all media are copied."""
    if move.is_trial:
        return
    for page in source.pages(move.source, "media", move.source_project, 0, PAGE, archive_lifecycle="all"):
        for row in page:
            files: Row = row.get("media_files") or {}
            if not (files.get("ids") or files.get("concat")):
                continue
            body: Any = {}
            numbers = [*(files.get("ids") or ()), *(each["id"] for each in files.get("concat") or ())]
            known = move.ledger.targets("media", numbers)
            if lost := len(set(numbers) - known.keys()):
                move.ledger.refuse("media group", row["id"], f"{lost} of the media that it shows were not copied.")
                continue
            if files.get("ids"):
                body["multi"] = given(files, ("layout", "quality", "frameOffset"))
                body["multi"]["ids"] = [known[each] for each in files["ids"]]
            if files.get("concat"):
                body["concat"] = [{**each, "id": known[each["id"]]} for each in files["concat"]]
            _attempt_group(move, "media group", row, body)
    for row in move.source.get_section_list(move.source_project):
        if numbers := row.get("media"):
            known = move.ledger.targets("media", numbers)
            _attempt_group(move, "playlist", row, {"media_add": [known[each] for each in numbers if each in known]})


def _attempt_group(move: Move, kind: str, row: Any, body: Any) -> None:
    target = move.ledger.target("media" if kind == "media group" else "section", row["id"])
    if target is None:
        return
    update = move.target.update_media if kind == "media group" else move.target.update_section

    def change() -> int:
        update(target, body)
        return target

    move.attempt(kind, row, change)
