"""Names of formats by the first bytes of a file, for messages about files that are not accepted."""

from __future__ import annotations

import re
from typing import Literal

from chalicelib.errors import BadInput
from chalicelib.video.files.source import Source, SourceFile
from chalicelib.video.mp4 import boxes

_HEAD = 4096
_LARGEST_INDEX = 32 * 1024 * 1024
DAMAGED = "a damaged or incomplete "
"""What the names of accepted videos begin with: a whole one is read, not named."""
_STARTS = (
    (rb"\x89PNG\r\n", "a PNG image"),
    (rb"\xff\xd8\xff", "a JPEG image"),
    (rb"GIF8", "a GIF image"),
    (rb"(II\*\0|MM\0\*).{4}CR", "a CR2 image of a camera"),
    (rb"(II\*\0|MM\0\*)", "a TIFF image"),
    (rb"IIU\0", "an RW2 image of a camera"),
    (rb"(IIR[OS]|MMOR)", "an ORF image of a camera"),
    (rb"FUJIFILMCCD-RAW", "a RAF image of a camera"),
    (rb".{4}ftypcrx ", "a CR3 or CRM file of a camera"),
    (rb"BM.{4}\0{4}", "a BMP image"),
    (rb"RIFF.{4}WEBP", "a WebP image"),
    (rb".{4}ftyp(heic|heix|mif1|msf1|avif|avis)", "a HEIF or AVIF image"),
    (rb"\0\0\0\x0cjP  |\xff\x4f\xff\x51", "a JPEG 2000 image"),
    (rb"8BPS", "a Photoshop file"),
    (rb"\xff\x0a|\0\0\0\x0cJXL ", "a JPEG XL image"),
    (rb"v/1\x01", "an OpenEXR image"),
    (rb"DDS ", "a DDS image"),
    (rb"\x00\x00\x01\x00[^\x00]", "an icon"),
    (rb"P[1-7]\s", "a PNM image"),
    (rb"%!PS|\xc5\xd0\xd3\xc6", "a PostScript document"),
    (rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg", "an SVG drawing"),
    (rb"(RIFF|RF64|BW64).{4}WAVE", "a WAV sound"),
    (rb"(ID3|\xff[\xfb\xf3\xf2])", "an MP3 sound"),
    (rb"fLaC", "a FLAC sound"),
    (rb"\.RMF", "a RealMedia file"),
    (rb"nut/multimedia container", "a NUT file"),
    (rb"YUV4MPEG2", "a YUV4MPEG file"),
    (rb"BBCD", "a Dirac stream"),
    (rb"REDV|.{4}RED[12]", "an R3D file"),
    (rb"#EXTM3U", "an HLS playlist"),
    (rb"ffconcat", "a concat script"),
    (rb"v=0\r?\n", "an SDP description"),
    (rb"\s*(<\?xml[^>]*>\s*)?<MPD", "a DASH manifest"),
    (rb"(?i)\s*(<!doctype html|<html)", "an HTML page"),
    (rb"\s*<\?xml", "an XML document"),
    (rb"PK(\x03\x04|\x05\x06)", "a ZIP archive"),
    (rb"\x1f\x8b", "a gzip archive"),
    (rb"7z\xbc\xaf", "a 7-Zip archive"),
    (rb"Rar!", "a RAR archive"),
    (rb".{257}ustar", "a TAR archive"),
    (rb"%PDF", "a PDF document"),
    (rb".{4}(ftyp|moov|mdat|wide|free|skip)", DAMAGED + "MP4 or MOV file"),
    (rb"\x1a\x45\xdf\xa3", DAMAGED + "Matroska or WebM file"),
    (rb"RIFF.{4}AVI ", DAMAGED + "AVI file"),
    (rb"FLV\x01", DAMAGED + "FLV file"),
    (rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11", DAMAGED + "ASF or WMV file"),
    (rb"OggS", DAMAGED + "Ogg file"),
    (rb"[\t\r\n\x20-\x7e]{16,}\Z", "a text"),
)
_WAYS = {
    "animated WebP": "Convert it to animated PNG, GIF or MP4.",
    "CR3 or CRM": "Convert stills to TIFF or JPEG, and videos to ProRes or H.264, by the maker's program.",
    "of a camera": "Develop it to TIFF, PNG or JPEG, for example with darktable, RawTherapee or Adobe's DNG Converter.",
    "R3D": "Export it from REDCINE-X PRO or DaVinci Resolve as ProRes or H.264, in MOV or MP4.",
    "Blackmagic RAW": "Export it from DaVinci Resolve as ProRes or H.264, in MOV or MP4.",
    "Canon Cinema RAW": "Export it from Cinema RAW Development or DaVinci Resolve as ProRes or H.264, in MOV or MP4.",
    "RealMedia": "Convert it by ffmpeg: ffmpeg -i in.rm out.mp4.",
    "NUT": "Convert it by ffmpeg: ffmpeg -i in.nut -c copy out.mkv.",
    "YUV4MPEG": "Convert it by ffmpeg: ffmpeg -i in.y4m out.mp4.",
    "HLS playlist": "Join it by ffmpeg: ffmpeg -i list.m3u8 -c copy out.mp4.",
    "DASH manifest": "Join it by ffmpeg: ffmpeg -i list.mpd -c copy out.mp4.",
    "concat script": "Join the files by ffmpeg, or upload each and show them as one media (`concat`).",
    " sound": "Upload it together with its pictures, in MOV, MXF or MKV.",
    "archive": "Unpack it, and upload its files.",
}
"""By a part of the name of what is not supported."""
_BLACKMAGIC = "brhq", "brst", "brxq", "brlt", "brvn", "brs2", "braw"
_CODECS = dict.fromkeys(_BLACKMAGIC, "Blackmagic RAW") | {"CRAW": "Canon Cinema RAW"}
"""The names that users know of codecs whose codes say nothing."""
_ANIMATED = 2
_DNG_VERSION, _MOST_ENTRIES = 50706, 512
_FORMATS = tuple((re.compile(start, re.DOTALL), name) for start, name in _STARTS)
# Bytes of a packet of MPEG-TS, and the first one.
_PACKET, _SYNC = 188, 0x47
_RECOGNISED = 64 * _PACKET
_TABLES = (0x00, 0x11)
"""The streams of an MPEG-TS in which its first tables are."""
_MATROSKA = re.compile(rb"V_[A-Z0-9_/]{2,40}")
_AVI = re.compile(rb"strh.{4}vids(.{4})", re.DOTALL)
_SAMPLES = re.compile(rb"stsd.{12}(.{4})", re.DOTALL)


def format_of(file: SourceFile) -> str:
    """The format of a file in words, with its article; empty if unknown."""
    head = file.read_at(0, _HEAD)
    name = next((name for start, name in _FORMATS if start.match(head)), "")
    if name == "a TIFF image" and _is_dng(file, head):
        return "a DNG image of a camera"
    if name == "a WebP image" and head[12:16] == b"VP8X" and head[20:21] and head[20] & _ANIMATED:
        return "an animated WebP image"
    return name


def way_round(name: str) -> str:
    """How a file of a format that is not supported is converted to one that is, as a sentence; empty if unknown."""
    return next((way for part, way in _WAYS.items() if part in name), "")


def _is_dng(file: SourceFile, head: bytes) -> bool:
    """Whether the first directory of a TIFF file has the version of DNG."""
    order: Literal["little", "big"] = "little" if head[:1] == b"I" else "big"
    at = int.from_bytes(head[4:8], order)
    count = int.from_bytes(file.read_at(at, 2), order)
    entries = file.read_at(at + 2, 12 * min(count, _MOST_ENTRIES))
    return any(int.from_bytes(entries[at : at + 2], order) == _DNG_VERSION for at in range(0, len(entries), 12))


def archive_of(source: Source) -> str:
    """The kind of archive that a file is, with its article; else empty."""
    named = format_of(SourceFile(source))
    return named if named.endswith("archive") else ""


def is_transport_stream(file: SourceFile) -> bool:
    """Whether a file is an MPEG-TS that FFmpeg does not recognise: of few packets, or damaged behind its tables."""
    data = file.read_at(0, min(file.size, _RECOGNISED))
    file.seek(0)
    if data[: 2 * _PACKET : _PACKET] == bytes([_SYNC] * 2) and data[1] & 0x1F == 0 and data[2] in _TABLES:
        return True
    if file.size >= _RECOGNISED or file.size % _PACKET:
        return False
    return all(data[at] == _SYNC for at in range(0, len(data), _PACKET))


def codec_of(file: SourceFile) -> str:
    """The code of the first video codec that a file of an accepted container names; empty if it is not found."""
    head = file.read_at(0, 16 * _HEAD)
    if found := _MATROSKA.search(head):
        return found[0].decode()
    if found := _AVI.search(head):
        return _shown(found[1])
    try:
        found_boxes = boxes.top_level(file.read_at, file.size)
        index = next((box for box in found_boxes if box.name == "moov"), None)
    except BadInput:
        return ""
    found = _SAMPLES.search(file.read_at(index.offset, min(index.size, _LARGEST_INDEX))) if index else None
    code = _shown(found[1]) if found else ""
    return _CODECS.get(code, code)


def _shown(code: bytes) -> str:
    """A code of four characters; in hexadecimal where they cannot be printed."""
    text = code.decode("latin-1").strip()
    return text if text.isascii() and text.isprintable() and text else code.hex()
