"""A query over localizations, states or media with one set of parameters, and its body.

A parameter that the lists of the chosen kind do not have is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from chalicelib.core.kinds import Kind
from chalicelib.core.resource import Resource
from chalicelib.errors import BadInput
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.addresses import NO_FILTERS
from chalicelib.query.parsers.bodies import IdQuery, Ids, LocalizationIdQuery, MediaIdQuery, StateIdQuery
from chalicelib.query.parsers.parameters import ListQuery, LocalizationQuery, MediaQuery, StateQuery
from chalicelib.query.tree import Query

_After = Annotated[int | str | None, Meta(description="Entities with a larger id; of media, those after it.")]


class EntityQuery(LocalizationQuery, kw_only=True):
    """The parameters of the list of a kind, and the kind."""

    accepts: ClassVar = {"excludeParents": "exclude_parents", "after_id": "after"}

    kind: Annotated[Literal["localization", "state", "media"], Meta(description="The kind of the entities.")] = (
        "localization"
    )
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


class EntityIdQuery(LocalizationIdQuery, kw_only=True):
    """Selects entities by ids or an object search, as the body of the list of a kind does."""

    localization_ids: Annotated[
        Ids | None, Meta(description="Of media: those these localizations lie on; of states: tracks that contain any.")
    ] = None


PARAMETERS: dict[Kind, type[ListQuery]] = {
    Kind.LOCALIZATION: LocalizationQuery,
    Kind.STATE: StateQuery,
    Kind.MEDIA: MediaQuery,
}
BODIES: dict[Kind, type[IdQuery]] = {
    Kind.LOCALIZATION: LocalizationIdQuery,
    Kind.STATE: StateIdQuery,
    Kind.MEDIA: MediaIdQuery,
}
_PARAMETERS = frozenset(field.name for field in msgspec.structs.fields(EntityQuery)) - {"kind"}
_MEMBERS = frozenset(field.name for field in msgspec.structs.fields(EntityIdQuery))


def parse(query: EntityQuery, body: EntityIdQuery | None) -> Query:
    """The query that parameters and a body describe, as for the list of their kind.

    Raises:
        BadInput: a parameter or member that the lists of the kind do not have, or one that breaks a rule.
    """
    kind = Kind(query.kind)
    for name in NO_FILTERS:
        if getattr(query, name) is not None:
            raise BadInput(f"{name}: only lists have this parameter.")
    given = _narrowed(query, _PARAMETERS, PARAMETERS[kind], kind)
    try:
        parameters = msgspec.convert(given, PARAMETERS[kind], strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"{error}") from None
    chosen = None if body is None else BODIES[kind](**_narrowed(body, _MEMBERS, BODIES[kind], kind))
    return filters.parse(kind, parameters, chosen)


def _narrowed(given: Resource, names: frozenset[str], struct: type[Resource], kind: Kind) -> dict[str, Any]:
    """The members that lists of a kind have. Raises BadInput for any other of the names that was given."""
    own = {field.name for field in msgspec.structs.fields(struct)}
    values = {}
    for field in msgspec.structs.fields(given):
        value = getattr(given, field.name)
        if field.name in own:
            values[field.name] = value
        elif field.name in names and value != field.default:
            raise BadInput(f"{field.name}: lists of {kind} entities have no such member.")
    return values
