"""Start, list and cancel transcodes. `steps` does the work."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.keys import object_keys
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Note
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import Media
from chalicelib.core.models.jobs import JOB, Job, JobProgress, StoredJob, Transcode, TranscodeSpec
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now, shared
from chalicelib.errors import BadInput, NotFound
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.bodies import MediaIdQuery
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.queues import send
from chalicelib.resources.email import project_emails
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.entities.service import Writer, unknown_type
from chalicelib.resources.media import creation as media_creation
from chalicelib.resources.media import service as media_service
from chalicelib.resources.media.readiness import ready_event
from chalicelib.resources.media.schemas import MediaSpec, guess_type, no_type_for, with_job
from chalicelib.resources.media.service import project_with
from chalicelib.resources.transcodes.messages import PlanTranscode
from chalicelib.resources.uploads import fetching
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.progress import pieces
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects
from chalicelib.video.files import naming

ANY_TYPE = -1
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".gz", ".7z", ".rar")
EXISTING = -1
"""The `section_id` of a transcode into an existing media."""


def start(writer: Writer, project: Project, spec: TranscodeSpec, *, elemental_id: str | None = None) -> StoredJob:
    """Start a transcode of a video, into a new media or the given one.

    A repeated request with the same spec returns the same job. `elemental_id` is that of a new media.

    Raises:
        Forbidden: the URL is not from an allowed origin.
        BadInput: a member breaks a rule, or the URL cannot be read.
        NotFound: the media does not exist.
    """
    fetching.check_source(spec.url, project.id, writer.scope)
    _check_required(spec)
    uid = spec.uid or str(uuid.uuid1())
    known = records.maybe(JOB, uid)
    if known is not None:
        return _same_job(known, project, spec)
    source = fetching.object_key(spec.url, project.id, writer.scope)
    definitions = records.definitions(project.id)
    type_ = _type(definitions, spec.type or ANY_TYPE, has_media=spec.media_id is not None)
    found = _get_media(project, spec.media_id) if spec.media_id is not None else None
    writer.scope.check(Kind.MEDIA, [found] if found else [])
    size = _size(writer.scope, project, spec)
    _refuse_archive(writer.scope, project, spec)
    if spec.email_spec:
        project_emails.prepare(project.id, spec.email_spec, uid, writer.user, Level.TRANSFER)

    def job_for(media: Media) -> StoredJob:
        section = EXISTING if spec.media_id else media.primary_section
        return StoredJob(
            uid=uid,
            gid=(spec.gid or str(uuid.uuid1())).lower(),
            project=project.id,
            user=writer.user,
            media=media.id,
            start_time=now(),
            spec=msgspec.structs.replace(spec, size=size, media_id=media.id, section_id=section),
            source=source.path if source else "",
        )

    def add_job(change: Transaction, media: Media) -> None:
        jobs.append(job_for(media))
        records.add(change, JOB, jobs[-1], taken=_uid_taken(uid))

    jobs: list[StoredJob] = []
    if found is None:
        media_creation.create(writer, project, [_media_spec(spec, type_, elemental_id)], job=uid, also=add_job)
    else:
        entities.edit(Kind.MEDIA, found.id, lambda current: with_job(current, uid), user=writer.user, also=add_job)
    send(settings().transcode_queue_url, PlanTranscode(job=uid))
    return jobs[-1]


def resume(uid: str) -> None:
    """Send the first message of a transcode again if nothing was done of it; without effect where there is none."""
    job = records.maybe(JOB, uid)
    if job is not None and job.status == "pending":
        send(settings().transcode_queue_url, PlanTranscode(job=uid))


def check_uploads(writer: Writer, project: Project, specs: Sequence[MediaSpec], definitions: Definitions) -> None:
    """Raise BadInput if a video among media to be created has an unreadable URL."""
    types = media_service.types_of(definitions)
    for spec in specs:
        if not spec.url or spec.reference_only:
            continue
        is_open = spec.type == ANY_TYPE and spec.name
        type_ = guess_type(types, spec.name or "", has_file=True) if is_open else types.get(spec.type)
        if type_ and type_.dtype == "video":
            fetching.check_origin(spec.url, project.organization)
            fetching.open_source(spec.url, project.id, writer.scope)


def start_upload(writer: Writer, project: Project, spec: MediaSpec, media: Media, definitions: Definitions) -> Media:
    """Start a transcode of the file that a video was created with; returns the media, which names the job.

    Media of other types, and media without a file to copy, stay unchanged.
    """
    type_ = definitions.types(Kind.MEDIA).get(media.type)
    if not spec.url or spec.reference_only or getattr(type_, "dtype", "") != "video":
        return media
    uid = str(uuid.uuid4())
    wanted = TranscodeSpec(type=media.type, uid=uid, gid=spec.gid or uid, url=spec.url, name=spec.name, md5=spec.md5)
    start(writer, project, msgspec.structs.replace(wanted, media_id=media.id))
    found: Media = entities.get(Kind.MEDIA, media.id)
    return found


def list_transcodes(project: int, parameters: MediaQuery, body: MediaIdQuery | None, scope: Scope) -> list[StoredJob]:
    """The transcodes of a project: of an upload group, of the media that match, or all.

    In the order of their media with `sort_by`, else the oldest first.

    Raises:
        BadInput: the upload group belongs to another project.
    """
    jobs = records.list_children(JOB, project)
    if parameters.gid is not None:
        wanted = parameters.gid.lower()
        jobs = [job for job in jobs if job.gid == wanted]
        if not jobs and records.list_linked(JOB, "gid", wanted):
            raise BadInput(f"gid: the upload group {parameters.gid} is not one of project {project}.")
    if _narrows(parameters, body) or Kind.MEDIA in scope.terms(project):
        chosen = msgspec.structs.replace(parameters, gid=None)
        if chosen.archive_lifecycle is None:
            chosen = msgspec.structs.replace(chosen, archive_lifecycle="all")
        query = filters.parse(Kind.MEDIA, chosen, body)
        order = {number: at for at, number in enumerate(view_queries.ids(view_queries.current(project), query, scope))}
        jobs = [job for job in jobs if job.media in order]
        if parameters.sort_by:
            return sorted(jobs, key=lambda job: (order[job.media], job.start_time, job.uid))
    return sorted(jobs, key=lambda job: (job.start_time, job.uid))


def cancel(jobs: Iterable[StoredJob]) -> int:
    """Remove transcodes; running steps stop when they notice. Returns how many; their media stay unchanged."""
    count = 0
    for job in jobs:
        try:
            records.remove(JOB, job.uid)
        except NotFound:
            continue
        take_back(job)
        clean_up(job)
        count += 1
    return count


def take_back(job: StoredJob, failure: str | None = None) -> None:
    """Remove thumbnail and frame count from a media without renditions; the job's cleanup deletes its objects.

    `failure` says why the job failed: the media shows it as `import_error`.
    """

    def before(current: Media) -> Media | None:
        after = without_results(current)
        if failure is not None:
            after = msgspec.structs.replace(after, import_error=failure)
        return None if after == current else msgspec.structs.replace(after, modified_datetime=now())

    def without_results(current: Media) -> Media:
        files = current.media_files
        if not job.digest or files is None or files.streaming:
            return current
        kept = [entry for entry in files.thumbnail or [] if f"_{job.digest}." not in entry.path]
        if len(kept) == len(files.thumbnail or []):
            return current
        files = msgspec.structs.replace(files, thumbnail=kept or None)
        return msgspec.structs.replace(
            current,
            media_files=None if files == MediaFiles() else files,
            **dict.fromkeys(("num_frames", "fps", "codec", "width", "height", "damaged_frames")),
        )

    with contextlib.suppress(NotFound):
        entities.edit(Kind.MEDIA, job.media, before, user=job.user)


def end_event(job: StoredJob) -> Note:
    """The event of the end of a transcode."""
    if job.status == "failed":
        data = {"media": job.media, "message": job.message}
        return Note(type="transcode.failed", kind="transcode", id=job.uid, media=[job.media], data=data)
    return ready_event(job.media, transcode=job.uid)


def clean_up(job: StoredJob) -> None:
    """Remove the intermediate files of a transcode, and its files for the media that no record names."""
    objects.remove(list(objects.under(object_keys.pieces_prefix(job.project, job.uid))))
    pieces.remove(job.uid)
    if job.digest:
        folder = object_keys.media_prefix(project_with(job.project).organization, job.project, job.media)
        made = [key for key in objects.under(folder) if f"_{job.digest}." in key.path]
        objects.remove(object_cleanup.find_unreferenced(made).doomed)


def reopen(uid: str) -> None:
    """Restart a job that failed; others are unchanged. Its plan and pieces were removed when it failed."""

    def edit(current: StoredJob) -> StoredJob | None:
        if current.status != "failed":
            return None
        blank = StoredJob(
            **{
                name: getattr(current, name)
                for name in ("uid", "gid", "project", "user", "media", "spec", "source", "start_time")
            }
        )
        return msgspec.structs.replace(blank, status="pending")

    with contextlib.suppress(NotFound):
        records.edit(JOB, uid, edit)


def as_response(job: StoredJob) -> Transcode:
    """A transcode as a response document."""
    spec: dict[str, Any] = msgspec.to_builtins(job.spec)
    spec.setdefault("section_id", None)
    spec.setdefault("attributes", {})
    made = pieces.count(job.uid) if job.status == "running" else job.pieces
    return Transcode(
        spec=spec,
        job=Job(
            id=job.uid,
            media_ids=[job.media],
            done=made,
            progress=JobProgress(done=made, total=max(job.pieces, made)),
            **shared(job, Job),
        ),
    )


def _check_required(spec: TranscodeSpec) -> None:
    missing = [name for name in sorted(spec.required_later) if getattr(spec, name) is None]
    if missing:
        raise BadInput("Request body validation error", f"'{missing[0]}' is a required property.")


def _same_job(job: StoredJob, project: Project, spec: TranscodeSpec) -> StoredJob:
    """The job with this uid, if the same request started it; its first message may not have been sent."""
    if job.project != project.id or job.status == "failed":
        raise _uid_taken(job.uid)
    settled = {"size": spec.size, "media_id": job.media, "section_id": job.spec.section_id}
    for name in spec.__struct_fields__:
        given = getattr(spec, name)
        if given != getattr(job.spec, name) and (name not in settled or given not in (None, settled[name])):
            raise BadInput(f"uid: {job.uid!r} is the uid of a transcode with another {name}; give a new one.")
    if job.status == "pending":
        send(settings().transcode_queue_url, PlanTranscode(job=job.uid))
    return job


def _uid_taken(uid: str) -> BadInput:
    return BadInput(f"uid: {uid!r} is the uid of another transcode; give a new one.")


def _type(definitions: Definitions, number: int, *, has_media: bool) -> int:
    types = media_service.types_of(definitions)
    videos = [key for key, type_ in types.items() if type_.dtype == "video"]
    if number == ANY_TYPE and (videos or (types and has_media)):
        return videos[0] if videos else min(types)
    if number == ANY_TYPE:
        raise no_type_for("video", types.values())
    if number not in types:
        raise BadInput(unknown_type(Kind.MEDIA, definitions.project, number))
    if number not in videos:
        raise BadInput(f"type: project {definitions.project} has no media type {number} of videos.")
    return number


def _get_media(project: Project, number: int) -> Media:
    found: Media = entities.get(Kind.MEDIA, number)
    if found.project != project.id:
        raise BadInput(f"media_id: media {number} is not in project {project.id}.")
    return found


def _size(scope: Scope, project: Project, spec: TranscodeSpec) -> int:
    try:
        return fetching.open_source(spec.url, project.id, scope).size
    except BadInput:
        if spec.size is None or fetching.object_key(spec.url, project.id, scope) is not None:
            raise
        return spec.size


def _refuse_archive(scope: Scope, project: Project, spec: TranscodeSpec) -> None:
    """Raise BadInput for an uploaded archive: type -1 once stood for archives of media, too."""
    if spec.type != ANY_TYPE and not (spec.name or "").lower().endswith(_ARCHIVES):
        return
    key = fetching.object_key(spec.url, project.id, scope)
    named = naming.archive_of(fetching.ObjectSource(key)) if key else ""
    if named:
        message = (
            f"url: the file is {named}, which is not unpacked into media. Upload its files one by one, or import it "
            f"as a dataset with POST /rest/Imports/{project.id}."
        )
        raise BadInput(message)


def _media_spec(spec: TranscodeSpec, type_: int, elemental_id: str | None) -> MediaSpec:
    return MediaSpec(
        type=type_,
        name=spec.name,
        md5=spec.md5 or "",
        gid=spec.gid,
        uid=spec.uid,
        url=spec.url,
        section=spec.section,
        section_id=spec.section_id,
        attributes=spec.attributes,
        elemental_id=elemental_id,
    )


def _narrows(parameters: MediaQuery, body: MediaIdQuery | None) -> bool:
    """Whether any parameter but `gid` filters the media."""
    plain = msgspec.structs.replace(parameters, gid=None)
    return plain != type(parameters)() or (body is not None and body != MediaIdQuery())


media_creation.register_transcoding(check_uploads, start_upload)
