"""What change logs, graphics, clones and sums show where fine-grained permissions hide some things."""

import msgspec
import pytest

from chalicelib.domain.masks import EXIST, READ, mask_of
from chalicelib.domain.permissions import Level
from chalicelib.settings import settings
from tests.operations.media_things import picture, uploaded


@pytest.fixture(autouse=True)
def fine_grained(monkeypatch):
    changed = msgspec.structs.replace(settings(), fine_grained_permissions=True)
    for module in ("access", "visibility", "row_protections"):
        monkeypatch.setattr(f"chalicelib.services.{module}.settings", lambda: changed)


@pytest.fixture
def guest(api, project, stranger):
    """Somebody who reaches the project, and nothing in it."""
    api.made("RowProtections", {"project": project, "user": stranger.user.id, "permission": EXIST | READ})
    return stranger


@pytest.fixture
def show(api, guest):
    def show(**names):
        api.made("RowProtections", {**names, "user": guest.user.id, "permission": mask_of(Level.VIEW)})

    return show


@pytest.fixture
def things(api, project):
    """Two images with a box on each, and a track of both boxes."""
    image = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    types = {"media_types": [image]}
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", **types})
    track = api.made(f"StateTypes/{project}", {"name": "t", "association": "Localization", **types})
    media, boxes = [], []
    for name in "ab":
        spec = {"type": image, "name": name, "md5": "", "url": uploaded(api, project, picture(20, 20), "a.jpg")}
        media.append(api.made(f"Medias/{project}", spec))
        shape = {"x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}
        boxes += api.made(f"Localizations/{project}", {"type": box, "media_id": media[-1], "frame": 0, **shape})
    api.drain()
    state = api.made(f"States/{project}", {"type": track, "media_ids": media, "localization_ids": boxes})[0]
    return media, boxes, state


def test_change_logs_tell_of_what_may_be_seen(api, project, guest, show, things):
    media, boxes, _ = things
    assert guest.get(f"ChangeLog/{project}", user_id=api.user.id).json == []
    show(media=media[0])
    found = guest.get(f"ChangeLog/{project}", user_id=api.user.id).json
    told = [{item["name"]: item["value"] for item in log["description_of_change"]["new"]} for log in found]
    assert [new["_id"] for new in told if "_md5" in new] == media[:1]
    assert [new["_id"] for new in told if "_x" in new] == boxes[:1]
    assert guest.get(f"ChangeLog/{project}", entity_id=media[1], entity_type="media").json == []


def test_a_box_shows_nothing_of_a_media_that_is_hidden(api, project, guest, show, things):
    media, boxes, state = things
    show(localization=boxes[0])
    show(state=state)
    assert guest.get(f"Localization/{boxes[0]}").status == 200
    assert guest.get(f"LocalizationGraphic/{boxes[0]}").status == 404
    assert guest.get(f"StateGraphic/{state}").status == 404
    show(media=media[0])
    assert guest.get(f"LocalizationGraphic/{boxes[0]}").status == 200
    assert guest.get(f"StateGraphic/{state}").status == 404
    assert guest.get(f"StateGraphic/{state}", length=1).status == 200
    show(media=media[1])
    assert guest.get(f"StateGraphic/{state}").status == 200


def test_clones_and_sums_leave_out_what_is_hidden(api, project, guest, show, things):
    media, _, _ = things
    type_ = api.get(f"Media/{media[0]}").json["type"]
    (copy,) = api.made(f"CloneMedia/{project}", {"dest_project": project, "dest_type": type_}, media_id=media[0])
    show(media=media[0])
    assert api.get(f"GetClonedMedia/{media[0]}").json["ids"] == [media[0], copy]
    assert guest.get(f"GetClonedMedia/{media[0]}").json["ids"] == [media[0]]
    assert guest.get(f"MediaStats/{project}").json["count"] == 1
    assert guest.get(f"MediaNext/{media[0]}").json == {"next": -1}
    assert guest.post(f"CloneMedia/{project}", {"dest_project": project, "dest_type": type_}).status == 403


def test_files_that_are_hidden_are_not_listed(api, project, guest, show):
    kind = api.made(f"FileTypes/{project}", {"name": "f"})
    numbers = [api.made(f"Files/{project}", {"name": name, "description": "", "type": kind}) for name in "ab"]
    show(file=numbers[1])
    assert [file["id"] for file in guest.get(f"Files/{project}").json] == numbers[1:]
    assert [guest.get(f"File/{number}").status for number in numbers] == [404, 200]
    assert guest.delete(f"File/{numbers[1]}").status == 403
