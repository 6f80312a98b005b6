"""Create media: the record at once; the files of images follow in a queue function.

Media of one request become visible in one commit: one bad item creates nothing.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from chalicelib.access.scope import Scope
from chalicelib.core.keys import key_forms
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definitions import Definitions, MediaType, Section
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import TAG_ATTRIBUTE, ImageDefinition, MediaFiles
from chalicelib.core.resource import now
from chalicelib.core.values.attribute_values import fill
from chalicelib.errors import BadInput, LimnError, NotFound
from chalicelib.queues import send_many
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.entities.service import Writer, author, uuid_text
from chalicelib.resources.media import service as media_service
from chalicelib.resources.media.messages import ImportImage
from chalicelib.resources.media.schemas import MediaSpec, guess_type, tag_text, with_job, with_tag
from chalicelib.resources.sections import service as sections_service
from chalicelib.resources.uploads import fetching
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, ids, records
from chalicelib.storage.dynamodb.progress import lineage
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import growth
from chalicelib.storage.objects import objects

LARGEST_THUMBNAIL = 32 * 1024 * 1024
_MIMES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp", "AVIF": "image/avif"}
_DIMENSIONS = ("num_frames", "fps", "codec", "width", "height", "summary_level")


CheckUploads = Callable[[Writer, Project, Sequence[MediaSpec], Definitions], None]
StartUpload = Callable[[Writer, Project, MediaSpec, Media, Definitions], Media]
_transcoding: list[tuple[CheckUploads, StartUpload]] = []


def register_transcoding(check: CheckUploads, start: StartUpload) -> None:
    """Register the function that checks and transcodes videos created with a URL: checked before, transcoded after."""
    _transcoding[:] = [(check, start)]


def create_with_files(writer: Writer, project: Project, specs: Sequence[MediaSpec]) -> list[Media]:
    """Create media from the files at their URLs: images are imported, videos transcoded. Raises as `create`.

    Clients send videos in formats that they do not recognise, such as MXF and 3GP, as images.
    """
    definitions = records.definitions(project.id)
    for check, _ in _transcoding:
        check(writer, project, specs, definitions)
    created = create(writer, project, specs, definitions=definitions)
    for _, start in _transcoding:
        created = [start(writer, project, spec, media, definitions) for spec, media in zip(specs, created, strict=True)]
    return created


def create(
    writer: Writer,
    project: Project,
    specs: Sequence[MediaSpec],
    *,
    job: str = "",
    also: Callable[[Transaction, Media], None] | None = None,
    definitions: Definitions | None = None,
) -> list[Media]:
    """Create media, and queue the import of images.

    Args:
        writer: the author.
        project: the project of the media.
        specs: one spec for each media.
        job: the uid of the job that will make their files.
        also: adds items to the transaction of the first commit.
        definitions: those of the project; read if they are not given.

    Raises:
        Forbidden: a URL is not from an allowed origin, or an author was named without full control.
        BadInput: a spec breaks a rule, or several are given and not all are images; nothing was created.
        NotFound: a type or an author does not exist.
        TooMany: there are many, and the project's log has grown too far beyond its snapshot.
    """
    growth.make_room(project.id, len(specs))
    for name in {spec.user_elemental_id for spec in specs}:
        author(writer, name)
    keys = {
        url: key.path
        for spec in specs
        for url in (spec.url, spec.thumbnail_url, spec.thumbnail_gif_url)
        if (key := fetching.check_source(url, project.id, writer.scope))
    }
    definitions = definitions or records.definitions(project.id)
    types = []
    for place, spec in zip(_places(specs), specs, strict=True):
        with _naming(place):
            types.append(_check_type(definitions, spec, place))
    if len(specs) > 1 and any(type_.dtype != "image" for type_ in types):
        raise BadInput("type: several media may be created at once only where all are images.")
    numbers = ids.reserve(Kind.MEDIA, len(specs))
    folders: dict[str, Section] = {}
    created = []
    for place, number, spec, type_ in zip(_places(specs), numbers, specs, types, strict=True):
        with _naming(place):
            created.append(with_job(_media(writer, project, definitions, number, spec, type_, folders), job))
    writer.scope.check(Kind.MEDIA, created)

    def with_them(change: Transaction) -> list[Change]:
        if also:
            also(change, created[0])
        return []

    # Send the message before the commit: after a crash in the opposite order the media would never get its
    # picture. The queue function waits for a media that does not exist yet.
    send_many(
        settings().transcode_queue_url,
        [
            ImportImage(
                media=made.id,
                url=spec.url,
                thumbnail_url=spec.thumbnail_url,
                source=keys.get(spec.url, ""),
                thumbnail_source=keys.get(spec.thumbnail_url, ""),
            )
            for made, spec, type_ in zip(created, specs, types, strict=True)
            if type_.dtype == "image" and spec.url and not job
        ],
    )
    lineage.record_launches(numbers, writer.scope.caller.launches)
    entities.create(Kind.MEDIA, created, user=writer.user, also=with_them)
    return created


def new_media(writer: Writer, project: Project, definitions: Definitions, number: int, spec: MediaSpec) -> Media:
    """A media as `create` makes it, not stored yet; its type and folder must exist. Raises BadInput."""
    type_ = media_service.type_of(definitions, spec.type)
    return _media(writer, project, definitions, number, spec, type_, {})


def _places(specs: Sequence[MediaSpec]) -> list[str]:
    """Where each of several is in the body; nothing for one alone."""
    return [f"[{index}]" for index in range(len(specs))] if len(specs) > 1 else [""]


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Let a refusal name the item of the body that it is about."""
    try:
        yield
    except BadInput as refusal:
        if not place or place in refusal.details:
            raise
        raise BadInput(f"{place}.{refusal.message}", refusal.details) from None
    except NotFound as missing:
        if not place or missing.key is not None:  # of a key, the dispatcher finds the place
            raise
        raise NotFound(f"{place}.{missing.message}") from None


