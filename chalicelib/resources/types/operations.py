"""Types of media, localizations, states, leaves and files: five kinds with the same operations."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definition_specs import (
    FileTypeSpec,
    FileTypeUpdate,
    LeafTypeSpec,
    LeafTypeUpdate,
    LocalizationTypeSpec,
    LocalizationTypeUpdate,
    MediaTypeSpec,
    MediaTypeUpdate,
    StateTypeSpec,
    StateTypeUpdate,
)
from chalicelib.core.models.definitions import TYPE_RECORD, AnyType
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Id, Resource, Uuid, given
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.core.values.attribute_values import check_definitions
from chalicelib.core.values.shapes import SHAPES
from chalicelib.errors import BadInput, NotFound
from chalicelib.http.addresses import PROJECT, record_of_project
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.types import archive_keys, definitions, retirement
from chalicelib.resources.types import attributes as types_attributes
from chalicelib.storage.dynamodb import entities, ids, records

TAG = "Types"


class TypeQuery(Resource, kw_only=True):
    """The filter of type lists."""

    elemental_id: Uuid | None = None


class AnnotationTypeQuery(TypeQuery, kw_only=True):
    """The filter of annotation type lists: a media that the types can annotate. `type` is ignored."""

    media_id: list[Id] | None = None
    type: Id | None = None


@dataclass(frozen=True, kw_only=True)
class TypeResource:
    """One of the five kinds of types, and its differences."""

    kind: Kind
    word: str
    spec: type[Resource]
    update: type[Resource]
    query: type[Resource] = TypeQuery

    def list(self, call: Call[Project, Any, None]) -> list[AnyType]:
        """All types of the kind: file types by id, the others by name."""
        found = list(records.definitions(call.project).types(self.kind).values())
        if wanted := call.query.elemental_id:
            found = [each for each in found if each.elemental_id == wanted.lower()]
        if media := getattr(call.query, "media_id", None):
            fitting = _media_type_of(call.project, media)
            found = [each for each in found if fitting in each.media]  # type: ignore[union-attr]
        return sorted(found, key=lambda each: (each.id if self.kind is Kind.FILE else each.name, each.id))

    def create(self, call: Call[Project, NoQuery, Any]) -> CreateResponse:
        """Create a type. Its attributes are checked by shape; further rules apply when one is added or changed."""
        members = _check(call.project, given(call.body))
        _check_refinements(members.get("dtype"), members)
        number = ids.reserve(TYPE_RECORD[self.kind].name)[0]
        members.setdefault("elemental_id", str(uuid.uuid4()))
        made = TYPE_RECORD[self.kind].struct(id=number, project=call.project, **members)
        types_attributes.create(self.kind, made, call.caller.id)
        return CreateResponse(message=f"{self.word} created successfully!", id=number)

    def get(self, call: Call[AnyType, NoQuery, None]) -> AnyType:
        """One type."""
        return call.target

    def change(self, call: Call[AnyType, NoQuery, Any]) -> MessageResponse:
        """Replace the given members; media types are added to the existing ones."""
        change = _check(call.project, given(call.body))
        if not change:
            raise BadInput("Nothing to change: none of the members of this type was given.")
        added = change.pop("media", [])

        def edit(current: Any) -> Any:
            _check_refinements(getattr(current, "dtype", None), change, current)
            more = {"media": list(dict.fromkeys([*current.media, *added]))} if added else {}
            return msgspec.structs.replace(current, **change, **more)

        records.edit(TYPE_RECORD[self.kind], call.target.id, edit, user=call.caller.id)
        return MessageResponse(message=f"{self.word} {call.target.id} updated successfully!")

    def delete(self, call: Call[AnyType, NoQuery, None]) -> MessageResponse:
        """Delete the type with all its entities."""
        number = call.target.id
        gone = retirement.delete_type(self.kind, call.project, number, call.scope)
        title = f"{self.kind.capitalize()} type"
        return MessageResponse(message=f"{title} {number} (and {gone} instances) deleted successfully!")

    def operations(self) -> Operations:
        """The five operations of this kind of type."""
        record, noun = TYPE_RECORD[self.kind], f"{self.kind} type"
        struct, many, one = record.struct, f"/rest/{self.word}s/{{project}}", f"/rest/{self.word}/{{id}}"
        made = Operations(tag=TAG, addresses=record_of_project(record), needs=Permission.FULL)
        made.get(
            many,
            f"Get{self.word}List",
            summary=f"The {noun}s of a project.",
            needs=Permission.VIEW,
            addresses=PROJECT,
            query=self.query,
            returns=list[struct],  # type: ignore[valid-type]
        )(self.list)
        made.post(many, f"Create{self.word}", summary=f"Make a {noun}.", addresses=PROJECT, body=self.spec)(self.create)
        made.get(one, f"Get{self.word}", summary=f"One {noun}.", needs=Permission.VIEW, returns=struct)(self.get)
        made.patch(
            one, f"Update{self.word}", summary=f"Change a {noun}, its attributes and dtype apart.", body=self.update
        )(self.change)
        made.delete(
            one,
            f"Delete{self.word}",
            summary=f"Delete a {noun} with everything of it, at once; the message counts that.",
        )(self.delete)
        return made


def _check(project: int, members: dict[str, Any]) -> dict[str, Any]:
    """The members of a body in their stored form. Raises BadInput or NotFound if one breaks a rule."""
    if members.get("name", "").strip().casefold() == definitions.RESERVED:
        raise BadInput(f"name: a type may not be called {definitions.RESERVED}.")
    if "media_types" in members:
        members["media"] = definitions.check_media_types(project, members.pop("media_types"))
    for member in retirement.DEFAULTS:
        definitions.check_default(project, member, members.get(member))
    if "attribute_types" in members:
        types_attributes.check_room(project, len(members["attribute_types"]))
        members["attribute_types"] = check_definitions(members["attribute_types"])
    if members.get("archive_config") is not None:
        members["archive_config"] = archive_keys.seal(members["archive_config"])
    if "elemental_id" in members:
        members["elemental_id"] = members["elemental_id"].lower()
    return members


def _check_refinements(dtype: Any, members: Mapping[str, Any], before: Any = None) -> None:
    """Refuse refinements that shapes of a dtype do not have, and a skeleton without its points or with other ones."""
    if not members.keys() & {"refinements", "skeleton"}:
        return
    wanted = members.get("refinements", getattr(before, "refinements", []))
    known = SHAPES[dtype].refinements
    for name in wanted:
        if name not in known:
            raise BadInput(f"refinements: {SHAPES[dtype].plural} may have {', '.join(known) or 'none'}, not {name!r}.")
    if len(set(wanted)) < len(wanted):
        raise BadInput("refinements: name each once.")
    if "skeleton" in wanted and len(wanted) > 1:
        raise BadInput("refinements: skeletons are neither open nor have holes; make a type of their own for them.")
    old = getattr(before, "skeleton", None)
    skeleton = members.get("skeleton", old)
    if ("skeleton" in wanted) != (skeleton is not None) and not (old and "skeleton" not in members):
        raise BadInput("skeleton: give it together with the refinement 'skeleton'.")
    if old is not None and skeleton is not None and len(old.points) != len(skeleton.points):
        raise BadInput(
            f"skeleton: its {len(old.points)} points may be renamed; make a new type for {len(skeleton.points)} points."
        )


def _media_type_of(project: int, media: list[int]) -> int:
    if len(media) != 1:
        raise BadInput(f"media_id: give exactly one media id, not {len(media)}; we expect only one media ID!")
    found = entities.get(Kind.MEDIA, media[0])
    if found.project != project:
        raise NotFound.of("Media", media[0])
    return int(found.type)


RESOURCES = (
    TypeResource(kind=Kind.MEDIA, word="MediaType", spec=MediaTypeSpec, update=MediaTypeUpdate),
    TypeResource(
        kind=Kind.LOCALIZATION,
        word="LocalizationType",
        spec=LocalizationTypeSpec,
        update=LocalizationTypeUpdate,
        query=AnnotationTypeQuery,
    ),
    TypeResource(
        kind=Kind.STATE, word="StateType", spec=StateTypeSpec, update=StateTypeUpdate, query=AnnotationTypeQuery
    ),
    TypeResource(kind=Kind.LEAF, word="LeafType", spec=LeafTypeSpec, update=LeafTypeUpdate),
    TypeResource(kind=Kind.FILE, word="FileType", spec=FileTypeSpec, update=FileTypeUpdate),
)

OPERATIONS = tuple(operation for resource in RESOURCES for operation in resource.operations())
