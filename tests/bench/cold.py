"""What a cold start of the API costs: import to first answer, and each import of it, on this machine's Python.

`python -m tests.bench.cold` prints the least processor time of importing each function, with bytecode, as in the zips.
`tests/infra/test_packaged.py` measures the same of the zip, under the Python of Lambda.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile

import tests.bench.offline  # noqa: F401 before anything reads the settings
from infra.package import ROOT
from tests.bench import calibration

WORTH_A_LINE = 8_000
"""Microseconds."""
TIMES = 4
"""Imports of each, the first of which writes the bytecode and does not count."""


def imports() -> list[tuple[str, float]]:
    """What `import app` imports from outside, and its milliseconds with all that only it needs, the dearest first."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import app"], capture_output=True, text=True, check=True
    )
    found: dict[str, int] = {}
    for line in done.stderr.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        if own.strip().isdigit():
            name = rest.partition("|")[2].strip().partition(".")[0]
            found[name] = found.get(name, 0) + int(own)
    dear = [(name, spent / 1000) for name, spent in found.items() if spent >= WORTH_A_LINE]
    return sorted(dear, key=lambda each: -each[1])


def main() -> None:
    """Print a line for each function."""
    print(calibration.line())
    functions = sorted(path.stem for path in (ROOT / "functions").glob("[a-z]*.py") if path.stem != "worker")
    with tempfile.TemporaryDirectory() as folder:
        bytecode = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        for name in ("app", *(f"functions.{each}" for each in functions)):
            seconds = min([import_seconds(name, bytecode) for _ in range(TIMES)][1:])
            print(f"{name:24} {seconds:.2f} s", flush=True)


def import_seconds(name: str, environment: dict[str, str]) -> float:
    """The processor time of a Python that imports a module and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import {name}"], cwd=ROOT, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
