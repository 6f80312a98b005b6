"""docs/guides/programs.md: its programs run, in order, against the service."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from infra import client as limn_client
from infra.client import client as clients
from infra.client import configuration

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "programs.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.slow
def test_the_programs_of_the_guide_run_in_order(service, api, signed_in, tmp_path, monkeypatch):
    picture = api.made(f"MediaTypes/{signed_in}", {"name": "Picture", "dtype": "image"})
    [media] = api.made(f"Medias/{signed_in}", [{"type": picture, "name": "a.png", "md5": ""}])
    attributes = [{"name": "Depth", "dtype": "float"}]
    body = {"name": "Box", "dtype": "box", "media_types": [picture], "attribute_types": attributes}
    kind = api.made(f"LocalizationTypes/{signed_in}", body)
    corners = dict.fromkeys(("x", "y", "width", "height"), 0.5)
    boxes = [
        {"type": kind, "media_id": media, "frame": 0, **corners, "attributes": {"Depth": number}} for number in range(5)
    ]
    api.made(f"Localizations/{signed_in}", boxes)
    (tmp_path / "dive").mkdir()
    (tmp_path / "dive" / "b.png").write_bytes(b"picture")
    monkeypatch.chdir(tmp_path)
    runnable = [each for each in PROGRAMS if "to_arrow" not in each and "project.write" not in each]
    if importlib.util.find_spec("pyarrow"):  # not in the lock
        runnable = PROGRAMS
    for name, module in list(sys.modules.items()):  # in the checkout the package `limn` is `infra.client`
        if name.startswith("infra.client"):
            monkeypatch.setitem(sys.modules, name.replace("infra.client", "limn", 1), module)
    assert sys.modules["limn"] is limn_client
    assert clients.configuration is configuration
    known = {}
    assert len(PROGRAMS) > 5
    for program in runnable:
        exec(compile(program, "programs.md", "exec"), known)
    assert [each["name"] for each in api.get(f"Medias/{signed_in}").json] == ["a.png", "b.png"]
    known["client"].close()
