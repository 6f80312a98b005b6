"""How fast the processor is, as a factor of the tables in docs: `python -m tests.bench.calibration`.

The work is fixed: Python's loops and dicts, JSON, deflating and sorting, about as requests have them. The factor is the
least processor time of several rounds, divided by that of the machine of which docs/performance.md has the figures.
Divide by it what this machine measures, to compare it with the tables. Load from others raises both.
"""

from __future__ import annotations

import json
import random
import time
import zlib

REFERENCE = 0.080
"""Seconds of a round on two virtual processors, with ten other processes at work."""
ROUNDS = 7


def main() -> None:
    """Print the line."""
    print(line())


def line() -> str:
    """The factor of this machine, and the milliseconds of a round."""
    found = factor()
    return f"factor of this machine {found:.2f} ({found * REFERENCE * 1e3:.0f} ms; {REFERENCE * 1e3:.0f} ms is 1)"


def factor() -> float:
    """How much more processor time this machine takes than the one of the tables."""
    return min(one_round() for _ in range(ROUNDS)) / REFERENCE


def one_round() -> float:
    """The processor time of the fixed work, in seconds."""
    take = random.Random(1)
    began = time.process_time()
    rows = [{"id": number, "x": take.random(), "word": f"s{take.randrange(50)}"} for number in range(20_000)]
    data = json.dumps(rows).encode()
    packed = zlib.compress(data, 1)
    read = json.loads(zlib.decompress(packed))
    read.sort(key=lambda row: (row["word"], -row["x"]))
    total = 0.0
    for row in read:
        total += row["x"] * len(row["word"])
    assert total > 0
    return time.process_time() - began


if __name__ == "__main__":
    main()
