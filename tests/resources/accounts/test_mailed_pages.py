"""Each link in a mail leads to a page whose form does what the mail says, without scripts and without the console."""

from __future__ import annotations

import html.parser
import re
from urllib.parse import urlencode

import pytest

from chalicelib.access import passwords
from tests.resources.accounts.mails import PASSWORD, link_in, newest_mail_to, spec
from tests.service import Api, new_user

NEW = "battery staple 8"


class Page(html.parser.HTMLParser):
    """What a browser without scripts makes of a page: its forms and their inputs."""

    def __init__(self, said):
        super().__init__()
        self.inputs, self.forms, self.tags = {}, [], set()
        self.feed(said.body.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        given = dict(attrs)
        if tag == "form":
            self.forms.append(given)
        if tag == "input":
            self.inputs[given["name"]] = given.get("value", "")


class Browser:
    """Follows links and sends forms."""

    def __init__(self):
        self.api = Api(None, headers={"Accept": "text/html"})

    def open(self, path):
        self.path, said = path, self.api.get(path)
        self.said, self.page = said, Page(said)
        return self

    def send(self, **filled):
        [form] = self.page.forms
        assert form == {"method": "post"}
        assert set(filled) <= set(self.page.inputs)
        headers = {**self.api.headers, "Content-Type": "application/x-www-form-urlencoded"}
        raw = urlencode({**self.page.inputs, **filled}).encode()
        return Api(None, headers=headers, client=self.api.client).ask("POST", self.path, raw=raw)


@pytest.fixture
def browser():
    return Browser()


def open_mail(api, browser, address):
    api.drain()
    return browser.open(link_in(newest_mail_to(address)["text"]))


def is_good(username, password):
    return Api(None).post("Token", {"username": username, "password": password}).status == 201


def test_an_invited_person_registers(api, browser, organization, address):
    api.made(f"Invitations/{organization}", {"email": address, "permission": "Member"})
    page = open_mail(api, browser, address)
    members = spec(address)
    weak = page.send(**{**members, "password": "short"})
    assert (weak.status, b"at least 8 characters" in weak.body) == (400, True)
    assert page.send(**members).status == 200
    assert is_good(members["username"], PASSWORD)
    assert len(api.get(f"Affiliations/{organization}").json) == 2
    again = page.send(**spec(address))
    assert (again.status, b"used or has expired" in again.body) == (400, True)


def test_an_invited_user_accepts(api, browser, organization, ada):
    api.made(f"Invitations/{organization}", {"email": ada.email, "permission": "Admin"})
    page = open_mail(api, browser, ada.email)
    assert page.send(username=ada.username, password="wrong").status == 400
    assert page.send(username=ada.username, password=PASSWORD).status == 200
    assert ada.id in [item["user"] for item in api.get(f"Affiliations/{organization}").json]


def test_another_user_cannot_accept(api, browser, organization, ada):
    other = new_user()
    api.made(f"Invitations/{organization}", {"email": other.user.email, "permission": "Admin"})
    page = open_mail(api, browser, other.user.email)
    assert page.send(username=ada.username, password=PASSWORD).status == 403


def test_a_forgotten_password_is_set(api, nobody, browser, ada):
    nobody.post("PasswordReset", {"email": ada.email})
    page = open_mail(api, browser, ada.email)
    assert page.send(password="short").status == 400
    assert page.send(password=NEW).status == 200
    assert is_good(ada.username, NEW)
    assert page.send(password=NEW).status == 400


def test_a_registration_is_confirmed_by_its_visit(api, nobody, browser, address, configured):
    configured(anonymous_registration=True, confirm_registration=True)
    members = spec(address)
    nobody.made("Users", members)
    assert not is_good(members["username"], PASSWORD)
    assert open_mail(api, browser, address).said.status == 200
    assert is_good(members["username"], PASSWORD)


def test_a_new_address_is_confirmed(api, browser, me, ada):
    new = f"new-{ada.email}"
    me.patch(f"User/{ada.id}", {"email": new})
    page = open_mail(api, browser, new)
    assert page.send().status == 200
    assert me.get("User/GetCurrent").json["email"] == new


def test_a_locked_account_is_opened(api, nobody, browser, ada):
    for _ in range(passwords.ALLOWED_FAILURES):
        nobody.post("Token", {"username": ada.username, "password": "wrong"})
    page = open_mail(api, browser, ada.email)
    assert not is_good(ada.username, PASSWORD)
    said = page.send(username=ada.username, password=PASSWORD)
    token = re.search(rb"<code>([0-9a-f]{40})</code>", said.body)[1].decode()
    assert Api(None, token).get("User/GetCurrent").json["id"] == ada.id
    assert is_good(ada.username, PASSWORD)


PATHS = ("/registration", "/accept", "/password-reset", "/unlock", "/email-confirmation/x")


@pytest.mark.parametrize("path", PATHS)
def test_a_page_runs_nothing_and_sends_only_to_the_service(nobody, path):
    said = nobody.get(path)
    policy = said.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "form-action 'self'" in policy
    assert "unsafe" not in policy
    assert said.headers["Referrer-Policy"] == "no-referrer"
    assert said.headers["Cache-Control"] == "no-store"
    assert said.headers["Content-Type"].startswith("text/html")
    assert not Page(said).tags & {"script", "iframe", "img", "link"}


@pytest.mark.parametrize("path", PATHS)
def test_what_is_sent_is_escaped_where_it_is_shown(nobody, path):
    hostile = '"><script>alert(1)</script>'
    names = ("registration_token", "reset_token", "unlock_token")
    query = {name: hostile for name in names if nobody.get(path, **{name: "x"}).status != 400}
    raw = urlencode(dict.fromkeys(("username", "first_name", "last_name", "email", "password"), hostile)).encode()
    for said in (nobody.get(path, **query), nobody.ask("POST", path, raw=raw, **query)):
        assert said.status < 500
        assert b"<script" not in said.body


def test_a_name_of_a_user_is_escaped(api, browser, address):
    body = spec(address)
    body["username"] = f"<b>{body['username']}</b>"
    number = api.made("Users", body)
    me = Api(None, _token(body))
    me.patch(f"User/{number}", {"email": f"new-{address}"})
    page = open_mail(api, browser, f"new-{address}")
    assert b"<b>" not in page.said.body
    assert b"&lt;b&gt;" in page.said.body


def _token(body):
    return Api(None).post("Token", {"username": body["username"], "password": PASSWORD}).json["token"]


@pytest.mark.parametrize(
    "raw", [b"", b"\xff\xfe", b"&" * 100, b"a=1&" * 30, b"username=%ff", b"{}", b"username=x&password=" + b"y" * 30_000]
)
def test_a_malformed_form_is_answered_with_a_sentence(nobody, raw):
    for path in PATHS:
        said = nobody.ask("POST", path, raw=raw)
        assert 400 <= said.status < 500, path
        assert b'role="alert"' in said.body
