"""Query parameters and id-query bodies → a Query: the meaning of each parameter; all are combined by AND.

parse(kind, parameters, body)     one of the Structs of `parameters.py`, and one of `bodies.py` or None
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput
from chalicelib.query import operators
from chalicelib.query.operators import Op
from chalicelib.query.parsers import object_search, search_string
from chalicelib.query.parsers.addresses import NO_FILTERS, PAGING, parse_address
from chalicelib.query.parsers.bodies import FloatArrayQuery, IdQuery
from chalicelib.query.parsers.parameters import ListQuery, MediaQuery
from chalicelib.query.tree import (
    AfterMedia,
    Coincident,
    Compare,
    InSection,
    InSections,
    Nearest,
    Nothing,
    OfDtype,
    OnAnnotations,
    Query,
    Related,
    Sort,
    Test,
    Tree,
    both,
    either,
)
from chalicelib.query.values import is_unicode

MOST_FILTERS = 500
MOST_SORTS = 16
LONGEST_PARAMETER = 2_000_000
SEPARATOR = "::"
ARCHIVED = ("to_archive", "archived", "to_live")


def parse(kind: Kind, parameters: ListQuery, body: IdQuery | None = None) -> Query:
    """The Query of parameters and a body; its names are not looked up yet, see `check.check`.

    Args:
        kind: the kind that is listed.
        parameters: the decoded query parameters; members that the kind's Struct lacks count as not given.
        body: the decoded id query, or a bulk body that has its members.

    Raises:
        BadInput: a parameter breaks a rule of its language; the message names it.
    """
    get = _Given(parameters, body)
    where = both(
        *_OWN[kind](get),
        *(_tests(kind, get)),
        *(Compare(*item) for item in _items(get, "")),
        *(_related(kind, get)),
        *(_searches(kind, get)),
    )
    versions = get("version") or ()
    return Query(
        kind=kind,
        where=where,
        type=get("type"),
        sort=tuple(_sorts(get("sort_by") or ())),
        nearest=tuple(_nearest(get)),
        start=get("start") or 0,
        stop=get("stop"),
        versions=len(set(versions)),
        merge=get("merge") != 0,
        exclude_parents=bool(get("exclude_parents")),
        show_deleted=bool(get("show_deleted")),
        show_all_marks=bool(get("show_all_marks")),
        incident=_incident(kind, get),
    )


class _Given:
    """The members that were given: of the parameters, and by `body` of the body."""

    def __init__(self, parameters: ListQuery, body: Any) -> None:
        members = zip(parameters.__struct_fields__, msgspec.structs.astuple(parameters), strict=True)
        self._given = {name: value for name, value in members if value is not None}
        self._body = body

    def __call__(self, name: str) -> Any:
        """A parameter, or None."""
        value = self._given.get(name)
        if isinstance(value, str) and not (is_unicode(value) and len(value) <= LONGEST_PARAMETER):
            raise BadInput(f"{name} must be a text of at most {LONGEST_PARAMETER} characters.")
        return value

    def body(self, name: str) -> Any:
        """A member of the body, or None."""
        return getattr(self._body, name, None)


def _numbers(get: _Given, *names: str) -> tuple[int, ...]:
    """The union of id lists: of the parameter named first and of the body's members named after."""
    found: list[int] = [*(get(names[0]) or ()), *(n for name in names[1:] for n in get.body(name) or ())]
    return tuple(dict.fromkeys(found))


def _ids(numbers: Iterable[int], column: str = "id") -> Test:
    return Test(column, Op.IN, tuple(numbers))


