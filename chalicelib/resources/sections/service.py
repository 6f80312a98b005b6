"""Sections: paths and tags, the folders of media, and deletion."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.models.definition_specs import SectionSpec
from chalicelib.core.models.definitions import SECTION, Section
from chalicelib.core.models.media_files import TAG_ATTRIBUTE
from chalicelib.core.records import padded
from chalicelib.core.resource import now
from chalicelib.core.values.attribute_values import fill
from chalicelib.errors import BadInput
from chalicelib.query.check import check_saved_search
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.sections import bulk as sections_bulk
from chalicelib.resources.sections.bulk import path_taken
from chalicelib.storage.dynamodb import entities, ids, records

PATH = re.compile(r"[A-Za-z0-9_]{1,255}(\.[A-Za-z0-9_]{1,255})*")
"""Labels separated by dots."""
_NOT_IN_PATH = re.compile(r"[^A-Za-z0-9_.]")


def create(project: int, spec: SectionSpec, user: int, *, by_name: bool = False) -> Section:
    """Create a section.

    Args:
        project: its project.
        spec: the members.
        user: the author.
        by_name: whether it is the unique folder of its name that `folder_for` creates.

    Raises:
        BadInput: its path is taken or malformed, an attribute breaks its definition, or a media belongs to another
            project.
    """
    media = list(dict.fromkeys(spec.media or []))
    check_media(project, media)
    check_master(project, spec.master_section)
    tag = spec.tator_user_sections
    searches = (spec.object_search, spec.related_search, spec.lucene_string)
    section = Section(
        id=ids.reserve(SECTION.name)[0],
        project=project,
        name=spec.name,
        path=check_path(spec.path) if spec.path else path_of(spec.name),
        dtype=spec.dtype or ("saved_search" if any(searches) else "folder"),
        tator_user_sections=str(uuid.uuid1()) if isinstance(tag, msgspec.UnsetType) else tag,
        object_search=spec.object_search,
        related_search=spec.related_search,
        visible=spec.visible,
        explicit_listing=spec.explicit_listing,
        elemental_id=(spec.elemental_id or str(uuid.uuid4())).lower(),
        attributes=fill(records.get(PROJECT, project).attribute_types, spec.attributes or {}, now()),
        media=media,
        created_datetime=now(),
        created_by=user,
        lucene_string=spec.lucene_string,
        media_bools=spec.media_bools,
        annotation_bools=spec.annotation_bools,
        master_section=spec.master_section,
        by_name=by_name,
    )
    if any(search is not None for search in searches):
        check_saved_search(section, records.definitions(project))
    taken = path_taken()
    if not spec.path:
        taken.details = (
            f"The name gives the path {section.path!r}; give another one as path, of ASCII letters, digits and _."
        )
    records.create(SECTION, section, user=user, taken=taken)
    return section


def folder_for(scope: Scope, project: int, name: str, user: int) -> Section:
    """The folder with a name, in any case; created if it does not exist. Concurrent calls get the same folder."""
    for _ in range(3):
        found = _folder(project, name)
        if found is not None:
            return found
        scope.check_project(project)
        path = path_of(name)
        taken = {section.path for section in records.definitions(project).sections.values()}
        if path in taken:  # by a section of another name or sort
            path = f"{path}_{uuid.uuid4().hex[:8]}"
        try:
            return create(project, SectionSpec(name=name, path=path), user, by_name=True)
        except BadInput as refusal:
            if refusal.message != path_taken().message:
                raise
    raise path_taken()


def _folder(project: int, name: str) -> Section | None:
    wanted = name.casefold()
    folders = (section for section in records.definitions(project).sections.values() if section.dtype == "folder")
    return min((each for each in folders if each.name.casefold() == wanted), key=lambda each: each.id, default=None)


def path_of(name: str) -> str:
    """The path derived from a section's name: invalid characters become `_`, dots separate levels."""
    labels = [label or "_" for label in _NOT_IN_PATH.sub("_", name).split(".")]
    return ".".join(labels)


def check_path(path: str) -> str:
    """A given path. Raises BadInput if it is malformed."""
    if not PATH.fullmatch(path):
        raise BadInput("path: it must be labels of letters, digits and _ with dots between them.")
    return path


def check_master(project: int, master: int | None, section: int | None = None) -> None:
    """Raise BadInput unless a master section is a section of the project, and not the section itself."""
    if master is not None and (master == section or records.find(SECTION, project, padded(master)) is None):
        raise BadInput(f"master_section: the project has no other section {master}.")


def check_media(project: int, media: Iterable[int], member: str = "media") -> None:
    """Raise BadInput, naming the member, unless every id is a media of the project."""
    wanted = list(media)
    known = {number for number, row in entities.many(Kind.MEDIA, wanted).items() if row.entity.project == project}
    missing = [number for number in wanted if number not in known]
    if missing:
        raise BadInput(f"{member}: the project has no media {missing}.")


def delete(scope: Scope, project: int, found: Iterable[Section]) -> int:
    """Delete sections; their media are kept without a section. Returns how many."""
    changes = [
        BulkChange(
            kind=Kind.MEDIA,
            project=project,
            user=scope.caller.id,
            verb="unlink_section",
            numbers=[section.id],
            logged=(
                {"_primary_section": section.id, TAG_ATTRIBUTE: section.tator_user_sections},
                {"_primary_section": None, TAG_ATTRIBUTE: ""},
            ),
        )
        for section in found
    ]
    if changes:
        view = view_queries.current(project)
        rows = sum(
            view_queries.count(view, sections_bulk.inside(change.numbers[0]), UNRESTRICTED) for change in changes
        )
        bulk_service.run(*changes, rows=len(changes) + rows, handlers=sections_bulk.HANDLERS, scope=scope)
    return len(changes)


def substitute(scope: Scope, project: int, found: Iterable[Section], old: str, new: str) -> int:
    """Replace the prefix of the paths of sections that have it. Returns how many.

    Raises:
        BadInput: a new path is malformed or taken; nothing was changed.
    """
    moved = [section for section in found if section.path.startswith(old)]
    paths = {section.id: check_path(new + section.path[len(old) :]) for section in moved}
    others = records.definitions(project).sections.values()
    if not {section.path for section in others if section.id not in paths}.isdisjoint(paths.values()):
        raise path_taken()
    # A new path may be the old path of another section in the list: that section is renamed first.
    moved.sort(key=lambda section: len(section.path), reverse=len(new) > len(old))
    bulk_service.run(
        BulkChange(
            kind=Kind.MEDIA,
            project=project,
            user=scope.caller.id,
            verb="rename_paths",
            numbers=[section.id for section in moved],
            paths={section.id: (section.path, paths[section.id]) for section in moved},
        ),
        handlers=sections_bulk.HANDLERS,
        scope=scope,
    )
    return len(moved)


def merge_media(current: list[int], change: Mapping[str, Any]) -> list[int]:
    """The listed media after `media_add` and `media_del`."""
    removed = set(change.get("media_del") or ())
    return [each for each in dict.fromkeys([*current, *(change.get("media_add") or ())]) if each not in removed]
