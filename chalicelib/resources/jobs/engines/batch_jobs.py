"""Convert a node to a job of AWS Batch on Fargate.

A node without files is one container. A node with files is a task of several containers: `in…` fetch its inputs, `main`
runs, `out…` store its outputs; the folders of the files are shared volumes. Each of the other containers runs one
`aws s3 cp`, so the image of `main` needs no tools; only a step whose printed text is used needs `sh`.

Batch overrides the command of an image, not its entrypoint: an image whose entrypoint is not a plain `exec` gets the
manifest's command as arguments.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from dataclasses import dataclass
from typing import Any

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.errors import BadInput
from chalicelib.resources.jobs.engines.base import WorkflowRefused
from chalicelib.resources.jobs.runs import Run
from chalicelib.settings import settings
from chalicelib.workflows.manifests import Container, quantity
from chalicelib.workflows.nodes import Folder, Node

SIZES = (
    (0.25, (512, 1024, 2048)),
    (0.5, tuple(range(1024, 4097, 1024))),
    (1, tuple(range(2048, 8193, 1024))),
    (2, tuple(range(4096, 16385, 1024))),
    (4, tuple(range(8192, 30721, 1024))),
    (8, tuple(range(16384, 61441, 4096))),
    (16, tuple(range(32768, 122881, 8192))),
)
"""Fargate sizes: processors, with the available MiB of memory."""
LARGEST_OVERRIDES = 8000
"""Maximum characters of command and environment of one job in Batch, less a reserve."""
TEXT = "text"
"""The output with the printed text of a node."""
_OWN = "/limn"
_SHARE = '"$@" > /limn/text; code=$?; cat /limn/text; exit $code'
_GO = 'mkdir -p "$0" 2>/dev/null; cd "$0" && exec "$@"'
"""Starts a command in a folder: Batch has no setting for it."""
SHARED = "limn-shared"
"""What the definition names in place of a file system, for the folders that steps of a run share: the local stack's."""


@dataclass(frozen=True, kw_only=True)
class BatchJob:
    """A job for Batch: a definition, and this job's own values; `files` must be stored before."""

    name: str
    definition: dict[str, Any]
    overrides: dict[str, Any]
    files: dict[ObjectKey, bytes]


def job_of(run: Run, node: Node) -> BatchJob:
    """The job of a ready node. Raises WorkflowRefused if Batch cannot run it."""
    container = node.container
    if container is None:
        raise AssertionError("the node is not ready")
    files: dict[ObjectKey, bytes] = {}
    incoming = [
        (item.path, _source(run, node, item.node, item.name, item.text, files), item.optional) for item in node.inputs
    ]
    command = [*container.command, *container.args]
    if container.source is not None:
        key = key_of(run, node.id, "source")
        files[key] = container.source.encode()
        incoming.append((f"{_OWN}/source", key, False))
        command.append(f"{_OWN}/source")
    outgoing = [
        (item.path, key_of(run, node.id, item.name), item.optional or item.default is not None) for item in node.outputs
    ]
    if node.keeps_text:
        if not container.command:
            raise WorkflowRefused(f"{node.task}: what it prints is used, so it needs a command.")
        outgoing.append((f"{_OWN}/{TEXT}", key_of(run, node.id, TEXT), False))
        command = ["sh", "-c", _SHARE, "sh", *command]
    if container.working_dir:
        command = ["sh", "-c", _GO, container.working_dir, *command]
    environment = [{"name": item.name, "value": item.value or ""} for item in container.env]
    own = {**({"command": command} if command else {}), **({"environment": environment} if environment else {})}
    if len(json.dumps(own)) > LARGEST_OVERRIDES:
        raise WorkflowRefused(
            f"{node.task}: its command is longer than AWS Batch takes; give it fewer media with files_per_job."
        )
    sizes = _requirements(node, container)
    if incoming or outgoing or node.folders or node.grace is not None or container.working_dir:
        return _with_files(run, node, container, own, sizes, incoming, outgoing, files)
    properties = {
        "image": container.image,
        "resourceRequirements": sizes,
        "executionRoleArn": settings().job_execution_role,
        "networkConfiguration": {"assignPublicIp": "ENABLED"},
    }
    definition = _definition({"containerProperties": properties})
    return BatchJob(name=name_of(run, node), definition=definition, overrides={"containerOverrides": own}, files={})


def name_of(run: Run, node: Node) -> str:
    """The name of a node's job; `uid_in` reads the run's uid from it."""
    return f"limn-{run.uid}-{hashlib.sha256(node.id.encode()).hexdigest()[:12]}"


def names_of(run: Run) -> str:
    """The name prefix of all jobs of a run, as a filter of Batch."""
    return f"limn-{run.uid}-*"


def uid_in(name: str) -> str | None:
    """The uid of the run in a job's name."""
    return name[5:].rpartition("-")[0] if name.startswith("limn-") else None


def key_of(run: Run, node: str, name: str) -> ObjectKey:
    """The key of a node's file: it cannot be guessed without the run, because jobs share a role."""
    secret = hashlib.sha256(f"{run.sealed}|{run.uid}".encode()).hexdigest()[:32]
    number = hashlib.sha256(f"{node}|{name}".encode()).hexdigest()[:16]
    return run.folder + f"{secret}-{number}"


def extras(node: Node) -> dict[str, Any]:
    """The retry and time limits of a node's job."""
    found: dict[str, Any] = {"retryStrategy": {"attempts": node.attempts}}
    if node.seconds is not None:
        found["timeout"] = {"attemptDurationSeconds": max(node.seconds, settings().job_shortest_timeout)}
    return found


