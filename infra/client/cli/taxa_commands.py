"""The command for lists of taxa, and what an import takes of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from .. import taxa
from ..client import Client
from ..failures import Failure
from ..taxa import Taxa
from .sessions import ProjectOption, Session

_LEAVES_PER_REQUEST = 500
"""Leaves of one request."""
_PAGE = 5_000


def create_taxa(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="A Darwin Core Archive of WoRMS or GBIF, or its table of taxa.")],
    project: ProjectOption = None,
    type_: Annotated[str, typer.Option("--type", help="Leaf type; it is created if the project lacks it.")] = "Taxa",
    within: Annotated[list[str] | None, typer.Option(help="Only this taxon and what is below; repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
) -> None:
    """Make leaves of a list of taxa, with their ids, ranks, authorities and synonyms. What is there stays."""
    session: Session = context.obj
    client, number = session.client(), session.project(project)
    found = taxa.read(path)
    levels = list(found.levels(within or ()))
    kind = next((each for each in client.get_leaf_type_list(number) if each["name"] == type_), None)
    known = _known(client, number, kind["id"]) if kind else {}
    wanted = sum(map(len, levels))
    fresh = sum(taxon.id not in known for level in levels for taxon, _ in level)
    done = {"taxa": wanted, "created": fresh, "present": wanted - fresh, "skipped": found.skipped}
    if not dry_run:
        of = kind["id"] if kind else _create_type(client, number, type_)
        names = found.names_of()
        with session.output.counter() as progress:
            bar = progress.add_task("leaves", total=fresh)
            for level in levels:
                missing = [(taxon, parent) for taxon, parent in level if taxon.id not in known]
                for start in range(0, len(missing), _LEAVES_PER_REQUEST):
                    some = missing[start : start + _LEAVES_PER_REQUEST]
                    bodies: Any = [
                        {
                            "name": taxon.name,
                            "type": of,
                            "parent": known.get(parent),
                            "attributes": taxa.attributes_of(taxon, names.get(taxon.id, ())),
                        }
                        for taxon, parent in some
                    ]
                    ids = cast("list[int]", client.create_leaf_list(number, bodies)["id"])
                    known |= zip((taxon.id for taxon, _ in some), ids, strict=True)
                    progress.advance(bar, len(some))
    session.output.result(
        {**done, "dry_run": dry_run},
        f"{wanted} taxa: {fresh} {'new' if dry_run else 'created'}, {wanted - fresh} present; "
        f"{found.skipped} rows without an id or name",
    )


def accepted_classes(found: Taxa, names: list[str], attribute: str) -> dict[str, Any]:
    """The member `classes` of an import: the accepted name of each class that is a synonym."""
    accepted = found.accepted_names()
    return {name: {"attributes": {attribute: accepted[name]}} for name in names if name in accepted}


def read_taxa(path: Path, class_attribute: str | None) -> tuple[Taxa, str]:
    """The list of an import and the attribute that takes its names. Raises Failure."""
    if class_attribute is None:
        raise Failure("--taxa needs --class-attribute: the accepted name of a synonym goes there.")
    return taxa.read(path), class_attribute


def _create_type(client: Client, project: int, name: str) -> int:
    body: Any = {"name": name, "attribute_types": list(taxa.ATTRIBUTES)}
    return cast("int", client.create_leaf_type(project, body)["id"])


def _known(client: Client, project: int, type_: int) -> dict[str, int]:
    """The leaves of a type by their `taxonID`."""
    found: dict[str, int] = {}
    after = 0
    while True:
        page = client.get_leaf_list(project, type=type_, after=after, stop=_PAGE)
        for leaf in page:
            if own := (leaf.get("attributes") or {}).get("taxonID"):
                found[str(own)] = leaf["id"]
        if len(page) < _PAGE:
            return found
        after = page[-1]["id"]
