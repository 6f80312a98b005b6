"""Check manifests for registration: the rules of Argo, and the subset that each engine supports.

A job cluster runs Argo and supports all of Argo: only manifests that can never run are refused. AWS Batch supports the
members listed here; unsupported members are refused by name, and members without effect there are ignored (`ASIDE`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput
from chalicelib.workflows.manifests import Step, Template, Workflow, line_of, parse, quantity, strings, workflow


class Engine(StrEnum):
    """An engine that runs workflows."""

    CLUSTER = "a job cluster"
    BATCH = "AWS Batch"
    LOCAL = "this machine"
    """The local stack: all that AWS Batch can do, and folders that the steps of a run share."""


API_GROUP = "argoproj.io/"
KINDS = frozenset(
    {"container", "script", "steps", "dag", "suspend", "resource", "data", "http", "plugin", "containerSet"}
)
"""The kinds of an Argo template; each template has exactly one."""

TAKEN: Mapping[str, frozenset[str]] = {
    "workflow": frozenset({"apiVersion", "kind", "metadata", "spec"}),
    "spec": frozenset({"entrypoint", "templates", "arguments", "volumes", "volumeClaimTemplates"}),
    "arguments": frozenset({"parameters", "artifacts"}),
    "inputs": frozenset({"parameters", "artifacts"}),
    "outputs": frozenset({"parameters", "artifacts"}),
    "template": frozenset(
        {"name", "inputs", "outputs", "container", "script", "steps", "dag", "retryStrategy", "activeDeadlineSeconds"}
        | {"volumes", "terminationGracePeriodSeconds"}
    ),
    "container": frozenset({"image", "command", "args", "env", "resources", "source", "volumeMounts"}),
    "volume": frozenset({"name", "emptyDir"}),
    "volumeMount": frozenset({"name", "mountPath"}),
    "env": frozenset({"name", "value"}),
    "resources": frozenset({"limits", "requests"}),
    "step": frozenset({"name", "template", "arguments", "when", "withItems", "withParam"}),
    "dag": frozenset({"tasks"}),
    "task": frozenset({"name", "template", "arguments", "when", "withItems", "withParam", "dependencies", "depends"}),
    "retryStrategy": frozenset({"limit", "retryPolicy"}),
    "parameter": frozenset({"name", "value", "default", "valueFrom", "enum"}),
    "valueFrom": frozenset({"path", "default", "parameter"}),
    "artifact": frozenset({"name", "path", "from", "raw", "optional", "archive"}),
}
"""Members that AWS Batch supports, by their parent object."""
ASIDE: Mapping[str, frozenset[str]] = {
    "spec": frozenset(
        {"ttlStrategy", "podGC", "serviceAccountName", "nodeSelector", "tolerations", "affinity", "priority"}
        | {"archiveLogs", "workflowMetadata", "podMetadata", "imagePullSecrets", "artifactGC", "podPriorityClassName"}
        | {"metrics", "podDisruptionBudget", "schedulerName", "podPriority", "volumeClaimGC", "executor"}
        | {"automountServiceAccountToken", "artifactRepositoryRef"}
    ),
    "template": frozenset(
        {"metadata", "nodeSelector", "tolerations", "affinity", "serviceAccountName", "failFast", "archiveLocation"}
        | {"priorityClassName", "annotations", "automountServiceAccountToken", "executor", "metrics", "memoize"}
        | {"schedulerName", "priority"}
    ),
    "container": frozenset({"name", "imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "ports"}),
    "parameter": frozenset({"description"}),
    "retryStrategy": frozenset({"backoff"}),
}
"""Members without effect on AWS Batch: placement and cleanup of pods."""

RETRY_POLICIES = ("Always", "OnFailure")
MOST_FILES = 6
"""Maximum files of one job: each needs a container, and a task has at most ten."""
LONGEST_GRACE = 30
"""Seconds that AWS Batch leaves a container between SIGTERM and SIGKILL."""
MOST_ATTEMPTS = 10
"""Limit of AWS Batch for one job."""
TAG = re.compile(r"\{\{(?P<name>[^{}]*)\}\}")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_VARIABLE = re.compile(
    r"workflow\.(name|uid|parameters|parameters\.[\w-]+)|item(\.[\w-]+)?|inputs\.parameters\.[\w-]+"
    r"|(steps|tasks)\.[\w-]+\.(status|outputs\.result|outputs\.parameters\.[\w-]+)"
)
_ARTIFACT = re.compile(r"inputs\.artifacts\.[\w-]+|(steps|tasks)\.[\w-]+\.outputs\.artifacts\.[\w-]+")


def check(text: str | bytes, engine: Engine) -> dict[str, Any]:
    """A manifest, checked for registration with an engine.

    Raises:
        BadInput: it is not a workflow (the message names line and column, or place and rule), or it uses a feature that
            the engine does not support, which the message names.
        TooLarge: it is too large.
    """
    try:
        return _checked(text, engine)
    except BadInput as refusal:
        if engine is not Engine.LOCAL:
            raise
        raise BadInput(refusal.message.replace(Engine.BATCH, engine), refusal.details) from None


def _checked(text: str | bytes, engine: Engine) -> dict[str, Any]:
    document = parse(text)
    if engine is not Engine.CLUSTER:
        _refuse_unknown(document)
    found = workflow(document)
    if found.kind != "Workflow":
        raise BadInput(f"manifest: kind must be Workflow, not {found.kind}.")
    if not found.api_version.startswith(API_GROUP):
        raise BadInput(f"manifest: apiVersion is to begin with {API_GROUP}, not {found.api_version[:100]!r}.")
    if engine is Engine.CLUSTER and "workflowTemplateRef" in document["spec"]:
        return document
    _check_structure(found, document)
    if engine is not Engine.CLUSTER:
        _check_folders(found, engine)
        for template, raw in zip(found.spec.templates, document["spec"]["templates"], strict=True):
            _check_for_batch(found, template, raw)
        _check_no_cycles({template.name: [str(step.template) for step in template.all_steps]
                          for template in found.spec.templates}, "templates that use themselves")  # fmt: skip
    return document


def _check_folders(found: Workflow, engine: Engine) -> None:
    """Check what containers mount: a work folder of the run, or an empty folder of the step."""
    if found.spec.volume_claim_templates and engine is Engine.BATCH:
        raise BadInput(
            "manifest: volumeClaimTemplates is not supported by AWS Batch: its jobs share no folder.",
            "Pass files from step to step as artifacts, or register the algorithm with a job cluster.",
        )
    for claim in found.spec.volume_claim_templates:
        _check_name(claim.name, "manifest: volumeClaimTemplates")
        try:
            quantity(claim.size or "0")
        except BadInput as refusal:
            raise BadInput(f"manifest: volumeClaimTemplates {claim.name!r}: storage: {refusal.message}") from None
    shared = {claim.name for claim in found.spec.volume_claim_templates}
    for template in found.spec.templates:
        where = f"manifest: template {template.name!r}"
        grace = template.termination_grace_period_seconds or 0
        if grace > LONGEST_GRACE:
            raise BadInput(f"{where}: terminationGracePeriodSeconds may be {LONGEST_GRACE} on AWS Batch.")
        volumes = [*template.volumes, *found.spec.volumes]
        for volume in volumes:
            _check_name(volume.name, f"{where}: volume")
            if volume.empty_dir is None:
                raise BadInput(f"{where}: volume {volume.name!r} is not supported by AWS Batch; it takes emptyDir.")
        known = shared | {volume.name for volume in volumes}
        for mount in template.pod.volume_mounts if template.pod else ():
            if mount.name not in known:
                raise BadInput(f"{where}: there is no volume {mount.name!r}.")
            _check_path(f"{mount.mount_path.rstrip('/')}/x", f"{where}: volume {mount.name!r}")


def _check_name(name: str, where: str) -> None:
    if not _LABEL.fullmatch(name):
        raise BadInput(f"{where} {name[:100]!r}: a name has small letters, digits and -, at most 63.")


def _check_structure(found: Workflow, document: Mapping[str, Any]) -> None:
    """Check the rules of every engine: names refer to existing templates, and each template has one kind."""
    if not found.spec.templates:
        raise BadInput("manifest: at spec: templates are missing.")
    if not found.spec.entrypoint:
        raise BadInput("manifest: at spec: entrypoint is missing.")
    names = _unique((template.name for template in found.spec.templates), "templates")
    if found.spec.entrypoint not in names:
        raise BadInput(f"manifest: entrypoint {found.spec.entrypoint!r} is the name of no template.")
    for template, raw in zip(found.spec.templates, document["spec"]["templates"], strict=True):
        where = f"manifest: template {template.name!r}"
        kinds = sorted(KINDS & {name for name, value in raw.items() if value is not None})
        if len(kinds) != 1:
            present = f"; it has {' and '.join(kinds)}" if kinds else ""
            raise BadInput(f"{where} must have exactly one of {', '.join(sorted(KINDS))}{present}.")
        if template.script is not None and template.script.source is None:
            raise BadInput(f"{where}: the script has no source.")
        _check_steps(template, names, where)


def _check_steps(template: Template, names: set[str], where: str) -> None:
    known = _unique((step.name for step in template.all_steps), f"steps of template {template.name!r}")
    for step in template.all_steps:
        if step.template is not None and step.template not in names:
            raise BadInput(f"{where}: step {step.name!r} uses template {step.template!r}, which there is not.")
        for name in step.dependencies:
            if name not in known:
                raise BadInput(f"{where}: task {step.name!r} depends on {name!r}, which there is not.")
    _check_no_cycles({step.name: step.dependencies for step in template.all_steps}, "tasks that depend on themselves")


def dependencies(task: Step) -> list[str]:
    """The tasks that a task of a DAG waits for."""
    return task.dependencies or [name.strip() for name in (task.depends or "").split("&&") if name.strip()]


def _check_for_batch(found: Workflow, template: Template, raw: Any) -> None:
    where = f"manifest: {line_of(raw, 'name')}template {template.name!r}"
    tasks = {step.name for step in template.all_steps}
    for step in template.all_steps:
        if step.template is None:
            raise BadInput(f"{where}: step {step.name!r} names no template; AWS Batch takes no others.")
        for name in dependencies(step):
            if name not in tasks:
                refused = f"depends {step.depends!r} is not supported by AWS Batch, which takes names joined by &&"
                raise BadInput(f"{where}: task {step.name!r}: {refused}.")
        target = found.template(step.template)
        given = {parameter.name for parameter in step.arguments.parameters}
        for parameter in target.inputs.parameters if target else []:
            if parameter.name not in given and parameter.value is None and parameter.default is None:
                raise BadInput(f"{where}: step {step.name!r} gives no value for parameter {parameter.name!r}.")
    if template.dag is not None:
        _check_no_cycles(
            {task.name: dependencies(task) for task in template.dag.tasks}, "tasks that depend on themselves"
        )
    _check_outputs(template, where)
    _check_retries(template, where)
    declared = {parameter.name for parameter in template.inputs.parameters}
    for text in strings(_texts(template)):
        for tag in TAG.finditer(text):
            _check_tag(tag["name"].strip(), declared, tasks, where)


def _check_outputs(template: Template, where: str) -> None:
    for parameter in template.outputs.parameters:
        source = parameter.value_from or {}
        if ("path" if template.pod else "parameter") not in source:
            wanted = "valueFrom.path" if template.pod else "valueFrom.parameter"
            raise BadInput(f"{where}: output {parameter.name!r} needs {wanted}.")
        if template.pod:
            _check_path(str(source["path"]), f"{where}: output {parameter.name!r}")
    for artifact in [*template.inputs.artifacts, *template.outputs.artifacts]:
        if template.pod:
            _check_path(artifact.path or "", f"{where}: artifact {artifact.name!r}")

    count = len(template.inputs.artifacts) + len(template.outputs.artifacts) + len(template.outputs.parameters)
    if template.pod and count > MOST_FILES:
        raise BadInput(f"{where}: {count} files go in and out; AWS Batch takes {MOST_FILES}.")


def _check_path(path: str, where: str) -> None:
    """Check a file's path: its folder becomes a volume, so it cannot be the root."""
    folder = path.rpartition("/")[0]
    if not path.startswith("/") or path.endswith("/") or not folder or ".." in path.split("/"):
        raise BadInput(f"{where}: path {path[:200]!r} must be a file in a folder, such as /out/result.txt.")


