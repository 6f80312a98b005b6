"""The operations that localizations and states share, declared once: lists, counts, one by id or by elemental id.

OPERATIONS = annotation_operations(AnnotationResource(kind=Kind.STATE, word="State", ...))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from chalicelib.access import view_queries
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import VERSION
from chalicelib.core.models.marks import Identity
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import CreateListResponse, MessageResponse
from chalicelib.errors import NotFound
from chalicelib.http.addresses import WITHIN_PROJECT, entity, in_project
from chalicelib.http.operation import Address, Call, Documents, Located, NoQuery, OneOf, Operations
from chalicelib.http.read_back import UNCHANGED
from chalicelib.query.parsers import filters
from chalicelib.resources.annotations import bulk_edits, interpolated
from chalicelib.resources.annotations import creation as annotations_creation
from chalicelib.resources.annotations import edits as annotations_edits
from chalicelib.resources.annotations.schemas import AnnotationDeleted
from chalicelib.resources.entities import spreadsheets
from chalicelib.resources.entities.service import Writer, latest_of, live_mark, mark_of, uuid_text
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.view.database.arrow_stream import SEVERAL_DTYPES

AnyCall = Call[Any, Any, Any]
IF_MATCH = (
    'With the header `If-Match: "{modified_datetime}"` of the row as it was read, it is a 409 where another request '
    "has changed the row since."
)


class MarkQuery(Resource, kw_only=True):
    """Selects a mark of an element."""

    mark: Annotated[int, Meta(ge=0, description="Number of the mark; the latest if not given.")] | None = None


@dataclass(frozen=True, kw_only=True)
class AnnotationResource:
    """One kind of annotation in the API.

    Attributes:
        kind: localizations or states.
        word: the name in paths, as in `/rest/State/{id}`; `tag` is its group in the documentation.
        stored, spec, update, changed: the Structs of a row, its creation, its change, and the answer to a change.
        query: the query parameters that select rows; bulk changes take `count` as well.
        list_query: the query parameters of lists, where they have more.
        id_query, bulk_update, bulk_delete, delete: the Structs of the other bodies.
    """

    kind: Kind
    word: str
    tag: str
    stored: type[Resource]
    spec: type[Resource]
    update: type[Resource]
    changed: Any
    query: type[Resource]
    id_query: type[Resource]
    bulk_update: type[Resource]
    bulk_delete: type[Resource]
    delete: type[Resource]
    list_query: type[Resource] | None = None

    def list(self, call: AnyCall) -> Documents | int:
        """All that match, as documents from the view."""
        return list_matches(self.kind, call)

    def count(self, call: AnyCall) -> int:
        """How many match."""
        return count_matches(self.kind, call)

    def create(self, call: AnyCall) -> CreateListResponse:
        """Create one or many."""
        listed = isinstance(call.body, list)
        specs = call.body if listed else [call.body]
        numbers = annotations_creation.create(self.kind, Writer.from_call(call), specs, listed=listed)
        return CreateListResponse(message=f"Created {len(numbers)} {self.kind}s successfully!", id=list(numbers))

    def update_many(self, call: AnyCall) -> MessageResponse:
        """Change all that match."""
        count = bulk_edits.update(self.kind, Writer.from_call(call), call.query, call.body, call.query.count)
        return MessageResponse(message=f"Successfully updated {count} {self.kind}s!")

    def delete_many(self, call: AnyCall) -> MessageResponse:
        """Delete all that match."""
        count = bulk_edits.delete(self.kind, Writer.from_call(call), call.query, call.body, call.query.count)
        return MessageResponse(message=f"Successfully deleted {count} {self.kind}s!")

    def get(self, call: AnyCall) -> Any:
        """The row that the path addresses."""
        return call.target.entity

    def get_element(self, call: AnyCall) -> Any:
        """The requested mark of the element that the path addresses, including tombstones."""
        element: Identity = call.target
        row = mark_of(self.kind, call.project, element, call.query.mark)
        if row is None or not call.scope.visible(self.kind.value, [row]):
            raise NotFound.of(self.word, element[1])
        return row

    def change(self, call: AnyCall) -> Any:
        """Change one: in place if addressed by id, with a new mark if addressed by elemental id."""
        if call.unchanged is not None:
            return self.changed(message=UNCHANGED, object=live_mark(self.kind, self._find(call)()).entity)
        in_place = isinstance(call.target, Stored)
        row = annotations_edits.update(
            self.kind,
            Writer.from_call(call),
            self._find(call),
            call.body,
            in_place=in_place,
            unless_changed=call.headers.get("if-match"),
        )
        return self.changed(message=f"{self.word} {row.id} successfully updated!", object=row)

    def remove(self, call: AnyCall) -> AnnotationDeleted:
        """Delete one."""
        prune, pedantic = (call.body.prune, call.body.pedantic) if call.body else (0, 0)
        number = annotations_edits.delete(
            self.kind,
            Writer.from_call(call),
            self._find(call),
            prune=bool(prune),
            pedantic=bool(pedantic),
            unless_changed=call.headers.get("if-match"),
        )
        addressed = call.target.entity.id if isinstance(call.target, Stored) else call.path["elemental_id"]
        return AnnotationDeleted(message=f"{self.word} {addressed} successfully deleted!", id=number)

    def _find(self, call: AnyCall) -> annotations_edits.Find:
        target = call.target
        if isinstance(target, Stored):
            return annotations_edits.by_id(self.kind, target.entity.id, target)

        def find() -> Stored[Any]:
            row = latest_of(self.kind, call.project, target)
            if row is None:
                raise NotFound.of(self.word, target[1])
            return row

        return find


def list_matches(kind: Kind, call: AnyCall) -> Documents | int:
    """The matches of a list's parameters and body, as documents from the view.

    With the older `operation=count`, their number.
    """
    if call.query.operation == "count":
        return count_matches(kind, call)
    interpolates = getattr(call.query, "interpolate", False)
    given = msgspec.structs.replace(call.query, frame=None) if interpolates else call.query
    query = filters.parse(kind, given, call.body)
    view = view_queries.current(call.project)
    types = view.definitions.types(kind)
    shown = [types[query.type]] if query.type in types else types.values()
    columns: dict[str, str] = {}
    for attribute in (attribute for each in shown for attribute in each.attribute_types):
        dtype = columns.setdefault(attribute.name, attribute.dtype)
        columns[attribute.name] = dtype if dtype == attribute.dtype else SEVERAL_DTYPES
    wanted = getattr(call.query, "fields", None)
    fields = wanted.split(",") if isinstance(wanted, str) else wanted
    if fields is not None and "attributes" not in fields:
        columns = {name: dtype for name, dtype in columns.items() if f"attributes.{name}" in fields}
    return Documents(
        documents=interpolated.documents(view, query, call.scope, call.query.frame, wanted)
        if interpolates
        else view_queries.documents(view, query, call.scope, wanted),
        columns=columns,
        members=tuple(dict.fromkeys(field.partition(".")[0] for field in fields or ())),
        present=spreadsheets.Presenter(view, call.scope),
    )


def count_matches(kind: Kind, call: AnyCall) -> int:
    """The number of matches of a list's parameters and body."""
    query = filters.parse(kind, call.query, call.body)
    return view_queries.count(view_queries.current(call.project), query, call.scope)


