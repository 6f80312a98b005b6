"""Object searches over sections: the grammar of entities, evaluated in plain Python.

A section is read as a File of a made-up type whose attributes are the project's attributes of sections.
"""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.models.definitions import Definitions, FileType, Section
from chalicelib.core.models.entities import File
from chalicelib.core.values.attributes import AttributeType
from chalicelib.query import evaluate
from chalicelib.query.check import check
from chalicelib.query.cost import check_cost
from chalicelib.query.parsers import object_search
from chalicelib.query.tree import Query

_TYPE = 1
_INTERPRETED = 100
"""Rows of the view that take about as long as a section in Python."""


def find(attributes: Sequence[AttributeType], sections: Sequence[Section], encoded: str) -> list[Section]:
    """Those of the sections that an encoded search finds.

    Raises:
        BadInput: it cannot be decoded, names an unknown attribute, or its estimated cost exceeds the budget.
    """
    search = object_search.parse(Kind.FILE, object_search.decode(encoded, "encoded_search"), "encoded_search")
    definitions = Definitions(project=0)
    made_up = FileType(id=_TYPE, project=0, name="section", elemental_id="", attribute_types=list(attributes))
    definitions.put(DefinitionKind.FILE_TYPE, made_up)
    query = check(Query(kind=Kind.FILE, where=search), definitions)
    check_cost(query, lambda _: _INTERPRETED * len(sections))
    found = set(evaluate.ids(query, {Kind.FILE: [_as_file(section) for section in sections]}))
    return [section for section in sections if section.id in found]


def _as_file(section: Section) -> File:
    moment = section.created_datetime or ""
    return File(
        id=section.id,
        project=section.project,
        type=_TYPE,
        name=section.name,
        attributes=section.attributes,
        elemental_id=section.elemental_id,
        created_by=section.created_by,
        created_datetime=moment,
        modified_by=section.created_by,
        modified_datetime=moment,
    )
