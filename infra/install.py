"""Install the locked requirements into the environment of this Python, and say how far it is.

    .venv/bin/python infra/install.py requirements-dev.txt

It needs nothing but the standard library. What pip says goes to `install.log` in the environment; a failure shows the
end of it.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from pathlib import Path

SHOWN = 15
"""Lines of pip that a failure shows."""
STEPS = ("Collecting ", "Requirement already satisfied")


def main() -> int:
    """Install, and return pip's status."""
    requirements = Path(sys.argv[1])
    total = sum("==" in line for line in requirements.read_text().splitlines() if not line.lstrip().startswith("#"))
    path = Path(sys.prefix) / "install.log"
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-color", "--no-input"]
    last: deque[str] = deque(maxlen=SHOWN)
    done = 0
    with path.open("w") as log:
        pip = subprocess.Popen(  # noqa: S603 -- our own arguments
            [*command, "--progress-bar", "off", "-r", str(requirements)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        for line in pip.stdout or ():
            log.write(line)
            last.append(line)
            if line.startswith(STEPS):
                done += 1
                _show(f"{min(done, total)} of {total} packages")
            elif line.startswith("Installing collected"):
                _show(f"unpacking {total} packages")
    print()
    if pip.wait():
        print(f"The requirements could not be installed; all that pip said is in {path}. Its end:")
        print("".join(last), end="")
    return pip.returncode


def _show(text: str) -> None:
    # one line that is written over on a terminal, few lines elsewhere
    if sys.stdout.isatty():
        print(f"\r  {text:<30}", end="", flush=True)
    elif text.startswith("unpacking") or text.partition(" ")[0].endswith("0"):
        print(f"  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
