"""Check a query: bind names to types and sections to their contents, and add the caller's permission scope.

A checked query has no Compare, AnyText, OnAnnotations, InSection, InSections or OfDtype left: `evaluate` and `sql` take
only checked queries. The scope can only narrow: `scope` is ANDed to the search, and `seen` to the searches over related
entities within it. Both are passed already checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.models.definitions import AnyType, Definitions, Section
from chalicelib.core.values.revisions import Removed
from chalicelib.errors import BadInput, NotFound
from chalicelib.query import binding
from chalicelib.query.columns import SECTION_NAME
from chalicelib.query.cost import MOST_CONVERTED
from chalicelib.query.operators import BY_WORD, OPERATIONS, SEARCHES, Op
from chalicelib.query.parsers import object_search, search_string
from chalicelib.query.parsers.filters import on_annotations
from chalicelib.query.tree import (
    AfterMedia,
    And,
    AnyText,
    AttributeTest,
    Coincident,
    Compare,
    Everything,
    InSection,
    InSections,
    Nearest,
    Not,
    Nothing,
    OfDtype,
    OnAnnotations,
    Or,
    Query,
    Related,
    SortKey,
    Test,
    Tree,
    both,
    either,
    negated,
)
from chalicelib.query.values import TEXT, shown, stored

MOST_TERMS = 5_000
DEEPEST_SECTIONS = 4
"""Maximum length of a chain of saved searches that refer to each other."""

Scope = Mapping[Kind, Tree]
"""The permission scope of a caller by kind, already checked. Kinds that it does not name are unrestricted."""


Users = Callable[[str], Iterable[int]]
"""Maps an email address to the ids of its users."""
EMAIL = "_email"
"""The name, in search strings, of the email address of an annotation's creator."""


def check(
    query: Query,
    definitions: Definitions,
    scope: Scope | None = None,
    seen: Scope | None = None,
    users: Users = lambda _: (),
) -> Query:
    """The query with its names bound to a project's definitions, ready to be evaluated.

    Args:
        query: the parsed query.
        definitions: the definitions of the project.
        scope: the entities that may be selected, such as those that the caller may change.
        seen: the related entities that nested searches may use; default `scope`.
        users: the users of an email address; by default an address matches no user.

    Raises:
        BadInput: an unknown name, or an operator that the dtype lacks; the message names both.
        NotFound: it names an unknown section.
    """
    found = scope or {}
    return _Check(definitions, found, found if seen is None else seen, users, query.type).query(query)


def check_saved_search(section: Section, definitions: Definitions) -> None:
    """Check the search of a section that is about to be saved. Attributes that it names need not exist yet.

    Args:
        section: the section as it will be stored.
        definitions: the definitions of the project.

    Raises:
        BadInput: a syntax error, an operator that an attribute's dtype lacks, a cycle, or too long a chain of saved
            searches.
    """
    project = Definitions(project=definitions.project, by_kind=dict(definitions.by_kind))
    check = _Check(project, {}, {}, lambda _: (), None, strict=True)
    members = ("object_search", "related_search", "lucene_string")
    for member in members:
        if (search := getattr(section, member)) is not None:
            alone = msgspec.structs.replace(section, dtype="saved_search", **{**dict.fromkeys(members), member: search})
            project.by_kind[DefinitionKind.SECTION] = {**definitions.sections, section.id: alone}
            try:
                check.bind(Kind.MEDIA, InSections((section.id,)))
            except BadInput as refusal:
                raise BadInput(f"{member}: {refusal.message}") from None


VISIBLE = both(Test("latest", Op.EQ, value=True), Test("variant_deleted", Op.EQ, value=False))
"""The condition of ordinary lists of annotations."""


