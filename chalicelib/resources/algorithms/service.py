"""Algorithms: their registration with every rule of it, and the manifest that a launch runs."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import PROJECT, USER, Project
from chalicelib.core.models.algorithms import ALGORITHM, Algorithm, AlgorithmSpec, AlgorithmUpdateSpec
from chalicelib.core.models.integrations import HOSTED_TEMPLATE, JOB_CLUSTER, JobCluster
from chalicelib.core.permissions import LEVEL_OF, Level, Permission, ProjectLevelName, name_of_level
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import given
from chalicelib.errors import BadInput, Forbidden, LimnError, NotFound, Taken, Unavailable
from chalicelib.resources.algorithms import saved_files
from chalicelib.resources.hosted_templates import service as hosted_templates_service
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import ids, records
from chalicelib.workflows.checks import Engine, check

_RUNS = ("user", "manifest", "parameters", "cluster", "template", "tparams", "level")
"""Members that determine what a launch runs, and as what; `headers`, which are encrypted, are another."""


class NotApproved(Forbidden):
    """What an algorithm runs was changed since it was approved."""


@dataclass(frozen=True, kw_only=True)
class Approval:
    """What a user, the owner of a trigger rule, approved: the digest of what an algorithm ran then."""

    user: int
    digest: str
    launches: int = 0
    """How many launches by trigger rules, this one included, led to the job."""


def register(project: Project, caller: Caller, level: Level, spec: AlgorithmSpec) -> Algorithm:
    """Register an algorithm. Any valid manifest is taken; what its engine cannot do is refused at the launch.

    Args:
        project: the project.
        caller: who approves what it runs.
        level: the caller's level in the project.
        spec: the body.

    Raises:
        NotFound: the user or the cluster is not there.
        Forbidden: the caller may not set this (`_approve`).
        BadInput: the name is taken in any project, or manifest or template cannot be used.
    """
    if spec.manifest is None and spec.template is None:
        raise BadInput("Request body validation error", "'manifest' is a required property without a template.")
    algorithm = Algorithm(
        id=ids.reserve(ALGORITHM.name)[0],
        project=project.id,
        name=spec.name,
        user=spec.user,
        description=spec.description or "",
        cluster=spec.cluster,
        files_per_job=spec.files_per_job,
        categories=spec.categories or [],
        parameters=spec.parameters or [],
        template=spec.template,
        tparams=spec.tparams or [],
        extended_info=spec.extended_info or {},
        sealed=hosted_templates_service.seal(spec.headers or []),
    )
    _check_approval(project, caller, algorithm)
    algorithm.level = _level_within(level, spec.level)
    _free(spec.name)
    if records.get_claimed(ALGORITHM, "name", spec.name.casefold()):
        raise name_taken(spec.name)
    if spec.manifest is not None:
        name = saved_files.name_of(project, spec.manifest, "manifest")
        algorithm.manifest = saved_files.url_of(project.id, name)
    text = source(project, algorithm)
    check(text, Engine.CLUSTER)
    algorithm.approver, algorithm.digest = caller.id, digest_of(algorithm, text)
    return records.create(ALGORITHM, algorithm, taken=name_taken(spec.name))


def change(project: Project, caller: Caller, level: Level, algorithm: Algorithm, body: AlgorithmUpdateSpec) -> None:
    """Change the members given; a manifest is kept as it is named, and looked at when it is launched.

    A change of what runs needs what registering it needs, and makes the caller its approver.

    Raises:
        As `register`, where what is given breaks a rule.
    """
    members: dict[str, Any] = given(body)
    if not members:
        raise BadInput("No recognized keys in request!")
    if "headers" in members:
        del members["headers"]
        members["sealed"] = hosted_templates_service.seal(body.headers or [])
    if body.name is not None:
        _free(body.name)
    members = {name: getattr(body, name, value) for name, value in members.items()}

    def edit(current: Algorithm) -> Algorithm:
        after = hosted_templates_service.change_use(current, members)
        if after.sealed != current.sealed or any(getattr(after, name) != getattr(current, name) for name in _RUNS):
            # a deleted cluster or template that is kept counts as none; one that is named has to exist
            _check_approval(project, caller, msgspec.structs.replace(_get_active(current), **members))
            after.level = _level_within(level, body.level, current.level)
            after.approver, after.digest = caller.id, digest_now(project, after)
        return after

    records.edit(ALGORITHM, algorithm.id, edit, taken=name_taken(body.name or ""))


def remove(project: Project, algorithm: Algorithm) -> None:
    """Remove an algorithm and its manifest, unless others of the project use that; jobs that run go on."""
    records.remove(ALGORITHM, algorithm.id)
    saved_files.remove_unused(project, algorithm.manifest)


def get_by_name(project: int, name: str) -> Algorithm:
    """The algorithm of a project with a name. Raises NotFound."""
    found = records.get_claimed(ALGORITHM, "name", name.casefold())
    if found is None or found.project != project:
        raise unknown_name(project, name)
    return found


def unknown_name(project: int, name: str) -> NotFound:
    """The error for a name that no algorithm of a project has, or one that the caller may not see."""
    return NotFound(f"No Algorithm of project {project} is called {name[:100]!r}.")


def list_algorithms(project: int) -> list[Algorithm]:
    """The algorithms of a project, by id."""
    return [_get_active(algorithm) for algorithm in records.list_children(ALGORITHM, project)]


def as_response(algorithm: Algorithm) -> Algorithm:
    """An algorithm with the manifest that its template gives now; without, where that cannot be had."""
    algorithm = _get_active(algorithm)
    if algorithm.template is None:
        return algorithm
    try:
        text = hosted_templates_service.render(
            hosted_templates_service.find(algorithm.template), algorithm.tparams, algorithm.sealed
        )
    except LimnError:
        return algorithm
    return msgspec.structs.replace(algorithm, rendered=text)


def source(project: Project, algorithm: Algorithm) -> str | bytes:
    """The text of the manifest that an algorithm runs now. Raises BadInput where it cannot be had."""
    if algorithm.template is not None:
        template = hosted_templates_service.find(algorithm.template)
        return hosted_templates_service.render(template, algorithm.tparams, algorithm.sealed)
    if algorithm.manifest is None:
        raise BadInput(f"The algorithm {algorithm.name} has neither manifest nor template.")
    return saved_files.read(project, saved_files.name_of(project, algorithm.manifest, "manifest"))


def engine_of(algorithm: Algorithm) -> Engine:
    """The engine that runs the jobs of an algorithm."""
    return Engine(settings().job_engine) if algorithm.cluster is None else Engine.CLUSTER


def digest_of(algorithm: Algorithm, text: str | bytes) -> str:
    """The SHA-256 of what a launch runs: the manifest's text, the parameters, the cluster and the level of its jobs."""
    parts = [text if isinstance(text, str) else text.decode(errors="surrogateescape"), algorithm.parameters]
    return sha256(msgspec.json.encode([*parts, algorithm.cluster, algorithm.level])).hexdigest()


