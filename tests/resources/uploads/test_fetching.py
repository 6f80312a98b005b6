"""Callers' URLs: fetched from allowed origins only, never from the inside."""

from contextlib import ExitStack, contextmanager

import pytest
from urllib3 import HTTPResponse

from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Forbidden, TooLarge
from chalicelib.resources.uploads import fetching
from chalicelib.settings import override, settings
from chalicelib.storage import outbound
from chalicelib.storage.objects import owners
from tests import objects
from tests.loopback import Handler, Server

CONTENT = bytes(range(256)) * 40


@pytest.fixture(autouse=True)
def setting(monkeypatch):
    """Changes settings for one test."""
    monkeypatch.setattr(owners, "_organizations", {8: 7, 9: 7, 1: 1})
    allowed = ["https://files.example.org", "http://files.example.org:8080"]
    with override(s3_endpoint="http://127.0.0.1:8001", allowed_origins=allowed), ExitStack() as stack:
        yield lambda **changes: stack.enter_context(override(**changes))


class FileHandler(Handler):
    def do_GET(self):
        if self.path.startswith("/to/"):
            self.answer(302, headers={"Location": self.path.removeprefix("/to/")})
            return
        status, headers, first, last = 200, {"ETag": '"abc"'}, 0, len(CONTENT) - 1
        if wanted := self.headers.get("Range"):
            first, last = (int(part) for part in wanted.removeprefix("bytes=").split("-"))
            last = min(last, len(CONTENT) - 1)
            status, headers["Content-Range"] = 206, f"bytes {first}-{last}/{len(CONTENT)}"
        self.answer(status, CONTENT[first : last + 1], headers)


@contextmanager
def server():
    """A file server on this machine; its origin."""
    with Server(FileHandler) as running:
        yield running.url


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost/",
        "http://127.0.0.1/",
        "http://127.0.0.1:8000/rest/Users",
        "http://0.0.0.0/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fe80::1]/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://172.16.0.1/",
        "http://100.64.0.1/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:ffff:127.0.0.1]/",
        "http://[::ffff:169.254.169.254]/latest/meta-data/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/latest/meta-data/",
        "http://[fe80::1%25eth0]/",
        "http://[::]:8001/",
        "http://2130706433/",
        "http://0x7f.0x0.0x0.0x1/",
        "http://0177.0000.0000.0001/",
        "http://127.000.000.001/",
        "http://\u2460\u2461\u2466.0.0.1/",
        "http://127\u30020\u30020\u30021/",
        "http://127.0.0.1%2f@files.example.org/a",
        "https://files.example.org%00.evil.org/a",
        "https://files.example.org%40evil.org/a",
        "https://files.example.org:443@evil.org/a",
        "https://files.example.org;evil.org/a",
        "https://evil.org#https://files.example.org/a",
        "https://evil.org?https://files.example.org/a",
        "https:files.example.org/a",
        "https:///files.example.org/a",
        "jar:https://files.example.org/a",
        "data:text/plain,hello",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "file:///etc/passwd",
        "ftp://files.example.org/a",
        "gopher://files.example.org/",
        "https://user@files.example.org/a",
        "https://files.example.org@evil.org/a",
        "https://files.example.org:8443/a",
        "https://files.example.org.evil.org/a",
        "https://evil.org/files.example.org",
        "https://files.example.org\\@evil.org/a",
        "https://files.example.org\t/a",
        "https://files%2eexample.org/a",
        "https://f\u0131les.example.org/a",
        "http://files.example.org/a",
        "//files.example.org/a",
        "not a url",
        "",
        "https://",
        "https://[",
        "https://files.example.org:99999/",
        "http://127.0.0.1:8001@evil.org/",
        "http://127.0.0.1:8001.evil.org/",
        "http://127.0.0.1:8001/some-other-bucket/key",
        "https://some-other-bucket.s3.amazonaws.com/key",
    ],
)
def test_ways_to_point_at_the_inside_are_refused(url):
    with pytest.raises(Forbidden, match="not from an allowed origin"):
        fetching.check_origin(url, None)


