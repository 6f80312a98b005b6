"""The operator's command line, against the service in this process and against a local stack of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid

import msgspec
import pytest

from chalicelib.access import passwords
from chalicelib.access.authentication import Caller
from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.models.accounts import USER, UserSpec
from chalicelib.core.models.credentials import hash_of
from chalicelib.errors import NotFound
from chalicelib.resources.accounts import administration, creation, registration
from chalicelib.storage.dynamodb import records
from chalicelib.storage.view import views
from infra import admin
from infra.local.http import operator_page
from tests import objects
from tests.journeys.stack import ROOT, Stack
from tests.resources.annotations.boxes import settle
from tests.service import Api, new_user

PASSWORD = "correct horse 7"


def do(*words, **more):
    """A command, done here as on AWS."""
    return admin.perform({**vars(admin.parser().parse_args([str(word) for word in words])), **more})


@pytest.fixture
def name():
    return f"op-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def ada(name):
    spec = UserSpec(username=name, first_name="Ada", last_name="L", email=f"{name}@example.org", password=PASSWORD)
    return creation.register(spec)


def sign_in(user):
    return Api(None).post("Token", {"username": user, "password": PASSWORD})


class TestAccounts:
    def test_the_first_superuser_signs_in(self, name):
        assert "is of staff" in do("create-superuser", name, "--email", f"{name}@example.org", password=PASSWORD)
        token = sign_in(name).json["token"]
        assert Api(None, token).get("User/GetCurrent").json["is_staff"] is True
        with pytest.raises(admin.Refused, match="taken"):
            do("create-superuser", name, "--email", f"{name}@example.org", password=PASSWORD)
        with pytest.raises(admin.Refused, match="password"):
            do("create-superuser", name + "2", "--email", f"{name}@example.org", password="short")

    @pytest.mark.slow
    def test_users_are_listed_without_their_secrets(self, ada):
        token = passwords.issue_token(ada, refresh=False)
        listed = do("list-users")
        assert f"{ada.id:>6}  {ada.username}" in listed
        assert "argon2" not in listed
        assert token not in listed

    def test_a_lock_is_opened(self, ada):
        for _ in range(3):
            Api(None).post("Token", {"username": ada.username, "password": "wrong"})
        assert sign_in(ada.username).status == 400
        do("unlock", ada.username.upper())
        assert sign_in(ada.username).status == 201

    def test_a_closed_account_has_no_tokens_until_it_is_opened_again(self, ada):
        me = Api(ada, passwords.issue_token(ada, refresh=False))
        assert "closed" in do("deactivate", ada.username)
        assert me.get("User/GetCurrent").status == 401
        assert sign_in(ada.username).status == 400
        assert "open" in do("activate", ada.username)
        do("unlock", ada.username)
        assert sign_in(ada.username).status == 201
        assert me.get("User/GetCurrent").status == 401

    def test_no_mailed_token_opens_an_account_that_was_closed(self, ada):
        words = {"reset": str(uuid.uuid4()), "confirmation": str(uuid.uuid4())}
        confirmed = hash_of(words["confirmation"])
        records.edit(USER, ada.id, lambda user: msgspec.structs.replace(user, confirmation_token=confirmed))
        reset = registration.PasswordReset(id=hash_of(words["reset"]), user=ada.id, created=time.time())
        records.create(registration.PASSWORD_RESET, reset)
        do("deactivate", ada.username)
        change = {"password": "battery staple 8", "reset_token": words["reset"]}
        assert Api(None).patch(f"User/{ada.id}", change).status == 200
        with pytest.raises(NotFound):
            registration.confirm(words["confirmation"], Caller.anonymous())
        assert not records.get(USER, ada.id).is_active
        assert Api(None).post("Token", {"username": ada.username, "password": "battery staple 8"}).status == 400

    def test_staff_is_known_to_tokens_at_once(self, ada):
        me = Api(ada, passwords.issue_token(ada, refresh=False))
        assert me.post("Notify", {"message": "x"}).status == 403
        do("staff", ada.username)
        assert me.post("Notify", {"message": "x"}).status == 503
        do("no-staff", ada.username)
        assert me.post("Notify", {"message": "x"}).status == 403

    def test_unknown_users_are_refused(self):
        for command in ("unlock", "activate", "deactivate", "staff", "no-staff"):
            with pytest.raises(admin.Refused, match="no user called"):
                do(command, "nobody at all")


class TestAnnouncements:
    @pytest.mark.slow
    def test_everybody_hears_and_acknowledges_alone(self, stranger):
        other = new_user()
        count = int(do("announce", "*down* on Sunday", "--subject", "Maintenance").split()[2])
        assert count == len(administration.list_users())
        [heard] = stranger.get("Announcements").json
        assert (heard["subject"], heard["message"], heard["markdown"]) == (
            "Maintenance",
            "*down* on Sunday",
            "*down* on Sunday",
        )
        assert stranger.delete(f"Announcement/{heard['id']}").status == 200
        assert stranger.get("Announcements").json == []
        [others] = other.get("Announcements").json
        assert stranger.delete(f"Announcement/{others['id']}").status == 404

    def test_a_project_or_a_user_alone_may_be_told(self, api, project, stranger):
        assert do("announce", "x", "--project", project) == "Announced to 1 users."
        assert do("announce", "y", "--user", stranger.user.username) == "Announced to 1 users."
        assert [item["markdown"] for item in stranger.get("Announcements").json] == ["y"]
        assert "x" in [item["markdown"] for item in api.get("Announcements").json]

    @pytest.mark.parametrize(
        "words",
        [("", "--days", "1"), ("x", "--days", "-1"), ("x", "--project", "999999999"), ("x", "--user", "nobody at all")],
    )
    def test_what_cannot_be_announced_is_refused(self, words):
        with pytest.raises(admin.Refused):
            do("announce", *words)


class TestSnapshots:
    @pytest.mark.slow
    def test_a_lost_snapshot_and_log_are_made_anew_from_the_tables(self, api, project):
        here = settle(api, project)
        here.api.made(here.many, [here.spec(frame=frame) for frame in range(5)])
        assert do("compact", project) == "A snapshot was written."
        assert do("compact", project) == "The snapshot there is holds everything."
        here.make(frame=5)
        expected = here.listed()
        objects.remove(list(objects.under(f"{view_prefix(project)}snapshots/")))
        # five boxes, the one after the snapshot, and the media
        assert "7 rows" in do("rebuild", project)
        views.drop(project)
        assert here.listed() == expected

    @pytest.mark.parametrize("command", ["compact", "rebuild"])
    def test_of_no_project_there_is_none(self, command):
        with pytest.raises(admin.Refused, match="No Project"):
            do(command, 999_999_999)


class TestPage:
    def test_commands_come_by_post_as_json(self, ada):
        command = {"command": "unlock", "username": ada.username}
        assert operator_page.serve("GET", "", b"").status == 405
        assert operator_page.serve("POST", "", json.dumps(command).encode()).status == 200
        for bad in ({}, {"command": "drop"}, {"command": "unlock"}, {"command": "announce", "text": "x", "days": "x"}):
            assert operator_page.serve("POST", "", json.dumps(bad).encode()).status == 400
        for body in (b"", b"no json", b"[]"):
            assert operator_page.serve("POST", "", body).status == 400


@pytest.mark.parametrize(
    "words", ["--stage nowhere --region eu-north-1 health", "health --stage nowhere --region eu-north-1"]
)
def test_a_stage_that_is_not_there_is_said_with_the_region(capsys, monkeypatch, words):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "")  # the command sets it
    assert admin.main(words.split()) == 1
    said = capsys.readouterr().err
    assert said == "There is no stack limn-nowhere-stateful in eu-north-1, in the account of these keys.\n"


@pytest.mark.nightly
def test_the_command_line_works_on_a_local_stack(tmp_path):
    stack = Stack(tmp_path)
    stack.start()
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("LIMN_", "AWS_"))}
    environment = {**clean, "LIMN_HOME": str(tmp_path), admin.PASSWORD: PASSWORD}

    def run(*words):
        command = [sys.executable, "-m", "infra.admin", *words]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    try:
        assert run("create-superuser", "ada", "--email", "ada@example.org").returncode == 0
        listed = run("list-users")
        assert "ada@example.org" in listed.stdout
        assert "admin@example.org" in listed.stdout
        assert run("announce", "hello").stdout == "Announced to 2 users.\n"
        refused = run("unlock", "nobody")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "no user called" in refused.stderr
    finally:
        stack.stop()
    assert "does not answer" in run("list-users").stderr
