"""`make exactness`: every kind of clip by every path that hands frames out, written into docs/frame-exactness.md.

With a directory of figures as argument it runs nothing and writes the document from what is there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "frame-exactness.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
OF = "frames of "
PATHS = (
    "original",
    "GetFrame h264",
    "GetFrame hevc",
    "GetFrame av1",
    "segment files h264",
    "segment files hevc",
    "segment files av1",
    "clips copied",
    "clips encoded",
    "localization graphics",
    "track graphics, tiled",
    "track graphics, animated",
    "console, WebCodecs h264",
    "console, WebCodecs av1",
    "console, video element h264",
    "console, video element av1",
)


def main() -> int:
    """Run and write; not 0 where a test failed."""
    if len(sys.argv) > 1:
        write(Path(sys.argv[1]))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "LIMN_FIGURES": directory}
        # one worker makes a clip and looks at it in every way
        tests = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadgroup", "tests/exactness"]
        failed = subprocess.run(tests, env=environment, cwd=ROOT, check=False).returncode
        write(Path(directory))
    return failed


def write(directory: Path) -> None:
    """Put the figures into the page, between its marks."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(directory)}{END}{after}")


def table(directory: Path) -> str:
    """A row for each clip: of the frames asked for on each path, how many were the right ones."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(directory.glob("*.tsv")):
        for line in path.read_text().splitlines():
            kind, name, number = line.split("\t")
            if kind.startswith(OF):
                found[kind.removeprefix(OF)][name] += int(number)
    rows = [
        [clip, *(f"{counts[f'{path}: right']}/{counts[f'{path}: asked']}" for path in PATHS)]
        for clip, counts in sorted(found.items())
    ]
    right, asked = (
        sum(number for counts in found.values() for name, number in counts.items() if name.endswith(what))
        for what in (": right", ": asked")
    )
    head = [["Clip", *PATHS], ["---", *("---:" for _ in PATHS)]]
    lines = "".join(f"| {' | '.join(row)} |\n" for row in head + rows)
    return f"{len(rows)} clips, {len(PATHS)} paths, {right:,} of {asked:,} frames exact.\n\n{lines}"


if __name__ == "__main__":
    sys.exit(main())
