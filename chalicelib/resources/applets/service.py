"""Applets: their registration, and what they show."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.algorithms import APPLET, Applet, AppletSpec, AppletUpdate
from chalicelib.core.resource import given, now
from chalicelib.errors import BadInput, LimnError
from chalicelib.resources.algorithms import saved_files
from chalicelib.resources.hosted_templates import service as hosted_templates_service
from chalicelib.storage.dynamodb import ids, records


def register(project: Project, caller: Caller, spec: AppletSpec) -> Applet:
    """Register an applet.

    Raises:
        BadInput: it has neither page nor template, the page was not saved in this project, or the template cannot be
            used.
        Forbidden: the template is another organization's.
    """
    if spec.html_file is None and spec.template is None:
        raise BadInput("Request body validation error", "'html_file' is a required property without a template.")
    applet = Applet(
        id=ids.reserve(APPLET.name)[0],
        project=project.id,
        name=spec.name,
        description=spec.description or "",
        html_file=_file(project, spec.html_file) if spec.html_file is not None else None,
        categories=spec.categories or [],
        template=spec.template,
        tparams=spec.tparams or [],
        sealed=hosted_templates_service.seal(spec.headers or []),
        created_datetime=now(),
    )
    if spec.template is not None:
        hosted_templates_service.render(
            hosted_templates_service.get_allowed(spec.template, caller), applet.tparams, applet.sealed
        )
    return records.create(APPLET, applet)


def change(project: Project, caller: Caller, applet: Applet, body: AppletUpdate) -> None:
    """Change the members given; a page that is replaced is removed."""
    members: dict[str, Any] = given(body)
    if not members:
        raise BadInput("No recognized keys in request!")
    template = body.template or applet.template
    if template is not None and members.keys() & {"template", "tparams", "headers"}:
        hosted_templates_service.get_allowed(template, caller)
    if members.pop("headers", None) is not None:
        members["sealed"] = hosted_templates_service.seal(body.headers or [])
    if body.html_file is not None:
        members["html_file"] = _file(project, body.html_file)
    after = records.edit(APPLET, applet.id, lambda current: hosted_templates_service.change_use(current, members))
    if after.html_file != applet.html_file:
        saved_files.remove_unused(project, applet.html_file)


def remove(project: Project, applet: Applet) -> None:
    """Remove an applet and its page."""
    records.remove(APPLET, applet.id)
    saved_files.remove_unused(project, applet.html_file)


def as_response(applet: Applet) -> Applet:
    """An applet with what its template gives now; without, where that cannot be had."""
    if applet.template is None:
        return applet
    try:
        template = hosted_templates_service.find(applet.template)
    except BadInput:
        return msgspec.structs.replace(applet, template=None)
    try:
        page = hosted_templates_service.render(template, applet.tparams, applet.sealed)
    except LimnError:
        return applet
    return msgspec.structs.replace(applet, rendered=page)


def _file(project: Project, url: str) -> str:
    """Where a saved page is served."""
    name = saved_files.name_of(project, url, "html_file")
    return f"{saved_files.PATH}/{saved_files.url_of(project.id, name)}"
