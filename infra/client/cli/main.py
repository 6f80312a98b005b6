"""The commands."""

from __future__ import annotations

import getpass
import json
import platform
import sys
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import configuration, failures, uploads
from ..annotator import command as annotator_command
from ..client import Client, sign_in
from ..configuration import Profile
from ..failures import Failure
from . import agent_commands, audit_commands, dataset_commands, man_command, migrate_command, mirror_command, queries
from .output import Output
from .sessions import ProjectOption, Session, wait
from .taxa_commands import create_taxa

app = typer.Typer(
    name="limn",
    help="Limn from the command line: upload, query, datasets, jobs and events.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
profiles = typer.Typer(help="Services and tokens in the configuration file.", no_args_is_help=True)
jobs = typer.Typer(help="Jobs: algorithms and transcodes.", no_args_is_help=True)
app.add_typer(profiles, name="profile")
app.add_typer(jobs, name="jobs")
app.add_typer(annotator_command.app, name="annotator")
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

OPEN = ("Pending", "Running")
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


# --- profiles --------------------------------------------------------------------------------------------------------


@app.command()
def login(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Address of the service, such as https://limn.example.org.")],
    username: Annotated[str | None, typer.Option(help="Sign in with a password, which is asked for.")] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the profile.")] = "default",
    project: Annotated[int | None, typer.Option(min=1, help="Project of commands that name none.")] = None,
    device: Annotated[bool, typer.Option("--device", help="Confirm a code in the console, on any machine.")] = False,
) -> None:
    """Store a token in a profile. It is read from a prompt, or from standard input; never from the command line."""
    session, base = context.obj, configuration.address(url)
    if device:
        token = sign_in(base, f"limn on {platform.node()}"[:100], show=session.output.tell).profile.token
    elif username is not None:
        secret = _secret("Password: ")
        token = Client(Profile(base)).create_obtain_auth_token({"username": username, "password": secret})["token"]
    else:
        token = _secret("Token: ")
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        raise Failure("That is not a token: a token is one word of ASCII characters.")
    profile = Profile(base, token, project)
    user = Client(profile).whoami()
    found = configuration.read()
    found.profiles[name] = profile
    if len(found.profiles) == 1:
        found.default = name
    configuration.write(found)
    document = {"profile": name, "url": base, "username": user["username"]}
    session.output.result(document, f"Signed in to {base} as {user['username']} (profile {name}).")


@profiles.command("list")
def list_profiles(context: typer.Context) -> None:
    """The profiles, without their tokens."""
    found = configuration.read()
    rows = [
        {"name": name, "url": each.url, "project": each.project, "default": name == found.default}
        for name, each in sorted(found.profiles.items())
    ]
    context.obj.output.table(rows, ("name", "url", "project", "default"))


@profiles.command("use")
def use_profile(context: typer.Context, name: str) -> None:
    """Make a profile the default."""
    found = _known(name)
    found.default = name
    configuration.write(found)
    context.obj.output.result({"default": name}, f"The default profile is {name}.")


@profiles.command("set")
def set_project(
    context: typer.Context,
    project: Annotated[int, typer.Option("--project", "-p", min=1)],
    name: Annotated[str | None, typer.Argument(help="Profile; without it, the default.")] = None,
) -> None:
    """Set the project of a profile."""
    chosen = name or configuration.read().default
    found = _known(chosen)
    found.profiles[chosen] = replace(found.profiles[chosen], project=project)
    configuration.write(found)
    context.obj.output.result({"profile": chosen, "project": project}, f"Profile {chosen}: project {project}.")


@profiles.command("remove")
def remove_profile(context: typer.Context, name: str) -> None:
    """Remove a profile and its token from this machine. The token stays valid."""
    found = _known(name)
    del found.profiles[name]
    configuration.write(found)
    context.obj.output.result({"removed": name}, f"Removed profile {name}.")


def _known(name: str) -> configuration.Configuration:
    found = configuration.read()
    if name not in found.profiles:
        raise Failure(f"There is no profile {name!r}.")
    return found


def _secret(prompt: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(prompt).strip()
    return sys.stdin.readline().strip()


# --- uploads and queries ---------------------------------------------------------------------------------------------


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
    found: dict[str, list[str]] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise Failure(f"--filter {each!r}: give NAME=VALUE, such as attribute=Species::Cod.")
        found.setdefault(name, []).append(value)
    return dict(found)


def _body(path: Path) -> Any:
    try:
        document = json.loads(sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(f"--body {path}: {error}") from None
    return {"object_search": document} if isinstance(document, dict) and _is_search(document) else document


def _is_search(document: dict[str, Any]) -> bool:
    return "operation" in document or "operations" in document


# --- jobs ------------------------------------------------------------------------------------------------------------

_COLUMNS = ("uid", "status", "progress", "start_time", "message")


@jobs.command("list")
def list_jobs(
    context: typer.Context,
    project: ProjectOption = None,
    transcodes: Annotated[bool, typer.Option("--transcodes", help="Transcodes instead of algorithms.")] = False,
) -> None:
    """The jobs of a project, oldest first."""
    session: Session = context.obj
    client, number = session.client(), session.project(project)
    listed: Any = client.get_transcode_list(number) if transcodes else client.get_job_list(number)
    found = [each.get("job", each) for each in listed]
    session.output.table(found if session.output.as_json else [_short(each) for each in found], _COLUMNS)


@jobs.command("show")
def show_job(context: typer.Context, uid: str) -> None:
    """One job."""
    found = context.obj.client().get_job(uid)
    context.obj.output.result(found, "\n".join(f"{name}: {value}" for name, value in _short(found).items()))


@jobs.command("log")
def show_log(
    context: typer.Context,
    uid: str,
    node: Annotated[str | None, typer.Option(help="Step; the first that failed, else the last that began.")] = None,
    lines: Annotated[int, typer.Option(min=1, max=1000)] = 100,
) -> None:
    """The last lines that a step printed."""
    asked: Any = {"lines": lines} | ({} if node is None else {"node": node})
    found = context.obj.client().get_job_log(uid, **asked)
    text = found.get("lines", "")
    context.obj.output.result(found, "\n".join(text) if isinstance(text, list) else str(text))


@jobs.command("cancel")
def cancel_job(context: typer.Context, uid: str) -> None:
    """Cancel a job and remove it."""
    found = context.obj.client().delete_job(uid)
    context.obj.output.result(found, found["message"])


@jobs.command("wait")
def wait_for_job(
    context: typer.Context,
    uid: str,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds; 0 waits without end.")] = 0,
) -> None:
    """Wait until a job ends. Exit status 7 if it failed."""
    session: Session = context.obj
    client = session.client()
    found = wait(session.output, lambda: client.get_job(uid), lambda job: job["status"] not in OPEN, timeout)
    session.output.result(found, f"{found['status']} {found.get('message') or ''}".strip())
    if found["status"] != "Succeeded":
        raise typer.Exit(failures.INCOMPLETE)


def _short(job: dict[str, Any]) -> dict[str, Any]:
    progress = job.get("progress") or {}
    return {**{name: job.get(name) for name in _COLUMNS}, "progress": f"{progress.get('done')}/{progress.get('total')}"}


def main() -> None:
    """Run the command line: the entry point of `limn`."""
    output = Output(as_json="--json" in sys.argv[1:])
    try:
        status = app(standalone_mode=False)
    except Failure as failure:
        output.failure(failure)
        sys.exit(failure.status)
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
