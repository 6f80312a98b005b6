"""Resumable uploads with tuspy, the protocol's own client for Python."""

from __future__ import annotations

import hashlib
import io
import threading

import pytest
from tusclient.client import TusClient

from chalicelib.core.web.tus import LARGEST_CHUNK
from chalicelib.settings import override
from infra.local.http.gateway import Server
from tests import objects
from tests.resources.uploads.tus_client import (
    MIB,
    upload_of,
)
from tests.service import GATEWAY

pytestmark = pytest.mark.slow


@pytest.fixture
def served():
    """The API on a port of this machine; its address."""
    server = Server(GATEWAY, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    with override(public_url=f"http://127.0.0.1:{server.server_port}") as changed:
        yield changed.public_url
    server.shutdown()
    server.server_close()
    thread.join()


class TestTuspy:
    """The protocol's own client for Python."""

    def upload(self, api, project, served, size, *, chunk=LARGEST_CHUNK, stop_every=3):
        """Upload so many bytes, a new client every few chunks; the digest of what was sent and of what arrived."""
        block = hashlib.sha256(str(size).encode()).digest() * 1024
        data = (block * (size // len(block) + 1))[:size]
        headers = {"Authorization": f"Token {api.token}"}
        client, url, rounds = TusClient(f"{served}/files/", headers=headers), None, 0
        at = 0
        while at < size:
            uploader = client.uploader(
                file_stream=io.BytesIO(data),
                url=url,
                chunk_size=chunk,
                metadata={"project": str(project), "filename": "a.bin"},
                upload_checksum=True,
            )
            assert uploader.offset == at
            uploader.upload(stop_at=min(size, at + stop_every * chunk))
            url, at, rounds = uploader.url, uploader.offset, rounds + 1
        return data, objects.read(upload_of(url).key), rounds

    def test_it_uploads_with_interruptions(self, api, project, served):
        data, arrived, rounds = self.upload(api, project, served, 13 * MIB + 17, chunk=2 * MIB, stop_every=2)
        assert arrived == data
        assert rounds == 4

    @pytest.mark.nightly
    def test_it_uploads_200_mb_with_interruptions(self, api, project, served):
        data, arrived, rounds = self.upload(api, project, served, 200_000_000, stop_every=5)
        assert arrived == data
        assert rounds == 10
