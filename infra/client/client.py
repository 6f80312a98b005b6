"""The service as one user sees it: `connect()` for programs that wait, `connect_async()` for those that do not.

    with limn.connect() as client:
        for box in client.project(3).localizations(attribute_gt=["Depth::10"]):
            print(box["id"], box["attributes"]["Species"])

Both have a method for each operation (`operations.pyi`), which returns the answer as dicts and lists. Threads may share
a client.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import httpx
import msgspec

from . import configuration, exchange, failures
from .configuration import Profile
from .connections import STREAMED, opened, opened_async, whole_number
from .exchange import Exchange, Request
from .failures import Failure
from .operations import AsyncOperations, Entry, Operations
from .projects import AsyncProject, Project

if TYPE_CHECKING:
    from typing_extensions import Self

COMMIT = "Limn-Commit"
ProjectLevel = Literal["View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control"]
LARGEST_OBJECT = 5 * 1024**4
"""The size of the largest object that S3 stores, in bytes."""
BEHIND_PAUSE, BEHIND_ATTEMPTS = 0.1, 30
"""Seconds between attempts to read what this client wrote, and the number of attempts."""


class _Base:
    """What both clients know: the profile, and the last commit that they made in each project."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.commits: dict[int, int] = {}
        """The number of the last commit that this client made, by project: `Limn-Commit` of its writes."""

    def _steps(self, entry: Entry, path: dict[str, Any], query: dict[str, Any], body: Any) -> Exchange:
        """One operation. A list that does not show this client's last write yet is asked for again.

        Raises:
            Failure: a part of the path is empty or dots, which would lead to the path of another operation.
        """
        for name, value in path.items():
            if str(value) in ("", ".", ".."):
                raise Failure(f"{name}: {value!r} names nothing.")
        place = entry.path.format(**{name: quote(str(value), safe="") for name, value in path.items()})
        content = body if entry.takes == "bytes" or body is None else exchange.body_of(entry.id, body)
        request = self._request(entry.method, place, query, content)
        project = path.get("project")
        how: Literal["safe", "keyed", "once"] = "safe" if entry.is_read else "keyed" if self.profile.token else "once"
        for _ in range(BEHIND_ATTEMPTS):
            answer = yield from exchange.exchange(request, how)
            commit = whole_number(answer.headers.get(COMMIT, ""))
            if not isinstance(project, int) or not commit:
                return answer
            if not entry.is_read:  # another thread's later write may have a higher number
                self.commits[project] = max(commit, self.commits.get(project, 0))
                return answer
            if commit >= self.commits.get(project, 0):
                return answer
            yield BEHIND_PAUSE
        raise Failure(f"{entry.id} does not show the last change of this client.", failures.SERVICE_ERROR)

    def _request(self, method: str, path: str, query: dict[str, Any], content: bytes | None) -> Request:
        headers = {"Accept": "*/*"}
        if self.profile.token:
            headers["Authorization"] = f"Token {self.profile.token}"
        if content is not None:
            headers["Content-Type"] = "application/json"
        return Request(method, f"{self.profile.url}/rest/{path}", exchange.query_of(query), headers, content)


def _value(entry: Entry, query: dict[str, Any], answer: httpx.Response) -> Any:
    if entry.answers == "bytes" or query.get("format", "json") != "json":
        return answer.content
    return answer.text if entry.answers == "text" else _decoded(entry.id, answer)


