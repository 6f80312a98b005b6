"""Webhooks: register, list, change and delete them; rotate secrets, try, list and repeat deliveries."""

from __future__ import annotations

import msgspec

from chalicelib.core.models.accounts import Organization, Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import given
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput, Forbidden
from chalicelib.http.addresses import ORGANIZATION_ADDRESS, PROJECT, record_of_either
from chalicelib.http.operation import Call, NoQuery, Operations
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
OPERATIONS = Operations(tag=TAG, addresses=record_of_either(WEBHOOK), needs=Permission.FULL, audits="policy")
_SENDS = (
    "Each event is one POST of JSON, signed as Standard Webhooks 1.0 says, at least once and in order of the project's "
    "commits. What does not answer 2xx within 15 seconds is tried again for three days."
)


@OPERATIONS.get("/rest/Webhooks/{project}", "GetWebhookList", addresses=PROJECT)
def list_of_project(call: Call[Project, NoQuery, None]) -> list[Webhook]:
    """The webhooks of a project."""
    return records.list_linked(WEBHOOK, "project", call.project)


@OPERATIONS.get(
    "/rest/OrganizationWebhooks/{organization}",
    "GetOrganizationWebhookList",
    addresses=ORGANIZATION_ADDRESS,
    needs=Permission.ADMIN,
)
def list_of_organization(call: Call[Organization, NoQuery, None]) -> list[Webhook]:
    """The webhooks of an organization."""
    return records.list_linked(WEBHOOK, "organization", call.organization)


@OPERATIONS.post("/rest/Webhooks/{project}", "CreateWebhook", addresses=PROJECT, details=_SENDS)
def create_in_project(call: Call[Project, NoQuery, WebhookSpec]) -> WebhookCreated:
    """Register a server that gets the events of a project."""
    return _creation_response(*webhooks_service.create(call.body, call.caller, project=call.project, organization=None))


@OPERATIONS.post(
    "/rest/OrganizationWebhooks/{organization}",
    "CreateOrganizationWebhook",
    addresses=ORGANIZATION_ADDRESS,
    needs=Permission.ADMIN,
    details=f"Of the projects that the caller may see, new ones included. {_SENDS}",
    makes="Webhook",
)
def create_in_organization(call: Call[Organization, NoQuery, WebhookSpec]) -> WebhookCreated:
    """Register a server that gets the events of an organization's projects."""
    return _creation_response(
        *webhooks_service.create(call.body, call.caller, project=None, organization=call.organization)
    )


def _creation_response(webhook: Webhook, secret: str) -> WebhookCreated:
    return WebhookCreated(message="Webhook created successfully!", id=webhook.id, secret=secret)


@OPERATIONS.get("/rest/Webhook/{id}", "GetWebhook")
def get_webhook(call: Call[Webhook, NoQuery, None]) -> Webhook:
    """One webhook."""
    return call.target


@OPERATIONS.patch("/rest/Webhook/{id}", "UpdateWebhook")
def update_webhook(call: Call[Webhook, NoQuery, WebhookUpdate]) -> MessageResponse:
    """Change a webhook: the members given, and no others.

    Who changes url, types, query or active becomes its owner.
    """
    members = given(call.body)
    if not members:
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(WebhookUpdate))
        raise BadInput(f"Nothing to change: give one of {names}.")

    def edit(current: Webhook) -> Webhook:
        return msgspec.structs.replace(current, **webhooks_service.change(current, dict(members), call.caller))

    changed = records.edit(WEBHOOK, call.target.id, edit)
    if "active" in members:
        webhooks_service.resume(changed)
    return MessageResponse(message=f"Webhook {call.target.id} updated successfully!")


@OPERATIONS.delete("/rest/Webhook/{id}", "DeleteWebhook")
def delete_webhook(call: Call[Webhook, NoQuery, None]) -> MessageResponse:
    """Delete a webhook."""
    webhooks_service.remove(call.target)
    return MessageResponse(message=f"Webhook {call.target.id} deleted successfully!")


@OPERATIONS.post("/rest/WebhookSecret/{id}", "RotateWebhookSecret", status=200)
def rotate_secret(call: Call[Webhook, NoQuery, RotationSpec | None]) -> SecretRotated:
    """Replace the secret of a webhook; for a time messages are signed with both.

    For its owner, because the answer has the secret. Who changes its URL, types, query or `active` becomes the owner.
    """
    if call.target.user != call.caller.id:
        raise Forbidden("Only its owner replaces the secret of a webhook; who changes its url becomes the owner.")
    secret, until = webhooks_service.rotate(call.target, call.body.keep_hours if call.body else 24)
    return SecretRotated(message="The secret is replaced.", secret=secret, previous_secret_until=until)


@OPERATIONS.post("/rest/WebhookPing/{id}", "PingWebhook", status=200)
def ping(call: Call[Webhook, NoQuery, None]) -> Delivery:
    """Send `limn.ping` to a webhook now, and answer what came of it."""
    return webhooks_service.ping(call.target)


@OPERATIONS.get("/rest/WebhookDeliveries/{id}", "GetWebhookDeliveryList")
def list_deliveries(call: Call[Webhook, DeliveryQuery, None]) -> list[Delivery]:
    """The attempts of the last seven days to send events to a webhook, newest first."""
    return webhooks_service.deliveries(call.target, call.query)


@OPERATIONS.post("/rest/WebhookRedelivery/{id}", "RedeliverEvents", status=200)
def redeliver(call: Call[Webhook, NoQuery, RedeliverySpec]) -> MessageResponse:
    """Send one event again, or all events after a position or since a time.

    One event is sent out of order, once. `after` and `since` move the webhook back in the feed: all later events are
    sent again, in order.
    """
    return MessageResponse(message=webhooks_service.redeliver(call.target, call.body))
