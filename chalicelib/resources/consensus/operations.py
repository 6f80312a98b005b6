"""Consensus layers: one layer made of the copies of several people."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT, own_record_of_project
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.consensus import service as consensus_service
from chalicelib.resources.consensus.schemas import (
    CONSENSUS_LAYER,
    ConsensusLayer,
    ConsensusLayerCreated,
    ConsensusLayerSpec,
)
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Consensus")
ONE = own_record_of_project(CONSENSUS_LAYER, "uid")


@OPERATIONS.post(
    "/rest/ConsensusLayers/{project}", "CreateConsensusLayer", needs=Permission.FULL, addresses=WITHIN_PROJECT
)
def create_layer(call: Call[Project, NoQuery, ConsensusLayerSpec]) -> ConsensusLayerCreated:
    """Order a version that is made of the copies of several people, in the background.

    Shapes of a frame are joined to objects as in quality reports. Objects that more than `agreement` of the weight of
    the copies have are kept, at the mean of their places; those that fewer than the rest have are dropped. What lies
    between, and an object without such a class, is undecided, and becomes tasks. Each localization of the new version
    names those that it was made of in `made_of`. Deleting the version takes all of it back.
    """
    made = consensus_service.order(call.scope, call.project, call.body)
    return ConsensusLayerCreated(message=f"Consensus layer {made.uid} started!", id=made.uid, uid=made.uid)


@OPERATIONS.get(
    "/rest/ConsensusLayers/{project}", "GetConsensusLayerList", needs=Permission.FULL, addresses=WITHIN_PROJECT
)
def list_layers(call: Call[Project, NoQuery, None]) -> list[ConsensusLayer]:
    """The caller's consensus layers of a project, oldest first."""
    return [each for each in records.list_children(CONSENSUS_LAYER, call.project) if each.user == call.caller.id]


@OPERATIONS.get("/rest/ConsensusLayer/{uid}", "GetConsensusLayer", needs=Permission.FULL, addresses=ONE)
def get_layer(call: Call[ConsensusLayer, NoQuery, None]) -> ConsensusLayer:
    """One consensus layer of the caller: its status, its version, and what was undecided."""
    return call.target


@OPERATIONS.delete("/rest/ConsensusLayer/{uid}", "DeleteConsensusLayer", needs=Permission.FULL, addresses=ONE)
def delete_layer(call: Call[ConsensusLayer, NoQuery, None]) -> MessageResponse:
    """Delete the record of a consensus layer, or cancel one that is at work. Its version and its tasks stay."""
    records.remove(CONSENSUS_LAYER, call.target.uid)
    return MessageResponse(message=f"Consensus layer {call.target.uid} deleted!")
