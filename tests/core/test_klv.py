"""KLV of MISB ST 0601, alone and in MPEG-TS, by an encoder of its own; and what is damaged."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core.telemetry import reading
from chalicelib.core.telemetry.klv import KEY, _tags
from chalicelib.errors import BadInput

START = 1_777_636_800  # 2026-05-01T12:00:00Z
EXAMPLE = bytes.fromhex(  # the values of examples of the standard: 5, 6, 13, 14, 15, 21, 23, 24
    "0502" "71c2" "0602" "fd3d" "0d04" "5595b66d" "0e04" "5b5360c4" "0f02" "c221"
    "1504" "03830926" "1704" "f101a229" "1804" "14bc082b"
)  # fmt: skip


def packed(items: bytes, seconds: float | None = None) -> bytes:
    """A local set of items, with a time and its checksum: the standard's loop over bytes."""
    if seconds is not None:
        items = bytes([2, 8]) + round(seconds * 1e6).to_bytes(8) + items
    size = len(items) + 4
    data = KEY + (bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2)) + items + b"\x01\x02"
    total = 0
    for place, byte in enumerate(data):
        total += byte << (8 * ((place + 1) % 2))
    return data + (total & 0xFFFF).to_bytes(2)


def degrees(tag: int, value: float, most: float) -> bytes:
    return bytes([tag, 4]) + round(value / most * (2**31 - 1)).to_bytes(4, signed=True)


def flight(count: int = 6) -> list[bytes]:
    """Local sets a second apart: at 48.1 + 0.01 n north, 11.5 east."""
    return [
        packed(degrees(13, 48.1 + 0.01 * at, 90) + degrees(14, 11.5, 180) + EXAMPLE[:4], START + at)
        for at in range(count)
    ]


def transport(sets: list[bytes], *, is_synchronous: bool = False, adaptation: int = 0) -> bytes:
    """A transport stream with a program of a video stream and one of KLV."""
    kind, info = (0x15, b"") if is_synchronous else (0x06, b"\x05\x04KLVA")
    pat = section(0x00, b"\x00\x01" + (0xE000 | 0x100).to_bytes(2))
    streams = b"\x1b\xe1\x01\xf0\x00" + bytes([kind]) + (0xE000 | 0x102).to_bytes(2)
    streams += (0xF000 | len(info)).to_bytes(2) + info
    pmt = section(0x02, b"\xe1\x01\xf0\x00" + streams)
    made = [packet(0, b"\x00" + pat, True), packet(0x100, b"\x00" + pmt, True)]
    for number, each in enumerate(sets):
        cell = b"\x00" + bytes([number % 256]) + b"\xdf" + len(each).to_bytes(2) if is_synchronous else b""
        body = b"\x00\x00\x01\xbd" + (len(cell + each) + 8).to_bytes(2) + b"\x80\x80\x05" + bytes(5) + cell + each
        made.append(packet(0x101, b"\x00\x00\x01\xe0" + KEY, True))  # the video has a key by chance
        room = 184 - adaptation
        made += [packet(0x102, body[at : at + room], at == 0) for at in range(0, len(body), room)]
    return b"".join(made)


def section(table: int, entries: bytes) -> bytes:
    body = b"\x00\x01\xc1\x00\x00" + entries + bytes(4)
    return bytes([table]) + (0xB000 | len(body)).to_bytes(2) + body


def packet(number: int, payload: bytes, is_start: bool) -> bytes:
    head = b"\x47" + ((0x4000 if is_start else 0) | number).to_bytes(2)
    room = 184 - len(payload)
    if not room:
        return head + b"\x10" + payload
    field = bytes([room - 1]) + (b"\x00" + b"\xff" * (room - 2) if room > 1 else b"")
    return head + b"\x30" + field + payload


def at(table, *names):
    return table.series(names).values


