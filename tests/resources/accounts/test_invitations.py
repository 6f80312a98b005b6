"""Registration, invitation and password reset, walked through by mail."""

from __future__ import annotations

import re

from chalicelib.errors import Unavailable
from chalicelib.resources.accounts import registration
from chalicelib.settings import settings
from tests.resources.accounts.mails import PASSWORD, newest_mail_to, spec, token_in
from tests.service import Api, new_user


def _refuse(*_):
    raise Unavailable("The queue does not take messages.")


class TestInvitations:
    def test_a_newcomer_registers_with_the_link_and_belongs(self, api, nobody, organization, address):
        said = api.post(f"Invitations/{organization}", {"email": address, "permission": "Member"})
        assert said.status == 201
        assert "/registration?registration_token=" in said.message
        api.drain()
        token = token_in(newest_mail_to(address)["text"])
        assert token == token_in(said.message)
        user = nobody.made("Users", spec(address, registration_token=token))
        assert user in [item["user"] for item in api.get(f"Affiliations/{organization}").json]
        assert api.get(f"Invitation/{said.json['id']}").json["status"] == "Accepted"
        assert nobody.post("Users", spec(address, registration_token=token)).status == 400

    def test_a_known_user_accepts(self, api, organization):
        other = new_user()
        said = api.post(f"Invitations/{organization}", {"email": other.user.email, "permission": "Admin"})
        assert "/accept?registration_token=" in said.message
        assert said.json["user_id"] == other.user.id
        token = token_in(said.message)
        assert new_user().post("Accept", {"registration_token": token}).status == 403
        assert other.post("Accept", {"registration_token": token}).status == 201
        assert other.get(f"Organization/{organization}").json["permission"] == "Admin"
        assert other.post("Accept", {"registration_token": token}).status == 400

    def test_the_token_is_for_the_invited_address_only(self, api, nobody, organization, address):
        said = api.post(f"Invitations/{organization}", {"email": address, "permission": "Member"})
        other = spec("other@example.org", registration_token=token_in(said.message))
        assert nobody.post("Users", other).status == 400

    def test_one_address_has_one_pending_invitation(self, api, organization, address):
        body = {"email": address, "permission": "Member"}
        first = api.made(f"Invitations/{organization}", body)
        assert api.post(f"Invitations/{organization}", body).status == 400
        assert api.delete(f"Invitation/{first}").status == 200
        assert api.post(f"Invitations/{organization}", body).status == 201

    def test_an_old_one_has_expired_and_makes_room(self, api, nobody, organization, address, monkeypatch):
        body = {"email": address, "permission": "Member"}
        said = api.post(f"Invitations/{organization}", body)
        monkeypatch.setattr(registration, "INVITATION_DAYS", -1)
        assert api.get(f"Invitation/{said.json['id']}").json["status"] == "Expired"
        late = spec(address, registration_token=token_in(said.message))
        assert nobody.post("Users", late).status == 400
        assert api.post(f"Invitations/{organization}", body).status == 201

    def test_without_its_mail_there_is_no_invitation(self, api, organization, address, monkeypatch):
        body = {"email": address, "permission": "Member"}
        with monkeypatch.context() as broken:
            broken.setattr(registration.system_emails, "send", _refuse)
            assert api.post(f"Invitations/{organization}", body).status == 503
        assert api.get(f"Invitations/{organization}").json == []
        assert api.post(f"Invitations/{organization}", body).status == 201
        assert api.post(f"Invitations/{organization}", {**body, "email": "no address"}).status == 400
        named = api.post(f"Invitations/{organization}", {**body, "email": "Ada <ada@example.org>"})
        assert (named.status, named.message) == (400, "email: give the address alone, without a name.")
        assert len(api.get(f"Invitations/{organization}").json) == 1

    def test_a_user_of_the_organization_is_not_invited(self, api, organization):
        assert api.post(f"Invitations/{organization}", {"email": api.user.email, "permission": "Member"}).status == 400


class TestPasswordReset:
    def test_a_forgotten_password_is_replaced_by_mail_once(self, api, nobody, address):
        body = spec(address)
        user = api.made("Users", body)
        assert nobody.post("PasswordReset", {"email": address.upper()}).status == 201
        api.drain()
        word = token_in(newest_mail_to(address.upper())["text"], "reset_token")
        change = {"password": "battery staple 8", "reset_token": word}
        assert nobody.patch(f"User/{api.user.id}", change).status == 400
        assert nobody.patch(f"User/{user}", {**change, "password": "short"}).status == 400
        assert nobody.patch(f"User/{user}", change).status == 200
        assert nobody.patch(f"User/{user}", change).status == 400
        credentials = {"username": body["username"], "password": "battery staple 8"}
        assert nobody.post("Token", {**credentials, "unlock_token": word}).status == 201
        assert nobody.patch(f"User/{user}", change).status == 400, "nor after the lock that it opens was used"
        assert nobody.post("Token", {**credentials, "password": PASSWORD}).status == 400

    def test_it_signs_out_everywhere(self, api, nobody, address):
        body = spec(address)
        user = api.made("Users", body)
        token = nobody.post("Token", {"username": body["username"], "password": PASSWORD}).json["token"]
        nobody.post("PasswordReset", {"email": address})
        api.drain()
        word = token_in(newest_mail_to(address)["text"], "reset_token")
        nobody.patch(f"User/{user}", {"password": "battery staple 8", "reset_token": word})
        assert Api(None, token).get("User/GetCurrent").status == 401

    def test_an_unknown_address_is_refused(self, nobody):
        assert nobody.post("PasswordReset", {"email": "nobody@example.org"}).status == 400

    def test_without_a_token_only_a_reset_changes_a_user(self, nobody, api):
        assert nobody.patch(f"User/{api.user.id}", {"first_name": "x"}).status == 401
        assert nobody.patch(f"User/{api.user.id}", {"password": "battery staple 8"}).status == 401


class TestRegistration:
    def test_registration_is_open_where_the_deployment_says_so(self, nobody, address, configured):
        configured(anonymous_registration=True)
        assert nobody.post("Users", spec(address)).status == 201

    def test_visiting_the_link_confirms_an_address(self, nobody, api, address, configured):
        configured(anonymous_registration=True, confirm_registration=True)
        body = spec(address)
        nobody.made("Users", body)
        credentials = {"username": body["username"], "password": PASSWORD}
        assert nobody.post("Token", credentials).status == 400
        api.drain()
        link = re.search(r"http\S+/email-confirmation/\S+", newest_mail_to(address)["text"])[0]
        path = link[len(settings().public_url) :]
        assert nobody.get(path + "x").status == 404
        assert nobody.get(path).status == 200
        assert nobody.post("Token", credentials).status == 201

    def test_without_its_mail_there_is_no_account(self, nobody, address, configured, monkeypatch):
        configured(anonymous_registration=True, confirm_registration=True)
        wanted = spec(address)
        with monkeypatch.context() as broken:
            broken.setattr(registration.system_emails, "send", _refuse)
            assert nobody.post("Users", wanted).status == 503
        assert nobody.post("Users", wanted).status == 201
        assert nobody.post("Users", wanted).status == 400

    def test_an_account_that_must_be_confirmed_needs_mail(self, nobody, address, configured):
        configured(anonymous_registration=True, confirm_registration=True, email_enabled=False)
        assert nobody.post("Users", spec(address)).status == 400
        configured(anonymous_registration=True, confirm_registration=False, email_enabled=True)
        assert nobody.post("Users", spec(address)).status == 201
