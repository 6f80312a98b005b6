"""A step as a container of Docker or Podman, with its image and limits, on the host's network to reach the service."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading

from infra.emulator.batch.logs import Log
from infra.emulator.batch.steps.step import MOST_PROCESSES, Ended, Step, drain, follow, grace_of

LABEL = "limn.stack"
_NO_CONTAINER, _NOT_EXECUTABLE, _NOT_FOUND, _KILLED = 125, 126, 127, 137
_COMMAND_SECONDS = 30.0
_PROBE_SECONDS = 5.0


class Containers:
    """Runs steps by the command `docker` or `podman`.

    Args:
        program: which of them.
        owner: tells the containers of this stack from those of another on the same machine.
    """

    def __init__(self, program: str, owner: str) -> None:
        self.name = program
        self._owner = owner

    def description(self) -> str:
        """The line about it that the start prints."""
        return f"containers of {self.name} on the network of this machine: they reach every port of it"

    def run(self, step: Step, log: Log, stop: threading.Event) -> Ended:
        """Run a step to its end, or until `stop` is set."""
        name = f"limn-{step.id}"
        process = subprocess.Popen(  # noqa: S603
            self.arguments(step, name),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **step.environment},
            start_new_session=True,
        )
        reason = None
        try:
            reason = follow(process, step, log, stop)
        finally:
            grace = grace_of(step, stop)
            if grace and process.poll() is None:
                self._command("stop", "--time", f"{grace:.0f}", name, seconds=grace + _COMMAND_SECONDS)
            if process.poll() is None:
                self._command("rm", "--force", name)
                process.kill()
            process.wait()
            drain(process, log)
        return Ended(exit_code=process.returncode, reason=reason or self._reason(process.returncode, step))

    def clean_up(self) -> None:
        """Remove the containers of steps whose service was killed."""
        found = self._command("ps", "--all", "--quiet", "--filter", f"label={LABEL}={self._owner}").split()
        if found:
            self._command("rm", "--force", *found)

    def arguments(self, step: Step, name: str) -> list[str]:
        """The command that runs a step. The values of its variables travel in the environment, not in the command."""
        mebibytes = f"{max(6, step.memory // 2**20)}m"
        return [
            *(self.name, "run", "--rm", "--init", "--name", name, "--label", f"{LABEL}={self._owner}"),
            *("--network", "host", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--user", f"{os.getuid()}:{os.getgid()}", "--pids-limit", str(MOST_PROCESSES)),
            *("--cpus", f"{step.processors:g}", "--memory", mebibytes, "--memory-swap", mebibytes),
            *(part for variable in step.environment for part in ("--env", variable)),
            *(
                part
                for folder, place in step.mounts.items()
                for part in ("--volume", f"{place}:{folder}{self._mode(folder, step)}")
            ),
            step.image,
            *step.command,
        ]

    @staticmethod
    def _mode(folder: str, step: Step) -> str:
        return ":ro" if folder in step.read_only else ""

    def _reason(self, code: int, step: Step) -> str | None:
        if code == _NO_CONTAINER:
            return f"{self.name} could not start the image {step.image}; its output says why."
        if code in (_NOT_EXECUTABLE, _NOT_FOUND):
            command = step.command[0] if step.command else "its entrypoint"
            return f"The command {command!r} cannot be run in the image {step.image} (exit code {code})."
        if code == _KILLED:
            return f"It was killed (exit code {code}): its memory limit is {step.memory // 2**20} MiB."
        return f"It exited with code {code}." if code else None

    def _command(self, *arguments: str, seconds: float = _COMMAND_SECONDS) -> str:
        try:
            done = subprocess.run(  # noqa: S603
                [self.name, *arguments], capture_output=True, text=True, timeout=seconds, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout


def answers(program: str) -> bool:
    """Whether a program is installed and its engine responds."""
    if shutil.which(program) is None:
        return False
    try:
        done = subprocess.run(  # noqa: S603
            [program, "info"], capture_output=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
