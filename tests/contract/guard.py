"""A guard of docs/security.md, as `tests.contract.guards` takes it away."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """One guard.

    Attributes:
        what: what it refuses.
        path: the module.
        text: the text of the guard.
        without: what stands there in its place.
        tests: the files of the tests, and the test of the page that fails without the guard.
    """

    what: str
    path: str
    text: str
    without: str
    file: str
    test: str
