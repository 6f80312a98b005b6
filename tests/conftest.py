"""What the tests share: AWS in this process, the API in front of it, somebody to ask it, a project to ask about.

AWS starts when this file is imported, not in a fixture: the modules under test read their configuration when they are
imported, as they do on Lambda.
"""

from __future__ import annotations

import itertools
import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import hypothesis
import msgspec
import pytest

from infra.local import aws
from infra.local.deploy import STAGE, deploy

# The same examples for each commit, however slow the machine; what is to find others by night says so.
hypothesis.settings.register_profile("commit", derandomize=True, deadline=None)
hypothesis.settings.load_profile("commit")
AWS = aws.start()
if os.environ.get("LIMN_STAGE", STAGE) == STAGE:  # another where a test's program has deployed: infra/whole_program.py
    os.environ.update(deploy(aws.REGION))
    os.environ["LIMN_PUBLIC_URL"] = "http://127.0.0.1:8000"
    os.environ["LIMN_ANSWERS_URL"] = "http://127.0.0.1:8000"
    os.environ["LIMN_S3_ENDPOINT"] = "http://127.0.0.1:8001"
    os.environ["LIMN_ANYONE_MAY_CREATE_ORGANIZATIONS"] = "true"

from app import app  # noqa: E402 it reads the environment set above
from chalicelib.access import passwords  # noqa: E402
from chalicelib.core.accounts import MEMBERSHIP as MEMBERSHIP_RECORD  # noqa: E402
from chalicelib.core.accounts import USER, Membership, ProjectSpec, User  # noqa: E402
from chalicelib.core.resource import now  # noqa: E402
from chalicelib.resources.projects import service as projects_service  # noqa: E402
from chalicelib.settings import settings  # noqa: E402
from chalicelib.storage.dynamodb import ids, records  # noqa: E402
from infra.local import stored_answers  # noqa: E402
from infra.local.gateway import Gateway, Reply  # noqa: E402
from tests import roles  # noqa: E402

GATEWAY = Gateway(app)
GATEWAY.folder(stored_answers.PREFIX, stored_answers.StoredAnswers(aws.REGION).serve)
roles.install()
_names = itertools.count(1)


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

    def ask(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **query: Any) -> Said:
        headers = {"Accept": "*/*", **self.headers}
        if self.token:
            headers["Authorization"] = f"Token {self.token}"
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        if data:
            headers.setdefault("Content-Type", "application/json")
        words = {name: _word(value) for name, value in query.items() if value is not None}
        target = path if path.startswith("/") else f"/rest/{path}"
        with roles.RECORDER.acting("APIHandler"):
            reply: Reply = GATEWAY.ask(method, f"{target}?{urlencode(words)}" if words else target, headers, data)
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
        """The id of something that is to be created without fail."""
        said = self.post(path, body, **query)
        assert said.status == 201, said.body
        return said.json["id"]

    def drain(self) -> int:
        """Run every queued message in this process, as the queue functions would; how many there were."""
        from tests.queue_runner import drain

        return drain()


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


def join(api: Api, project: int, level: str) -> None:
    """Make a user a member of a project."""
    assert api.user
    number = ids.reserve(MEMBERSHIP_RECORD.name)[0]
    records.create(
        MEMBERSHIP_RECORD,
        Membership(id=number, project=project, user=api.user.id, permission=level),  # type: ignore[arg-type]
    )


@pytest.fixture(autouse=True)
def roles_allow_what_functions_ask() -> Iterator[None]:
    """Fail a test in which a function asked AWS for what its role in infra/functions.yaml does not allow."""
    roles.RECORDER.refused.clear()
    yield
    refused = [f"{name} may not {right.action} on {right.resource}" for right, name in roles.RECORDER.refused.items()]
    assert not refused, "; ".join(sorted(refused))


@pytest.fixture
def api() -> Api:
    """A new user, of staff."""
    return new_user(is_staff=True)


@pytest.fixture
def stranger() -> Api:
    """A new user who is a member of nothing."""
    return new_user()


@pytest.fixture
def nobody() -> Api:
    """Somebody without credentials."""
    return Api(None)


@pytest.fixture
def organization(api: Api) -> int:
    """A new organization that the api user administers."""
    return api.made("Organizations", {"name": f"organization {next(_names)}"})


@pytest.fixture
def project(api: Api, organization: int) -> int:
    """A new project that the api user owns."""
    assert api.user
    spec = ProjectSpec(name=f"project {next(_names)}", organization=organization)
    return projects_service.create_project(spec, api.user.id, "No Access").id


@pytest.fixture
def fine_grained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row protections count, as with `LIMN_FINE_GRAINED_PERMISSIONS`."""
    changed = msgspec.structs.replace(settings(), fine_grained_permissions=True)
    for module in ("access", "visibility", "row_protections"):
        monkeypatch.setattr(f"chalicelib.services.{module}.settings", lambda: changed)


@pytest.fixture
def member(project: int) -> Iterator[Any]:
    """Makes a new member of the project at a level."""

    def make(level: str) -> Api:
        made = new_user()
        join(made, project, level)
        return made

    return make
