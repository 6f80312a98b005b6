"""Expand a manifest and its parameters to a graph of nodes, as far as values are known.

    graph = expand(workflow, {"media_ids": "1,2"}, results)

The outputs of a step are known when it has finished, so a graph is expanded again with every new result: node ids stay
the same, and nodes that depended on the result become ready or are added. A node is *ready* when all its inputs are
known; it may then be submitted to an engine that waits for `needs` by itself. All functions are pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput
from chalicelib.workflows import conditions
from chalicelib.workflows.checks import attempts, dependencies
from chalicelib.workflows.manifests import (
    Artifact,
    Container,
    Scalar,
    Step,
    Template,
    Workflow,
    seconds_of,
    strings,
)
from chalicelib.workflows.nodes import (
    ERROR,
    FAILED,
    FINISHED,
    OMITTED,
    SKIPPED,
    SUCCEEDED,
    UNSUCCESSFUL,
    Graph,
    Input,
    Node,
    Result,
    folders_of,
)
from chalicelib.workflows.values import (
    as_text,
    fill_container,
    list_items,
    outputs_of,
    sequence_items,
    sequence_members,
)
from chalicelib.workflows.variables import MOST_TEXT, Names, TextBudget, fill, variable_in

END = ":onExit"
"""The id of the node of `onExit`: no child of the entrypoint begins with it."""
MOST_LEVELS = 50
"""Templates within templates."""
_PRINTED = re.compile(r"(?:steps|tasks)\.([\w-]+)\.outputs\.result")


@dataclass(kw_only=True)
class _Made:
    """The expansion of a step: its last pods, and its outputs as far as known."""

    exits: tuple[str, ...]
    phases: list[str | None]
    is_open: bool = False
    """Whether it may get more nodes later."""
    outputs: Names = field(default_factory=dict)
    text: str | None = None
    files: dict[str, Input] = field(default_factory=dict)

    @property
    def phase(self) -> str | None:
        """Its phase; None while it runs."""
        if self.is_open or None in self.phases:
            return None
        return next((phase for phase in (ERROR, FAILED, OMITTED) if phase in self.phases), SUCCEEDED)


def arguments_of(workflow: Workflow, given: Iterable[tuple[str, Scalar]]) -> dict[str, str]:
    """The parameters of a workflow: its own, overridden by the given ones."""
    own = {parameter.name: parameter.value for parameter in workflow.spec.arguments.parameters}
    values = {**own, **dict(given)}
    return {name: as_text(value) for name, value in values.items() if value is not None}


def expand(
    workflow: Workflow,
    arguments: Mapping[str, str],
    results: Mapping[str, Result],
    *,
    name: str,
    uid: str,
    is_late: bool = False,
) -> Graph:
    """The graph of a run.

    Args:
        workflow: a manifest that was checked for an engine that uses this expansion.
        arguments: its parameters.
        results: of the submitted nodes, by id.
        name: the name of the run.
        uid: its id.
        is_late: whether its time is over: what has not ended has failed.

    Raises:
        BadInput: a value is missing or has the wrong form, or there are too many nodes; the run cannot continue.
    """
    scope: Names = {f"workflow.parameters.{key}": value for key, value in arguments.items()}
    parameters = [{"name": key, "value": value} for key, value in arguments.items()]
    scope |= {"workflow.parameters": json.dumps(parameters), "workflow.name": name, "workflow.uid": uid}
    scope |= {"workflow.status": "Running", "workflow.failures": "[]"}
    entry = workflow.template(workflow.spec.entrypoint)
    if entry is None:
        raise BadInput("manifest: entrypoint: there is no template of this name.")
    given: Names = dict(arguments)
    expansion = _Expansion(workflow, scope, results, is_late=is_late)
    expansion.template(entry, given, {}, entry.name, entry.name, ())
    graph = expansion.graph
    end = workflow.template(workflow.spec.on_exit)
    if end is not None and graph.main_phase is not None:
        failures = [
            {"displayName": node.task, "templateName": node.template, "phase": node.phase}
            for node in graph.nodes.values()
            if node.is_pod and node.phase in (FAILED, ERROR)
        ]
        expansion.end_with({"workflow.status": graph.main_phase, "workflow.failures": json.dumps(failures)})
        expansion.template(end, {}, {}, END, "onExit", ())
        graph.end = graph.nodes[END]
    graph.edges()
    return graph


class _Expansion:
    def __init__(self, workflow: Workflow, scope: Names, results: Mapping[str, Result], *, is_late: bool) -> None:
        self._is_late = is_late
        self._workflow = workflow
        self._scope = scope
        self._results = results
        texts = strings(msgspec.to_builtins(workflow.spec.templates))
        self._printers = {found for text in texts for found in _PRINTED.findall(text)}
        self._room = TextBudget(MOST_TEXT)
        self._levels = 0
        self.graph = Graph()
        if workflow.spec.parallelism is not None:
            self.graph.limits[""] = workflow.spec.parallelism

    def end_with(self, scope: Names) -> None:
        """Expand what runs when all else has ended, for which there is time again."""
        self._is_late = False
        self._scope = {**self._scope, **scope}

    def template(
        self, template: Template, given: Names, files: dict[str, Input], number: str, task: str, needs: tuple[str, ...]
    ) -> _Made:
        """Expand a template with its arguments."""
        if self._levels == MOST_LEVELS:
            raise BadInput(f"{task}: templates may be {MOST_LEVELS} levels deep.")
        self._levels += 1
        made = self._expand(template, given, files, number, task, needs)
        self._levels -= 1
        return made

    def _expand(
        self, template: Template, given: Names, files: dict[str, Input], number: str, task: str, needs: tuple[str, ...]
    ) -> _Made:
        scope = {**self._scope}
        for parameter in template.inputs.parameters:
            value = given[parameter.name] if parameter.name in given else _first(parameter.value, parameter.default)
            if value is None and parameter.name not in given:
                raise BadInput(f"{task}: parameter {parameter.name!r} has no value.")
            scope[f"inputs.parameters.{parameter.name}"] = value
        inputs = {artifact.name: self._input(artifact, files, task) for artifact in template.inputs.artifacts}
        node = self.graph.add(
            Node(id=number, task=task, template=template.name, is_pod=template.pod is not None, needs=needs)
        )
        if template.parallelism is not None:
            self.graph.limits[number] = template.parallelism
        if template.pod is not None:
            return self._pod(node, template, template.pod, scope, inputs)
        known = {f"inputs.artifacts.{name}": found for name, found in inputs.items() if found}
        steps, made = (
            self._dag(template, scope, known, node) if template.dag else self._steps(template, scope, known, node)
        )
        node.phase = made.phase
        for output in template.outputs.parameters:
            made.outputs[output.name] = fill(str((output.value_from or {}).get("parameter")), steps, self._room)
        for artifact in template.outputs.artifacts:
            if found := known.get(variable_in(artifact.source)):
                made.files[artifact.name] = found
        return made

    def _input(self, artifact: Artifact, files: dict[str, Input], task: str) -> Input | None:
        found = files.get(artifact.name) or (Input(path="", text=_raw(artifact)) if artifact.raw else None)
        if found is None:
            if artifact.optional:
                return None
            raise BadInput(f"{task}: artifact {artifact.name!r} is not given.")
        return Input(
            path=artifact.path or "", node=found.node, name=found.name, text=found.text, optional=artifact.optional
        )

    def _pod(
        self, node: Node, template: Template, pod: Container, scope: Names, inputs: dict[str, Input | None]
    ) -> _Made:
        result = self._results.get(node.id)
        if any(self.graph.nodes[need].phase in UNSUCCESSFUL for need in node.needs):
            node.phase = OMITTED
        elif result is not None and result.phase in FINISHED:
            node.phase = result.phase
        elif self._is_late:
            node.phase = FAILED
            self.graph.is_late = True
        node.container = fill_container(pod, scope, self._room)
        node.inputs = tuple(found for found in inputs.values() if found)
        node.outputs = tuple(outputs_of(template))
        node.attempts = attempts(template)
        seconds = fill(as_text(template.active_deadline_seconds or ""), scope, self._room)
        limits = (natural(seconds or ""), seconds_of(template.timeout, f"template {template.name!r}: timeout"))
        node.seconds = min((limit for limit in limits if limit is not None), default=None)
        node.grace = template.termination_grace_period_seconds
        node.folders = tuple(folders_of(self._workflow, pod))
        node.keeps_text = node.task.partition("(")[0] in self._printers
        done = result if node.phase == SUCCEEDED else None
        return _Made(
            exits=(node.id,),
            phases=[node.phase],
            outputs={output.name: done.outputs.get(output.name) if done else None for output in node.outputs},
            text=done.text if done else None,
            files={
                output.name: Input(path="", node=node.id, name=output.name)
                for output in node.outputs
                if not output.is_parameter
            },
        )

    def _steps(self, template: Template, scope: Names, files: dict[str, Input], node: Node) -> tuple[Names, _Made]:
        """Groups in sequence; the steps of a group in parallel."""
        whole = _Made(exits=node.needs, phases=[])
        for index, group in enumerate(template.steps or []):
            makings = []
            for step in group:
                made = self._step(step, scope, files, f"{node.id}.{index}.{step.name}", whole.exits)
                makings.append((step, made))
            for step, made in makings:
                _add_outputs(scope, files, "steps", step.name, made)
            whole.phases += [made.phase for _, made in makings]
            exits = tuple(dict.fromkeys(number for _, made in makings for number in made.exits))
            whole.exits = exits or whole.exits
            if any(made.is_open for _, made in makings):
                whole.is_open = True
                break
        return scope, whole

    def _dag(self, template: Template, scope: Names, files: dict[str, Input], node: Node) -> tuple[Names, _Made]:
        """Tasks, each after its dependencies."""
        made: dict[str, _Made] = {}
        waiting = list(template.dag.tasks if template.dag else [])
        while waiting:
            for task in [task for task in waiting if made.keys() >= set(dependencies(task))]:
                waiting.remove(task)
                before = [made[name] for name in dependencies(task)]
                needs = tuple(dict.fromkeys(number for item in before for number in item.exits)) or node.needs
                number = f"{node.id}.{task.name}"
                if any(item.is_open for item in before):
                    self.graph.add(
                        Node(id=number, task=task.name, template=task.template or "", is_pod=False, needs=needs)
                    )
                    made[task.name] = _Made(exits=needs, phases=[None], is_open=True)
                else:
                    made[task.name] = self._step(task, scope, files, number, needs)
                _add_outputs(scope, files, "tasks", task.name, made[task.name])
        tasks = template.dag.tasks if template.dag else []
        inner = {name for task in tasks for name in dependencies(task)}
        ends = [made[task.name] for task in tasks if task.name not in inner]
        exits = tuple(dict.fromkeys(number for item in ends for number in item.exits))
        phases = [item.phase for item in made.values()]
        return scope, _Made(exits=exits, phases=phases, is_open=any(item.is_open for item in made.values()))

    def _step(self, step: Step, scope: Names, files: dict[str, Input], number: str, needs: tuple[str, ...]) -> _Made:
        """One step, or one for each of its items."""
        template = self._workflow.template(step.template)
        if template is None:
            raise BadInput(f"{step.name}: there is no template {step.template!r}.")
        if any(self.graph.nodes[need].phase in UNSUCCESSFUL for need in needs):
            return self._placeholder(step, number, needs)
        items: list[Any] | None = step.with_items
        if step.with_param is not None:
            text = fill(step.with_param, scope, self._room)
            if text is None:
                return self._placeholder(step, number, needs)
            items = list_items(step, text)
        if step.with_sequence is not None:
            sequence = {
                name: fill(as_text(_or(value, "")), scope, self._room) for name, value in sequence_members(step)
            }
            if None in sequence.values():
                return self._placeholder(step, number, needs)
            items = sequence_items(step, sequence)
        if items is None:
            return self._one(step, template, scope, files, number, step.name, needs)
        every = []
        for index, item in enumerate(items):
            inner = {**scope, "item": as_text(item)}
            if isinstance(item, dict):
                inner |= {f"item.{name}": as_text(value) for name, value in item.items()}
            task = f"{step.name}({index}:{as_text(item)[:60]})"
            every.append(self._one(step, template, inner, files, f"{number}.{index}", task, needs))
        return _joined(every, needs)

    def _one(
        self,
        step: Step,
        template: Template,
        scope: Names,
        files: dict[str, Input],
        number: str,
        task: str,
        needs: tuple[str, ...],
    ) -> _Made:
        if step.when is not None:
            condition = fill(step.when, scope, self._room)
            if condition is None:
                return self._placeholder(step, number, needs, task)
            if not conditions.holds(condition):
                self.graph.add(
                    Node(id=number, task=task, template=template.name, is_pod=False, phase=SKIPPED, needs=needs)
                )
                return _Made(exits=needs, phases=[SKIPPED])
        given = {item.name: fill(as_text(_or(item.value, "")), scope, self._room) for item in step.arguments.parameters}
        sent = {}
        for artifact in step.arguments.artifacts:
            if artifact.raw:
                text = fill(_raw(artifact), scope, self._room)
                if text is None:
                    return self._placeholder(step, number, needs, task)
                sent[artifact.name] = Input(path="", text=text)
            elif found := files.get(variable_in(artifact.source)):
                sent[artifact.name] = found
        return self.template(template, given, sent, number, task, needs)

    def _placeholder(self, step: Step, number: str, needs: tuple[str, ...], task: str = "") -> _Made:
        """A step that is unknown until its dependencies have finished; omitted if they failed."""
        failed = any(self.graph.nodes[need].phase in UNSUCCESSFUL for need in needs)
        phase = OMITTED if failed else None
        self.graph.add(
            Node(
                id=number, task=task or step.name, template=step.template or "", is_pod=False, phase=phase, needs=needs
            )
        )
        return _Made(exits=needs, phases=[phase], is_open=not failed)


def _add_outputs(scope: Names, files: dict[str, Input], word: str, name: str, made: _Made) -> None:
    """Make a step's outputs available to later steps."""
    scope[f"{word}.{name}.status"] = made.phase
    scope[f"{word}.{name}.outputs.result"] = made.text if made.phase else None
    for output, value in made.outputs.items():
        scope[f"{word}.{name}.outputs.parameters.{output}"] = value
    for output, found in made.files.items():
        files[f"{word}.{name}.outputs.artifacts.{output}"] = found


def _joined(every: list[_Made], needs: tuple[str, ...]) -> _Made:
    """A step over items as one step: its outputs are lists."""
    names = dict.fromkeys(name for made in every for name in made.outputs)
    exits = tuple(dict.fromkeys(number for made in every for number in made.exits)) or needs
    return _Made(
        exits=exits,
        phases=[made.phase for made in every],
        is_open=any(made.is_open for made in every),
        outputs={name: _list([made.outputs.get(name) for made in every]) for name in names},
        text=_list([made.text for made in every]),
    )


def _list(values: list[str | None]) -> str | None:
    return None if None in values else json.dumps(values)


def _raw(artifact: Artifact) -> str:
    return as_text((artifact.raw or {}).get("data", ""))


def _first(*values: Scalar | None) -> str | None:
    return next((as_text(value) for value in values if value is not None), None)


def _or(value: Scalar | None, other: str) -> Scalar:
    return other if value is None else value
