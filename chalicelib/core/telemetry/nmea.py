"""Sentences of NMEA 0183: position, depth, heading, speed and course by UTC.

Of the time of day of GGA, GLL and RMC, the date comes from RMC or ZDA; sentences without a time belong to the last one.
A logger may write an instant before each sentence, which is then its time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import reduce
from operator import xor

from chalicelib.core.telemetry.table import Gathered, Table, instant_seconds
from chalicelib.errors import BadInput

_DAY = 86_400
_KNOT = 1852 / 3600
"""Metres per second."""
_MOST_DAMAGED = 0.1
"""The share of sentences with a wrong checksum above which a file is refused."""
_SENTENCE = re.compile(r"(?P<before>[^$]*)\$(?P<data>[A-Z][A-Z0-9]{2,9},[^*\r\n]*)(?:\*(?P<sum>[0-9A-Fa-f]{2}))?\s*")
_TIME = re.compile(r"([01][0-9]|2[0-3])([0-5][0-9])([0-5][0-9]|60)(\.[0-9]{1,9})?")
_DATE = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2})")
_ANGLE = re.compile(r"([0-9]{1,3})([0-9]{2}(?:\.[0-9]{1,12})?)")
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}(?:\.[0-9]{0,12})?|[+-]?\.[0-9]{1,12}")
_CENTURY = 80
"""Years from this one are of the 20th century."""

Values = dict[str, str]


def read(lines: Iterable[str], wanted: Collection[str] | None) -> Table:
    """The values of sentences by instant; other sentences than those of `_READERS` are left out.

    Raises:
        BadInput: a sentence is malformed, none has a date, or more than a tenth have a wrong checksum.
    """
    log = _Log(wanted)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            log.read_sentence(line)
        except ValueError as error:
            raise BadInput(f"file: line {number} of the NMEA log: {error}.") from None
    return log.table()


class _Log:
    """The state between sentences: the time of the last one, the days, and the row that is gathered."""

    def __init__(self, wanted: Collection[str] | None) -> None:
        self._found = Gathered(wanted)
        self._time: float | None = None
        self._row: Values = {}
        self._day = 0
        """Days since the first sentence."""
        self._origin: float | None = None
        """The midnight before the first sentence, as seconds since 1970."""
        self._is_stamped: bool | None = None
        self._sentences = self._damaged = 0

    def read_sentence(self, line: str) -> None:
        """Take the sentence of a line. Raises ValueError."""
        if line.lstrip().startswith("!"):
            return  # of AIS, about others
        match = _SENTENCE.fullmatch(line)
        if match is None:
            raise ValueError("it is no sentence such as $GPGGA,…*47")
        self._sentences += 1
        if match["sum"] and reduce(xor, match["data"].encode("latin-1")) != int(match["sum"], 16):
            self._damaged += 1
            return
        self._take_stamp(match["before"].strip(" \t,;\ufeff"))
        name, *fields = match["data"].split(",")
        reader = _READERS.get(name[-3:]) if len(name) == len("GPGGA") else None
        if reader is None:
            return
        time, date, values = reader([each.strip() for each in fields])
        if not self._is_stamped:
            self._take_time(time, date)
        self._row |= values

    def _take_stamp(self, text: str) -> None:
        stamp = instant_seconds(text)
        if self._is_stamped is None:
            self._is_stamped, self._origin = stamp is not None, None if stamp is None else 0.0
        if self._is_stamped:
            if stamp is None:
                raise ValueError("an instant in ISO 8601 must be before the sentence, as on the first line")
            self._begin(stamp)

    def _take_time(self, time: float | None, date: float | None) -> None:
        if time is None:
            return
        of_day = None if self._time is None else self._time % _DAY
        if date is not None and self._origin is not None:
            self._day = round((date - self._origin) / _DAY)
        elif of_day is not None and of_day - time > _DAY / 2:
            self._day += 1
        if date is not None and self._origin is None:
            self._origin = date - self._day * _DAY
        self._begin(self._day * _DAY + time)

    def _begin(self, time: float) -> None:
        """Begin the row of a time, if it is another one."""
        if time != self._time:
            self._end()
            self._time = time

    def _end(self) -> None:
        if self._time is not None and self._row:
            self._found.add(self._time, self._row)
            self._row = {}
        elif self._time is None:
            self._row = {}  # before the first time

    def table(self) -> Table:
        """The rows. Raises BadInput where the log has no date, or is damaged."""
        self._end()
        if self._damaged > self._sentences * _MOST_DAMAGED:
            raise BadInput(f"file: {self._damaged} of {self._sentences} NMEA sentences have a wrong checksum.")
        if self._origin is None:
            raise BadInput(
                "file: the NMEA log has no date: it needs a sentence RMC or ZDA, or instants before sentences."
            )
        return self._found.table(self._origin)


Sentence = tuple[float | None, float | None, Values]
"""Time of the day and date in seconds, None where a sentence has none, and values."""


def _number(text: str) -> float | None:
    """A number; None for an empty field. Raises ValueError."""
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:20]!r} is not a number")
    return float(text)


def _values(**given: float | None) -> Values:
    return {name: repr(round(value, 9)) for name, value in given.items() if value is not None}


def _time(text: str) -> float | None:
    if not text:
        return None
    if not (match := _TIME.fullmatch(text)):
        raise ValueError(f"{text[:20]!r} is not a time hhmmss.ss")
    hours, minutes, seconds, share = match.groups()
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(share or 0)


def _date(day: str, month: str, year: int) -> float:
    try:
        return datetime(year, int(month), int(day), tzinfo=UTC).timestamp()
    except ValueError:
        raise ValueError(f"{day[:4]}.{month[:4]}.{year} is not a date") from None


def _place(fields: Sequence[str]) -> Values:
    """Latitude, N or S, longitude, E or W; nothing where they are empty."""
    if not any(fields):
        return {}
    latitude = _degrees(fields[0], fields[1], "NS", 90)
    return _values(longitude=_degrees(fields[2], fields[3], "EW", 180), latitude=latitude)


def _degrees(text: str, side: str, sides: str, farthest: int) -> float:
    match = _ANGLE.fullmatch(text)
    value = int(match[1]) + float(match[2]) / 60 if match else 999.0
    if match is None or float(match[2]) >= 60 or value > farthest or side not in tuple(sides):  # noqa: PLR2004
        raise ValueError(f"'{text[:20]},{side[:5]}' is not an angle of degrees and minutes with {' or '.join(sides)}")
    return -value if side == sides[1] else value


def _gga(fields: Sequence[str]) -> Sentence:
    time, *place, quality, _, _, altitude = _first(fields, 9)
    is_fix = quality != "0"
    return _time(time), None, {**_place(place), **_values(altitude=_number(altitude))} if is_fix else {}


def _rmc(fields: Sequence[str]) -> Sentence:
    time, status, *place, speed, course, date = _first(fields, 9)
    midnight = None
    if date:
        if not (match := _DATE.fullmatch(date)):
            raise ValueError(f"{date[:20]!r} is not a date ddmmyy")
        year = int(match[3])
        midnight = _date(match[1], match[2], year + (1900 if year >= _CENTURY else 2000))
    values = {} if status != "A" else {**_place(place), **_motion(speed, course)}
    return _time(time), midnight, values


def _gll(fields: Sequence[str]) -> Sentence:
    *place, time, status = _first(fields, 6)
    return _time(time), None, {} if status == "V" else _place(place)


def _zda(fields: Sequence[str]) -> Sentence:
    time, day, month, year = _first(fields, 4)
    return _time(time), _date(day, month, int(_number(year) or 0)) if day else None, {}


def _vtg(fields: Sequence[str]) -> Sentence:
    course, _, _, _, speed = _first(fields, 5)
    return None, None, _motion(speed, course)


def _motion(knots: str, course: str) -> Values:
    speed = _number(knots)
    return _values(speed=None if speed is None else speed * _KNOT, course=_number(course))


def _depth_below(fields: Sequence[str]) -> Sentence:
    """DBT, DBS, DBK: in feet, metres and fathoms."""
    return None, None, _values(depth=_number(_first(fields, 3)[2]))


def _dpt(fields: Sequence[str]) -> Sentence:
    """Below the transducer, and an offset: up to the water line where it is positive."""
    depth, offset = (_number(each) for each in _first(fields, 2))
    return None, None, _values(depth=None if depth is None else depth + max(offset or 0.0, 0.0))


def _field(name: str) -> Callable[[Sequence[str]], Sentence]:
    """A reader of the first field."""
    return lambda fields: (None, None, _values(**{name: _number(_first(fields, 1)[0])}))


def _first(fields: Sequence[str], count: int) -> list[str]:
    """The sentence's fields, padded with empty ones to that number."""
    return [*fields[:count], *([""] * (count - len(fields)))]


_READERS: dict[str, Callable[[Sequence[str]], Sentence]] = {
    "GGA": _gga,
    "RMC": _rmc,
    "GLL": _gll,
    "ZDA": _zda,
    "VTG": _vtg,
    "DBT": _depth_below,
    "DBS": _depth_below,
    "DBK": _depth_below,
    "DPT": _dpt,
    "HDT": _field("heading"),
    "HDM": _field("heading_magnetic"),
    "HDG": _field("heading_magnetic"),
    "MTW": _field("temperature"),
}
