"""The members of Argo's Workflow by what AWS Batch makes of them: they work, have no effect there, or are refused.

The tables name every member of the parts of a manifest that are read. A job cluster runs Argo and is sent all of them.
`tests/workflows/test_support.py` compares the tables with the names in Argo's published schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.core.text.names import similar
from chalicelib.errors import BadInput
from chalicelib.workflows.manifests import line_of

WORKS: Mapping[str, frozenset[str]] = {
    "workflow": frozenset({"apiVersion", "kind", "metadata", "spec"}),
    "spec": frozenset(
        {"entrypoint", "templates", "arguments", "volumes", "volumeClaimTemplates", "onExit", "parallelism"}
        | {"activeDeadlineSeconds", "retryStrategy", "templateDefaults"}
    ),
    "arguments": frozenset({"parameters", "artifacts"}),
    "inputs": frozenset({"parameters", "artifacts"}),
    "outputs": frozenset({"parameters", "artifacts"}),
    "template": frozenset(
        {"name", "inputs", "outputs", "container", "script", "steps", "dag", "retryStrategy", "activeDeadlineSeconds"}
        | {"volumes", "terminationGracePeriodSeconds", "parallelism", "timeout"}
    ),
    "container": frozenset({"image", "command", "args", "env", "resources", "volumeMounts", "workingDir"}),
    "script": frozenset({"image", "command", "args", "env", "resources", "volumeMounts", "workingDir", "source"}),
    "volume": frozenset({"name", "emptyDir"}),
    "emptyDir": frozenset(),
    "claim": frozenset({"metadata", "spec"}),
    "claimSpec": frozenset({"resources"}),
    "volumeMount": frozenset({"name", "mountPath", "subPath", "readOnly"}),
    "env": frozenset({"name", "value"}),
    "resources": frozenset({"limits", "requests"}),
    "step": frozenset({"name", "template", "inline", "arguments", "when", "withItems", "withParam", "withSequence"}),
    "dag": frozenset({"tasks", "target"}),
    "task": frozenset(
        {"name", "template", "inline", "arguments", "when", "withItems", "withParam", "withSequence"}
        | {"dependencies", "depends"}
    ),
    "sequence": frozenset({"count", "start", "end", "format"}),
    "retryStrategy": frozenset({"limit", "retryPolicy"}),
    "parameter": frozenset({"name", "value", "default", "valueFrom", "enum"}),
    "valueFrom": frozenset({"path", "default", "parameter"}),
    "artifact": frozenset({"name", "path", "from", "raw", "optional", "archive"}),
}
"""Members that work, by their parent."""

_LOOKS = frozenset(
    {"name", "imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "ports", "readinessProbe"}
    | {"resizePolicy", "stdin", "stdinOnce", "tty"}
)
ACCEPTED: Mapping[str, frozenset[str]] = {
    "workflow": frozenset({"status"}),
    "spec": frozenset(
        {"ttlStrategy", "podGC", "serviceAccountName", "nodeSelector", "tolerations", "affinity", "priority"}
        | {"archiveLogs", "workflowMetadata", "podMetadata", "imagePullSecrets", "artifactGC", "podPriorityClassName"}
        | {"metrics", "podDisruptionBudget", "schedulerName", "podPriority", "volumeClaimGC", "executor", "dnsPolicy"}
        | {"automountServiceAccountToken", "artifactRepositoryRef"}
    ),
    "template": frozenset(
        {"metadata", "nodeSelector", "tolerations", "affinity", "serviceAccountName", "failFast", "archiveLocation"}
        | {"priorityClassName", "annotations", "automountServiceAccountToken", "executor", "metrics", "memoize"}
        | {"schedulerName", "priority"}
    ),
    "container": _LOOKS,
    "script": _LOOKS,
    "emptyDir": frozenset({"medium", "sizeLimit"}),
    "claim": frozenset({"apiVersion", "kind", "status"}),
    "claimSpec": frozenset(
        {"accessModes", "storageClassName", "volumeMode", "volumeAttributesClassName", "selector", "volumeName"}
    ),
    "volumeMount": frozenset({"mountPropagation", "recursiveReadOnly"}),
    "dag": frozenset({"failFast"}),
    "parameter": frozenset({"description"}),
    "artifact": frozenset({"archiveLogs", "artifactGC", "deleted"}),
    "retryStrategy": frozenset({"backoff", "affinity"}),
}
"""Members without effect: placement, cleanup and display of pods, hints of performance."""

_PODS = "its steps are no pods of Kubernetes"
_SECRETS = "secrets and settings of Kubernetes are not there; give the value as a parameter"
_USER = "a step runs as the user of its image"
_ALONE = "a step has one container"
_PAUSE = "a run cannot be paused; delete the job to stop it"
_LOCKS = "runs have no locks; limit the media of a job by files_per_job"
_EXIT = "onExit of spec runs a template at the end of a run"
_CONTROLLER = "only Argo's controller runs such templates"
_CLUSTER = "it refers to what a Kubernetes cluster has"
_NETWORK = "the network of a step is that of its queue"
_FAILED = "a step begins when those that it waits for have succeeded"
_STORE = "the service keeps the files between steps; give `raw` or `from`"
_ENGINE = "the engine sets it"
_VALUE = "give `path` or `parameter`"
_CHECKS = "nothing watches a container from outside; activeDeadlineSeconds ends one that hangs"

_NO_CONTAINER_PART = {
    "envFrom": _SECRETS,
    **dict.fromkeys(("lifecycle", "livenessProbe", "startupProbe"), _CHECKS),
    **dict.fromkeys(("restartPolicy", "restartPolicyRules"), "retryStrategy says how often a step is tried"),
    "securityContext": _USER,
    "volumeDevices": _CLUSTER,
}
REFUSED: Mapping[str, Mapping[str, str]] = {
    "spec": {
        **dict.fromkeys(("dnsConfig", "hostAliases", "hostNetwork"), _NETWORK),
        "executorPlugins": _CONTROLLER,
        "hooks": _EXIT,
        **dict.fromkeys(("podResources", "podSpecPatch", "resourceClaims"), _PODS),
        "securityContext": _USER,
        **dict.fromkeys(("shutdown", "suspend"), _PAUSE),
        "synchronization": _LOCKS,
        "workflowTemplateRef": _CLUSTER,
    },
    "template": {
        **dict.fromkeys(("containerSet", "initContainers", "sidecars"), _ALONE),
        "daemon": "a step ends before the next one begins",
        **dict.fromkeys(("data", "http", "plugin", "resource"), _CONTROLLER),
        "hostAliases": _NETWORK,
        "pendingTimeout": "a step waits for as long as its queue is busy",
        **dict.fromkeys(("podResources", "podSpecPatch", "resourceClaims"), _PODS),
        "securityContext": _USER,
        "suspend": _PAUSE,
        "synchronization": _LOCKS,
    },
    "container": _NO_CONTAINER_PART,
    "script": _NO_CONTAINER_PART,
    "volume": dict.fromkeys(
        (
            *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI"),
            *("ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath"),
            *("image", "iscsi", "nfs", "persistentVolumeClaim", "photonPersistentDisk", "portworxVolume", "projected"),
            *("quobyte", "rbd", "scaleIO", "secret", "storageos", "vsphereVolume"),
        ),
        f"{_CLUSTER}; emptyDir works",
    ),
    "claimSpec": dict.fromkeys(("dataSource", "dataSourceRef"), _CLUSTER),
    "volumeMount": {"subPathExpr": "give subPath"},
    "env": {"valueFrom": _SECRETS},
    "resources": {"claims": _CLUSTER},
    "step": {"continueOn": _FAILED, **dict.fromkeys(("hooks", "onExit"), _EXIT), "templateRef": _CLUSTER},
    "task": {"continueOn": _FAILED, **dict.fromkeys(("hooks", "onExit"), _EXIT), "templateRef": _CLUSTER},
    "outputs": dict.fromkeys(("exitCode", "result"), _ENGINE),
    "parameter": {"globalName": "use {{steps.NAME.outputs.parameters.NAME}}"},
    "valueFrom": {
        "configMapKeyRef": _SECRETS,
        **dict.fromkeys(("event", "expression", "jqFilter", "jsonPath", "supplied"), _VALUE),
    },
    "artifact": {
        **dict.fromkeys(
            ("artifactory", "azure", "gcs", "git", "hdfs", "http", "oss", "plugin", "s3", "fromExpression"), _STORE
        ),
        "globalName": "use {{steps.NAME.outputs.artifacts.NAME}}",
        **dict.fromkeys(("mode", "recurseMode"), "files have the mode 644"),
        "subPath": "an artifact is one file",
    },
    "retryStrategy": {"expression": "retryPolicy says when a step is tried again"},
}
"""Members that are refused, with the reason, which goes on after "is not supported by AWS Batch: "."""
_HARMLESS: tuple[Any, ...] = (None, False, [])
"""Values of refused members that have no effect."""


def refuse_unsupported(document: dict[str, Any]) -> None:
    """Refuse by name every member that AWS Batch does not support.

    Raises:
        BadInput: naming place, member and reason.
    """
    spec = document.get("spec")
    _members(document, "workflow", "manifest")
    _members(spec, "spec", "spec")
    if not isinstance(spec, dict):
        return
    _values(spec.get("arguments"), "arguments", "spec.arguments")
    _volumes(spec, "spec")
    _members(spec.get("retryStrategy"), "retryStrategy", "spec.retryStrategy")
    for claim in _objects(spec.get("volumeClaimTemplates")):
        _members(claim, "claim", "spec.volumeClaimTemplates")
        _members(claim.get("spec"), "claimSpec", "spec.volumeClaimTemplates")
    if isinstance(spec.get("templateDefaults"), dict):
        _template(spec["templateDefaults"], "spec.templateDefaults")
    for template in _objects(spec.get("templates")):
        _template(template, f"template {_name(template)}")


def _template(template: dict[str, Any], where: str) -> None:
    _members(template, "template", where)
    for name in ("inputs", "outputs"):
        _values(template.get(name), name, f"{where}: {name}")
    for name in ("container", "script"):
        _container(template.get(name), name, f"{where}: {name}")
    _volumes(template, where)
    _members(template.get("retryStrategy"), "retryStrategy", f"{where}: retryStrategy")
    groups = template.get("steps")
    steps = [step for group in groups if isinstance(group, list) for step in group] if isinstance(groups, list) else []
    _steps(steps, "step", where)
    dag = template.get("dag")
    _members(dag, "dag", f"{where}: dag")
    _steps(dag.get("tasks") if isinstance(dag, dict) else [], "task", where)


def _volumes(holder: dict[str, Any], where: str) -> None:
    for volume in _objects(holder.get("volumes")):
        _members(volume, "volume", f"{where}: volume {_name(volume)}")
        _members(volume.get("emptyDir"), "emptyDir", f"{where}: volume {_name(volume)}: emptyDir")


def _steps(value: Any, noun: str, where: str) -> None:
    for step in _objects(value):
        place = f"{where}: {noun} {_name(step)}"
        _members(step, noun, place)
        _members(step.get("withSequence"), "sequence", f"{place}: withSequence")
        _values(step.get("arguments"), "arguments", f"{place}: arguments")
        if isinstance(step.get("inline"), dict):
            _template(step["inline"], f"{place}: inline")


def _container(value: Any, noun: str, where: str) -> None:
    _members(value, noun, where)
    if not isinstance(value, dict):
        return
    resources: Any = value.get("resources")
    _members(resources, "resources", f"{where}: resources")
    for mount in _objects(value.get("volumeMounts")):
        _members(mount, "volumeMount", f"{where}: volumeMounts {_name(mount)}")
    for variable in _objects(value.get("env")):
        _members(variable, "env", f"{where}: env {_name(variable)}")
    for kind in ("limits", "requests"):
        for name in (resources or {}).get(kind) or {}:
            if name not in ("cpu", "memory"):
                raise unsupported(f"{where}: resources.{kind}", name, resources[kind], "Fargate has processors alone")


def _values(value: Any, noun: str, where: str) -> None:
    _members(value, noun, where)
    if isinstance(value, dict):
        for parameter in _objects(value.get("parameters")):
            place = f"{where}: parameter {_name(parameter)}"
            _members(parameter, "parameter", place)
            _members(parameter.get("valueFrom"), "valueFrom", f"{place}: valueFrom")
        for artifact in _objects(value.get("artifacts")):
            place = f"{where}: artifact {_name(artifact)}"
            _members(artifact, "artifact", place)
            if set(artifact.get("archive") or {}) - {"none", "tar"}:
                raise unsupported(place, "archive other than none and tar", artifact, _STORE, "archive")


def _members(value: Any, noun: str, where: str) -> None:
    if not isinstance(value, dict):
        return
    for name in value:
        if name in WORKS[noun] or name in ACCEPTED.get(noun, ()):
            continue
        reason = REFUSED.get(noun, {}).get(name)
        if reason is None:
            known = (*WORKS[noun], *ACCEPTED.get(noun, ()), *REFUSED.get(noun, ()))
            said = f"manifest: {line_of(value, name)}{where}: {str(name)[:100]} is not supported by AWS Batch"
            raise BadInput(f"{said}: Argo has no such member here.{similar(str(name), known)}")
        if not any(value[name] is each or value[name] == each == [] for each in _HARMLESS):
            raise unsupported(where, name, value, reason)


def unsupported(where: str, name: str, holder: Any, reason: str, member: str = "") -> BadInput:
    """The error for a member that AWS Batch does not support; `holder` is its parent mapping."""
    place = f"{line_of(holder, member or name)}{where}"
    return BadInput(
        f"manifest: {place}: {str(name)[:100]} is not supported by AWS Batch: {reason}.",
        "Register the algorithm with a job cluster to use all of Argo.",
    )


def _name(value: dict[str, Any]) -> str:
    return repr(str(value.get("name"))[:100])


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
