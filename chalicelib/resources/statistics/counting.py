"""Counts of sightings by media, accumulation of labels over media, and time at depth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.batches import batched
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.core.text.names import nearest
from chalicelib.core.time.deadline import check_query
from chalicelib.core.values import sightings
from chalicelib.errors import BadInput
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.resources.annotations import interpolated
from chalicelib.resources.media.selection import select
from chalicelib.resources.statistics.schemas import (
    AccumulationQuery,
    AccumulationRow,
    DepthQuery,
    DepthRow,
    SightingRow,
    SightingsQuery,
)
from chalicelib.resources.telemetry.files import table_of
from chalicelib.storage.dynamodb import entities

MOST_ROWS = 500_000
"""Localizations of one request."""
MOST_MEDIA = 10_000


class _Row(Struct):
    """What is read of a localization."""

    media: int
    frame: int
    attributes: dict[str, Any]


_DECODER = msgspec.json.Decoder(_Row)


def sightings_of(project: int, query: SightingsQuery, scope: Scope) -> list[SightingRow]:
    """The counts of each label on each media, by media and label; or on all media of each unit. Raises BadInput."""
    found, media = _frames_by_label(
        project, query, query.label, query.media_query, scope, interpolates=query.interpolate
    )
    if query.unit is not None:
        check_unit(query.unit, media)
    units: defaultdict[str, list[Media]] = defaultdict(list)
    for number, one in sorted(media.items()):
        unit = str(number) if query.unit is None else one.attributes.get(query.unit)
        if unit is not None:
            units[str(unit)].append(one)
    rows = []
    for unit, together in units.items():
        sampled = sum(sightings.sampled_frames(one.num_frames or 1, query.every) for one in together)
        seen: defaultdict[str, list[tuple[Media, list[int]]]] = defaultdict(list)
        for one in together:
            for label, frames in found.get(one.id, {}).items():
                seen[label].append((one, frames))
        for label, places in sorted(seen.items()):  # those without it are not looked at again for each label
            check_query()
            counted = _Counted(label, query.every, None if query.unit is None else unit, sampled)
            for one, frames in places:
                counted.add(one, frames)
            rows.append(counted.row())
    return rows


class _Counted:
    """The counts of one label on the media of one unit, or on one media; `sampled` frames of all of them."""

    def __init__(self, label: str, every: int, unit: str | None, sampled: int) -> None:
        self._label, self._every, self._unit, self._sampled = label, every, unit, sampled
        self._seen: list[tuple[Media, sightings.Sighting]] = []

    def add(self, media: Media, frames: Sequence[int]) -> None:
        """Take the frames of the annotations on one of the media; they may lie beyond its last frame."""
        self._seen.append((media, sightings.sighting_of(frames, media.num_frames or 1, self._every)))
        self._sampled += self._seen[-1][1].sampled - sightings.sampled_frames(media.num_frames or 1, self._every)

    def row(self) -> SightingRow:
        """The row; of a unit, frames and times are those of the media that has the most, or the first and last."""
        most, best = max(self._seen, key=lambda pair: pair[1].maxn)
        begun, early = min(self._seen, key=lambda pair: _seconds(pair[0], pair[1].first) or 0.0)
        ended, late = max(self._seen, key=lambda pair: _seconds(pair[0], pair[1].last) or 0.0)
        return SightingRow(
            media=most.id,
            name=most.name,
            unit=self._unit,
            label=self._label,
            count=sum(each.count for _, each in self._seen),
            frames=sum(each.frames for _, each in self._seen),
            maxn=best.maxn,
            maxn_frame=best.maxn_frame,
            maxn_time=_seconds(most, best.maxn_frame),
            mean_count=sum(each.mean_count * each.sampled for _, each in self._seen) / self._sampled,
            first_frame=early.first,
            first_time=_seconds(begun, early.first),
            last_frame=late.last,
            last_time=_seconds(ended, late.last),
        )


def _seconds(media: Media, frame: int) -> float | None:
    return round(frame / media.fps, 6) if media.fps else None


def check_unit(unit: str, media: Mapping[int, Media]) -> None:
    """Raise BadInput if none of the media has a value of an attribute."""
    if media and not any(one.attributes.get(unit) is not None for one in media.values()):
        raise BadInput(f"unit: none of the {len(media)} media has a value of {unit!r}.")


def accumulation_of(project: int, query: AccumulationQuery, scope: Scope) -> list[AccumulationRow]:
    """The expected number of labels by number of samples. Raises BadInput."""
    found, media = _frames_by_label(project, query, query.label, query.media_query, scope)
    units: defaultdict[Any, set[str]] = defaultdict(set)
    for number, one in media.items():
        if query.unit is not None and one.attributes.get(query.unit) is None:
            continue
        units[number if query.unit is None else str(one.attributes[query.unit])] |= found.get(number, {}).keys()
    samples = list(units.values())
    if query.unit is not None:
        check_unit(query.unit, media)
    expected = []
    for labels in sightings.accumulation(samples):
        check_query()
        expected.append(labels)
    estimate = sightings.chao2(samples)
    return [
        AccumulationRow(samples=number, labels=labels, chao2=estimate if number == len(expected) else None)
        for number, labels in enumerate(expected, 1)
    ]


def time_at_depth(project: int, query: DepthQuery, scope: Scope) -> list[DepthRow]:
    """The time at each bin of depth, by the telemetry of media; those without the file are left out.

    Raises:
        BadInput: no media has the file, or one is malformed.
    """
    seconds: defaultdict[float, float] = defaultdict(float)
    media: defaultdict[float, int] = defaultdict(int)
    files = 0
    for one in _select_media(project, query.media_query, scope):
        check_query()
        table = table_of(one, query.file, query.time, {query.column})
        if table is None:
            continue
        files += 1
        series = table.series([query.column])
        try:
            depths = [float(value) for (value,) in series.values]
        except ValueError:
            raise BadInput(f"column: {query.column!r} of media {one.id} has a value that is no number.") from None
        for start, span in sightings.time_in_bins(series.times, depths, query.width, query.longest).items():
            seconds[start] += span
            media[start] += 1
    if not files:
        raise BadInput(f"file: none of the media has an attachment with the name {query.file!r}.")
    return [
        DepthRow(depth=start, seconds=round(span, 6), media=media[start]) for start, span in sorted(seconds.items())
    ]


def _select_media(project: int, media_query: str | None, scope: Scope) -> list[Media]:
    found: list[Media] = []
    for one in select(scope, project, None, media_query or ""):
        if len(found) == MOST_MEDIA:
            raise BadInput(f"media_query: at most {MOST_MEDIA} media are read at once; narrow it.")
        found.append(one)
    return found


def _frames_by_label(
    project: int,
    query: LocalizationQuery,
    label: str,
    media_query: str | None,
    scope: Scope,
    *,
    interpolates: bool = False,
) -> tuple[dict[int, dict[str, list[int]]], dict[int, Media]]:
    """The frames of each label on each media, one entry for each annotation; and the media."""
    view = view_queries.current(project)
    given = msgspec.structs.replace(query, frame=None) if interpolates else query
    parsed = view_queries.without_gaps(view, filters.parse(Kind.LOCALIZATION, given, None), scope)
    if (count := view_queries.count(view, parsed, scope)) > MOST_ROWS:
        raise BadInput(f"{count} localizations match; at most {MOST_ROWS} are counted. Narrow the query.")
    attributes = view.definitions.types(Kind.LOCALIZATION).values()
    names = {attribute.name for type_ in attributes for attribute in type_.attribute_types}
    if label not in names:
        raise BadInput(f"label: no localization type has the attribute {label!r}.{nearest(label, names)}")
    found: defaultdict[int, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    documents = (
        interpolated.documents(view, parsed, scope, query.frame, None)
        if interpolates
        else view_queries.documents(view, parsed, scope)
    )
    for document in documents:
        check_query()
        row = _DECODER.decode(document)
        if (value := row.attributes.get(label)) not in (None, ""):
            found[row.media][str(value)].append(row.frame)
    if media_query is None:
        chosen = {one.id: one for one in _by_ids(project, list(found), scope)}
    else:
        chosen = {one.id: one for one in _select_media(project, media_query, scope)}
    return {number: dict(labels) for number, labels in found.items() if number in chosen}, chosen


def _by_ids(project: int, numbers: list[int], scope: Scope) -> list[Media]:
    """Those of the media that the caller may see."""
    found: list[Media] = []
    for part in batched(numbers, entities.ROWS_A_READ):
        check_query()
        rows = [row.entity for row in entities.many(Kind.MEDIA, part).values()]
        found += scope.visible(Kind.MEDIA.value, [row for row in rows if row.project == project])
    return found
