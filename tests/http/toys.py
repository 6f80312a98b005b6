"""A resource and its operations, made up for the tests of the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.models.entities import LocalizationSpec
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.resource import Flag, Id, Resource
from chalicelib.core.responses import CreateListResponse, CreateResponse, MessageResponse
from chalicelib.http.operation import Located, OneOf, Operation


class _Address:
    variables: ClassVar = {"project": int, "id": int, "uid": str}
    what = "Toy"

    def find(self, path, body=None):
        return Located(target=path)

    def level(self, caller, found):
        return Level.FULL


class ToyPart(Resource, kw_only=True):
    """A part of a toy."""

    depth: Annotated[float, Meta(gt=0, lt=1)] | None = None
    name: str = "wheel"


class Toy(Resource, kw_only=True):
    """A toy, as it
    is shown.

    It has parts.
    """

    also: ClassVar = {"meta": "type", "first": "part"}
    hidden: ClassVar = frozenset({"secret"})

    id: int
    type: Annotated[int, Meta(description="What kind of toy it is.")]
    part: ToyPart | None = None
    parts: list[ToyPart] | None = None
    by_name: dict[str, ToyPart] | None = None
    state: Literal["new", "old"] | None = None
    flag: bool = False
    pair: tuple[int, int] | None = None
    key: int | str | None = None
    anything: Any = None
    things: list[Any] | None = None
    media_files: MediaFiles | None = None
    secret: str


class ToyUpdate(Resource, kw_only=True):
    accepts: ClassVar = {"colorMap": "color_map"}

    name: Annotated[str, Meta(min_length=1, max_length=64, description="What it is called.")]
    color_map: dict[str, Any] | None = None
    in_place: Flag = 0


class ToyFilters(Resource, kw_only=True):
    accepts: ClassVar = {"meta": "type"}

    type: Annotated[Id | None, Meta(description="The type of the toys.")] = None
    media_id: list[Id] | None = None
    dtype: Literal["box", "line"] | None = None
    no_cache: bool = False
    keys: list[str]


def operation(id_, method, path, **more):
    declared = {
        "id": id_,
        "method": method,
        "path": path,
        "summary": f"{id_} does it.",
        "needs": Permission.VIEW,
        "addresses": _Address(),
        "handler": lambda _: None,
        "tag": "Toys",
    }
    return Operation(**(declared | more))


OPERATIONS = (
    operation("GetToyList", "GET", "/rest/Toys/{project}", query=ToyFilters, returns=list[Toy]),
    operation(
        "CreateToyList",
        "POST",
        "/rest/Toys/{project}",
        body=OneOf(options=(list[LocalizationSpec], LocalizationSpec)),
        returns=OneOf(options=(CreateListResponse, CreateResponse)),
        details="Up to 500.",
    ),
    operation("UpdateToyList", "PATCH", "/rest/Toys/{project}", body=ToyUpdate, returns=MessageResponse),
    operation("DeleteToyList", "DELETE", "/rest/Toys/{project}", body=ToyUpdate, body_required=False),
    operation("GetToy", "GET", "/rest/Toy/{id}", returns=Toy),
    operation("GetToyCountById", "PUT", "/rest/ToyCount/{project}", body=list[Id], returns=int),
    operation("GetToyByElementalId", "GET", "/rest/Toy/{id}/{uid}", returns=Toy, legacy=True, tag="Old"),
    operation("CreateToy", "POST", "/rest/Toy/{id}", body=ToyUpdate, returns=CreateResponse, status=200),
    operation("DeleteToy", "DELETE", "/rest/Toy/{id}", returns=MessageResponse),
    operation("GetFrame", "GET", "/rest/GetFrame/{id}", returns="image/*", formats=("png", "jpg")),
    operation("GetToyLink", "GET", "/rest/ToyLink/{id}", status=301),
    operation("Whoami", "GET", "/rest/Whoami", needs=Permission.ANYONE, addresses=None, returns=bool),
)
