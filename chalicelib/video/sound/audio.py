"""The sound of a video as AAC that starts together with the first frame, made in pieces as the pictures are.

A piece makes the frames of sound (1,024 samples each) between the times of its first picture and the next piece's. An
AAC frame overlaps its neighbours, so a piece begins to encode a few frames earlier and ends a frame later than what it
keeps; then the frames on either side of a cut were made of the same samples, and decode as if there were no cut. Frames
are counted from the first picture on, so that no piece needs to know of another. Where the rate of the pictures varies,
sound follows them (`stretch`).
"""

from __future__ import annotations

import contextlib
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from chalicelib.video.files.opening import opened, refusing
from chalicelib.video.files.source import SourceFile
from chalicelib.video.mp4.fragments import FragmentFile, Output, RunPosition
from chalicelib.video.plan import AudioInfo, Piece
from chalicelib.video.sound import joined
from chalicelib.video.stretch import Stretch, knots_of
from chalicelib.video.timing import FrameTable

if TYPE_CHECKING:
    from av import AudioFrame, AudioStream, Packet
    from av.container import InputContainer, OutputContainer
    from av.filter import Graph
    from av.stream import Stream

NAME = "audio"
FRAME = 1024
BIT_RATE = 128_000
MAX_AUDIO_SECONDS = 3600
"""Maximum seconds of audio in one piece: pictures may be years apart. Omitted audio is a gap in time."""
_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000)
_USUAL_RATE = 48_000
_FRAGMENT_SECONDS = 5
# Frames encoded before those that are kept: as far back as an encoder's decisions reach.
_RUN_UP = 8
# Decoders need a few earlier frames, and seeking may land late: seconds to begin earlier.
_EARLIER = (1, 5, 30)
# Audio timestamps may lag behind those of pictures in the file by this many seconds.
_INTERLEAVED = 10
# Rounded timestamps are averaged in groups of this many. A larger difference in seconds is a gap; so is a smaller one
# that this many next frames confirm.
_AVERAGED = 128
_ROUNDED = Fraction(5, 1000)
_GAP = Fraction(1, 10)
_CONFIRMING = 4


class Sound(Struct, frozen=True):
    """The audio of one piece, and whether it holds anything but inserted silence."""

    output: Output
    heard: bool


def rate_of(track: AudioInfo) -> int:
    """The output samples per second of a track: its own rate if AAC supports it."""
    return track.sample_rate if track.sample_rate in _RATES else _USUAL_RATE


