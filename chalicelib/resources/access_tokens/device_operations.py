"""Sign-ins by device (RFC 8628): for programs on machines without a browser, or that should never see a password."""

from __future__ import annotations

from datetime import datetime

from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.core.time import clock
from chalicelib.http.operation import GROUPS, Call, NoQuery, Operations
from chalicelib.resources.access_tokens import devices
from chalicelib.resources.access_tokens.schemas import (
    DeviceAnswer,
    DeviceCodeQuery,
    DeviceCodes,
    DeviceSignIn,
    DeviceSignInSpec,
    DeviceToken,
    DeviceTokenSpec,
)

OPERATIONS = Operations(tag="Accounts", scoped=False)


@OPERATIONS.post("/rest/DeviceAuthorizations", "CreateDeviceAuthorization", needs=Permission.ANYONE)
def begin(call: Call[None, NoQuery, DeviceSignInSpec]) -> DeviceCodes:
    """Begin the sign-in of a device: the answer has a code that it shows, and one that it keeps.

    A person who is signed in opens `verification_uri`, types `user_code`, sees what the device asks for and confirms
    it. Meanwhile the device asks `POST /rest/DeviceToken` every `interval` seconds. Both codes end after ten minutes,
    and only their hashes are stored.
    """
    return devices.begin(call.caller, call.body)


@OPERATIONS.get("/rest/DeviceAuthorization", "GetDeviceAuthorization", needs=Permission.SIGNED_IN)
def show(call: Call[None, DeviceCodeQuery, None]) -> DeviceSignIn:
    """What the device with a code asks for, and where it asked from, for the person who confirms it."""
    return devices.show(call.caller, call.query.user_code)


@OPERATIONS.patch("/rest/DeviceAuthorization", "UpdateDeviceAuthorization", needs=Permission.SIGNED_IN, audits="token")
def answer(call: Call[None, NoQuery, DeviceAnswer]) -> MessageResponse:
    """Approve or deny the sign-in of a device, once.

    When it is approved, the device gets an access token of the caller within the limits that it asked for, or within
    those of the body. It ends after 90 days unless `expires_datetime` says when.
    """
    asked = devices.answer(call.caller, call.body, GROUPS)
    did = "approved" if call.body.decision == "approve" else "denied"
    return MessageResponse(message=f"Device {asked.name} {did}!")


@OPERATIONS.post("/rest/DeviceToken", "CreateDeviceToken", needs=Permission.ANYONE, audits="sign-in")
def redeem(call: Call[None, NoQuery, DeviceTokenSpec]) -> DeviceToken:
    """Get the access token of a device that a person approved, once.

    Until then the answer is 400, whose member `error` is `authorization_pending`; `slow_down` where the device asks
    more often than every five seconds, `access_denied` where the person denied it, and `expired_token` where the code
    is unknown, was used or has ended.
    """
    made, token = devices.redeem(call.body.device_code)
    left = datetime.fromisoformat(made.expires_datetime) - clock.utc_now()
    return DeviceToken(access_token=token, expires_in=int(left.total_seconds()), id=made.id)
