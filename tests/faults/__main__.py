"""`make reliability`: runs what proves that nothing is lost, and writes docs/reliability.md with what it did.

With a directory of figures as argument it runs nothing and writes the document from what is there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
MOST = ("seconds soaked", "requests a second held", "requests a second in a burst")
"""Kinds of which the largest counts, not the sum."""


def main() -> int:
    """Run and write; not 0 where a test failed."""
    if len(sys.argv) > 1:
        write(Path(sys.argv[1]))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "LIMN_FIGURES": directory}
        tests = [sys.executable, "-m", "pytest", "-n", "auto", "-m", "nightly", "tests/faults"]
        failed = subprocess.run(tests, env=environment, cwd=ROOT, check=False).returncode
        soak = [sys.executable, "-m", "tests.bench.soak"]
        failed += subprocess.run(soak, env=environment, cwd=ROOT, check=False).returncode
        write(Path(directory))
    return failed


def write(directory: Path) -> None:
    """Put the figures into the page, between its marks."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(directory)}{END}{after}")


def table(directory: Path) -> str:
    """The figures of a directory, a row for each kind."""
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for path in sorted(directory.glob("*.tsv")):
        for line in path.read_text().splitlines():
            kind, name, number = line.split("\t")
            old = found[kind].get(name, 0)
            found[kind][name] = max(old, int(number)) if kind in MOST else old + int(number)
    rows = "".join(
        f"| {kind} | {max(names.values()) if kind in MOST else sum(names.values()):,} | {len(names)} |\n"
        for kind, names in sorted(found.items())
    )
    return f"| What | How much | Of how many kinds |\n|---|---|---|\n{rows}"


if __name__ == "__main__":
    sys.exit(main())
