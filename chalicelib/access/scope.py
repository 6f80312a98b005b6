"""The scope of a request: the caller's levels, and the terms that restrict the caller's queries.

    scope = Scope.from_caller(caller, needed)       the dispatcher makes it; handlers get it as `call.scope`
    scope.project_level(…)                 addresses, for the one entity or record addressed
    scope.within_project(…)                addresses of operations that check each entity by itself
    view_queries.ids(view, query, scope)   queries; the scope is a required argument of each
    scope.visible(what, records)              lists of records, which no view answers
    scope.check(kind, rows)                rows to be written, in their new state
    UNRESTRICTED                           the service's own work

Where fine-grained permissions are off, the levels are the membership's or affiliation's and queries are not restricted.
All use the same masks, so lists and single reads return the same entities, and bulk and single changes reach the same
entities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import Any, TypeVar

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.access.masks import BITS_OF, Grants, below, level_of, term_for
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Membership
from chalicelib.core.models.credentials import GuestView
from chalicelib.core.models.entities import media_of
from chalicelib.core.models.personal import EVERYBODY, HIDDEN_LAYERS, HiddenCopy, HiddenLayers
from chalicelib.core.permissions import Level
from chalicelib.core.records import padded
from chalicelib.errors import Forbidden
from chalicelib.query.operators import Op
from chalicelib.query.tree import Everything, Nothing, Related, Test, Tree, both, negated
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.objects import owners

T = TypeVar("T")
_MEMBER_OF = {"group": "target_group", "jobcluster": "job_cluster", "hostedtemplate": "hosted_template"}
"""Name of a record kind → the member that names it in a row protection, where that differs."""


OF_MEDIA = frozenset({"comment", "job", "run", "task", "temporary_file"})
"""Kinds of records made from media, their `sources`: transcodes, jobs, clips, copies of files, comments."""
OF_LAYERS = frozenset({Kind.LOCALIZATION.value, Kind.STATE.value, "version"})
"""Kinds of which layers are hidden."""


@dataclass(frozen=True)
class HiddenRows:
    """What a caller does not see of a project, whatever the caller's levels.

    Attributes:
        versions: layers that are hidden everywhere.
        copies: layers that are hidden on one media each, while the caller works on another copy.
    """

    versions: frozenset[int] = frozenset()
    copies: tuple[HiddenCopy, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.versions or self.copies)

    def hides(self, kind: str, row: Any) -> bool:
        """Whether a version or annotation is hidden."""
        if kind == "version":
            return row.id in self.versions
        if row.version in self.versions:
            return True
        return any(row.version in copy.versions and copy.media in media_of(row) for copy in self.copies)

    def terms(self) -> list[Tree]:
        """What is true of the annotations that are not hidden; all of these terms hold."""
        everywhere = [negated(Test("version", Op.IN, tuple(sorted(self.versions))))] if self.versions else []
        return everywhere + [
            negated(
                both(
                    Test("version", Op.IN, tuple(copy.versions)), Related(Kind.MEDIA, Test("id", Op.IN, (copy.media,)))
                )
            )
            for copy in self.copies
        ]


@dataclass(frozen=True, eq=False)
class Scope:
    """The permissions of one request.

    Attributes:
        caller: the user.
        needed: the level that the operation needs on its entities and records.
        is_restricted: whether permissions are fine-grained, so that levels differ within a project.
        is_service: whether it is the service's own work, from which nothing is hidden.
    """

    caller: Caller
    needed: Level
    is_restricted: bool
    _known: dict[tuple[str, int], Grants] = field(default_factory=dict)
    _memberships: dict[int, Membership | None] = field(default_factory=dict)
    is_service: bool = False
    _hidden: dict[int, HiddenRows] = field(default_factory=dict)

    @classmethod
    def from_caller(cls, caller: Caller, needed: Level) -> Scope:
        """The scope of a request of a caller."""
        return cls(caller, needed, caller.is_restricted)

    def for_level(self, needed: Level) -> Scope:
        """The scope of the same request for work that needs another level."""
        return replace(self, needed=needed)

    def membership(self, project: int) -> Membership | None:
        """The caller's membership of a project, read once."""
        if not self.caller.signed_in:
            return None
        if project not in self._memberships:
            self._memberships[project] = authentication.membership(self.caller.id, project)
        return self._memberships[project]

    def hides(self, project: int) -> bool:
        """Whether some of a project may be hidden from the caller."""
        return self.is_restricted or bool(self.hidden_rows(project))

    def hidden_rows(self, project: int) -> HiddenRows:
        """The layers that a caller below Full Control does not see, everywhere or on some media.

        From guests all is hidden that is hidden from anybody: a guest may be somebody who works on a copy.
        """
        if project not in self._hidden:
            self._hidden[project] = HiddenRows()
            if not self.is_service and self._own_level(project) < Level.FULL:
                keys = {padded(EVERYBODY), padded(self.caller.id)}
                found: Iterable[HiddenLayers] = (
                    records.list_children(HIDDEN_LAYERS, project)
                    if self.caller.is_guest
                    else records.find_many(HIDDEN_LAYERS, project, keys).values()
                )
                self._hidden[project] = HiddenRows(
                    frozenset(number for each in found for number in each.versions.values()),
                    tuple(copy for each in found for copy in each.tasks.values()),
                )
        return self._hidden[project]

    def _own_level(self, project: int) -> Level:
        return level_of(self.in_project(project).whole) if self.is_restricted else self._level_of_member(project)

    def in_project(self, number: int) -> Grants:
        """The caller's masks in a project, read once."""
        return self._once("project", number, authentication.grants_in_project)

    def in_organization(self, number: int) -> Grants:
        """The caller's masks in an organization, read once."""
        return self._once("organization", number, authentication.grants_in_organization)

    def _once(self, word: str, number: int, read: Callable[[Caller, int], Grants]) -> Grants:
        if (word, number) not in self._known:
            self._known[word, number] = read(self.caller, number)
        return self._known[word, number]

    def _level_of_member(self, project: int) -> Level:
        return self.caller.cap(authentication.level_of_member(self.membership(project)), project)

    # --- levels ----------------------------------------------------------------------------------------------------

    def project_level(self, project: int, kind: str, find: Callable[[], Any]) -> Level:
        """The caller's level on a part of a project; NONE everywhere where the caller may not see the project.

        Args:
            project: its id.
            kind: that of the part, as in keys.
            find: reads the part, if it exists; called only where levels differ within the project.
        """
        whole = self._own_level(project)
        if whole is Level.NONE or (kind in OF_LAYERS and self._is_hidden(project, kind, find())):
            return Level.NONE
        if not self.is_restricted:
            return whole
        part = find()
        return whole if part is None else level_of(self._masks(project, kind, [part])[0])

    def _is_hidden(self, project: int, kind: str, part: Any) -> bool:
        row = part.entity if isinstance(part, entities.Stored) else part
        return row is not None and self.hidden_rows(project).hides(kind, row)

    def organization_level(self, organization: int, kind: str, part: Any) -> Level:
        """The caller's level on a part of an organization."""
        if not self.is_restricted:
            return authentication.organization_level(self.caller, organization)
        return level_of(_on_organization(self.in_organization(organization), kind, part))

    def within_project(self, project: int) -> Level:
        """The caller's level in a project for operations that check each entity by itself.

        A caller who sees the project and has the needed level anywhere in it may call the operation.
        """
        if not self.is_restricted:
            return self._level_of_member(project)
        known = self.in_project(project)
        own = level_of(known.whole)
        return own if own is Level.NONE else max(own, min(level_of(known.anywhere), self.needed))

    def within_organization(self, organization: int) -> Level:
        """The same for an organization; a caller may see parts of an organization without seeing the organization."""
        if not self.is_restricted:
            return authentication.organization_level(self.caller, organization)
        known = self.in_organization(organization)
        return max(level_of(known.whole), min(level_of(known.anywhere), self.needed))

    def _masks(self, project: int, kind: str, parts: Sequence[Any], *, past: bool = False) -> list[int]:
        """The caller's masks on parts of a project; none on annotations that a share link leaves out."""
        masks = masks_on(self.in_project(project), kind, parts, past=past)
        view = self.caller.guest_view
        if view is None or kind not in (Kind.LOCALIZATION, Kind.STATE):
            return masks
        rows = [part.entity if isinstance(part, entities.Stored) else part for part in parts]
        return [mask if view.shows(row) else 0 for mask, row in zip(masks, rows, strict=True)]

    # --- masks and what they allow ---------------------------------------------------------------------------------

    def mask(self, kind: str, part: Any) -> int:
        """The caller's mask on a record or entity, given its kind as in keys."""
        if kind == "project":
            return self.in_project(part.id).whole
        if kind == "organization":
            return self.in_organization(part.id).whole
        if (project := getattr(part, "project", None)) is not None:
            return self._masks(project, kind, [part])[0]
        return _on_organization(self.in_organization(part.organization), kind, part)

    def visible(self, kind: str, found: Iterable[T]) -> list[T]:
        """The records or entities among some of one kind on which the caller has the needed level."""
        some = list(found)
        if kind in OF_LAYERS:
            some = [each for each in some if not self._is_hidden(_project_of(each), kind, each)]
        if not self.is_restricted or self.needed is Level.NONE:
            return some
        return [each for each in some if level_of(self.mask(kind, each)) >= self.needed]

    def visible_ids(self, project: int, kind: Kind, numbers: Iterable[int]) -> set[int]:
        """The ids of entities, deleted ones included, on which the caller has the needed level.

        The current rows decide, and for a deleted entity its last one until the purge.
        """
        wanted = set(numbers)
        hides = kind.value in OF_LAYERS and bool(self.hidden_rows(project))
        restricts = self.is_restricted and self.needed is not Level.NONE and kind in self.terms(project)
        if not wanted or not (hides or restricts):
            return wanted
        rows = [entity for entity, _ in owners.get_owners(kind, wanted).values() if entity.project == project]
        if hides:
            rows = [row for row in rows if not self._is_hidden(project, kind.value, row)]
        if not restricts:
            return {row.id for row in rows}
        masks = self._masks(project, kind.value, rows, past=True)
        return {row.id for row, mask in zip(rows, masks, strict=True) if level_of(mask) >= self.needed}

    def check(self, kind: Kind, rows: Sequence[Any]) -> None:
        """Refuse to write rows of one project on whose new state the caller does not have the needed level.

        So no entity is created in, or moved to, a section, version or media that is closed to the caller.

        Raises:
            Forbidden: the caller's level on one of them would be too low.
        """
        if not self.is_restricted or self.needed is Level.NONE or not rows:
            return
        masks = masks_on(self.in_project(rows[0].project), kind.value, rows)
        if any(level_of(each) < self.needed for each in masks):
            raise Forbidden(f"You may not write a {kind} there: your permission on its place is too low.")

    def check_project(self, project: int) -> None:
        """Refuse work that needs the level of this request on the project itself. Raises Forbidden."""
        if self.is_restricted and level_of(self.in_project(project).whole) < self.needed:
            raise Forbidden

    def terms(self, project: int) -> Mapping[Kind, Tree]:
        """By kind, the term that is true of rows that the caller sees at the needed level; other kinds are open."""
        found = self._terms_of_levels(project)
        if hiding := self.hidden_rows(project).terms():
            for kind in (Kind.LOCALIZATION, Kind.STATE):
                found[kind] = both(found.get(kind, Everything()), *hiding)
        return found

    def _terms_of_levels(self, project: int) -> dict[Kind, Tree]:
        if not self.is_restricted or self.needed is Level.NONE:
            return {}
        known, bits = self.in_project(project), BITS_OF[self.needed]
        found: dict[Kind, Tree] = {}
        for kind, depth in ((Kind.MEDIA, 2), (Kind.LOCALIZATION, 3), (Kind.STATE, 3), (Kind.FILE, 1)):
            missing = bits & ~below(known.whole, depth)
            if missing:
                found[kind] = term_for(missing, known, kind)
        if (view := self.caller.guest_view) is not None:
            found |= {kind: both(term, _shown_term(view)) for kind, term in found.items() if kind.is_annotation}
        return found


