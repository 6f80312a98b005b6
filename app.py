"""The API: one Lambda behind API Gateway. Every route comes from a declaration; see `chalicelib/api/catalogue.py`."""

from __future__ import annotations

import gc
import json
import sys
import time
from functools import lru_cache
from typing import Any

from chalice import Chalice, CORSConfig, Response

from chalicelib.api.router import GREEDY, Router
from chalicelib.api.routes import chosen, routes, variable_names
from chalicelib.errors import LimnError, WrongMethod
from chalicelib.http.dispatch import Request, dispatch
from chalicelib.http.encoding import SAFE_IN_BROWSERS, encode_error
from chalicelib.http.operation import Operation
from chalicelib.settings import reached_at, settings


class App(Chalice):  # type: ignore[misc]  # Chalice has no types
    """Chalice, which also serves the requests that API Gateway's greedy resources hand over."""

    def __call__(self, event: Any, context: Any) -> Any:
        """Serve one event.

        Requests of a greedy resource name no route: it is found here, and paths and methods that no operation has are
        refused as the gateway refuses them elsewhere.
        """
        place = event.get("requestContext", {})
        prefix, greedy, _ = place.get("resourcePath", "").partition(GREEDY)
        if not greedy:
            return super().__call__(event, context)
        method, path = place["httpMethod"], prefix + event["pathParameters"]["proxy"]
        try:
            route, variables = _router().find(path)
            if method not in self.routes[route]:
                raise WrongMethod(method, path, tuple(self.routes[route]))
        except LimnError as error:
            answer = encode_error(error)
            headers = {**SAFE_IN_BROWSERS, **answer.headers, "Access-Control-Allow-Origin": settings().cors_origin}
            return Response(answer.body, headers, answer.status).to_dict(self.api.binary_types)
        place = {**place, "resourcePath": route}
        event = {**event, "resource": route, "pathParameters": variables, "requestContext": place}
        return super().__call__(event, context)


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
        sys.stdout.write(json.dumps({**line, "stage": stage, "function_name": f"limn-{stage}-api"}) + "\n")
    _cold = False


def _view(operations: dict[str, Operation]) -> Any:
    def view(**places: str) -> Response:
        _count_cold_start()
        request = app.current_request
        if not settings().public_url:
            reached_at(f"https://{request.context['domainName']}/{request.context['stage']}")
        operation = chosen(operations, request.method, request.raw_body)
        variables = dict(zip(variable_names(operation.path), places.values(), strict=True))
        query = request.query_params
        answer = dispatch(
            operation,
            Request(
                method=request.method,
                path=request.path or request.context.get("path", ""),
                variables=variables,
                query={name: query.getlist(name) for name in query} if query else {},
                headers={name.lower(): value for name, value in request.headers.items()},
                body=request.raw_body or None,
                id=request.context.get("requestId", ""),
                network_address=request.context.get("identity", {}).get("sourceIp") or "",
            ),
        )
        # Chalice refuses bytes to clients that did not ask for exactly their type; our clients send image/* or nothing.
        request.headers = {"accept": "*/*"}
        return Response(body=answer.body, status_code=answer.status, headers=dict(answer.headers))

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

# what was imported stays: a full collection between two bulk changes would otherwise look at all of it
gc.freeze()
