"""The API: one Lambda behind API Gateway. Every route comes from a declaration; see `chalicelib/api/catalogue.py`."""

from __future__ import annotations

import gc

gc.disable()  # all that is imported stays: to look for garbage among it takes a tenth of a cold start

import base64
import json
import os
import sys
import time
from functools import lru_cache
from typing import Any

from chalice import Chalice, CORSConfig

from chalicelib.api.router import GREEDY, Router
from chalicelib.api.routes import chosen, routes, variable_names
from chalicelib.errors import LimnError, WrongMethod
from chalicelib.http.dispatch import Request, dispatch
from chalicelib.http.encoding import SAFE_IN_BROWSERS, HttpAnswer, encode_error
from chalicelib.http.operation import Operation
from chalicelib.settings import reached_at, settings
from chalicelib.storage.dynamodb.progress import usage


class App(Chalice):  # type: ignore[misc]  # Chalice has no types
    """Chalice's routes and events. A request goes from its route straight to the dispatcher (decision 140)."""

    def __call__(self, event: Any, context: Any) -> Any:
        """Serve one event of API Gateway; any other is left to Chalice.

        Requests of a greedy resource name no route: it is found here, and paths and methods that no operation has are
        refused as the gateway refuses them elsewhere.
        """
        place = event.get("requestContext", {})
        route: str = place.get("resourcePath", "")
        if not route:
            return super().__call__(event, context)
        method, variables = place["httpMethod"], event["pathParameters"] or {}
        prefix, greedy, _ = route.partition(GREEDY)
        path = prefix + variables["proxy"] if greedy else route
        try:
            if greedy:
                route, variables = _router().find(path)
            methods = self.routes[route]
            if method not in methods:
                raise WrongMethod(method, path, tuple(methods))
        except LimnError as error:
            answer = encode_error(error)
            headers = {**SAFE_IN_BROWSERS, **answer.headers, "Access-Control-Allow-Origin": settings().cors_origin}
        else:
            entry = methods[method]
            answer = entry.view_function(event, route, variables)
            headers = answer.headers if entry.cors is None else {**_cors_headers(), **answer.headers}
        response = {"statusCode": answer.status, "headers": headers, "multiValueHeaders": {}, "body": answer.body}
        if self.api.binary_types:
            response |= {"body": base64.b64encode(answer.body).decode("ascii"), "isBase64Encoded": True}
        return response


@lru_cache(maxsize=1)
def _router() -> Router:
    return Router(app.routes)


app = App(app_name="limn")
app.api.binary_types = ["*/*"]  # all bodies are bytes: gzip, pictures, and JSON alike
app.api.cors = CORSConfig(
    allow_origin=settings().cors_origin,
    allow_headers=["Authorization", "Content-Type", "If-None-Match", "If-Modified-Since"],
    expose_headers=["ETag", "Location", "Last-Modified", "Limn-Commit", "Link"],
    max_age=3600,
)


_cold = True


def _count_cold_start() -> None:
    """Report the start of a container to CloudWatch, by a log line in the form of powertools' own metric."""
    global _cold  # noqa: PLW0603 of a process, as the metric is
    if _cold and settings().stage != "local":
        name, stage = "ColdStart", settings().stage
        directive: dict[str, Any] = {"Namespace": "Limn", "Dimensions": [["stage", "function_name"]]}
        directive["Metrics"] = [{"Name": name, "Unit": "Count"}]
        line = {"_aws": {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": [directive]}, name: 1}
        function = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", f"limn-{stage}-api")
        sys.stdout.write(json.dumps({**line, "stage": stage, "function_name": function}) + "\n")
    _cold = False


@lru_cache(maxsize=1)
def _cors_headers() -> dict[str, str]:
    headers: dict[str, str] = app.api.cors.get_access_control_headers()
    return headers


def _body(event: dict[str, Any]) -> bytes | None:
    body = event["body"]
    if not body:
        return None
    if event.get("isBase64Encoded"):
        return base64.b64decode(body)
    return body if isinstance(body, bytes) else body.encode()


def _view(operations: dict[str, Operation]) -> Any:
    def view(event: dict[str, Any], route: str, variables: dict[str, str]) -> HttpAnswer:
        _count_cold_start()
        place, body = event["requestContext"], _body(event)
        if not settings().public_url:
            reached_at(f"https://{place['domainName']}/{place['stage']}")
        operation = chosen(operations, place["httpMethod"], body)
        answer = dispatch(
            operation,
            Request(
                method=place["httpMethod"],
                path=route,
                variables={name: variables[f"p{n}"] for n, name in enumerate(variable_names(operation.path), 1)},
                query=event["multiValueQueryStringParameters"] or {},
                headers={name.lower(): value for name, value in (event["headers"] or {}).items()},
                body=body,
                id=place.get("requestId", ""),
                network_address=place.get("identity", {}).get("sourceIp") or "",
            ),
        )
        if usage.is_due() and operation.function == "media":
            usage.flush()
        elif usage.is_due():
            from chalicelib.resources.usage import service as usage_service  # noqa: PLC0415 once a minute

            usage_service.settle_due()
        return answer

    return view


for _path, _operations in routes().items():
    app.route(
        _path,
        methods=list(_operations),
        content_types=[],
        name=_path.strip("/").replace("/", "_") or "home",
        # None means the app's setting; a route that declares OPTIONS sets its own CORS headers
        cors=False if "OPTIONS" in _operations else None,
    )(_view(dict(_operations)))

_router()
# What was imported stays: a full collection between two bulk changes would otherwise look at all of it. A bulk change
# makes thousands of objects and no garbage.
gc.freeze()
gc.set_threshold(10_000, 20, 20)
gc.enable()
