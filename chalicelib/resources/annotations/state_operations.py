"""States: descriptions of media, frames or localizations; states over localizations are tracks."""

from __future__ import annotations

from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import State, StateSpec, StateUpdate
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.query.parsers.annotation_bodies import StateBulkDelete, StateBulkUpdate
from chalicelib.query.parsers.bodies import StateIdQuery
from chalicelib.query.parsers.parameters import StateQuery
from chalicelib.resources.annotations import tracks
from chalicelib.resources.annotations.operations import AnnotationResource, annotation_operations, by_id
from chalicelib.resources.annotations.schemas import StateChanged, StateDelete, StateMergeUpdate, StateTrimUpdate
from chalicelib.resources.entities.service import Writer

TAG = "States"
OPERATIONS = Operations(tag=TAG)


OPERATIONS += annotation_operations(
    AnnotationResource(
        kind=Kind.STATE,
        word="State",
        tag=TAG,
        stored=State,
        spec=StateSpec,
        update=StateUpdate,
        changed=StateChanged,
        query=StateQuery,
        id_query=StateIdQuery,
        bulk_update=StateBulkUpdate,
        bulk_delete=StateBulkDelete,
        delete=StateDelete,
    )
)


@OPERATIONS.patch("/rest/MergeStates/{id}", "MergeStates", needs=Permission.EDIT, addresses=by_id(Kind.STATE))
def merge_states(call: Call[Any, NoQuery, StateMergeUpdate]) -> MessageResponse:
    """Merge another state of the same type into this one.

    Its localizations and media are added to this one; the other is deleted with all its marks.
    """
    number = call.target.entity.id
    tracks.merge(Writer.from_call(call), number, call.body.merge_state_id)
    return MessageResponse(message=f"Merged state {call.body.merge_state_id} into {number}.")


@OPERATIONS.patch("/rest/TrimStateEnd/{id}", "TrimStateEnd", needs=Permission.EDIT, addresses=by_id(Kind.STATE))
def trim_state_end(call: Call[Any, NoQuery, StateTrimUpdate]) -> MessageResponse:
    """Cut off the start or the end of a track.

    Localizations before the frame (`start`) or behind it (`end`) leave the track; those that are in no other state are
    deleted.
    """
    number = call.target.entity.id
    count = tracks.trim(Writer.from_call(call), number, call.body.frame, call.body.endpoint)
    return MessageResponse(message=f"Trimmed state {number}. Deleted {count} localizations.")
