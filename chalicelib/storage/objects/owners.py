"""Which objects a media may name, and the notes needed to delete objects that several media share.

    clones#<project>, <media>|<clone>    the files of that clone may be stored in the folder of that media; `doc` is
                                         the time of the note, which precedes the clone
    released#<project>, <uuid>           keys that may no longer be named; `doc` lists them
    released#<project>, <time>|<uuid>    keys that will be named soon, or never after a crash: checked from then on

Whether an object is still needed follows from the documents that may name it. A document may hold any text as
a key, since older releases stored unchecked values: `authorize` gives the keys among the texts that a media may name,
which are those in its own folder, those of objects in registered buckets that it was made to refer to
(`references.py`), and both of media that a note says it is a clone of.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.models.entities import STRUCT_OF, File, Media
from chalicelib.core.records import padded
from chalicelib.core.resource import Timestamp, now
from chalicelib.errors import BadInput, Forbidden
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.tables import EntityRow, RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import references

_ROWS_PER_READ = 100
_KNOWN_PROJECTS = 4096
_encode = msgspec.json.encode
_organizations: dict[int, int] = {}
"""The organization of each project seen by this process: it never changes, and ids are never reused."""


class Named(NamedTuple):
    """A key in the document of a media, not authorized yet."""

    project: int
    media: int
    path: str


def organization_of(project: int) -> int | None:
    """The organization of a project; None where the project does not exist."""
    if project not in _organizations:
        found = records.maybe(PROJECT, project)
        if found is None:
            return None
        if len(_organizations) >= _KNOWN_PROJECTS:
            _organizations.clear()
        _organizations[project] = found.organization
    return _organizations[project]


def authorize(media: Media, paths: Iterable[str]) -> dict[str, ObjectKey]:
    """The keys that a media may name among the texts of its document, by text."""
    found = authorize_many(Named(media.project, media.id, path) for path in paths)
    return {named.path: key for named, key in found.items()}


def authorize_attachment(media: Media, name: str) -> ObjectKey | None:
    """The key of an attachment by its name; None where there is none that belongs to the media."""
    attached = (media.media_files and media.media_files.attachment) or []
    path = next((each.path for each in attached if each.name == name), "")
    return authorize(media, [path]).get(path) if path else None


def authorize_many(named: Iterable[Named]) -> dict[Named, ObjectKey]:
    """The same for several media; the notes of clones are read in one call."""
    found: dict[Named, ObjectKey] = {}
    foreign: dict[tuple[str, str], list[Named]] = {}
    for each in dict.fromkeys(named):
        owner = key_forms.owner_of(each.path)
        if owner is None or owner[1] != "media":
            continue
        project, _, media = owner
        if (project, media) == (each.project, each.media):
            if key := _media_key(each.path, project, media, organization_of(project)):
                found[each] = key
        else:
            row = f"clones#{project}", f"{padded(media)}|{padded(each.media)}"
            foreign.setdefault(row, []).append(each)
    rows = list(foreign)
    for start in range(0, len(rows), _ROWS_PER_READ):
        for note in RecordRow.batch_get(rows[start : start + _ROWS_PER_READ], consistent_read=True):
            for each in foreign[note.pk, note.sk]:
                project, _, media = key_forms.owner_of(each.path) or (0, "", 0)
                # the project of the original may be purged while its clones need its objects
                home = organization_of(project) or key_forms.home_of(each.path)
                if key := _media_key(each.path, project, media, home):
                    found[each] = key
    return _drop_unnoted(found)


def _drop_unnoted(found: dict[Named, ObjectKey]) -> dict[Named, ObjectKey]:
    """Those of some keys that are no references, or are noted to be of their media."""
    wanted: defaultdict[tuple[int, int], dict[ObjectKey, int]] = defaultdict(dict)
    for key in found.values():
        if key.is_reference:
            project, _, media = key_forms.owner_of(key.path) or (0, "", 0)
            wanted[project, key_forms.bucket_of(key.path) or 0][key] = media
    noted: set[ObjectKey] = set()
    for place, media_of in wanted.items():
        known = references.read(*place, (key.name for key in media_of))
        noted |= {key for key, media in media_of.items() if key.name in known and known[key.name].media == media}
    return {each: key for each, key in found.items() if not key.is_reference or key in noted}


def authorize_file(file: File) -> ObjectKey | None:
    """The key of a File's object; None where it has none, or where the key is outside the File's folder."""
    organization = organization_of(file.project)
    if not file.path or organization is None:
        return None
    try:
        return object_keys.authorize_file_key(file.path, organization, file.project, file.id)
    except Forbidden:
        return None


def _media_key(path: str, project: int, media: int, organization: int | None) -> ObjectKey | None:
    if organization is None:
        return None
    is_reference = key_forms.is_reference(path)
    authorize = object_keys.authorize_reference if is_reference else object_keys.authorize_media_key
    try:
        return authorize(path, organization, project, media)
    except Forbidden:
        return None


def _note_key(project: int, path: str) -> ObjectKey | None:
    """A key in a note: of a media, of a File, or of an input of a job of the project."""
    organization = organization_of(project)
    if organization is not None and path.startswith(f"{organization}/{project}/jobs/"):
        return object_keys.listed(object_keys.project_prefix(organization, project), path)
    owner = key_forms.owner_of(path)
    home = (organization_of(owner[0]) or key_forms.home_of(path)) if owner else None
    if owner is None or home is None:
        return None
    try:
        return object_keys.authorize_project_key(path, home, owner[0])
    except (BadInput, Forbidden):
        return None


def share(pairs: Iterable[tuple[int, int, int]]) -> None:
    """Note clones before they are created: (project, media that owns the folder, clone)."""
    with RecordRow.batch_write() as rows:
        for project, media, clone in dict.fromkeys(pairs):
            rows.save(RecordRow(f"clones#{project}", f"{padded(media)}|{padded(clone)}", doc=_encode(now())))


def clones(project: int, media: int) -> dict[int, Timestamp]:
    """The clones whose files may be in the folder of a media, and the times of their notes."""
    found = RecordRow.query(f"clones#{project}", RecordRow.sk.startswith(f"{padded(media)}|"), consistent_read=True)
    return {int(row.sk.partition("|")[2]): msgspec.json.decode(row.doc) for row in found}


def has_clones(project: int) -> bool:
    """Whether a project may store files of clones."""
    return any(True for _ in RecordRow.query(f"clones#{project}", consistent_read=True, limit=1))


def unshare(project: int, media: int, clone: int) -> None:
    """Delete the note of a clone."""
    RecordRow(f"clones#{project}", f"{padded(media)}|{padded(clone)}").delete()


def release(change: Transaction, project: int, keys: Iterable[ObjectKey], *, after: Timestamp | None = None) -> str:
    """Add a note to a transaction that keys may be unneeded, now or from `after` on; returns its name."""
    note = f"{after}|{uuid.uuid4()}" if after else str(uuid.uuid4())
    change.put(RecordRow(f"released#{project}", note, doc=_encode(sorted({key.path for key in keys}))))
    return note


def due_notes(project: int) -> Iterator[tuple[str, list[ObjectKey]]]:
    """The due notes of a project, and the keys they name."""
    moment = now()
    for row in RecordRow.query(f"released#{project}", consistent_read=True):
        if "|" in row.sk and row.sk > moment:
            continue
        paths: list[str] = msgspec.json.decode(row.doc)
        found = (_note_key(project, path) for path in paths)
        yield row.sk, [key for key in found if key is not None]


def forget(project: int, note: str, change: Transaction | None = None) -> None:
    """Delete a note, in a transaction where one is given."""
    row = RecordRow(f"released#{project}", note)
    if change is None:
        row.delete()
    else:
        change.delete(row)


def get_owners(kind: Kind, numbers: Iterable[int]) -> dict[int, tuple[Media | File, bool]]:
    """Stored entities by id, and whether each was deleted; includes those hidden from readers."""
    keys = [f"{kind}#{number}" for number in dict.fromkeys(numbers)]
    found: dict[int, tuple[Media | File, bool]] = {}
    for start in range(0, len(keys), _ROWS_PER_READ):
        for row in EntityRow.batch_get(keys[start : start + _ROWS_PER_READ], consistent_read=True):
            entity: Any = msgspec.json.decode(row.doc, type=STRUCT_OF[kind])
            found[entity.id] = (entity, row.deleted is not None)
    return found