def encode_sound(file: SourceFile, track: AudioInfo, piece: Piece, table: FrameTable, folder: Path) -> Sound:
    """Write the piece's sound as stereo AAC in MP4 fragments to a file in `folder`.

    Time 0 of the whole is the first frame's: sound before it is cut, what is missing filled with silence. The last
    piece goes on as long as the sound does. Raises BadInput when the track cannot be read.
    """
    import av  # noqa: PLC0415 - see video.opening

    rate = rate_of(track)
    knots = knots_of(table)
    stretch = Stretch(knots, rate) if knots.source else None
    is_shown = stretch is not None
    whole = _frame_at(table, table.count, rate, is_shown=is_shown)
    first = _frame_at(table, piece.first_frame, rate, is_shown=is_shown) if piece.index else 0
    is_last = piece.first_frame + piece.frame_count >= table.count
    end = _frame_at(table, piece.first_frame + piece.frame_count, rate, is_shown=is_shown)
    stop = min(end, first + MAX_AUDIO_SECONDS * rate // FRAME)
    place = RunPosition(not piece.index, first + 1, first, FRAME, whole * FRAME)
    out = FragmentFile(folder / f"{NAME}_{piece.index:05d}.mp4", NAME, place)
    # The edit list, which the header has only where it is delayed, leaves out what the encoder puts before the start.
    options = {
        "movflags": "frag_keyframe+delay_moov+default_base_moof",
        "frag_duration": str(_FRAGMENT_SECONDS * 1_000_000),
        "fflags": "+bitexact",
    }
    with contextlib.closing(out), refusing("The sound cannot be transcoded", file):
        container = av.open(out, "w", format="mp4", options=options)
        line = _Line(container, rate, first, None if is_last else stop)
        limit = (first + MAX_AUDIO_SECONDS * rate // FRAME if is_last else stop + 1) * FRAME
        wanted = _in_source(stretch, Fraction(line.samples, rate)) if piece.index else None
        frames = _frames(file, track, table, wanted, _in_source(stretch, Fraction(limit, rate)))
        heard = False
        for sound in _stereo(frames, table.start, rate):
            heard = True
            line.put(*(stretch.put(*sound, line.samples, limit) if stretch else sound), limit)
            if line.samples >= limit:
                break
        line.finish(stop if is_last else stop + 1)
        container.close()
    return Sound(out.output(), heard)


def _frame_at(table: FrameTable, number: int, rate: int, *, is_shown: bool) -> int:
    """The number of the audio frame at the time of a picture; after the last picture, the end of the last frame.

    `is_shown` is true where the time is that of the renditions, not of the source.
    """
    if number >= table.count:
        return -int(-(table.count / table.fps if is_shown else table.duration) * rate // FRAME)
    return round((number / table.fps if is_shown else table.time_of(number)) * rate / FRAME)


def _in_source(stretch: Stretch | None, time: Fraction) -> Fraction:
    """The source's time of a time in the renditions, in seconds from the first picture."""
    return Fraction(stretch.source_of(float(time))) if stretch else time


class _Line:
    """The encoder with the samples that wait for it: gaps are filled, duplicates are dropped."""

    def __init__(self, container: OutputContainer, rate: int, first: int, stop: int | None) -> None:
        self._container = container
        self._stream = container.add_stream("aac", rate=rate, layout="stereo")
        self._stream.codec_context.bit_rate = BIT_RATE
        self._rate = rate
        self._first, self._stop = first, stop
        self._number = self._fed = max(0, first - _RUN_UP)
        self._waiting = (array("f"), array("f"))

    @property
    def samples(self) -> int:
        """The number of samples since the first picture, including those before the piece."""
        return self._fed * FRAME + len(self._waiting[0])

    def put(self, at: int, left: array[float], right: array[float], limit: int) -> None:
        """Add samples at position `at`, up to `limit`."""
        self._fill(min(at, limit))
        begin, end = self.samples - at, limit - at
        for waiting, new in zip(self._waiting, (left, right), strict=True):
            waiting.extend(new[max(0, begin) : max(0, end)])
        self._feed()

    def finish(self, least: int) -> None:
        """End with a whole frame, not before frame `least`, and write what the encoder still has."""
        self._fill(max(least * FRAME, -(-self.samples // FRAME) * FRAME))
        self._mux(self._stream.encode(None))

    def _fill(self, until: int) -> None:
        """Add silence up to a sample."""
        while self.samples < until:
            silence = bytes(4 * min(FRAME, until - self.samples))
            for waiting in self._waiting:
                waiting.frombytes(silence)
            self._feed()

    def _feed(self) -> None:
        """Encode the whole frames that wait."""
        from av import AudioFrame  # noqa: PLC0415 - see video.opening

        begin = 0
        while len(self._waiting[0]) - begin >= FRAME:
            frame = AudioFrame("fltp", "stereo", FRAME)
            for plane, waiting in zip(frame.planes, self._waiting, strict=True):
                plane.update(waiting[begin : begin + FRAME].tobytes())
            frame.sample_rate, frame.time_base = self._rate, Fraction(1, self._rate)
            frame.pts = self._fed * FRAME
            begin += FRAME
            self._fed += 1
            self._mux(self._stream.encode(frame))
        for waiting in self._waiting:
            del waiting[:begin]

    def _mux(self, packets: Sequence[Packet[AudioStream]]) -> None:
        """Write those of the encoder's next frames that are the piece's.

        A frame says how the samples of the one before it end; so there is one more than are fed, the first of which
        holds nothing.
        """
        for packet in packets:
            number, self._number = self._number, self._number + 1
            if number < self._first or number > self._fed or (self._stop is not None and number >= self._stop):
                continue
            packet.pts = packet.dts = (number - self._first - 1) * FRAME
            packet.time_base = Fraction(1, self._rate)
            self._container.mux(packet)


def _frames(
    file: SourceFile, track: AudioInfo, table: FrameTable, wanted: Fraction | None, until: Fraction
) -> Iterator[AudioFrame]:
    """The track's decoded frames from a time on, `wanted` seconds after the start or from the beginning, for a while.

    A few come earlier. None may come that is long behind `until`.
    """
    since = None if wanted is None else table.start + wanted
    for earlier in _EARLIER if wanted is not None else (0,):
        with opened(file) as (container, _):
            begin = None if since is None else since - earlier
            frames = _decoded(_packets(container, track, table, begin, table.start + until))
            found = next(frames, None)
            late = since is not None and (found is None or _time(found) > since)
            if late and earlier != _EARLIER[-1]:
                continue
            if found is not None:
                yield found
                yield from frames
            return


def _packets(
    container: InputContainer, track: AudioInfo, table: FrameTable, since: Fraction | None, until: Fraction
) -> Iterator[Packet[Stream]]:
    """The track's packets between two approximate times of the file; an unreadable packet ends them."""
    import av  # noqa: PLC0415 - see video.opening
    from av.stream import Discard  # noqa: PLC0415

    stream = next(stream for stream in container.streams.audio if stream.index == track.index)
    read: list[Stream] = [stream]
    # Where there is no index, packets of pictures tell when to stop looking for sound; an MP4 would read them for that.
    if not container.format.name.startswith("mov"):
        read += container.streams.video[:1]
    for other in container.streams:
        if other not in read:
            other.discard = Discard.all
    if table.counted and table.by_position:
        with contextlib.suppress(av.FFmpegError):
            yield from joined.packets(container, stream, table, since, until + _INTERLEAVED)
        return
    base = stream.time_base or Fraction(1, track.sample_rate)
    if since is not None and since > (stream.start_time or 0) * base:
        with contextlib.suppress(av.FFmpegError):
            container.seek(int(since / base), stream=stream)
    with contextlib.suppress(av.FFmpegError):
        for packet in container.demux(read):
            if packet.dts is not None and packet.dts * packet.time_base > until + _INTERLEAVED:
                return
            if packet.stream_index == stream.index:
                yield packet


def _decoded(packets: Iterator[Packet[Stream]]) -> Iterator[AudioFrame]:
    """The frames of packets; damaged ones are left out."""
    import av  # noqa: PLC0415 - see video.opening

    for packet in packets:
        # A damaged packet leaves a gap, which is filled with silence.
        with contextlib.suppress(av.FFmpegError):
            for frame in packet.decode():
                if isinstance(frame, av.AudioFrame) and frame.pts is not None and frame.time_base is not None:
                    yield frame


def _time(frame: AudioFrame) -> Fraction:
    """When a frame begins, in seconds of the file."""
    return (frame.pts or 0) * (frame.time_base or Fraction(0))


def _stereo(
    frames: Iterator[AudioFrame], start: Fraction, rate: int
) -> Iterator[tuple[int, array[float], array[float]]]:
    """Frames as (first sample, left, right) at `rate`, counted from `start` seconds.

    Timestamps are often rounded, to the millisecond in Matroska. Samples in a row stay in a row; where the row begins
    is what its first timestamps say together, the same for every piece; and a gap begins another row.
    """
    expected = Fraction(0)
    graph: Graph | None = None
    shape: tuple[int, str, str] | None = None
    at = 0
    for frame, following in _with_following(frames):
        now = (frame.sample_rate, frame.format.name, frame.layout.name)
        begins = graph is None or _is_gap(expected, frame, following)
        if graph is None or begins or now != shape:
            if graph is not None:
                for left, right in _through(graph, None):
                    yield at, left, right
                    at += len(left)
            if begins:
                expected = _beginning([frame, *following])
            graph, shape = _graph(frame, rate), now
            at = round((expected - start) * rate)
        frame.pts = None
        expected += Fraction(frame.samples, frame.sample_rate)
        for left, right in _through(graph, frame):
            yield at, left, right
            at += len(left)
    if graph is not None:
        for left, right in _through(graph, None):
            yield at, left, right
            at += len(left)


def _with_following(frames: Iterator[AudioFrame]) -> Iterator[tuple[AudioFrame, deque[AudioFrame]]]:
    """Each frame with the next ones."""
    ahead = deque(islice(frames, _AVERAGED - 1))
    while ahead:
        ahead.extend(islice(frames, 1))
        yield ahead.popleft(), ahead


def _is_gap(expected: Fraction, frame: AudioFrame, following: deque[AudioFrame]) -> bool:
    """Whether a frame does not continue the row of those before it.

    A frame may be off by rounding, but then the next ones do not follow it at the same distance.
    """
    step = _time(frame) - expected
    if abs(step) <= _ROUNDED or abs(step) > _GAP:
        return abs(step) > _GAP
    end = _time(frame) + Fraction(frame.samples, frame.sample_rate)
    for after in islice(following, _CONFIRMING):
        if abs(_time(after) - end) > _ROUNDED:
            return False
        end += Fraction(after.samples, after.sample_rate)
    return len(following) >= _CONFIRMING


def _beginning(frames: Sequence[AudioFrame]) -> Fraction:
    """When the first of frames begins, in seconds of the file, by the timestamps of all that are in a row with it."""
    offsets: list[Fraction] = []
    length = Fraction(0)
    for frame in frames:
        offset = _time(frame) - length
        if offsets and abs(offset - offsets[0]) > _ROUNDED:
            break
        offsets.append(offset)
        length += Fraction(frame.samples, frame.sample_rate)
    # The first frame of a file may be shorter by an inexact number of samples.
    stated = offsets[1:] or offsets
    return (min(stated) + max(stated)) / 2


def _through(graph: Graph, frame: AudioFrame | None) -> Iterator[tuple[array[float], array[float]]]:
    """The left and right samples that a filter returns for a frame; None as the frame flushes it."""
    import av  # noqa: PLC0415 - see video.opening

    graph.push(frame)
    with contextlib.suppress(av.BlockingIOError, av.EOFError):
        while True:
            ready = cast("AudioFrame", graph.pull())
            left, right = (array("f", bytes(plane)[: 4 * ready.samples]) for plane in ready.planes)
            yield left, right


def _graph(frame: AudioFrame, rate: int) -> Graph:
    """A filter from frames like this one to stereo at `rate`."""
    from av.filter import Graph  # noqa: PLC0415 - see video.opening

    graph = Graph()
    chain = [
        graph.add_abuffer(
            sample_rate=frame.sample_rate,
            format=frame.format.name,
            layout=frame.layout.name,
            time_base=Fraction(1, frame.sample_rate),
        ),
        graph.add("aresample", str(rate)),
        graph.add("aformat", f"sample_fmts=fltp:sample_rates={rate}:channel_layouts=stereo"),
        graph.add("abuffersink"),
    ]
    graph.link_nodes(*chain).configure()
    return graph
