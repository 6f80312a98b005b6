"""`make reliability` and `make soak`: run what proves that nothing is lost, write docs/reliability.md with its figures.

    python -m tests.faults                all of these but the soak
    python -m tests.faults kills          kills and full disks
    python -m tests.faults clocks|files   jumps of the clock; flipped bits in each kind of file
    python -m tests.faults tests          the other tests of faults of the night
    python -m tests.faults parsers|soak   parsers; an hour of mixed load
    python -m tests.faults page           nothing; the page from the figures that are there

Each part keeps its figures in a folder of its own, `build/figures/<part>`, from its beginning: interrupted or failed,
the page tells what was done until then, and of the other parts what they did the last time.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
FIGURES = ROOT / "build" / "figures"
FUZZER = ROOT / "build" / "fuzz"
"""Where the Makefile puts atheris, which nothing else needs."""
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
MOST = ("requests a second held", "requests a second in a burst")
"""Kinds of which the largest counts, not the sum."""
PYTHON = sys.executable
CLOCKS = "tests/faults/test_clocks.py"
KILLS = ("tests/faults/test_killed_stack.py", "tests/faults/test_killed_work.py")
FILES = ("tests/infra/emulator/test_database.py", "tests/infra/local/test_folder.py")
_NIGHTLY = [PYTHON, "-m", "pytest", "-q", "-m", "nightly"]
PARTS = {
    "kills": [*_NIGHTLY, "-n", "0", *KILLS],
    "clocks": [*_NIGHTLY, "-n", "0", CLOCKS],
    "files": [PYTHON, "-m", "pytest", "-q", "-m", "", "-n", "0", "-k", "flipped", *FILES],
    "tests": [
        *(*_NIGHTLY, "-n", "auto", "--dist", "worksteal", "tests/faults"),
        *(f"--ignore={each}" for each in (*KILLS, CLOCKS)),
    ],
    "parsers": [PYTHON, "-m", "tests.faults.atheris_parsers"],
    "soak": [PYTHON, "-m", "tests.bench.soak"],
}
USUAL = ("kills", "clocks", "files", "tests", "parsers")
STATE = "state.json"


def main() -> int:
    """Run what was asked for, and write the page; not 0 where something failed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wanted = sys.argv[1:] or USUAL
    try:
        return sum(run(part) for part in wanted if part != "page")
    finally:
        write()


def run(part: str) -> int:
    """Run a part; not 0 where it failed."""
    if part == "parsers" and not (FUZZER / "atheris").exists():
        sys.stderr.write("atheris could not be installed into build/fuzz: the parsers are left out\n")
        return 0
    folder = FIGURES / part
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began, failed = time.monotonic(), None
    try:
        environment = {**os.environ, "LIMN_FIGURES": str(folder), "PYTHONPATH": str(FUZZER)}
        failed = subprocess.run(PARTS[part], env=environment, cwd=ROOT, check=False).returncode
    finally:
        told = {"minutes": round((time.monotonic() - began) / 60, 1), "failed": failed}
        (folder / STATE).write_text(json.dumps(told))
        write()
    return failed


def write() -> None:
    """Put the figures into the page, between its marks."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(FIGURES)}\n{states(FIGURES)}{END}{after}")


def table(directory: Path) -> str:
    """The figures of a directory and those below, a row for each kind."""
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for path in sorted(directory.rglob("*.tsv")):
        for line in path.read_text().splitlines():
            kind, name, number = line.split("\t")
            old = found[kind].get(name, 0)
            found[kind][name] = max(old, int(number)) if kind in MOST else old + int(number)
    rows = "".join(
        f"| {kind} | {max(names.values()) if kind in MOST else sum(names.values()):,} | {len(names)} |\n"
        for kind, names in sorted(found.items())
    )
    return f"| What | How much | Of how many kinds |\n|---|---|---|\n{rows}"


def states(directory: Path) -> str:
    """How each part ended."""
    told = []
    for part in PARTS:
        path = directory / part / STATE
        if path.exists():
            state = json.loads(path.read_text())
            failed = state["failed"]
            end = "was interrupted" if failed is None else "failed" if failed else "passed"
            told.append(f"- `{part}`: {end} after {state['minutes']} minutes\n")
        else:
            told.append(f"- `{part}`: not run, or killed before its end\n")
    return "".join(told)


if __name__ == "__main__":
    sys.exit(main())