def check_approved(algorithm: Algorithm, text: str | bytes, approval: Approval) -> None:
    """Check that what would run now is what was approved, or was last set by the same user.

    Raises:
        NotApproved: somebody else changed it.
    """
    found = digest_of(algorithm, text)
    is_own = found == algorithm.digest and algorithm.approver == approval.user
    if found != approval.digest and not is_own:
        raise NotApproved(f"Somebody else changed what the algorithm {algorithm.name!r} runs.")


def digest_now(project: Project, algorithm: Algorithm) -> str:
    """The digest of what an algorithm runs; empty where that cannot be had yet: nothing is approved then.

    Raises:
        Unavailable: the manifest could not be read; the change must be sent again.
    """
    try:
        return digest_of(algorithm, source(project, algorithm))
    except Unavailable:
        raise
    except LimnError:
        return ""


def cluster_of(project: Project, number: int) -> JobCluster:
    """A cluster of the project's organization. Raises NotFound."""
    found = records.get(JOB_CLUSTER, number)
    if found.organization != project.organization:
        raise NotFound.of("JobCluster", number)
    return found


def name_taken(name: str) -> BadInput:
    """What a second algorithm of a name meets."""
    return Taken(f"name: an algorithm called {name!r} exists already; names are unique across projects.")


def _check_approval(project: Project, caller: Caller, algorithm: Algorithm) -> None:
    """Check that a caller may have an algorithm run what it will run. The user that it names gives no authority.

    Raises:
        NotFound: the user is not a member, or the cluster is not one of the organization.
        Forbidden: a template needs an administrator of its organization; without a cluster, which is at the cost of
            the deployment, caller and user must be of staff.
    """
    named = records.get(USER, algorithm.user)
    if authentication.membership(algorithm.user, project.id) is None:
        raise NotFound.of("User", algorithm.user)
    if algorithm.template is not None:
        hosted_templates_service.get_allowed(algorithm.template, caller)
    if algorithm.cluster is not None:
        cluster_of(project, algorithm.cluster)
    elif not (caller.is_staff and named.is_staff):
        raise Forbidden("cluster: only users of staff may register or change algorithms without a job cluster.")


def _level_within(held: Level, named: ProjectLevelName | None, before: ProjectLevelName = "Can Execute") -> Any:
    """The level of an algorithm's jobs: as named, else as before, and never above that of who approves it.

    Raises:
        Forbidden: a level is named that the caller does not have.
    """
    if named is not None and LEVEL_OF[named] > held:
        raise Forbidden(f"level: {named!r} is above your own, {name_of_level(Permission.VIEW, held)!r}.")
    return name_of_level(Permission.VIEW, min(held, LEVEL_OF[named or before]))


def _get_active(algorithm: Algorithm) -> Algorithm:
    """An algorithm without a cluster or template that was deleted."""
    cluster = algorithm.cluster if _exists(JOB_CLUSTER, algorithm.cluster) else None
    template = algorithm.template if _exists(HOSTED_TEMPLATE, algorithm.template) else None
    return msgspec.structs.replace(algorithm, cluster=cluster, template=template)


def _exists(kind: RecordKind[Any], number: int | None) -> bool:
    return number is not None and records.maybe(kind, number) is not None


def _free(name: str) -> None:
    """Take a name from an algorithm whose project was deleted: its records are purged later, its names are free now."""
    holder = records.get_claimed(ALGORITHM, "name", name.casefold())
    if holder is not None and records.get(PROJECT, holder.project).deleted is not None:
        records.discard(ALGORITHM, holder.id)
