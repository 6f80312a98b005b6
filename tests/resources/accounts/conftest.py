"""Fixtures of the tests of accounts."""

from __future__ import annotations

import uuid
from contextlib import ExitStack

import pytest

from chalicelib.access import passwords
from chalicelib.core.models.accounts import UserSpec
from chalicelib.resources.accounts import creation
from chalicelib.settings import override
from tests.resources.accounts.mails import PASSWORD
from tests.service import Api


@pytest.fixture
def address():
    return f"{uuid.uuid4().hex[:10]}@example.org"


@pytest.fixture
def ada(address):
    """A user with a password, as registration creates one."""
    name = f"ada-{uuid.uuid4().hex[:8]}"
    return creation.register(UserSpec(username=name, first_name="Ada", last_name="L", email=address, password=PASSWORD))


@pytest.fixture
def me(ada):
    """The same user with a token."""
    return Api(ada, passwords.issue_token(ada, refresh=False))


@pytest.fixture
def configured():
    """Changes settings for one test."""
    with ExitStack() as stack:
        yield lambda **values: stack.enter_context(override(**values))
