"""What commands share: the profile, the project, waiting."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .. import configuration, failures
from ..client import Client
from ..configuration import Profile
from ..failures import Failure
from .output import Output

ProjectOption = Annotated[
    int | None, typer.Option("--project", "-p", min=1, help="Project; without it, that of the profile.")
]


class Session:
    """What the options before the command say."""

    def __init__(self, profile: str | None, output: Output) -> None:
        self._profile = profile
        self.output = output

    @property
    def profile(self) -> Profile:
        """The profile to use."""
        return configuration.current(self._profile)

    def client(self, connections: int = 10) -> Client:
        """The service, signed in."""
        return Client(configuration.signed_in(self.profile), connections=connections)

    def project(self, given: int | None) -> int:
        """The project of the option, or of the profile."""
        chosen = given or self.profile.project
        if chosen is None:
            raise Failure("Name a project with --project, or one for all commands with: limn profile set --project N")
        return chosen


def wait(
    output: Output, read: Callable[[], Any], is_over: Callable[[Any], bool], timeout: float = 0, every: float = 1.0
) -> Any:
    """Read a document with `progress` until it is over.

    Raises:
        Failure: it takes longer than `timeout` seconds, where that is not 0.
    """
    end = time.monotonic() + timeout if timeout else None
    with output.counter() as progress:
        bar = progress.add_task("waiting", total=None)
        while not is_over(found := read()):
            done = found.get("progress") or {}
            progress.update(bar, completed=done.get("done", 0), total=done.get("total") or None)
            if end is not None and time.monotonic() + every > end:
                raise Failure(f"It is not over after {timeout:g} s; it goes on.", failures.INCOMPLETE)
            time.sleep(every)
            every = min(every * 1.3, 10)
    return found
