"""Public projects: who reads them without an account is a guest who is shown all of the project (decision 214)."""

from __future__ import annotations

from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import ORGANIZATION, PROJECT, Project
from chalicelib.core.models.credentials import public_reader
from chalicelib.storage.dynamodb import records


def reader(project: int, caller: Caller) -> Caller | None:
    """The caller to use for one without access to a project, if the project is public; else None."""
    found = records.maybe(PROJECT, project)
    if found is None or not list_open([found]):
        return None
    credential = public_reader(project, downloads=found.public_downloads)
    return Caller(id=0, credential=credential, network_address=caller.network_address)


def list_open(projects: list[Project]) -> list[Project]:
    """The public projects among some whose organizations allow that."""
    public = [project for project in projects if project.public and project.deleted is None]
    owners = records.many(ORGANIZATION, {project.organization for project in public})
    allowing = {number for number, each in owners.items() if not each.forbids_public_projects}
    return [project for project in public if project.organization in allowing]
