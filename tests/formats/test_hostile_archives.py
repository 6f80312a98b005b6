"""Archives that want more than they should get: each is refused with a reason, in bounded memory and time."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.errors import BadInput
from chalicelib.formats import json_stream
from chalicelib.formats.readers import (
    read_coco,
    read_cvat,
    read_masks,
    read_mot,
    read_table,
    read_voc,
    read_yolo,
    reading,
    unzip,
    xml,
)
from chalicelib.formats.readers.science import (
    read_biigle,
    read_camtrapdp,
    read_coralnet,
    read_dive,
    read_eventmeasure,
    read_ifdo,
    read_viame,
)
from chalicelib.formats.readers.unzip import SingleFile, ZipArchive
from chalicelib.formats.readers.xml import elements

READERS = (
    read_coco.read,
    read_yolo.read,
    read_viame.read,
    read_dive.read,
    read_coralnet.read,
    read_camtrapdp.read,
    read_ifdo.read,
    read_biigle.read,
    read_eventmeasure.read,
    read_voc.read,
    read_mot.read,
    read_cvat.read,
    read_table.read_csv,
    read_table.read_jsonl,
)


def zipped(*members, **how):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members:
            entry = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            entry.compress_type = how.get("method", zipfile.ZIP_DEFLATED)
            archive.writestr(entry, body)
    return out


def single(name, text):
    body = text if isinstance(text, bytes) else text.encode()
    return SingleFile(name, io.BytesIO(body), len(body))


def refused(read, match):
    with pytest.raises(BadInput, match=match):
        list(read())


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b", "C:/a", "a\\b", "a\nb", "x" * 2000])
def test_a_path_that_leaves_its_folder_is_refused(name):
    refused(lambda: ZipArchive(zipped((name, b"x"))), "outside of the archive|control character")


def test_links_are_refused():
    link = zipfile.ZipInfo("a")
    link.external_attr = 0o120777 << 16
    refused(lambda: ZipArchive(zipped((link, b"/etc/passwd"))), "link or a device")


def test_other_compressions_and_encrypted_files_are_refused():
    refused(lambda: ZipArchive(zipped(("a", b"x"), method=zipfile.ZIP_LZMA)), "another method")
    body = zipped(("a", b"x")).getvalue()
    at = body.rindex(b"PK\x01\x02") + 8
    refused(lambda: ZipArchive(io.BytesIO(body[:at] + b"\x01\x00" + body[at + 2 :])), "encrypted")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused():
    refused(lambda: ZipArchive(zipped(("a", b"x"), ("a", b"y"))), "two files of the name")


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(unzip, "SMALL_FILE", 1000)
    refused(lambda: ZipArchive(zipped(("a.json", bytes(10_000_000)))), "times its size")
    monkeypatch.setattr(unzip, "LARGEST_TOTAL", 1000)
    refused(lambda: ZipArchive(zipped(("a", b"x" * 600), ("b", b"y" * 600))), "unpacks to more than 1000 bytes")


def test_many_files_or_a_large_directory_are_refused(monkeypatch):
    monkeypatch.setattr(unzip, "MOST_FILES", 3)
    refused(lambda: ZipArchive(zipped(*((str(n), b"") for n in range(4)))), "more than 3 files")
    monkeypatch.setattr(unzip, "LARGEST_DIRECTORY", 100)
    refused(lambda: ZipArchive(zipped(*((str(n), b"") for n in range(4)))), "list of files")


def test_a_file_that_lies_about_its_size_gives_no_more_than_it_said():
    body = bytearray(zipped(("a.txt", b"x" * 5000)).getvalue())
    at = body.rindex(b"PK\x01\x02") + 24
    body[at : at + 4] = struct.pack("<I", 10)
    archive = ZipArchive(io.BytesIO(bytes(body)))
    with archive.open("a.txt") as file, pytest.raises(BadInput, match="is damaged"):
        file.read(1000)


@given(st.binary(max_size=200))
def test_damaged_zips_are_refused(tail):
    body = zipped(("a.json", b"{}")).getvalue()
    for damaged in (tail, body[: len(body) // 2] + tail, b"PK\x03\x04" + tail):
        try:
            ZipArchive(io.BytesIO(damaged))
        except BadInput:
            continue


LAUGHS = (
    """<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><annotation><filename>&b;</filename></annotation>"""
)
OUTSIDE = """<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><annotation>&a;</annotation>"""


@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE, '<!DOCTYPE x SYSTEM "http://127.0.0.1/x"><annotation/>'])
def test_entities_and_document_types_are_refused(text):
    for read in (read_voc.read, read_cvat.read):
        refused(lambda read=read: read(single("annotations.xml", text)), "document type or entities")


@pytest.mark.slow
def test_deep_or_large_xml_is_refused():
    refused(lambda: elements(single("a", "<a>" * 100), "a", frozenset()), "deeper than 64")
    refused(
        lambda: elements(single("a", f"<a>{'x' * 9_000_000}</a>"), "a", frozenset()), "more than 8388608 characters"
    )
    refused(lambda: elements(single("a", "<a>" + "<b/>" * 200_000 + "</a>"), "a", frozenset()), "more than 8388608")


def test_streamed_elements_are_not_counted_together():
    found = list(elements(single("a", "<a>" + "<b/>" * 20_000 + "</a>"), "a", frozenset({"b"})))
    assert len(found) == 20_001


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"images":' + "[" * 100_000, "nested too deeply"),
        ('{"images": [' + '{"a":' * 100_000, "nested too deeply"),
        ('{"images": [NaN]}', "not a JSON object"),
        ('{"images": [1, 2', "cut off"),
        ("[]", "not a JSON object"),
        ("", "not a JSON object"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_malformed_json_is_refused(text, reason):
    refused(lambda: read_coco.read(single("a.json", text)), reason)


def test_a_large_value_is_refused(monkeypatch):
    monkeypatch.setattr(json_stream, "LARGEST_VALUE", 3_000_000)
    refused(lambda: read_coco.read(single("a.json", '{"images": ["' + "x" * 9_000_000)), "more than 3000000 characters")


def test_yaml_aliases_and_objects_are_refused():
    for text in ("names: &a [x]\nb: *a", "names: !!python/object/apply:os.system [ls]"):
        archive = ZipArchive(zipped(("data.yaml", text), ("labels/a.txt", "")))
        refused(lambda archive=archive: read_yolo.read(archive), "aliases|not YAML")


def test_a_line_of_megabytes_is_refused():
    files = (("dive/gt/gt.txt", "1," * 3_000_000),)
    refused(lambda: read_mot.read(ZipArchive(zipped(*files))), "more than 4194304 bytes")


def test_a_parquet_with_a_name_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "localizations.parquet"
    duckdb.sql(f"COPY (SELECT 'a' AS media, 1 AS \"attributes.mine\") TO '{path}' (FORMAT parquet)")
    body = path.read_bytes().replace(b"attributes.mine", b"attributes.m\xff\xfee")
    refused(lambda: read_table.read_parquet(single(path.name, body)), "not Parquet")


def test_a_parquet_that_is_none_is_refused():
    refused(lambda: read_table.read_parquet(single("localizations.parquet", b"PAR1" * 10)), "not Parquet")


class Endless(io.BytesIO):
    """A file that goes on with the same bytes for ever, and counts what is read."""

    def __init__(self, head, unit):
        super().__init__()
        self.read_bytes, self._head, self._unit = 0, head, unit

    def seek(self, *_):
        return 0

    def read(self, size=-1):
        assert 0 <= size <= 64 * 1024 * 1024, "all of it is read at once"
        start, stop = self.read_bytes, self.read_bytes + size
        self.read_bytes = stop
        body = self._unit * (size // len(self._unit) + 2)
        if start < len(self._head):
            return (self._head[start:stop] + body)[:size]
        return body[(start - len(self._head)) % len(self._unit) :][:size]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "name", "head", "unit", "reason"),
    [
        (read_table.read_csv, "localizations.csv", b"media,x,y\n", b"1,", "a row has more than"),
        (read_table.read_csv, "localizations.csv", b"media,x,y\n", b'"\n",', "a row has more than"),
        (read_table.read_csv, "localizations.csv", b"", b"a,", "a row has more than"),
        (read_table.read_jsonl, "localizations.jsonl", b"", b"[1, ", "the line has more than"),
        (read_cvat.read, "annotations.xml", b"<a b='", b"xy", "a tag or comment of more than"),
        (read_cvat.read, "annotations.xml", b"<", b"xy", "a tag or comment of more than"),
        (read_cvat.read, "annotations.xml", b"<a><!--", b"xy", "a tag or comment of more than"),
        (read_voc.read, "annotation.xml", b"<a><?x ", b"xy", "a tag or comment of more than"),
        (read_voc.read, "annotation.xml", b"<annotation><![CDATA[", b"xy", "an element of more than"),
        (read_coco.read, "instances.json", b'{"images": ["', b"xy", "a value has more than"),
    ],
)
def test_a_value_that_never_ends_is_refused_before_it_is_held(monkeypatch, read, name, head, unit, reason):
    for module, limit in ((reading, "LONGEST_LINE"), (json_stream, "LARGEST_VALUE"), (xml, "MAX_ELEMENT_CHARACTERS")):
        monkeypatch.setattr(module, limit, 3_000_000)
    file = Endless(head, unit)
    refused(lambda: read(SingleFile(name, file, 10**12)), reason)
    assert file.read_bytes < 12_000_000


@pytest.mark.slow
def test_rows_of_any_number_and_quoted_line_ends_are_read():
    lines = "media,kind,x,y,class_name\n" + '"a\nb",dot,0.5,0.5,c\n' * 300_000
    with_limit = [row for row in read_table.read_csv(single("localizations.csv", lines)) if row.place.endswith("01")]
    assert len(with_limit) > 1000


@pytest.mark.parametrize(
    "value", ["repeat('x', 5_000_000)", "list_transform(range(9), lambda n: repeat('x', 900_000))"]
)
@pytest.mark.parametrize("form", ["{}", "{{'a': {}}}", "map {{1: {}}}", "[{}]", "[[{}]]"])
def test_a_parquet_of_a_few_bytes_does_not_fill_the_memory(tmp_path, value, form):
    path = tmp_path / "localizations.parquet"
    columns = f"'m' AS media, 0.1 AS x, 0.1 AS y, {form.format(value)} AS \"attributes.A\""
    duckdb.sql(f"COPY (SELECT {columns} FROM range(3)) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    body = path.read_bytes()
    assert len(body) < 100_000
    refused(lambda: read_table.read_parquet(single(path.name, body)), "a row has more than 4194304 bytes")


def test_parquet_with_every_type_of_column_is_read(tmp_path):
    path = tmp_path / "localizations.parquet"
    values = ("1", "1.5", "true", "'a'", "'a'::blob", "[1.5, 2]", "['a', NULL]", "{'a': 1}", "map {'a': 'b'}", "uuid()")
    columns = ", ".join(f'{value} AS "attributes.{place}"' for place, value in enumerate(values))
    duckdb.sql(f"COPY (SELECT 'm' AS media, 0.1 AS x, 0.1 AS y, {columns} FROM range(40)) TO '{path}'")
    rows = [row.row for row in read_table.read_parquet(single(path.name, path.read_bytes()))]
    assert [len(row.attributes) for row in rows[1:]] == [len(values)] * 40


def directory(count, name=b""):
    """Entries of a zip's list of files."""
    return (b"PK\x01\x02" + bytes(24) + struct.pack("<H", len(name)) + bytes(16) + name) * count