class _Check:
    """One check; `type` restricts the names of the kind asked for, not those of related kinds."""

    def __init__(
        self,
        definitions: Definitions,
        scope: Scope,
        seen: Scope,
        users: Users,
        type_: int | None,
        *,
        strict: bool = False,
    ) -> None:
        self.definitions = definitions
        self.scope = scope
        self.seen = seen
        self.users = users
        self.type = type_
        self.terms = 0
        self.converted = 0
        self.sections: list[int] = []
        """The ids of the sections whose saved searches enclose the current node."""
        self.strict = strict
        self.nested = 0

    def query(self, query: Query) -> Query:
        """The whole query, checked."""
        kind = query.kind
        where = both(self.scope.get(kind, Everything()), self.bind(kind, query.where))
        if kind.is_annotation and not query.show_all_marks:
            where = both(where, Test("latest", Op.EQ, value=True))
        merges = kind.is_annotation and query.merge and query.versions > 1
        return replace(
            query,
            where=where,
            keys=self._keys(query),
            nearest=tuple(self._nearest(kind, each) for each in query.nearest),
            merge=merges,
            exclude_parents=kind.is_annotation and query.exclude_parents,
            derived=tuple(sorted(self._derived())) if merges else (),
            incident=self.bind(kind, query.incident) if query.incident else None,
        )

    def bind(self, kind: Kind, tree: Tree) -> Tree:
        """Bind a tree over entities of a kind."""
        self.terms += 1
        if self.terms > MOST_TERMS:
            raise BadInput(f"A query may have at most {MOST_TERMS} terms.")
        return _BIND[type(tree)](self, kind, tree)

    def types(self, kind: Kind) -> list[AnyType]:
        """The types in which attribute names of a kind are looked up."""
        types = self.definitions.types(kind)
        if self.type is not None and not self.nested:
            return [types[self.type]] if self.type in types else []
        return list(types.values())

    def _seen(self, kind: Kind) -> Tree:
        return self.seen.get(kind, Everything())

    def _inside(self, kind: Kind, tree: Tree) -> Tree:
        """A tree over a related kind."""
        self.nested += 1
        try:
            return self.bind(kind, tree)
        finally:
            self.nested -= 1

    def spend(self, values: int) -> None:
        """Count values that will be converted. Raises BadInput for more than a query may have."""
        self.converted += values
        if self.converted > MOST_CONVERTED:
            raise BadInput(
                f"A query may convert at most {MOST_CONVERTED} values, each counted once for every type of the project "
                "that may have its attribute: use fewer terms or shorter lists, or name a type with `type`."
            )

    def compare(self, kind: Kind, tree: Compare) -> Tree:
        """Check a comparison; that of an annotation's section becomes one of its media's section."""
        self.spend(len(self.types(kind)) * (len(tree.value) if isinstance(tree.value, list) else 1))
        if tree.name == SECTION_NAME and kind.is_annotation:
            return Related(Kind.MEDIA, binding.compare(Kind.MEDIA, (), tree))
        if tree.name == EMAIL and kind.is_annotation and BY_WORD[tree.word] in SEARCHES:
            if tree.word not in ("term", "phrase"):
                raise BadInput(f"{EMAIL} takes a whole address.")
            return Test("created_by", Op.IN, tuple(sorted(self.users(str(tree.value)))))
        # An unknown type matches nothing; skip name checks.
        is_of_no_type = self.type is not None and not self.nested and self.type not in self.definitions.types(kind)
        lenient = is_of_no_type or self.inside_saved or self._is_removed(kind, tree)
        return binding.compare(
            kind, self.types(kind), tree, lenient=lenient, saved=self.inside_saved and not self.strict
        )

    @property
    def inside_saved(self) -> bool:
        """Whether the current node is in a saved search: attributes may have been deleted since it was saved."""
        return bool(self.sections)

    def _is_removed(self, kind: Kind, tree: Compare) -> bool:
        """Whether an object search names an attribute that a type had once."""
        is_search = BY_WORD[tree.word] in OPERATIONS
        return is_search and any(Removed(tree.name) in each.revisions for each in self.types(kind))

    def any_text(self, kind: Kind, tree: AnyText) -> Tree:
        """A comparison of every text attribute and the name."""
        types = self.types(kind)
        self.spend(len(types) * sum(attribute.dtype in TEXT for each in types for attribute in each.attribute_types))
        return binding.any_text(kind, types, tree.word, tree.value)

    def linked(self, tree: Related | Coincident) -> Tree:
        """A search over a linked kind, among its visible entities unless the parser decided otherwise."""
        shown = VISIBLE if tree.to.is_annotation and not tree.hidden else Everything()
        return replace(tree, where=both(self._seen(tree.to), self._inside(tree.to, tree.where), shown))

    def on_annotations(self, tree: OnAnnotations) -> Tree:
        """A search over states and localizations; names that one kind lacks are looked up in the other."""
        found: list[Tree] = []
        refused: BadInput | None = None
        for kind in (Kind.LOCALIZATION, Kind.STATE):
            try:
                found.append(self.linked(Related(kind, tree.where)))
            except BadInput as error:
                refused = refused or error
        if refused and not found:
            raise refused
        return either(*found)

    def in_section(self, kind: Kind, wanted: int | str) -> Tree:
        """Membership in one section."""
        section = self._section(wanted)
        if section is None and self.inside_saved:
            return Nothing()
        if section is None:
            raise NotFound.of("Section", wanted)
        return self._through_media(kind, self._members(section))

    def in_sections(self, kind: Kind, wanted: tuple[int, ...]) -> Tree:
        """Membership in any of several sections."""
        found = [section for number in wanted if (section := self._section(number))]
        return self._through_media(kind, either(*map(self._members, found)))

    def _through_media(self, kind: Kind, members: Tree) -> Tree:
        if kind is Kind.MEDIA:
            return members
        return Related(Kind.MEDIA, both(self._seen(Kind.MEDIA), members))

    def _section(self, wanted: int | str) -> Section | None:
        sections = self.definitions.sections
        if isinstance(wanted, int):
            return sections.get(wanted)
        return next((each for each in sections.values() if wanted and each.tator_user_sections == wanted), None)

    def _members(self, section: Section) -> Tree:
        if section.dtype == "folder":
            return Test("section", Op.EQ, section.id)
        if section.dtype == "playlist":
            return Test("id", Op.IN, tuple(section.media))
        place = f"The search of section {section.id}"
        if section.id in self.sections:
            raise BadInput(f"{place} refers to itself; break the cycle.")
        if len(self.sections) >= DEEPEST_SECTIONS:
            raise BadInput(f"{place} leads through more than {DEEPEST_SECTIONS} saved searches.")
        self.sections.append(section.id)
        try:
            return self._inside(Kind.MEDIA, _saved_search(section, place))
        finally:
            self.sections.pop()

    def of_dtype(self, kind: Kind, dtype: str) -> Tree:
        """The types of a dtype."""
        numbers = [each.id for each in self.definitions.types(kind).values() if getattr(each, "dtype", None) == dtype]
        return Test("type", Op.IN, tuple(numbers))

    def _keys(self, query: Query) -> tuple[SortKey, ...]:
        types = self.types(query.kind)
        lenient = self.type is not None and self.type not in self.definitions.types(query.kind)
        keys = (
            binding.sort_key(query.kind, types, each.name, descending=each.descending, lenient=lenient)
            for each in query.sort
        )
        found = tuple(key for key in keys if key)
        # Media are ordered by name by default.
        return found if found or query.sort or query.kind is not Kind.MEDIA else (SortKey(False, "name"),)

    def _nearest(self, kind: Kind, nearest: Nearest) -> Nearest:
        found = [(each.id, attribute) for each in self.types(kind) if (attribute := each.attribute(nearest.name))]
        place = f"float_array of {shown(nearest.name)}"
        if not found:
            raise binding.unknown(kind, nearest.name, "float_array", self.types(kind))
        if stored("float_array", list(nearest.center)) is None:
            raise BadInput(f"{place}: the center must be of finite numbers of 32 bits.")
        for _, attribute in found:
            if attribute.dtype != "float_array":
                raise BadInput(f"{place}: the attribute is of type {attribute.dtype}.")
            if attribute.size and attribute.size != len(nearest.center):
                raise BadInput(f"{place}: the center must have {attribute.size} numbers.")
        return replace(nearest, types=tuple(number for number, _ in found))

    def _derived(self) -> set[tuple[int, int]]:
        """All pairs of a version and one it is derived from, over any number of steps."""
        versions = self.definitions.versions
        pairs: set[tuple[int, int]] = set()
        for number, version in versions.items():
            waiting = list(version.bases)
            while waiting:
                base = waiting.pop()
                if base != number and (number, base) not in pairs:
                    pairs.add((number, base))
                    waiting.extend(versions[base].bases if base in versions else ())
        return pairs