def test_the_examples_of_the_standard_are_read_as_it_says():
    table = reading.read_text(packed(EXAMPLE, START))
    ((time, row),) = table.rows
    values = {table.columns[place]: float(cell) for place, cell in zip(table.kept, row, strict=True)}
    assert time == START
    assert values == {
        "heading": pytest.approx(159.974, abs=1e-3),
        "pitch": pytest.approx(-0.4315, abs=1e-4),
        "latitude": pytest.approx(60.1768229669, abs=1e-7),
        "longitude": pytest.approx(128.426759042, abs=1e-7),
        "altitude": pytest.approx(14190.72, abs=1e-2),
        "slant_range": pytest.approx(68590.98, abs=1e-2),
        "frame_center_latitude": pytest.approx(-10.5423886331, abs=1e-7),
        "frame_center_longitude": pytest.approx(29.157890122, abs=1e-7),
    }


@pytest.mark.parametrize("is_synchronous", [False, True])
def test_a_transport_stream_has_the_sets_of_its_data_stream(is_synchronous):
    alone = reading.read_text(b"".join(flight()))
    table = reading.read_text(transport(flight(), is_synchronous=is_synchronous))
    assert table.rows == alone.rows
    assert [time - START for time, _ in table.rows] == [0, 1, 2, 3, 4, 5]
    assert at(table, "latitude", "longitude")[2] == ("48.12", "11.5")


def test_sets_that_span_packets_and_have_long_lengths_are_joined():
    filler = b"".join(bytes([120, 100]) + bytes(100) for _ in range(5))
    sets = [packed(degrees(13, 48.0 + each, 90) + filler, START + each) for each in range(3)]
    assert at(reading.read_text(transport(sets)), "latitude") == [("48.0",), ("49.0",), ("50.0",)]


def test_the_least_integer_and_another_size_have_no_value():
    items = bytes([13, 4]) + bytes.fromhex("80000000") + bytes([14, 2, 0, 0]) + bytes([5, 2, 0, 0])
    assert reading.read_text(packed(items, START)).columns == ("heading",)


def test_the_full_range_of_pitch_counts():
    items = EXAMPLE[4:8] + degrees(90, -45.0, 90)
    assert at(reading.read_text(packed(items, START)), "pitch") == [("-45.0",)]


def test_a_set_without_a_time_or_with_one_behind_all_dates_is_left_out():
    table = reading.read_text(packed(EXAMPLE) + packed(EXAMPLE, 1e12) + b"".join(flight(2)))
    assert len(table.rows) == 2


def test_one_damaged_set_of_many_is_left_out_and_many_refuse_the_file():
    sets = flight(20)
    sets[3] = sets[3][:40] + b"\xff" + sets[3][41:]
    sets[7] = sets[7][:-9]  # its end was lost
    assert [round(time - START) for time, _ in reading.read_text(b"".join(sets)).rows] == [
        each for each in range(20) if each not in (3, 7)
    ]
    for number in range(5):
        sets[number] = sets[number][:-1] + bytes([sets[number][-1] ^ 1])
    with pytest.raises(BadInput, match="wrong checksum"):
        reading.read_text(b"".join(sets))


@pytest.mark.parametrize(
    "data",
    [
        KEY,
        KEY + b"\x88" + b"\xff" * 8,
        transport([]) + packet(0x1FFF, b"", False),
        (b"\x47" + bytes(187)) * 5,
        transport(flight()).replace(b"KLVA", b"KLVB"),
    ],
)
def test_a_file_without_a_set_is_refused(data):
    with pytest.raises(BadInput, match="no local set"):
        reading.read_text(data)


@pytest.mark.parametrize("seed", range(60))
def test_hostile_bytes_are_read_or_refused(seed):
    rng = random.Random(seed)
    data = bytearray(transport(flight(12)) if seed % 2 else b"".join(flight(12)))
    for _ in range(rng.randint(1, 60)):
        how, place = rng.randrange(3), rng.randrange(20 if seed % 2 == 0 else 380, len(data))
        if how == 0:
            data[place] = rng.randrange(256)
        elif how == 1:
            del data[place : place + rng.randint(1, 30)]
        else:
            data[place:place] = rng.randbytes(rng.randint(1, 30))
        if len(data) < 600:
            break
    try:
        table = reading.read_text(bytes(data))
    except BadInput:
        return
    assert len(table.rows) <= 12


@given(st.binary(max_size=200))
def test_any_bytes_behind_a_key_are_a_set_or_none(data):
    assert _tags(KEY + data) is None or data
