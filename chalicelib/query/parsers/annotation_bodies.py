"""The bodies of bulk changes and deletions: the change, and the entities it applies to."""

from __future__ import annotations

from typing import ClassVar

from chalicelib.core.models.entities import Attributes
from chalicelib.core.resource import Flag, Id, Uuid
from chalicelib.query.parsers.bodies import LeafIdQuery, LocalizationIdQuery, StateIdQuery


class LocalizationBulkUpdate(LocalizationIdQuery, kw_only=True):
    """The change of many localizations of one type; changed in place unless `in_place` is 0."""

    accepts: ClassVar = {"version": "new_version"}
    names: ClassVar = {"new_version": "version"}

    attributes: Attributes | None = None
    reset_attributes: list[str] | None = None
    null_attributes: list[str] | None = None
    new_version: Id | None = None
    new_elemental_id: Uuid | None = None
    user_elemental_id: Uuid | None = None
    in_place: Flag | None = None


class LocalizationBulkDelete(LocalizationIdQuery, kw_only=True):
    """The deletion of many localizations: `prune` leaves no tombstones, `pedantic` refuses earlier marks."""

    unused: ClassVar = {"null_attributes": "a deletion changes no attributes", "reset_attributes": "as null_attributes"}

    prune: Flag | None = None
    pedantic: Flag | None = None
    in_place: Flag | None = None


class StateBulkUpdate(StateIdQuery, kw_only=True):
    """The change of many states of one type; changed in place unless `in_place` is 0 or a `new_version` is given."""

    accepts: ClassVar = {"version": "new_version"}
    names: ClassVar = {"new_version": "version"}

    attributes: Attributes | None = None
    reset_attributes: list[str] | None = None
    null_attributes: list[str] | None = None
    new_version: Id | None = None
    new_elemental_id: Uuid | None = None
    user_elemental_id: Uuid | None = None
    in_place: Flag | None = None


class StateBulkDelete(StateIdQuery, kw_only=True):
    """The deletion of many states: `prune` leaves no tombstones, `pedantic` refuses earlier marks."""

    unused: ClassVar = {"null_attributes": "a deletion changes no attributes", "reset_attributes": "as null_attributes"}

    prune: Flag | None = None
    pedantic: Flag | None = None
    in_place: Flag | None = None


class LeafBulkUpdate(LeafIdQuery, kw_only=True):
    """The change of many leaves of one type."""

    attributes: Attributes | None = None
    reset_attributes: list[str] | None = None
    null_attributes: list[str] | None = None
