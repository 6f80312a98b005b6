"""The page of members that clients send beside those that bodies declare.

Made from the declarations and from `docs/reference/client-models.json`: model of the published client → generations →
its members, collected from the packages 0.10.29, 1.0.0, 1.5.0 and 1.6.0. Clients from 1.7 on have no models of their
own: they send any member of `/schema` and of answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chalicelib.http.operation import Operation
from chalicelib.http.read_back import SET_BY_EVERY_CHANGE, structs_of

PAGE = "clients.md"
Models = Mapping[str, Mapping[str, str]]
"""Model → generations with blanks between them → members with blanks between them."""
_BEGINNING = """# What clients send

Made from the declarations by `make docs`; do not edit. Bodies refuse members that they do not declare
([decision 49](../decisions/049-nothing-is-ignored.md)). Clients of every generation send some that no body needs: older
names, and what they read before ([decision 170](../decisions/170-clients-send-back-what-they-read.md)). This is what
becomes of those; every other member of the clients' models is a member of the body, on the page of its operation.
Clients from 1.7 on build themselves from `/schema`, and send any of these.

| operation | members | in the models of clients | what the service does |
|---|---|---|---|
"""
_AS_READ = "accepted as it is read; another value is refused by name"
_AT_CREATION = "no effect: the service sets it"


def page(operations: Iterable[Operation], models: Models) -> str:
    """The page as Markdown."""
    rows = []
    for operation in operations:
        grouped: dict[tuple[str, str], list[str]] = {}
        for member, effect in treatments(operation):
            grouped.setdefault((effect, _clients(operation, member, models)), []).append(f"`{member}`")
        rows += [
            f"| {operation.id} | {', '.join(sorted(members))} | {clients} | {effect} |"
            for (effect, clients), members in sorted(grouped.items())
        ]
    return _BEGINNING + "\n".join(rows) + "\n"


def treatments(operation: Operation) -> Iterator[tuple[str, str]]:
    """The members that a body may have beside those that it declares, each with what becomes of it."""
    for body in structs_of(operation.body):
        yield from ((old, f"another name of `{name}`") for old, name in body.accepts.items())
        yield from ((name, f"no effect: {why}") for name, why in body.unused.items())
    known = operation.read_back
    yield from ((name, f"another name of `{member}`") for name, member in known.renames.items())
    for name in known.same:
        if known.shown_by is None:
            yield name, "accepted if it has its default; a PATCH sets it" if name in known.later else _AT_CREATION
        else:
            yield name, "no effect: every change sets it" if name in SET_BY_EVERY_CHANGE else _AS_READ


def _clients(operation: Operation, member: str, models: Models) -> str:
    """The generations in whose models the body or the answer has a member."""
    answer = operation.read_back.answer
    found = {
        generation
        for struct in (*structs_of(operation.body), answer)
        for generations, members in (models.get(struct.__name__, {}) if struct else {}).items()
        if member in members.split()
        for generation in generations.split()
    }
    return ", ".join(sorted(found, key=lambda each: [int(part) for part in each.split(".")])) or "none before 1.7"
