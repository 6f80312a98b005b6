"""The steps of a transcode: plan → pieces → assembly, each a queue message.

    plan       probe the source, plan the outputs, publish frame count and thumbnail, queue the first group's pieces
    piece      decode it once, encode the renditions of one group; the last one of the group has it assembled
    assemble   join the renditions of a group, make the files that depend on them, and publish all in one commit

Long jobs have two groups: the smallest rendition with the audio, so that a video can be watched soon, then the others.
Pieces of the second group are queued once the first group is published, a few at once: each queues the one that is
`at_once` pieces further. So many videos that are uploaded together can all be watched before large pieces are encoded,
and a later one waits for few of them (decision 130).

Every step may crash between any two calls and run again, also twice at once: the job's record says whether work is
left, keys derive from the inputs (the job, the source's ETag and the plan), a piece counts once, and the commit skips
files that the media has. Intermediate files are stored under the job's own prefix and deleted with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectPrefix
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import MediaType
from chalicelib.core.models.entities import Media
from chalicelib.core.models.jobs import JOB, EmailSpec, StoredJob
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Conflict, LimnError, NotFound, reason_of
from chalicelib.queues import send, send_many
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.email import project_emails
from chalicelib.resources.media.service import project_with
from chalicelib.resources.transcodes import damage
from chalicelib.resources.transcodes.messages import AssembleTranscode, EncodePiece
from chalicelib.resources.transcodes.results import Workshop
from chalicelib.resources.transcodes.service import clean_up, end_event, take_back
from chalicelib.resources.uploads import fetching
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.progress import pieces, usage
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects
from chalicelib.video import plan as video_plan
from chalicelib.video import probe
from chalicelib.video.encoding.encode import PieceResult, encode_piece
from chalicelib.video.plan import TranscodePlan
from chalicelib.video.process import isolation
from chalicelib.video.timing import FrameTable

_ROLES = ("streaming", "archival", "audio", "thumbnail", "thumbnail_gif")


class Prepared(Struct, frozen=True):
    """The output of the plan step for the other steps."""

    etag: str
    plan: TranscodePlan
    table: FrameTable
    at_once: int = 1
    """How many pieces of the second group are queued at once."""


_encode = msgspec.json.Encoder().encode
_prepared_decoder = msgspec.json.Decoder(Prepared)
_result_decoder = msgspec.json.Decoder(PieceResult)


def plan(uid: str) -> None:
    """Probe and plan a job's source, and queue its pieces.

    Raises:
        BadInput, Forbidden, NotFound: the source cannot be transcoded.
    """
    job = _at_work(uid)
    if job is None:
        return
    if job.plan is None:
        job = _plan(job)
    prepared = _load_plan(job)
    # What is known before encoding: the number of frames, their rate and size, and a thumbnail.
    if not _publish(job, prepared, Workshop.make_thumbnail):
        return
    missing = [number for number in range(len(prepared.plan.pieces)) if not pieces.is_done(uid, number)]
    if missing:
        send_many(settings().transcode_queue_url, [EncodePiece(job=uid, index=number) for number in missing])
    else:
        # Its assembly message may not have been sent.
        send(settings().transcode_queue_url, AssembleTranscode(job=uid))


def _place(plan_: TranscodePlan, unit: int) -> tuple[int, int]:
    """The group and the piece of a message's index."""
    return divmod(unit, len(plan_.pieces))


def _queue_second_group(uid: str, prepared: Prepared, starts: Iterable[int]) -> None:
    """Queue pieces of the second group: from each of `starts` on, every `at_once` pieces, the first unfinished one."""
    count = len(prepared.plan.pieces)
    lanes = (range(start, count, prepared.at_once) for start in starts)
    following = (next((number for number in lane if not pieces.is_done(uid, number, group=1)), None) for lane in lanes)
    wanted = [EncodePiece(job=uid, index=count + number) for number in following if number is not None]
    send_many(settings().transcode_queue_url, wanted)


def encode(uid: str, index: int) -> None:
    """Encode one piece of a job for one group of its renditions.

    Raises:
        BadInput: it cannot be decoded, or the source was replaced.
    """
    job = _at_work(uid)
    if job is None or job.plan is None:
        return
    prepared = _load_plan(job)
    group, number = _place(prepared.plan, index)
    if not pieces.is_done(uid, number, group=group):
        source = _source(job, prepared)
        with tempfile.TemporaryDirectory() as folder:
            wanted = prepared.plan.of_group(group)
            result = isolation.run(
                encode_piece,
                source,
                wanted,
                wanted.pieces[number],
                prepared.table,
                Path(folder),
                limits=isolation.UNHURRIED if group else isolation.TRANSCODING,
            )
            # Encoders are not deterministic: each run has its own file names, and the first recorded run counts.
            run = uuid.uuid4().hex
            sound = result.sound
            for output in (*result.outputs, *([sound.output] if sound else [])):
                with (Path(folder) / output.file).open("rb") as file:
                    objects.write(_prefix(job) + f"{run}/{output.file}", file, "video/mp4")
        pieces.finish(uid, number, _encode(_in_folder(result, run)), group=group)
    if _at_work(uid) is None:
        # Cancelled meanwhile: this was written after the cleanup.
        take_back(job)
        clean_up(job)
        return
    is_complete = pieces.count_of_group(uid, group) >= len(prepared.plan.pieces)
    if is_complete and group < prepared.plan.group_count - 1:
        # A message would wait behind large pieces of other videos.
        assemble(uid, group)
    elif is_complete:
        send(settings().transcode_queue_url, AssembleTranscode(job=uid, group=group))
    elif group:
        _queue_second_group(uid, prepared, [number + prepared.at_once])


