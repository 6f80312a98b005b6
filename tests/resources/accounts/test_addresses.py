"""A changed address counts once the link that was mailed to it is opened."""

from __future__ import annotations

import ast
import csv
import io
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chalicelib.core.models.credentials import hash_of
from chalicelib.resources.accounts.invitations import PASSWORD_RESET, PasswordReset
from chalicelib.storage.dynamodb import records
from tests.contract.world import build
from tests.resources.accounts import unasked
from tests.resources.accounts.mails import link_in, mails_to, newest_mail_to, spec, token_in
from tests.resources.share_links.test_share_links import guest_of, link_to
from tests.service import Api, affiliate, new_user


def email_of(user):
    return user.get("User/GetCurrent").json["email"]


def change(user, address):
    return user.patch(f"User/{user.user.id}", {"email": address})


def confirm(nobody, api, address):
    """Open the newest link to an address and press its button."""
    api.drain()
    path = link_in(newest_mail_to(address)["text"])
    shown = nobody.get(path)
    assert (shown.status, b'<form method="post">' in shown.body) == (200, True)
    return nobody.ask("POST", path, raw=b"")


def test_the_old_address_counts_until_the_new_one_is_confirmed(api, nobody, me, ada, address):
    new = f"new-{address}"
    said = change(me, new)
    assert (said.status, "once" in said.message) == (200, True)
    assert email_of(me) == address
    assert api.get("Users", email=new).json == []
    assert confirm(nobody, api, new).status == 200
    assert email_of(me) == new
    assert "about to become" in mails_to(address)[0]["text"]
    api.drain()
    assert new in mails_to(address)[-1]["text"]


def test_opening_the_link_alone_changes_nothing(api, nobody, me, address):
    new = f"new-{address}"
    change(me, new)
    api.drain()
    assert nobody.get(link_in(newest_mail_to(new)["text"])).status == 200
    assert email_of(me) == address


def test_a_link_works_once(api, nobody, me, address):
    new = f"new-{address}"
    change(me, new)
    assert confirm(nobody, api, new).status == 200
    path = link_in(mails_to(new)[0]["text"])
    assert nobody.ask("POST", path, raw=b"").status == 404


def test_a_newer_change_ends_the_older_one(api, nobody, me, address):
    change(me, f"one-{address}")
    change(me, f"two-{address}")
    api.drain()
    assert nobody.ask("POST", link_in(newest_mail_to(f"one-{address}")["text"]), raw=b"").status == 404
    assert confirm(nobody, api, f"two-{address}").status == 200


def test_a_link_ends_after_a_day(api, nobody, me, address, move_clock):
    new = f"new-{address}"
    change(me, new)
    api.drain()
    move_clock(25 * 3600)
    assert nobody.ask("POST", link_in(newest_mail_to(new)["text"]), raw=b"").status == 404


@pytest.mark.slow
def test_changes_in_parallel_give_an_address_to_one_user(api, nobody, address):
    people = [new_user() for _ in range(4)]
    wanted = f"wanted-{address}"
    with ThreadPoolExecutor(4) as pool:
        assert {said.status for said in pool.map(lambda user: change(user, wanted), people)} == {200}
    api.drain()
    paths = [link_in(mail["text"]) for mail in mails_to(wanted)]
    assert len(paths) == len(people)
    with ThreadPoolExecutor(4) as pool:
        said = [answer.status for answer in pool.map(lambda path: nobody.ask("POST", path, raw=b""), paths)]
    assert sorted(said) == [200, 400, 400, 400]
    assert [email_of(user) for user in people].count(wanted) == 1


def test_the_address_of_another_user_is_refused(me, address):
    other = new_user()
    said = change(me, other.user.email.upper())
    assert (said.status, "email" in said.message) == (400, True)


def test_a_case_of_letters_needs_no_mail(api, me, address):
    assert change(me, address.upper()).status == 200
    assert email_of(me) == address.upper()


def test_a_declared_address_does_not_lock_its_owner_out_of_a_reset(api, nobody, ada, address, configured):
    configured(anonymous_registration=True)
    squatter = nobody.made("Users", spec(address))
    assert nobody.post("PasswordReset", {"email": address}).status == 201
    api.drain()
    assert f"user={ada.id}" in newest_mail_to(address)["text"]
    assert squatter != ada.id


def test_a_reset_by_mail_confirms_the_address(api, nobody, address, configured):
    configured(anonymous_registration=True)
    number = nobody.made("Users", body := spec(address))
    nobody.post("PasswordReset", {"email": address})
    api.drain()
    token = token_in(newest_mail_to(address)["text"], "reset_token")
    new = {"password": "battery staple 8", "reset_token": token}
    assert nobody.patch(f"User/{number}", new).status == 200
    other = nobody.made("Users", spec(address))
    nobody.post("PasswordReset", {"email": address})
    api.drain()
    assert f"user={number}" in newest_mail_to(address)["text"], (other, body)


def test_a_reset_ends_a_change_of_address_that_someone_else_began(api, nobody, me, ada, address):
    thief = f"thief-{address}"
    change(me, thief)
    nobody.post("PasswordReset", {"email": address})
    api.drain()
    token = token_in(newest_mail_to(address, "reset_token")["text"], "reset_token")
    assert nobody.patch(f"User/{ada.id}", {"password": "battery staple 8", "reset_token": token}).status == 200
    assert nobody.ask("POST", link_in(newest_mail_to(thief)["text"]), raw=b"").status == 404


