"""KLV of MISB ST 0601 (UAS Datalink Local Set), alone or in a data stream of MPEG-TS: what a drone was and looked at.

Read are the tags of `_FIELDS`; times are their Precision Time Stamps, microseconds since 1970. Sources: MISB ST 0601.16
(tags, their integers and the checksum), SMPTE ST 336 (keys and lengths), MISB ST 1402 and ISO/IEC 13818-1 (streams).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import BinaryIO, NamedTuple

from chalicelib.core.telemetry.table import Gathered, Table
from chalicelib.errors import BadInput

KEY = bytes.fromhex("060e2b34020b01010e01030101000000")
"""The key of the local set."""
_SYNC = 0x47
"""The first byte of a packet of MPEG-TS."""
_PACKET = 188
_BLOCK = 1024 * 1024
_LONGEST_SET = 64 * 1024
"""Bytes of a local set; a longer one is damaged."""
_MAX_DAMAGED_SHARE = 0.1
"""The share of sets with a wrong checksum above which a file is refused."""
_MAX_DAMAGED_SETS = 10_000
"""Sets with a wrong checksum from which on a file is refused before its end."""
_LAST = 253_402_300_800.0
"""The end of year 9999, behind which there is no date."""
_CHECKSUM, _TIME = 1, 2
_PRIVATE, _METADATA = 0x06, 0x15
"""Types of streams that have KLV: asynchronous and synchronous."""
_REGISTRATION = b"\x05\x04KLVA"
_PMT = 0x02
_PES = 8
"""Where the header of a PES packet has the length of the rest of it."""
_MOST_STREAMS = 64
_LONGEST_SECTION = 1024


class _Field(NamedTuple):
    """Map a number to an integer of some bytes; the least signed integer stands for no value."""

    name: str
    size: int
    low: float
    high: float
    digits: int

    def value(self, data: bytes) -> float | None:
        """The number of the bytes; None for those of no value, or of another size."""
        if len(data) != self.size:
            return None
        if self.low < 0 and self.low == -self.high:
            number, most = int.from_bytes(data, signed=True), (1 << 8 * self.size - 1) - 1
            return None if number < -most else round(number / most * self.high, self.digits)
        share = int.from_bytes(data) / ((1 << 8 * self.size) - 1)
        return round(self.low + share * (self.high - self.low), self.digits)


_FIELDS = {
    5: _Field("heading", 2, 0, 360, 3),
    6: _Field("pitch", 2, -20, 20, 4),
    7: _Field("roll", 2, -50, 50, 4),
    13: _Field("latitude", 4, -90, 90, 7),
    14: _Field("longitude", 4, -180, 180, 7),
    15: _Field("altitude", 2, -900, 19_000, 2),
    16: _Field("field_of_view", 2, 0, 180, 3),
    17: _Field("field_of_view_vertical", 2, 0, 180, 3),
    18: _Field("sensor_azimuth", 4, 0, 360, 6),
    19: _Field("sensor_elevation", 4, -180, 180, 6),
    20: _Field("sensor_roll", 4, 0, 360, 6),
    21: _Field("slant_range", 4, 0, 5_000_000, 3),
    23: _Field("frame_center_latitude", 4, -90, 90, 7),
    24: _Field("frame_center_longitude", 4, -180, 180, 7),
    25: _Field("frame_center_elevation", 2, -900, 19_000, 2),
    75: _Field("ellipsoid_height", 2, -900, 19_000, 2),
    90: _Field("pitch", 4, -90, 90, 6),
    91: _Field("roll", 4, -90, 90, 6),
}
"""By tag; of a name with two, the later tag counts, which has the full range."""


def read(source: BinaryIO, wanted: Collection[str] | None) -> Table:
    """The values of local sets by instant; what lies between them is left out, as are sets without a time.

    Raises:
        BadInput: there is no local set, or more than a tenth have a wrong checksum.
    """
    first = source.read(1)
    blocks = chain([first], iter(lambda: source.read(_BLOCK), b""))
    found = Gathered(wanted)
    sets = damaged = 0
    for whole in _sets(_payloads(source, first) if first[:1] == bytes([_SYNC]) else blocks):
        sets += 1
        tags = _tags(whole)
        if tags is None:
            damaged += 1
            if damaged > _MAX_DAMAGED_SETS and damaged > sets * _MAX_DAMAGED_SHARE:
                break
            continue
        time = tags.get(_TIME, b"")
        values = _values(tags)
        seconds = int.from_bytes(time) / 1e6
        if len(time) == 8 and seconds < _LAST and values:  # noqa: PLR2004 bytes of a Precision Time Stamp
            found.add(seconds, values)
    if not sets:
        raise BadInput("file: the telemetry has no local set of MISB ST 0601.")
    if damaged > sets * _MAX_DAMAGED_SHARE:
        raise BadInput(f"file: {damaged} of {sets} local sets of the telemetry have a wrong checksum; it is damaged.")
    return found.table()


def _values(tags: Mapping[int, bytes]) -> dict[str, str]:
    """The numbers of tags by name."""
    values = {}
    for tag, field in _FIELDS.items():
        number = field.value(tags[tag]) if tag in tags else None
        if number is not None:
            values[field.name] = repr(number)
    return values


def _sets(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The local sets of a stream of bytes, with their keys. One that is too long is passed over."""
    held = b""
    for block in blocks:
        held += block
        place = 0
        while (at := held.find(KEY, place)) >= 0:
            place = at
            size = _length(held, at + len(KEY))
            if size is None and len(held) - at < len(KEY) + 9:
                break  # its length is in the next block
            end = sum(size) if size else at + _LONGEST_SET + 1
            if end - at > _LONGEST_SET:
                place += 1
                continue
            # a set whose end was lost reaches into the next one
            again = held.find(KEY, at + 1, end + len(KEY) - 1)
            if again < 0 and end > len(held):
                break
            place = end if again < 0 else again
            yield held[at:place]
        held = held[max(place, len(held) - len(KEY) + 1) if at < 0 else place :]