def test_an_organization_lists_origins_for_its_own_projects(api, organization, project):
    path = f"Organization/{organization}"
    said = api.patch(path, {"allowed_origins": ["https://Media.example.org:443", "https://media.example.org"]})
    assert said.status == 200, said.body
    assert api.get(path).json["allowed_origins"] == ["https://media.example.org"]
    fetching.check_source("https://media.example.org/a.mp4", project, UNRESTRICTED)
    for url, of in (("http://media.example.org/a", organization), ("https://media.example.org/a", organization + 1)):
        with pytest.raises(Forbidden):
            fetching.check_origin(url, of)
    for bad in ("http://media.example.org", "https://media.example.org/x", "https://127.0.0.1", "file:///etc", "x"):
        said = api.patch(path, {"allowed_origins": [bad]})
        assert (said.status, "allowed_origins[0]" in said.message) == (400, True)
    assert api.patch(path, {"allowed_origins": []}).status == 200
    with pytest.raises(Forbidden):
        fetching.check_source("https://media.example.org/a.mp4", project, UNRESTRICTED)


@pytest.mark.parametrize(
    "url",
    [
        "https://files.example.org/a.mp4?x=1#f",
        "https://FILES.example.org:443/a",
        "https://files.example.org./a",
        "http://files.example.org:8080/a",
    ],
)
def test_allowed_origins_are_recognised_in_all_their_spellings(url):
    fetching.check_origin(url, None)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.1.1",
        "192.168.0.1",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "192.0.0.1",
        "198.18.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:8.8.8.8",
        "::7f00:1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001::1",
        "fe80::1%eth0",
        "fec0::1",
        "192.0.0.8",
        "192.88.99.1",
        "::ffff:0:127.0.0.1",
        "100:0:0:1::1",
        "3fff::1",
        "5f00::1",
    ],
)
def test_addresses_of_the_inside_are_not_public(address):
    assert not origins.is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2a00:1450:4001:82a::200e", "2606:2800:220:1:248:1893:25c8:1946"]
)
def test_addresses_of_the_internet_are(address):
    assert origins.is_public(address)


def test_an_allowed_name_that_leads_inside_is_refused(hosts):
    hosts["files.example.org"] = ["8.8.8.8", "10.0.0.1"]
    with pytest.raises(Forbidden, match="not from an allowed origin"):
        fetching.fetch("https://files.example.org/a", 1, 100, UNRESTRICTED)


def test_the_connection_goes_to_the_address_that_was_judged(hosts, setting):
    hosts["store.example.org"] = iter(["127.0.0.1"])  # it is asked once
    with server() as origin:
        setting(s3_endpoint=origin.replace("127.0.0.1", "store.example.org"))
        url = f"{settings().s3_endpoint}/{settings().media_bucket}/1/999/1/a?X-Amz-Signature=x"
        assert fetching.fetch(url, 1, 1_000_000, UNRESTRICTED) == CONTENT
    assert next(hosts["store.example.org"], None) is None


class TestOverHttp:
    @pytest.fixture
    def store(self, setting):
        with server() as origin:
            setting(s3_endpoint=origin)
            yield f"{origin}/{settings().media_bucket}"

    def test_an_object_of_another_project_is_asked_for_with_its_signature(self, store):
        assert fetching.fetch(f"{store}/1/999/1/a?X-Amz-Signature=x", 1, 1_000_000, UNRESTRICTED) == CONTENT

    def test_a_source_reads_ranges(self, store):
        source = fetching.open_source(f"{store}/1/999/1/a?X-Amz-Signature=x", 1, UNRESTRICTED)
        assert (source.size, source.etag) == (len(CONTENT), "abc")
        assert source.read(300, 20) == CONTENT[300:320]
        assert source.read(len(CONTENT) - 3, 100) == CONTENT[-3:]
        assert source.read(len(CONTENT), 10) == b""

    def test_too_much_is_refused(self, store):
        with pytest.raises(TooLarge):
            fetching.fetch(f"{store}/1/999/1/a?X-Amz-Signature=x", 1, 100, UNRESTRICTED)

    @pytest.mark.parametrize(
        "target", ["http://169.254.169.254/", "http://127.0.0.1:1/", "https://evil.org/", "file:///x"]
    )
    def test_redirects_are_judged_like_the_first_url(self, setting, target):
        with server() as origin:
            setting(s3_endpoint=origin)
            setting(media_bucket="to")
            with pytest.raises(Forbidden, match="not from an allowed origin"):
                fetching.fetch(f"{origin}/to/{target}?X-Amz-Signature=x", 1, 100, UNRESTRICTED)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "169.254.169.254", "10.0.0.7", "::1", "::ffff:10.0.0.7", "fd00:ec2::254", "fe80::1%eth0", "0.0.0.0"],
)
def test_a_name_that_answers_with_the_inside_when_it_is_asked_again_gains_nothing(monkeypatch, hosts, address):
    """Rebinding: judged at the first request and at the redirect to the same name, each time with a fresh answer."""
    hosts["files.example.org"] = iter(["8.8.8.8", address])
    connected = []

    class Pool:
        def __init__(self, host, *_, **__):
            connected.append(host)

        def urlopen(self, *_, **__):
            return HTTPResponse(b"", {"Location": "https://files.example.org/again"}, 302)

    monkeypatch.setattr(outbound, "_TlsPool", Pool)
    outbound._pool.cache_clear()
    with pytest.raises(Forbidden, match="not from an allowed origin"):
        fetching.fetch("https://files.example.org/a", 1, 100, UNRESTRICTED)
    outbound._pool.cache_clear()
    assert connected == ["8.8.8.8"]


