"""What a transcode makes, in memory, the way the queue functions make it; and what a file itself says of its boxes."""

import dataclasses
import struct
from pathlib import Path

from chalicelib.video.encoding.assemble import Assembly, assemble, assemble_sound
from chalicelib.video.encoding.encode import encode_piece
from chalicelib.video.files.source import BytesSource
from chalicelib.video.plan import TranscodePlan, plan
from chalicelib.video.probe import probe

DATA = Path(__file__).parent.parent / "data"


class FileSource:
    """A source on disk; the file must not change meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = path.stat().st_size

    def read(self, offset: int, length: int) -> bytes:
        with self._path.open("rb") as file:
            file.seek(offset)
            return file.read(length)


@dataclasses.dataclass
class Made:
    plan: TranscodePlan
    assemblies: dict[str, Assembly]
    files: dict[str, bytes]
    sound: bytes | None

    def source(self, name):
        return BytesSource(self.files[name])

    def info(self, name):
        return self.assemblies[name].segment_info


def transcode(source, folder, seconds, streaming=None, archive=None):
    found, table = probe(source)
    planned = plan(found, table, streaming, archive, seconds)
    results = [encode_piece(source, planned, piece, table, folder) for piece in planned.pieces]
    assemblies = {assembly.rendition: assembly for assembly in assemble(planned, reversed(results))}
    heard = assemble_sound(planned, results)

    def joined(assembly):
        data = b"".join((folder / file).read_bytes() for part in assembly.parts for file in part.files)
        assert len(data) == assembly.size
        return data

    files = {name: joined(assembly) for name, assembly in assemblies.items()}
    return Made(planned, assemblies, files, joined(heard) if heard else None)


def source_of(path):
    return FileSource(path)


def read_segments(source):
    """The segment file of a fragmented MP4, by reading the file by the standard, with none of our code."""
    data = source.read(0, source.size)
    found, offset, frame = [], 0, 0
    while offset < len(data):
        size, name = struct.unpack_from(">I4s", data, offset)
        entry = {"name": name.decode(), "offset": offset, "size": size}
        if name == b"moof":
            content = data[offset : offset + size]
            samples = int.from_bytes(content[content.index(b"trun") + 8 :][:4], "big")
            entry |= {"frame_start": frame, "frame_samples": samples}
            frame += samples
        found.append(entry)
        offset += size
    assert offset == len(data)
    return {"file": {"start": 0.0, "version": 2}, "segments": tuple(found)}


def decoding_time(moof):
    """When the first sample of a fragment is decoded, in units of its track's clock."""
    at = moof.index(b"tfdt") + 4
    return int.from_bytes(moof[at + 4 : at + (12 if moof[at] else 8)], "big")
