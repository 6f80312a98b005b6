"""What the queue function erases: audit logs, projects with their logs, and what lies by the id of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.keys import object_keys
from chalicelib.core.log.commits import Commit, Note
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.models.personal import Erasure
from chalicelib.core.personal_data import Person, holds_personal, without
from chalicelib.core.records import RecordKind
from chalicelib.errors import NotFound
from chalicelib.resources.comments.schemas import COMMENT
from chalicelib.resources.erasures.accounts import Finding
from chalicelib.resources.jobs.runs import RUN
from chalicelib.resources.projects.purging import PROJECT_KINDS
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import credentials, records
from chalicelib.storage.dynamodb.progress import idempotency
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import rewriting
from chalicelib.storage.objects import objects


@dataclass(frozen=True)
class ErasurePart:
    """A part of the work that is done within one delivery; parts are done in the order of their keys."""

    key: str
    find: Callable[[Person], Iterator[Finding]]


def places_of(erasure: Erasure) -> list[ErasurePart]:
    """All parts of an erasure. A project that was deleted is left to its purge."""
    found = [ErasurePart("user", _of_user)]
    for organization in erasure.organizations:
        found.append(ErasurePart(f"audit {organization:012d}", partial(_of_audit_log, organization)))
        projects = (each for each in records.list_linked(PROJECT, "organization", organization) if not each.deleted)
        found += (ErasurePart(f"project {each.id:012d}", partial(_of_project, each.id)) for each in projects)
    return sorted(found, key=lambda place: place.key)


def _of_user(person: Person) -> Iterator[Finding]:
    for key in objects.under(object_keys.avatar_prefix(person.id)):
        yield "pictures", partial(objects.remove, [key])
    for row in idempotency.rows_of(person.id):
        yield "answers kept for Idempotency-Key", partial(idempotency.remove, row)


def _of_audit_log(organization: int, person: Person) -> Iterator[Finding]:
    for entry in chain.entries_of(organization, person.id):
        yield "audit log", partial(chain.erase, organization, entry)


def _of_project(project: int, person: Person) -> Iterator[Finding]:
    for kind in PROJECT_KINDS:
        struct: type[Struct] = kind.struct
        if holds_personal(struct):
            for record in records.list_children(kind, project):
                if without(record, person) != record:
                    yield kind.plural, partial(_change, kind, kind.id_of(record), person)
    for run in records.list_children(RUN, project):
        if run.user == person.id and run.credential and credentials.read(run.credential):
            yield "tokens of jobs", partial(_end_token, run.credential)
    for write in rewriting.find_changed(project, partial(_without_mentions, person)):
        yield "commits", write


def _without_mentions(person: Person, commit: Commit) -> Commit:
    notes = [_note_without(person, note) for note in commit.notes]
    return commit if notes == commit.notes else msgspec.structs.replace(commit, notes=notes)


def _note_without(person: Person, note: Note) -> Note:
    """The event of a comment has its text, in which others mention people."""
    text = note.data.get("text")
    if note.kind != COMMENT.name or not isinstance(text, str):
        return note
    return msgspec.structs.replace(note, data={**note.data, "text": person.without_mentions(text)})


def _end_token(credential: str) -> None:
    change = Transaction()
    credentials.remove(change, [credential])
    change.run()


def _change(kind: RecordKind[Any], number: int | str, person: Person) -> None:
    with suppress(NotFound):
        records.edit(kind, number, lambda current: without(current, person))