def test_secret_headers_stay_with_the_first_origin(setting, monkeypatch):
    setting(allowed_origins=["https://one.example.org", "https://two.example.org"])
    sent = []

    def answering(address, _most, headers):
        sent.append((address.host, dict(headers)))
        moved = {"one.example.org": "https://two.example.org/x", "two.example.org": None}[address.host]
        return HTTPResponse(b"", {"Location": moved} if moved else {}, 302 if moved else 200)

    monkeypatch.setattr(fetching, "_get", answering)
    with fetching.open_url("https://one.example.org/x", 100, None, {"Authorization": "secret"}):
        pass
    assert sent == [("one.example.org", {"Authorization": "secret"}), ("two.example.org", {})]


def test_an_object_of_the_project_is_read_as_one_whatever_the_signature_says():
    objects.write("7/8/9/a.bin", CONTENT)
    url = f"http://127.0.0.1:8001/{settings().media_bucket}/7/8/9/a.bin?X-Amz-Expires=1&X-Amz-Signature=bad"
    assert fetching.fetch(url, 8, 1_000_000, UNRESTRICTED) == CONTENT
    assert fetching.object_key(url, 8, UNRESTRICTED) == objects.key("7/8/9/a.bin")
    assert fetching.object_key(url, 9, UNRESTRICTED) is None
    assert fetching.object_key(url.replace("/7/8/", "/6/8/"), 8, UNRESTRICTED) is None


def test_an_object_that_was_replaced_is_not_read_on():
    objects.write("7/8/9/b.bin", b"old")
    source = fetching.ObjectSource(objects.key("7/8/9/b.bin"))
    objects.write("7/8/9/b.bin", b"new")
    with pytest.raises(Exception, match="replaced"):
        source.read(0, 3)


def test_an_object_that_is_not_there_is_bad_input():
    with pytest.raises(BadInput):
        fetching.open_source(
            f"http://127.0.0.1:8001/{settings().media_bucket}/7/8/9/none?X-Amz-Signature=x", 8, UNRESTRICTED
        )


@pytest.mark.parametrize("query", ["", "?X-Amz-Signature=", "?X-Amz-Expires=60", "#X-Amz-Signature=x"])
@pytest.mark.parametrize("key", ["7/8/9/a.bin", "7/9/9/a.bin", "_uploads/2026-01-01/7/8/1/a.bin"])
def test_a_url_into_our_own_store_without_a_signature_is_refused(key, query):
    objects.write(key, CONTENT)
    bucket = settings().upload_bucket if key.startswith("_") else settings().media_bucket
    url = f"http://127.0.0.1:8001/{bucket}/{key}{query}"
    for ask in (fetching.check_source, fetching.open_source):
        with pytest.raises(Forbidden, match="not from an allowed origin"):
            ask(url, 8, UNRESTRICTED)
    with pytest.raises(Forbidden, match="not from an allowed origin"):
        fetching.fetch(url, 8, 1_000_000, UNRESTRICTED)