def _check_retries(template: Template, where: str) -> None:
    retry = template.retry_strategy
    if retry is None:
        return
    if template.pod is None:
        raise BadInput(f"{where}: retryStrategy of steps and DAGs is not supported by AWS Batch.")
    if retry.retry_policy not in RETRY_POLICIES:
        raise BadInput(f"{where}: retryPolicy {retry.retry_policy!r} is not supported by AWS Batch.")
    if attempts(template) > MOST_ATTEMPTS:
        raise BadInput(f"{where}: retryStrategy.limit may be {MOST_ATTEMPTS - 1} on AWS Batch.")


def attempts(template: Template) -> int:
    """The maximum number of attempts of a template."""
    retry = template.retry_strategy
    if retry is None:
        return 1
    limit = natural(str(MOST_ATTEMPTS - 1 if retry.limit is None else retry.limit))
    if limit is None:
        raise BadInput(f"manifest: template {template.name!r}: retryStrategy.limit must be a number.")
    return limit + 1


def _check_tag(name: str, inputs: set[str], steps: set[str], where: str) -> None:
    if name.startswith("="):
        raise BadInput(f"{where}: expressions {{{{=…}}}} are not supported by AWS Batch.")
    if not _VARIABLE.fullmatch(name) and not _ARTIFACT.fullmatch(name):
        raise BadInput(f"{where}: the variable {{{{{name[:100]}}}}} is not supported by AWS Batch.")
    first, _, rest = name.partition(".")
    if first == "inputs" and rest.startswith("parameters.") and rest.split(".")[1] not in inputs:
        raise BadInput(f"{where}: {{{{{name}}}}} is no parameter of its inputs.")
    if first in ("steps", "tasks") and rest.split(".")[0] not in steps:
        raise BadInput(f"{where}: {{{{{name}}}}} names no step of this template.")


