"""What a cold start of the API costs: import to first answer, and each import of it, on this machine's Python.

`tests/infra/test_packaged.py` measures the same of the zip, under the Python of Lambda.
"""

from __future__ import annotations

import subprocess
import sys

WORTH_A_LINE = 8_000
"""Microseconds."""


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
