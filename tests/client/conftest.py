"""The command line in this process, against the API and the object store on loopback ports."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.settings import settings
from chalicelib.storage.objects import objects
from infra import client as limn_client
from infra.client import configuration
from infra.client.cli import main as command_line
from infra.client.configuration import Profile
from tests.client.moving import upload


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def config(tmp_path, monkeypatch):
    """An empty configuration of its own."""
    for name in ("LIMN_URL", "LIMN_TOKEN", "LIMN_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "config" / "config.toml"
    monkeypatch.setenv("LIMN_CONFIG", str(place))
    return place


@pytest.fixture
def limn(config, monkeypatch, capsys):
    """Runs a command."""

    def run(*words: Any, stdin: str = "") -> Ran:
        import io

        monkeypatch.setattr(sys, "argv", ["limn", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        said = capsys.readouterr()
        return Ran(ended.value.code or 0, said.out, said.err)

    return run


@pytest.fixture(scope="module")
def service():
    """The address of the API, with the object store behind a socket too."""
    from infra.emulator import aws
    from infra.emulator.s3.front import S3Front
    from infra.local.http.gateway import Server
    from tests.service import GATEWAY

    store = S3Front(aws.signing_keys())
    store.start()
    caches = (settings, objects.s3._presigner, objects.s3.own)
    server = Server(GATEWAY, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("LIMN_S3_ENDPOINT", store.url)
        for cache in caches:
            cache.cache_clear()
        yield f"http://127.0.0.1:{server.server_address[1]}"
    for cache in caches:
        cache.cache_clear()
    server.shutdown()
    server.server_close()
    store.stop()


@pytest.fixture
def signed_in(service, config, api, project):
    """A profile for the project."""
    profile = configuration.Profile(service, api.token, project)
    configuration.write(configuration.Configuration("default", {"default": profile}))
    return project


@pytest.fixture
def client(service, api, project):
    with limn_client.Client(Profile(service, api.token, project)) as made:
        yield made


@pytest.fixture
def add(client, api, project):
    """Adds a picture to the project; its id."""
    type_ = api.made(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})

    def make(name, data):
        url = upload(client, project, name, data)
        [media] = api.made(f"Medias/{project}", [{"type": type_, "name": name, "md5": "", "url": url}])
        api.drain()
        return media

    make.type = type_
    return make
