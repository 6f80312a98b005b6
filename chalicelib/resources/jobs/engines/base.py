"""The interface of engines.

An engine that does not answer, answers too slowly, or sends an unreadable answer raises `EngineUnavailable` in bounded
time; the caller continues with the last known status. A workflow that an engine can never run raises `WorkflowRefused`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from chalicelib.core.resource import Timestamp
from chalicelib.resources.jobs.runs import Run, RunNode


class EngineUnavailable(Exception):
    """The engine does not answer, or its answer cannot be read. A later attempt may succeed."""


class HandOverInProgress(EngineUnavailable):
    """Another process is handing this run over."""


class WorkflowRefused(Exception):
    """The engine will not run this; the message says why."""


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """The status of a run as its engine reports it."""

    phase: str
    message: str | None = None
    start_time: Timestamp | None = None
    stop_time: Timestamp | None = None
    nodes: list[RunNode] = field(default_factory=list)
    ends_claim: bool = False
    """Whether this comes from the process that had claimed the run."""
    leaves_doubt: bool = False
    """Whether a call of that process got no answer, so that the next process must check its effect."""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A run with the data for its engine, read on demand.

    Attributes:
        run: the run.
        document: reads its manifest.
        parameters: decrypts its parameters, including the job's token.
        claim: makes this process the only one that submits the run or its nodes to the engine for a while. Returns the
            current run, and whether an earlier claim ended without a result. Raises HandOverInProgress if another
            process holds the claim, or the run was deleted.
    """

    run: Run
    document: Callable[[], dict[str, Any]]
    parameters: Callable[[], list[tuple[str, str]]]
    claim: Callable[[], tuple[Run, bool]]


class Engine(Protocol):
    """An engine of workflows."""

    @property
    def address(self) -> str:
        """Where it is, for a launch to pin; empty for AWS Batch."""

    def submit(self, submission: Submission) -> RunStatus:
        """Start a run, with a claim. Starting it again is not an error.

        Raises:
            EngineUnavailable, WorkflowRefused.
        """

    def statuses(self, submissions: Sequence[Submission], deadline: float) -> Mapping[str, RunStatus | None]:
        """The status of runs by uid; None for an unknown run. Runs not reached before the deadline are left out.

        Args:
            submissions: runs that were submitted.
            deadline: of `time.monotonic`.

        Raises:
            EngineUnavailable.
        """

    def stop(self, run: Run) -> None:
        """Stop and delete a run. An unknown run is not an error. Raises EngineUnavailable."""

    def output(self, run: Run, node: RunNode, lines: int) -> list[str]:
        """The last lines that a step printed; empty if it has not started. Raises EngineUnavailable."""


LONGEST_LINE = 2_000
MOST_OUTPUT = 256_000
"""Maximum characters of output in one answer."""
MESSAGE_LINES, LONGEST_MESSAGE = 5, 1_500


def last_lines(lines: Sequence[str]) -> list[str]:
    """The last lines, each cut to `LONGEST_LINE`, with at most `MOST_OUTPUT` characters in total."""
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
    """The message of a failed run, with the last output of its first failed step if available."""
    failed = next((node for node in nodes if node.is_pod and node.status in ("Failed", "Error")), None)
    if failed is None:
        return message
    try:
        lines = engine.output(run, failed, MESSAGE_LINES)
    except (EngineUnavailable, WorkflowRefused):
        return message
    said = "\n".join(line[:LONGEST_MESSAGE] for line in lines)[-LONGEST_MESSAGE:]
    return f"{message}\n{said}".strip()
