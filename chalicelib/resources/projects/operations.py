"""Projects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta

from chalicelib.access import authentication, rate_limits, users
from chalicelib.access.authentication import Caller
from chalicelib.access.identities import public_projects
from chalicelib.core.models.accounts import MEMBERSHIP, ORGANIZATION, Project, User
from chalicelib.core.models.accounts import PROJECT as PROJECT_RECORD
from chalicelib.core.models.integrations import BUCKET
from chalicelib.core.permissions import Level, Permission, name_of_level
from chalicelib.core.resource import Id, Name, Resource, Summary, Uuid, answer, given
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.errors import BadInput, Forbidden
from chalicelib.http.addresses import PROJECT_BY_ID
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.projects import counts as projects_counts
from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import ProjectSpec, ProjectUpdate
from chalicelib.resources.uploads import thumbs
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Projects", audits="policy")


class ProjectQuery(Resource, kw_only=True):
    """The filters of the caller's projects."""

    organization: Id | None = None
    elemental_id: Uuid | None = None


class PublicProjectsQuery(Resource, kw_only=True):
    """Which part of the list."""

    start: Annotated[int, Meta(ge=0, le=2**53, description="How many to leave out.")] = 0
    stop: Annotated[int, Meta(ge=0, le=2**53, description="The number before which the list ends.")] = 100


class PublicProject(Resource, kw_only=True):
    """A public project, as anybody sees it in the list."""

    id: int
    name: Name
    summary: Summary = ""
    num_files: Annotated[int, Meta(description="How many media there are.")] = 0


class ProjectChanged(Resource, kw_only=True):
    """The answer to a PATCH of a project."""

    message: str
    object: Project


@OPERATIONS.get("/rest/Projects", "GetProjectList", needs=Permission.SIGNED_IN)
def list_projects(call: Call[None, ProjectQuery, None]) -> list[Project]:
    """The projects the caller is a member of, by id."""
    wanted = call.query
    found = []
    levels = authentication.projects_of(call.caller, reads_along=True)
    for project in records.many(PROJECT_RECORD, levels).values():
        if project.deleted is not None:
            continue
        if wanted.organization not in (None, project.organization):
            continue
        if wanted.elemental_id is not None and wanted.elemental_id.lower() != project.elemental_id:
            continue
        found.append(project)
    found = projects_counts.refresh_listed(sorted(found, key=lambda project: project.id))
    members = [_members(each) for each in found]
    named = users.by_id(number for numbers in members for number in numbers)
    shown = [
        _seen(projects_counts.within(each, call.scope), call.caller, levels[each.id], [named.get(n) for n in numbers])
        for each, numbers in zip(found, members, strict=True)
    ]
    return thumbs.show_projects(call.caller.id, shown)


@OPERATIONS.get("/rest/PublicProjects", "GetPublicProjectList", needs=Permission.ANYONE)
def list_public_projects(call: Call[None, PublicProjectsQuery, None]) -> list[PublicProject]:
    """The public projects that are listed, by id. Anybody may read them, without an account."""
    if not call.caller.signed_in:
        rate_limits.check_guest(call.caller)
    listed = public_projects.list_open(records.list_linked(PROJECT_RECORD, "public", "listed"))
    return [
        PublicProject(id=each.id, name=each.name, summary=each.summary, num_files=each.num_files)
        for each in listed[call.query.start : call.query.stop]
    ]


@OPERATIONS.post("/rest/Projects", "CreateProject", needs=Permission.SIGNED_IN)
def create_project(call: Call[None, ProjectQuery, ProjectSpec]) -> CreateResponse:
    """Make a project in an organization that the caller administers.

    It has a version called Baseline at once, and a membership for every user of the organization where the organization
    gives one by default.
    """
    level = authentication.organization_level(call.caller, call.body.organization)
    if level < Level.FULL:
        raise Forbidden
    concern(organization=call.body.organization)
    _check_buckets(call.body, call.caller, call.body.organization)
    _check_public(call.body, call.caller, call.body.organization)
    if call.body.thumb is not None:
        raise BadInput("thumb: a new project has no uploads yet; set its picture by a PATCH.")
    organization = records.get(ORGANIZATION, call.body.organization)
    project = projects_service.create_project(call.body, call.caller.id, organization.default_membership_permission)
    return CreateResponse(
        message=f"Project {project.name} created!",
        id=project.id,
        object=answer(_seen(project, call.caller, Level.FULL)),
    )


