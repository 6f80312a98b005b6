"""How far the caller of this request may go with one thing, and which things of a kind a question of theirs may find.

    visibility.begin(caller, needed)       the dispatcher, before it looks at what is addressed
    visibility.project_level(…)            addresses, for the one thing addressed
    visibility.within_project(…)           addresses, where what is done is done to things that the handler finds
    visibility.scope(project)              questions to the view that a caller asked
    visibility.only(what, things)          lists of records, which no view answers
    visibility.check(kind, rows)           what is written, as it becomes

Where fine-grained permissions are off, the levels are the membership's or affiliation's and nothing is narrowed. All
are made of the same masks, so a list holds what a single read answers, and a bulk change reaches what a single one may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from chalicelib.access import authentication, grants
from chalicelib.access.authentication import Caller
from chalicelib.access.masks import BITS_OF, Grants, below, level_of
from chalicelib.core.entities import media_of
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.errors import Forbidden
from chalicelib.query.operators import Op
from chalicelib.query.tree import Related, Test, Tree, both, either
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities

T = TypeVar("T")
Source = tuple[Callable[[tuple[int, ...]], Tree], Mapping[int, int]]
"""From ids of something to the things that it passes bits to, and the bits it passes by id."""


@dataclass(frozen=True)
class Request:
    """Who asks, what they need of what they ask for, and their masks wherever these were looked up."""

    caller: Caller
    needed: Level
    known: dict[tuple[str, int], Grants] = field(default_factory=dict)

    def in_project(self, number: int) -> Grants:
        """The caller's masks in a project, read once."""
        return self._once("project", number, grants.in_project)

    def in_organization(self, number: int) -> Grants:
        """The caller's masks in an organization, read once."""
        return self._once("organization", number, grants.in_organization)

    def _once(self, word: str, number: int, read: Callable[[int, int], Grants]) -> Grants:
        if (word, number) not in self.known:
            self.known[word, number] = read(self.caller.id, number)
        return self.known[word, number]


_request: ContextVar[Request | None] = ContextVar("request", default=None)


def begin(caller: Caller, needed: Level) -> None:
    """A request begins; what it asks for it needs this level on."""
    _request.set(Request(caller, needed) if settings().fine_grained_permissions else None)


def end() -> None:
    """The request is over: what is done from here on is done by the service itself."""
    _request.set(None)


def current() -> Request | None:
    """The request that is being served; None where permissions are not fine-grained."""
    return _request.get()


def _known(caller: Caller) -> Request:
    """The request if it is this caller's, which reads masks once; else one of theirs that needs nothing."""
    request = _request.get()
    return request if request and request.caller == caller else Request(caller, Level.NONE)


# --- levels --------------------------------------------------------------------------------------------------------


def project_level(caller: Caller, project: int, what: str, find: Callable[[], Any]) -> Level:
    """How far a caller may go with a thing of a project, which `find` finds where that matters, if it is there.

    Who may not even see the project goes nowhere in it.
    """
    if not settings().fine_grained_permissions:
        return authentication.project_level(caller, project)
    known = _known(caller).in_project(project)
    if level_of(known.whole) is Level.NONE:
        return Level.NONE
    thing = find()
    return level_of(known.whole if thing is None else mask_on(known, what, thing))


def organization_level(caller: Caller, organization: int, what: str, thing: Any) -> Level:
    """How far a caller may go with a thing of an organization."""
    if not settings().fine_grained_permissions:
        return authentication.organization_level(caller, organization)
    return level_of(_on_organization(_known(caller).in_organization(organization), what, thing))


def within_project(caller: Caller, project: int) -> Level:
    """How far a caller may go in a project where each thing is looked at by itself: seeing the project opens the door.

    It is never more than the request needs unless the caller's level on the project itself is.
    """
    if not settings().fine_grained_permissions:
        return authentication.project_level(caller, project)
    request = _known(caller)
    known = request.in_project(project)
    own = level_of(known.whole)
    return own if own is Level.NONE else max(own, min(level_of(known.anywhere), request.needed))


def within_organization(caller: Caller, organization: int) -> Level:
    """The same of an organization, some parts of which one may see without seeing it."""
    if not settings().fine_grained_permissions:
        return authentication.organization_level(caller, organization)
    request = _known(caller)
    known = request.in_organization(organization)
    return max(level_of(known.whole), min(level_of(known.anywhere), request.needed))


# --- masks ---------------------------------------------------------------------------------------------------------

_MEMBER_OF = {"group": "target_group", "jobcluster": "job_cluster", "hostedtemplate": "hosted_template"}
"""What records call themselves → the member that names them in a row protection, where that differs."""


def mask(request: Request, what: str, thing: Any) -> int:
    """The mask on anything: by its word, as in keys, and itself."""
    if what == "project":
        return request.in_project(thing.id).whole
    if what == "organization":
        return request.in_organization(thing.id).whole
    if (project := getattr(thing, "project", None)) is not None:
        return mask_on(request.in_project(project), what, thing)
    return _on_organization(request.in_organization(thing.organization), what, thing)