def zip_of(entries, large=None, points_to=None):
    """A zip that has a list of files only, with the end record of zip64 if its numbers are given."""
    body = b"PK\x03\x04" + (large or b"") + entries
    number, length = (0, 0) if large else (0xFFFF, len(entries))
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, number, number, length, 4, 0)
    if large:
        count = len(entries) // 46
        true = (b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, len(entries), 4 + len(large))
        body += struct.pack("<4sQ2H2L4Q", *true) + struct.pack("<4sLQL", b"PK\x06\x07", 0, points_to, 1)
    return io.BytesIO(body + end)


def test_the_large_end_record_that_is_read_is_the_one_that_is_bounded(monkeypatch):
    monkeypatch.setattr(unzip, "LARGEST_DIRECTORY", 1000)
    innocent = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 0, 0, 0, 0)
    entries = directory(100)
    refused(lambda: ZipArchive(zip_of(entries, innocent, 4)), "at another place than it says")
    refused(
        lambda: ZipArchive(zip_of(entries, innocent, 4 + len(innocent) + len(entries))), "list of files .* 4600 bytes"
    )


@pytest.mark.parametrize("name", [b"", b"a/"])
def test_entries_are_counted_before_they_are_read(monkeypatch, name):
    monkeypatch.setattr(unzip, "MOST_FILES", 50)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # it would make an object of each
    refused(lambda: ZipArchive(zip_of(directory(51, name))), "more than 50 files")


