"""Eight at once want what only one can have: one gets it, the others are told, and nothing is left half made."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from chalicelib.access import passwords, rate_limits
from tests.service import new_user

THREADS = 8
ROUNDS = [pytest.param(4), pytest.param(200, marks=pytest.mark.nightly)]


@pytest.fixture
def pool():
    with ThreadPoolExecutor(THREADS) as made:
        yield made


@pytest.fixture(autouse=True)
def hashing_is_quick(monkeypatch):
    monkeypatch.setattr(passwords, "hash_password", lambda _: "no hash")


def race(pool, ask):
    """The statuses of eight requests that start together."""
    ready = threading.Barrier(THREADS)

    def run(place):
        ready.wait()
        return ask(place).status

    return Counter(pool.map(run, range(THREADS)))


def check(said):
    assert said[201] == 1, said
    assert set(said) <= {201, 400, 409}, said


@pytest.mark.parametrize("rounds", ROUNDS)
class TestOneWins:
    def test_a_user_name(self, api, pool, rounds):
        for _ in range(rounds):
            name = f"racer-{uuid.uuid4().hex[:12]}"
            spec = {"username": name, "first_name": "R", "last_name": "R", "email": f"{name}@example.org"}
            check(
                race(pool, lambda place, spec=spec: api.post("Users", {**spec, "password": f"battery staple {place}"}))
            )
            assert len(api.get("Users", username=name).json) == 1

    def test_an_organizations_name(self, api, pool, rounds):
        for _ in range(rounds):
            name = f"Reef {uuid.uuid4().hex[:12]}"
            check(race(pool, lambda place, name=name: api.post("Organizations", {"name": _cased(name, place)})))
        assert (
            len([item for item in api.get("Organizations").json if item["name"].startswith(("Reef ", "REEF "))])
            == rounds
        )

    @pytest.mark.slow
    def test_a_projects_name(self, api, organization, pool, rounds):
        for _ in range(rounds):
            name = f"Kelp {uuid.uuid4().hex[:12]}"

            def ask(place, name=name):
                return api.post("Projects", {"organization": organization, "name": _cased(name, place)})

            check(race(pool, ask))
        assert len(api.get("Projects", organization=organization).json) == rounds

    def test_a_sections_path(self, api, project, pool, rounds):
        for _ in range(rounds):
            name = f"s{uuid.uuid4().hex[:12]}"
            check(race(pool, lambda _, name=name: api.post(f"Sections/{project}", {"name": name})))
        assert len(api.get(f"Sections/{project}").json) == rounds

    def test_a_membership(self, api, project, pool, rounds):
        for _ in range(rounds):
            spec = {"user": new_user().user.id, "permission": "Can Edit"}
            check(race(pool, lambda _, spec=spec: api.post(f"Memberships/{project}", spec)))
        assert len(api.get(f"Memberships/{project}").json) == rounds + 1

    def test_an_invitation(self, api, organization, pool, rounds, monkeypatch):
        monkeypatch.setattr(rate_limits, "INVITATION", replace(rate_limits.INVITATION, by_caller=10 * THREADS * rounds))
        for _ in range(rounds):
            spec = {"email": f"{uuid.uuid4().hex[:12]}@example.org", "permission": "Member"}
            check(race(pool, lambda _, spec=spec: api.post(f"Invitations/{organization}", spec)))
        assert len(api.get(f"Invitations/{organization}").json) == rounds


def _cased(name, place):
    return name.upper() if place % 2 else name


def test_a_registration_token_makes_one_user(api, nobody, organization, pool):
    email = f"{uuid.uuid4().hex[:12]}@example.org"
    said = api.post(f"Invitations/{organization}", {"email": email, "permission": "Member"})
    token = said.message.rpartition("=")[2]
    spec = {
        "first_name": "R",
        "last_name": "R",
        "email": email,
        "password": "battery staple 8",
        "registration_token": token,
    }
    names = [f"racer-{uuid.uuid4().hex[:12]}" for _ in range(THREADS)]
    check(race(pool, lambda place: nobody.post("Users", {**spec, "username": names[place]})))
    assert sum(nobody.get("User/Exists", username=name).json for name in names) == 1
    assert len(api.get(f"Affiliations/{organization}").json) == 2
