"""Guessing passwords: the limit holds for guesses in parallel, and a mail lets the owner in."""

from __future__ import annotations

import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.access import passwords, rate_limits
from chalicelib.core.models.accounts import UNLOCK
from chalicelib.errors import BadInput, Unavailable
from chalicelib.storage.dynamodb import records
from tests import service
from tests.resources.accounts.mails import PASSWORD, mails_to, newest_mail_to, token_in

WRONG = "wrong horse 7"


def sign_in(nobody, user, password=PASSWORD, **more):
    return nobody.post("Token", {"username": user.username, "password": password, **more})


def lock(nobody, user):
    for _ in range(passwords.ALLOWED_FAILURES):
        assert sign_in(nobody, user, WRONG).status == 400


def test_hashes_have_the_strength_that_owasp_recommends(monkeypatch):
    monkeypatch.setattr(passwords, "STRENGTH", service.STRENGTH)
    passwords._hasher.cache_clear()
    made = passwords.hash_password(PASSWORD)
    passwords._hasher.cache_clear()
    assert made.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


@pytest.mark.slow
def test_guesses_in_parallel_do_not_outrun_the_limit(nobody, ada, monkeypatch):
    looked_at = []
    matches = passwords.is_match

    def slow(stored, password):
        looked_at.append(password)
        time.sleep(0.2)
        return matches(stored, password)

    counted = []
    count = passwords._count_attempt
    monkeypatch.setattr(passwords, "_count_attempt", lambda user: counted.append(count(user)) or counted[-1])
    monkeypatch.setattr(passwords, "is_match", slow)
    with ThreadPoolExecutor(16) as pool:
        said = list(pool.map(lambda n: sign_in(nobody, ada, f"{WRONG} {n}"), range(15)))
    assert {answer.status for answer in said} == {400}
    assert sorted(number for number in counted if number) == [1, 2, 3]
    assert sign_in(nobody, ada).status == 400


@pytest.mark.slow
def test_a_burst_that_holds_the_right_password_last_is_refused(nobody, ada):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: sign_in(nobody, ada, f"{WRONG} {n}"), range(15)))
        assert sign_in(nobody, ada).status == 400


def test_sign_ins_in_parallel_with_the_right_password_succeed(nobody, ada):
    with ThreadPoolExecutor(3) as pool:
        said = list(pool.map(lambda _: sign_in(nobody, ada), range(6)))
    assert [answer.status for answer in said] == [201] * 6


@pytest.mark.slow
def test_the_mail_about_a_lock_lets_the_owner_in_while_others_keep_it_locked(api, nobody, ada):
    lock(nobody, ada)
    api.drain()
    token = token_in(newest_mail_to(ada.email)["text"], "unlock_token")
    assert sign_in(nobody, ada).status == 400
    assert sign_in(nobody, ada, unlock_token="0" * 64).status == 400
    assert sign_in(nobody, ada, unlock_token=token).status == 201
    lock(nobody, ada)
    assert sign_in(nobody, ada, unlock_token=token).status == 400, "used up"


def test_an_unlock_token_is_for_three_guesses_at_its_own_account(api, nobody, ada):
    lock(nobody, ada)
    api.drain()
    token = token_in(newest_mail_to(ada.email)["text"], "unlock_token")
    other = api.user
    assert nobody.post("Token", {"username": other.username, "password": "x", "unlock_token": token}).status == 400
    for _ in range(passwords.ALLOWED_FAILURES):
        assert sign_in(nobody, ada, WRONG, unlock_token=token).status == 400
    assert sign_in(nobody, ada, unlock_token=token).status == 400


def test_an_unlock_token_ends_after_a_day(api, nobody, ada, move_clock):
    lock(nobody, ada)
    token = passwords.create_unlock(ada)
    move_clock(25 * 3600)
    assert passwords._find_unlock(ada, token) is None


def test_an_unlock_token_is_stored_as_a_hash(ada):
    token = passwords.create_unlock(ada)
    assert records.maybe(UNLOCK, token) is None
    assert len(token) * 4 >= 128


def test_after_a_reset_the_owner_gets_in_while_others_keep_the_account_locked(api, nobody, ada):
    assert nobody.post("PasswordReset", {"email": ada.email}).status == 201
    api.drain()
    token = token_in(newest_mail_to(ada.email)["text"], "reset_token")
    new = "battery staple 8"
    assert nobody.patch(f"User/{ada.id}", {"password": new, "reset_token": token}).status == 200
    lock(nobody, ada)
    assert sign_in(nobody, ada, new).status == 400
    assert sign_in(nobody, ada, new, unlock_token=token).status == 201


@pytest.mark.slow
def test_the_third_failure_is_reported_by_mail_and_no_other(api, nobody, ada):
    for number in range(1, 5):
        sign_in(nobody, ada, WRONG)
        api.drain()
        assert len(mails_to(ada.email)) == (number >= passwords.ALLOWED_FAILURES)
    [mail] = mails_to(ada.email)
    assert "locked" in mail["subject"]
    assert ada.username in mail["text"]


def test_mails_about_locks_are_limited_for_an_address(api, nobody, ada, monkeypatch):
    monkeypatch.setattr(rate_limits, "LOCK_MAIL", dataclasses.replace(rate_limits.LOCK_MAIL, by_address=1))
    lock(nobody, ada)
    api.drain()
    token = token_in(newest_mail_to(ada.email)["text"], "unlock_token")
    assert sign_in(nobody, ada, unlock_token=token).status == 201
    lock(nobody, ada)
    api.drain()
    assert len(mails_to(ada.email)) == 1


@pytest.mark.slow
def test_every_refusal_takes_the_same_time(nobody, ada, monkeypatch):
    monkeypatch.setattr(passwords, "REFUSAL_SECONDS", service.REFUSAL_SECONDS)

    def seconds(user, password):
        began = time.monotonic()
        assert nobody.post("Token", {"username": user, "password": password}).status == 400
        return time.monotonic() - began

    took = [seconds(name, WRONG) for name in (ada.username, ada.username, ada.username, "nobody at all")]
    took.append(seconds(ada.username, PASSWORD))
    assert min(took) >= passwords.REFUSAL_SECONDS


def test_a_mail_that_cannot_be_sent_changes_no_answer(nobody, ada, monkeypatch):
    def fail(*_args):
        raise Unavailable("The queue does not take messages.")

    monkeypatch.setattr("chalicelib.resources.email.system_emails.send", fail)
    said = [sign_in(nobody, ada, WRONG).json for _ in range(4)]
    assert said == [said[0]] * 4


def test_an_account_that_is_ended_while_its_user_signs_in_gets_no_token(api, ada):
    assert api.patch(f"User/{ada.id}", {"is_active": False}).status == 200
    with pytest.raises(BadInput):
        passwords.issue_token(ada, refresh=False)
