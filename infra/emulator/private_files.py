"""Files that only their owner reads."""

from __future__ import annotations

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read; readers find it whole, the earlier one until then."""
    begun = path.with_suffix(".new")
    begun.unlink(missing_ok=True)
    with os.fdopen(os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    begun.replace(path)