def _length(data: bytes, at: int) -> tuple[int, int] | None:
    """Where a value begins and its length, by the BER length at a place; None where that is not there or too long."""
    if at >= len(data):
        return None
    first = data[at]
    if first < 0x80:  # noqa: PLR2004 the short form
        return at + 1, first
    count = first & 0x7F
    if not 0 < count <= 8 or at + 1 + count > len(data):  # noqa: PLR2004 bytes of a length
        return None
    return at + 1 + count, int.from_bytes(data[at + 1 : at + 1 + count])


def _tags(whole: bytes) -> dict[int, bytes] | None:
    """The values of a local set by tag; None where it is malformed or its checksum is wrong or missing."""
    size = _length(whole, len(KEY))
    at, found = size[0] if size else len(whole), dict[int, bytes]()
    while at < len(whole):
        tag = 0
        while at < len(whole) and whole[at] >= 0x80:  # noqa: PLR2004 another byte of the tag follows
            tag = (tag << 7 | whole[at] & 0x7F) & 0xFFFF
            at += 1
        if at >= len(whole) or (place := _length(whole, at + 1)) is None:
            return None
        tag = tag << 7 | whole[at]
        start, count = place
        if start + count > len(whole):
            return None
        found[tag], at = whole[start : start + count], start + count
        if tag == _CHECKSUM:
            return found if at == len(whole) and found[tag] == checksum(whole[:start]) else None
    return None


def checksum(data: bytes) -> bytes:
    """The checksum of a local set: the sum of its pairs of bytes, from the key to the length of the checksum."""
    return ((sum(data[0::2]) << 8) + sum(data[1::2]) & 0xFFFF).to_bytes(2)


# --- MPEG-TS ---------------------------------------------------------------------------------------------------------


def _payloads(source: BinaryIO, first: bytes) -> Iterator[bytes]:
    """What packets of the streams of KLV carry, without the headers of PES packets."""
    programs, streams = set[int](), set[int]()
    sections: dict[int, bytes] = {}
    held = first
    while block := source.read(_BLOCK):
        held += block
        at, carried = 0, list[bytes]()
        while at + _PACKET <= len(held):
            if held[at] != _SYNC:
                found = held.find(_SYNC, at + 1)
                at = found if found >= 0 else len(held)
                continue
            packet = held[at : at + _PACKET]
            at += _PACKET
            number, is_start = (packet[1] & 0x1F) << 8 | packet[2], bool(packet[1] & 0x40)
            if number not in streams and number not in programs and number:
                continue
            payload = _payload(packet)
            if number in streams:
                is_header = is_start and len(payload) > _PES
                carried.append(payload[_PES + 1 + payload[_PES] :] if is_header else payload)
            elif (section := _section(sections, number, payload, is_start=is_start)) is None:
                continue
            elif number == 0:
                programs |= set(_programs(section)[:_MOST_STREAMS])
            elif section[0] == _PMT:
                streams |= set(_streams(section)[:_MOST_STREAMS])
        held = held[at:]
        yield b"".join(carried)


def _payload(packet: bytes) -> bytes:
    """What a packet carries: that behind its adaptation field."""
    control = packet[3] >> 4 & 0x3
    if control & 1 == 0:
        return b""
    return packet[5 + packet[4] :] if control & 2 else packet[4:]


def _section(held: dict[int, bytes], number: int, payload: bytes, *, is_start: bool) -> bytes | None:
    """The whole section that a packet completes; None where more of it follows."""
    if is_start:
        held[number] = payload[1 + payload[0] :] if payload else b""
    elif number in held:
        held[number] += payload
    data = held.get(number, b"")
    if len(data) < 3:  # noqa: PLR2004 its header
        return None
    size = 3 + ((data[1] & 0x0F) << 8 | data[2])
    if len(data) < min(size, _LONGEST_SECTION):
        return None
    held.pop(number)
    return data[:size]


def _programs(section: bytes) -> list[int]:
    """The packets that have tables of programs, by a table of all of them."""
    entries = section[8:-4]
    pairs = (entries[at : at + 4] for at in range(0, len(entries) - 3, 4))
    return [(pair[2] & 0x1F) << 8 | pair[3] for pair in pairs if pair[0] or pair[1]]


def _streams(section: bytes) -> list[int]:
    """The packets of streams that have KLV, by the table of a program."""
    if len(section) < 12:  # noqa: PLR2004 its header
        return []
    found, at = list[int](), 12 + ((section[10] & 0x0F) << 8 | section[11])
    while at + 5 <= len(section) - 4:
        kind, number = section[at], (section[at + 1] & 0x1F) << 8 | section[at + 2]
        size = (section[at + 3] & 0x0F) << 8 | section[at + 4]
        if kind == _METADATA or (kind == _PRIVATE and _REGISTRATION in section[at + 5 : at + 5 + size]):
            found.append(number)
        at += 5 + size
    return found