def test_entries_without_a_name_and_names_that_end_at_a_nul_are_refused():
    refused(lambda: ZipArchive(zip_of(directory(1))), "has no name")
    body = zipped(("media.csvX.png", b"x")).getvalue().replace(b"csvX", b"csv\0")
    refused(lambda: ZipArchive(io.BytesIO(body)), "control character")


def test_a_bomb_of_many_files_is_refused(monkeypatch):
    monkeypatch.setattr(unzip, "SMALL_TOTAL", 1_000_000)
    refused(
        lambda: ZipArchive(zipped(*((f"{n}.txt", bytes(400_000)) for n in range(9)))), "more than 200 times its size"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        *("id", "name", "file_name", "image_id", "category_id", "bbox", "segmentation", "keypoints"),
        *("track_id", "video_id", "limn", "width", "height", "frame_id"),
    ]
)
ELEMENTS = st.lists(st.dictionaries(NAMES, JSON, max_size=6) | JSON, max_size=4)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.fixed_dictionaries(dict.fromkeys(("categories", "videos", "images", "tracks", "annotations"), ELEMENTS)))
def test_any_json_is_read_or_refused_row_by_row(document):
    try:
        list(read_coco.read(single("a.json", json.dumps(document))))  # with NaN and Infinity, which are no JSON
    except BadInput:
        return


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["1", "-1", "0.5", "a", ",", "\n", " ", '"', "<box ", 'xtl="1"', ">", "nan", "1e999"])))
def test_any_text_is_read_or_refused(pieces):
    text = "".join(pieces)
    files = {
        "data.yaml": "names: [a]",
        "labels/a.txt": text,
        "dive/gt/gt.txt": text,
        "localizations.csv": f"media,x,y\n{text}",
        "localizations.jsonl": text,
        "annotations.xml": f"<annotations><task/>{text}</annotations>",
    }
    archive = ZipArchive(zipped(*files.items()))
    for read in READERS[1:]:
        try:
            list(read(archive))
        except BadInput:
            continue


def png(width, height, rows=b""):
    """A PNG of one byte a pixel whose content may be another one than its head says."""
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize(
    "data", [png(60_000, 60_000), png(9, 9), png(10_001, 10_000), b"\x89PNG\r\n\x1a\n", b""], ids=range(5)
)
def test_pictures_of_masks_that_cannot_be_read_are_refused_one_by_one(data):
    [row] = read_masks.read(ZipArchive(zipped(("SegmentationClass/a.png", data), ("labelmap.txt", b"a:0,0,0::"))))
    assert "cannot be read" in row.row.reason


@pytest.mark.parametrize(("height", "width"), [(10**6, 10**6), (1, 10**8), (65_536, 65_536)])
def test_a_mask_of_more_pixels_than_a_picture_is_refused_before_it_is_drawn(height, width):
    mask = {"size": [height, width], "counts": [0, height * width]}
    document = {
        "images": [{"id": 1, "file_name": "a.png", "width": 9, "height": 9}],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": mask}],
    }
    rows = [each.row for each in read_coco.read(ZipArchive(zipped(("instances.json", json.dumps(document).encode()))))]
    assert any("65,536 pixels at most" in getattr(row, "reason", "") for row in rows)
