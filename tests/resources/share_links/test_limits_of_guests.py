"""How much guests and readers of public projects may ask from one network address."""

from __future__ import annotations

import dataclasses

import pytest

from chalicelib.access import rate_limits
from tests.contract.world import build
from tests.resources.share_links.test_share_links import guest_of, link_to
from tests.service import Api

LOT, MOST = 3, 9


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Limits small enough for a test: the third lot is the last."""
    changed = dataclasses.replace(rate_limits.GUEST_READING, by_caller=MOST)
    monkeypatch.setattr(rate_limits, "GUEST_READING", changed)
    monkeypatch.setattr(rate_limits, "LOT", LOT)


@pytest.fixture(scope="module")
def world():
    """A public project."""
    made = build()
    assert made.owner.patch(f"Project/{made.things['project']}", {"public": "listed"}).status == 200
    return made


@pytest.fixture
def public(world):
    """The path of a read of it."""
    return f"Medias/{world.things['project']}"


def statuses(api, path, number):
    return [api.get(path).status for _ in range(number)]


def test_readers_of_a_public_project_are_limited_by_network_address(public):
    somebody = Api(None)
    assert statuses(somebody, public, MOST + LOT - 1) == [200] * (MOST + LOT - 1)
    said = somebody.get(public)
    assert said.status == 429
    assert 0 < int(said.headers["Retry-After"]) <= rate_limits.GUEST_READING.seconds
    assert "without an account" in said.message
    assert Api(None).get(public).status == 200


def test_links_projects_and_their_list_count_together(world, public):
    guest = guest_of(link_to(world, media_ids=[world.things["media"]])[1])
    anybody = Api(None, client=guest.client)
    asked = [(guest, public), (anybody, public), (anybody, "PublicProjects")] * (MOST // LOT + 1)
    said = [who.get(path).status for who, path in asked]
    assert said == [200] * (len(said) - 1) + [429]
    assert guest.get(public).status == 429


def test_all_processes_share_the_count(public):
    somebody = Api(None)
    for _ in range(MOST // LOT):
        assert statuses(somebody, public, LOT) == [200] * LOT
        rate_limits._guests.clear()  # as another process begins
    assert statuses(somebody, public, LOT) == [200] * (LOT - 1) + [429]


def test_who_is_refused_goes_on_when_the_period_ends(public, move_clock):
    somebody = Api(None)
    assert statuses(somebody, public, MOST + LOT)[-1] == 429
    move_clock(rate_limits.GUEST_READING.seconds + 1)
    assert somebody.get(public).status == 200


def test_members_are_not_limited(world, public):
    assert statuses(world.owner, public, MOST + 2 * LOT) == [200] * (MOST + 2 * LOT)


def test_a_network_of_ipv6_counts_as_one_address(public):
    first, second = Api(None, client="2001:db8:1:2::1"), Api(None, client="2001:db8:1:2:ffff::9")
    assert statuses(first, public, MOST + LOT)[-1] == 429
    assert second.get(public).status == 429
    assert Api(None, client="2001:db8:1:3::1").get(public).status == 200
