"""The command that keeps a folder or bucket in step with a project."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .. import failures
from ..failures import Failure
from ..mirrors.back import KINDS, Back, Returning
from ..mirrors.bucket import Bucket
from ..mirrors.folder import Folder
from ..mirrors.mirror import Mirror
from ..uploads import Journal
from .sessions import ProjectOption, Session


def mirror(
    context: typer.Context,
    to: Annotated[
        str, typer.Argument(help="A folder, which is made if it is not there, or s3://bucket/prefix.", metavar="PLACE")
    ],
    project: ProjectOption = None,
    version: Annotated[str | None, typer.Option(help="Annotations of this version only, by name or id.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep files of media that the project deleted.")] = False,
    every: Annotated[float, typer.Option(min=0, help="Seconds after which to do it again; 0: once.")] = 0,
    parallel: Annotated[int, typer.Option(min=1, max=32, help="Downloads or uploads at once.")] = 4,
    back: Annotated[
        bool, typer.Option("--back", help="Tell which new files and changed rows of the place the project would get.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="With --back: send them.")] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="With --back: delete annotations that are no more in the place.")
    ] = False,
) -> None:
    """Bring a folder or bucket up to date with a project: files of media, and annotations as JSON lines.

    Run it again after an interruption: it continues. Exit status 7 if a file did not come.
    """
    session: Session = context.obj
    client, number = session.client(2 * parallel), session.project(project)
    chosen = None
    if version is not None:
        known = client.get_version_list(number)
        chosen = next((each["id"] for each in known if version in (each["name"], str(each["id"]))), None)
        if chosen is None:
            names = ", ".join(each["name"] for each in known)
            raise Failure(f"--version: the project has no version {version!r}; it has {names}.")
    if not back and (apply or delete):
        raise Failure("--apply and --delete go with --back.", failures.USAGE)
    place = Bucket(to) if to.startswith("s3://") else Folder(Path(to))
    if back:
        job = partial(Back, client, number, version=chosen, parallel=parallel)
        _back(session, job, place, apply=apply, delete=delete)
        if not apply:
            return
    while True:
        with session.output.transfer() as progress:
            bar = progress.add_task(to, total=None)
            made = Mirror(client, number, place, version=chosen, parallel=parallel)
            done = made.run(keep=keep, advance=partial(progress.advance, bar))
        rows = ", ".join(f"{count} {kind}" for kind, count in done.rows.items())
        text = f"{done.fetched} files fetched, {done.present} present, {done.removed} removed; {rows}"
        lines = [text, *(f"media {media}: {reason}" for media, reason in done.failed)]
        session.output.result(asdict(done), "\n".join(lines))
        if not every:
            break
        time.sleep(every)
    if done.failed:
        raise typer.Exit(failures.INCOMPLETE)


def _back(
    session: Session, job: Callable[[Returning, Journal], Back], place: Returning, *, apply: bool, delete: bool
) -> None:
    """Write the changes of a place back to its project, or list them. A refusal ends it."""
    journal = Journal()
    try:
        with session.output.transfer() as progress:
            bar = progress.add_task("back", total=None)
            done = job(place, journal).run(apply=apply, delete=delete, advance=partial(progress.advance, bar))
    finally:
        journal.close()
    did = "sent" if apply else "would be sent"
    counts = (
        f"{len(done.files)} new files",
        *(
            f"{number} {kind} {word}"
            for word in ("created", "updated", "deleted", "missing")
            for kind, number in getattr(done, word).items()
            if number
        ),
    )
    lines = [f"{did}: {', '.join(counts)}", *(f"{what}: {reason}" for what, reason in done.refused)]
    session.output.result(asdict(done), "\n".join(lines))
    if done.refused:
        raise typer.Exit(failures.INCOMPLETE)
    if apply:
        place.accept(f"{kind}.jsonl" for kind in KINDS)