def _in_folder(result: PieceResult, folder: str) -> PieceResult:
    """The result with the names of files in a folder."""
    replace = msgspec.structs.replace
    outputs = tuple(replace(output, file=f"{folder}/{output.file}") for output in result.outputs)
    sound = result.sound
    if sound:
        sound = replace(sound, output=replace(sound.output, file=f"{folder}/{sound.output.file}"))
    return replace(result, outputs=outputs, sound=sound)


def assemble(uid: str, group: int = 0) -> None:
    """Join the pieces of a group and publish the renditions; the last group ends the job.

    Raises:
        BadInput: a file cannot be made.
        NotFound: the media was deleted.
    """
    job = records.maybe(JOB, uid)
    if job is None:
        return
    if job.is_finished:
        clean_up(job)
        return
    if job.plan is None:
        return
    prepared = _load_plan(job)
    found = {number: _results(uid, number) for number in {0, group}}
    if any(len(results) < len(prepared.plan.pieces) for results in found.values()):
        # Sent before the last piece was recorded, or by an older release before the first group was complete.
        return
    damaged = damage.damaged_frames(found[0], prepared.table)
    if not _publish(job, prepared, lambda workshop: workshop.make(found, group), {"damaged_frames": damaged}):
        return
    shown = pieces.finish(uid, group, b"", group=pieces.SHOWN)
    if shown < prepared.plan.group_count:
        if pieces.count_of_group(uid, 1) >= len(prepared.plan.pieces):
            send(settings().transcode_queue_url, AssembleTranscode(job=uid, group=1))
        elif group == 0:
            _queue_second_group(uid, prepared, range(prepared.at_once))
        if group == 0:
            # It takes seconds, for which neither the rendition nor the others wait.
            _publish(job, prepared, Workshop.make_animation)
        return
    _notify(job, failure=None)
    rate = prepared.plan.probe.fps
    seconds = round(prepared.plan.frames / rate) if rate else 0
    _finish(job, "succeeded", damage.describe(damaged, prepared.plan.frames), seconds)


def _results(uid: str, group: int) -> list[PieceResult]:
    return [_result_decoder.decode(result) for result in pieces.results(uid, group=group).values()]


def _workshop(job: StoredJob, prepared: Prepared, folder: Path) -> Workshop:
    media: Media = entities.get(Kind.MEDIA, job.media)
    return Workshop(
        job=job,
        media=media,
        plan=prepared.plan,
        table=prepared.table,
        source=_source(job, prepared),
        folder=folder,
        prefix=_prefix(job),
    )


def _publish(
    job: StoredJob,
    prepared: Prepared,
    make: Callable[[Workshop], MediaFiles],
    found: Mapping[str, Any] = MappingProxyType({}),
) -> bool:
    """Add the files that `make` makes, and the members `found`, to the job's media; whether the job still exists."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            _show(job, prepared, make(_workshop(job, prepared, Path(folder))), found)
        except (NotFound, Conflict):
            if records.maybe(JOB, job.uid) is not None:
                raise
            # Cancelled meanwhile: files were made after the cleanup.
            take_back(job)
            clean_up(job)
            return False
    return True


def _show(job: StoredJob, prepared: Prepared, made: MediaFiles, found: Mapping[str, Any]) -> None:
    """Add files and members to the job's media, in one commit that requires the job to exist."""
    shape = dict(found)
    largest = prepared.plan.largest
    if largest is not None:
        shape |= {
            "num_frames": prepared.plan.frames,
            "fps": float(prepared.plan.probe.fps),
            "codec": prepared.plan.probe.video.codec,
            "height": largest.height,
            "width": largest.width,
        }

    def while_wanted(change: Transaction, _: Media) -> None:
        records.guard(change, JOB, job.uid)

    entities.edit(
        Kind.MEDIA, job.media, lambda current: _with_files(current, made, shape), user=job.user, also=while_wanted
    )


def fail(uid: str, reason: Exception) -> None:
    """Record why a job failed. Its source and published renditions are kept; without any, the media is reset."""
    job = records.maybe(JOB, uid)
    if job is None:
        return
    if not job.is_finished:
        message = reason_of(reason)
        take_back(job, message)
        _notify(job, failure=message)
        _finish(job, "failed", message)
    else:
        clean_up(job)


