"""HTTP requests to the service: the token, retries, and errors as `Failure`s."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from . import failures
from .configuration import Profile
from .failures import Failure

CONNECT_SECONDS = 10
READ_SECONDS = 120
"""Longer than the 29 s of the gateway: large answers are read from the object store."""
ATTEMPTS = 5
BAD = 400


class Client:
    """The service as one user sees it. Threads may share it."""

    def __init__(self, profile: Profile, *, connections: int = 10) -> None:
        self.profile = profile
        # GET and PUT may be repeated: PUT is a query with a body, or writes a part of an upload.
        retry = Retry(
            total=ATTEMPTS,
            backoff_factor=0.3,
            status_forcelist=(429, 502, 503, 504),
            allowed_methods=("GET", "HEAD", "PUT"),
            raise_on_status=False,
        )
        self._web = requests.Session()
        # Ignore ~/.netrc and the proxies' credentials; proxies of the environment are still used.
        self._web.auth = _Token(profile.token, profile.url)
        for scheme in ("http://", "https://"):
            self._web.mount(scheme, HTTPAdapter(pool_connections=4, pool_maxsize=connections, max_retries=retry))

    def get(self, path: str, **query: Any) -> Any:
        """The JSON document of a GET; `path` follows `/rest/`."""
        return self.send("GET", path, query=query).json()

    def post(self, path: str, body: Any, **query: Any) -> Any:
        """The JSON document of a POST. It is never repeated."""
        return self.send("POST", path, body=body, query=query).json()

    def delete(self, path: str, **query: Any) -> Any:
        """The JSON document of a DELETE."""
        return self.send("DELETE", path, query=query).json()

    def lines(self, path: str, body: Any = None, query: Mapping[str, Any] | None = None) -> list[bytes]:
        """The lines of a list in JSON lines, without their ends."""
        asked = {**(query or {}), "format": "jsonl"}
        with self.send("PUT" if body is not None else "GET", path, body=body, query=asked, stream=True) as answer:
            try:
                return answer.content.splitlines()
            except requests.RequestException as error:
                raise Failure(f"The answer broke off: {_reason(error)}", failures.NO_CONNECTION) from None

    def send(
        self, method: str, path: str, *, body: Any = None, query: Mapping[str, Any] | None = None, stream: bool = False
    ) -> requests.Response:
        """Send a request to the service. Raises Failure: it could not be sent, or the answer is an error."""
        return self._checked(
            method,
            f"{self.profile.url}/rest/{path}",
            json=body,
            params={name: _word(value) for name, value in (query or {}).items() if value is not None},
            stream=stream,
        )

    def put_bytes(self, url: str, data: bytes) -> requests.Response:
        """Send bytes to a presigned URL, without the token. Raises as `send`."""
        return self._checked("PUT", url, data=data)

    def download(self, url: str, start: int = 0) -> requests.Response:
        """The bytes of a presigned URL from an offset on, as a stream. Raises as `send`."""
        return self._checked("GET", url, headers={"Range": f"bytes={start}-"} if start else {}, stream=True)

    def _checked(self, method: str, url: str, **how: Any) -> requests.Response:
        try:
            answer = self._web.request(method, url, timeout=(CONNECT_SECONDS, READ_SECONDS), **how)
        except requests.RequestException as error:
            raise Failure(f"No answer from {self.profile.url}: {_reason(error)}", failures.NO_CONNECTION) from None
        if answer.status_code >= BAD:
            raise failures.of_answer(answer.status_code, _message(answer))
        return answer


class _Token(requests.auth.AuthBase):
    """Adds the token to requests to the service, and to no other address."""

    def __init__(self, token: str, url: str) -> None:
        self._token, self._prefix = token, f"{url}/"

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token and (request.url or "").startswith(self._prefix):
            request.headers["Authorization"] = f"Token {self._token}"
        return request


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _message(answer: requests.Response) -> str:
    """The message of an error, with its details; of an answer that is not the service's, its status."""
    try:
        document = answer.json()
        message, details = str(document["message"]), document.get("details")
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{answer.status_code} {answer.reason}"
    return f"{message} {details}" if details and details != message else message


def _reason(error: Exception) -> str:
    """The innermost reason of an exception of requests, without addresses: presigned ones are secrets."""
    inner: Any = error
    while inner.args and isinstance(inner.args[0], Exception):
        inner = inner.args[0]
    inner = getattr(inner, "reason", None) or inner
    text = str(inner).rpartition(": ")[2] or type(inner).__name__
    return text.partition("http")[0].strip() or type(inner).__name__