UNRESTRICTED = Scope(Caller.anonymous(), Level.NONE, is_restricted=False, is_service=True)
"""The scope of the service's own work, without restrictions."""


def _shown_term(view: GuestView) -> Tree:
    """The term that is true of the annotations that `GuestView.shows`."""
    if not view.has_annotations:
        return Nothing()
    terms: list[Tree] = []
    if view.frames is not None:
        terms += [Test("frame", Op.GTE, view.frames[0]), Test("frame", Op.LT, view.frames[1])]
    if view.versions is not None:
        terms.append(Test("version", Op.IN, view.versions))
    if view.types is not None:
        terms.append(Test("type", Op.IN, view.types))
    return both(*terms)


def _project_of(part: Any) -> int:
    return int(part.entity.project if isinstance(part, entities.Stored) else part.project)


def mask_on(known: Grants, kind: str, part: Any) -> int:
    """The mask on a part of a project."""
    return masks_on(known, kind, [part])[0]


def masks_on(known: Grants, kind: str, parts: Sequence[Any], *, past: bool = False) -> list[int]:
    """The masks on parts of a project that are all of one kind; of annotations of deleted media, too, if `past`."""
    rows = [part.entity if isinstance(part, entities.Stored) else part for part in parts]
    if kind == Kind.MEDIA:
        return [known.on_media(row.id, row.primary_section) for row in rows]
    if kind in (Kind.LOCALIZATION, Kind.STATE):
        media = [media_of(row) for row in rows]
        folders = _folders(known, {number for numbers in media for number in numbers}, past=past)
        return [
            known.on_annotation(
                Kind(kind), row.id, row.version, numbers, [folders[each] for each in numbers if each in folders]
            )
            for row, numbers in zip(rows, media, strict=True)
        ]
    if kind in OF_MEDIA:
        return _media_masks(known, rows)
    if kind in ("section", "version", "algorithm", "file"):
        return [known.on(kind, row.id) for row in rows]
    return [known.whole] * len(rows)


