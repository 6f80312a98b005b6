"""Leaves: label hierarchies for the autocompletion of string attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import Leaf
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import CreateListResponse, MessageResponse
from chalicelib.http.addresses import PROJECT, entity
from chalicelib.http.operation import Call, Documents, NoQuery, OneOf, Operation
from chalicelib.query.parsers.annotation_bodies import LeafBulkUpdate
from chalicelib.query.parsers.bodies import LeafIdQuery
from chalicelib.query.parsers.parameters import LeafQuery
from chalicelib.resources.annotations.operations import count_matches, list_matches
from chalicelib.resources.annotations.schemas import LeafSpec, LeafSuggestion, LeafUpdate
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.leaves import service as leaves_service

TAG = "Leaves"
ONE = entity(Kind.LEAF)


class CountedLeafQuery(LeafQuery, kw_only=True):
    """The parameters of bulk changes."""

    count: Annotated[int, Meta(ge=0, description="How many must match; otherwise nothing happens.")] | None = None


class SuggestionQuery(Resource, kw_only=True):
    """The input of autocompletion."""

    accepts: ClassVar = {"minLevel": "min_level"}

    query: Annotated[str, Meta(min_length=1, description="The beginning of names; `*` stands for anything.")]
    min_level: Annotated[int, Meta(description="Levels below the ancestor at least; 1 is everything.")] = 1


def list_leaves(call: Call[Project, LeafQuery, LeafIdQuery | None]) -> Documents | int:
    """All that match, as documents from the view."""
    return list_matches(Kind.LEAF, call)


def count_leaves(call: Call[Project, LeafQuery, LeafIdQuery | None]) -> int:
    """How many match."""
    return count_matches(Kind.LEAF, call)


def create_leaves(call: Call[Project, NoQuery, Any]) -> CreateListResponse:
    """Create one or many."""
    listed = isinstance(call.body, list)
    numbers = leaves_service.create(Writer.of(call), call.body if listed else [call.body], listed=listed)
    return CreateListResponse(message=f"Created {len(numbers)} leaves successfully!", id=list(numbers))


def update_leaves(call: Call[Project, CountedLeafQuery, LeafBulkUpdate]) -> MessageResponse:
    """Change all that match."""
    count = leaves_service.update_many(Writer.of(call), call.query, call.body, call.query.count)
    return MessageResponse(message=f"Successfully updated {count} leaves!")


def delete_leaves(call: Call[Project, CountedLeafQuery, LeafIdQuery | None]) -> MessageResponse:
    """Delete all that match."""
    count = leaves_service.delete_many(Writer.of(call), call.query, call.body, call.query.count)
    return MessageResponse(message=f"Successfully deleted {count} leaves!")


def get_leaf(call: Call[Leaf, NoQuery, None]) -> Leaf:
    """One leaf."""
    return call.target


def update_leaf(call: Call[Leaf, NoQuery, LeafUpdate]) -> MessageResponse:
    """Change one leaf."""
    leaves_service.update(Writer.of(call), call.target.id, call.body)
    return MessageResponse(message=f"Leaf {call.target.id} successfully updated!")


def delete_leaf(call: Call[Leaf, NoQuery, None]) -> MessageResponse:
    """Delete one leaf with its subtree."""
    count = leaves_service.delete(Writer.of(call), call.target.id)
    return MessageResponse(message=f"Leaf {call.target.id} and {count - 1} below it deleted successfully!")


def suggest_leaves(call: Call[Project, SuggestionQuery, None]) -> list[LeafSuggestion]:
    """The suggestions of autocompletion."""
    return leaves_service.suggest(call.project, call.path["ancestor"], call.query.query, call.query.min_level)


OPERATIONS = (
    Operation(
        id="GetLeafList",
        method="GET",
        path="/rest/Leaves/{project}",
        summary="The leaves that match, by id unless sorted.",
        needs=Permission.VIEW,
        addresses=PROJECT,
        query=LeafQuery,
        returns=list[Leaf],
        handler=list_leaves,
        tag=TAG,
    ),
    Operation(
        id="GetLeafListById",
        method="PUT",
        path="/rest/Leaves/{project}",
        summary="The leaves that match, chosen by ids or an object search in the body.",
        needs=Permission.VIEW,
        addresses=PROJECT,
        query=LeafQuery,
        body=LeafIdQuery,
        returns=list[Leaf],
        handler=list_leaves,
        tag=TAG,
    ),
    Operation(
        id="CreateLeafList",
        method="POST",
        path="/rest/Leaves/{project}",
        summary="Make one leaf, or up to 500: all or none.",
        details="Parents must exist already. The answer's `id` is always a list, in the order given.",
        needs=Permission.FULL,
        addresses=PROJECT,
        body=OneOf(options=(list[LeafSpec], LeafSpec)),
        returns=CreateListResponse,
        handler=create_leaves,
        tag=TAG,
    ),
    Operation(
        id="UpdateLeafList",
        method="PATCH",
        path="/rest/Leaves/{project}",
        summary="Change the attributes of all leaves that match; they must be of one type.",
        needs=Permission.FULL,
        addresses=PROJECT,
        query=CountedLeafQuery,
        body=LeafBulkUpdate,
        returns=MessageResponse,
        handler=update_leaves,
        tag=TAG,
    ),
    Operation(
        id="DeleteLeafList",
        method="DELETE",
        path="/rest/Leaves/{project}",
        summary="Delete all leaves that match, and none below them.",
        needs=Permission.FULL,
        addresses=PROJECT,
        query=CountedLeafQuery,
        body=LeafIdQuery,
        body_required=False,
        returns=MessageResponse,
        handler=delete_leaves,
        tag=TAG,
    ),
    Operation(
        id="GetLeafCount",
        method="GET",
        path="/rest/LeafCount/{project}",
        summary="How many leaves match.",
        needs=Permission.VIEW,
        addresses=PROJECT,
        query=LeafQuery,
        returns=int,
        handler=count_leaves,
        tag=TAG,
    ),
    Operation(
        id="GetLeafCountById",
        method="PUT",
        path="/rest/LeafCount/{project}",
        summary="How many leaves match, chosen by ids or an object search in the body.",
        needs=Permission.VIEW,
        addresses=PROJECT,
        query=LeafQuery,
        body=LeafIdQuery,
        returns=int,
        handler=count_leaves,
        tag=TAG,
    ),
    Operation(
        id="GetLeaf",
        method="GET",
        path="/rest/Leaf/{id}",
        summary="One leaf.",
        needs=Permission.VIEW,
        addresses=ONE,
        returns=Leaf,
        handler=get_leaf,
        tag=TAG,
    ),
    Operation(
        id="UpdateLeaf",
        method="PATCH",
        path="/rest/Leaf/{id}",
        summary="Change a leaf; a new name or parent shows in the paths of all below it.",
        details="A parent of -1 makes it a root. Moved below one of its own descendants, it changes places with it.",
        needs=Permission.FULL,
        addresses=ONE,
        body=LeafUpdate,
        returns=MessageResponse,
        handler=update_leaf,
        tag=TAG,
    ),
    Operation(
        id="DeleteLeaf",
        method="DELETE",
        path="/rest/Leaf/{id}",
        summary="Delete a leaf with all below it.",
        needs=Permission.FULL,
        addresses=ONE,
        returns=MessageResponse,
        handler=delete_leaf,
        tag=TAG,
    ),
    Operation(
        id="LeafSuggestion",
        method="GET",
        path="/rest/Leaves/Suggestion/{ancestor}/{project}",
        summary="Names of leaves below an ancestor, for the autocompletion of a string attribute.",
        details="The ancestor is the path of a leaf, the project's label included, such as `My_Project.Honda`.",
        needs=Permission.VIEW,
        addresses=replace(PROJECT, variables={"ancestor": str, "project": int}),
        query=SuggestionQuery,
        returns=list[LeafSuggestion],
        handler=suggest_leaves,
        tag=TAG,
    ),
)
