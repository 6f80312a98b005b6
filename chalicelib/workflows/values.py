"""Values of a manifest with its variables filled in: containers, outputs, and the items over which a step runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from chalicelib.errors import BadInput
from chalicelib.workflows.manifests import Container, EnvVar, Scalar, Step, Template
from chalicelib.workflows.nodes import MOST_NODES, Output
from chalicelib.workflows.variables import Names, TextBudget, fill


def as_text(value: Any) -> str:
    """A value in text form: text itself, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def fill_container(pod: Container, scope: Names, room: TextBudget) -> Container | None:
    """A container with its variables filled in; None while one is unknown."""
    missing = False

    def put(text: str) -> str:
        nonlocal missing
        found = fill(text, scope, room)
        missing = missing or found is None
        return found or ""

    change: Callable[[list[str]], list[str]] = lambda texts: [put(text) for text in texts]  # noqa: E731
    container = Container(
        image=put(pod.image),
        command=change(pod.command),
        args=change(pod.args),
        env=[EnvVar(name=item.name, value=put(item.value or "")) for item in pod.env],
        resources=pod.resources,
        source=put(pod.source) if pod.source is not None else None,
        working_dir=put(pod.working_dir) if pod.working_dir is not None else None,
    )
    return None if missing else container


def outputs_of(template: Template) -> Iterable[Output]:
    """The files that a template makes."""
    for parameter in template.outputs.parameters:
        source = parameter.value_from or {}
        default = source.get("default")
        yield Output(
            name=parameter.name,
            path=str(source.get("path")),
            is_parameter=True,
            default=None if default is None else as_text(default),
        )
    for artifact in template.outputs.artifacts:
        yield Output(name=artifact.name, path=artifact.path or "", is_parameter=False, optional=artifact.optional)


def list_items(step: Step, text: str) -> list[Any]:
    """The items of `withParam`. Raises BadInput for what is no JSON list."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        items = None
    if not isinstance(items, list):
        raise BadInput(f"{step.name}: withParam must be a JSON list, not {text[:100]!r}.")
    return items


def sequence_members(step: Step) -> list[tuple[str, Scalar | None]]:
    """The members of `withSequence`, with their variables."""
    return list(msgspec.structs.asdict(step.with_sequence).items()) if step.with_sequence else []


def sequence_items(step: Step, given: Mapping[str, str | None]) -> list[Any]:
    """The items of `withSequence` as texts: `count` numbers from `start` on, or those up or down to `end`."""
    try:
        start = int(given["start"] or 0)
        if given["count"]:
            numbers = range(start, start + max(0, int(given["count"])))
        else:
            end = int(given["end"] or 0)
            numbers = range(start, end + 1) if end >= start else range(start, end - 1, -1)
    except ValueError as error:
        raise BadInput(f"{step.name}: withSequence: {error}.") from None
    if numbers[MOST_NODES:]:
        raise BadInput(f"{step.name}: withSequence gives more than {MOST_NODES} steps, which a workflow may have.")
    return [(given["format"] or "%d") % number for number in numbers]