def _decoded(name: str, answer: httpx.Response) -> Any:
    try:
        return msgspec.json.decode(answer.content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Failure(f"The answer to {name} is no JSON: {error}", failures.SERVICE_ERROR) from None


class Client(_Base, Operations):
    """The service, for programs that wait for each answer."""

    def __init__(self, profile: Profile, *, connections: int = 10) -> None:
        super().__init__(profile)
        self._web = opened(connections, profile.url)
        weakref.finalize(self, self._web.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._web.close()

    def project(self, number: int | None = None) -> Project:
        """A project; without a number, that of the profile."""
        return Project(self, _number(self.profile, number))

    def get(self, path: str, **query: Any) -> httpx.Response:
        """The answer to a GET of a path below `/rest/`: for what has no method yet."""
        return self.exchanged(self._request("GET", path, query, None))

    def schema(self) -> dict[str, Any]:
        """The OpenAPI document of the service."""
        found: dict[str, Any] = _decoded("schema", self.exchanged(Request("GET", f"{self.profile.url}/schema")))
        return found

    def exchanged(self, request: Request) -> httpx.Response:
        """The answer to a request that may be repeated, with the retries of all others."""
        return exchange.run(self._web, exchange.exchange(request))

    def put_bytes(self, url: str, data: bytes | exchange.FilePart) -> httpx.Response:
        """Send bytes to a presigned URL, without the token."""
        return self.exchanged(Request("PUT", url, content=data))

    def read_bytes(self, url: str, start: int = 0, end: int | None = None) -> bytes:
        """The bytes of a presigned URL from `start` up to before `end`, or to its end."""
        if end is None:
            return self.exchanged(Request("GET", url, headers={"Range": f"bytes={start}-"})).content
        return self.read_range(url, start, end - start)[0]

    def read_range(self, url: str, start: int, size: int) -> tuple[bytes, int]:
        """Up to `size` bytes of a presigned URL from `start` on, and how many it has in all.

        Raises:
            Failure: other bytes came than were asked for, or it has more than an object can have.
        """
        request = Request("GET", url, headers={"Range": f"bytes={start}-{start + size - 1}"}, most=size)
        answer = self.exchanged(request)
        span, came = answer.headers.get("Content-Range"), len(answer.content)
        total = came if span is None else whole_number(span.rpartition("/")[2])
        if total > LARGEST_OBJECT or came != min(size, max(total - start, 0)):
            message = f"{came} bytes came of {size} from {start} on, of {total} in all."
            raise Failure(message, failures.SERVICE_ERROR)
        return answer.content, total

    def stream(self, url: str, start: int = 0) -> AbstractContextManager[httpx.Response]:
        """Stream the bytes of a presigned URL from an offset on."""
        headers = {"Range": f"bytes={start}-"} if start else {}
        return self._web.stream("GET", url, headers=headers, extensions=STREAMED)

    def _call(self, entry: Entry, path: dict[str, Any], query: dict[str, Any], body: Any) -> Any:
        return _value(entry, query, exchange.run(self._web, self._steps(entry, path, query, body)))


class AsyncClient(_Base, AsyncOperations):
    """The service, for programs that do other things while they wait."""

    def __init__(self, profile: Profile, *, connections: int = 10) -> None:
        super().__init__(profile)
        self._web = opened_async(connections, profile.url)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._web.aclose()

    def project(self, number: int | None = None) -> AsyncProject:
        """A project; without a number, that of the profile."""
        return AsyncProject(self, _number(self.profile, number))

    async def _call(self, entry: Entry, path: dict[str, Any], query: dict[str, Any], body: Any) -> Any:
        return _value(entry, query, await exchange.run_async(self._web, self._steps(entry, path, query, body)))


def connect(profile: str | None = None, *, url: str | None = None, token: str | None = None) -> Client:
    """A client that is signed in.

    Args:
        profile: a profile of `limn login`; without it `LIMN_URL` and `LIMN_TOKEN`, `LIMN_PROFILE`, or the default one.
        url: the address of the service instead of a profile, such as https://limn.example.org.
        token: the token for that address.

    Raises:
        Failure: there is no such profile, or no token.
    """
    return Client(_profile(profile, url, token))


def connect_async(profile: str | None = None, *, url: str | None = None, token: str | None = None) -> AsyncClient:
    """As `connect`, for programs with an event loop."""
    return AsyncClient(_profile(profile, url, token))


def sign_in(
    url: str,
    name: str = "limn",
    *,
    show: Callable[[str], None] = print,
    level: ProjectLevel = "Full Control",
    operations: Sequence[str] = ("all",),
    projects: Sequence[int] | None = None,
) -> Client:
    """A client with a new access token, which a person confirms in the console (RFC 8628).

    Args:
        url: the address of the service.
        name: what the token is for, as the person is shown it.
        show: is told where to confirm, and by which code.
        level: the highest level that is asked for; the person may give less.
        operations: groups of operations, `all`, or `read`.
        projects: the projects that it shall reach; None for all of the person.

    Raises:
        Failure: the person denied it, or did not answer within ten minutes.
    """
    base = configuration.address(url)
    asked: Any = {"name": name, "level": level, "operations": [*operations]}
    if projects is not None:
        asked["projects"] = [*projects]
    with Client(Profile(base)) as device:
        codes = device.create_device_authorization(asked)
        show(f"Open {codes['verification_uri_complete']} and confirm the code {codes['user_code']}.")
        pause, end = float(codes["interval"]), time.monotonic() + codes["expires_in"]
        while time.monotonic() < end:
            time.sleep(pause)
            try:
                made = device.create_device_token({"device_code": codes["device_code"]})
            except Failure as failure:
                reason = failure.members.get("code")
                if reason not in ("authorization_pending", "slow_down") and failure.status != failures.NO_CONNECTION:
                    raise
                pause += 5 * (reason == "slow_down")
            else:
                return Client(Profile(base, made["access_token"]))
    raise Failure("Nobody confirmed the code in time. Begin again.", failures.NOT_PERMITTED)


def _profile(name: str | None, url: str | None, token: str | None) -> Profile:
    found = configuration.current(name) if url is None else Profile(configuration.address(url), token or "")
    return configuration.signed_in(found)


def _number(profile: Profile, given: int | None) -> int:
    chosen = profile.project if given is None else given
    if chosen is None:
        raise Failure("Name a project, or one for all programs with: limn profile set --project N")
    return chosen
