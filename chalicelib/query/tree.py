"""The one tree that all four query languages parse into. It knows no backend and, as parsed, no types.

    Everything, Nothing               the two constants
    And, Or, Not                      over other trees; two-valued: null fails a test, and Not inverts that
    Compare                           a field by its user-visible name, an operator by its word, a value as given
    AnyText                           the same of any text field
    Test                              a built-in column, an operation, a value of the column's type
    Related, Coincident               another kind of entity, linked by being on the same media or the same frame
    OnAnnotations                     a search over a media's states or localizations
    InSection, InSections, OfDtype    resolved from the definitions
    AfterMedia                        the position after a media in the order of media

`check.check` resolves all nodes that depend on names and definitions, and adds AttributeTest, a test of an attribute
with its types known. A Query is a tree with its order, slice and options.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from chalicelib.core.kinds import Kind
from chalicelib.query.operators import Op


class Everything(Struct, frozen=True):
    """True of every entity."""


class Nothing(Struct, frozen=True):
    """True of no entity."""


class And(Struct, frozen=True):
    """True where all terms are."""

    terms: tuple[Tree, ...]


class Or(Struct, frozen=True):
    """True where any term is."""

    terms: tuple[Tree, ...]


class Not(Struct, frozen=True):
    """True where the term is not."""

    term: Tree


class Compare(Struct, frozen=True):
    """A filter as written: `name` an attribute's or a built-in's with `$`, `word` of `operators.BY_WORD`."""

    name: str
    word: str
    value: Any


class AnyText(Struct, frozen=True):
    """A filter of search strings on any text attribute or the name."""

    word: str
    value: Any


class Test(Struct, frozen=True):
    """A built-in column of the kind tested; `value` is of the column's type, or a tuple or pair of such."""

    column: str
    op: Op
    value: Any = None


class Case(Struct, frozen=True):
    """The test of an attribute for some types: their ids, the dtype there, the value of that dtype."""

    types: tuple[int, ...]
    dtype: str
    op: Op
    value: Any = None


class AttributeTest(Struct, frozen=True):
    """A test of an attribute, by the types that have it; false for entities of all other types."""

    name: str
    cases: tuple[Case, ...]


class Related(Struct, frozen=True):
    """True where a linked entity of kind `to` satisfies `where`.

    Media are linked to the annotations on them, localizations to the states that contain them. Entities that ordinary
    lists do not show count only where `hidden`.
    """

    to: Kind
    where: Tree
    hidden: bool = False


class Coincident(Struct, frozen=True):
    """True of an annotation on the same media and frame as one of kind `to` that satisfies `where`."""

    to: Kind
    where: Tree
    hidden: bool = False


class OnAnnotations(Struct, frozen=True):
    """True of a media with a visible state or localization that satisfies `where` (names of either kind)."""

    where: Tree


class InSection(Struct, frozen=True):
    """True of a media in a section, by the section's id or its `tator_user_sections`; or of an annotation on one."""

    section: int | str


class InSections(Struct, frozen=True):
    """True of a media in any of several sections; unknown ones are ignored."""

    sections: tuple[int, ...]


class OfDtype(Struct, frozen=True):
    """True of entities whose type has a dtype."""

    dtype: str


class AfterMedia(Struct, frozen=True):
    """True of media after the given one in the order of name and id; after its id if there is no such media.

    As checked, `where` selects the media that count as existing: those that the caller may see.
    """

    media: int
    where: Tree = Everything()


Tree = (
    Everything
    | Nothing
    | And
    | Or
    | Not
    | Compare
    | AnyText
    | Test
    | AttributeTest
    | Related
    | Coincident
    | OnAnnotations
    | InSection
    | InSections
    | OfDtype
    | AfterMedia
)


class Sort(Struct, frozen=True):
    """A sort key as written: a name with or without `$`."""

    name: str
    descending: bool = False


class Nearest(Struct, frozen=True):
    """A float_array query: order by the distance of an attribute from a center, within bounds where given.

    With `like`, the center is the vector of that entity, which is read before the check.
    """

    name: str
    center: tuple[float, ...]
    metric: str = "l2norm"
    descending: bool = False
    lower: float | None = None
    upper: float | None = None
    types: tuple[int, ...] = ()
    """The types that have the attribute; filled in by the check."""
    like: int | None = None


class SortKey(Struct, frozen=True):
    """A checked sort key.

    `column` is a built-in column, or `section` of annotations (their media's), or `incident`; otherwise `attribute` is
    an attribute's name and `cases` are its dtypes by types; entities without it come last in both directions.
    """

    descending: bool
    column: str | None = None
    attribute: str = ""
    cases: tuple[Case, ...] = ()


class Query(Struct, frozen=True, kw_only=True):
    """A query over one kind of entity: its filter, order and slice.

    Attributes:
        kind: the kind of the selected entities.
        where: the filter. As checked it includes the visibility of ordinary lists and the permission scope.
        type: the type that names are looked up in; None for all types of the kind.
        sort, keys: the order as written; as checked. Ties are ordered by id.
        nearest: the distance to order by, before `sort`.
        start, stop: the slice of the ordered list, exclusive of `stop`.
        versions: how many versions were selected: `merge` applies from two on.
        merge: of variants of one element, only the most derived is in the list.
        exclude_parents: leave out the parents of listed entities, without the rest of `merge`.
        show_deleted, show_all_marks: also tombstones; also earlier marks.
        derived: pairs (version, version it is derived from), filled in by the check where `merge` applies.
        incident: on media, the search over annotations whose matches are counted as `incident`; as checked, one
            Related for each kind of annotation.
    """

    kind: Kind
    where: Tree = Everything()
    type: int | None = None
    sort: tuple[Sort, ...] = ()
    keys: tuple[SortKey, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    start: int = 0
    stop: int | None = None
    versions: int = 0
    merge: bool = True
    exclude_parents: bool = False
    show_deleted: bool = False
    show_all_marks: bool = False
    derived: tuple[tuple[int, int], ...] = ()
    incident: Tree | None = None


def both(*terms: Tree) -> Tree:
    """All of the terms, simplified."""
    return _join(terms, And, Everything(), Nothing())


def either(*terms: Tree) -> Tree:
    """Any of the terms, simplified."""
    return _join(terms, Or, Nothing(), Everything())


def negated(term: Tree) -> Tree:
    """The opposite of a term, simplified."""
    match term:
        case Everything():
            return Nothing()
        case Nothing():
            return Everything()
        case Not(inner):
            return inner
    return Not(term)


def _join(terms: tuple[Tree, ...], join: type[And | Or], neutral: Tree, absorbing: Tree) -> Tree:
    kept: list[Tree] = []
    for term in terms:
        if term == absorbing:
            return absorbing
        kept.extend(term.terms if isinstance(term, join) else () if term == neutral else (term,))
    if not kept:
        return neutral
    return kept[0] if len(kept) == 1 else join(tuple(kept))