def _elemental(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise BadInput(f"elemental_id: {text!r} is not a UUID.") from None


# --- parameters of a single kind --------------------------------------------------------------------------------


def _media(get: _Given) -> Iterable[Tree]:
    ids, states = _numbers(get, "media_id", "ids"), _numbers(get, "", "state_ids")
    if ids or states:
        named = (_ids(ids),) if ids else ()
        yield either(*named, *((Related(Kind.STATE, _ids(states), hidden=True),) if states else ()))
    if localizations := _numbers(get, "", "localization_ids"):
        yield Related(Kind.LOCALIZATION, _ids(localizations), hidden=True)
    if (name := get("name")) is not None:
        yield Test("name", Op.SAME, name)
    if dtype := get("dtype"):
        yield OfDtype(dtype)
    for member in ("md5", "gid", "uid"):
        if (value := get(member)) is not None:
            yield Test(member, Op.EQ, value)
    yield from _after_media(get)
    # Media named by id are listed whether archived or not.
    yield _LIFECYCLES[get("archive_lifecycle") or ("all" if ids or states else "live")]


_LIFECYCLES: dict[str, Tree] = {
    "live": Test("archive_state", Op.EQ, "live"),
    "archived": Test("archive_state", Op.IN, ARCHIVED),
    "all": both(),
}


def _after_media(get: _Given) -> Iterable[Tree]:
    if (after := get("after")) is not None:
        # Older clients send a name here; digits are an id.
        number = after if isinstance(after, int) else natural(after)
        yield Test("name", Op.GT, after) if number is None else AfterMedia(number)
    if (after_name := get("after_name")) is not None:
        yield Test("name", Op.GT, after_name)


def _annotations(kind: Kind, get: _Given) -> Iterable[Tree]:
    if media := _numbers(get, "media_id", "media_ids"):
        yield Test("media", Op.OVERLAPS, media) if kind is Kind.STATE else _ids(media, "media")
    if elemental := get.body("elemental_ids"):
        yield Test("elemental_id", Op.IN, tuple(_elemental(text) for text in elemental))
    if versions := get("version"):
        yield _ids(dict.fromkeys(versions), "version")
    for text in (get("media_query"), get.body("media_query")):
        if text:
            yield Related(Kind.MEDIA, _media_query(text))
    if text := get("media_search"):
        yield Related(Kind.MEDIA, search_string.parse(text, "media_search"))


def _localizations(get: _Given) -> Iterable[Tree]:
    yield from _annotations(Kind.LOCALIZATION, get)
    ids, tracks = _numbers(get, "", "ids"), _numbers(get, "", "state_ids")
    if ids or tracks:
        named = (_ids(ids),) if ids else ()
        yield either(*named, *((Related(Kind.STATE, _ids(tracks), hidden=True),) if tracks else ()))
    if frames := _numbers(get, "", "frame_state_ids"):
        shown = Test("variant_deleted", Op.EQ, value=False)
        yield Coincident(Kind.STATE, both(_ids(frames), shown), hidden=True)
    if (frame := get("frame")) is not None:
        yield Test("frame", Op.EQ, frame)
    if related := get("related_id"):
        yield Related(Kind.STATE, _ids(related), hidden=True)


def _states(get: _Given) -> Iterable[Tree]:
    yield from _annotations(Kind.STATE, get)
    if ids := _numbers(get, "", "ids"):
        yield _ids(ids)
    if members := _numbers(get, "", "localization_ids"):
        yield Test("localizations", Op.OVERLAPS, members)
    if related := get("related_id"):
        yield Test("localizations", Op.OVERLAPS, tuple(dict.fromkeys(related)))


def _leaves(get: _Given) -> Iterable[Tree]:
    ids = _numbers(get, "leaf_id", "ids")
    if ids:
        yield _ids(ids)
    elif get.body("ids") is not None:
        yield Nothing()  # only for leaves, an empty list of ids matches nothing
    if (depth := get("depth")) is not None:
        yield Test("depth", Op.EQ, depth)
    if (ancestor := get("ancestor")) is not None:
        yield Test("path", Op.UNDER, ancestor)
    yield from _name(get)


def _files(get: _Given) -> Iterable[Tree]:
    if ids := _numbers(get, "", "ids"):
        yield _ids(ids)
    yield from _name(get)


def _name(get: _Given) -> Iterable[Tree]:
    if (name := get("name")) is not None:
        yield Test("name", Op.EQ, name)


_OWN = {
    Kind.MEDIA: _media,
    Kind.LOCALIZATION: _localizations,
    Kind.STATE: _states,
    Kind.LEAF: _leaves,
    Kind.FILE: _files,
}


# --- parameters of several kinds --------------------------------------------------------------------------------------


def _tests(kind: Kind, get: _Given) -> Iterable[Tree]:
    if (number := get("type")) is not None:
        yield Test("type", Op.EQ, number)
    if (elemental := get("elemental_id")) is not None:
        yield Test("elemental_id", Op.EQ, _elemental(elemental))
    if kind is not Kind.MEDIA and (after := get("after")) is not None:
        yield Test("id", Op.GT, after)
    if (section := get("section")) is not None:
        yield InSection(section)
    if sections := get("multi_section"):
        yield InSections(tuple(sections))


def _items(get: _Given, prefix: str) -> list[tuple[str, str, Any]]:
    """The attribute filters as names, operators' words and values."""
    found: list[tuple[str, str, Any]] = []
    for operator in operators.FILTERS:
        parameter = prefix + operator.word
        for item in get(parameter) or ():
            name, separator, value = item.partition(SEPARATOR)
            if not separator or not name:
                raise BadInput(f"{parameter}: {item!r} must have the form name::value.")
            parsed = _circle(parameter, value) if operator.shape == "circle" else value
            found.append((name, operator.word, parsed))
            if len(found) > MOST_FILTERS:
                raise BadInput(f"There may be at most {MOST_FILTERS} attribute filters.")
    return found


_CIRCLE = 3


def _circle(parameter: str, text: str) -> list[str]:
    parts = text.split(SEPARATOR)
    if len(parts) != _CIRCLE:
        raise BadInput(f"{parameter}: {text!r} must have the form name::km::latitude::longitude.")
    return parts


def _related(kind: Kind, get: _Given) -> Iterable[Tree]:
    if items := _items(get, "related_"):
        where = both(*(Compare(*item) for item in items))
        yield OnAnnotations(where) if kind is Kind.MEDIA else Related(Kind.MEDIA, where)
    if kind is Kind.MEDIA and (text := get("annotation_search")):
        yield OnAnnotations(search_string.parse(text, "annotation_search"))
    if encoded := get("encoded_related_search"):
        search = object_search.decode(encoded, "encoded_related_search")
        yield _related_search(kind, search)


def _related_search(kind: Kind, search: Any) -> Tree:
    place = "encoded_related_search"
    if kind is not Kind.MEDIA:
        return Related(Kind.MEDIA, object_search.parse(Kind.MEDIA, search, place))
    return on_annotations(search, place)


def on_annotations(search: Any, place: str) -> Tree:
    """Media with annotations that an object search finds; a search that only one kind supports runs on that kind."""
    parsed: list[Tree] = []
    refused: BadInput | None = None
    for kind in (Kind.STATE, Kind.LOCALIZATION):
        try:
            parsed.append(Related(kind, object_search.parse(kind, search, place)))
        except BadInput as error:
            refused = error
    if refused and not parsed:
        raise refused
    wheres = [term.where for term in parsed if isinstance(term, Related)]
    return OnAnnotations(wheres[0]) if len(wheres) > 1 and wheres[0] == wheres[1] else either(*parsed)


def _incident(kind: Kind, get: _Given) -> Tree | None:
    """The search whose matches a media list counts: the object search where there are several, else the first."""
    found = list(_related(kind, get)) if kind is Kind.MEDIA else []
    if not found:
        return None
    return found[-1] if get("encoded_related_search") else found[0]


def _searches(kind: Kind, get: _Given) -> Iterable[Tree]:
    if encoded := get("encoded_search"):
        yield object_search.parse(kind, object_search.decode(encoded, "encoded_search"), "encoded_search")
    if (search := get.body("object_search")) is not None:
        yield object_search.parse(kind, search)
    if text := get("search"):
        yield search_string.parse(text, "search")


def _sorts(items: Sequence[str]) -> Iterable[Sort]:
    if len(items) > MOST_SORTS:
        raise BadInput(f"sort_by may name at most {MOST_SORTS} fields.")
    for item in items:
        name = item.removeprefix("-")
        if not name:
            raise BadInput(f"sort_by: {item!r} names no field.")
        yield Sort(name, descending=item.startswith("-"))


def _nearest(get: _Given) -> Iterable[Nearest]:
    wanted: Sequence[FloatArrayQuery] = get.body("float_array") or ()
    if wanted and get("type") is None:
        raise BadInput("float_array needs the parameter `type`.")
    for each in wanted:
        if (each.center is None) == (each.like is None):
            raise BadInput("float_array: give center or like, one of them.")
        yield Nearest(
            each.name,
            tuple(each.center or ()),
            each.metric or "l2norm",
            like=each.like,
            descending=each.order == "desc",
            lower=each.lower_bound or None,  # 0 is unbounded, as older clients send it
            upper=each.upper_bound or None,
        )


def _media_query(text: str) -> Tree:
    """The tree of parameters of a media list, written as in an address. Archived media count, as they always did."""
    parameters = parse_address(text, MediaQuery, "media_query", NO_FILTERS | PAGING)
    if parameters.archive_lifecycle is None:
        parameters = msgspec.structs.replace(parameters, archive_lifecycle="all")
    return parse(Kind.MEDIA, parameters).where
