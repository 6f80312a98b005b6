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
from chalicelib.http.operation import Call, Documents, NoQuery, OneOf, Operations
from chalicelib.query.parsers.annotation_bodies import LeafBulkUpdate
from chalicelib.query.parsers.bodies import LeafIdQuery
from chalicelib.query.parsers.parameters import LeafQuery
from chalicelib.resources.annotations.operations import count_matches, list_matches
from chalicelib.resources.annotations.schemas import LeafSpec, LeafSuggestion, LeafUpdate
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.leaves import service as leaves_service

OPERATIONS = Operations(tag="Leaves")
ONE = entity(Kind.LEAF)


class CountedLeafQuery(LeafQuery, kw_only=True):
    """The parameters of bulk changes."""

    count: Annotated[int, Meta(ge=0, description="How many must match; otherwise nothing happens.")] | None = None


class SuggestionQuery(Resource, kw_only=True):
    """The input of autocompletion."""

    accepts: ClassVar = {"minLevel": "min_level"}

    query: Annotated[str, Meta(min_length=1, description="The beginning of names; `*` stands for anything.")]
    min_level: Annotated[int, Meta(description="Levels below the ancestor at least; 1 is everything.")] = 1


@OPERATIONS.get(
    "/rest/Leaves/{project}",
    "GetLeafList",
    needs=Permission.VIEW,
    addresses=PROJECT,
    returns=list[Leaf],
    by_ids=LeafIdQuery,
    formats=("arrow",),
)
def list_leaves(call: Call[Project, LeafQuery, Any]) -> Documents | int:
    """The leaves that match, by id unless sorted."""
    return list_matches(Kind.LEAF, call)


@OPERATIONS.get(
    "/rest/LeafCount/{project}", "GetLeafCount", needs=Permission.VIEW, addresses=PROJECT, by_ids=LeafIdQuery
)
def count_leaves(call: Call[Project, LeafQuery, Any]) -> int:
    """How many leaves match."""
    return count_matches(Kind.LEAF, call)


@OPERATIONS.post(
    "/rest/Leaves/{project}",
    "CreateLeafList",
    needs=Permission.FULL,
    addresses=PROJECT,
    body=OneOf(options=(list[LeafSpec], LeafSpec)),
)
def create_leaves(call: Call[Project, NoQuery, Any]) -> CreateListResponse:
    """Make one leaf, or up to 500: all or none.

    Parents must exist already. The answer's `id` is always a list, in the order given.
    """
    listed = isinstance(call.body, list)
    numbers = leaves_service.create(Writer.from_call(call), call.body if listed else [call.body], listed=listed)
    return CreateListResponse(message=f"Created {len(numbers)} leaves successfully!", id=list(numbers))


@OPERATIONS.patch("/rest/Leaves/{project}", "UpdateLeafList", needs=Permission.FULL, addresses=PROJECT)
def update_leaves(call: Call[Project, CountedLeafQuery, LeafBulkUpdate]) -> MessageResponse:
    """Change the attributes of all leaves that match; they must be of one type."""
    count = leaves_service.update_many(Writer.from_call(call), call.query, call.body, call.query.count)
    return MessageResponse(message=f"Successfully updated {count} leaves!")


@OPERATIONS.delete("/rest/Leaves/{project}", "DeleteLeafList", needs=Permission.FULL, addresses=PROJECT)
def delete_leaves(call: Call[Project, CountedLeafQuery, LeafIdQuery | None]) -> MessageResponse:
    """Delete all leaves that match, and none below them."""
    count = leaves_service.delete_many(Writer.from_call(call), call.query, call.body, call.query.count)
    return MessageResponse(message=f"Successfully deleted {count} leaves!")


@OPERATIONS.get("/rest/Leaf/{id}", "GetLeaf", needs=Permission.VIEW, addresses=ONE)
def get_leaf(call: Call[Leaf, NoQuery, None]) -> Leaf:
    """One leaf."""
    return call.target


@OPERATIONS.patch("/rest/Leaf/{id}", "UpdateLeaf", needs=Permission.FULL, addresses=ONE)
def update_leaf(call: Call[Leaf, NoQuery, LeafUpdate]) -> MessageResponse:
    """Change a leaf; a new name or parent shows in the paths of all below it.

    A parent of -1 makes it a root. Moved below one of its own descendants, it changes places with it.
    """
    leaves_service.update(Writer.from_call(call), call.target.id, call.body)
    return MessageResponse(message=f"Leaf {call.target.id} successfully updated!")


@OPERATIONS.delete("/rest/Leaf/{id}", "DeleteLeaf", needs=Permission.FULL, addresses=ONE)
def delete_leaf(call: Call[Leaf, NoQuery, None]) -> MessageResponse:
    """Delete a leaf with all below it."""
    count = leaves_service.delete(Writer.from_call(call), call.target.id)
    return MessageResponse(message=f"Leaf {call.target.id} and {count - 1} below it deleted successfully!")


@OPERATIONS.get(
    "/rest/Leaves/Suggestion/{ancestor}/{project}",
    "LeafSuggestion",
    needs=Permission.VIEW,
    addresses=replace(PROJECT, variables={"ancestor": str, "project": int}),
)
def suggest_leaves(call: Call[Project, SuggestionQuery, None]) -> list[LeafSuggestion]:
    """Names of leaves below an ancestor, for the autocompletion of a string attribute.

    The ancestor is the path of a leaf, the project's label included, such as `My_Project.Honda`.
    """
    return leaves_service.suggest(call.project, call.path["ancestor"], call.query.query, call.query.min_level)
