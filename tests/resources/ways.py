"""Count the files of the service that the four requests of docs/architecture.md run through.

    .venv/bin/python -m pytest -n 0 -s tests/resources/ways.py

Each way is walked twice, and the second walk is counted: imports and caches are not part of it. A file counts if one of
its functions runs, in the API, in a queue function, or in a child that decodes video.
"""

from __future__ import annotations

import collections
import os
import sys
import threading
from pathlib import Path

import pytest

from chalicelib.video.process import isolation
from tests.resources.media.samples import media_type, transcode, video

SERVICE = str(Path(__file__).parents[2] / "chalicelib") + os.sep


_files: set[str] = set()


def _note(frame, event, _):
    if event == "call" and frame.f_code.co_name != "<module>":
        _files.add(frame.f_code.co_filename)


# before the threads of the gateway begin
threading.setprofile(_note)


def walk(way):
    """The files that run; those of the children that decode video run in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolation, "run_all", lambda function, sources, *more, **_: function(*sources, *more))
        _files.clear()
        sys.setprofile(_note)
        said = way()
        sys.setprofile(None)
    assert said.status < 300
    return sorted(name.removeprefix(SERVICE) for name in _files if name.startswith(SERVICE))


@pytest.mark.parametrize("way", ["filter", "create", "video", "job"])
def test_the_files_of_a_way(api, project, algorithm, way):
    media = media_type(project)
    kind = api.made(
        f"LocalizationTypes/{project}",
        {
            "name": "b",
            "dtype": "box",
            "media_types": [media],
            "attribute_types": [{"name": "Depth", "dtype": "float"}],
        },
    )
    number = api.made(f"Medias/{project}", {"type": media, "name": "a.mp4", "md5": "", "num_frames": 900})
    box = {"media_id": number, "type": kind, "x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1}
    boxes = [{**box, "frame": frame, "attributes": {"Depth": frame / 7}} for frame in range(500)]
    ways = {
        "filter": lambda: api.get(f"Localizations/{project}", attribute_gt="Depth::10", sort_by="-Depth", stop=100),
        "create": lambda: api.post(f"Localizations/{project}", boxes),
        "video": lambda: (transcode(api, project, media, video(30)), api.drain())[0],
        "job": lambda: api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_query": "?name=a.mp4"}),
    }
    walk(ways[way])
    files = walk(ways[way])
    folders = collections.Counter(name.partition("/")[0] for name in files)
    print(f"\n{way}: {len(files)} files", dict(sorted(folders.items())))  # noqa: T201 what it is for
