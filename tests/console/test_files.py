"""The files of the console as the service serves them."""

from __future__ import annotations

import gzip
import html
import json
import re

import pytest

from chalicelib.api import console
from chalicelib.settings import override
from infra import vendor_console
from tests.service import GATEWAY, Api, Said

INLINE = re.compile(rb"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)


@pytest.fixture
def visitor() -> Api:
    return Api(None)


def asset(path: str, **headers: str) -> Said:
    reply = GATEWAY.ask("GET", f"/console/{console.build().name}/{path}", headers)
    return Said(reply.status, dict(reply.headers), reply.body)


def test_the_root_is_the_console_and_its_policy_allows_no_inline_code(visitor):
    said = visitor.get("/")
    assert said.status == 200
    assert said.headers["Content-Type"].startswith("text/html")
    policy = said.headers["Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert "unsafe" not in policy
    assert not re.search(r"(?:^|\s)(?:\*|https?:)(?:\s|;|$)", policy)
    assert not INLINE.search(said.body)
    assert visitor.get("/docs").status == 200


def test_media_may_come_from_the_stores_of_the_deployment_only(visitor):
    with override(s3_endpoint="", store_origins=["https://store.example.org"], answers_url="https://a.example.org/x"):
        policy = visitor.get("/").headers["Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    for rule in ("media-src", "img-src", "connect-src"):
        assert "https://store.example.org" in rules[rule]
        assert "https://a.example.org" in rules[rule]
        assert re.search(r"https://[a-z0-9-]+\.s3\.[a-z0-9-]+\.amazonaws\.com", rules[rule])


def test_tiles_that_the_operator_names_are_pictures_of_one_host_more(visitor):
    before = visitor.get("/")
    assert b'name="tiles" content="" data-source=""' in before.body
    with override(map_tiles="https://tiles.example.org/{z}/{x}/{y}.png?a=1&b=2", map_source='The "office"'):
        after = visitor.get("/")
    assert after.headers["ETag"] != before.headers["ETag"]
    assert b"/{z}/{x}/{y}.png?a=1&amp;b=2" in after.body
    assert b"The &quot;office&quot;" in after.body
    rules, old = (
        dict(rule.split(" ", 1) for rule in said.headers["Content-Security-Policy"].split("; "))
        for said in (after, before)
    )
    assert rules.pop("img-src") == f"{old.pop('img-src')} https://tiles.example.org"
    assert rules == old


def test_the_page_is_revalidated_and_its_files_are_kept_for_a_year(visitor):
    page = visitor.get("/")
    assert page.headers["Cache-Control"] == "no-cache"
    visitor.headers["If-None-Match"] = page.headers["ETag"]
    assert visitor.get("/").status == 304
    links = re.findall(rb'(?:src|href)="(console/[^"]+)"', page.body)
    assert links
    for link in links:
        said = Api(None).get(f"/{link.decode()}")
        assert said.status == 200, link
        assert "immutable" in said.headers["Cache-Control"]


def test_every_import_of_every_module_is_served():
    files = console.build().files
    for path in files:
        if path.endswith(".js") and not path.startswith("views/"):
            assert set(console.imports(files, path)) <= files.keys(), path


def test_the_page_names_all_modules_of_each_view_and_language(visitor):
    found = console.build()
    (content,) = re.findall(r'<meta name="modules" content="([^"]*)">', visitor.get("/").body.decode())
    modules = json.loads(html.unescape(content))
    ahead = {entry: {modules["paths"][place] for place in places} for entry, places in modules["ahead"].items()}
    assert {"views/annotate.js", "de/index.js", "es/index.js"} < ahead.keys()
    for entry, paths in ahead.items():
        assert paths == set(console.imports(found.files, entry)) - set(found.first), entry


def test_files_are_compressed_for_browsers_that_accept_it():
    zipped, plain = asset("app.js", **{"accept-encoding": "gzip, br"}), asset("app.js")
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(zipped.body) == plain.body


def test_the_first_view_is_smaller_than_the_budget():
    found = console.build()
    modules = {
        *found.first,
        *console.imports(found.files, "views/projects.js"),
        *console.imports(found.files, "views/sign_in.js"),
    }
    styles = {path for path in found.files if path.startswith("styles/")}
    total = sum(len(gzip.compress(found.files[path])) for path in modules | styles) + len(found.index)
    assert total < 120_000  # the issue allows 300 KB


@pytest.mark.parametrize(
    "path", ["index.html", "..%2Fsite.py", "ui/..%2F..%2Fapi/site.py", "missing.js", "vendor/versions.js"]
)
def test_other_files_are_not_served(path):
    assert asset(path).status == 404


def test_files_of_another_build_are_not_served(visitor):
    assert visitor.get("/console/0000000000000000/app.js").status == 404


def test_vendored_files_are_as_their_list_says():
    assert vendor_console.differences() == []


def test_no_module_evaluates_text():
    for path, body in console.build().files.items():
        if path.endswith(".js"):
            assert not re.search(
                rb"\beval\(|new Function\(|dangerouslySetInnerHTML|\.innerHTML\s*=[^=]|document\.write\(", body
            ) or (path.startswith("vendor/")), path
