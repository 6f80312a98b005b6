"""The value of telemetry at a time equals a search through all rows."""

from __future__ import annotations

import contextlib
import math
import tracemalloc
from datetime import datetime
from functools import reduce
from operator import xor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core.telemetry import reading as telemetry
from chalicelib.errors import BadInput

TIMES = st.lists(st.integers(-5, 20), max_size=12)


@given(TIMES, st.integers(-8, 24), st.sampled_from(["preceding", "nearest"]), st.sampled_from([0, 1, 3, math.inf]))
def test_a_join_equals_a_search_through_all_rows(times, at, join, tolerance):
    body = "time,v\n" + "".join(f"{time},{row}\n" for row, time in enumerate(times))
    series = telemetry.read_text(body.encode(), "time").series(["v"])
    rows = [(time, row) for row, time in enumerate(times)]
    if join == "preceding":
        found = max(((time, row) for time, row in rows if time <= at), default=None)
    else:
        found = min(rows, key=lambda each: (abs(each[0] - at), each[0], -each[1]), default=None)
    if found is not None and abs(found[0] - at) > tolerance:
        found = None
    assert series.value_at(at, join, tolerance) == (None if found is None else (str(found[1]),))


def test_a_row_without_a_value_is_skipped_for_its_column_only():
    table = telemetry.read_text(b"time,depth,t\n0,5,\n1,,9\n", "time")
    assert table.series(["depth"]).value_at(2, "preceding") == ("5",)
    assert table.series(["t"]).value_at(2, "preceding") == ("9",)
    assert table.series(["depth", "t"]).value_at(2, "preceding") is None


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"depth\n1\n", "no column 'time'"),
        (b"time,d\n0,1\nx,2\n", "line 3"),
        (b"time,d\n2026-01-01T00:00:00Z,1\n5,2\n", "line 3"),
        (b"time,d\n0\n", "line 2"),
        (b"\xff\xfe", "UTF-8"),
        (b"time,d\n0,inf\n1e999,2\n", "line 3"),
    ],
)
def test_a_malformed_file_is_refused_by_its_row(body, part):
    with pytest.raises(BadInput) as refused:
        telemetry.read_text(body, "time")
    assert part in refused.value.message


def test_an_unknown_column_is_refused_with_the_nearest():
    with pytest.raises(BadInput, match="Did you mean 'depth'"):
        telemetry.read_text(b"time,depth\n", "time").series(["deptj"])


@pytest.mark.slow
def test_memory_grows_with_the_columns_that_are_kept():
    body = b"time," + b",".join(b"c%d" % place for place in range(900)) + b"\n"
    body += b"".join(b"%d%s\n" % (row, b",77" * 900) for row in range(1_500))
    tracemalloc.start()
    table = telemetry.read_text(body, "time", ["c3"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.series(["c3"]).value_at(2, "preceding") == ("77",)
    assert peak < 2 * len(body)


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"time" + b",c" * 1_000, b"time,d\n" + b"\n" * 2_000_001])
def test_too_many_columns_or_lines_are_refused_as_they_are_read(body):
    with pytest.raises(BadInput, match="at most"):
        telemetry.read_text(body, "time")


def sentence(data: str) -> str:
    """A sentence with its checksum."""
    return f"${data}*{reduce(xor, data.encode()):02X}\r\n"


def instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_the_examples_of_the_standard_are_read():
    # the checksums are those of the published examples, not made here
    log = (
        "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n"
        "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n"
    )
    table = telemetry.read_text(log)
    at = instant("1994-03-23T12:35:19+00:00")
    assert table.series(["longitude", "latitude"]).value_at(at, "preceding") == ("11.516666667", "48.1173")
    assert table.series(["altitude", "course"]).value_at(at, "preceding") == ("545.4", "84.4")
    speed = float(table.series(["speed"]).values[0][0])
    assert speed == pytest.approx(22.4 * 0.514444, abs=1e-4)
    assert [time for time, _ in table.rows] == [at]


def test_depth_and_heading_belong_to_the_last_time_and_midnight_begins_a_day():
    log = (
        sentence("GPGGA,235958,3600.0000,S,12230.0000,W,1,08,0.9,0,M,,M,,")
        + sentence("SDDPT,410.5,1.5,")
        + sentence("HEHDT,271.5,T")
        + sentence("GPRMC,235959,A,3600.0600,S,12230.0000,W,0,0,311225,,")
        + sentence("SDDBT,1345.1,f,410.0,M,224.2,F")
        + sentence("GPGLL,3600.1200,S,12230.0000,W,000001,A")
        + "!AIVDM,1,1,,A,13aG?P0P00PD;88MD5MTDww@2<0L,0*23\r\n"
        + sentence("PVENDOR,whatever,1")
    )
    table = telemetry.read_text(log)
    before, after = instant("2025-12-31T23:59:58+00:00"), instant("2026-01-01T00:00:01+00:00")
    assert [time for time, _ in table.rows] == [before, before + 1, after]
    assert table.series(["depth"]).values == [("412.0",), ("410.0",)]
    assert table.series(["heading"]).value_at(after, "preceding") == ("271.5",)
    assert table.series(["longitude", "latitude"]).value_at(after, "preceding") == ("-122.5", "-36.002")