def _plan(job: StoredJob) -> StoredJob:
    media: Media = entities.get(Kind.MEDIA, job.media)
    type_ = records.definitions(job.project).types(Kind.MEDIA).get(media.type)
    source = fetching.open_accepted(job.source, job.spec.url, job.project)
    if not source.size:
        raise BadInput("The file is empty.")
    found, table = isolation.run(probe.probe, source)
    files = media.media_files or MediaFiles()
    made = video_plan.plan(
        found,
        table,
        _configs(type_, "streaming_config"),
        _configs(type_, "archive_config"),
        settings().piece_seconds,
        present=[(entry.resolution[0], entry.codec) for entry in files.streaming or []],
        archival_present=bool(files.archival),
        audio_present=bool(files.audio),
    )
    project = project_with(job.project)
    digest = hashlib.sha256(f"{job.uid} {source.etag} {made.digest}".encode()).hexdigest()[:12]
    # all that the job makes goes where the project's files go now, wherever they go when it ends
    digest = buckets_service.name_object(project, digest, project.bucket)
    key = _prefix(job) + "plan.json"
    objects.write(key, _encode(Prepared(source.etag, made, table, settings().pieces_at_once)), "application/json")

    def edit(current: StoredJob) -> StoredJob | None:
        if current.plan is not None or current.is_finished:
            return None
        return msgspec.structs.replace(
            current, status="running", plan=key.path, digest=digest, pieces=made.group_count * len(made.pieces)
        )

    return records.edit(JOB, job.uid, edit)


def _configs(type_: Any, name: str) -> list[dict[str, Any]] | None:
    configs = getattr(type_, name) if isinstance(type_, MediaType) else None
    return None if configs is None else [msgspec.to_builtins(config) for config in configs]


def _at_work(uid: str) -> StoredJob | None:
    """The job if it has work left."""
    job = records.maybe(JOB, uid)
    return None if job is None or job.is_finished else job


def _load_plan(job: StoredJob) -> Prepared:
    return _prepared_decoder.decode(objects.read(object_keys.listed(_prefix(job), job.plan or "")))


def _source(job: StoredJob, prepared: Prepared) -> fetching.Fetched:
    source = fetching.open_accepted(job.source, job.spec.url, job.project)
    if source.etag != prepared.etag:
        raise BadInput("The source was replaced while it was transcoded.")
    return source


def _prefix(job: StoredJob) -> ObjectPrefix:
    return object_keys.pieces_prefix(job.project, job.uid)


def _with_files(current: Media, made: MediaFiles, shape: dict[str, Any]) -> Media | None:
    """The media with the files that it lacked; None if it has all of them."""
    files = current.media_files or MediaFiles()
    change: dict[str, Any] = {}
    for role in _ROLES:
        before = getattr(files, role) or []
        known = {entry.path for entry in before}
        # Files that others added meanwhile are kept; in a role with one file, the first one is kept.
        new = [entry for entry in getattr(made, role) or [] if entry.path not in known]
        if new:
            change[role] = [*before, *new]
    is_known = current.import_error is None and all(getattr(current, name) == value for name, value in shape.items())
    if not change and is_known:
        return None
    if streaming := change.get("streaming"):
        change["streaming"] = sorted(streaming, key=lambda entry: entry.resolution[0])
    after = msgspec.structs.replace(current, media_files=msgspec.structs.replace(files, **change))
    return msgspec.structs.replace(after, import_error=None, modified_datetime=now(), **shape)


def _finish(job: StoredJob, status: str, message: str | None, seconds: int = 0) -> None:
    def edit(current: StoredJob) -> StoredJob | None:
        if current.is_finished:
            return None
        return msgspec.structs.replace(current, status=status, message=message, stop_time=now())

    def note(change: Transaction, _before: StoredJob, after: StoredJob) -> None:
        change.add_note(job.project, job.user, end_event(after))
        if seconds:
            usage.count_in(change, job.project, "seconds", seconds)

    # The job may have been cancelled during its last step.
    with contextlib.suppress(NotFound):
        records.edit(JOB, job.uid, edit, also=note)
    clean_up(job)


def _notify(job: StoredJob, failure: str | None) -> None:
    """Send the requested mail; its id prevents a second one after a redelivery."""
    spec = job.spec.email_spec
    if spec is None:
        return
    if failure:
        text = f"The transcode of {job.spec.name} failed: {failure}\n\nThe uploaded file was kept.\n"
        spec = EmailSpec(recipients=spec.recipients, subject=f"Failed: {spec.subject}"[:200], text=text)
    try:
        mails = project_emails.prepare(job.project, spec, f"transcode-{job.uid}", job.user, Level.TRANSFER)
    except LimnError:
        # A recipient left the project, or an attachment was deleted: the transcode still succeeds.
        return
    send_many(settings().email_queue_url, mails)