def by_id(kind: Kind) -> Address[Any]:
    """`/rest/State/{id}`: a row with its lock, so that a change does not read it again."""

    def locate(path: dict[str, Any]) -> Located[Any]:
        row = entities.get_stored(kind, path["id"])
        return Located(target=row, project=row.entity.project)

    return replace(entity(kind), locate=locate)


def by_element(kind: Kind) -> Address[Any]:
    """`/rest/State/{version}/{elemental_id}`: the name of an element; the handler checks that it has rows."""

    def locate(path: dict[str, Any]) -> Located[Any]:
        try:
            element = path["version"], uuid_text(path["elemental_id"])
        except ValueError:
            raise NotFound.of("elemental id", path["elemental_id"]) from None
        return Located(target=element, project=records.get(VERSION, path["version"]).project)

    def latest(found: Located[Any]) -> Any:
        row = latest_of(kind, found.project or 0, found.target)
        return row.entity if row else None

    variables = {"version": int, "elemental_id": str}
    return in_project(kind.value, locate, judged=latest, variables=variables)


_COUNT = "count", Annotated[int, Meta(ge=0, description="How many must match; otherwise nothing happens.")] | None, None


def annotation_operations(resource: AnnotationResource) -> Operations:
    """The operations of one kind of annotation."""
    word, noun = resource.word, str(resource.kind)
    many, counts = f"/rest/{word}s/{{project}}", f"/rest/{word}Count/{{project}}"
    counted = msgspec.defstruct(f"Counted{word}Query", [_COUNT], bases=(resource.query,), kw_only=True)
    made = Operations(tag=resource.tag, addresses=WITHIN_PROJECT, needs=Permission.EDIT)
    made.get(
        many,
        f"Get{word}List",
        by_ids=resource.id_query,
        summary=f"The {noun}s that match.",
        details="Without `show_all_marks` and `show_deleted` only the latest mark of each element, and no tombstones. "
        "Ordered by id unless sorted.",
        needs=Permission.VIEW,
        query=resource.list_query or resource.query,
        returns=list[resource.stored],  # type: ignore[name-defined]
        formats=("arrow",),
    )(resource.list)
    made.post(
        many,
        f"Create{word}List",
        summary=f"Make one {noun}, or up to 500: all or none.",
        details="The answer's `id` is always a list, in the order given. An elemental id that the version has already "
        "makes the next mark of that element.",
        body=OneOf(options=(list[resource.spec], resource.spec)),  # type: ignore[name-defined]
    )(resource.create)
    made.patch(
        many,
        f"Update{word}List",
        summary=f"Change all {noun}s that match; they must be of one type.",
        details="With `count`, nothing is changed unless that many match.",
        query=counted,
        body=resource.bulk_update,
        reversible=True,
    )(resource.update_many)
    made.delete(
        many,
        f"Delete{word}List",
        summary=f"Delete all {noun}s that match; without any filter, all of the project.",
        details="They leave tombstones, which `show_deleted` shows, unless pruned. With `count`, nothing is deleted "
        "unless that many match.",
        query=counted,
        body=resource.bulk_delete,
        body_required=False,
    )(resource.delete_many)
    made.get(
        counts,
        f"Get{word}Count",
        by_ids=resource.id_query,
        summary=f"How many {noun}s match.",
        needs=Permission.VIEW,
        query=resource.query,
    )(resource.count)
    made += _one(resource, word, noun, "", f"/rest/{word}/{{id}}", by_id(resource.kind))
    path = f"/rest/{word}/{{version}}/{{elemental_id}}"
    made += _one(resource, word, noun, "ByElementalId", path, by_element(resource.kind))
    return made