def _texts(template: Template) -> Any:
    """All texts that may contain variables, as plain values."""
    return msgspec.to_builtins(template)


def _refuse_unknown(document: dict[str, Any]) -> None:
    """Refuse by name every member that AWS Batch does not support."""
    spec = document.get("spec")
    _members(document, "workflow", "manifest")
    _members(spec, "spec", "spec")
    if not isinstance(spec, dict):
        return
    _values(spec.get("arguments"), "arguments", "spec.arguments")
    for volume in _objects(spec.get("volumes")):
        _members(volume, "volume", f"spec: volume {str(volume.get('name'))[:100]!r}")
    for template in _objects(spec.get("templates")):
        where = f"template {str(template.get('name'))[:100]!r}"
        _members(template, "template", where)
        for name in ("inputs", "outputs"):
            _values(template.get(name), name, f"{where}: {name}")
        for name in ("container", "script"):
            _container(template.get(name), f"{where}: {name}")
        for volume in _objects(template.get("volumes")):
            _members(volume, "volume", f"{where}: volume {str(volume.get('name'))[:100]!r}")
        _members(template.get("retryStrategy"), "retryStrategy", f"{where}: retryStrategy")
        groups = template.get("steps")
        steps = (
            [step for group in groups if isinstance(group, list) for step in group] if isinstance(groups, list) else []
        )
        _steps(steps, "step", where)
        _members(template.get("dag"), "dag", f"{where}: dag")
        _steps((template.get("dag") or {}).get("tasks") if isinstance(template.get("dag"), dict) else [], "task", where)


