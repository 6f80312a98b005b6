"""The files of a transcode: joined renditions, segment files, archival copies, audio, thumbnails.

Their keys belong to the media and derive from the job, the source and the plan, so that a repeated run overwrites each
file with the same bytes; an existing rendition is not joined again.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import msgspec

from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import MediaType, S3StorageConfig
from chalicelib.core.models.entities import Media
from chalicelib.core.models.jobs import StoredJob
from chalicelib.core.models.media_files import AudioDefinition, ImageDefinition, MediaFiles, VideoDefinition
from chalicelib.resources.media.service import project_with
from chalicelib.resources.types import archive_keys
from chalicelib.resources.uploads.fetching import Fetched, ObjectSource
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import external_buckets, objects, owners
from chalicelib.video.encoding import archival
from chalicelib.video.encoding.assemble import Assembly, assemble, assemble_sound
from chalicelib.video.encoding.encode import PieceResult
from chalicelib.video.files.source import SourceFile
from chalicelib.video.mp4.segments import clock_of
from chalicelib.video.pictures import thumbnails
from chalicelib.video.pictures.thumbnails import Thumbnail
from chalicelib.video.plan import Rendition, TranscodePlan
from chalicelib.video.process import isolation, tasks
from chalicelib.video.sound import audio
from chalicelib.video.timing import FrameTable

_DESCRIPTIONS = {
    "h264": "H.264 / AVC / MPEG-4 AVC / MPEG-4 part 10",
    "hevc": "H.265 / HEVC (High Efficiency Video Coding)",
    "av1": "Alliance for Open Media AV1",
}
_MP4 = "video/mp4"


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """One job in its last step: its sources and destinations."""

    job: StoredJob
    media: Media
    plan: TranscodePlan
    table: FrameTable
    source: Fetched
    folder: Path
    prefix: ObjectPrefix

    def make_thumbnail(self) -> MediaFiles:
        """Create the still thumbnail if the media has none."""
        present = self.media.media_files or MediaFiles()
        return MediaFiles(thumbnail=None if present.thumbnail else [self._thumbnail()])

    def make_animation(self) -> MediaFiles:
        """Create the animated thumbnail from the media's streaming files if it has none."""
        present = self.media.media_files or MediaFiles()
        moving = self._make_animation(present.streaming or [])
        return MediaFiles(thumbnail_gif=[moving] if moving else None)

    def make(self, results: Mapping[int, Sequence[PieceResult]], group: int) -> MediaFiles:
        """Make the files of a group that the media lacks; returns the files to add.

        `results` are those of the pieces of this group and of the first, by group. The first group makes the audio, the
        last one archival copies and, unless there is one, the animated thumbnail.
        """
        present = self.media.media_files or MediaFiles()
        plan = self.plan.of_group(group)
        done = {found.rendition: found for found in assemble(plan, results[group])} if plan.pieces else {}
        archived = archival.encoded_entries(self.plan)
        streaming = [
            self._store_streaming(rendition, done[rendition.name])
            for rendition in plan.renditions
            if rendition.name not in archived.values()
        ]
        is_first, is_last = group == 0, group == self.plan.group_count - 1
        heard = assemble_sound(self.plan.of_group(0), results[0]) if plan.pieces else None
        sound = self._audio(heard) if heard and is_first and not present.audio else None
        copies = [self._store_encoded(entry, done[name], heard) for entry, name in archived.items() if name in done]
        if is_last:
            copies += [self._store_copy(entry) for entry in archival.copied_entries(self.plan)]
        kept = [copy for copy in copies if copy is not None]
        still = None if present.thumbnail or not is_first else self._thumbnail()
        moving = self._make_animation([*(present.streaming or []), *streaming]) if is_last else None
        return MediaFiles(
            streaming=streaming or None,
            archival=kept or None,
            audio=[sound] if sound else None,
            thumbnail=[still] if still else None,
            thumbnail_gif=[moving] if moving else None,
        )

    @cached_property
    def _organization(self) -> int:
        return project_with(self.job.project).organization

    def _key(self, name: str, extension: str) -> ObjectKey:
        name = f"{name}_{self.job.digest}.{extension}"
        return object_keys.media_key(self._organization, self.job.project, self.job.media, name)

    def _join(self, key: ObjectKey, found: Assembly) -> None:
        """Join the pieces of a rendition, or of the audio."""
        if objects.size(key) != found.size:
            files = [self.prefix + file for part in found.parts for file in part.files]
            objects.join(key, files, "audio/mp4" if found.rendition == audio.NAME else _MP4)

    def _store_streaming(self, rendition: Rendition, found: Assembly) -> VideoDefinition:
        key, segments = self._key(rendition.name, "mp4"), self._key(rendition.name, "json")
        self._join(key, found)
        info = {**found.segment_info, "file": found.segment_info["file"] | clock_of(self.table)}
        objects.write(segments, msgspec.json.encode(info), "application/json")
        return VideoDefinition(
            path=key.path,
            segment_info=segments.path,
            codec=rendition.vcodec,
            codec_description=_DESCRIPTIONS.get(rendition.vcodec, rendition.vcodec),
            resolution=[rendition.height, rendition.width],
            size=found.size,
            bit_rate=found.bit_rate,
        )

    @cached_property
    def _elsewhere(self) -> dict[int, S3StorageConfig]:
        """The archival copies for the user's own buckets. Their credentials are in the type, not in a plan."""
        type_ = records.definitions(self.job.project).types(Kind.MEDIA).get(self.media.type)
        configs = (type_.archive_config if isinstance(type_, MediaType) else None) or []
        return {entry: config.s3_storage for entry, config in enumerate(configs) if config.s3_storage}

    def _push(self, entry: int, extension: str, body: Any, size: int) -> None:
        """Store an archival copy in the user's bucket. Its key is the same for every transcode of the media."""
        key = object_keys.media_key(
            self._organization, self.job.project, self.job.media, f"archival_{entry}.{extension}"
        )
        external_buckets.push(archive_keys.unseal(self._elsewhere[entry]), key.path, body, size, _MP4)

    def _store_encoded(self, entry: int, found: Assembly, heard: Assembly | None) -> VideoDefinition | None:
        """An archival copy: the rendition and the audio in one file with its index in front.

        None for a copy in the user's bucket, which has no record.
        """
        rendition = next(each for each in self.plan.renditions if each.name == found.rendition)
        key = self._key(f"archival_{entry}", "mp4")
        joined = self.prefix + f"{rendition.name}.mp4"
        self._join(joined, found)
        sound = self.prefix + "sound.m4a"
        if heard:
            self._join(sound, heard)
        path = self.folder / f"{rendition.name}.mp4"
        sources = [ObjectSource(joined), *([ObjectSource(sound)] if heard else [])]
        size = isolation.run_all(tasks.finish_archival, sources, path)
        if entry in self._elsewhere:
            with path.open("rb") as file:
                self._push(entry, "mp4", file, size)
            return None
        self._upload(key, path, _MP4)
        return VideoDefinition(
            path=key.path,
            codec=rendition.vcodec,
            codec_mime=_MP4,
            codec_description=_DESCRIPTIONS.get(rendition.vcodec, rendition.vcodec),
            resolution=[rendition.height, rendition.width],
            size=size,
            bit_rate=found.bit_rate,
        )

    def _store_copy(self, entry: int) -> VideoDefinition | None:
        """An archival copy: the original's bytes. None for a copy in the user's bucket."""
        video = self.plan.probe.video
        extension = posixpath.splitext(self.job.spec.name or "")[1].lstrip(".").lower()
        extension = extension if extension.isalnum() else "mp4"
        if entry in self._elsewhere:
            self._push(entry, extension, SourceFile(self.source), self.source.size)
            return None
        key = self._key(f"archival_{entry}", extension)
        if objects.size(key) != self.source.size:
            if isinstance(self.source, ObjectSource):
                objects.copy(self.source.key, key, _MP4)
            else:
                objects.write(key, cast("Any", SourceFile(self.source)), _MP4)
        return VideoDefinition(
            path=key.path,
            codec=video.codec,
            codec_mime=_MP4,
            codec_description=_DESCRIPTIONS.get(video.codec, video.codec),
            resolution=[video.height, video.width],
            size=self.source.size,
        )

    def _audio(self, heard: Assembly) -> AudioDefinition:
        key = self._key("audio", "m4a")
        self._join(key, heard)
        description = "AAC (Advanced Audio Coding)"
        return AudioDefinition(
            path=key.path, codec="aac", codec_description=description, size=heard.size, bit_rate=heard.bit_rate
        )

    def _thumbnail(self) -> ImageDefinition:
        made = isolation.run(thumbnails.thumbnail, self.source, self.plan.probe, self.table)
        return self._picture(self._key("thumbnail", "jpg"), made)

    def _make_animation(self, streaming: list[VideoDefinition]) -> ImageDefinition | None:
        if self.media.media_files and self.media.media_files.thumbnail_gif:
            return None
        usable = [entry for entry in streaming if entry.segment_info and not key_forms.is_url(entry.path)]
        if not usable:
            return None
        wide = [entry for entry in usable if entry.resolution[1] >= thumbnails.WIDTH]
        entry = (
            min(wide, key=lambda each: each.resolution[0]) if wide else max(usable, key=lambda each: each.resolution[0])
        )
        named = [entry.path, entry.segment_info or ""]
        keys = owners.authorize(self.media, named)
        if any(path not in keys for path in named):
            return None
        segments = msgspec.json.decode(objects.read(keys[named[1]]))
        made = isolation.run(
            thumbnails.animated_thumbnail,
            ObjectSource(keys[entry.path]),
            segments,
            self.plan.probe.fps,
            self.plan.frames,
        )
        return self._picture(self._key("thumbnail_gif", "gif"), made)

    def _picture(self, key: ObjectKey, made: Thumbnail) -> ImageDefinition:
        objects.write(key, made.data, made.mime)
        return ImageDefinition(path=key.path, resolution=[made.height, made.width], size=len(made.data), mime=made.mime)

    def _upload(self, key: ObjectKey, path: Path, mime: str) -> None:
        with path.open("rb") as file:
            objects.write(key, file, mime)
