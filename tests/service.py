"""AWS in this process, the API in front of it, and users to call it. Importing this module starts AWS."""

from __future__ import annotations

import itertools
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from infra.emulator import aws
from infra.local.deploy import STAGE, deploy
from tests import foreign_dynamodb
from tests.environment import VARIABLES

AWS = aws.start()
if foreign_dynamodb.is_named():
    foreign_dynamodb.remove_tables(aws.REGION)
if os.environ.get("LIMN_STAGE", STAGE) == STAGE:  # another where a test's program has deployed: infra/whole_program.py
    _made = deploy(aws.REGION)
    assert _made == {name: VARIABLES[name] for name in _made}

from app import app  # noqa: E402
from chalicelib.access import passwords  # noqa: E402
from chalicelib.api.router import Router  # noqa: E402
from chalicelib.api.routes import functions, routes  # noqa: E402
from chalicelib.core.models.accounts import AFFILIATION, USER, Affiliation, Membership, User  # noqa: E402
from chalicelib.core.models.accounts import MEMBERSHIP as MEMBERSHIP_RECORD  # noqa: E402
from chalicelib.core.resource import now  # noqa: E402
from chalicelib.errors import NotFound  # noqa: E402
from chalicelib.resources.projects import service as projects_service  # noqa: E402
from chalicelib.resources.projects.schemas import ProjectSpec  # noqa: E402
from chalicelib.storage.dynamodb import ids, records  # noqa: E402
from chalicelib.storage.dynamodb.progress import usage  # noqa: E402
from infra.local.http import stored_answers  # noqa: E402
from infra.local.http.gateway import Gateway, Reply  # noqa: E402
from infra.stack.merging import HANDLERS  # noqa: E402
from tests import roles  # noqa: E402

GATEWAY = Gateway(app)
GATEWAY.folder(stored_answers.PREFIX, stored_answers.StoredAnswers(aws.REGION).serve)
roles.install()
STRENGTH = passwords.STRENGTH
"""That of the service; a hash of it takes 30 ms, so tests make weak ones."""
REFUSAL_SECONDS = passwords.REFUSAL_SECONDS
"""That of the service; tests do not wait for refusals."""
passwords.REFUSAL_SECONDS = 0.0
usage.FLUSH_SECONDS = float("inf")  # tests that count calls would count those of a flush
passwords.STRENGTH = {"time_cost": 1, "memory_cost": 8, "parallelism": 1}
_names = itertools.count(1)
_clients = (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}" for number in itertools.count(1))


@dataclass(frozen=True)
class Said:
    """An answer of the API."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        return self.json["message"]


@dataclass
class Api:
    """A user with a token, and short words to ask the API with."""

    user: User | None
    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    client: str = field(default_factory=_clients.__next__)
    """Its network address: one of its own, so that limits of requests count each test alone."""

    def ask(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **query: Any) -> Said:
        headers = {"Accept": "*/*", **self.headers}
        if self.token:
            headers["Authorization"] = f"Token {self.token}"
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        if data:
            headers.setdefault("Content-Type", "application/json")
        words = {name: _word(value) for name, value in query.items() if value is not None}
        target = path if path.startswith("/") else f"/rest/{path}"
        with roles.RECORDER.acting(handler_of(target)):
            reply: Reply = GATEWAY.ask(
                method, f"{target}?{urlencode(words)}" if words else target, headers, data, self.client
            )
        return Said(reply.status, dict(reply.headers), reply.body)

    def get(self, path: str, **query: Any) -> Said:
        return self.ask("GET", path, **query)

    def post(self, path: str, body: Any = None, **query: Any) -> Said:
        return self.ask("POST", path, body, **query)

    def patch(self, path: str, body: Any = None, **query: Any) -> Said:
        return self.ask("PATCH", path, body, **query)

    def put(self, path: str, body: Any = None, **query: Any) -> Said:
        return self.ask("PUT", path, body, **query)

    def delete(self, path: str, body: Any = None, **query: Any) -> Said:
        return self.ask("DELETE", path, body, **query)

    def made(self, path: str, body: Any, **query: Any) -> Any:
        """The id of a record that is created without fail."""
        said = self.post(path, body, **query)
        assert said.status == 201, said.body
        return said.json["id"]

    def drain(self) -> int:
        """Run every queued message in this process, as the queue functions would; how many there were."""
        from tests.queue_runner import drain

        return drain()


@lru_cache(maxsize=1)
def _functions() -> tuple[Router, Mapping[str, str]]:
    return Router(routes()), functions()


def handler_of(path: str) -> str:
    """The function that serves a path, by its name in the template."""
    router, served_by = _functions()
    try:
        return HANDLERS[served_by[router.find(path)[0]]]
    except NotFound:
        return HANDLERS["api"]


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(_word(item) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def new_user(*, is_staff: bool = False, **more: Any) -> Api:
    """A new user with a token. Its password matches nothing: hashing one takes 30 ms, and few tests sign in."""
    number = ids.reserve(USER.name)[0]
    user = User(
        id=number,
        username=f"user{number}-{os.getpid()}-{next(_names)}",
        first_name="Ada",
        last_name="Lovelace",
        email=f"user{number}.{next(_names)}@example.org",
        is_staff=is_staff,
        elemental_id=str(uuid.uuid4()),
        created_datetime=now(),
        **more,
    )
    records.create(USER, user)
    return Api(user, passwords.issue_token(user, refresh=False))


def new_project(api: Api) -> int:
    """A new project that a user owns, in an organization of its own."""
    assert api.user
    organization = api.made("Organizations", {"name": f"organization {next(_names)}"})
    spec = ProjectSpec(name=f"project {next(_names)}", organization=organization)
    return projects_service.create_project(spec, api.user.id, "No Access").id


def new_sibling(api: Api, project: int) -> int:
    """A new project that a user owns, in the organization of another one."""
    organization = api.get(f"Project/{project}").json["organization"]
    number: int = api.made("Projects", {"name": f"project {next(_names)}", "organization": organization})
    return number


def affiliate(api: Api, organization: int) -> None:
    """Make a user a member of an organization."""
    assert api.user
    number = ids.reserve(AFFILIATION.name)[0]
    made = Affiliation(id=number, organization=organization, user=api.user.id, permission="Member")
    records.create(AFFILIATION, made)


def join(api: Api, project: int, level: str) -> None:
    """Make a user a member of a project."""
    assert api.user
    number = ids.reserve(MEMBERSHIP_RECORD.name)[0]
    records.create(
        MEMBERSHIP_RECORD,
        Membership(id=number, project=project, user=api.user.id, permission=level),  # type: ignore[arg-type]
    )
