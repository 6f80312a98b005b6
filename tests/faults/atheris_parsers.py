"""Our own parsers under atheris, which looks for inputs that reach new lines: `python -m tests.faults.atheris_parsers`.

Each parser runs in a process of its own for SECONDS, two at a time, from a seed that replays, and may raise nothing
but our own errors. `make reliability` puts atheris into build/fuzz; nothing else needs it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.faults import figures

SECONDS = int(os.environ.get("SECONDS_EACH", "60"))
LONGEST = 4096
"""Bytes of an input."""
_RUNS = re.compile(r"Done (\d+) runs")
_MODULES = ("chalicelib.query", "chalicelib.core", "chalicelib.video", "chalicelib.storage.objects.gcs", "luqum")


def main() -> int:
    """Fuzz every parser, or the one that is named; not 0 where one failed."""
    if len(sys.argv) > 1:
        fuzz(sys.argv[1])
    from tests.faults.parsers import PARSERS

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(_watched, PARSERS))


def _watched(name: str) -> int:
    """One parser in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.faults.atheris_parsers", name, folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = _RUNS.search(done.stderr)
    runs = int(found[1]) if found else 0
    sys.stdout.write(f"{name}: {runs:,} inputs, {'failed' if done.returncode else 'fine'}\n")
    if done.returncode:
        sys.stdout.write((done.stdout + done.stderr)[-6000:])
    figures.note("inputs of parsers", name, runs)
    return done.returncode


def fuzz(name: str) -> None:
    """Run one parser; does not return."""
    import atheris

    with atheris.instrument_imports(include=list(_MODULES)):
        from tests.faults.parsers import PARSERS, only_our_errors
    parse = PARSERS[name].of_bytes

    def once(data: bytes) -> None:
        only_our_errors(lambda: parse(data))

    folder = Path(sys.argv[2])
    for number, example in enumerate(PARSERS[name].examples):
        text = example if isinstance(example, bytes) else example.encode() if isinstance(example, str) else None
        (folder / f"seed{number}").write_bytes(text if text is not None else json.dumps(example).encode())
    options = [f"-max_total_time={SECONDS}", f"-max_len={LONGEST}", "-seed=1", "-timeout=10", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/", str(folder)], once)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