def _saved_search(section: Section, place: str) -> Tree:
    if section.object_search is not None:
        return object_search.parse(Kind.MEDIA, section.object_search, place)
    if section.related_search is not None:
        return on_annotations(section.related_search, place)
    if section.lucene_string:
        return search_string.parse(section.lucene_string, place)
    return Nothing()


def _same(_: _Check, __: Kind, tree: Any) -> Tree:
    return tree  # type: ignore[no-any-return]


_BIND: dict[type, Callable[[_Check, Kind, Any], Tree]] = {
    Everything: _same,
    Nothing: _same,
    Test: _same,
    AttributeTest: _same,
    AfterMedia: lambda check, _, tree: replace(tree, where=check.seen.get(Kind.MEDIA, Everything())),
    And: lambda check, kind, tree: both(*(check.bind(kind, term) for term in tree.terms)),
    Or: lambda check, kind, tree: either(*(check.bind(kind, term) for term in tree.terms)),
    Not: lambda check, kind, tree: negated(check.bind(kind, tree.term)),
    Compare: lambda check, kind, tree: check.compare(kind, tree),
    AnyText: lambda check, kind, tree: check.any_text(kind, tree),
    Related: lambda check, _, tree: check.linked(tree),
    Coincident: lambda check, _, tree: check.linked(tree),
    OnAnnotations: lambda check, _, tree: check.on_annotations(tree),
    InSection: lambda check, kind, tree: check.in_section(kind, tree.section),
    InSections: lambda check, kind, tree: check.in_sections(kind, tree.sections),
    OfDtype: lambda check, kind, tree: check.of_dtype(kind, tree.dtype),
}
