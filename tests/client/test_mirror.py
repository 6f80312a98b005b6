"""A folder kept in step with a project: what is new comes, what is gone goes, and a kill at any time loses nothing."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from PIL import Image

from infra import client as limn_client
from infra.client import configuration
from infra.client.configuration import Profile
from infra.client.failures import USAGE
from infra.client.mirrors import folder as folders
from infra.client.mirrors.folder import Folder
from infra.client.mirrors.mirror import Mirror


def picture(shade):
    out = io.BytesIO()
    Image.new("L", (16, 16), shade).save(out, "PNG")
    return out.getvalue()


def test_a_folder_follows_the_project(limn, signed_in, add, client, api, project, tmp_path):
    first, second = add("a.png", picture(1)), add("../b/ü.png", picture(2))
    box = api.made(f"LocalizationTypes/{project}", {"name": "Box", "dtype": "box", "media_types": [add.type]})
    version = api.made(f"Versions/{project}", {"name": "Review"})
    spec = {"type": box, "media_id": first, "frame": 0, "x": 0, "y": 0, "width": 1, "height": 1}
    api.made(f"Localizations/{project}", [spec, {**spec, "version": version}])
    folder = tmp_path / "mirror"
    ran = limn("mirror", folder, "--version", "Review")
    assert (ran.status, ran.out) == (
        0,
        "2 files fetched, 0 present, 0 removed; 2 media, 1 localizations, 0 states\n",
    ), ran.err
    assert sorted(path.name for path in (folder / "media").iterdir()) == [f"{first}_a.png", f"{second}__b_ü.png"]
    assert (folder / "media" / f"{first}_a.png").read_bytes() == picture(1)
    [row] = map(json.loads, (folder / "localizations.jsonl").read_text().splitlines())
    assert row["version"] == version
    (folder / "media" / "mine.txt").write_text("mine")
    assert api.delete(f"Media/{first}").status == 200
    third = add("c.png", picture(3))
    (folder / "media" / f"{second}__b_ü.png").write_bytes(b"cut")
    done = limn("--json", "mirror", folder).json
    assert (done["fetched"], done["present"], done["removed"], done["rows"]["media"]) == (2, 0, 1, 2)
    assert sorted(path.name for path in (folder / "media").iterdir()) == sorted(
        [f"{second}__b_ü.png", f"{third}_c.png", "mine.txt"]
    )
    wrong = limn("mirror", folder, "--version", "None")
    assert (wrong.status, "it has Baseline, Review" in wrong.err) == (USAGE, True)


def test_a_download_that_broke_off_continues(add, client, project, tmp_path):
    data = picture(4) + bytes(3_000_000)
    media = add("a.png", data)
    stored = client.get_media(media, presigned=60)["media_files"]["image"][0]
    whole = client.read_bytes(stored["path"])
    real, asked = client.stream, []

    class Cut:
        def __init__(self, url, start):
            self._context = real(url, start)

        def __enter__(self):
            answer = self._context.__enter__()
            blocks = answer.iter_bytes

            def iter_bytes(size):
                for number, block in enumerate(blocks(1000)):
                    if number == 2 and len(asked) == 1:
                        raise folders.httpx.ReadError("cut")
                    yield block

            answer.iter_bytes = iter_bytes
            return answer

        def __exit__(self, *error):
            return self._context.__exit__(*error)

    def stream(url, start=0):
        asked.append(start)
        return Cut(url, start)

    client.stream = stream
    if len(whole) <= 2000:
        pytest.skip("the picture was stored smaller than what is cut")
    done = Mirror(client, project, Folder(tmp_path)).run()
    assert (done.fetched, asked) == (1, [0, 2000])
    [file] = [path for path in (tmp_path / "media").iterdir() if not path.name.startswith(".")]
    assert file.read_bytes() == whole


@pytest.mark.slow
def test_a_mirror_that_is_killed_continues_and_ends_equal(service, add, client, api, project, tmp_path, config):
    names = [f"{number}.png" for number in range(12)]
    wanted = {f"{add(name, picture(number))}_{name}": picture(number) for number, name in enumerate(names)}
    configuration.write(configuration.Configuration("default", {"default": Profile(service, api.token, project)}))
    words = [sys.executable, "-m", "infra.client", "mirror", str(tmp_path / "m"), "--parallel", "1"]
    for seconds in (0.6, 0.8, 1.0):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env={**os.environ, "LIMN_CONFIG": str(config)})
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in (tmp_path / "m" / "media").glob("[!.]*") if (tmp_path / "m").exists() else ():
            assert path.read_bytes() == wanted[path.name]  # what is there is whole
    done = Mirror(client, project, Folder(tmp_path / "m")).run()
    assert (done.fetched + done.present, done.failed) == (12, [])
    assert {path.name: path.read_bytes() for path in (tmp_path / "m" / "media").glob("[!.]*")} == wanted


def test_a_folder_mirrors_one_project(client, project, tmp_path):
    Mirror(client, project, Folder(tmp_path)).run()
    with pytest.raises(limn_client.Failure, match="Give another folder"):
        Mirror(client, project + 1, Folder(tmp_path)).run()
