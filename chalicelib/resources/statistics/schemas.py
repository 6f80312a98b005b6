"""The parameters, body and answer of statistics."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

from chalicelib.core.resource import Flag
from chalicelib.query.aggregates import MOST_ROWS
from chalicelib.query.parsers.bodies import Ids, LocalizationIdQuery
from chalicelib.query.parsers.parameters import LocalizationQuery

Plot = Literal["bars", "lines", "heat"]
_After = Annotated[int | str | None, Meta(description="Entities with a larger id; of media, those after it.")]


class StatisticsQuery(LocalizationQuery, kw_only=True):
    """The parameters of the list of a kind, and what to compute of its matches."""

    accepts: ClassVar = {"excludeParents": "exclude_parents", "after_id": "after"}

    kind: Annotated[
        Literal["localization", "state", "media"], Meta(description="The entities to measure: those that match.")
    ] = "localization"
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
    plot: Annotated[Plot | None, Meta(description="With `format=svg`: the plot; by default one that fits.")] = None

    after: _After = None  # type: ignore[assignment]  # of media, also a name
    name: Annotated[str | None, Meta(description="Of media: exact name, whatever the case.")] = None
    dtype: Annotated[Literal["image", "video", "multi"] | None, Meta(description="Of media: their kind.")] = None
    md5: Annotated[str | None, Meta(description="Of media: MD5 sum of the file.")] = None
    gid: Annotated[str | None, Meta(description="Of media: upload group id.")] = None
    uid: Annotated[str | None, Meta(description="Of media: upload unique id.")] = None
    after_name: Annotated[str | None, Meta(description="Media with a larger name.")] = None
    archive_lifecycle: Annotated[
        Literal["live", "archived", "all"] | None,
        Meta(description="Archive states of media to include; `live` unless media are named by id."),
    ] = None
    annotation_search: Annotated[str | None, Meta(description="Of media: a search string over annotations.")] = None
    merge: Annotated[
        Flag, Meta(description="With several versions selected, count only the most derived variant of an element.")
    ] = 1


class StatisticsIdQuery(LocalizationIdQuery, kw_only=True):
    """Selects entities by ids or an object search, as the body of the list of a kind does."""

    localization_ids: Annotated[
        Ids | None, Meta(description="Of media: those these localizations lie on; of states: tracks that contain any.")
    ] = None


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
