"""One attempt of a job: its containers one after the other, as their conditions say.

The containers that copy files (`aws s3 cp`, image `LIMN_JOB_FILES_IMAGE`) are not started: the service copies the
files itself, from and to the buckets of this stack.
"""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import boto3
from botocore.exceptions import ClientError

from infra.emulator.batch.logs import Log
from infra.emulator.batch.steps.step import LARGEST_FILE, LARGEST_FOLDER, LONGEST_SECONDS, Ended, Runner, Step
from infra.emulator.batch.store import Job

_COPY = ("s3", "cp", "--only-show-errors")
_SCHEME = "s3://"


class CopyFailed(Exception):
    """A file cannot be copied to or from a step."""


@dataclass(frozen=True, kw_only=True)
class Container:
    """A container of a job, its overrides put in."""

    name: str
    image: str
    command: list[str]
    environment: dict[str, str]
    after: list[dict[str, str]]
    mounts: dict[str, str]
    """Names of volumes by the paths they have in the container."""
    read_only: frozenset[str]
    """Those of these paths that are only read."""
    sizes: dict[str, float]


def attempt(
    job: Job, runner: Runner, folder: Path, log: Log, stop: threading.Event, files_image: str, shared: Path
) -> Ended:
    """Run a job once.

    Args:
        job: the job.
        runner: what runs its containers.
        folder: a folder that does not exist yet; it is removed afterwards.
        log: takes the output.
        stop: ends the attempt when it is set.
        files_image: the image of the containers that copy files.
        shared: holds the work folders that the jobs of a run share.
    """
    folder.mkdir(parents=True)
    try:
        return _run(job, runner, folder, log, stop, files_image, shared)
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder, whatever a step did to its modes."""

    def open_and_retry(action: Any, path: str, _: Any) -> None:
        parent = os.path.dirname(path)  # noqa: PTH120
        for place in (parent, path):
            if not os.path.islink(place) and os.path.isdir(place):  # noqa: PTH112, PTH114
                with suppress(OSError):
                    os.chmod(place, stat.S_IRWXU)  # noqa: PTH101
        if os.path.lexists(path):
            try:
                action(path)
            except OSError:
                return

    shutil.rmtree(folder, onerror=open_and_retry)
    shutil.rmtree(folder, ignore_errors=True)


def _run(
    job: Job, runner: Runner, folder: Path, log: Log, stop: threading.Event, files_image: str, shared: Path
) -> Ended:
    containers = containers_of(job)
    volumes = {name: folder / "files" / name for container in containers for name in container.mounts.values()}
    work = {
        volume["name"]: shared / run_of(job) / volume["efsVolumeConfiguration"]["rootDirectory"]
        for volume in _volumes(job)
        if "efsVolumeConfiguration" in volume
    }
    volumes |= work
    for place in volumes.values():
        place.mkdir(parents=True, exist_ok=True)
    codes: dict[str, int | None] = {}
    main = Ended(exit_code=0)
    for container in containers:
        if stop.is_set():
            return Ended(reason="The job was stopped.")
        for need in container.after:
            if need["condition"] == "SUCCESS" and codes.get(need["containerName"]) != 0:
                return Ended(exit_code=main.exit_code, reason=f"Container {need['containerName']} failed.")
        mounts = {path: volumes[name] for path, name in container.mounts.items()}
        if container.image == files_image:
            try:
                _copy(container.command, mounts)
                codes[container.name] = 0
            except CopyFailed as failure:
                codes[container.name] = 1
                if not _is_optional(container, containers):
                    return Ended(exit_code=main.exit_code, reason=str(failure))
            continue
        whole = {place: _work_folder(job, shared, place) for place in work.values()}
        mine = {
            whole[place]: _told(job, f"size {whole[place].name}", LARGEST_FOLDER)
            for place in mounts.values()
            if place in whole
        }
        main = runner.run(_step(job, container, folder, mounts, mine), log, stop)
        codes[container.name] = main.exit_code
        if main.reason is not None:
            return main
    return main


def containers_of(job: Job) -> list[Container]:
    """The containers of a job in the order they run."""
    definition, request = job.definition, job.request
    if "containerProperties" in definition:
        own = {"name": "main", **definition["containerProperties"]}
        return [_container(own, request.get("containerOverrides") or {})]
    [task] = definition["ecsProperties"]["taskProperties"]
    tasks = (request.get("ecsPropertiesOverride") or {}).get("taskProperties") or [{}]
    overrides = {item["name"]: item for item in tasks[0].get("containers", [])}
    return [_container(own, overrides.get(own["name"], {})) for own in task["containers"]]


def run_of(job: Job) -> str:
    """The name of the run that a job belongs to, which the names of all its jobs begin with."""
    return job.name.rpartition("-")[0]


def _work_folder(job: Job, shared: Path, place: Path) -> Path:
    """The work folder that a place is, or lies in."""
    run = shared / run_of(job)
    return run / place.relative_to(run).parts[0]


def _volumes(job: Job) -> list[dict[str, Any]]:
    tasks = (job.definition.get("ecsProperties") or {}).get("taskProperties") or [{}]
    return list(tasks[0].get("volumes") or [])


def _told(job: Job, name: str, default: int) -> int:
    """A number that the definition of a job has among its parameters."""
    return int((job.definition.get("parameters") or {}).get(name, default))


def _container(own: Mapping[str, Any], more: Mapping[str, Any]) -> Container:
    variables = [*own.get("environment", []), *more.get("environment", [])]
    requirements = [*own.get("resourceRequirements", []), *more.get("resourceRequirements", [])]
    return Container(
        name=own["name"],
        image=own["image"],
        command=list(more.get("command") or own.get("command") or []),
        environment={item["name"]: item.get("value", "") for item in variables},
        after=list(own.get("dependsOn") or []),
        mounts={item["containerPath"]: item["sourceVolume"] for item in own.get("mountPoints", [])},
        read_only=frozenset(item["containerPath"] for item in own.get("mountPoints", []) if item.get("readOnly")),
        sizes={item["type"]: float(item["value"]) for item in requirements},
    )


def processors_of(job: Job) -> float:
    """How many processors a job asks for."""
    return max((container.sizes.get("VCPU", 0.0) for container in containers_of(job)), default=0.0)


def _step(job: Job, container: Container, folder: Path, mounts: dict[str, Path], shared: dict[Path, int]) -> Step:
    timeout = (job.request.get("timeout") or {}).get("attemptDurationSeconds")
    return Step(
        id=job.id,
        image=container.image,
        command=container.command,
        environment={**container.environment, "AWS_BATCH_JOB_ID": job.id},
        folder=folder,
        mounts=mounts,
        processors=container.sizes.get("VCPU", 0.25),
        memory=int(container.sizes.get("MEMORY", 512)) * 2**20,
        seconds=float(timeout or LONGEST_SECONDS),
        grace=float(_told(job, "grace", 0)),
        shared=shared,
        read_only=container.read_only,
        start=str((job.definition.get("parameters") or {}).get("folder", "")),
    )


def _is_optional(container: Container, containers: list[Container]) -> bool:
    """Whether all that wait for a container do so whether it succeeds or not."""
    conditions = [
        need["condition"] for other in containers for need in other.after if need["containerName"] == container.name
    ]
    return bool(conditions) and all(condition == "COMPLETE" for condition in conditions)


def _copy(command: list[str], mounts: Mapping[str, Path]) -> None:
    """What `aws s3 cp` does with one file. Raises CopyFailed."""
    if tuple(command[: len(_COPY)]) != _COPY or len(command) != len(_COPY) + 2:
        return
    source, target = command[-2:]
    client = boto3.client("s3")
    if source.startswith(_SCHEME):
        bucket, _, key = source.removeprefix(_SCHEME).partition("/")
        try:
            body = client.get_object(Bucket=bucket, Key=key)["Body"]
        except ClientError as failure:
            raise CopyFailed(f"The file {target} is not there to be brought.") from failure
        with _opened(target, mounts, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, "wb") as file:
            shutil.copyfileobj(body, file, 2**20)
        return
    bucket, _, key = target.removeprefix(_SCHEME).partition("/")
    with _opened(source, mounts, os.O_RDONLY, "rb") as file:
        if os.fstat(file.fileno()).st_size > LARGEST_FILE:
            raise CopyFailed(f"The file {source} is larger than {LARGEST_FILE // 2**30} GiB.")
        client.upload_fileobj(file, bucket, key)


def _opened(path: str, mounts: Mapping[str, Path], flags: int, mode: str) -> Any:
    """A file of a volume. A step may have made it anything, so only a plain file within the volume is opened."""
    pure = PurePosixPath(path)
    folder = mounts.get(str(pure.parent))
    if folder is None or folder.resolve() != folder:
        raise CopyFailed(f"{path} is in no folder of this step.")
    try:
        number = os.open(folder / pure.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as failure:
        raise CopyFailed(f"The step did not make the file {path}.") from failure
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise CopyFailed(f"{path} is not a plain file.")
    return os.fdopen(number, mode)
