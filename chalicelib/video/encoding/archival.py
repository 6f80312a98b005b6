"""Archival copies: the unchanged original, or a complete re-encoding.

An encoded archival copy is a rendition of the plan like any other, made in pieces; this module then writes its joined
fragments and the audio into one ordinary MP4 with the index in front.
"""

from __future__ import annotations

import contextlib
import heapq
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from chalicelib.video.files.opening import opened, refusing, video_stream
from chalicelib.video.files.source import Source
from chalicelib.video.plan import TranscodePlan

if TYPE_CHECKING:
    from av import Packet
    from av.stream import Stream


def copied_entries(plan: TranscodePlan) -> tuple[int, ...]:
    """The entries of archive_config that copy the original's bytes."""
    return tuple(archival.entry for archival in plan.archival if archival.rendition is None)


def encoded_entries(plan: TranscodePlan) -> dict[int, str]:
    """The entries of archive_config that are encoded, and the names of their renditions."""
    return {archival.entry: archival.rendition for archival in plan.archival if archival.rendition is not None}


def finish_archival(video: Source, audio: Source | None, path: Path) -> int:
    """Join a rendition and the sound made by `video.sound.audio` into an MP4 file at `path`; returns its bytes.

    Nothing is encoded again. Raises BadInput when one of the two cannot be read.
    """
    import av  # noqa: PLC0415 - see video.opening

    with (
        refusing("The archival copy cannot be written"),
        contextlib.ExitStack() as open_files,
        av.open(str(path), "w", format="mp4", options={"movflags": "faststart"}) as out,
    ):
        inputs: list[Iterator[Packet[Stream]]] = []
        for source in (video, audio):
            if source is None:
                continue
            container, _ = open_files.enter_context(opened(source))
            stream: Stream = container.streams.audio[0] if source is audio else video_stream(container)
            added = out.add_stream_from_template(stream)
            if source is video:
                # Apple's players take HEVC only under the tag hvc1, and PyAV does not copy the tag.
                added.codec_context.codec_tag = stream.codec_context.codec_tag
            inputs.append(_moved(container.demux(stream), added))
        # Interleaved by time, or players would have to seek between the two.
        for packet in heapq.merge(*inputs, key=_time):
            out.mux(packet)
    return path.stat().st_size


def _moved(packets: Iterator[Packet[Stream]], stream: Stream) -> Iterator[Packet[Stream]]:
    """The packets without the empty last one, assigned to another stream."""
    for packet in packets:
        if packet.dts is not None:
            packet.stream = stream
            yield packet


def _time(packet: Packet[Stream]) -> Fraction:
    """Decoding time in seconds."""
    return (packet.dts or 0) * packet.time_base
