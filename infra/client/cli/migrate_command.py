"""The command that copies a project from another service."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import configuration, failures
from ..configuration import Profile
from ..failures import Failure
from ..migration import migration
from ..migration.ledger import Ledger
from ..migration.move import Move, Options
from ..migration.source import GentleClient
from .sessions import ProjectOption, Session


def migrate(
    context: typer.Context,
    source: Annotated[str, typer.Option("--from", help="Address of the service to copy from, or a profile for it.")],
    source_project: Annotated[int, typer.Option("--from-project", min=1, help="Project there.")],
    project: ProjectOption = None,
    trial: Annotated[
        bool, typer.Option("--trial", help="Read definitions and a page of each kind, write nothing, and report.")
    ] = False,
    people: Annotated[
        Path | None, typer.Option(help="JSON object: names of users here by their names there, where they differ.")
    ] = None,
    members: Annotated[bool, typer.Option("--members", help="Make people members here, at their level there.")] = False,
    files: Annotated[
        Literal["copy", "refer", "none"], typer.Option(help="Copy files, refer to them where they lie, or leave them.")
    ] = "copy",
    refer_to: Annotated[str, typer.Option(help="With --files refer: the address below which their keys are.")] = "",
    rate: Annotated[float, typer.Option(min=0, help="Requests a second to the source at most; 0: no limit.")] = 5,
    page: Annotated[int, typer.Option(min=1, max=50_000, help="Rows of one page of the source.")] = 5_000,
    parallel: Annotated[int, typer.Option(min=1, max=16, help="Requests at once.")] = 4,
    state: Annotated[Path | None, typer.Option(help="File that records what came, for the next run.")] = None,
    report: Annotated[Path | None, typer.Option(help="JSON file for the whole report.")] = None,
) -> None:
    """Copy a project from a service of the same interface; run it again to continue. Exit status 7 if not all came.

    The token of the source is that of its profile, or LIMN_FROM_TOKEN. The source is only read.
    """
    failures.check_target("--report", report)
    if (files == "refer") != bool(refer_to):
        raise Failure("--files refer and --refer-to belong together: give the address below which the keys are.")
    session: Session = context.obj
    options = Options(files, refer_to, page, parallel, migration.people(people), members)
    number = session.project(project)
    from_client = GentleClient(_source(source), rate=rate, connections=2 * parallel)
    target = session.client(2 * parallel)
    ledger = Ledger(_place(state, from_client.profile.url, source_project, target.profile.url, number, trial=trial))
    lock = threading.Lock()
    with session.output.counter() as progress:
        bars: dict[str, Any] = {}

        def advance(kind: str, count: int) -> None:
            with lock:
                if kind not in bars:
                    bars[kind] = progress.add_task(kind, total=None)
                progress.advance(bars[kind], count)

        move = Move(from_client, source_project, target, number, ledger, options, advance, trial)
        try:
            found = migration.run(move)
        finally:
            ledger.close()
            if trial:
                _remove(ledger.place)
    if report is not None:
        report.write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8")
    session.output.result(found, migration.summary(found))
    if not migration.is_complete(found):
        raise typer.Exit(failures.INCOMPLETE)


def _source(name: str) -> Profile:
    """The service to copy from: a profile, or an address with the token of the environment or of its profile."""
    profiles = configuration.read().profiles
    if name in profiles:
        return profiles[name]
    url = configuration.address(name)
    token = os.environ.get("LIMN_FROM_TOKEN") or next((each.token for each in profiles.values() if each.url == url), "")
    if not token:
        raise Failure(f"There is no token for {url}. Set LIMN_FROM_TOKEN, or sign in: limn login {url}", 3)
    return Profile(url, token)


def _place(given: Path | None, *between: Any, trial: bool) -> Path:
    """The file of this migration's state; a trial has one of its own."""
    name = hashlib.sha256("|".join(map(str, between)).encode()).hexdigest()[:12]
    place = given or configuration.path().parent / "migrations" / f"{name}.sqlite"
    if not trial:
        return place
    trial_place = place.with_name(f"{place.name}.trial-{os.getpid()}")
    _remove(trial_place)
    return trial_place


def _remove(place: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        place.with_name(place.name + suffix).unlink(missing_ok=True)
