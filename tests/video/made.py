"""What a transcode makes, in memory, the way the queue functions make it."""

import dataclasses
from pathlib import Path

from chalicelib.domain.transcode import TranscodePlan, plan
from chalicelib.video.assemble import Assembly, assemble
from chalicelib.video.encode import encode_piece
from chalicelib.video.probe import probe
from chalicelib.video.source import BytesSource, FileSource

DATA = Path(__file__).parent.parent / "data"


@dataclasses.dataclass
class Made:
    plan: TranscodePlan
    assemblies: dict[str, Assembly]
    files: dict[str, bytes]

    def source(self, name):
        return BytesSource(self.files[name])

    def info(self, name):
        return self.assemblies[name].segment_info


def transcode(source, folder, seconds, streaming=None, archive=None):
    found, table = probe(source)
    planned = plan(found, table, streaming, archive, seconds)
    results = [encode_piece(source, planned, piece, table, folder) for piece in planned.pieces]
    assemblies = {assembly.rendition: assembly for assembly in assemble(planned, reversed(results))}
    files = {
        name: b"".join((folder / file).read_bytes() for part in assembly.parts for file in part.files)
        for name, assembly in assemblies.items()
    }
    return Made(planned, assemblies, files)


def source_of(path):
    return FileSource(path)
