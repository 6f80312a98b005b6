"""The parameters, body and answer of statistics."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from chalicelib.query.parsers.entities import EntityQuery
from chalicelib.query.statistics.aggregates import MOST_ROWS

Plot = Literal["bars", "lines", "heat"]


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
            "`median::NAME`, `quantile::NAME::0.95`, and `maxn`: the most annotations on one frame of a media."
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
