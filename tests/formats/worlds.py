"""Random datasets for the tests of formats, and archives made of them in memory."""

from __future__ import annotations

import io
import zipfile

from hypothesis import strategies as st

from chalicelib.formats.interpolation import interpolate
from chalicelib.formats.model import Dataset, Group, Label, Media, State
from chalicelib.formats.registry import WRITERS, layout_of, shared_files
from chalicelib.formats.writers.archive import Directory, PartArchive, Range, move_directory, plan

CLASSES = ("cod", 'Große Qualle, <rot> & "blau"', "0: yes")
TEXTS = st.text("abz ,\"'<&>\n;é漢\u0001", max_size=8)
ATTRIBUTES = st.fixed_dictionaries(
    {},
    optional={
        "Note": TEXTS,
        "Count": st.integers(-(2**40), 2**40),
        "Depth": st.floats(-1e6, 1e6),
        "Sure": st.booleans(),
        "Place": st.tuples(st.floats(-180, 180), st.floats(-90, 90)).map(list),
    },
)
DTYPES = {"Note": "string", "Count": "int", "Depth": "float", "Sure": "bool", "Place": "geopos"}
UNITS = st.floats(0, 1)


@st.composite
def boxes(draw):
    x, y = draw(st.floats(0, 0.99)), draw(st.floats(0, 0.99))
    return x, y, draw(st.floats(0.001, 1)) * (1 - x), draw(st.floats(0.001, 1)) * (1 - y)


SHAPES = {
    "box": boxes(),
    "line": st.tuples(UNITS, UNITS, UNITS, UNITS).map(lambda line: (*line[:2], line[2] - line[0], line[3] - line[1])),
    "dot": st.tuples(UNITS, UNITS),
    "poly": st.lists(st.tuples(UNITS, UNITS), min_size=3, max_size=6).map(lambda found: sum(found, ())),
}


@st.composite
def groups(draw, kinds=tuple(SHAPES)):
    """One to four media with labels and tracks; all numbers of labels and states differ."""
    made, number = [], 100
    for index in range(draw(st.integers(1, 4))):
        is_video = draw(st.booleans())
        media = Media(
            key=f"clip_{index + 1}",
            name=draw(TEXTS.filter(str.strip)) + ".mp4",
            is_video=is_video,
            width=draw(st.integers(1, 4000)),
            height=draw(st.integers(1, 3000)),
            frames=50 if is_video else 1,
            fps=draw(st.sampled_from([25.0, 30000 / 1001])) if is_video else None,
            md5="ab" * 16,
            split=draw(st.sampled_from(["train", "val"])),
            type="Video",
            attributes=draw(ATTRIBUTES),
            id=index + 1,
            elemental_id=f"00000000-0000-4000-8000-{index:012d}",
        )
        states, labels = [], []
        for _ in range(draw(st.integers(0, 2)) if is_video else 0):
            number += 1
            states.append(
                State(
                    media=media.key, key=str(number), id=number, class_name="cod", type="Track",
                    attributes=draw(ATTRIBUTES), version="Baseline",
                    elemental_id=f"10000000-0000-4000-8000-{number:012d}",
                )
            )  # fmt: skip
        taken = set()
        for _ in range(draw(st.integers(0, 6))):
            number += 1
            kind = draw(st.sampled_from(kinds))
            frame = draw(st.integers(0, media.frames - 1))
            track = draw(st.sampled_from([None, *(state.key for state in states)]))
            if (track, frame) in taken:
                track = None
            taken.add((track, frame))
            labels.append(
                Label(
                    media=media.key, kind=kind, shape=draw(SHAPES[kind]), frame=frame, track=track, id=number,
                    class_name=draw(st.sampled_from(CLASSES)), type="Fish", attributes=draw(ATTRIBUTES),
                    version="Baseline", elemental_id=f"20000000-0000-4000-8000-{number:012d}",
                )
            )  # fmt: skip
        labels = interpolate(sorted(labels, key=lambda label: (label.frame, label.id)))
        made.append(Group(media=media, labels=labels, states=states))
    return made


def dataset(**more):
    """A dataset for random groups."""
    given = {"classes": CLASSES, "label_attributes": DTYPES, "state_attributes": DTYPES, "media_attributes": DTYPES}
    return Dataset(name="Süd & <Nord>", **{"splits": ("train", "val"), **given, **more})


def write(name, header, parts):
    """The archive of parts, each a list of groups; and how many labels were left out."""
    module, contents, files, left_out = WRITERS[name], [], [], 0

    def layout(path):
        return layout_of(name, header, path)

    for number, part in enumerate(parts):
        out = io.BytesIO()
        archive = PartArchive(out, layout)
        left_out += module.write(header, part, archive, 1 + number * 1_000_000)
        contents.append(archive.finish())
        files.append(out.getvalue())
    return zipfile.ZipFile(io.BytesIO(joined(contents, files, shared_files(name, header), layout))), left_out


def joined(contents, files, shared, layout):
    """The bytes of an archive of parts; `shared` are files that it has even if no part wrote to them."""
    paths = [*shared, *(each.path for content in contents for each in content.fragments)]
    made = bytearray()
    for piece in plan(contents, {path: layout(path) for path in dict.fromkeys(paths)}):
        if isinstance(piece, bytes):
            made += piece
            continue
        data = files[piece.part][piece.offset : piece.offset + piece.length]
        made += move_directory(data, piece.base) if isinstance(piece, Directory) else data
        assert isinstance(piece, Range | Directory)
    return bytes(made)
