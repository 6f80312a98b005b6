"""The interface of engines.

An engine may be away, slow, or talk nonsense: it then raises `Away`, in bounded time, and whoever asks goes on with
what is known. What it refuses for good is `Refused`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from chalicelib.core.resource import Timestamp
from chalicelib.resources.jobs.runs import Run, RunNode


class Away(Exception):
    """The engine does not answer, or not in a way that can be understood. Asking later may help."""


class Busy(Away):
    """Another process hands this run over at the moment."""


class Refused(Exception):
    """The engine will not run this, and says why."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a run stands."""

    phase: str
    message: str | None = None
    start_time: Timestamp | None = None
    stop_time: Timestamp | None = None
    nodes: list[RunNode] = field(default_factory=list)
    ends_claim: bool = False
    """Whether this comes from the process that had claimed the run."""
    leaves_doubt: bool = False
    """Whether that process was not answered at some point, so that the next one has to find out what was done."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """A run with what an engine needs of it, read when it is needed.

    Attributes:
        run: the run.
        document: reads its manifest.
        parameters: opens its parameters, the launcher's token among them.
        claim: makes this process the only one that hands the run or nodes of it to the engine for a while. The run as
            it is then, and whether another had claimed it and never said what it did. Raises Busy where another has it,
            or it was deleted.
    """

    run: Run
    document: Callable[[], dict[str, Any]]
    parameters: Callable[[], list[tuple[str, str]]]
    claim: Callable[[], tuple[Run, bool]]


class Engine(Protocol):
    """What runs workflows."""

    def submit(self, order: Order) -> Standing:
        """Start a run, with a claim; one that was started already is no error. Raises Away, Refused."""

    def standings(self, orders: Sequence[Order], deadline: float) -> Mapping[str, Standing | None]:
        """How runs stand, by uid; None for one it does not know. Those it had no time for are left out.

        Args:
            orders: runs that were submitted.
            deadline: of `time.monotonic`.

        Raises:
            Away.
        """

    def stop(self, run: Run) -> None:
        """End a run and forget it; one it does not know is no error. Raises Away."""

    def output(self, run: Run, node: RunNode, lines: int) -> list[str]:
        """The last lines that a step printed; none where it has not begun. Raises Away."""


LONGEST_LINE = 2_000
MOST_OUTPUT = 256_000
"""Characters of output in one answer."""
MESSAGE_LINES, LONGEST_MESSAGE = 5, 1_500


def bounded(lines: Sequence[str]) -> list[str]:
    """The last of some lines, each cut to `LONGEST_LINE`, that have `MOST_OUTPUT` characters together."""
    kept: list[str] = []
    left = MOST_OUTPUT
    for line in reversed(lines):
        short = line[:LONGEST_LINE]
        left -= len(short) + 1
        if left < 0:
            break
        kept.append(short)
    return kept[::-1]


def with_output(message: str, engine: Engine, run: Run, nodes: Sequence[RunNode]) -> str:
    """The message of a failed run, with the last lines that its first failed step printed, where they can be had."""
    failed = next((node for node in nodes if node.is_pod and node.status in ("Failed", "Error")), None)
    if failed is None:
        return message
    try:
        lines = engine.output(run, failed, MESSAGE_LINES)
    except (Away, Refused):
        return message
    said = "\n".join(line[:LONGEST_MESSAGE] for line in lines)[-LONGEST_MESSAGE:]
    return f"{message}\n{said}".strip()
