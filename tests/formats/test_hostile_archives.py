"""Archives that want more than they should get: each is refused with a reason, in bounded memory and time."""

from __future__ import annotations

import io
import json
import struct
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.errors import BadInput
from chalicelib.formats.readers import read_coco, read_cvat, read_mot, read_table, read_voc, read_yolo, reading, unzip
from chalicelib.formats.readers.unzip import SingleFile, ZipArchive
from chalicelib.formats.readers.xml import elements

READERS = (
    read_coco.read,
    read_yolo.read,
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
    monkeypatch.setattr(reading, "LARGEST_VALUE", 3_000_000)
    refused(lambda: read_coco.read(single("a.json", '{"images": ["' + "x" * 9_000_000)), "more than 3000000 characters")


def test_yaml_aliases_and_objects_are_refused():
    for text in ("names: &a [x]\nb: *a", "names: !!python/object/apply:os.system [ls]"):
        archive = ZipArchive(zipped(("data.yaml", text), ("labels/a.txt", "")))
        refused(lambda archive=archive: read_yolo.read(archive), "aliases|not YAML")


def test_a_line_of_megabytes_is_refused():
    files = (("dive/gt/gt.txt", "1," * 3_000_000),)
    refused(lambda: read_mot.read(ZipArchive(zipped(*files))), "more than 4194304 bytes")


def test_a_parquet_that_is_none_is_refused():
    refused(lambda: read_table.read_parquet(single("localizations.parquet", b"PAR1" * 10)), "not Parquet")


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
