"""What video takes: transcoding against the plainest loop that makes the same, frames of a long video, clips.

`python -m tests.bench.media` runs it alone. The loop decodes once and encodes every rendition with the same settings,
one frame after the other, into plain files: no frame table, no pieces, no fragments. Compare within one run.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import msgspec
from av.filter import Graph

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.video.encoding import encode
from chalicelib.video.encoding.assemble import assemble
from chalicelib.video.mp4 import boxes
from chalicelib.video.mp4.segments import Fragment, segment_info
from chalicelib.video.plan import TranscodePlan, plan
from chalicelib.video.probe import probe
from chalicelib.video.timing import FrameTable
from tests.video.made import FileSource

FPS = 30
LONGER, PIECES = 60, 10
"""The longer clip in seconds, and its pieces: a tenth as long as in service, so that they cost more here than there."""
HOURS = 1
"""How long the long video is; of its fragments all are alike, so that it is made quickly."""
Line = Callable[..., None]


def main(line: Line) -> None:
    """Measure it all, a line each."""
    with tempfile.TemporaryDirectory() as name:
        transcoding(Path(name), line)
        frames(Path(name), line)


def transcoding(folder: Path, line: Line) -> None:
    """The same files by the plain loop, in one piece and in several: of 1080p, 720p, and of a longer clip of 360p."""
    path = film(folder / "film.mp4", (1920, 1080), 5)
    compared(path, folder, line, "1080p")
    _, peak = alone((path, 600, 0))
    line("peak memory of a piece, 1080p", f"{peak / 1e6:.0f} MB", "aim under 1,000")
    path = film(folder / "film720.mp4", (1280, 720), 10)
    compared(path, folder, line, "720p")
    path = film(folder / "longer.mp4", (640, 360), LONGER)
    processor = compared(path, folder, line, "360p")
    several, table = planned(path, LONGER / PIECES)
    _, many = cost(lambda: pieces_of(path, several, table, folder))
    line(f"in {len(several.pieces)} pieces, CPU over the loop's", f"{many / processor:.2f}", "aim 1.15 or less")
    for workers in (1, 2):
        began = time.perf_counter()
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            told = list(pool.map(piece_alone, [(path, LONGER / PIECES, n) for n in range(len(several.pieces))]))
        line(f"wall time, {workers} workers", f"{time.perf_counter() - began:.1f} s", "starting them included")
    line(
        "longest piece, 1 of 2 workers", f"{max(seconds for seconds, _ in told):.1f} s", "with a worker each, the wall"
    )


def compared(path: Path, folder: Path, line: Line, what: str) -> float:
    """A clip in one piece, and the plain loop before and after; the loop's seconds of all processors."""
    whole, table = planned(path, 600)
    first = cost(lambda: plainly(path, whole, folder))
    once = cost(lambda: pieces_of(path, whole, table, folder))
    second = cost(lambda: plainly(path, whole, folder))
    wall, processor = ((a + b) / 2 for a, b in zip(first, second, strict=True))
    files = len(whole.renditions)
    line(f"plain loop, {what}, {files} files", f"{whole.frames / wall:.1f} frames/s", f"{processor:.1f} s CPU")
    line("  in one piece", f"{whole.frames / once[0]:.1f} frames/s", f"{once[1]:.1f} s CPU")
    line("  speed over the loop's", f"{wall / once[0]:.2f}", "aim 0.95 or more")
    line("  CPU over the loop's", f"{once[1] / processor:.2f}", "aim 1.00 or less")
    return processor


