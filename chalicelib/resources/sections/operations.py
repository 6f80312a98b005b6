"""Sections: folders, lists and saved searches of media."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from chalicelib.core.models.accounts import PROJECT as PROJECT_RECORD
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definition_specs import SectionBulkUpdate, SectionSpec, SectionUpdate
from chalicelib.core.models.definitions import SECTION, Section
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, Uuid, given
from chalicelib.core.responses import MessageResponse
from chalicelib.core.values.attribute_values import merge
from chalicelib.errors import BadInput
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.query.check import check_saved_search
from chalicelib.resources.sections import bulk as sections_bulk
from chalicelib.resources.sections import search as sections_search
from chalicelib.resources.sections import service as sections_service
from chalicelib.resources.sections.lquery import LabelPattern
from chalicelib.storage.dynamodb import records

TAG = "Sections"
OPERATIONS = Operations(tag=TAG)
_SEARCHES = {"object_search", "related_search", "lucene_string"}


class SectionName(Resource, kw_only=True):
    """The name of a section beside its body."""

    name: str | None = None


class SectionQuery(SectionName, kw_only=True):
    """The filters of sections."""

    name: Annotated[str | None, Meta(description="The exact name, in any case.")] = None
    encoded_search: Annotated[
        str | None, Meta(description="An object search over the sections' attributes, as base64 of JSON.")
    ] = None
    elemental_id: Uuid | None = None
    match: Annotated[str | None, Meta(description="An lquery that the path matches, such as `Honda.*.EX_L`.")] = None
    ancestors: Annotated[str | None, Meta(description="A path; matches it and its ancestors.")] = None
    descendants: Annotated[str | None, Meta(description="A path; matches it and its descendants.")] = None


def list_sections(call: Call[Project, SectionQuery, None]) -> list[Section]:
    """The sections of the project that match, by name."""
    return sorted(_find_sections(call), key=lambda section: (section.name, section.id))


def make_section(call: Call[Project, SectionQuery, SectionSpec]) -> Section:
    """Create a section."""
    return sections_service.create(call.project, call.body, call.caller.id)


class SectionResource(RecordResource):
    """Changes apply to the current section: media are added and removed, attributes merged."""

    def change(self, call: Call[Section, NoQuery, SectionUpdate]) -> MessageResponse:
        """Replace the given members."""
        change = given(call.body)
        if not change:
            raise BadInput("Nothing to change: give name, path, media_add or another member of a section.")
        if "path" in change:
            sections_service.check_path(change["path"])
        if "elemental_id" in change:
            change["elemental_id"] = change["elemental_id"].lower()
        if "name" in change:
            change["by_name"] = False
        sections_service.check_master(call.project, change.get("master_section"), call.target.id)
        media: dict[str, Any] = {name: change.pop(name) for name in ("media_add", "media_del") if name in change}
        attributes = change.pop("attributes", None)
        sections_service.check_media(call.project, media.get("media_add") or (), "media_add")
        searches = {name: change[name] for name in _SEARCHES & change.keys()}
        if searches:
            changed = msgspec.structs.replace(call.target, **searches)
            check_saved_search(changed, records.definitions(call.project))
        types = records.get(PROJECT_RECORD, call.project).attribute_types if attributes else ()

        def edit(current: Section) -> Section:
            more: dict[str, Any] = {}
            if media:
                more["media"] = sections_service.merge_media(current.media, media)
            if attributes:
                more["attributes"] = merge(types, current.attributes, attributes, None, None)
            return msgspec.structs.replace(current, **change, **more)

        records.edit(SECTION, call.target.id, edit, user=call.caller.id, taken=sections_bulk.path_taken())
        return MessageResponse(message=f"Section {call.target.id} updated successfully!")


def remove_section(call: Call[Section, NoQuery, None]) -> None:
    """Delete the section; its media are kept."""
    sections_service.delete(call.scope, call.project, [call.target])


OPERATIONS += record_operations(
    SectionResource(
        kind=SECTION,
        tag=TAG,
        read=Permission.VIEW,
        write=Permission.EDIT,
        query=SectionQuery,
        beside=SectionName,
        spec=SectionSpec,
        update=SectionUpdate,
        find=list_sections,
        store=make_section,
        created_message="Section {name} created!",
        remove=remove_section,
    )
)


@OPERATIONS.patch("/rest/Sections/{project}", "UpdateSectionList", needs=Permission.EDIT, addresses=WITHIN_PROJECT)
def change_sections(call: Call[Project, SectionQuery, SectionBulkUpdate]) -> MessageResponse:
    """Replace the beginning of the paths of all sections that match."""
    swap = call.body.path_substitution
    if swap is None:
        raise BadInput("Nothing to change: give path_substitution.")
    done = sections_service.substitute(call.scope, call.project, _find_sections(call), swap.old, swap.new)
    return MessageResponse(message=f"Successfully updated {done} sections!")


@OPERATIONS.delete("/rest/Sections/{project}", "DestroySectionListApi", needs=Permission.EDIT, addresses=WITHIN_PROJECT)
def delete_sections(call: Call[Project, SectionQuery, None]) -> MessageResponse:
    """Remove all sections that match; their media stay."""
    done = sections_service.delete(call.scope, call.project, _find_sections(call))
    return MessageResponse(message=f"Successfully deleted {done} sections!")


def _find_sections(call: Call[Project, SectionQuery, Any]) -> list[Section]:
    wanted = call.query
    found = list(records.definitions(call.project).sections.values())
    if wanted.name is not None:
        name = wanted.name.casefold()
        found = [each for each in found if each.name.casefold() == name]
    if wanted.elemental_id is not None:
        elemental = wanted.elemental_id.lower()
        found = [each for each in found if each.elemental_id == elemental]
    if wanted.match is not None:
        pattern = LabelPattern(wanted.match)
        found = [each for each in found if pattern.matches(each.path)]
    if wanted.ancestors is not None:
        found = [each for each in found if f"{wanted.ancestors}.".startswith(f"{each.path}.")]
    if wanted.descendants is not None:
        found = [each for each in found if f"{each.path}.".startswith(f"{wanted.descendants}.")]
    if wanted.encoded_search is not None:
        found = sections_search.find(call.target.attribute_types, found, wanted.encoded_search)
    return call.scope.visible(SECTION.name, found)
