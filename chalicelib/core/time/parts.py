"""Do the parts of a scheduled task; one that fails does not stop the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

_logger = logging.getLogger("limn.schedule")


class Parts:
    """Runs parts one after the other, logs those that fail, and raises the last failure at the end.

    parts = Parts()
    parts.run("the files of project 4", lambda: sweep(4))
    parts.finish()
    """

    def __init__(self) -> None:
        self._failure: Exception | None = None

    def run(self, name: str, part: Callable[[], object]) -> None:
        """Run a part; an error of it is logged with its name."""
        try:
            part()
        except Exception as error:
            _logger.exception("%s failed", name)
            self._failure = error

    def finish(self) -> None:
        """Raise the last error, if there was one: the alarms of a function count its errors."""
        if self._failure is not None:
            raise self._failure


def run_each(parts: Iterable[tuple[str, Callable[[], object]]]) -> None:
    """Run named parts; raises the last error after all were run."""
    found = Parts()
    for name, part in parts:
        found.run(name, part)
    found.finish()