def alone(task: tuple[Path, float, int]) -> tuple[float, int]:
    """`piece_alone` in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(piece_alone, task).result()


def frames(folder: Path, line: Line) -> None:
    """Frames and clips of a long video through the API, and what they read of the object store.

    The store answers from memory: its own time, some 20 ms a request on AWS, comes on top.
    """
    from chalicelib.resources.media import streams
    from chalicelib.storage.objects import objects as store
    from tests import objects
    from tests.resources.media.samples import media_type
    from tests.service import new_user

    api = new_user(is_staff=True)
    organization = api.made("Organizations", {"name": f"bench {time.time()}"})
    project = api.made("Projects", {"name": f"media bench {time.time()}", "organization": organization})
    media = api.made(f"Medias/{project}", {"type": media_type(project), "name": "long.mp4", "md5": ""})
    data, info = long_video(folder)
    keys = {name: f"{organization}/{project}/{media}/{name}" for name in ("long.mp4", "long.json")}
    objects.write(keys["long.mp4"], data[:1000], "video/mp4")
    objects.write(keys["long.json"], msgspec.json.encode(info), "application/json")
    entry = {
        "path": keys["long.mp4"],
        "segment_info": keys["long.json"],
        "codec": "h264",
        "resolution": [720, 1280],
        "size": len(data),
    }
    assert api.post(f"VideoFiles/{media}", entry, role="streaming").status == 201
    count = sum(segment.get("frame_samples", 0) for segment in info["segments"])

    read: list[int] = []
    ranged = store.read_range

    def counted(key: ObjectKey, offset: int, length: int, **_: Any) -> bytes:
        assert key.path == keys["long.mp4"]
        read.append(length)
        return data[offset : offset + length]

    def timed(path: str, **query: Any) -> float:
        began = time.perf_counter()
        said = api.get(path, **query)
        assert said.status == 200, said.body[:200]
        return time.perf_counter() - began

    def one(number: int) -> float:
        return timed(f"GetFrame/{media}", frames=number, format="jpg")

    store.read_range = counted
    try:
        streams.kept_segments.clear()
        cold = one(count // 2)
        read.clear()
        taken = [one(number) for number in range(7, count, count // 20)]
        requests, fetched = len(read) / len(taken), sum(read) / len(taken)
        tile = statistics.median(
            timed(f"GetFrame/{media}", frames=",".join(str(at + step) for step in range(0, 400, 100)), format="jpg")
            for at in range(7, count, count // 10)
        )
        clips = []
        for length in (10, 100, 1000, 4400):
            read.clear()
            seconds = statistics.median(
                timed(f"GetClip/{media}", frame_ranges=f"{at}:{at + length - 1}") for at in (1000, 7000, 13000)
            )
            clips.append((length, seconds, len(read) / 3))
    finally:
        store.read_range = ranged
    fragment = info["segments"][2]["size"] + info["segments"][3]["size"]
    line(f"frame of {HOURS} h of 720p, first", f"{cold * 1e3:.0f} ms", "its segment file is read then")
    line("  later ones", f"{statistics.median(taken) * 1e3:.0f} ms", "aim 50 ms on a quiet machine")
    line("  bytes read of the store", f"{fetched:,.0f}", f"{requests:.0f} requests", f"a fragment has {fragment:,}")
    line("  of a file of", f"{len(data):,}")
    line("tile of 4 frames, JPEG", f"{tile * 1e3:.0f} ms", "aim 100 ms on a quiet machine")
    for length, seconds, calls in clips:
        aim = f"aim {60 + length / 10:.0f} ms"
        line(f"clip of {length:,} frames, 720p", f"{seconds * 1e3:.0f} ms", f"{calls:.0f} reads of the store", aim)


def film(path: Path, size: tuple[int, int], seconds: float) -> Path:
    """A clip with much in it that moves, and sound."""
    width, height = size
    graph = Graph()
    chain = [graph.add("testsrc2", f"size={width}x{height}:rate={FPS}:duration={seconds}"), graph.add("buffersink")]
    graph.link_nodes(*chain).configure()
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=FPS, options={"preset": "ultrafast", "crf": "20", "g": str(FPS * 2)})
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        for number in range(int(seconds * FPS)):
            picture = graph.vpull().reformat(format="yuv420p")
            picture.pts, picture.time_base = number, Fraction(1, FPS)
            out.mux(video.encode(picture))
        out.mux(video.encode(None))
    return path


def planned(path: Path, piece_seconds: float) -> tuple[TranscodePlan, FrameTable]:
    """The usual five streaming files of a clip, in pieces of a length."""
    found, table = probe(FileSource(path))
    return plan(found, table, None, None, piece_seconds), table


def plainly(path: Path, wanted: TranscodePlan, folder: Path) -> None:
    """The loop that anybody would write."""
    with av.open(str(path)) as source:
        stream = source.streams.video[0]
        stream.thread_type, stream.codec_context.thread_count = "AUTO", encode.THREADS
        outputs = []
        for rendition in wanted.renditions:
            out = av.open(str(folder / f"plain_{rendition.name}.mp4"), "w")
            made = out.add_stream("libx264", rate=wanted.probe.fps, options=encode.encoder_options(rendition))
            made.width, made.height, made.pix_fmt = rendition.width, rendition.height, rendition.pixel_format
            outputs.append((out, made))
        for picture in source.decode(stream):
            for out, made in outputs:
                scaled = picture.reformat(made.width, made.height, made.pix_fmt, interpolation="BICUBIC")
                scaled.pict_type = 0
                out.mux(made.encode(scaled))
        for out, made in outputs:
            out.mux(made.encode(None))
            out.close()


def pieces_of(path: Path, wanted: TranscodePlan, table: FrameTable, folder: Path) -> None:
    """All pieces one after the other, and how they are put together."""
    source = FileSource(path)
    for group in range(wanted.group_count):
        part = wanted.of_group(group)
        assemble(part, [encode.encode_piece(source, part, piece, table, folder) for piece in part.pieces])


def piece_alone(task: tuple[Path, float, int]) -> tuple[float, int]:
    """One piece; the seconds it took, and the memory of this process at its largest, in bytes."""
    path, piece_seconds, index = task
    wanted, table = planned(path, piece_seconds)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        encode.encode_piece(FileSource(path), wanted, wanted.pieces[index], table, Path(folder))
    took = time.perf_counter() - began
    # what getrusage says includes the process that this one was forked from
    status = Path("/proc/self/status").read_text("ascii")
    return took, int(status.partition("VmHWM:")[2].split()[0]) * 1024


def cost(do: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of all processors."""
    wall, processor = time.perf_counter(), time.process_time()
    do()
    return time.perf_counter() - wall, time.process_time() - processor


