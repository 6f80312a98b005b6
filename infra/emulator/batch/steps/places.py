"""The folders of a step that runs as a process: where they lie here, and the paths that its texts have for them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from infra.emulator.batch.steps.step import Step

_SCRIPT = "/limn/source"


def with_start(step: Step) -> Step:
    """The step with a folder of its own for the one that it starts in, where nothing else is there."""
    start = step.start.rstrip("/")
    if not start or Path(start).is_dir() or any(f"{start}/".startswith(f"{folder}/") for folder in step.mounts):
        return step
    own = step.folder / "start"
    own.mkdir(exist_ok=True)
    return replace(step, mounts={**step.mounts, start: own})


def shared_mounts(step: Step, *, read_only: bool) -> list[str]:
    """Its folders that other steps have, too, and that it may write to, or only read."""
    return [
        str(place)
        for folder, place in step.mounts.items()
        if (folder in step.read_only) is read_only and not place.is_relative_to(step.folder)
    ]


def mapped(text: str, step: Step) -> str:
    """A text with the folders of the step's files as they are here."""
    if not step.mounts:
        return text
    folders = "|".join(re.escape(folder) for folder in sorted(step.mounts, key=len, reverse=True))
    return re.sub(rf"(?<![\w./-])({folders})(?![\w.-])", lambda found: str(step.mounts[found[1]]), text)


def map_script(step: Step) -> None:
    """Write the local folders of its files into the script of a step."""
    folder = step.mounts.get(str(Path(_SCRIPT).parent))
    script = folder / Path(_SCRIPT).name if folder else None
    if script is not None and script.is_file():
        script.write_text(mapped(script.read_text(), step))
