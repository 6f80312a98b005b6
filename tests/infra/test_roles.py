"""Each role of the template allows what its function asks of AWS, and nothing else.

Every test of the suite that goes through the API or `api.drain()` is held against the roles (`tests/conftest.py`); here
one scenario drives every function through all that it does, so that what nobody asks for shows.
"""

from __future__ import annotations

import boto3
import pytest

from chalicelib.settings import settings
from infra.emulator import aws
from infra.templates import FUNCTIONS, load, of_type
from tests import objects, roles
from tests.infra.scenario import Scenario
from tests.roles import RECORDER, Right

FUNCTION_NAMES = tuple(sorted(of_type(load(FUNCTIONS), "AWS::Serverless::Function")))

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def asked():
    """What each function asked for while it did all that it does."""
    RECORDER.asked.clear()
    RECORDER.refused.clear()
    with pytest.MonkeyPatch.context() as patch:
        Scenario(patch).play()
    refused = RECORDER.refused.items()
    return {
        name: rights | {right for right, whose in refused if whose == name} for name, rights in RECORDER.asked.items()
    }


@pytest.mark.slow
def test_every_function_was_driven(asked):
    assert set(asked) == set(FUNCTION_NAMES), "add a scene to tests/infra/scenario.py"


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_a_role_allows_all_that_its_function_asks(asked, name):
    refused = {right for right in asked[name] if not roles.allows(name, right)}
    assert not refused, "\n".join(sorted(f"{right.action} {right.resource}" for right in refused))


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_a_role_allows_nothing_that_its_function_never_asks(asked, name):
    used = {reason for right in asked[name] for reason in roles.reasons(name, right)}
    unused = {right for right in set(roles.role(name)) - used if not roles.is_platforms(right)}
    assert not unused, "\n".join(sorted(f"{right.action} {right.resource}" for right in unused))


def test_what_a_role_does_not_name_is_refused():
    table = f"arn:aws:dynamodb:{aws.REGION}:{aws.ACCOUNT}:table/limn-local-records"
    assert roles.allows("APIHandler", Right("dynamodb:PutItem", table))
    assert not roles.allows("APIHandler", Right("dynamodb:DeleteTable", table))
    assert not roles.allows("APIHandler", Right("dynamodb:PutItem", table.replace("local", "prod")))
    assert not roles.allows("Email", Right("dynamodb:PutItem", table))


def test_calls_outside_the_functions_are_nobodys(api):
    before = {name: len(rights) for name, rights in RECORDER.asked.items()}
    boto3.client("dynamodb").scan(TableName=settings().records_table)
    assert objects.size("_uploads/none") is None
    assert {name: len(rights) for name, rights in RECORDER.asked.items()} == before


WRITES = ("PutItem", "DeleteItem", "BatchWriteItem", "UpdateItem")
AUTHORITY = (
    "user#", "token#", "claim#user|", "organization#", "affiliation#", "invitation#", "claim#invitation|",
    "claim#organization|", "jobcluster#", "claim#jobcluster|", "hosted_template#",
)  # fmt: skip
"""Beginnings of the keys of rows that say who somebody is, who is of an organization, and where its jobs run."""
KEYS = {
    "Clip": {"project#*"},
    "Compact": {"project#*"},
    "MediaHandler": {"project#*", "temporary_file#*", "claim#temporary_file|*"},
    "Webhook": {"webhook#*"},
    "Email": set(),
}
"""What the functions that write few kinds of records write; the others write many, but none of `AUTHORITY`."""


@pytest.mark.parametrize("name", sorted({*FUNCTION_NAMES} - {"APIHandler"}))
def test_no_function_but_the_api_writes_any_row_of_the_records(name):
    written = [
        right
        for right in roles.role(name)
        if right.resource.endswith("-records") and right.action.removeprefix("dynamodb:") in WRITES
    ]
    assert all(right.keys or right.but for right in written)
    if name in KEYS:
        assert {key for right in written for key in right.keys} == KEYS[name]
        assert not any(right.but for right in written)


@pytest.mark.parametrize("name", sorted({*FUNCTION_NAMES} - {"APIHandler"}))
def test_no_function_but_the_api_makes_accounts_and_tokens(name):
    place = f"arn:aws:dynamodb:{aws.REGION}:{aws.ACCOUNT}:table/limn-local-"
    for action in WRITES:
        for key in AUTHORITY:
            is_removal = (name, action, key) == ("Purge", "DeleteItem", "organization#")  # of registered buckets
            right = Right(f"dynamodb:{action}", f"{place}records", key=key)
            assert roles.allows(name, right) == is_removal, (action, key)
        for key in ("session#", "access#", "guest#"):
            is_use = (name, action) == ("MediaHandler", "UpdateItem")  # which notes the day
            right = Right(f"dynamodb:{action}", f"{place}credentials", key=key)
            assert roles.allows(name, right) == is_use, (action, key)
