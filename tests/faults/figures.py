"""What tests have done, in figures: kept in a file for `docs/reliability.md` and `docs/frame-exactness.md`.

Set LIMN_FIGURES to a directory and each test process adds lines of `kind <tab> name <tab> number` to a file of its own
in it. `python -m tests.faults` and `python -m tests.exactness` run them so and write the documents.
"""

from __future__ import annotations

import os
from pathlib import Path


def note(kind, name, number):
    """Remember a figure where somebody collects them."""
    directory = os.environ.get("LIMN_FIGURES")
    if directory:
        path = Path(directory)
        path.mkdir(parents=True, exist_ok=True)
        with (path / f"{os.getpid()}.tsv").open("a") as file:
            file.write(f"{kind}\t{name}\t{number}\n")
