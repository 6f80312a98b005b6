"""Fixtures of the tests of accounts."""

from __future__ import annotations

import uuid

import msgspec
import pytest

from chalicelib.access import passwords
from chalicelib.core.accounts import UserSpec
from chalicelib.resources.accounts import creation
from chalicelib.settings import Settings, settings
from tests.conftest import Api
from tests.resources.accounts.mails import PASSWORD

MODULES = ("accounts.registration", "accounts.address_changes", "email.system_emails", "email.notifications")


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
def configured(monkeypatch):
    """Changes settings for one test."""

    def change(**values):
        changed: Settings = msgspec.structs.replace(settings(), **values)
        for module in MODULES:
            monkeypatch.setattr(f"chalicelib.resources.{module}.settings", lambda: changed)

    return change
