"""Algorithms: their registration with every rule of it, and the manifest that a launch runs."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import PROJECT, USER, Project
from chalicelib.core.models.algorithms import ALGORITHM, Algorithm, AlgorithmSpec, AlgorithmUpdateSpec
from chalicelib.core.models.integrations import HOSTED_TEMPLATE, JOB_CLUSTER, JobCluster
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import given
from chalicelib.errors import BadInput, Forbidden, LimnError, NotFound
from chalicelib.resources.algorithms import saved_files
from chalicelib.resources.hosted_templates import service as hosted_templates_service
from chalicelib.storage.dynamodb import ids, records
from chalicelib.workflows.checks import Engine, check


def register(project: Project, caller: Caller, spec: AlgorithmSpec) -> Algorithm:
    """Register an algorithm. Any valid manifest is taken; what its engine cannot do is refused at the launch.

    Raises:
        NotFound: the user or the cluster is not there.
        Forbidden: without a cluster, the user named is not of staff; or the template is another organization's.
        BadInput: the name is taken in any project, or manifest or template cannot be used.
    """
    _check_runner(project, spec.user, spec.cluster)
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
        sealed=hosted_templates_service.seal(spec.headers or []),
    )
    _free(spec.name)
    if records.get_claimed(ALGORITHM, "name", spec.name.casefold()):
        raise name_taken(spec.name)
    if spec.template is not None:
        hosted_templates_service.get_allowed(spec.template, caller)
    if spec.manifest is not None:
        name = saved_files.name_of(project, spec.manifest, "manifest")
        algorithm.manifest = saved_files.url_of(project.id, name)
    check(source(project, algorithm), Engine.CLUSTER)
    return records.create(ALGORITHM, algorithm, taken=name_taken(spec.name))


def change(project: Project, caller: Caller, algorithm: Algorithm, body: AlgorithmUpdateSpec) -> None:
    """Change the members given; a manifest is kept as it is named, and looked at when it is launched.

    Raises:
        As `register`, where what is given breaks a rule.
    """
    members: dict[str, Any] = given(body)
    if not members:
        raise BadInput("No recognized keys in request!")
    if body.user is not None or body.cluster is not None:
        _check_runner(project, body.user or algorithm.user, body.cluster or _get_active(algorithm).cluster)
    if body.template is not None:
        hosted_templates_service.get_allowed(body.template, caller)
    if "headers" in members:
        del members["headers"]
        members["sealed"] = hosted_templates_service.seal(body.headers or [])
    if body.name is not None:
        _free(body.name)
    members = {name: getattr(body, name, value) for name, value in members.items()}
    records.edit(
        ALGORITHM,
        algorithm.id,
        lambda current: hosted_templates_service.change_use(current, members),
        taken=name_taken(body.name or ""),
    )


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
    """What runs an algorithm."""
    return Engine.BATCH if algorithm.cluster is None else Engine.CLUSTER


def cluster_of(project: Project, number: int) -> JobCluster:
    """A cluster of the project's organization. Raises NotFound."""
    found = records.get(JOB_CLUSTER, number)
    if found.organization != project.organization:
        raise NotFound.of("JobCluster", number)
    return found


def name_taken(name: str) -> BadInput:
    """What a second algorithm of a name meets."""
    return BadInput(f"name: an algorithm called {name!r} exists already; names are unique across projects.")


def _check_runner(project: Project, user: int, cluster: int | None) -> None:
    """The user of an algorithm must be in the project; without a cluster, it runs at the cost of the deployment."""
    named_user = records.get(USER, user)
    if authentication.membership(user, project.id) is None:
        raise NotFound.of("User", user)
    if cluster is not None:
        cluster_of(project, cluster)
    elif not named_user.is_staff:
        raise Forbidden("cluster: only users of staff may register algorithms without a job cluster.")


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
        try:
            records.remove(ALGORITHM, holder.id)
        except NotFound:
            return
