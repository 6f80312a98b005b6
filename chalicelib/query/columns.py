"""The built-in fields of entities that queries know: as columns, and by their public names.

One table for each kind. `Column.value` takes a column's value from an entity; the view fills its tables with it and the
plain evaluation calls it, so both see the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Localization, Media, State
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.core.values import refinements, rle
from chalicelib.query.values import stored

SECTION_TAG = "tator_user_sections"
"""The undefined attribute of media that names their section: the older way to assign one."""
TAG_ALIAS = "svc_user_sections"
"""An alias of the column."""


@dataclass(frozen=True)
class Column:
    """A built-in column: its name, its dtype, and how to take it from an entity. `ints` is a list of integers."""

    name: str
    dtype: str
    value: Callable[[Any], Any]
    member: str | None = None
    """The member that the value is copied from unchanged; None if it is computed."""
    source: str | None = None
    """The member that the value is converted from like an attribute; None if it is computed otherwise."""


def _member(name: str, dtype: str, member: str = "") -> Column:
    """A column copied from a member unchanged; its values always fit the SQL type."""
    member = member or name
    return Column(name, dtype, lambda entity: getattr(entity, member), member)


def _converted(name: str, dtype: str) -> Column:
    """A column converted from a member like an attribute of that dtype."""
    return Column(name, dtype, lambda entity: stored(dtype, getattr(entity, name)), source=name)


_COUNTED = ("archival", "streaming", "image", "thumbnail", "thumbnail_gif", "attachment")
_DOWNLOADED = ("archival", "streaming", "image")


def _sizes(files: MediaFiles | None, roles: tuple[str, ...]) -> list[int]:
    return [file.size for role in roles for file in getattr(files, role, None) or () if file.size and file.size > 0]


def _total_size(media: Media) -> int | None:
    """Bytes of all files except audio."""
    return stored("int", sum(_sizes(media.media_files, _COUNTED)))  # type: ignore[no-any-return]


def _download_size(media: Media) -> int | None:
    """Bytes of one file: archival, else streaming, else image."""
    return stored("int", next(iter(_sizes(media.media_files, _DOWNLOADED)), None))  # type: ignore[no-any-return]


def _duration(media: Media) -> float | None:
    """Seconds of video."""
    is_timed = media.num_frames and media.fps and media.fps > 0
    return stored("float", media.num_frames / media.fps) if is_timed else None  # type: ignore[operator]


def _length(state: State) -> int:
    """Localizations of a track."""
    return len(state.localizations)


def _span(state: State) -> int | None:
    """Frames from the first to the last localization of a track, both included."""
    runs = [run for run in state.segments or () if run and None not in run]
    return max(run[-1] for run in runs) - min(run[0] for run in runs) + 1 if runs else None


def _tag(media: Media) -> str | None:
    return stored("string", media.attributes.get(SECTION_TAG))  # type: ignore[no-any-return]


def _mask_area(localization: Localization) -> int | None:
    """Pixels of a mask."""
    return None if localization.mask is None else rle.area(rle.decode(localization.mask.counts))


def _points(localization: Localization) -> int | None:
    """Corners of a polygon, points of a polyline or skeleton; null of other shapes, and in a gap of a track."""
    return len(localization.points) if localization.points else None


def _points_visible(localization: Localization) -> int | None:
    """Points of a skeleton that are visible."""
    return None if localization.visible is None else localization.visible.count(_VISIBLE)


_VISIBLE = 2
_COMMON = (
    _member("id", "int"),
    _member("type", "int"),
    _member("created_by", "int"),
    _converted("created_datetime", "datetime"),
    _member("modified_by", "int"),
    _converted("modified_datetime", "datetime"),
)
_GEOMETRY = tuple(_member(name, "float") for name in ("x", "y", "width", "height", "u", "v"))
_REFINED = (
    _member("angle", "float"),
    Column("form", "string", refinements.form),
    Column("points", "int", _points),
    Column("points_visible", "int", _points_visible),
    Column("mask_area", "int", _mask_area),
    Column("share", "float", refinements.share),
)
_POINTS = ("points", "points_visible")
_ANNOTATION = (
    _converted("frame", "int"),
    _member("version", "int"),
    _converted("parent", "int"),
    _member("elemental_id", "string"),
    _converted("mark", "int"),
    _member("latest", "bool"),
    _member("variant_deleted", "bool"),
)
SEPARATE = frozenset({column.name for column in (*_COMMON, *_ANNOTATION)} | {"revision"}) - {"id", "type"}
"""Members of annotations on which no other column depends; their own columns, if any, have their names."""
_NEVER_DELETED = Column("deleted", "bool", lambda _: False)
"""Always false: deleted leaves and files are removed. The name exists so that lists can be sorted by it."""

COLUMNS: dict[Kind, tuple[Column, ...]] = {
    Kind.MEDIA: (
        *_COMMON,
        _member("name", "string"),
        _member("elemental_id", "string"),
        _member("md5", "string"),
        _member("gid", "string"),
        _member("uid", "string"),
        _member("source_url", "string"),
        _member("codec", "string"),
        _member("archive_state", "string"),
        _member("deleted", "bool"),
        _member("section", "int", "primary_section"),
        _converted("num_frames", "int"),
        _converted("fps", "float"),
        _converted("width", "float"),
        _converted("height", "float"),
        Column("tag", "string", _tag),
        Column("total_size", "int", _total_size),
        Column("download_size", "int", _download_size),
        Column("duration", "float", _duration),
    ),
    Kind.LOCALIZATION: (*_COMMON, _member("media", "int"), *_ANNOTATION, *_GEOMETRY, *_REFINED),
    Kind.STATE: (
        *_COMMON,
        _member("media", "ints"),
        _member("localizations", "ints"),
        *_ANNOTATION,
        Column("length", "int", _length),
        Column("num_frames", "int", _span),
    ),
    Kind.LEAF: (
        *_COMMON,
        _member("name", "string"),
        _converted("parent", "int"),
        _member("path", "string"),
        _member("depth", "int"),
        _NEVER_DELETED,
    ),
    Kind.FILE: (
        *_COMMON,
        _member("name", "string"),
        _member("description", "string"),
        _member("path", "string"),
        _member("elemental_id", "string"),
        _NEVER_DELETED,
    ),
}

BY_NAME: dict[Kind, dict[str, Column]] = {
    kind: {column.name: column for column in columns} for kind, columns in COLUMNS.items()
}

_HIDDEN = frozenset({"latest", "tag", "total_size", "download_size", "duration", "localizations", "source_url"})
_HIDDEN |= {"mask_area", "share"}
_ALIASES = {"$user": "created_by", "$meta": "type", "$primary_section": "section"}


def _names(kind: Kind) -> dict[str, Column]:
    columns = BY_NAME[kind]
    names = {f"${name}": column for name, column in columns.items() if name not in _HIDDEN and column.dtype != "ints"}
    names |= {alias: columns[name] for alias, name in _ALIASES.items() if name in columns}
    if kind is Kind.MEDIA:
        names |= {SECTION_TAG: columns["tag"], TAG_ALIAS: columns["tag"], "$incident": INCIDENT}
    if kind is Kind.LOCALIZATION:
        names["$area"] = AREA
    if kind is Kind.STATE:
        names["$duration"] = TRACK_DURATION
    return names


TRACK_DURATION = Column("duration", "float", lambda _: None)
"""Seconds from the first to the last localization of a state: `num_frames` by the rate of its first media."""
AREA = Column("area", "float", lambda _: None)
"""Pixels that a localization covers: those of its mask, else its share of its media; null where it has no area."""
INCIDENT = Column("incident", "int", lambda _: None)
"""How many annotations match the related filters of a media list; null in a list without."""

NAMES: dict[Kind, dict[str, Column]] = {kind: _names(kind) for kind in Kind}
"""Public names by kind. `$section` of an annotation is its media's section, so it is not here."""

