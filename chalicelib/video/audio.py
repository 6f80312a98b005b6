"""The sound of a video as an AAC file that starts together with the first frame."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from chalicelib.domain.frames import FrameTable
from chalicelib.domain.transcode import AudioInfo, Probe
from chalicelib.video.opening import opened, refusing
from chalicelib.video.source import Source, SourceFile

if TYPE_CHECKING:
    from av import AudioFrame, AudioStream
    from av.container import InputContainer, OutputContainer
    from av.filter import Graph

BIT_RATE = 128_000
_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000)
_USUAL_RATE = 48_000


class Audio(Struct, frozen=True):
    """An audio file made: its size in bytes, bits per second and length in seconds."""

    size: int
    bit_rate: int
    seconds: float


def chosen_track(probe: Probe) -> AudioInfo | None:
    """The track marked as default, else the first one that can be decoded, else None."""
    return next((track for track in probe.audio if track.default), probe.audio[0] if probe.audio else None)


def extract_audio(source: Source | SourceFile, probe: Probe, table: FrameTable, path: Path) -> Audio | None:
    """Write the sound as stereo AAC in an MP4 (m4a) file at `path`; None, and no file, when there is none.

    Time 0 of the file is the first frame's time: sound before it is cut, a late start filled with silence. Raises
    BadInput when the track cannot be decoded.
    """
    import av  # noqa: PLC0415 - see video.opening

    track = chosen_track(probe)
    if track is None:
        return None
    rate = track.sample_rate if track.sample_rate in _RATES else _USUAL_RATE
    start = table.times()[0] * Fraction(*table.base)
    with (
        opened(source) as (container, file),
        refusing("The sound cannot be transcoded", file),
        av.open(str(path), "w", format="ipod", options={"movflags": "faststart"}) as out,
    ):
        samples = _transcode(container, out, track, rate, start)
    if not samples:
        path.unlink()
        return None
    size = path.stat().st_size
    seconds = samples / rate
    return Audio(size, int(size * 8 / seconds), seconds)


def _transcode(container: InputContainer, out: OutputContainer, track: AudioInfo, rate: int, start: Fraction) -> int:
    """Decode the track, bring it to stereo at `rate` and encode it; returns the number of samples."""
    encoder = out.add_stream("aac", rate=rate, layout="stereo")
    encoder.codec_context.bit_rate = BIT_RATE
    graph: Graph | None = None
    shape: tuple[int, str, str] | None = None
    samples = 0
    for frame in _sounds(container, track, start):
        now = (frame.sample_rate, frame.format.name, frame.layout.name)
        if graph is None or now != shape:
            if graph is not None:
                samples += _encode(graph, None, encoder, out, samples)
            graph, shape = _graph(frame, rate, samples), now
        samples += _encode(graph, frame, encoder, out, samples)
    if graph is not None:
        samples += _encode(graph, None, encoder, out, samples)
    out.mux(encoder.encode(None))
    return samples


def _sounds(container: InputContainer, track: AudioInfo, start: Fraction) -> Iterator[AudioFrame]:
    """The track's decoded frames, their times counted from `start` seconds; damaged packets are left out."""
    import av  # noqa: PLC0415 - see video.opening
    from av.stream import Discard  # noqa: PLC0415

    stream = next(stream for stream in container.streams.audio if stream.index == track.index)
    for other in container.streams:
        if other.index != stream.index:
            other.discard = Discard.all
    for packet in container.demux(stream):
        # What a damaged packet held is a gap, which the filter fills with silence.
        with contextlib.suppress(av.FFmpegError):
            for frame in packet.decode():
                if frame.pts is not None and frame.time_base is not None:
                    frame.pts -= round(start / frame.time_base)
                    yield frame


def _encode(graph: Graph, frame: AudioFrame | None, encoder: AudioStream, out: OutputContainer, first: int) -> int:
    """Push one frame (None for the end) through filter and encoder; returns the number of samples that came out."""
    import av  # noqa: PLC0415 - see video.opening

    graph.push(frame)
    samples = 0
    with contextlib.suppress(av.BlockingIOError, av.EOFError):
        while True:
            ready = cast("AudioFrame", graph.pull())
            ready.pts, ready.time_base = first + samples, Fraction(1, ready.sample_rate)
            samples += ready.samples
            out.mux(encoder.encode(ready))
    return samples


def _graph(frame: AudioFrame, rate: int, first: int) -> Graph:
    """A filter from frames like this one to stereo at `rate` without gaps, starting at sample `first`."""
    from av.filter import Graph  # noqa: PLC0415 - see video.opening

    graph = Graph()
    chain = [
        graph.add_abuffer(
            sample_rate=frame.sample_rate,
            format=frame.format.name,
            layout=frame.layout.name,
            time_base=frame.time_base,
        ),
        graph.add("aresample", f"{rate}:async=1:first_pts={first}"),
        graph.add("aformat", f"sample_fmts=fltp:sample_rates={rate}:channel_layouts=stereo"),
        graph.add("abuffersink"),
    ]
    graph.link_nodes(*chain).configure()
    return graph
