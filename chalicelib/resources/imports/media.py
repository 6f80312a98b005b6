"""Find the media of a project that the media of an archive stand for."""

from __future__ import annotations

import uuid
from collections import defaultdict
from typing import Any, Literal

import msgspec
from msgspec import Struct

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import Definitions
from chalicelib.formats import model
from chalicelib.formats.model import Media
from chalicelib.formats.readers.picture_video import in_order, numbered_pictures
from chalicelib.formats.readers.reading import base, stem
from chalicelib.formats.registry import WRITERS
from chalicelib.formats.writers.science import coralnet
from chalicelib.query.tree import Query

VIDEOS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".mxf", ".ts", ".mts", ".m2ts", ".mpg", ".mpeg")
IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".heic", ".heif", ".avif", ".jp2")
"""Extensions of files of an archive that become media; so for `VIDEOS`."""
_FIELDS = "id,name,md5,type,width,height,num_frames,fps,primary_section,elemental_id"
EXPORTED = ("jpg", "png")
"""Extensions of the pictures of exports."""
Match = Literal["name", "path", "md5"]


class Known(Struct, frozen=True):
    """A media of the project."""

    id: int
    name: str
    type: int
    elemental_id: str
    md5: str | None = None
    width: int | None = None
    height: int | None = None
    num_frames: int | None = None
    fps: float | None = None
    primary_section: int | None = None


_decode = msgspec.json.Decoder(Known).decode


class Files:
    """The images and videos of an archive."""

    def __init__(self, archive: model.Files, format_: str) -> None:
        self._archive, self._picture_path = archive, (WRITERS.get(format_) or coralnet).picture_path
        self._folders = numbered_pictures(archive)
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        self._paths = frozenset(archive.names())
        for path in self._paths:
            if dtype_of(path):
                name = base(path).casefold()
                self._by_name[name].append(path)
                if dtype_of(path) == "video":
                    self._by_name[stem(name)].append(path)

    def path_of(self, row: Media) -> str:
        """The file of a media; empty for none.

        It is the one that its format names, else the only one of its name, else where an export has the image.
        A folder, with `/` at the end, has the frames of a video as pictures. A file of the video comes first.
        """
        if row.path in self._paths:
            return row.path
        for name in (row.name, row.key):
            found = self._by_name.get(base(name).casefold(), [])
            if len(found) == 1 and (not row.is_video or dtype_of(found[0]) == "video"):
                return found[0]
        if row.is_video:
            return row.path if row.path in self._folders else ""
        exported = (self._picture_path(row, 0, extension) for extension in EXPORTED)
        return next((path for path in exported if path in self._paths), "")

    def pictures(self, folder: str) -> list[str]:
        """The frames of a video that is a folder of pictures. Raises ValueError where one is missing."""
        return in_order(folder, self._folders[folder])

    def size(self, path: str) -> int:
        """Bytes of a file or of a folder of pictures. Raises ValueError where a picture is missing."""
        return sum(map(self._archive.size, self.pictures(path) if path.endswith("/") else [path]))

    def frames(self, row: Media, path: str) -> int | None:
        """How many frames a media has. None for a video whose length the archive does not say: it is decoded later."""
        if path.endswith("/"):
            return len(self.pictures(path))
        return 1 if dtype_of(path) == "image" else row.frames if row.frames > 1 else None


def dtype_of(path: str) -> str:
    """What a file becomes by its extension, or a folder of pictures: `image`, `video`, or nothing (empty)."""
    lower = path.lower()
    return "image" if lower.endswith(IMAGES) else "video" if lower.endswith((*VIDEOS, "/")) else ""


def element_of(row: Media, namespace: uuid.UUID) -> str:
    """The elemental id of a media: its own, or one that the archive and its key give. Raises ValueError."""
    if not row.elemental_id:
        return str(uuid.uuid5(namespace, f"media {row.key}"))
    return uuid_of(row.elemental_id)


def uuid_of(given: str) -> str:
    """An elemental id that an archive gives, as the database has it. Raises ValueError."""
    try:
        return str(uuid.UUID(given))
    except ValueError:
        raise ValueError(f"elemental_id {given[:50]!r} is not a UUID") from None


class MediaIndex:
    """The media of a project that a user may see."""

    def __init__(self, project: int, scope: Scope, definitions: Definitions, match: Match) -> None:
        self._match = match
        self._by_element: dict[str, Known] = {}
        self._by_key: defaultdict[str, list[Known]] = defaultdict(list)
        self._by_stem: defaultdict[str, list[Known]] = defaultdict(list)
        sections = definitions.sections
        query = Query(kind=Kind.MEDIA)
        for document in view_queries.documents(view_queries.current(project), query, scope, _FIELDS):
            found = _decode(document)
            self._by_element[found.elemental_id] = found
            if match == "md5":
                key = (found.md5 or "").lower()
            elif match == "path":
                section = sections.get(found.primary_section or 0)
                key = f"{section.path if section else ''}/{found.name}".casefold()
            else:
                key = found.name.casefold()
                self._by_stem[stem(key)].append(found)
            if key:
                self._by_key[key].append(found)

    def find(self, row: Media) -> Known | None:
        """The media that a row names, None if none matches. Raises ValueError if several match."""
        if row.elemental_id and (same := self._by_element.get(row.elemental_id)):
            return same
        found: list[Known] = []
        for key in self._keys(row):
            found = self._by_key.get(key, [])
            if found:
                break
        if not found and self._match == "name":
            found = self._by_stem.get(stem(row.name.casefold()), [])
        if len(found) > 1:
            message = f"{len(found)} media match it by {self._match}, for example {found[0].id} and {found[1].id}"
            raise ValueError(message)
        return found[0] if found else None

    def _keys(self, row: Media) -> list[str]:
        if self._match == "md5":
            return [row.md5.lower()] if row.md5 else []
        if self._match == "path":
            return [f"{row.section}/{row.name}".casefold()]
        names: list[Any] = [row.name, base(row.name), row.key, base(row.key)]
        return [name.casefold() for name in names if name]
