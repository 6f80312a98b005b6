"""The commands."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import failures, uploads
from ..annotator import command as annotator_command
from ..failures import Failure
from . import (
    agent_commands,
    audit_commands,
    dataset_commands,
    job_commands,
    man_command,
    migrate_command,
    mirror_command,
    profile_commands,
    queries,
)
from .output import Output
from .sessions import ProjectOption, Session, wait
from .taxa_commands import create_taxa

app = typer.Typer(
    name="limn",
    help="Limn from the command line: upload, query, datasets, jobs and events.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(profile_commands.profiles, name="profile")
app.add_typer(job_commands.jobs, name="jobs")
app.add_typer(annotator_command.app, name="annotator")
app.command()(profile_commands.login)
app.command("export")(dataset_commands.export)
app.command("diff")(dataset_commands.diff)
app.command("import")(dataset_commands.import_)
app.command("taxa")(create_taxa)
app.command("events")(dataset_commands.events)
app.command("mcp")(agent_commands.serve)
app.command("audit")(audit_commands.audit)
app.command("migrate")(migrate_command.migrate)
app.command("mirror")(mirror_command.mirror)
app.command("man")(man_command.man)

_USAGE_ERROR: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
"""Typer carries a click of its own and offers this class under no public name."""


def print_version(is_wanted: bool) -> None:
    """Print the installed version and exit."""
    if is_wanted:
        try:
            typer.echo(metadata.version("limn"))
        except metadata.PackageNotFoundError:
            typer.echo("not installed: it runs from a checkout")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    profile: Annotated[str | None, typer.Option(help="Profile of the configuration file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Results and errors as JSON, for programs.")] = False,
    version: Annotated[  # noqa: ARG001 its callback prints and exits
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Keep the options that all commands share."""
    context.obj = Session(profile, Output(as_json=as_json))


@app.command()
def upload(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders with media.")],
    project: ProjectOption = None,
    section: Annotated[str | None, typer.Option(help="Section of the media; it is made where it is missing.")] = None,
    folders: Annotated[bool, typer.Option("--folders", help="A section for each folder below a given one.")] = False,
    media_type: Annotated[int, typer.Option("--type", help="Media type; -1 chooses by the file's name.")] = -1,
    parallel: Annotated[int, typer.Option(min=1, max=32, help="Files and parts at once.")] = 4,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be uploaded.")] = False,
    is_waiting: Annotated[
        bool, typer.Option("--wait", help="Wait until the media can be shown; status 7 if one cannot be read.")
    ] = False,
) -> None:
    """Upload files and folders in parallel. Run it again to continue: what was sent is not sent twice."""
    session: Session = context.obj
    output = session.output
    files = list(uploads.sources(paths))
    if not files:
        shown = ", ".join(map(str, paths))
        raise Failure(f"{shown}: no file has the name of an image or a video, such as a.jpg or a.mp4.")
    size = sum(each.path.stat().st_size for each in files)
    if dry_run:
        names = [str(each.path) for each in files]
        output.result({"files": names, "size": size}, "\n".join([*names, f"{len(files)} files, {size:,} bytes"]))
        return
    target = uploads.Target(session.project(project), media_type, section, folders)
    journal = uploads.Journal()
    uploader = uploads.Uploader(session.client(2 * parallel), target, journal, parallel=parallel)
    outcomes = []
    with output.transfer() as progress:
        bar = progress.add_task(f"{len(files)} files", total=size)
        for outcome in uploader.run(files, lambda count: progress.advance(bar, count)):
            outcomes.append(outcome)
            if outcome.status == "failed":
                output.note(f"{outcome.path}: {outcome.reason}")
    journal.close()
    if is_waiting:
        outcomes = _processed(session, target.project, outcomes)
    counts = {name: sum(each.status == name for each in outcomes) for name in ("uploaded", "present", "failed")}
    text = f"{counts['uploaded']} uploaded, {counts['present']} were there already, {counts['failed']} failed."
    output.result({**counts, "files": [asdict(each) for each in outcomes]}, text)
    if counts["failed"]:
        raise typer.Exit(failures.INCOMPLETE)


