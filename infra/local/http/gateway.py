"""API Gateway on this machine: HTTP in, the event Lambda would get, `app.py`'s answer out.

What it does as API Gateway does: routes before the function runs, hands over quoted path variables and every header
and parameter with all its values, refuses bodies above 4.6 MB, gives up after 29 seconds, and refuses answers above
Lambda's 6 MB. Unknown paths and methods are answered here, in our own error shape, as the deployed API's gateway
responses do.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import socket
import threading
import time
import uuid
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from chalicelib.access.authentication import authorization_of
from chalicelib.api.router import Router, resource_of
from chalicelib.errors import Forbidden, LimnError, TooLarge, Unavailable, WrongMethod
from chalicelib.http.encoding import encode_error, takes_gzip
from infra.emulator import peers, requests
from infra.emulator.sqlite import database
from infra.emulator.sqlite.integrity import CannotStore, Damaged
from infra.local.http.reply import Reply
from infra.local.http.slots import Slots, SlotTimeout, Turn

LARGEST_REQUEST = 4_600_000
"""Bytes of a body. Lambda's event has 6 MB, the body in base64; headers, given twice, and the rest need some 100 KB."""
LARGEST_RESPONSE = 6 * 1024 * 1024
SECONDS = 29.0
CLOCK_SECONDS = 0.5
"""How often it is looked for requests that take longer."""
MAX_RUNNING = 64
"""The most requests that run at the same time; others wait."""
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET,POST,PUT,PATCH,DELETE,OPTIONS",
    "Access-Control-Allow-Headers": "Authorization,Content-Type,If-None-Match,If-Modified-Since",
    "Access-Control-Max-Age": "3600",
}
CAREFUL = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
"""Headers of the local stack's own pages: they show mails and what operators do."""
NO_KEY = (
    "This page of the local stack needs its key. Open the address `outbox_url` of .limn/local.json, which the start "
    "prints too, or send an administrator's token in the header Authorization."
)
HEALTH = ("/rest/HealthCheck", "/rest/HealthCheckFull")
"""Paths that answer 503 while nothing can be stored, whatever the service itself says."""
_new_id = map(f"{uuid.uuid4()}-{{}}".format, itertools.count(1)).__next__
"""An id that no other request has."""
log = logging.getLogger("limn.local.gateway")

Page = Callable[[str, str, bytes], Reply]
Folder = Callable[[str, str], Reply]