def long_video(folder: Path) -> tuple[bytes, dict[str, Any]]:
    """A streaming file of hours, every second the same, and its segment file."""
    path = film(folder / "second.mp4", (1280, 720), 25 / FPS)
    found, table = probe(FileSource(path))
    wanted = plan(found, table, [{"resolution": 720, "crf": 30}], None, 60)
    result = encode.encode_piece(FileSource(path), wanted, wanted.pieces[0], table, folder)
    (output,) = result.outputs
    data = (folder / output.file).read_bytes()
    header, (fragment,) = sum(output.header), output.fragments
    moof, mdat = data[header : header + fragment.moof], data[header + fragment.moof :]
    ticks = sum(boxes.sample_durations(moof))
    times = HOURS * 3600 * FPS // fragment.samples
    moofs = (boxes.renumber(moof, number + 1, number * ticks) for number in range(times))
    whole = data[:header] + b"".join(each + mdat for each in moofs)
    info = segment_info(output.header, [Fragment(fragment.moof, fragment.mdat, fragment.samples)] * times)
    return whole, info


if __name__ == "__main__":
    import tests.bench.offline
    import tests.service  # noqa: F401 starts AWS in this process

    def printed(*parts: str) -> None:
        """A line of the table."""
        sys.stdout.write("  " + "   ".join(part.ljust(28) for part in parts) + "\n")
        sys.stdout.flush()

    main(printed)
