"""Hosted templates: manifests and applets that are fetched from a URL."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.accounts import Organization
from chalicelib.core.models.integrations import (
    HOSTED_TEMPLATE,
    HostedTemplate,
    HostedTemplateSpec,
    HostedTemplateUpdate,
)
from chalicelib.core.permissions import Permission
from chalicelib.core.web import http_headers
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.hosted_templates import service as hosted_templates_service
from chalicelib.resources.uploads import fetching
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import ids, records


def make_template(call: Call[Organization, NoQuery, HostedTemplateSpec]) -> HostedTemplate:
    """Register a template. It is fetched when it is used, not now."""
    spec = call.body
    fetching.check_address(spec.url, call.organization)
    template = HostedTemplate(
        id=ids.reserve(HOSTED_TEMPLATE.name)[0],
        organization=call.organization,
        name=spec.name,
        url=spec.url,
        tparams=spec.tparams or [],
        sealed=sealing.seal_headers(spec.headers or [], hosted_templates_service.OWN),
    )
    return records.create(HOSTED_TEMPLATE, template)


def change_template(
    call: Call[HostedTemplate, NoQuery, HostedTemplateUpdate], change: dict[str, Any]
) -> dict[str, Any]:
    """Update the given members; headers are encrypted."""
    if call.body.url is not None:
        fetching.check_address(call.body.url, call.organization)
        if call.target.sealed:
            http_headers.check_moved(call.target.url, call.body.url, is_given="headers" in change)
    if "headers" in change:
        change["sealed"] = sealing.seal_headers(change.pop("headers"), hosted_templates_service.OWN)
    return change


OPERATIONS = record_operations(
    RecordResource(
        kind=HOSTED_TEMPLATE,
        tag="Organizations",
        read=Permission.ADMIN,
        write=Permission.ADMIN,
        spec=HostedTemplateSpec,
        update=HostedTemplateUpdate,
        schema_update=HostedTemplateSpec,
        store=make_template,
        check_change=change_template,
    )
)
