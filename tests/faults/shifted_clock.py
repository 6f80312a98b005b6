"""The local stack whose clock is wrong: `CLOCK_SHIFT=86400 python -m tests.faults.shifted_clock` is a day ahead.

Only what Python tells of the time is shifted; file times are those of the machine.
"""

from __future__ import annotations

import datetime as dt
import os
import time

_TRUE = dt.datetime


class _Instances(type):
    def __instancecheck__(cls, found):
        return isinstance(found, _TRUE)


def shift(seconds):
    """Shift what this process sees of the time, from now on."""
    clock, clock_ns, by = time.time, time.time_ns, dt.timedelta(seconds=seconds)

    class Shifted(_TRUE, metaclass=_Instances):
        @classmethod
        def now(cls, tz=None):
            return _TRUE.now(tz) + by

        @classmethod
        def utcnow(cls):
            return _TRUE.now(dt.UTC).replace(tzinfo=None) + by

    time.time = lambda: clock() + seconds
    time.time_ns = lambda: clock_ns() + seconds * 10**9
    dt.datetime = Shifted


def main():
    """Run the local stack."""
    shift(int(os.environ["CLOCK_SHIFT"]))
    from infra.local.__main__ import main as serve

    serve()


if __name__ == "__main__":
    main()
