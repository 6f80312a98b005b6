"""The bodies and answers of annotation operations without filters."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.models.entities import Attributes, Frame, Localization, State
from chalicelib.core.resource import Flag, Id, Resource
from chalicelib.core.responses import Change

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

    merge_state_id: Annotated[Id, Meta(description="Id of the state that is merged into this one and deleted.")]


class StateTrimUpdate(Resource, kw_only=True):
    """Cuts off the end of a track: all before `frame` at its start, or all after it at its end."""

    frame: Frame
    endpoint: Annotated[
        Literal["start", "end"], Meta(description="start removes what is before the frame, end what is after it.")
    ]


class LocalizationChanged(Resource, kw_only=True):
    """The answer to a PATCH of a localization; the object is the resulting latest row."""

    message: str
    object: Localization


class StateChanged(Resource, kw_only=True):
    """The answer to a PATCH of a state; the object is the resulting latest row."""

    message: str
    object: State


class AnnotationDeleted(Resource, kw_only=True):
    """The answer to a DELETE of an annotation: the id of the tombstone, or of the removed row."""

    message: str
    id: int
    change: Change = None


class LeafUpdate(Resource, kw_only=True):
    """The body of a PATCH of one leaf; a parent of -1 makes it a root."""

    may_be_empty: ClassVar = True

    name: LeafName | None = None
    attributes: Attributes | None = None
    reset_attributes: list[str] | None = None
    null_attributes: list[str] | None = None
    parent: Annotated[int, Meta(ge=-1, description="Id of the new parent.")] | None = None


class LeafSpec(Resource, kw_only=True):
    """The body that creates a leaf; `attributes` may also be given at base level, as older clients do."""

    gathers: ClassVar[str | None] = "attributes"

    name: LeafName
    type: Id
    parent: Annotated[int, Meta(ge=-1, description="Id of the parent; null for a root.")] | None = None
    attributes: Attributes | None = None


class LeafSuggestion(Resource, kw_only=True):
    """One leaf in autocompletion: its name, its parent's name, and its alias if it has one."""

    value: Annotated[str, Meta(description="Name of the leaf.")]
    group: Annotated[str, Meta(description="Name of its parent.")]
    data: Annotated[dict[str, Any], Meta(description="Alias, if it has one.")] = {}
