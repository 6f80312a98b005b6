"""The commands for datasets and events."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from .. import failures, uploads
from ..client import Client
from ..failures import Failure
from . import datasets, taxa_commands
from .sessions import ProjectOption, Session, wait

ImportFormat = Literal[
    "coco", "kwcoco", "yolo", "voc", "mot", "mots", "cvat", "dota", "masks", "viame", "dive", "coralnet", "csv",
    "jsonl", "parquet", "camtrapdp", "vars", "eventmeasure", "biigle", "ifdo",
]  # fmt: skip
ExportFormat = Literal[
    "coco", "kwcoco", "yolo", "voc", "mot", "mots", "cvat", "dota", "masks", "viame", "dive", "coralnet", "fathomnet",
    "dwca", "camtrapdp", "ifdo", "biigle", "vars", "eventmeasure", "geojson", "csv", "jsonl", "parquet",
]  # fmt: skip
TimeoutOption = Annotated[float, typer.Option(min=0, help="Seconds to wait; 0 waits without end.")]


def export(
    context: typer.Context,
    output: Annotated[Path, typer.Option("--output", "-o", help="The archive.")],
    format_: Annotated[ExportFormat, typer.Option("--format", help="Format of the dataset.")] = "coco",
    project: ProjectOption = None,
    dataset: Annotated[str | None, typer.Option(help="A named version of a dataset instead of a selection.")] = None,
    frames: Annotated[Literal["none", "crops", "frames", "every"], typer.Option(help="Pictures.")] = "none",
    class_attribute: Annotated[str | None, typer.Option(help="Attribute whose value is the class.")] = None,
    options: Annotated[
        Path | None, typer.Option(help="A file with further members of the request, such as localizations or split.")
    ] = None,
    timeout: TimeoutOption = 0,
) -> None:
    """Export a dataset and download it."""
    failures.check_target("--output", output)
    session: Session = context.obj
    client, number = session.client(), session.project(project)
    body: dict[str, Any] = {"format": format_, "frames": frames, **datasets.members(options)}
    if dataset is not None:
        body["dataset"] = dataset
    if class_attribute is not None:
        body["classes"] = {"attribute": class_attribute, **body.get("classes", {})}
    uid = client.create_export(number, cast("Any", body))["uid"]

    def read() -> Any:
        return client.get_export(uid)

    session.output.note(f"export {uid}")
    made = wait(session.output, read, datasets.is_over, timeout)
    if made["status"] != "succeeded":
        raise Failure(made.get("message") or f"The export {made['status']}.", failures.INCOMPLETE, uid=uid)
    with session.output.transfer() as progress:
        bar = progress.add_task(output.name, total=made["size"])
        size = datasets.download(client, read, output, lambda count: progress.advance(bar, count))
    session.output.result(
        {**made, "url": None, "file": str(output)}, f"{output}: {size:,} bytes, {made['labels']} labels"
    )


def import_(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="A zip, a folder, or a single file.")],
    format_: Annotated[ImportFormat | None, typer.Option("--format", help="Format; of some files by suffix.")] = None,
    project: ProjectOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report what would be imported.")] = False,
    match: Annotated[Literal["name", "path", "md5"], typer.Option(help="How media are found.")] = "name",
    version: Annotated[int | None, typer.Option(min=1, help="Version of the annotations.")] = None,
    class_attribute: Annotated[str | None, typer.Option(help="Attribute that takes the class.")] = None,
    taxa: Annotated[
        Path | None, typer.Option(help="A list of taxa of WoRMS or GBIF: synonyms become their accepted names.")
    ] = None,
    section: Annotated[str | None, typer.Option(help="Section of created media.")] = None,
    create_types: Annotated[
        bool, typer.Option("--create-types", help="Create types and attributes that the project lacks.")
    ] = False,
    options: Annotated[
        Path | None, typer.Option(help="A file with further members of the request, such as types or classes.")
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, max=32, help="Parts sent at once.")] = 4,
    timeout: TimeoutOption = 0,
) -> None:
    """Import a dataset. Run it again after a failure: nothing is created twice."""
    session: Session = context.obj
    chosen = format_ or datasets.FORMATS.get(path.suffix.lower())
    if chosen is None:
        raise Failure("Give --format.")
    listed = taxa_commands.read_taxa(taxa, class_attribute) if taxa else None
    client, number = session.client(2 * parallel), session.project(project)
    with datasets.archive_of(path) as archive, session.output.transfer() as progress:
        journal = uploads.Journal()
        uploader = uploads.Uploader(client, uploads.Target(number), journal, parallel=parallel)
        bar = progress.add_task(archive.name, total=archive.stat().st_size)
        key = uploader.store(uploads.UploadFile(archive, archive.name), lambda count: progress.advance(bar, count))
        journal.close()
    given = {"version": version, "class_attribute": class_attribute, "section": section}
    body: dict[str, Any] = {"format": chosen, "key": key, "name": path.name, "dry_run": dry_run, "match": match}
    if create_types:
        body["create_types"] = True
    body |= {name: value for name, value in given.items() if value is not None} | datasets.members(options)
    if listed is not None:
        tried = _run_import(session, client, number, {**body, "dry_run": True}, timeout)
        names = [each["name"] for each in (tried.get("report") or {}).get("classes", ())]
        mapped = taxa_commands.accepted_classes(listed[0], names, listed[1])
        session.output.note(f"{len(mapped)} of {len(names)} classes are synonyms")
        body["classes"] = {**mapped, **body.get("classes", {})}
    made = _run_import(session, client, number, body, timeout)
    uid = made["uid"]
    if made["status"] != "succeeded":
        raise Failure(made.get("message") or f"The import {made['status']}.", failures.INCOMPLETE, uid=uid)
    session.output.result(made, datasets.summary(made["report"]))
    if datasets.refused(made["report"]):
        raise typer.Exit(failures.INCOMPLETE)


def _run_import(session: Session, client: Client, project: int, body: dict[str, Any], timeout: float) -> Any:
    """The import when it is over."""
    uid = client.create_import(project, cast("Any", body))["uid"]
    session.output.note(f"import {uid}")
    return wait(session.output, lambda: client.get_import(uid), datasets.is_over, timeout)


def diff(
    context: typer.Context,
    base: Annotated[str, typer.Argument(help="The earlier version of a dataset, by its uid.")],
    other: Annotated[str, typer.Argument(help="The later version.")],
) -> None:
    """What was added, changed and removed between two versions of a dataset. Exit status 7 if anything was."""
    session: Session = context.obj
    found: Any = session.client().compare_datasets(other, base=base)
    rows = {kind: found[kind] for kind in ("media", "localizations", "states")}
    counts = {kind: tuple(row[name] for name in ("added", "changed", "removed")) for kind, row in rows.items()}
    lines = [f"{kind + ':':15}{a} added, {c} changed, {r} removed" for kind, (a, c, r) in counts.items()]
    session.output.result(found, "\n".join(lines))
    if any(map(any, counts.values())):
        raise typer.Exit(failures.INCOMPLETE)


def events(
    context: typer.Context,
    project: ProjectOption = None,
    after: Annotated[str, typer.Option(help="Position to continue after: of an earlier page, 0, or now.")] = "0",
    kinds: Annotated[str | None, typer.Option(help="Such as localization,media.ready.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for events to come.")] = False,
    state: Annotated[
        Path | None, typer.Option(help="A file that keeps the position, so that the next run continues.")
    ] = None,
) -> None:
    """The changes of a project, in order: a line of JSON each with --json."""
    failures.check_target("--state", state)
    session: Session = context.obj
    if state is not None and state.exists():
        after = state.read_text(encoding="utf-8").strip() or after
    for page in datasets.events(session.client(), session.project(project), after, kinds, follow=follow):
        for event in page["events"]:
            text = f"{event['time']}  {event['type']}  {event['subject']}  user {event['user']}"
            session.output.line(event, text)
        if state is not None:  # after the events were written: one may be repeated, and none is lost
            temporary = state.with_name(f".{state.name}.part")
            temporary.write_text(page["next"], encoding="utf-8")
            temporary.replace(state)