def _check_type(definitions: Definitions, spec: MediaSpec, place: str) -> MediaType:
    for name in sorted(spec.required_later):
        if getattr(spec, name) is None:
            where = f" of {place}" if place else ""
            raise BadInput("Request body validation error", f"'{name}' is a required property{where}.")
    if spec.type == -1:
        return guess_type(media_service.types_of(definitions), spec.name or "", has_file=bool(spec.url))
    if spec.type not in definitions.types(Kind.MEDIA):
        raise media_service.unknown_type(definitions.project, spec.type)
    return media_service.type_of(definitions, spec.type)


def _media(
    writer: Writer,
    project: Project,
    definitions: Definitions,
    number: int,
    spec: MediaSpec,
    type_: MediaType,
    folders: dict[str, Section],
) -> Media:
    moment = now()
    given = with_tag(spec.attributes) or {}
    given_tag = tag_text(given.pop(TAG_ATTRIBUTE, ""))
    try:
        attributes: dict[str, Any] = fill(type_.attribute_types, given, moment)
    except BadInput as refusal:
        raise BadInput(f"attributes: {refusal.message}", refusal.details) from None
    user = author(writer, spec.user_elemental_id) or writer.user
    section = _section(writer, definitions, spec, folders)
    tag = (section.tator_user_sections or "") if section else given_tag
    folder = section.id if section else media_service.section_of_tag(definitions, tag)
    is_image = type_.dtype == "image"
    files = MediaFiles() if is_image else None
    if not is_image:
        files = _with_thumbnails(writer.scope, project, number, spec)
    elif spec.url and spec.reference_only:
        # The import finds the size; the path is final from the start.
        resolution = [max(spec.height or 1, 1), max(spec.width or 1, 1)]
        files = MediaFiles(image=[ImageDefinition(path=spec.url, resolution=resolution)])
    return Media(
        id=number,
        project=project.id,
        type=type_.id,
        name=spec.name or "",
        md5=spec.md5 or "",
        gid=spec.gid,
        uid=spec.uid,
        created_datetime=moment,
        created_by=user,
        modified_datetime=moment,
        modified_by=user,
        attributes={**attributes, TAG_ATTRIBUTE: tag},
        revision=len(type_.revisions),
        primary_section=folder,
        master_section=media_service.master_section(definitions, folder, spec.master_section),
        elemental_id=uuid_text(spec.elemental_id) if spec.elemental_id else str(uuid.uuid4()),
        archive_status_date=moment,
        media_files=files,
        source_url=spec.url,
        **({} if is_image else {name: getattr(spec, name) for name in _DIMENSIONS}),
    )


def _section(writer: Writer, definitions: Definitions, spec: MediaSpec, folders: dict[str, Section]) -> Section | None:
    if spec.section_id is not None:
        return media_service.folder(definitions, spec.section_id, "section_id")
    name = (spec.section or "").strip()
    if not name:
        return None
    if name.casefold() not in folders:
        folders[name.casefold()] = sections_service.folder_for(writer.scope, writer.project, name, writer.user)
    return folders[name.casefold()]


def _with_thumbnails(scope: Scope, project: Project, number: int, spec: MediaSpec) -> MediaFiles | None:
    """The files of a new video: thumbnails given by URL."""
    if spec.thumbnail_url is None and spec.thumbnail_gif_url is None:
        return None
    still, moving = (
        [store_picture(project, number, url, scope)] if url else None
        for url in (spec.thumbnail_url, spec.thumbnail_gif_url)
    )
    return MediaFiles(thumbnail=still, thumbnail_gif=moving)


def store_picture(project: Project, number: int, url: str, scope: Scope, accepted: str = "") -> ImageDefinition:
    """A picture fetched by URL, checked and stored as a file of a media. Raises BadInput if it is not a picture.

    `accepted` is as of `fetching.fetch`.
    """
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    data = fetching.fetch(url, project.id, LARGEST_THUMBNAIL, scope, accepted)
    try:
        with Image.open(io.BytesIO(data), formats=list(_MIMES)) as picture:
            width, height = picture.size
            mime = _MIMES[picture.format or ""]
            picture.verify()
    except LimnError:
        raise
    except Exception as failure:
        raise BadInput("thumbnail_url: the file is not a picture that can be read.", str(failure)) from failure
    key = buckets_service.media_key(project, number, key_forms.name_for(url))
    objects.write(key, data, mime)
    return ImageDefinition(path=key.path, resolution=[height, width], size=len(data), mime=mime)