def _with_files(
    run: Run,
    node: Node,
    container: Container,
    own: dict[str, Any],
    sizes: list[dict[str, str]],
    incoming: list[tuple[str, ObjectKey, bool]],
    outgoing: list[tuple[str, ObjectKey, bool]],
    files: dict[ObjectKey, bytes],
) -> BatchJob:
    """A task of several containers. Only the last one is essential: when an essential container ends, all end."""
    folders = sorted({posixpath.dirname(path) for path, _, _ in (*incoming, *outgoing)})
    mounts = [{"sourceVolume": f"v{index}", "containerPath": folder} for index, folder in enumerate(folders)]
    volumes: list[dict[str, Any]] = [{"name": f"v{index}", "host": {}} for index in range(len(folders))]
    for name, folder in {_volume(folder): folder for folder in node.folders}.items():
        place = f"{folder.name}/{folder.sub_path}".rstrip("/")
        shared = {"efsVolumeConfiguration": {"fileSystemId": SHARED, "rootDirectory": place}}
        volumes.append({"name": name, **(shared if folder.is_shared else {"host": {}})})
    containers: list[dict[str, Any]] = []
    commands: list[dict[str, Any]] = []
    after: list[dict[str, str]] = []

    def add(name: str, image: str, command: dict[str, Any], *, optional: bool = False) -> None:
        containers.append(
            {"name": name, "image": image, "essential": False, "mountPoints": mounts, "dependsOn": list(after)}
        )
        commands.append({"name": name, **command})
        after[:] = [{"containerName": name, "condition": "COMPLETE" if optional else "SUCCESS"}]

    image, bucket = settings().job_files_image, settings().media_bucket
    for index, (path, key, optional) in enumerate(incoming):
        add(f"in{index}", image, _copy(f"s3://{bucket}/{key}", path), optional=optional)
    add("main", container.image, own)
    for index, (path, key, optional) in enumerate(sorted(outgoing, key=lambda item: not item[2])):
        add(f"out{index}", image, _copy(path, f"s3://{bucket}/{key}"), optional=optional)
    if outgoing and all(optional for _, _, optional in outgoing):
        add("end", image, {"command": ["--version"]})
    containers[-1]["essential"] = True
    for item in containers:
        if not item["dependsOn"]:
            del item["dependsOn"]
    main = next(item for item in containers if item["name"] == "main")
    main["resourceRequirements"] = sizes
    main["mountPoints"] = mounts + [
        {
            "sourceVolume": _volume(folder),
            "containerPath": folder.path,
            **({"readOnly": True} if folder.is_read_only else {}),
        }
        for folder in node.folders
    ]
    task = {
        "containers": containers,
        "volumes": volumes,
        "executionRoleArn": settings().job_execution_role,
        "taskRoleArn": settings().job_files_role,
        "networkConfiguration": {"assignPublicIp": "ENABLED"},
    }
    told = {f"size {folder.name}": str(folder.size) for folder in node.folders if folder.size is not None}
    told |= {} if node.grace is None else {"grace": str(node.grace)}
    told |= {"folder": container.working_dir} if container.working_dir else {}
    definition = _definition({"ecsProperties": {"taskProperties": [task]}, **({"parameters": told} if told else {})})
    overrides = {"ecsPropertiesOverride": {"taskProperties": [{"containers": commands}]}}
    return BatchJob(name=name_of(run, node), definition=definition, overrides=overrides, files=files)


def _volume(folder: Folder) -> str:
    """The volume of a folder: a folder within one has a volume of its own."""
    part = f"-{hashlib.sha256(folder.sub_path.encode()).hexdigest()[:8]}" if folder.sub_path else ""
    return f"w-{folder.name}{part}"


def _definition(properties: dict[str, Any]) -> dict[str, Any]:
    """A job definition, named by its content: equal definitions are registered once."""
    body = {"type": "container", "platformCapabilities": ["FARGATE"], "propagateTags": True, **properties}
    number = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:24]
    return {"jobDefinitionName": f"limn-{settings().stage}-{number}", **body}


def _copy(source: str, target: str) -> dict[str, Any]:
    return {"command": ["s3", "cp", "--only-show-errors", source, target]}


def _source(run: Run, node: Node, other: str, name: str, text: str | None, files: dict[ObjectKey, bytes]) -> ObjectKey:
    if text is None:
        return key_of(run, other, name)
    key = key_of(run, node.id, f"raw {len(files)}")
    files[key] = text.encode()
    return key


def _requirements(node: Node, container: Container) -> list[dict[str, str]]:
    """The smallest Fargate size for a container's requests. Raises WorkflowRefused if none fits."""
    asked = container.resources
    wanted = {**(asked.requests if asked else {}), **(asked.limits if asked else {})}
    try:
        processors = quantity(str(wanted.get("cpu", "0.25")))
        memory = quantity(str(wanted.get("memory", "512Mi"))) / 2**20
    except BadInput as refusal:
        raise WorkflowRefused(f"{node.task}: resources: {refusal.message}") from None
    for count, sizes in SIZES:
        size = next((size for size in sizes if size >= memory), None)
        if count >= processors and size is not None:
            return [{"type": "VCPU", "value": f"{count:g}"}, {"type": "MEMORY", "value": str(size)}]
    raise WorkflowRefused(f"{node.task}: AWS Batch has no size with {processors:g} processors and {memory:.0f} MiB.")