def mask_on(known: Grants, what: str, thing: Any) -> int:
    """The mask on a thing of a project."""
    return masks_on(known, what, [thing])[0]


def masks_on(known: Grants, what: str, things: Sequence[Any]) -> list[int]:
    """The masks on things of a project that are all of one kind."""
    rows = [thing.entity if isinstance(thing, entities.Stored) else thing for thing in things]
    if what == Kind.MEDIA:
        return [known.on_media(row.id, row.primary_section) for row in rows]
    if what in (Kind.LOCALIZATION, Kind.STATE):
        media = [media_of(row) for row in rows]
        folders = _folders(known, {number for numbers in media for number in numbers})
        return [
            known.on_annotation(
                Kind(what), row.id, row.version, numbers, [folders[each] for each in numbers if each in folders]
            )
            for row, numbers in zip(rows, media, strict=True)
        ]
    if what in ("section", "version", "algorithm", "file"):
        return [known.on(what, row.id) for row in rows]
    return [known.whole] * len(rows)


def _on_organization(known: Grants, what: str, thing: Any) -> int:
    return known.whole if what == "organization" else known.on(_MEMBER_OF.get(what, what), thing.id)


def _folders(known: Grants, media: Iterable[int]) -> dict[int, int]:
    """The folders of media by their ids, where that matters."""
    if "section" not in known.parts:
        return {}
    rows = entities.many(Kind.MEDIA, media).items()
    return {number: row.entity.primary_section for number, row in rows if row.entity.primary_section is not None}


# --- what a request reaches ----------------------------------------------------------------------------------------


def only(what: str, things: Iterable[T]) -> list[T]:
    """Those of some things with which the caller of this request may do as they need."""
    request = _request.get()
    if request is None or request.needed is Level.NONE:
        return list(things)
    return [thing for thing in things if level_of(mask(request, what, thing)) >= request.needed]


def check(kind: Kind, rows: Sequence[Any]) -> None:
    """Refuse to write things of one project with which, as they become, the caller could not do what they do here.

    So nothing is made in, or moved to, a section, version or media that is closed to the caller.

    Raises:
        Forbidden: the caller's level on one of them would be too low.
    """
    request = _request.get()
    if request is None or request.needed is Level.NONE or not rows:
        return
    masks = masks_on(request.in_project(rows[0].project), kind.value, rows)
    if any(level_of(each) < request.needed for each in masks):
        message = f"You may not write a {kind} there: your permission on its place is too low."
        raise Forbidden(message)


def check_project(project: int) -> None:
    """Refuse what needs the level of this request on the project itself. Raises Forbidden."""
    request = _request.get()
    if request and level_of(request.in_project(project).whole) < request.needed:
        raise Forbidden


def scope(project: int, level: Level | None = None) -> Mapping[Kind, Tree]:
    """With what of each kind the caller of this request may do as they need; of kinds it does not name, with all.

    Args:
        project: where.
        level: what they need, if it is not the level of the request.
    """
    request = _request.get()
    needed = level or (request.needed if request else Level.NONE)
    if request is None or needed is Level.NONE:
        return {}
    known, bits = request.in_project(project), BITS_OF[needed]
    found = {}
    for kind, depth in ((Kind.MEDIA, 2), (Kind.LOCALIZATION, 3), (Kind.STATE, 3), (Kind.FILE, 1)):
        missing = bits & ~below(known.whole, depth)
        if missing:
            found[kind] = _having(missing, _sources(known, kind))
    return found


def _having(bits: int, sources: list[Source]) -> Tree:
    """True of things to which sources pass all the bits, each from wherever it comes."""
    terms = []
    for place in range(bits.bit_length()):
        bit = bits & (1 << place)
        if bit:
            from_any = []
            for passed_to, masks in sources:
                numbers = tuple(sorted(number for number, mask in masks.items() if mask & bit))
                if numbers:
                    from_any.append(passed_to(numbers))
            terms.append(either(*from_any))
    return both(*dict.fromkeys(terms))


def _sources(known: Grants, kind: Kind) -> list[Source]:
    def masks(name: str, levels: int) -> dict[int, int]:
        return {number: below(mask, levels) for number, mask in known.parts.get(name, {}).items()}

    def is_one(numbers: tuple[int, ...]) -> Tree:
        return Test("id", Op.IN, numbers)

    def in_section(numbers: tuple[int, ...]) -> Tree:
        return Test("section", Op.IN, numbers)

    own: Source = (is_one, masks(kind.value, 0))
    if kind is Kind.FILE:
        return [own]
    if kind is Kind.MEDIA:
        return [own, (in_section, masks("section", 1))]
    return [
        own,
        (lambda numbers: Test("version", Op.IN, numbers), masks("version", 2)),
        (lambda numbers: Related(Kind.MEDIA, is_one(numbers)), masks("media", 1)),
        (lambda numbers: Related(Kind.MEDIA, in_section(numbers)), masks("section", 2)),
    ]
