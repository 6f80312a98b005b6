"""Two requests at the same time take the last free place of a limit, or one name: one of them is refused.

The second request is served while the first waits before its first write, so both have counted the same.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from unittest import mock

import pytest

from chalicelib.core import record_limits
from chalicelib.resources.exports import service as exports_service
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.types import attributes as types_attributes
from tests.races import meanwhile
from tests.resources.annotations.boxes import settle
from tests.resources.bucket_sources.conftest import front, lake, register, spec, types  # noqa: F401 fixtures
from tests.resources.imports.archives import uploaded, zipped
from tests.resources.webhooks.conftest import receiver  # noqa: F401 a fixture
from tests.service import new_user

names = map("name {}".format, itertools.count())


def both(request):
    """The statuses of two requests at the same time, the lower first."""
    with meanwhile(request) as other:
        said = request()
    return sorted([said.status, other.answer.status])


def room_for_one(module, name, present):
    return mock.patch.object(module, name, present + 1)


def room_for_one_record(kind, present):
    limits = [replace(each, number=present + 1) for each in record_limits.LIMITS[kind]]
    return mock.patch.dict(record_limits.LIMITS, {kind: tuple(limits)})


def test_types(api, project):
    with room_for_one(types_attributes, "MOST_TYPES", 0):
        assert both(lambda: api.post(f"LeafTypes/{project}", {"name": next(names)})) == [
            201,
            400,
        ]


def test_attributes_of_a_project(api, project):
    here = settle(api, project)
    present = sum(
        len(each["attribute_types"])
        for word in ("MediaTypes", "LocalizationTypes")
        for each in api.get(f"{word}/{project}").json
    )
    with room_for_one(types_attributes, "MOST_IN_PROJECT", present):

        def add():
            addition = {"name": next(names), "dtype": "int"}
            return api.post(f"AttributeType/{here.type}", {"entity_type": "LocalizationType", "addition": addition})

        assert both(add) == [201, 400]


@pytest.mark.parametrize("kind", ["sections", "versions"])
def test_sections_and_versions(api, project, kind):
    present = len(api.get(f"{kind.capitalize()}/{project}").json)
    with room_for_one_record(kind.removesuffix("s"), present):
        assert both(lambda: api.post(f"{kind.capitalize()}/{project}", {"name": next(names)})) == [201, 400]


@pytest.mark.parametrize("place", ["project", "organization"])
def test_webhooks(api, project, organization, receiver, place):  # noqa: F811
    path = f"Webhooks/{project}" if place == "project" else f"OrganizationWebhooks/{organization}"
    body = {"name": "a", "url": receiver.url, "types": ["*"]}
    with room_for_one_record("webhook", 0):
        assert both(lambda: api.post(path, body)) == [201, 400]
    assert len(api.get(path).json) == 1


def test_trigger_rules(api, project, algorithm):
    body = {"name": "a", "types": ["limn.media.ready"], "algorithm": algorithm}
    with room_for_one_record("triggerrule", 0):
        assert both(lambda: api.post(f"TriggerRules/{project}", body)) == [201, 400]


def test_bucket_sources_and_their_prefixes(api, project, spec):  # noqa: F811
    prefixes = map("survey {}/".format, itertools.count())
    with room_for_one_record("bucket_source", 0):
        assert both(lambda: api.post(f"BucketSources/{project}", {**spec, "prefix": next(prefixes)})) == [201, 400]
    assert both(lambda: api.post(f"BucketSources/{project}", {**spec, "prefix": "dive/"})) == [201, 400]


@pytest.mark.slow
def test_exports_at_work_and_versions_of_datasets(api, project):
    settle(api, project)
    with room_for_one(exports_service, "MOST_AT_WORK", 0):
        assert both(lambda: api.post(f"Exports/{project}", {"format": "coco"})) == [201, 429]
    with room_for_one_record("dataset", 0):
        assert both(lambda: api.post(f"Datasets/{project}", {"name": next(names)})) == [201, 400]


def test_imports_at_work(api, project):
    key = uploaded(api, project, zipped({"a.json": {"images": [], "annotations": [], "categories": []}}))
    with room_for_one(imports_service, "MOST_AT_WORK", 0):
        assert both(lambda: api.post(f"Imports/{project}", {"format": "coco", "key": key})) == [201, 429]


@pytest.mark.slow
def test_names_that_are_unique(api, project, organization):
    """Of sections, versions of datasets, projects, organizations, members, invitations and users."""
    settle(api, project)
    other = new_user()
    name = next(names)
    user = {"username": "racer", "first_name": "A", "last_name": "B", "email": "racer@example.org"}
    for path, body in (
        (f"Sections/{project}", {"name": name, "path": "one.path"}),
        (f"Datasets/{project}", {"name": name}),
        ("Projects", {"name": name, "organization": organization}),
        ("Organizations", {"name": name}),
        (f"Memberships/{project}", {"user": other.user.id, "permission": "Can Edit"}),
        (f"Invitations/{organization}", {"email": "new@example.org", "permission": "Member"}),
        ("Users", {**user, "password": "a password of 12"}),
    ):
        status = both(lambda path=path, body=body: api.post(path, body))
        assert status in ([201, 400], [201, 409]), (path, status)