def test_a_reset_that_was_mailed_to_the_old_address_ends_with_it(api, nobody, me, ada, address):
    nobody.post("PasswordReset", {"email": address})
    api.drain()
    token = token_in(newest_mail_to(address)["text"], "reset_token")
    change(me, f"new-{address}")
    assert confirm(nobody, api, f"new-{address}").status == 200
    assert nobody.patch(f"User/{ada.id}", {"password": "battery staple 8", "reset_token": token}).status == 400


def test_one_reset_ends_the_others(api, nobody, ada, address):
    for _ in range(2):
        nobody.post("PasswordReset", {"email": address})
    api.drain()
    first, second = (token_in(mail["text"], "reset_token") for mail in mails_to(address))
    new = {"password": "battery staple 8"}
    assert nobody.patch(f"User/{ada.id}", {**new, "reset_token": second}).status == 200
    assert nobody.patch(f"User/{ada.id}", {**new, "reset_token": first}).status == 400


def test_a_reset_of_another_user_without_an_address_is_refused(api, nobody, ada):
    """Resets that older releases mailed hold no address, which would tell them apart."""
    made = PasswordReset(id=hash_of("a token of older releases"), user=api.user.id, created=time.time())
    records.create(PASSWORD_RESET, made)
    change = {"password": "battery staple 8", "reset_token": "a token of older releases"}
    assert nobody.patch(f"User/{ada.id}", change).status == 400
    assert nobody.patch(f"User/{api.user.id}", change).status == 200


@pytest.mark.parametrize(("who", "status"), [("me", 400), ("api", 200)])
def test_without_mail_only_staff_changes_an_address(request, ada, address, configured, who, status):
    configured(email_enabled=False)
    caller = request.getfixturevalue(who)
    assert caller.patch(f"User/{ada.id}", {"email": f"new-{address}"}).status == status


@pytest.mark.parametrize("way", unasked.WAYS)
def test_whoever_adds_users_by_counting_learns_no_addresses(way):
    owner, stranger = new_user(), new_user()
    organization, path = way(owner, stranger)
    made = next(each["id"] for each in owner.get(path).json if each["user"] == stranger.user.id)
    one = owner.get(f"{path.split('s/', maxsplit=1)[0]}/{made}").json
    listed = next(each for each in owner.get(path).json if each["user"] == stranger.user.id)
    assert (one["email"], listed["email"], listed["username"]) == ("", "", stranger.user.username)
    assert owner.get(f"User/{stranger.user.id}").status == 403
    assert stranger.user.email not in str(owner.get("Users", username=stranger.user.username).json)
    affiliate(stranger, organization)  # as an invitation that was accepted does
    listed = next(each for each in owner.get(path).json if each["user"] == stranger.user.id)
    assert listed["email"] == stranger.user.email
    if path.startswith("Memberships"):
        assert owner.get(f"User/{stranger.user.id}").json["email"] == stranger.user.email


def test_each_place_says_who_gave_it_where_it_is_made():
    calls = [
        (path.name, node)
        for path in Path("chalicelib").rglob("*.py")
        if re.search(r"\b(Affiliation|Membership)\(", text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Affiliation", "Membership")
    ]
    assert len(calls) > 5
    assert [name for name, call in calls if "added_by" not in {each.arg for each in call.keywords}] == []


class TestSpreadsheets:
    """Lists as CSV name users by their addresses."""

    @pytest.fixture
    def world(self):
        return build()

    def users_of(self, who, world, path="Localizations", **query):
        said = who.get(f"{path}/{world.things['project']}", format="csv", **query)
        assert said.status == 200
        rows = list(csv.DictReader(io.StringIO(said.body.decode())))
        return {row[name] for row in rows for name in ("created_by", "$created_by") if name in row}

    def test_members_read_addresses(self, world):
        viewer, address = world.members["View Only"], world.owner.user.email
        assert self.users_of(viewer, world) == self.users_of(viewer, world, "States") == {address}
        assert self.users_of(viewer, world, "Statistics", kind="localization", group_by="$created_by") == {address}

    def test_guests_and_readers_of_a_public_project_read_ids(self, world):
        number = str(world.owner.user.id)
        guest = guest_of(link_to(world, media_ids=[world.things["media"]])[1])
        assert world.owner.patch(f"Project/{world.things['project']}", {"public": "unlisted"}).status == 200
        for who in (guest, Api(None), new_user()):
            assert self.users_of(who, world) == self.users_of(who, world, "Medias") == {number}
            assert self.users_of(who, world, "Statistics", kind="localization", group_by="$created_by") == {number}

    def test_an_author_who_never_came_is_told_by_name(self, world):
        owner, stranger = world.owner, new_user()
        shown = owner.get("Users", username=stranger.user.username).json[0]["elemental_id"]
        box = {"media_id": world.things["media"], "type": world.things["localization_type"], "frame": 7}
        owner.made(f"Localizations/{world.things['project']}", [{**box, "user_elemental_id": shown}])
        viewer = world.members["View Only"]
        assert self.users_of(viewer, world, frame=7) == {stranger.user.username}
        searched = {"search": f"_email:{stranger.user.email}"}
        assert viewer.get(f"LocalizationCount/{world.things['project']}", **searched).json == 0
