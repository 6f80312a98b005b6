"""Check manifests for registration: the rules of Argo, and the subset that each engine supports.

A job cluster runs Argo and supports all of Argo: only manifests that can never run are refused. Of AWS Batch, `support`
lists what works, what has no effect, and what is refused with which reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput
from chalicelib.workflows import defaults, support
from chalicelib.workflows.defaults import KINDS
from chalicelib.workflows.manifests import (
    Step,
    Template,
    VolumeMount,
    Workflow,
    line_of,
    parse,
    quantity,
    seconds_of,
    strings,
    workflow,
)


class Engine(StrEnum):
    """An engine that runs workflows."""

    CLUSTER = "a job cluster"
    BATCH = "AWS Batch"
    LOCAL = "this machine"
    """The local stack: all that AWS Batch can do, and folders that the steps of a run share."""


API_GROUP = "argoproj.io/"
RETRY_POLICIES = ("Always", "OnFailure")
MOST_FILES = 6
"""Maximum files of one job: each needs a container, and a task has at most ten."""
LONGEST_GRACE = 30
"""Seconds that AWS Batch leaves a container between SIGTERM and SIGKILL."""
MOST_ATTEMPTS = 10
"""Limit of AWS Batch for one job."""
TAG = re.compile(r"\{\{(?P<name>[^{}]*)\}\}")
_FOLDERS = re.compile(r"(?!.*(^|/)\.{1,2}(/|$(?!\n)))[\w.-]+(/[\w.-]+)*")
_FORMAT = re.compile(r"[^%]*%[0-9]*[dxXo][^%]*")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_VARIABLE = re.compile(
    r"workflow\.(name|uid|status|failures|parameters|parameters\.[\w-]+)|item(\.[\w-]+)?|inputs\.parameters\.[\w-]+"
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
        support.refuse_unsupported(document)
        if isinstance(document.get("spec"), dict):
            document = defaults.written_out(document)
    found = workflow(document)
    if found.kind != "Workflow":
        raise BadInput(f"manifest: kind must be Workflow, not {found.kind}.")
    if not found.api_version.startswith(API_GROUP):
        raise BadInput(f"manifest: apiVersion must begin with {API_GROUP}, not {found.api_version[:100]!r}.")
    if engine is Engine.CLUSTER and "workflowTemplateRef" in document["spec"]:
        return document
    _check_structure(found, document)
    if engine is not Engine.CLUSTER:
        _check_folders(found, engine)
        _check_run(found)
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
        mounts = template.pod.volume_mounts if template.pod else []
        for mount in mounts:
            if mount.name not in known:
                raise BadInput(f"{where}: there is no volume {mount.name!r}.")
            _check_path(f"{mount.mount_path.rstrip('/')}/x", f"{where}: volume {mount.name!r}")
            _check_sub_path(mount, mounts, f"{where}: volume {mount.name!r}", is_shared=mount.name in shared)


def _check_sub_path(mount: VolumeMount, mounts: Iterable[VolumeMount], where: str, *, is_shared: bool) -> None:
    """Check a folder within a volume. On AWS Batch it is one of its own, so no other mount may hold it."""
    path = mount.sub_path or ""
    if path and not _FOLDERS.fullmatch(path):
        raise BadInput(f"{where}: subPath {path[:100]!r} must be names with / between, such as runs/a.")
    for other in () if is_shared else mounts:
        if (
            other is not mount
            and other.name == mount.name
            and f"{path}/".startswith(f"{other.sub_path or ''}/".lstrip("/"))
        ):
            raise BadInput(f"{where}: subPath {path!r} lies within another mount, which is not supported by AWS Batch.")


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
    for member, name in (("entrypoint", found.spec.entrypoint), ("onExit", found.spec.on_exit)):
        if name and name not in names:
            raise BadInput(f"manifest: {member}: there is no template {name!r}.")
    for template, raw in zip(found.spec.templates, document["spec"]["templates"], strict=True):
        where = f"manifest: template {template.name!r}"
        kinds = sorted(KINDS & {name for name, value in raw.items() if value is not None})
        if len(kinds) != 1:
            present = f"; it has {' and '.join(kinds)}" if kinds else ""
            raise BadInput(f"{where} must have exactly one of {', '.join(sorted(KINDS))}{present}.")
        if template.script is not None and template.script.source is None:
            raise BadInput(f"{where}: the script has no source.")
        _check_steps(template, names, where)


def _check_run(found: Workflow) -> None:
    """Check the limits of the run, and the template at its end."""
    spec = found.spec
    for where, value in (
        ("spec", spec.parallelism),
        *((f"template {each.name!r}", each.parallelism) for each in spec.templates),
    ):
        if value is not None and value < 1:
            raise BadInput(f"manifest: {where}: parallelism is {value}; it may be 1 or more.")
    seconds_of(spec.active_deadline_seconds, "spec: activeDeadlineSeconds")
    end = found.template(spec.on_exit)
    for parameter in end.inputs.parameters if end else []:
        if parameter.value is None and parameter.default is None:
            raise BadInput(f"manifest: onExit: nothing gives its parameter {parameter.name!r} a value.")


def _check_steps(template: Template, names: set[str], where: str) -> None:
    known = _unique((step.name for step in template.all_steps), f"steps of template {template.name!r}")
    for step in template.all_steps:
        if step.template is not None and step.template not in names:
            raise BadInput(f"{where}: step {step.name!r} uses template {step.template!r}, which is not defined.")
        for name in step.dependencies:
            if name not in known:
                raise BadInput(f"{where}: task {step.name!r} depends on {name!r}, which is not defined.")
    _check_no_cycles({step.name: step.dependencies for step in template.all_steps}, "tasks that depend on themselves")


def dependencies(task: Step) -> list[str]:
    """The tasks that a task of a DAG waits for."""
    return task.dependencies or [name.strip() for name in (task.depends or "").split("&&") if name.strip()]


def _check_for_batch(found: Workflow, template: Template, raw: Any) -> None:
    where = f"manifest: {line_of(raw, 'name')}template {template.name!r}"
    tasks = {step.name for step in template.all_steps}
    for step in template.all_steps:
        _check_sequence(step, f"{where}: step {step.name!r}")
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
    _check_pod(template, where)
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


def _check_pod(template: Template, where: str) -> None:
    if template.pod and template.pod.working_dir and not template.pod.command:
        raise BadInput(f"{where}: workingDir needs a command, which AWS Batch starts there.")
    if template.timeout and template.pod is None:
        raise BadInput(f"{where}: timeout of steps and DAGs is not supported by AWS Batch.")
    seconds_of(template.timeout, f"{where}: timeout")


def _check_sequence(step: Step, where: str) -> None:
    """Check that a step loops in one way at most, and that a sequence has either a count or an end."""
    ways = [name for name in ("with_items", "with_param", "with_sequence") if getattr(step, name) is not None]
    if len(ways) > 1:
        raise BadInput(f"{where}: it may have one of withItems, withParam and withSequence.")
    sequence = step.with_sequence
    if sequence is None:
        return
    if (sequence.count is None) == (sequence.end is None):
        raise BadInput(f"{where}: withSequence needs count or end.")
    if sequence.format and not _FORMAT.fullmatch(sequence.format):
        raise BadInput(
            f"{where}: withSequence.format {sequence.format[:100]!r} must have one %d, %x, %X or %o, such as %03d."
        )


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


def _unique(names: Iterable[str], noun: str) -> set[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadInput(f"manifest: two {noun} are called {name!r}.")
        seen.add(name)
    return seen


def _check_no_cycles(after: Mapping[str, list[str]], noun: str) -> None:
    """Raise BadInput if references form a cycle."""
    left = {name: set(needs) & set(after) for name, needs in after.items()}
    while free := [name for name, needs in left.items() if not needs]:
        for name in free:
            del left[name]
        for needs in left.values():
            needs.difference_update(free)
    if left:
        raise BadInput(f"manifest: {noun} never end: {', '.join(sorted(left))}.")
