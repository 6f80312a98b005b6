"""The bodies and answers of the annotation operations that name no filter (`spec/4` §§10–12 and 14)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.entities import Attributes, Frame, Localization, State
from chalicelib.core.resource import Flag, Id, Resource

LeafName = Annotated[str, Meta(min_length=1, max_length=255)]


class LocalizationDelete(Resource, kw_only=True):
    """How to delete one localization: `prune` leaves no tombstone, `pedantic` refuses an earlier mark."""

    prune: Flag | None = None
    pedantic: Flag | None = None


class StateDelete(Resource, kw_only=True):
    """How to delete one state: `prune` leaves no tombstone, `pedantic` refuses an earlier mark."""

    prune: Flag | None = None
    pedantic: Flag | None = None


class StateMergeUpdate(Resource, kw_only=True):
    """The state that is merged into the addressed one, and deleted."""

    names: ClassVar = {"merge_state_id": "state"}

    merge_state_id: Id


class StateTrimUpdate(Resource, kw_only=True):
    """What is cut off a track: all before `frame` at its start, or all behind it at its end."""

    frame: Frame
    endpoint: Literal["start", "end"]


class LocalizationChanged(Resource, kw_only=True):
    """What a PATCH of a localization says; the object is the row that now counts."""

    message: str
    object: Localization


class StateChanged(Resource, kw_only=True):
    """What a PATCH of a state says; the object is the row that now counts."""

    message: str
    object: State


class AnnotationDeleted(Resource, kw_only=True):
    """What a DELETE of an annotation says: the id of the tombstone, or of the row that is gone."""

    message: str
    id: int


class LeafUpdate(Resource, kw_only=True):
    """What a PATCH of one leaf may carry; a parent of -1 makes it a root."""

    name: LeafName | None = None
    attributes: Attributes | None = None
    reset_attributes: list[str] | None = None
    null_attributes: list[str] | None = None
    parent: Annotated[int, Meta(ge=-1)] | None = None


class LeafSpec(Resource, kw_only=True):
    """What creates a leaf; `attributes` may also stand at base level, as older clients send them."""

    gathers: ClassVar[str | None] = "attributes"

    name: LeafName
    type: Id
    parent: Annotated[int, Meta(ge=-1)] | None = None
    attributes: Attributes | None = None


class LeafSuggestion(Resource, kw_only=True):
    """One leaf as autocompletion offers it: its name, its parent's, and its alias where it has one."""

    value: str
    group: str
    data: dict[str, Any] = {}
