"""The commands about jobs: algorithms and transcodes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .. import failures
from .sessions import ProjectOption, Session, wait

jobs = typer.Typer(help="Jobs: algorithms and transcodes.", no_args_is_help=True)
OPEN = ("Pending", "Running")
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
