"""Files: permanent files that belong to no media. Callers upload their objects."""

from __future__ import annotations

import uuid
from typing import Any

import msgspec

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import GONE, Change
from chalicelib.core.log.edits import changed, deleted
from chalicelib.core.models.definitions import FileType
from chalicelib.core.models.entities import File
from chalicelib.core.resource import now
from chalicelib.core.values.attribute_values import fill, merge
from chalicelib.core.values.revisions import up_to_date
from chalicelib.errors import BadInput
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.entities.service import Writer, author, types_of, unknown_type, uuid_text
from chalicelib.resources.files.schemas import FileSpec, FileUpdate
from chalicelib.resources.media.service import project_with
from chalicelib.storage.dynamodb import entities, ids, steps
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import owners

FILE = Kind.FILE


def create(writer: Writer, spec: FileSpec) -> File:
    """Create a File without content.

    Raises:
        BadInput: its type does not belong to the project, or an attribute breaks its definition.
        Forbidden, NotFound: an author was named without full control, or does not exist.
    """
    user = author(writer, spec.user_elemental_id) or writer.user
    moment = now()
    of = _type_of(writer.project, spec.type)
    made = File(
        id=ids.reserve(FILE)[0],
        project=writer.project,
        type=spec.type,
        name=spec.name,
        description=spec.description,
        attributes=fill(of.attribute_types, spec.attributes or {}, moment),
        revision=len(of.revisions),
        elemental_id=uuid_text(spec.elemental_id) if spec.elemental_id else str(uuid.uuid4()),
        created_by=user,
        created_datetime=moment,
        modified_by=user,
        modified_datetime=moment,
    )
    entities.create(FILE, [made], user=writer.user)
    return made


def update(writer: Writer, number: int, body: FileUpdate) -> File:
    """Change a File; a replaced object is removed.

    Raises:
        Forbidden: the path belongs to another File, or an author was named without full control.
        BadInput: an attribute breaks its definition, or the type does not belong to the project.
        NotFound: the File or the author does not exist.
    """
    user = author(writer, body.user_elemental_id)
    if body.path:  # a File without an object is sent back with an empty one
        project = project_with(writer.project)
        object_keys.authorize_file_key(body.path, project.organization, project.id, number)
        buckets_service.check_key(project, body.path, None)
    plain: dict[str, Any] = {name: getattr(body, name) for name in ("name", "description", "path")}
    plain["elemental_id"] = uuid_text(body.elemental_id) if body.elemental_id else None
    plain["created_by"] = user
    plain = {name: value for name, value in plain.items() if value is not None}

    def edit(current: File) -> File:
        if body.path == "" and current.path:
            raise BadInput("path: a File keeps its object until another one takes its place. Leave path out.")
        change = plain | _attributes(current, body)
        return msgspec.structs.replace(current, **change, **writer.authorship())

    after: File = object_cleanup.edit(
        FILE, number, edit, user=writer.user, describe=lambda before, after: [changed(FILE, before, after)]
    )
    return after


def delete(writer: Writer, number: int) -> None:
    """Delete a File and its object. Raises NotFound if it is deleted already."""

    def attempt() -> tuple[str, set[ObjectKey]]:
        row = entities.get_stored(FILE, number)
        going = object_cleanup.object_keys_of(row.entity)
        change = Transaction()
        entities.tombstone(change, FILE, row)
        past = [Change(FILE, number, msgspec.Raw(msgspec.json.encode(row.entity)))]
        change.log(writer.project, writer.user, [Change(FILE, number, GONE)], [deleted(FILE, [number])], past)
        note = owners.release(change, writer.project, going) if going else ""
        change.run()
        return note, going

    object_cleanup.delete_released(writer.project, *steps.retry_on_conflict(attempt))


def _attributes(current: File, body: FileUpdate) -> dict[str, Any]:
    """Type and attributes after the change: a new type keeps the attributes that it has too, and adds its defaults."""
    asked = (body.attributes, body.reset_attributes, body.null_attributes)
    if body.type in (None, current.type) and all(part is None for part in asked):
        return {}
    number = body.type or current.type
    of = _type_of(current.project, number)
    if number == current.type:
        before = up_to_date(current, of.revisions).attributes
    else:
        kept = {name: value for name, value in current.attributes.items() if of.attribute(name)}
        before = fill(of.attribute_types, kept, now())
    return {"type": number, "attributes": merge(of.attribute_types, before, *asked), "revision": len(of.revisions)}


def _type_of(project: int, number: int) -> FileType:
    found = types_of(FILE, project, [number])
    if not found:
        raise BadInput(unknown_type(FILE, project, number))
    kept: FileType = found[number]
    return kept
