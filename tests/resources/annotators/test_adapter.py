"""The adapter of docs/guides/annotators.md, as it stands, in front of a model."""

from __future__ import annotations

import io
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from chalicelib.settings import override
from tests.resources.media.samples import media_type, uploaded

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "annotators.md"
SECONDS = 30


@pytest.fixture
def url():
    """Where the adapter listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    [script] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    process = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "MODEL_PORT": str(port)}, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()


@pytest.mark.slow
def test_it_puts_a_box_where_the_model_finds_one(api, project, url):
    picture = Image.new("L", (80, 40))
    ImageDraw.Draw(picture).rectangle((20, 10, 39, 29), fill=255)
    data = io.BytesIO()
    picture.save(data, "PNG")
    kind = media_type(project, dtype="image")
    body = {
        "type": kind,
        "name": "a.png",
        "url": uploaded(api, project, data.getvalue(), "a.png"),
        "section": "s",
        "md5": "",
    }
    [media] = api.post(f"Medias/{project}", [body]).json["id"]
    api.drain()
    attributes = [{"name": "Label", "dtype": "string"}, {"name": "Score", "dtype": "float"}]
    box_type = {"name": "b", "dtype": "box", "media_types": [kind], "attribute_types": attributes}
    boxes = api.made(f"LocalizationTypes/{project}", box_type)
    with override(service_origins=[url]):
        spec = {"name": "m", "url": url, "type": boxes, "label_attribute": "Label", "confidence_attribute": "Score"}
        annotator = api.made(f"Annotators/{project}", spec)
        said = api.post(f"Prediction/{media}", {"annotator": annotator})
    assert said.status == 200, said.body
    [found] = said.json["localizations"]
    assert found["attributes"] == {"Label": "bright", "Score": 0.9}
    sides = [found[name] for name in ("x", "y", "width", "height")]
    assert sides == pytest.approx([0.25, 0.25, 0.25, 0.5], abs=0.02)