class LambdaContext:
    """The context that Lambda passes to a function."""

    function_name = "limn-local-api"
    function_version = "$LATEST"
    memory_limit_in_mb = 2048
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:limn-local-api"
    log_group_name = "/aws/lambda/limn-local-api"
    log_stream_name = "local"

    def __init__(self) -> None:
        self.aws_request_id = _new_id()
        self._end = time.monotonic() + SECONDS

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the function would be killed."""
        return max(0, int((self._end - time.monotonic()) * 1000))


class Gateway:
    """The routes of a Chalice app, and a way to call it as API Gateway would."""

    def __init__(self, app: Any) -> None:
        """Read the routes of a Chalice app."""
        # Lambda's answers are JSON, so that bodies are base64 there; to code and decode 400 KB here takes 2 ms
        app.api.binary_types = []
        self._app = app
        self._router = Router(resource_of(route) for route in app.routes)
        self._pages: dict[str, Page] = {}
        self._folders: dict[str, Folder] = {}
        self.page_key = secrets.token_urlsafe(32)
        """The local stack's own pages answer requests with this key as the query parameter `key`."""
        self.is_operator: Callable[[str | None], bool] = lambda _: False
        """Whether an Authorization header is that of an administrator, to whom the pages answer too."""
        self.slots = Slots(MAX_RUNNING, MAX_RUNNING // 4)
        self.tenant_of: Callable[[str | None], Hashable] = lambda _: None
        """The tenant of an Authorization, of a header or a browser's cookie, who has a quarter of the slots."""

    def page(self, path: str, serve: Page) -> None:
        """Serve a path of the local stack's own: `serve` gets method, query and body."""
        self._pages[path] = serve

    def is_page(self, target: str) -> bool:
        """Whether a request is for one of these pages."""
        return target.partition("#")[0].partition("?")[0] in self._pages

    def may_see_pages(self, target: str, authorization: str | None) -> bool:
        """Whether a request proves that it comes from the person who started the stack, or an administrator.

        Where it comes from proves nothing: steps of jobs, proxies and pages of the web are on this machine, too.
        """
        given = parse_qs(target.partition("#")[0].partition("?")[2]).get("key", [""])[0]
        return secrets.compare_digest(given.encode(), self.page_key.encode()) or self.is_operator(authorization)

    def folder(self, prefix: str, serve: Folder) -> None:
        """Serve all paths below one, beside the API: `serve` gets method and path."""
        self._folders[prefix] = serve

    def ask(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        client: str = "127.0.0.1",
        turn: Turn | None = None,
    ) -> Reply:
        """Serve one request.

        Args:
            method: such as GET.
            target: path and query, quoted, as in the request line.
            headers: names in any case.
            body: at most 4.6 MB, or the answer is 413.
            client: the network address that the request comes from.
            turn: its turn, by default one of no tenant's.
        """
        path, _, query = target.partition("#")[0].partition("?")
        try:
            if len(body) > LARGEST_REQUEST:
                raise TooLarge("The request's body is larger than 4.6 MB. Send it in parts, or upload a file.")
            if path in self._pages:
                reply = self._pages[path](method, query, body)
                return Reply(reply.status, {**CAREFUL, **reply.headers}, reply.body)
            if path in HEALTH and (problem := database.current().problem()):
                raise Unavailable(f"The data of this machine cannot be relied upon: {problem}")
            for prefix, serve in self._folders.items():
                if path.startswith(prefix):
                    return serve(method, path)
            resource, variables = self._router.find(path)
            # the app itself refuses the methods that the routes of a greedy resource do not have
            methods = self._app.routes.get(resource)
            if method == "OPTIONS" and (methods is None or method not in methods):
                return Reply(200, CORS, b"")
            if methods is not None and method not in methods:
                raise WrongMethod(method, path, tuple(methods))
            event = event_of(method, path, query, resource, variables, headers, body, client)
            return self._invoke(event, turn or self.slots.turn(None, SECONDS))
        except LimnError as error:
            answer = encode_error(error)
            more = {"Allow": ", ".join(error.allowed)} if isinstance(error, WrongMethod) else {}
            return Reply(answer.status, {**answer.headers, **more, **CORS}, answer.body)

    def close(self) -> None:
        """Let running requests finish and take no more."""
        self.slots.take_all(SECONDS)

    def _invoke(self, event: dict[str, Any], turn: Turn) -> Reply:
        with turn:
            result = self._app(event, LambdaContext())
        body = result["body"].encode() if isinstance(result["body"], str) else result["body"]
        if -(-len(body) // 3) * 4 > LARGEST_RESPONSE:
            log.error("%s %s: answer of %d bytes", event["httpMethod"], event["path"], len(body))
            raise _BadGateway("The function's answer is larger than Lambda allows.")
        headers = dict(result.get("headers") or {})
        for name, values in (result.get("multiValueHeaders") or {}).items():
            headers[name] = ", ".join(values)
        if any("\n" in value or "\r" in value for value in headers.values()):
            raise _BadGateway("The function's answer has a malformed header.")
        return Reply(result["statusCode"], headers, body)


class _BadGateway(LimnError):
    """The function's answer cannot be handed on."""

    status = 502


def event_of(
    method: str,
    path: str,
    query: str,
    resource: str,
    variables: dict[str, str],
    headers: Mapping[str, str],
    body: bytes,
    client: str,
) -> dict[str, Any]:
    """The event that Lambda gets of a request."""
    parameters: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters.setdefault(name, []).append(value)
    return {
        "resource": resource,
        "path": path,
        "httpMethod": method,
        "headers": dict(headers),
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": {name: values[-1] for name, values in parameters.items()} or None,
        "multiValueQueryStringParameters": parameters or None,
        "pathParameters": variables or None,
        "stageVariables": None,
        "requestContext": {
            "resourcePath": resource,
            "httpMethod": method,
            "path": path,
            "domainName": headers.get("Host", "127.0.0.1"),
            "stage": "local",
            "requestId": _new_id(),
            "requestTimeEpoch": int(time.time() * 1000),
            "identity": {"sourceIp": client, "userAgent": headers.get("User-Agent", "")},
            "accountId": "123456789012",
            "apiId": "local",
        },
        "body": body or None,
        "isBase64Encoded": False,
    }


def uncompressed(headers: Mapping[str, str], client: str) -> Mapping[str, str]:
    """The headers of a request, without compression for a client on this machine.

    To compress and decompress a list takes as long as to make it, and loopback needs neither. A proxy names itself or
    its client in a header, and stays with what it asked for. What does not fit into a response is compressed anyway.
    """
    if not peers.is_loopback(client):
        return headers
    names = {name.lower(): name for name in headers}
    accepted = names.get("accept-encoding")
    if accepted is None or not names.keys().isdisjoint(peers.PROXIED) or not takes_gzip(headers[accepted]):
        return headers
    return {**headers, accepted: "identity"}


class _Clock:
    """Answers 504 to the requests that run for longer than API Gateway waits, and hangs up on them.

    They run in the threads of their connections, which cannot be interrupted: what they answer later is dropped.
    """

    def __init__(self) -> None:
        self._begun: dict[_Handler, float] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self, handler: _Handler) -> None:
        """Watch a request from now on."""
        self._begun[handler] = time.monotonic()
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="gateway-clock", daemon=True)
                    self._thread.start()

    def end(self, handler: _Handler) -> bool:
        """Watch it no longer; whether it may still be answered."""
        return self._begun.pop(handler, None) is not None

    def _run(self) -> None:
        while True:
            time.sleep(CLOCK_SECONDS)
            end = time.monotonic() - SECONDS
            for handler, begun in list(self._begun.items()):
                if begun < end and self.end(handler):
                    handler.give_up()


