"""What a media shows of another project stays as it is when the media is changed."""

from __future__ import annotations

import pytest

from tests.resources.media.samples import media_type


@pytest.mark.parametrize("is_bulk", [False, True])
def test_a_clone_of_a_multi_archives_nothing_of_the_other_project(api, project, organization, is_bulk):
    multi, video = media_type(project, "multi"), media_type(project, "video")
    part, media = (api.made(f"Medias/{project}", {"type": each, "name": "a", "md5": ""}) for each in (video, multi))
    assert api.patch(f"Media/{media}", {"multi": {"ids": [part], "layout": [1, 1], "quality": 0}}).status == 200
    there = api.made("Projects", {"name": f"there {is_bulk}", "organization": organization})
    body = {"dest_project": there, "dest_type": media_type(there, "multi")}
    (clone,) = api.post(f"CloneMedia/{project}", body, media_id=media).json["id"]
    before = api.get(f"Media/{part}").json
    path = f"Medias/{there}" if is_bulk else f"Media/{clone}"
    assert api.patch(path, {"archive_state": "to_archive"}).status == 200
    assert api.get(f"Media/{clone}").json["archive_state"] == "to_archive"
    assert api.get(f"Media/{part}").json == before
