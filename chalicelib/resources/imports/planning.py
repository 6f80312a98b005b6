"""The types and attributes that the rows of an archive need and the project lacks (`create_types`).

    needs = Needs(spec, definitions, is_new)
    for placed in rows: needs.take(placed.row)
    plan = needs.plan()                     what would be created
    plan.with_them(definitions)             the definitions as they would be, for a dry run
    plan.create(project, user)              creates what is not there yet: it may be repeated

A row's type is that of its `type`, else of its class's name; with `class_attribute` one type for each kind takes all
classes. Rows without a class take the only type of the kind; where classes of the archive have types of their own, that
of the kind's title, such as `Box`. An attribute's dtype is the narrowest that holds all its values.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.models.definitions import (
    TYPE_RECORD,
    Definitions,
    LocalizationType,
    MediaType,
    Skeleton,
    StateType,
)
from chalicelib.core.values.attribute_values import check_definition
from chalicelib.core.values.attributes import AttributeType
from chalicelib.core.values.shapes import SHAPES
from chalicelib.errors import BadInput
from chalicelib.formats.model import Attributes, Label, Media, Refined, State
from chalicelib.formats.readers.reading import Rows
from chalicelib.formats.refined import names_of
from chalicelib.resources.imports.inference import dtypes_of, narrowest
from chalicelib.resources.imports.mapping import ASSOCIATION_OF, TARGET, TITLES, type_of_media
from chalicelib.resources.imports.schemas import MOST_ROWS, ClassTarget, ImportSpec, PlannedType
from chalicelib.resources.types import attributes as types_attributes
from chalicelib.resources.types.definitions import RESERVED
from chalicelib.storage.dynamodb import ids

MOST_CREATED = 100
"""Types that one import creates; with more classes, `class_attribute` takes their names."""
LONGEST_NAME = 64
MOST_NAMES = 500
"""Attributes of one type."""
TEXTUAL = ("camtrapdp", "coralnet", "csv", "cvat", "eventmeasure", "viame", "voc")
"""Formats whose attributes are texts."""


class _Type(Struct):
    """A type that rows need: an existing one (`number`), or one to be created."""

    kind: Kind
    word: str
    """The dtype of a localization or media, or the target of a state."""
    name: str
    number: int | None
    known: frozenset[str] = frozenset()
    found: dict[str, tuple[frozenset[str], int]] = {}
    """By name of an attribute: the dtypes that hold all values so far, and the length of lists."""
    refinements: set[str] = set()
    skeleton: Skeleton | None = None

    def refine(self, refined: Refined | None) -> None:
        """Note what refines a label."""
        self.refinements.update(names_of(refined))
        if refined is not None and self.skeleton is None and names_of(refined) == ["skeleton"]:
            count = len(refined.points or refined.visible or ())
            names = list(refined.points) or [f"point {number}" for number in range(1, count + 1)]
            self.skeleton = Skeleton(points=names, edges=[[first, second] for first, second in refined.edges])

    def add_values(self, attributes: Mapping[str, Any], *, is_text: bool = False) -> None:
        """Note the values of a row; with `is_text` numbers and the like may stand in texts."""
        for name, value in attributes.items():
            if value is None or name in self.known or (name not in self.found and len(self.found) >= MOST_NAMES):
                continue
            self._narrow(name, *dtypes_of(value, is_text=is_text))

    def merge(self, other: _Type) -> None:
        """Note the values of all rows that another one has noted."""
        self.refinements |= other.refinements
        self.skeleton = self.skeleton or other.skeleton
        for name, (dtypes, size) in other.found.items():
            if name not in self.known and (name in self.found or len(self.found) < MOST_NAMES):
                self._narrow(name, dtypes, size)

    def _narrow(self, name: str, dtypes: frozenset[str], size: int) -> None:
        before, length = self.found.get(name, (dtypes, size))
        both = before & dtypes
        self.found[name] = (both if size == length else both - {"float_array"}, size)

    def attribute_types(self) -> list[AttributeType]:
        """The attributes to be created."""
        made = []
        for order, (name, (dtypes, size)) in enumerate(self.found.items()):
            dtype = narrowest(dtypes)
            more: dict[str, Any] = {"size": size} if dtype == "float_array" else {}
            attribute = AttributeType(name=name, dtype=dtype, order=order, **more)  # type: ignore[arg-type]
            with contextlib.suppress(BadInput):  # rows with a name that no attribute may have are refused
                made.append(check_definition(attribute))
        return made


class Plan:
    """What an import creates before its rows."""

    def __init__(self, types: list[_Type], media: list[int]) -> None:
        self._types, self._media = types, media

    @property
    def shown(self) -> list[PlannedType]:
        """The report's form: types that are created, and types that get attributes."""
        return [
            PlannedType(
                kind=str(each.kind),
                dtype=each.word,
                name=each.name,
                type=each.number,
                attributes={one.name: str(one.dtype) for one in each.attribute_types()},
            )
            for each in self._types
        ]

    def with_them(self, definitions: Definitions) -> Definitions:
        """The definitions as they would be; new types have ids below 0."""
        for number, each in enumerate(self._types, 1):
            if each.number is None:
                made = self._definition(each, -number, definitions.project, [])
            else:
                before = definitions.types(each.kind)[each.number]
                made = msgspec.structs.replace(
                    before, attribute_types=[*before.attribute_types, *each.attribute_types()]
                )
            definitions.put(DefinitionKind(TYPE_RECORD[each.kind].definition or ""), made)
        return definitions

    def create(self, project: int, user: int) -> None:
        """Create the types, and add the attributes. A repetition begins with a plan of what is still missing.

        Raises:
            BadInput: the project would have too many types or attributes.
        """
        media: list[int] = []
        for each in self._types:
            if each.number is None:
                made = self._definition(each, ids.reserve(TYPE_RECORD[each.kind].name)[0], project, media)
                types_attributes.create(each.kind, made, user)
                if each.kind is Kind.MEDIA:
                    media.append(made.id)
                continue
            for attribute in each.attribute_types():
                home = types_attributes.home_of(f"{each.kind.capitalize()}Type", each.number)
                if all(one.name != attribute.name for one in home.attributes):
                    types_attributes.add(home, attribute, user)

    def _definition(self, each: _Type, number: int, project: int, media: list[int]) -> Any:
        common: dict[str, Any] = {
            "id": number,
            "project": project,
            "name": each.name,
            "attribute_types": each.attribute_types(),
            "elemental_id": str(uuid.uuid4()),
        }
        if each.kind is Kind.MEDIA:
            return MediaType(dtype=each.word, **common)  # type: ignore[arg-type]
        common["media"] = [*self._media, *media]
        if each.kind is Kind.LOCALIZATION:
            wanted = ["skeleton"] if each.skeleton else sorted(each.refinements - {"skeleton"})
            return LocalizationType(dtype=each.word, refinements=wanted, skeleton=each.skeleton, **common)  # type: ignore[arg-type]
        return StateType(association=ASSOCIATION_OF[each.word], **common)  # type: ignore[arg-type]


