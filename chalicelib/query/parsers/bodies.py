"""The bodies of queries by id: members that are combined with the query parameters.

Bodies of bulk changes and deletions extend these, so that they take the same members.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from chalicelib.core.models.definitions import Search
from chalicelib.core.resource import UUID, Id, Resource, shown

Ids = Annotated[list[Id], Meta(max_length=100_000)]


class FloatArrayQuery(Resource, kw_only=True):
    """Order by the distance of a float_array attribute from a center, within inclusive bounds; 0 is unbounded.

    In place of `center`, `like` names an entity of the same kind whose vector it is.
    """

    name: Annotated[str, Meta(description="Name of a float_array attribute.")]
    center: (
        Annotated[
            list[float],
            Meta(
                min_length=1,
                max_length=2000,
                description="Vector from which distances are computed, as long as those of the attribute.",
            ),
        ]
        | None
    ) = None
    like: Annotated[Id | None, Meta(description="Id of an entity of the same kind, whose vector is the center.")] = None
    metric: Annotated[
        Literal["l2norm", "l1norm", "cosine", "ip"] | None, Meta(description="Measure of distance; l2norm by default.")
    ] = None
    order: Annotated[Literal["asc", "desc"] | None, Meta(description="asc (nearest first, the default) or desc.")] = (
        None
    )
    lower_bound: Annotated[float | None, Meta(description="Smallest distance, inclusive; 0 is no bound.")] = None
    upper_bound: Annotated[float | None, Meta(description="Largest distance, inclusive; 0 is no bound.")] = None


class IdQuery(Resource, kw_only=True):
    """The members of every id query."""

    ids: Ids | None = None
    float_array: Annotated[list[FloatArrayQuery], Meta(max_length=8)] | None = None
    object_search: Search | None = None


class LeafIdQuery(IdQuery, kw_only=True):
    """Selects leaves. An empty `ids` matches nothing."""


class MediaIdQuery(IdQuery, kw_only=True):
    """Selects media."""

    localization_ids: Annotated[Ids | None, Meta(description="Media these localizations lie on.")] = None
    state_ids: Annotated[Ids | None, Meta(description="Media of these states.")] = None


class AnnotationIdQuery(IdQuery, kw_only=True):
    """Selects annotations of either kind."""

    media_ids: Annotated[Ids | None, Meta(description="Only annotations on these media.")] = None
    elemental_ids: list[Annotated[str, shown(UUID)]] | None = None
    media_query: Annotated[
        str | None, Meta(description="Parameters of a media list as in an address: only annotations of such media.")
    ] = None


class LocalizationIdQuery(AnnotationIdQuery, kw_only=True):
    """Selects localizations."""

    state_ids: Annotated[Ids | None, Meta(description="Localizations that these tracks contain.")] = None
    frame_state_ids: Annotated[Ids | None, Meta(description="Localizations on the frames of these states.")] = None


class StateIdQuery(AnnotationIdQuery, kw_only=True):
    """Selects states."""

    localization_ids: Annotated[Ids | None, Meta(description="Tracks that contain any of these.")] = None
