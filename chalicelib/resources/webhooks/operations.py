"""Webhooks: register, list, change and delete them; rotate secrets, try, list and repeat deliveries."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.core.models.accounts import Organization, Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import given
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput
from chalicelib.http.addresses import ORGANIZATION_ADDRESS, PROJECT, record_of_either
from chalicelib.http.operation import Call, NoQuery, Operation
from chalicelib.resources.webhooks import service as webhooks_service
from chalicelib.resources.webhooks.schemas import (
    WEBHOOK,
    Delivery,
    DeliveryQuery,
    RedeliverySpec,
    RotationSpec,
    SecretRotated,
    Webhook,
    WebhookCreated,
    WebhookSpec,
    WebhookUpdate,
)
from chalicelib.storage.dynamodb import records

TAG = "Webhooks"
ONE = record_of_either(WEBHOOK)
_SENDS = (
    "Each event is one POST of JSON, signed as Standard Webhooks 1.0 says, at least once and in order of the project's "
    "commits. What does not answer 2xx within 15 seconds is tried again for three days."
)


def list_of_project(call: Call[Project, NoQuery, None]) -> list[Webhook]:
    """The webhooks of a project."""
    return records.list_linked(WEBHOOK, "project", call.project)


def list_of_organization(call: Call[Organization, NoQuery, None]) -> list[Webhook]:
    """The webhooks of an organization."""
    return records.list_linked(WEBHOOK, "organization", call.organization)


def create_in_project(call: Call[Project, NoQuery, WebhookSpec]) -> WebhookCreated:
    """Register a webhook for a project."""
    return _creation_response(*webhooks_service.create(call.body, call.caller, project=call.project, organization=None))


def create_in_organization(call: Call[Organization, NoQuery, WebhookSpec]) -> WebhookCreated:
    """Register a webhook for an organization."""
    return _creation_response(
        *webhooks_service.create(call.body, call.caller, project=None, organization=call.organization)
    )


def _creation_response(webhook: Webhook, secret: str) -> WebhookCreated:
    return WebhookCreated(message="Webhook created successfully!", id=webhook.id, secret=secret)


def get_webhook(call: Call[Webhook, NoQuery, None]) -> Webhook:
    """One webhook."""
    return call.target


def update_webhook(call: Call[Webhook, NoQuery, WebhookUpdate]) -> MessageResponse:
    """Replace the given members."""
    members = given(call.body)
    if not members:
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(WebhookUpdate))
        raise BadInput(f"Nothing to change: give one of {names}.")

    def how(current: Webhook) -> Webhook:
        return msgspec.structs.replace(current, **webhooks_service.change(current, dict(members), call.caller))

    changed = records.edit(WEBHOOK, call.target.id, how)
    if "active" in members:
        webhooks_service.resume(changed)
    return MessageResponse(message=f"Webhook {call.target.id} updated successfully!")


def delete_webhook(call: Call[Webhook, NoQuery, None]) -> MessageResponse:
    """Delete the webhook."""
    webhooks_service.remove(call.target)
    return MessageResponse(message=f"Webhook {call.target.id} deleted successfully!")


def rotate_secret(call: Call[Webhook, NoQuery, RotationSpec]) -> SecretRotated:
    """Replace the secret."""
    secret, until = webhooks_service.rotate(call.target, call.body.keep_hours if call.body else 24)
    return SecretRotated(message="The secret is replaced.", secret=secret, previous_secret_until=until)


def ping(call: Call[Webhook, NoQuery, None]) -> Delivery:
    """Send an event for trial."""
    return webhooks_service.ping(call.target)


def list_deliveries(call: Call[Webhook, DeliveryQuery, None]) -> list[Delivery]:
    """The deliveries, newest first."""
    return webhooks_service.deliveries(call.target, call.query)


def redeliver(call: Call[Webhook, NoQuery, RedeliverySpec]) -> MessageResponse:
    """Send events again."""
    return MessageResponse(message=webhooks_service.redeliver(call.target, call.body))


def _operation(id_: str, method: str, path: str, summary: str, handler: Any, returns: Any, **more: Any) -> Operation:
    members: dict[str, Any] = {"needs": Permission.FULL, "addresses": ONE, "tag": TAG, **more}
    return Operation(id=id_, method=method, path=path, summary=summary, handler=handler, returns=returns, **members)


OPERATIONS = (
    _operation(
        "GetWebhookList",
        "GET",
        "/rest/Webhooks/{project}",
        "The webhooks of a project.",
        list_of_project,
        list[Webhook],
        addresses=PROJECT,
    ),
    _operation(
        "CreateWebhook",
        "POST",
        "/rest/Webhooks/{project}",
        "Register a server that gets the events of a project.",
        create_in_project,
        WebhookCreated,
        addresses=PROJECT,
        body=WebhookSpec,
        details=_SENDS,
    ),
    _operation(
        "GetOrganizationWebhookList",
        "GET",
        "/rest/OrganizationWebhooks/{organization}",
        "The webhooks of an organization.",
        list_of_organization,
        list[Webhook],
        addresses=ORGANIZATION_ADDRESS,
        needs=Permission.ADMIN,
    ),
    _operation(
        "CreateOrganizationWebhook",
        "POST",
        "/rest/OrganizationWebhooks/{organization}",
        "Register a server that gets the events of an organization's projects.",
        create_in_organization,
        WebhookCreated,
        addresses=ORGANIZATION_ADDRESS,
        needs=Permission.ADMIN,
        body=WebhookSpec,
        details=f"Of the projects that the caller may see, new ones included. {_SENDS}",
        makes="Webhook",
    ),
    _operation("GetWebhook", "GET", "/rest/Webhook/{id}", "One webhook.", get_webhook, Webhook),
    _operation(
        "UpdateWebhook",
        "PATCH",
        "/rest/Webhook/{id}",
        "Change a webhook: the members given, and no others.",
        update_webhook,
        MessageResponse,
        body=WebhookUpdate,
        details="Who changes url, types, query or active becomes its owner.",
    ),
    _operation("DeleteWebhook", "DELETE", "/rest/Webhook/{id}", "Delete a webhook.", delete_webhook, MessageResponse),
    _operation(
        "RotateWebhookSecret",
        "POST",
        "/rest/WebhookSecret/{id}",
        "Replace the secret of a webhook; for a time messages are signed with both.",
        rotate_secret,
        SecretRotated,
        body=RotationSpec,
        body_required=False,
        status=200,
    ),
    _operation(
        "PingWebhook",
        "POST",
        "/rest/WebhookPing/{id}",
        "Send `limn.ping` to a webhook now, and answer what came of it.",
        ping,
        Delivery,
        status=200,
    ),
    _operation(
        "GetWebhookDeliveryList",
        "GET",
        "/rest/WebhookDeliveries/{id}",
        "The attempts of the last seven days to send events to a webhook, newest first.",
        list_deliveries,
        list[Delivery],
        query=DeliveryQuery,
    ),
    _operation(
        "RedeliverEvents",
        "POST",
        "/rest/WebhookRedelivery/{id}",
        "Send one event again, or all events after a position or since a time.",
        redeliver,
        MessageResponse,
        body=RedeliverySpec,
        status=200,
        details="One event is sent out of order, once. `after` and `since` move the webhook back in the feed: all "
        "later events are sent again, in order.",
    ),
)