def _one(
    resource: AnnotationResource, word: str, noun: str, suffix: str, path: str, address: Address[Any]
) -> Operations:
    named = " by its version and elemental id" if suffix else ""
    made = Operations(tag=resource.tag, addresses=address, needs=Permission.EDIT, query=NoQuery)
    made.get(
        path,
        f"Get{word}{suffix}",
        summary=f"One {noun}{named}.",
        needs=Permission.VIEW,
        query=MarkQuery if suffix else NoQuery,
        returns=resource.stored,
    )(resource.get_element if suffix else resource.get)
    made.patch(
        path,
        f"Update{word}{suffix}",
        summary=f"Change one {noun}{named}: the members given, and no others.",
        details=(
            "It becomes a new mark, with an id of its own, unless `in_place` is 1. "
            if suffix
            else "It is changed in place unless `in_place` is 0, which makes a new mark with an id of its own. An "
            "earlier mark stands for the latest of its element, or is refused with `pedantic`. "
        )
        + IF_MATCH,
        body=resource.update,
        returns=resource.changed,
    )(resource.change)
    made.delete(
        path,
        f"Delete{word}{suffix}",
        summary=f"Delete one {noun}{named}.",
        details="A tombstone becomes its latest mark. With `prune` the row itself goes instead, and the mark before it "
        "is visible again. " + IF_MATCH,
        body=resource.delete,
        body_required=False,
        schema_answer=MessageResponse if resource.kind is Kind.STATE else None,
    )(resource.remove)
    return made