@OPERATIONS.get("/rest/Project/{id}", "GetProject", needs=Permission.VIEW, addresses=PROJECT_BY_ID)
def get_project(call: Call[Project, NoQuery, None]) -> Project:
    """One project.

    Right after many writes `num_files`, `size`, `duration` and the picture may be those that were counted last.
    """
    view = call.caller.guest_view
    counted = call.target if view is not None else projects_counts.refresh(call.target)
    project = _seen(projects_counts.within(counted, call.scope), call.caller, call.level)
    if view is not None and not view.is_whole:  # its picture may be of what is not shown
        return msgspec.structs.replace(project, thumb=None)
    return thumbs.show_projects(call.caller.id, [project])[0]


@OPERATIONS.patch(
    "/rest/Project/{id}", "UpdateProject", needs=Permission.FULL, addresses=PROJECT_BY_ID, schema_answer=MessageResponse
)
def update_project(call: Call[Project, NoQuery, ProjectUpdate]) -> ProjectChanged:
    """Change a project."""
    change = given(call.body)
    if not change:
        raise BadInput("No recognized keys in request!")
    _check_buckets(call.body, call.caller, call.target.organization)
    _check_public(call.body, call.caller, call.target.organization)
    if elemental := change.get("elemental_id"):
        change["elemental_id"] = elemental.lower()
    if upload := change.get("thumb"):
        change["thumb"] = thumbs.take_project(call.target, call.caller.id, upload)
    elif change.get("thumb") is not None:
        raise BadInput("thumb: the key of an upload is needed.")
    if "usage_limits" in change:
        change["usage_warned"] = {}
    changed = records.edit(
        PROJECT_RECORD,
        call.target.id,
        lambda current: msgspec.structs.replace(current, **change),
        taken=projects_service.name_taken(),
    )
    if "thumb" in change:
        thumbs.remove_replaced_project(call.target, changed.thumb)
    changed = projects_counts.within(changed, call.scope)
    (seen,) = thumbs.show_projects(call.caller.id, [_seen(changed, call.caller, call.level)])
    return ProjectChanged(message=f"Project {changed.id} updated successfully!", object=seen)


@OPERATIONS.delete(
    "/rest/Project/{id}", "DeleteProject", needs=Permission.FULL, addresses=PROJECT_BY_ID, audits="deletion"
)
def delete_project(call: Call[Project, NoQuery, None]) -> MessageResponse:
    """Delete a project with all its media and annotations; for its creator."""
    if call.target.created_by != call.caller.id:
        raise Forbidden("Only the owner of a project may delete it.")
    projects_service.delete_project(call.target)
    return MessageResponse(message=f"Project {call.target.id} deleted successfully!")


def _check_buckets(body: ProjectUpdate, caller: Caller, organization: int) -> None:
    """Check that the caller administers the organization and that the buckets belong to it."""
    absent = None if isinstance(body, ProjectSpec) else UNSET
    named = [number for number in (body.bucket, body.upload_bucket, body.backup_bucket) if number is not absent]
    wanted = [number for number in named if isinstance(number, int)]
    if named and authentication.organization_level(caller, organization) < Level.FULL:
        raise Forbidden("Setting a bucket on a project needs administrative access in the organization.")
    for number in wanted:
        bucket = records.get(BUCKET, number)
        if bucket.organization != organization:
            raise Forbidden(f"Bucket {number} belongs to another organization.")
        buckets_service.check_kind(bucket)


def _check_public(body: ProjectUpdate, caller: Caller, organization: int) -> None:
    """Check that the caller may open a project, or its originals, to anybody; closing is free. Raises Forbidden."""
    if not body.public and not body.public_downloads:
        return
    if authentication.organization_level(caller, organization) < Level.FULL:
        raise Forbidden("public: opening a project needs administrative access in the organization.")
    if records.get(ORGANIZATION, organization).forbids_public_projects:
        raise Forbidden("public: the organization keeps its projects for members; null is accepted.")


def _members(project: Project) -> list[int]:
    return [membership.user for membership in records.list_children(MEMBERSHIP, project.id)]


def _seen(project: Project, caller: Caller, level: Level, members: Iterable[User | None] | None = None) -> Project:
    """The project with computed members: the caller's permission and the names of its members, creator first."""
    known: Iterable[User] = users.by_id(_members(project)).values() if members is None else filter(None, members)
    names = sorted(known, key=lambda user: (user.id != project.created_by, user.last_name, user.username))
    if caller.is_guest:
        project = msgspec.structs.replace(
            project, bucket=None, upload_bucket=None, backup_bucket=None, usage_limits=None
        )
    is_creator = project.created_by == caller.id and not caller.is_limited
    return msgspec.structs.replace(
        project,
        permission="Creator" if is_creator else name_of_level(Permission.VIEW, level),
        usernames=[] if caller.is_guest else [user.display_name for user in names],
    )
