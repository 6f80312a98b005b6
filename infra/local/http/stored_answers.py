"""What CloudFront does on AWS: hand out stored answers by their addresses, whatever Authorization a request carries.

The address names when it ends, as the function `AnswersExpiry` of `infra/stateful.yaml` reads it.
"""

from __future__ import annotations

import re
from typing import Any

import boto3
from botocore.exceptions import ClientError

from chalicelib.core.time import clock
from chalicelib.settings import settings
from infra.local.http.reply import Reply

PREFIX = "/answers/"
_PATH = re.compile(r"/answers/(?P<end>[0-9]{1,12})/[0-9a-f]{64}")
_SAFE = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""CloudFront answers from an origin of its own; here it is that of the API, where a drawing must run nothing."""
_SHOWN = {"ContentType": "Content-Type", "ContentEncoding": "Content-Encoding", "CacheControl": "Cache-Control"}


class StoredAnswers:
    """The distribution's stand-in: `serve` is a folder of the local gateway."""

    def __init__(self, region: str) -> None:
        self._s3 = boto3.client("s3", region_name=region)

    def serve(self, method: str, path: str) -> Reply:
        """The stored answer at a path; 403 after its end, and for all that is not there."""
        found = _PATH.fullmatch(path)
        if method not in ("GET", "HEAD") or found is None or int(found["end"]) <= clock.seconds():
            return _FORBIDDEN
        try:
            got: dict[str, Any] = dict(self._s3.get_object(Bucket=settings().views_bucket, Key=path[1:]))
        except ClientError:
            return _FORBIDDEN
        headers = {shown: got[name] for name, shown in _SHOWN.items() if name in got}
        return Reply(200, {**headers, **_SAFE, "Access-Control-Allow-Origin": "*"}, got["Body"].read())


_FORBIDDEN = Reply(403, {"Content-Type": "text/plain"}, b"Forbidden")