class Needs:
    """Collects the types and attributes that rows need."""

    def __init__(self, spec: ImportSpec, definitions: Definitions, media_kind: Callable[[Media], str]) -> None:
        """Begin.

        Args:
            spec: the import.
            definitions: those of the project.
            media_kind: `image` or `video` for a media that would be created, else empty.
        """
        self._spec, self._definitions, self._media_kind = spec, definitions, media_kind
        self._by_row: dict[tuple[str, str, str], _Type | None] = {}
        self._types: dict[tuple[str, int | str], _Type] = {}
        self._unnamed: dict[str, _Type] = {}
        """The attributes of rows without a class or type, by kind: all rows decide on their type."""

    def read(self, rows: Rows) -> Plan:
        """Read all rows. Returns the missing types, media types first."""
        for number, placed in enumerate(rows):
            if number >= MOST_ROWS:
                raise BadInput(f"The archive has more than {MOST_ROWS} rows. Import it in parts.")
            row = placed.row
            if isinstance(row, Media):
                if word := self._media_kind(row):
                    self._add(word, "", row.type, row.attributes)
            elif isinstance(row, Label):
                if row.keyed:
                    self._add(row.kind, row.class_name, row.type, row.attributes, row.refined)
            elif isinstance(row, State):
                self._add(TARGET[row.association], row.class_name, row.type, row.attributes)
        self._resolve_unnamed()
        missing = [each for each in self._types.values() if each.number is None or each.found]
        if (created := sum(each.number is None for each in missing)) > MOST_CREATED:
            message = (
                f"create_types: the archive needs {created} types; at most "
                f"{MOST_CREATED} are created. Give class_attribute, so that one type takes all classes."
            )
            raise BadInput(message)
        every: Mapping[int, Any] = self._definitions.types(Kind.MEDIA)
        media = [number for number, each in every.items() if each.dtype in ("image", "video")]
        # the titles come first: whether they are needed is not seen any more when all others are there
        missing.sort(key=lambda each: (each.kind is not Kind.MEDIA, each.name != TITLES.get(each.word)))
        return Plan(missing, sorted(media))

    def _resolve_unnamed(self) -> None:
        for word, unnamed in self._unnamed.items():
            if found := self._find(word, "", "", ClassTarget()):
                found.merge(unnamed)

    def _add(
        self, word: str, class_name: str, type_name: str, attributes: Attributes, refined: Refined | None = None
    ) -> None:
        target = self._spec.classes.get(class_name)
        if target is not None and target.skip:
            return
        is_unnamed = not type_name and (not class_name or word in ASSOCIATION_OF)
        if is_unnamed and target is None:
            unnamed = self._unnamed.setdefault(word, _Type(kind=_kind_of(word), word=word, name="", number=None))
            unnamed.refine(refined)
            if self._spec.unknown_attributes != "drop":
                unnamed.add_values(attributes, is_text=self._spec.format in TEXTUAL)
            return
        key = (word, class_name, type_name)
        if key not in self._by_row:
            self._by_row[key] = self._find(word, class_name, type_name, target or ClassTarget())
        found = self._by_row[key]
        if found is None:
            return
        found.refine(refined)
        if target is not None:
            found.add_values(target.attributes)
        if self._spec.unknown_attributes != "drop":
            found.add_values(attributes, is_text=self._spec.format in TEXTUAL)
        attribute = self._spec.class_attribute
        is_shape = word in SHAPES
        if attribute and is_shape and class_name not in ("", found.name) and attribute not in attributes:
            found.add_values({attribute: class_name})

    def _find(self, word: str, class_name: str, type_name: str, target: ClassTarget) -> _Type | None:
        """The type for a class of one kind; None where the import refuses its rows, and says why."""
        kind = _kind_of(word)
        own = type_of_media(self._spec, word) if kind is Kind.MEDIA else self._spec.types.get(word)  # type: ignore[call-overload]
        wanted = target.type or own
        every: Mapping[int, Any] = self._definitions.types(kind)
        if wanted is not None:
            return self._there(word, every[wanted]) if wanted in every else None
        fitting = [each for each in every.values() if _word_of(kind, each) == word]
        to_attribute = bool(self._spec.class_attribute or target.attributes)
        names = [name for name in (type_name, class_name) if name]
        matches = [each for each in fitting if each.name in names]
        if len(matches) == 1:
            return self._there(word, matches[0])
        if type_name:
            return None if matches else self._new(kind, word, type_name)
        if not class_name or kind is Kind.STATE:
            return self._find_titled(kind, word, fitting)
        if to_attribute:
            return self._only_or_new(kind, word, fitting)
        return None if matches else self._new(kind, word, class_name)

    def _only_or_new(self, kind: Kind, word: str, fitting: list[Any]) -> _Type | None:
        """The only type of a kind, or a new one if the project has no type of it."""
        if fitting:
            return self._there(word, fitting[0]) if len(fitting) == 1 else None
        return self._new(kind, word, TITLES[word])

    def _find_titled(self, kind: Kind, word: str, fitting: list[Any]) -> _Type | None:
        """The type of rows that name none."""
        named = [each for each in self._types.values() if each.word == word]
        if len(fitting) == 1 and all(each.number is not None for each in named):
            return self._there(word, fitting[0])
        titled = [each for each in fitting if each.name == TITLES[word]]
        if len(titled) == 1:
            return self._there(word, titled[0])
        return None if fitting and not named else self._new(kind, word, TITLES[word])

    def _there(self, word: str, found: Any) -> _Type:
        kind = next(kind for kind in _KINDS if isinstance(found, _KINDS[kind]))
        known = frozenset(each.name for each in found.attribute_types)
        made = _Type(kind=kind, word=word, name=found.name, number=found.id, known=known)
        return self._types.setdefault((kind, found.id), made)

    def _new(self, kind: Kind, word: str, name: str) -> _Type | None:
        if len(name) > LONGEST_NAME or not name.isprintable() or name.strip().casefold() == RESERVED:
            return None
        made = _Type(kind=kind, word=word, name=name, number=None)
        return self._types.setdefault((f"{kind} {word}", name), made)


_KINDS: dict[Kind, type] = {Kind.MEDIA: MediaType, Kind.LOCALIZATION: LocalizationType, Kind.STATE: StateType}


def _kind_of(word: str) -> Kind:
    return Kind.MEDIA if word in ("image", "video") else Kind.STATE if word in ASSOCIATION_OF else Kind.LOCALIZATION


def _word_of(kind: Kind, found: Any) -> str:
    if kind is not Kind.STATE:
        return str(found.dtype)
    return next(word for word, association in ASSOCIATION_OF.items() if association == found.association)
