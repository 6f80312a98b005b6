"""How the boto3 clients of this process reach the local queue.

Botocore checks and serializes each call as ever; instead of being sent, it is handed to `Calls`.
"""

from __future__ import annotations

import json
from typing import Any

import boto3
from botocore import xform_name
from botocore.awsrequest import AWSResponse, HTTPHeaders

from infra.emulator.batch.calls import CallRefused, Calls

_EVENTS = ("before-call.batch", "before-call.cloudwatch-logs.GetLogEvents")
_ID = "limn-local-batch"


def connect(calls: Calls) -> None:
    """Have clients that are made from now on by the default session call `calls`."""

    def answer(model: Any, params: dict[str, Any], **_: Any) -> tuple[AWSResponse, dict[str, Any]]:
        method = getattr(calls, xform_name(model.name))
        try:
            status, parsed = 200, method(**json.loads(params["body"] or b"{}"))
        except CallRefused as refusal:
            status, parsed = 400, {"Error": {"Code": "ClientException", "Message": str(refusal)}}
        parsed["ResponseMetadata"] = {"HTTPStatusCode": status, "HTTPHeaders": {}, "RetryAttempts": 0}
        return AWSResponse(params["url"], status, HTTPHeaders(), b""), parsed

    events = _events()
    for name in _EVENTS:
        events.unregister(name, unique_id=f"{_ID}-{name}")
        events.register(name, answer, unique_id=f"{_ID}-{name}")


def disconnect() -> None:
    """Undo `connect`, for clients that are made from now on."""
    for name in _EVENTS:
        _events().unregister(name, unique_id=f"{_ID}-{name}")


def _events() -> Any:
    if boto3.DEFAULT_SESSION is None:
        boto3.setup_default_session()
    return boto3.DEFAULT_SESSION.events  # type: ignore[union-attr]
