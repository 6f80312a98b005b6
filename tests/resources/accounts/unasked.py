"""The ways in which an administrator adds somebody who was not asked: each gives a place in a new organization."""

from __future__ import annotations

import itertools

from tests.service import Api

_numbers = itertools.count(1)


def _organization(owner: Api) -> int:
    made: int = owner.made("Organizations", {"name": f"unasked {owner.user.id} {next(_numbers)}"})
    return made


def affiliate(owner: Api, user: Api) -> tuple[int, str]:
    """An affiliation by the id."""
    organization = _organization(owner)
    owner.made(f"Affiliations/{organization}", {"user": user.user.id, "permission": "Member"})
    return organization, f"Affiliations/{organization}"


def join(owner: Api, user: Api) -> tuple[int, str]:
    """A membership by the id."""
    organization = _organization(owner)
    project = owner.made("Projects", {"name": "count", "organization": organization})
    owner.made(f"Memberships/{project}", {"user": user.user.id, "permission": "View Only"})
    return organization, f"Memberships/{project}"


def join_by_default(owner: Api, user: Api) -> tuple[int, str]:
    """An affiliation by the id, and then a project whose members all affiliated are."""
    organization, _ = affiliate(owner, user)
    assert owner.patch(f"Organization/{organization}", {"default_membership_permission": "View Only"}).status == 200
    project = owner.made("Projects", {"name": "count", "organization": organization})
    return organization, f"Memberships/{project}"


def accept(owner: Api, user: Api) -> tuple[int, str]:
    """An invitation that the administrator accepts in the place of who was invited."""
    organization = _organization(owner)
    made = owner.made(f"Invitations/{organization}", {"email": user.user.email, "permission": "Member"})
    assert owner.patch(f"Invitation/{made}", {"status": "Accepted"}).status == 200
    return organization, f"Affiliations/{organization}"


def provision(owner: Api, user: Api) -> tuple[int, str]:
    """An affiliation by the id, which SCIM takes over, ends and gives again."""
    organization, path = affiliate(owner, user)
    token = owner.post("AccessTokens", {"name": "SCIM", "operations": ["scim"]}).json["token"]
    scim = Api(owner.user, token, {"Content-Type": "application/scim+json"})
    document = {"userName": user.user.email, "emails": [{"value": user.user.email}]}
    said = scim.post(f"/scim/v2/{organization}/Users", document)
    assert said.status == 201, said.body
    for active in (False, True):
        changed = scim.put(f"/scim/v2/{organization}/Users/{said.json['id']}", {**document, "active": active})
        assert changed.status == 200, changed.body
    return organization, path


WAYS = [affiliate, join, join_by_default, accept, provision]
