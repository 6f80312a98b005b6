"""The recipes run as they stand, on a local stack."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
import requests
from PIL import Image

from tests.journeys.stack import ROOT
from tests.resources.media.samples import video

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "guides" / "recipes.md").read_text()


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_recipes_run_as_they_stand(shared_stack, tmp_path):
    (tmp_path / "photos").mkdir()
    for name in ("one", "two"):
        Image.new("RGB", (64, 48), "teal").save(tmp_path / "photos" / f"{name}.jpg")
    (tmp_path / "dive.mp4").write_bytes(video(50))
    place = shared_stack.place
    variables = {**os.environ, **prepared(place), "URL": place["url"], "TOKEN": place["token"]}
    for language, program in (("bash", ["bash", "-euc"]), ("python", [sys.executable, "-c"])):
        script = "\n".join(re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL))
        ran = subprocess.run(
            [*program, script], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=200, check=False
        )
        assert ran.returncode == 0, ran.stdout[-1000:] + ran.stderr[-2000:] + shared_stack.log()[-1000:]


def prepared(place, name="recipes"):
    """A project with a type of images and one of videos, in an organization of a name."""
    session = requests.Session()
    session.headers["Authorization"] = f"Token {place['token']}"

    def make(path, body):
        said = session.post(f"{place['url']}/rest/{path}", json=body)
        assert said.ok, said.text
        return said.json()["id"]

    project = make("Projects", {"name": "recipes", "organization": make("Organizations", {"name": name})})
    types = {name: make(f"MediaTypes/{project}", {"name": name, "dtype": name}) for name in ("image", "video")}
    return {"PROJECT": str(project), "IMAGES": str(types["image"]), "VIDEOS": str(types["video"])}
