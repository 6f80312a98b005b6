"""Clones of media: separate records, in the same or another project, that share objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from chalicelib.access import authentication, view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.keys import key_forms
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change
from chalicelib.core.log.edits import unseen
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definitions import Definitions, MediaType, Section
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import TAG_ATTRIBUTE, MediaFiles, keys_of
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Forbidden, NotFound
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.media import service as media_service
from chalicelib.resources.media.readiness import note_ready
from chalicelib.resources.media.schemas import MOST_CLONED, CloneMediaSpec
from chalicelib.resources.sections import service as sections_service
from chalicelib.storage.dynamodb import entities, ids, records
from chalicelib.storage.dynamodb.progress import lineage
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import growth
from chalicelib.storage.objects import owners

FIRST = -1
_OTHERS = ("multi", "live")
"""The dtypes of media without files of their own."""


def clone(scope: Scope, source: Project, parameters: MediaQuery, spec: CloneMediaSpec) -> list[int]:
    """Clone the media that match the parameters. Returns the ids of the clones, in list order.

    Annotations are not cloned. Elemental ids, attributes and files are copied. In another project a clone gets the
    given folder, or the folder with the tag of the original's folder, or no folder.

    Raises:
        NotFound: the caller sees no such project, or the type does not exist.
        Forbidden: the caller may not transfer media to the project.
        BadInput: there are too many media, or the type or section does not belong to the destination.
    """
    project = _destination(scope, spec.dest_project)
    definitions = records.definitions(project.id)
    type_ = _type(definitions, spec.dest_type)
    query = filters.parse(Kind.MEDIA, parameters)
    chosen = view_queries.ids(view_queries.current(source.id), query, scope)
    if len(chosen) > MOST_CLONED:
        raise BadInput(f"{len(chosen)} media match; at most {MOST_CLONED} are cloned at once. Use start and stop.")
    if not chosen:
        return []
    section = _section(scope, project.id, definitions, spec)
    growth.make_room(project.id, len(chosen))
    # Object cleanup must know of the clones before the clones name the files
    # (resources/entities/object_cleanup).
    numbers = ids.reserve(Kind.MEDIA, len(chosen))
    _record_use(chosen, numbers)
    found = entities.many(Kind.MEDIA, chosen)
    made = [
        _copy(found[original].entity, number, scope.caller.id, definitions, type_, section)
        for original, number in zip(chosen, numbers, strict=True)
        if original in found
    ]
    created = [one.id for one in made]
    scope.for_level(Level.TRANSFER).check(Kind.MEDIA, made)

    def note(change: Transaction) -> list[Change]:
        for each in made:
            note_ready(change, None, each)
        return []

    lineage.record_launches([media.id for media in made], scope.caller.launches)
    entities.create(Kind.MEDIA, made, user=scope.caller.id, edits=[unseen(Kind.MEDIA, created)], also=note)
    return created


def clone_ids(scope: Scope, found: Media) -> list[int]:
    """The ids of all visible media that share files with one media, media of the original's project first.

    Raises:
        BadInput: the media shows others, and has no files of its own.
    """
    type_ = records.definitions(found.project).types(Kind.MEDIA).get(found.type)
    if isinstance(type_, MediaType) and type_.dtype in _OTHERS:
        raise BadInput(f"Media {found.id} is {type_.dtype}: it shows others, and has no files to share.")
    shared = _find_shared(found.media_files)
    keys = owners.authorize(found, shared)
    folders = {(owner[0], owner[2]) for key in keys if (owner := key_forms.owner_of(key))}
    others = {found.id}.union(*(owners.clones(*folder) for folder in folders))
    rows = entities.many(Kind.MEDIA, [*sorted(number for _, number in folders), *sorted(others)])
    family = [
        row.entity
        for row in rows.values()
        if row.entity.id == found.id or shared & _find_shared(row.entity.media_files)
    ]
    return [one.id for one in _seen(scope, family)]


def _seen(scope: Scope, family: Iterable[Media]) -> Iterator[Media]:
    """The media that the caller may see, of some."""
    levels: dict[int, Level] = {}
    for one in family:
        if one.project not in levels:
            levels[one.project] = authentication.project_level(scope.caller, one.project)
        level = levels[one.project]
        if level > Level.NONE and scope.terms(one.project):
            level = scope.project_level(one.project, Kind.MEDIA.value, lambda one=one: one)  # type: ignore[misc]
        if level > Level.NONE:
            yield one


def _destination(scope: Scope, number: int) -> Project:
    project = authentication.project_of(number)
    level = scope.project_level(number, "project", lambda: project)
    if level is Level.NONE:
        raise NotFound.of("Project", number)
    if level < Level.TRANSFER:
        raise Forbidden("dest_project: you may not transfer media to this project.")
    return project


def _type(definitions: Definitions, number: int) -> MediaType:
    types = definitions.types(Kind.MEDIA)
    if number == FIRST:
        if not types:
            raise BadInput("dest_type: the destination has no media types.")
        number = min(types)
    elif number not in types:
        raise media_service.unknown_type(definitions.project, number, "dest_")
    return media_service.type_of(definitions, number)


def _section(scope: Scope, project: int, definitions: Definitions, spec: CloneMediaSpec) -> Section | None:
    if spec.dest_section_id is not None:
        return media_service.folder(definitions, spec.dest_section_id, "dest_section_id")
    name = (spec.dest_section or "").strip()
    return sections_service.folder_for(scope, project, name, scope.caller.id) if name else None


def _record_use(originals: Iterable[int], numbers: Iterable[int]) -> None:
    """Record, for each folder that holds the originals' files, that clones use it; the originals' own folders first."""
    rows = entities.many(Kind.MEDIA, originals)
    pairs = []
    for original, number in zip(originals, numbers, strict=True):
        if original in rows:
            found: Media = rows[original].entity
            keys = owners.authorize(found, keys_of(found.media_files))
            folders = {owner for key in keys if (owner := key_forms.owner_of(key))}
            pairs += [(project, folder, number) for project, _, folder in folders]
            pairs.append((found.project, original, number))
    owners.share(pairs)


def _copy(
    original: Media, number: int, user: int, definitions: Definitions, type_: MediaType, section: Section | None
) -> Media:
    moment = now()
    change: dict[str, Any] = {}
    if section is not None:
        change = _in_section(original, section.id, section.tator_user_sections or "")
    elif original.project != definitions.project:
        tag = original.attributes.get(TAG_ATTRIBUTE) or ""
        there = media_service.section_of_tag(definitions, tag)
        change = _in_section(original, there, tag if there else "")
    if change:
        change["master_section"] = media_service.master_section(definitions, change["primary_section"])
    return msgspec.structs.replace(
        original,
        **change,
        id=number,
        project=definitions.project,
        type=type_.id,
        revision=len(type_.revisions),
        created_by=user,
        created_datetime=moment,
        modified_by=user,
        modified_datetime=moment,
    )


def _in_section(original: Media, section: int | None, tag: str) -> dict[str, Any]:
    return {"primary_section": section, "attributes": {**original.attributes, TAG_ATTRIBUTE: tag}}


def _find_shared(files: MediaFiles | None) -> set[str]:
    return keys_of(msgspec.structs.replace(files, thumbnail=None, thumbnail_gif=None)) if files else set()
