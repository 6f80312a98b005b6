"""The command that keeps a folder or bucket in step with a project."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .. import failures
from ..failures import Failure
from ..mirrors.bucket import Bucket
from ..mirrors.folder import Folder
from ..mirrors.mirror import Mirror, Place
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
    parallel: Annotated[int, typer.Option(min=1, max=32, help="Downloads at once.")] = 4,
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
    place: Place = Bucket(to) if to.startswith("s3://") else Folder(Path(to))
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