def _media_masks(known: Grants, rows: Sequence[Any]) -> list[int]:
    """The masks on records made from media, and from files: the bits that the caller has on all of these.

    A deleted media counts as one without a folder or a row protection.
    """
    numbers = {number for row in rows for number in row.sources}
    folders = _folders(known, numbers)
    masks = {number: known.on_media(number, folders.get(number)) for number in numbers}

    def on_sources(row: Any) -> list[int]:
        files = [known.on(Kind.FILE, number) for number in getattr(row, "source_files", ())]
        return [masks[number] for number in row.sources] + files

    return [reduce(and_, on_sources(row) or [known.whole]) for row in rows]


def _on_organization(known: Grants, kind: str, part: Any) -> int:
    return known.whole if kind == "organization" else known.on(_MEMBER_OF.get(kind, kind), part.id)


def _folders(known: Grants, media: Iterable[int], *, past: bool = False) -> dict[int, int]:
    """The folders of media by their ids, where a mask is given on a folder; of deleted media, too, if `past`."""
    if "section" not in known.parts:
        return {}
    found: dict[int, Any] = (
        {number: row for number, (row, _) in owners.get_owners(Kind.MEDIA, media).items()}
        if past
        else {number: row.entity for number, row in entities.many(Kind.MEDIA, media).items()}
    )
    return {number: each.primary_section for number, each in found.items() if each.primary_section is not None}