_clock = _Clock()


class _Handler(requests.Handler):
    gateway: Gateway
    turn: Turn

    def serve(self) -> None:
        body = b"".join(self.blocks(LARGEST_REQUEST))
        given = {name.lower(): value for name, value in self.headers.items()}
        if self.gateway.is_page(self.path) and not self.gateway.may_see_pages(self.path, given.get("authorization")):
            self._send(_refusal(Forbidden(NO_KEY)))
            return
        self.turn = self.gateway.slots.turn(self.gateway.tenant_of(authorization_of(given)), SECONDS)
        _clock.begin(self)
        try:
            client, store = str(self.client_address[0]), database.current()
            headers = uncompressed(self.headers, client)
            reply = self.gateway.ask(self.command, self.path, headers, body, client, self.turn)
            store.sync()
        except (CannotStore, Damaged) as failure:
            reply = _refusal(Unavailable(f"Nothing can be stored: {failure}"))
        except Exception:
            log.exception("%s %s failed", self.command, self.path)
            reply = _refusal(LimnError("The server failed on this request."))
        if not _clock.end(self):
            raise ConnectionAbortedError
        self._send(reply)

    def give_up(self) -> None:
        """Answer from another thread that the request took too long, and hang up; its slot is free for others."""
        self.turn.give_back()
        with suppress(OSError, ValueError):  # it may be closed already
            self.close_connection = True
            self._send(_refusal(SlotTimeout("Endpoint request timed out")))
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

    def refuse(self, status: int, message: str) -> None:
        kind = type("Malformed", (LimnError,), {"status": status})
        self._send(_refusal(kind(message)))

    def _send(self, reply: Reply) -> None:
        lines = [f"HTTP/1.1 {reply.status} {self.responses.get(reply.status, ('',))[0]}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        if self.close_connection:
            lines.append("Connection: close")
        lines.append(f"Content-Length: {len(reply.body)}\r\n\r\n")
        head = "\r\n".join(lines).encode("latin-1")
        self.send(head, b"" if self.command == "HEAD" else reply.body)


def _refusal(error: LimnError) -> Reply:
    answer = encode_error(error)
    return Reply(answer.status, {**answer.headers, **CORS}, answer.body)


class Server(requests.Server):
    """The API's port."""

    def __init__(self, gateway: Gateway, host: str, port: int) -> None:
        super().__init__((host, port), type("Handler", (_Handler,), {"gateway": gateway}))