SECTION_NAME = "$section"

UNDERSCORED: dict[Kind, dict[str, Column]] = {
    Kind.MEDIA: {
        "filename": BY_NAME[Kind.MEDIA]["name"],
        "_exact_name": BY_NAME[Kind.MEDIA]["name"],
        "_rows": BY_NAME[Kind.MEDIA]["height"],
        "_columns": BY_NAME[Kind.MEDIA]["width"],
        **{
            f"_{name}": BY_NAME[Kind.MEDIA][name]
            for name in (
                "md5",
                "gid",
                "uid",
                "archive_state",
                "fps",
                "num_frames",
                "codec",
                "total_size",
                "download_size",
                "duration",
                "section",
            )
        },
    },
    Kind.LOCALIZATION: {
        "_area": AREA,
        **{
            f"_{name}": BY_NAME[Kind.LOCALIZATION][name]
            for name in (*(column.name for column in _GEOMETRY), "frame", "media", "angle", "form", *_POINTS)
        },
    },
    Kind.STATE: {
        "_duration": TRACK_DURATION,
        **{f"_{name}": BY_NAME[Kind.STATE][name] for name in ("frame", "length", "num_frames")},
    },
    Kind.LEAF: {
        "_exact_treeleaf_name": BY_NAME[Kind.LEAF]["name"],
        "_treeleaf_depth": BY_NAME[Kind.LEAF]["depth"],
        "_treeleaf_path": BY_NAME[Kind.LEAF]["path"],
    },
    Kind.FILE: {"filename": BY_NAME[Kind.FILE]["name"], "_exact_name": BY_NAME[Kind.FILE]["name"]},
}
"""The names of built-in fields in search strings, by kind."""

for _kind, _underscored in UNDERSCORED.items():
    _own = BY_NAME[_kind]
    _underscored |= {
        "_meta": _own["type"],
        "_type": _own["type"],
        "_id": _own["id"],
        "_postgres_id": _own["id"],
        "_created_by": _own["created_by"],
        "_created_datetime": _own["created_datetime"],
        "_modified_by": _own["modified_by"],
        "_modified_datetime": _own["modified_datetime"],
    }
    if _kind.is_annotation:
        _underscored |= {
            "_annotation_version": _own["version"],
            "_user": _own["created_by"],
            "_elemental_id": _own["elemental_id"],
            "_mark": _own["mark"],
        }
