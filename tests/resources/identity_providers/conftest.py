"""A provider, registered with an organization, and a browser."""

from __future__ import annotations

import pytest

from chalicelib.resources.identity_providers import oidc
from chalicelib.settings import override
from tests.resources.identity_providers.browsers import Browser, register
from tests.resources.identity_providers.provider import Provider


@pytest.fixture
def provider():
    made = Provider()
    oidc.forget()
    with override(service_origins=[made.issuer]):
        yield made
    made.close()


@pytest.fixture
def registered(api, organization, provider) -> int:
    return register(api, organization, provider)


@pytest.fixture
def browser() -> Browser:
    return Browser()
