"""The five operations of an ordinary record — list, create, get, update, delete — declared once for each kind.

    OPERATIONS = record_operations(
        RecordResource(
            kind=BOOKMARK, tag=TAG, address=OWN_BOOKMARK, read=Permission.VIEW, write=Permission.EDIT,
            spec=BookmarkSpec, update=BookmarkUpdate,
            find=list_bookmarks, store=make_bookmark,
        )
    )

Each kind provides a function, `store`, and may provide others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from chalicelib.core.log.audit import AuditKind
from chalicelib.core.log.commits import Note
from chalicelib.core.permissions import Permission
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Resource, given
from chalicelib.core.responses import CreateResponse, DeletedResponse, MessageResponse
from chalicelib.core.text.names import with_article
from chalicelib.errors import BadInput, LimnError
from chalicelib.http.addresses import ORGANIZATION_ADDRESS, PROJECT, record_of_organization, record_of_project, within
from chalicelib.http.operation import Address, Call, NoQuery, Operations
from chalicelib.storage.dynamodb import records, steps
from chalicelib.storage.dynamodb.transactions import Transaction

Handler = Callable[[Call[Any, Any, Any]], Any]


@dataclass(kw_only=True)
class RecordResource:
    """One kind of record in the API.

    Attributes:
        kind: its record kind, whose parent is a project or an organization.
        word, plural: as in `/rest/Bookmark/{id}` and `/rest/Bookmarks/{project}`; by default the kind's title.
        address: what the path of one record addresses; by default any record of the project or organization.
        read, write: the permissions of GET and of the other operations.
        spec, update: the bodies of creation and change.
        schema_update: the type that `/schema` shows for `update`, where clients build a keyword from its name.
        query: the parameters of the list; beside: those of a creation, which give members of its body.
        find: the records of a list; by default all of the project or organization.
        store: stores and returns the new record.
        show: the response for a record; the record itself by default.
        check_change: the members to replace, from a change and its given members; may refuse it.
        needs_guard: whether `check_change` reads other records of the project, which must not change meanwhile.
        taken_error: the error for a change that claims another record's unique value.
        remove: deletes the record; by default without checks.
        audits: what entries of its changes in the audit log are about.
        answers_deleted_id: whether the answer of a deletion has the id beside its message.
        event_of: the event of a change or deletion (no record after it), for the feed of the record's project.
    """

    kind: RecordKind[Any]
    tag: str
    read: Permission
    write: Permission
    spec: type[Resource]
    update: type[Resource]
    store: Handler
    word: str = ""
    plural: str = ""
    address: Address[Any] | None = None
    find: Handler | None = None
    query: type[Resource] = NoQuery
    beside: type[Resource] = NoQuery
    show: Callable[[Any], Any] = lambda record: record
    check_change: Callable[[Call[Any, Any, Any], dict[str, Any]], dict[str, Any]] = lambda _, change: change
    needs_guard: Callable[[Any], bool] = lambda _: False
    taken_error: Callable[[], LimnError] | None = None
    remove: Callable[[Call[Any, Any, Any]], None] | None = None
    event_of: Callable[[Any, Any], Note] | None = None
    audits: AuditKind | None = None
    answers_deleted_id: bool = False
    created_message: str = "{word} created successfully!"
    deleted_message: str = "{word} {id} deleted successfully!"
    schema_update: type[Resource] | None = None
    updated_message: str = "{word} {id} updated successfully!"

    def __post_init__(self) -> None:
        self.word = self.word or self.kind.title
        self.plural = self.plural or f"{self.word}s"

    def list(self, call: Call[Any, Any, Any]) -> list[Any]:
        """All records that the caller may see."""
        kind = self.kind
        found = self.find(call) if self.find else records.list_children(kind, call.project or call.organization)
        return [self.show(record) for record in call.scope.visible(kind.name, found)]

    def create(self, call: Call[Any, Any, Any]) -> CreateResponse:
        """Create a record."""
        record = self.store(call)
        message = self.created_message.format(word=self.word, name=getattr(record, "name", ""))
        return CreateResponse(message=message, id=self.kind.id_of(record))

    def get(self, call: Call[Any, Any, Any]) -> Any:
        """The record that the path addresses."""
        return self.show(call.target)

    def change(self, call: Call[Any, Any, Any]) -> MessageResponse:
        """Replace the members given."""
        number = self.kind.id_of(call.target)
        taken = self.taken_error() if self.taken_error else None

        def attempt() -> None:
            guard = steps.guard(call.project) if self.needs_guard(call.body) else None

            def edit(current: Any) -> Any:
                """What the change makes of the record as it is now, not as it was when the request was admitted."""
                change = self.check_change(replace(call, target=current), given(call.body))
                if not change:
                    names = ", ".join(field.encode_name for field in msgspec.structs.fields(self.update))
                    raise BadInput(f"Nothing to change: give one of {names}.")
                return msgspec.structs.replace(current, **change)

            def also(transaction: Transaction, before: Any, after: Any) -> None:
                steps.add_guard(transaction, guard)
                if self.event_of:
                    transaction.add_note(after.project, call.caller.id, self.event_of(before, after))

            records.edit(self.kind, number, edit, user=call.caller.id, taken=taken, also=also)

        if self.needs_guard(call.body):
            steps.retry_on_conflict(attempt)
        else:
            attempt()
        return MessageResponse(message=self.updated_message.format(word=self.word, id=number))

    def delete(self, call: Call[Any, Any, Any]) -> MessageResponse | DeletedResponse:
        """Delete the record."""
        number = self.kind.id_of(call.target)
        if self.remove:
            self.remove(call)
        else:

            def attempt() -> None:
                transaction, found = Transaction(), records.get(self.kind, number)
                records.drop(transaction, self.kind, found, user=call.caller.id)
                if self.event_of:
                    transaction.add_note(found.project, call.caller.id, self.event_of(found, None))
                transaction.run()

            steps.retry_on_conflict(attempt)
        message = self.deleted_message.format(word=self.word, id=number)
        if self.answers_deleted_id:
            return DeletedResponse(message=message, id=number)
        return MessageResponse(message=message)


def record_operations(resource: RecordResource) -> Operations:
    """The operations of a kind of record."""
    kind, word = resource.kind, resource.word
    assert kind.parent is not None, word  # noqa: S101 a project or an organization
    where = kind.parent[1]
    parent, record = (
        (PROJECT, record_of_project) if where == "project" else (ORGANIZATION_ADDRESS, record_of_organization)
    )
    many, one = f"/rest/{resource.plural}/{{{where}}}", f"/rest/{word}/{{id}}"
    struct, noun = kind.struct, kind.title.lower()
    a_noun = with_article(noun)
    made = Operations(tag=resource.tag, addresses=resource.address or record(kind), audits=resource.audits)
    made.get(
        many,
        f"Get{word}List",
        summary=f"Every {noun} there is for the caller.",
        needs=resource.read,
        addresses=within(parent),
        query=resource.query,
        returns=list[struct],  # type: ignore[valid-type]
    )(resource.list)
    made.post(
        many,
        f"Create{word}",
        summary=f"Make {a_noun}.",
        needs=resource.write,
        addresses=parent,
        query=resource.beside,
        body=resource.spec,
    )(resource.create)
    made.get(one, f"Get{word}", summary=f"One {noun}.", needs=resource.read, returns=struct)(resource.get)
    made.patch(
        one,
        f"Update{word}",
        summary=f"Change {a_noun}: the members given, and no others.",
        needs=resource.write,
        body=resource.update,
        schema_body=resource.schema_update,
    )(resource.change)
    made.delete(
        one,
        f"Delete{word}",
        summary=f"Delete {a_noun}.",
        needs=resource.write,
        returns=DeletedResponse if resource.answers_deleted_id else MessageResponse,
        schema_answer=MessageResponse,
    )(resource.delete)
    return made
