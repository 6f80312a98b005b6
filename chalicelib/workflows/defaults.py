"""Write out what a manifest says once for all templates, so that each template stands for itself.

`templateDefaults` and the `retryStrategy` of the workflow go into the templates, a template within a step (`inline`)
becomes one of the list, and tasks that a DAG's `target` does not need are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.errors import BadInput

KINDS = frozenset(
    {"container", "script", "steps", "dag", "suspend", "resource", "data", "http", "plugin", "containerSet"}
)
"""The kinds of an Argo template; each template has exactly one."""
_PODS = ("container", "script")


def written_out(document: dict[str, Any]) -> dict[str, Any]:
    """A manifest without `templateDefaults`, `retryStrategy` of the workflow, `inline` and `target`.

    Raises:
        BadInput: a `target` names no task, or a step has both `inline` and `template`.
    """
    spec = document["spec"]
    defaults, retry = spec.get("templateDefaults") or {}, spec.get("retryStrategy")
    templates: list[Any] = []
    for template in spec.get("templates") or []:
        templates += _with_inner(template) if isinstance(template, dict) else [template]
    made = [_with_defaults(each, defaults, retry) if isinstance(each, dict) else each for each in templates]
    left = {name: value for name, value in spec.items() if name not in ("templateDefaults", "retryStrategy")}
    return {**document, "spec": {**left, **({"templates": made} if templates else {})}}


def _with_defaults(template: dict[str, Any], defaults: Mapping[str, Any], retry: Any) -> dict[str, Any]:
    kinds = {name for name in KINDS if template.get(name) is not None}
    own = {name: value for name, value in defaults.items() if name not in KINDS or name in kinds}
    if not own and not retry:
        return template
    made: dict[str, Any] = _merged(own, template)
    if retry and kinds & set(_PODS):
        made.setdefault("retryStrategy", retry)
    return made


def _merged(below: Any, above: Any) -> Any:
    """Two values, of which the second wins; mappings are merged."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{name: _merged(below.get(name), value) for name, value in above.items()}}
    return above


def _with_inner(template: dict[str, Any]) -> list[dict[str, Any]]:
    """A template, and those within its steps as templates of their own."""
    inner: list[dict[str, Any]] = []

    def named(step: Any) -> Any:
        if not isinstance(step, dict) or not isinstance(step.get("inline"), dict):
            return step
        if step.get("template"):
            raise BadInput(f"manifest: step {str(step.get('name'))[:100]!r} has both `inline` and `template`.")
        name = f"{template.get('name')}.{step.get('name')}"
        inner.extend(_with_inner({**step["inline"], "name": name}))
        return {**{key: value for key, value in step.items() if key != "inline"}, "template": name}

    steps, dag = template.get("steps"), template.get("dag")
    if isinstance(steps, list):
        steps = [[named(step) for step in group] if isinstance(group, list) else group for group in steps]
    if isinstance(dag, dict) and isinstance(dag.get("tasks"), list):
        dag = _targeted({**dag, "tasks": [named(task) for task in dag["tasks"]]}, str(template.get("name")))
    if not inner and dag is template.get("dag"):
        return [template]
    changed = {name: value for name, value in (("steps", steps), ("dag", dag)) if value is not None}
    return [{**template, **changed}, *inner]


def _targeted(dag: dict[str, Any], template: str) -> dict[str, Any]:
    """A DAG with the tasks that its target needs; all of them where it names none."""
    targets = str(dag.get("target") or "").split()
    tasks = {str(task.get("name")): task for task in dag["tasks"] if isinstance(task, dict)}
    if not targets:
        return dag
    needed: set[str] = set()
    while targets:
        name = targets.pop()
        if name not in tasks:
            raise BadInput(f"manifest: template {template[:100]!r}: target: there is no task {name[:100]!r}.")
        if name not in needed:
            needed.add(name)
            targets += _before(tasks[name])
    left = {name: value for name, value in dag.items() if name != "target"}
    return {**left, "tasks": [task for name, task in tasks.items() if name in needed]}


def _before(task: dict[str, Any]) -> list[str]:
    given = task.get("dependencies") or str(task.get("depends") or "").split("&&")
    return [str(name).strip() for name in given if str(name).strip()]
