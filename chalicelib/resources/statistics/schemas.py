"""The parameters, body and answer of statistics."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from chalicelib.core.resource import Resource
from chalicelib.query.parsers.entities import EntityQuery
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.query.statistics.aggregates import MOST_ROWS

Plot = Literal["bars", "lines", "heat"]
AttributeName = Annotated[str, Meta(min_length=1, max_length=256)]
Samples = Annotated[
    str | None,
    Meta(description="Parameters of GetMediaList, as in an address: only these media, also those without a match."),
]


class StatisticsQuery(EntityQuery, kw_only=True):
    """The parameters of the list of a kind, and what to compute of its matches."""

    group_by: Annotated[
        list[str] | None,
        Meta(
            description="Up to three names: an attribute, or a built-in field with `$`; `$media.NAME` is of an "
            "annotation's media. `Depth::10` makes bins of a number, `$created_datetime::month` of time, "
            "`Position::0.5` cells of degrees."
        ),
    ] = None
    measure: Annotated[
        list[str] | None,
        Meta(
            description="`count` (the default), `distinct::NAME`, `sum::NAME`, `min::NAME`, `max::NAME`, `mean::NAME`, "
            "`median::NAME`, `quantile::NAME::0.95`, `maxn`: the most annotations on one frame of a media, and "
            "`cover::NAME` or `cover::NAME::stratified`: the share of a label among labelled points, with its interval."
        ),
    ] = None
    facets: Annotated[
        list[str] | None,
        Meta(description="Instead of groups: up to ten names, each with its most frequent values and their counts."),
    ] = None
    order_by: Annotated[
        list[str] | None, Meta(description="Columns of the answer; `-` before a name means descending.")
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_ROWS)] | None,
        Meta(description="Most rows, 1000 by default; of facets, most values of each, 10."),
    ] = None
    fill: Annotated[
        bool | None,
        Meta(
            description="With `group_by=$frame::WIDTH` and one `media_id`: a row for each bin of the media's frames, "
            "also for those without an annotation."
        ),
    ] = None
    plot: Annotated[Plot | None, Meta(description="With `format=svg`: the plot; by default one that fits.")] = None


class FacetValue(Struct, kw_only=True):
    """One value of a facet."""

    value: Annotated[Any, Meta(description="The value, or the start of its bin; null for entities without one.")]
    count: Annotated[int, Meta(description="How many entities have it.")]


class Facet(Struct, kw_only=True):
    """One facet."""

    name: Annotated[str, Meta(description="Its name, as given.")]
    total: Annotated[int, Meta(description="How many values there are, null included.")]
    values: Annotated[list[FacetValue], Meta(description="The most frequent values.")]


class StatisticsAnswer(Struct, kw_only=True, omit_defaults=True):
    """Statistics. A bin is given by its start, a cell of places by longitude and latitude of its south-west corner."""

    kind: Annotated[str, Meta(description="The kind of the entities.")]
    matched: Annotated[int, Meta(description="How many entities match.")]
    groups: Annotated[int | None, Meta(description="How many groups there are; `rows` has the first.")] = None
    rows: Annotated[
        list[dict[str, Any]] | None,
        Meta(description="Of each group, its values and measures under the texts of the request."),
    ] = None
    facets: Annotated[list[Facet] | None, Meta(description="The facets, in the order of the request.")] = None


class SightingsQuery(LocalizationQuery, kw_only=True):
    """The localizations that are counted, and by what."""

    label: Annotated[AttributeName, Meta(description="The attribute with what was seen, such as the species.")]
    media_query: Samples = None
    unit: Annotated[
        AttributeName | None,
        Meta(description="An attribute of media, such as the dive: a row for each of its values."),
    ] = None
    every: Annotated[
        int, Meta(ge=1, lt=2**31, description="MeanCount is the mean over frames whose number is a multiple of this.")
    ] = 1
    interpolate: Annotated[
        bool,
        Meta(description="Count tracks on the frames between their localizations, too; at most 100,000 of these."),
    ] = False


class AccumulationQuery(LocalizationQuery, kw_only=True):
    """The localizations whose labels accumulate."""

    label: Annotated[AttributeName, Meta(description="The attribute with what was seen, such as the species.")]
    media_query: Samples = None
    unit: Annotated[
        AttributeName | None, Meta(description="An attribute of media, such as the dive, whose values are the samples.")
    ] = None


class DepthQuery(Resource, kw_only=True):
    """Where the depths are."""

    media_query: Samples = None
    file: Annotated[AttributeName, Meta(description="The name of an attachment of the media: telemetry.")]
    column: Annotated[AttributeName, Meta(description="Its column of depths.")]
    time: Annotated[AttributeName, Meta(description="Its column of times: seconds, or instants.")] = "time"
    width: Annotated[float, Meta(gt=0, lt=1e9, description="The width of the bins.")] = 10.0
    longest: Annotated[
        float, Meta(gt=0, lt=1e9, description="Seconds between two rows beyond which nothing is counted.")
    ] = 60.0


class SightingRow(Struct, kw_only=True):
    """What was seen of one label on one media. Times are seconds from its first frame, null without frames a second."""

    media: Annotated[int, Meta(description="Id of the media; of a unit, of that with the most on one frame.")]
    name: Annotated[str, Meta(description="Its name.")]
    unit: Annotated[str | None, Meta(description="The value of `unit`, where one was asked for.")]
    label: Annotated[str, Meta(description="The value of the attribute.")]
    count: Annotated[int, Meta(description="Annotations.")]
    frames: Annotated[int, Meta(description="Frames that have one.")]
    maxn: Annotated[int, Meta(description="The most on one frame.")]
    maxn_frame: Annotated[int, Meta(description="The first such frame.")]
    maxn_time: Annotated[float | None, Meta(description="When it begins, in seconds.")]
    mean_count: Annotated[float, Meta(description="The mean over frames 0, `every`, 2 `every` and so on.")]
    first_frame: Annotated[int, Meta(description="The first frame that has one.")]
    first_time: Annotated[float | None, Meta(description="When it begins, in seconds.")]
    last_frame: Annotated[int, Meta(description="The last frame that has one.")]
    last_time: Annotated[float | None, Meta(description="When it begins, in seconds.")]


class AccumulationRow(Struct, kw_only=True):
    """How many labels are expected in so many samples."""

    samples: Annotated[int, Meta(description="Number of samples, from 1.")]
    labels: Annotated[float, Meta(description="Expected number of labels in so many samples; in all, those there are.")]
    chao2: Annotated[float | None, Meta(description="In the last row: the estimate with those that no sample has.")]


class DepthRow(Struct, kw_only=True):
    """The time at one bin of depth."""

    depth: Annotated[float, Meta(description="The start of the bin.")]
    seconds: Annotated[float, Meta(description="Time at these depths.")]
    media: Annotated[int, Meta(description="How many media have time there.")]
