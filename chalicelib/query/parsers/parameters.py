"""The query parameters of the five entity lists, as declared: names, types, bounds and meanings.

Arrays come comma-separated or repeated, or both; the HTTP layer makes lists of them. `filters.py` gives them meaning.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.resource import Flag, Id, Resource, Uuid, shown

Index = Annotated[int, Meta(ge=0)]


Items = list[Annotated[str, shown("^:?[^,:][^,]*::[^,]*$")]] | None
Places = list[Annotated[str, shown("^:?[^,:][^,]*::[0-9.]+::-?[0-9.]+::-?[0-9.]+$")]] | None
"""Filters, `name::value` each; and places, `name::km::latitude::longitude`."""


class ListQuery(Resource, kw_only=True):
    """The parameters of every entity list: attribute filters (QF), paging and sorting (QP), the older vocabulary."""

    attribute: Annotated[Items, Meta(description="Equality: `name::value`.")] = None
    attribute_lt: Annotated[Items, Meta(description="Less than: `name::value`.")] = None
    attribute_lte: Annotated[Items, Meta(description="Less than or equal: `name::value`.")] = None
    attribute_gt: Annotated[Items, Meta(description="Greater than: `name::value`.")] = None
    attribute_gte: Annotated[Items, Meta(description="Greater than or equal: `name::value`.")] = None
    attribute_contains: Annotated[Items, Meta(description="Contains text, whatever the case: `name::value`.")] = None
    attribute_distance: Annotated[
        Places, Meta(description="Within kilometres of a place: `name::km::latitude::longitude`.")
    ] = None
    attribute_null: Annotated[Items, Meta(description="Absent or null: `name::true`; present: `name::false`.")] = None
    start: Annotated[Index | None, Meta(description="Index of the first item returned.")] = None
    stop: Annotated[Index | None, Meta(description="Index after the last item returned.")] = None
    encoded_search: Annotated[str | None, Meta(description="Base64 of the JSON of an object search.")] = None
    sort_by: Annotated[
        list[str] | None,
        Meta(description="Names to sort by: built-in fields start with `$`, `-` before a name means descending."),
    ] = None
    search: Annotated[str | None, Meta(description="A search string over the listed objects.")] = None
    force_es: Annotated[Flag | None, Meta(description="Accepted; every list is answered from the view.")] = None
    operation: Annotated[Literal["count"] | None, Meta(description="`count` answers the number of matches.")] = None


class LeafQuery(ListQuery, kw_only=True):
    """The parameters of leaf lists (QL)."""

    type: Annotated[int | None, Meta(description="Leaf type.")] = None
    name: Annotated[str | None, Meta(description="Exact name.")] = None
    depth: Annotated[int | None, Meta(description="Depth in the hierarchy; 0 for a root.")] = None
    leaf_id: Annotated[list[int] | None, Meta(description="Ids of leaves.")] = None
    after: Annotated[int | None, Meta(description="Leaves with a larger id.")] = None
    ancestor: Annotated[str | None, Meta(description="Path of a leaf: itself and what lies beneath it.")] = None


class FileQuery(ListQuery, kw_only=True):
    """The parameters of file lists (QFile)."""

    accepts: ClassVar = {"meta": "type"}

    type: Annotated[int | None, Meta(description="File type.")] = None
    name: Annotated[str | None, Meta(description="Exact name.")] = None
    after: Annotated[int | None, Meta(description="Files with a larger id.")] = None
    elemental_id: Annotated[Uuid | None, Meta(description="Elemental id.")] = None


class RelatedQuery(ListQuery, kw_only=True):
    """Filters on related entities (QR): of media, their states and localizations; of annotations, their media."""

    related_attribute: Annotated[Items, Meta(description="Equality on a related object.")] = None
    related_attribute_lt: Annotated[Items, Meta(description="Less than, on a related object.")] = None
    related_attribute_lte: Annotated[Items, Meta(description="Less than or equal, on a related object.")] = None
    related_attribute_gt: Annotated[Items, Meta(description="Greater than, on a related object.")] = None
    related_attribute_gte: Annotated[Items, Meta(description="Greater than or equal, on a related object.")] = None
    related_attribute_contains: Annotated[Items, Meta(description="Contains text, on a related object.")] = None
    related_attribute_distance: Annotated[Places, Meta(description="Within a distance, on a related object.")] = None
    related_attribute_null: Annotated[Items, Meta(description="Absent or null, on a related object.")] = None
    encoded_related_search: Annotated[
        str | None, Meta(description="Base64 of the JSON of an object search over related objects.")
    ] = None
    section: Annotated[int | None, Meta(description="Section of the media.")] = None
    multi_section: Annotated[list[Id] | None, Meta(description="Sections of the media: in any of them.")] = None
    media_id: Annotated[list[Id] | None, Meta(description="Ids of media.")] = None
    elemental_id: Annotated[Uuid | None, Meta(description="Elemental id.")] = None
    fields: Annotated[
        str | None, Meta(description="Comma-separated members to answer, such as `id,attributes.Species`.")
    ] = None


class MediaQuery(RelatedQuery, kw_only=True):
    """The parameters of media lists (QM)."""

    accepts: ClassVar = {"after_id": "after"}

    type: Annotated[int | None, Meta(description="Media type.")] = None
    name: Annotated[str | None, Meta(description="Exact name, whatever the case.")] = None
    dtype: Annotated[Literal["image", "video", "multi"] | None, Meta(description="Kind of media.")] = None
    md5: Annotated[str | None, Meta(description="MD5 sum of the file.")] = None
    gid: Annotated[str | None, Meta(description="Upload group id.")] = None
    uid: Annotated[str | None, Meta(description="Upload unique id.")] = None
    after: Annotated[
        int | str | None, Meta(description="Media behind the one with this id, in order; in older clients, a name.")
    ] = None
    after_name: Annotated[str | None, Meta(description="Media with a larger name.")] = None
    archive_lifecycle: Annotated[
        Literal["live", "archived", "all"] | None,
        Meta(description="Archive states to include; `live` unless media are named by id."),
    ] = None
    annotation_search: Annotated[str | None, Meta(description="A search string over the media's annotations.")] = None


class StateQuery(RelatedQuery, kw_only=True):
    """The parameters of state lists (QA)."""

    accepts: ClassVar = {"excludeParents": "exclude_parents"}

    type: Annotated[int | None, Meta(description="Annotation type.")] = None
    related_id: Annotated[
        list[int] | None,
        Meta(description="On states, localizations of which they contain any; on localizations, states that do."),
    ] = None
    version: Annotated[list[int] | None, Meta(description="Versions.")] = None
    after: Annotated[int | None, Meta(description="Annotations with a larger id.")] = None
    merge: Annotated[
        Flag, Meta(description="With several versions selected, show only the most derived variant of an element.")
    ] = 1
    show_deleted: Annotated[Flag, Meta(description="Include annotations whose variant is deleted.")] = 0
    show_all_marks: Annotated[Flag, Meta(description="Include earlier marks.")] = 0
    exclude_parents: Annotated[Flag, Meta(description="Leave out parents of what is in the list.")] = 0
    media_search: Annotated[str | None, Meta(description="A search string over the annotations' media.")] = None
    media_query: Annotated[
        str | None, Meta(description="Parameters of a media list as in an address: only annotations of such media.")
    ] = None


class LocalizationQuery(StateQuery, kw_only=True):
    """The parameters that select localizations (QA with frame)."""

    frame: Annotated[Index | None, Meta(description="Frame number.")] = None


class LocalizationListQuery(LocalizationQuery, kw_only=True):
    """The parameters of localization lists."""

    interpolate: Annotated[
        bool,
        Meta(
            description="Include what tracks have between their localizations: computed, with `interpolated` and "
            "without ids. Filters are those of the localization before the gap, except `frame`."
        ),
    ] = False