def _steps(value: Any, what: str, where: str) -> None:
    for step in _objects(value):
        place = f"{where}: {what} {str(step.get('name'))[:100]!r}"
        _members(step, what, place)
        _values(step.get("arguments"), "arguments", f"{place}: arguments")


def _container(value: Any, where: str) -> None:
    _members(value, "container", where)
    if isinstance(value, dict):
        _members(value.get("resources"), "resources", f"{where}: resources")
        for mount in _objects(value.get("volumeMounts")):
            _members(mount, "volumeMount", f"{where}: volumeMounts {str(mount.get('name'))[:100]!r}")
        for variable in _objects(value.get("env")):
            _members(variable, "env", f"{where}: env {str(variable.get('name'))[:100]!r}")
        for kind in ("limits", "requests"):
            for name in (value.get("resources") or {}).get(kind) or {}:
                if name not in ("cpu", "memory"):
                    raise _unsupported(f"{where}: resources.{kind}", name, value["resources"][kind])


def _values(value: Any, what: str, where: str) -> None:
    _members(value, what, where)
    if isinstance(value, dict):
        for parameter in _objects(value.get("parameters")):
            place = f"{where}: parameter {str(parameter.get('name'))[:100]!r}"
            _members(parameter, "parameter", place)
            _members(parameter.get("valueFrom"), "valueFrom", f"{place}: valueFrom")
        for artifact in _objects(value.get("artifacts")):
            place = f"{where}: artifact {str(artifact.get('name'))[:100]!r}"
            _members(artifact, "artifact", place)
            if set(artifact.get("archive") or {}) - {"none", "tar"}:
                raise _unsupported(place, "archive other than none and tar", artifact, "archive")


def _members(value: Any, what: str, where: str) -> None:
    if isinstance(value, dict):
        for name in value:
            if name not in TAKEN[what] and name not in ASIDE.get(what, ()) and value[name] is not None:
                raise _unsupported(where, name, value)


def _unsupported(where: str, name: str, holder: Any, member: str = "") -> BadInput:
    """The values of a member that AWS Batch does not support; `holder` is its parent mapping."""
    return BadInput(
        f"manifest: {line_of(holder, member or name)}{where}: {str(name)[:100]} is not supported by AWS Batch.",
        "Register the algorithm with a job cluster to use all of Argo.",
    )


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _unique(names: Iterable[str], what: str) -> set[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadInput(f"manifest: two {what} are called {name!r}.")
        seen.add(name)
    return seen


def _check_no_cycles(after: Mapping[str, list[str]], what: str) -> None:
    """Raise BadInput if references form a cycle."""
    left = {name: set(needs) & set(after) for name, needs in after.items()}
    while free := [name for name, needs in left.items() if not needs]:
        for name in free:
            del left[name]
        for needs in left.values():
            needs.difference_update(free)
    if left:
        raise BadInput(f"manifest: {what} never end: {', '.join(sorted(left))}.")