def test_instants_before_sentences_are_their_times():
    log = "2026-05-01T12:00:00.5Z," + sentence("SDDBT,,f,10.0,M,,F") + "2026-05-01T12:00:01Z " + sentence("HEHDT,5,T")
    table = telemetry.read_text(log)
    assert table.series(["depth"]).times[0] == instant("2026-05-01T12:00:00.500+00:00")
    with pytest.raises(BadInput, match=r"line 3 .* an instant"):
        telemetry.read_text(log + sentence("HEHDT,5,T"))


def test_few_wrong_checksums_are_left_out_and_many_refused():
    good = sentence("GPRMC,120000,A,0000.0,N,00000.0,E,0,0,010126,,")
    later = "".join(sentence(f"GPGLL,0000.0,N,0000{n}.0,E,12000{n},A") for n in range(1, 10))
    bad = "$GPGLL,0000.0,N,00009.0,E,120011,A*00\r\n"
    assert len(telemetry.read_text(good + later + bad).rows) == 10
    with pytest.raises(BadInput, match="2 of 12 NMEA sentences have a wrong checksum"):
        telemetry.read_text(good + later + bad + bad)


GPX = """<?xml version="1.0"?>
<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1" xmlns:x="urn:x"><trk><trkseg>
<trkpt lat="47.5" lon="-8.25"><ele>400.5</ele><time>2026-05-01T12:00:00Z</time>
<extensions><x:heading>90</x:heading></extensions></trkpt>
<trkpt lat="47.6" lon="-8.30"><time>2026-05-01T14:00:10+02:00</time></trkpt>
</trkseg></trk></gpx>"""


def test_a_track_of_gpx_is_read():
    table = telemetry.read_text(GPX)
    first = instant("2026-05-01T12:00:00+00:00")
    assert [time for time, _ in table.rows] == [first, first + 10]
    assert table.series(["longitude", "latitude"]).values == [("-8.25", "47.5"), ("-8.3", "47.6")]
    assert table.series(["elevation", "heading"]).values == [("400.5", "90")]
    assert telemetry.read_text(GPX, wanted=["heading"]).series(["heading"]).values == [("90",)]


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("$GPGGA,126019,4807.038,N,01131.000,E,1\n", "line 1 of the NMEA log: '126019' is not a time"),
        ("$SDDBT,,f,1,M,,F\n$GPGLL,9100.0,N,01131.0,E,120000,A\n", "line 2 .* is not an angle"),
        ("$SDDBT,,f,1,M,,F\n$GPGLL,4860.0,N,01131.0,E,120000,A\n", "line 2 .* is not an angle"),
        ("$SDDBT,,f,1,M,,F\nnonsense\n", "line 2 .* no sentence"),
        ("$SDDBT,,f,1e400,M,,F\n", "line 1 .* is not a number"),
        ("$GPRMC,120000,A,0000.0,N,00000.0,E,0,0,310226,,\n", "line 1 .* is not a date"),
        ("$GPGLL,0000.0,N,00000.0,E,120000,A\n", "no date"),
        (GPX.replace("<time>2026-05-01T12:00:00Z</time>", ""), "line 4 of the GPX: .* needs a <time>"),
        (GPX.replace('lat="47.5"', 'lat="nan"'), "line 3 of the GPX: .* needs lat"),
        (GPX.replace("</trkseg>", ""), "line 6 of the GPX is malformed"),
        (GPX.replace("<gpx", '<!DOCTYPE gpx [<!ENTITY a "b">]><gpx'), "line 2 of the GPX: a document type"),
        ("<kml/>", "the root is <kml>"),
        ("<gpx>" + "<a>" * 100, "deeper than 64"),
        ("<gpx><trkpt lat='0' lon='0'><time>" + "1" * 70_000, "more than 65536 characters"),
        ("<gpx " + "a" * 300_000, "more than 65536 bytes"),
        ("time,d\n0," + "1" * 1_100_000 + "\n", "line 2 .* more than 1048576 bytes"),
    ],
)
def test_a_hostile_file_is_refused_by_its_line(body, part):
    with pytest.raises(BadInput, match=part):
        telemetry.read_text(body)


@given(st.binary(max_size=200), st.sampled_from([b"", b"<gpx>", b"$GPGGA,1", b"time,a\n", b"$GPRMC,120000,A,"]))
def test_any_bytes_are_read_or_refused(tail, head):
    with contextlib.suppress(BadInput):
        telemetry.read_text(head + tail)