def _processed(session: Session, project: int, outcomes: list[uploads.Outcome]) -> list[uploads.Outcome]:
    """The outcomes after the service has a picture or video of each media, or says why it has not."""
    client, left = session.client(), {each.media for each in outcomes if each.media is not None}
    reasons: dict[int | None, str] = {}

    def read() -> dict[str, Any]:
        waiting = sorted(left)
        for start in range(0, len(waiting), uploads.MEDIA_PER_REQUEST):
            some = waiting[start : start + uploads.MEDIA_PER_REQUEST]
            fields = "id,import_error,media_files"
            for media in client.get_media_list(project, media_id=some, fields=fields, archive_lifecycle="all"):
                shown = media["media_files"] or {}
                if media["import_error"]:
                    reasons[media["id"]] = media["import_error"]
                if media["import_error"] or shown.get("image") or shown.get("streaming"):
                    left.discard(media["id"])
        return {"progress": {"done": len(outcomes) - len(left), "total": len(outcomes)}}

    wait(session.output, read, lambda _: not left, every=0.3)
    for each in outcomes:
        if each.media in reasons:
            session.output.note(f"{each.path}: {reasons[each.media]}")
    return [
        replace(each, status="failed", reason=reasons[each.media]) if each.media in reasons else each
        for each in outcomes
    ]


@app.command()
def query(
    context: typer.Context,
    kind: Annotated[Literal["media", "localizations", "states", "leaves", "files"], typer.Argument()],
    project: ProjectOption = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--filter", "-f", help="A parameter of the list, such as attribute_gt=Depth::10; repeatable."),
    ] = None,
    search: Annotated[str | None, typer.Option(help="A search string.")] = None,
    body: Annotated[
        Path | None, typer.Option(help="A file with an object search or a body of ids; - is standard input.")
    ] = None,
    fields: Annotated[str | None, typer.Option(help="Members to return, such as id,attributes.Depth.")] = None,
    sort: Annotated[str | None, typer.Option(help="Names to sort by, such as -Depth,$id.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The most rows.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; .jsonl, .csv or .parquet.")] = None,
    format_: Annotated[Literal["jsonl", "csv", "parquet"] | None, typer.Option("--format")] = None,
    count: Annotated[bool, typer.Option("--count", help="Only the number of matches.")] = False,
) -> None:
    """Write the entities that match as JSON lines, CSV or Parquet."""
    session: Session = context.obj
    failures.check_target("--output", output)
    chosen = queries.format_of(output, format_)
    asked = {**_parameters(where or []), "search": search, "sort_by": sort, "fields": fields}
    asked = {name: value for name, value in asked.items() if value is not None}
    client, number = session.client(), session.project(project)
    given = None if body is None else _body(body)
    if count:
        found = queries.count(client, kind, number, query=asked, body=given)
        session.output.result({"count": found}, str(found))
        return
    if fields is not None and "id" not in fields.split(","):
        asked["fields"] = f"id,{fields}"  # the next page begins after it
    with session.output.counter() as progress:
        bar = progress.add_task("rows", total=limit)

        def counted() -> Any:
            for lines in queries.pages(client, kind, number, query=asked, body=given, limit=limit):
                progress.advance(bar, len(lines))
                yield lines

        declared = None
        if chosen != "jsonl" and fields is None:
            declared = queries.declared(client, kind, number, asked.get("type"))
        written = queries.write(counted(), output, chosen, sys.stdout.buffer, declared)
    if output is not None:
        session.output.result({"rows": written, "file": str(output)}, f"{written:,} rows in {output}")


def _parameters(given: list[str]) -> dict[str, Any]:
    """The parameters of `--filter`; a list of values where it is repeated."""
    found: dict[str, list[str]] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise Failure(f"--filter {each!r}: give NAME=VALUE, such as attribute=Species::Cod.")
        if option := _OPTIONS.get(name):
            raise Failure(f"--filter {each!r}: give {option} instead.")
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


_OPTIONS = {"format": "--format", "operation": "--count"}
"""Parameters of lists that are options of their own."""


def _body(path: Path) -> Any:
    document = failures.read_json(path, sys.stdin.read() if str(path) == "-" else None)
    return {"object_search": document} if isinstance(document, dict) and _is_search(document) else document


def _is_search(document: dict[str, Any]) -> bool:
    return "operation" in document or "operations" in document


def main() -> None:
    """Run the command line: the entry point of `limn`."""
    output = Output(as_json="--json" in sys.argv[1:])
    try:
        status = app(standalone_mode=False)
    except Failure as failure:
        output.failure(failure)
        sys.exit(failure.status)
    except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError) as error:
        output.failure(failures.of_shape(error))
        sys.exit(failures.SERVICE_ERROR)
    except OSError as error:
        output.failure(failures.of_file(error))
        sys.exit(failures.USAGE)
    except typer.Abort:
        sys.exit(failures.INTERRUPTED)
    except KeyboardInterrupt:
        sys.exit(failures.INTERRUPTED)
    except _USAGE_ERROR as error:
        if output.as_json:
            output.failure(Failure(error.format_message(), error.exit_code))
        else:
            error.show()
        sys.exit(error.exit_code)
    sys.exit(status or 0)
