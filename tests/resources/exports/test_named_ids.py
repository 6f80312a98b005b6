"""What a selection names by id is there: exports and versions of datasets are kept and read later."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.access.masks import mask_of
from chalicelib.core.permissions import Level
from chalicelib.resources.exports import schemas
from chalicelib.resources.exports import service as exports_service
from tests.resources.exports.samples import Dataset
from tests.resources.permissions.test_references import Place, allow, guest

__all__ = ["allow", "guest"]  # fixtures
MISSING = 987_654_321
SELECTIONS = {
    "media": schemas.MediaSelection,
    "localizations": schemas.LocalizationSelection,
    "states": schemas.StateSelection,
}
NOT_IDS = {"after", "start", "stop", "frame", "merge", "show_deleted", "show_all_marks", "exclude_parents", "force_es"}
KIND = {"media": "media", "localizations": "localization", "states": "state"}
OF = {
    "media_id": "media",
    "media_ids": "media",
    "localization_ids": "localization",
    "state_ids": "state",
    "frame_state_ids": "state",
    "section": "section",
    "multi_section": "section",
    "version": "version",
}


def names_of(word):
    """The members of a selection that hold integers, with what they name."""
    for field in msgspec.structs.fields(SELECTIONS[word]):
        if "int" not in str(field.type) or field.name in NOT_IDS:
            continue
        own, other = KIND[word], {"localization": "state", "state": "localization"}.get(KIND[word])
        found = {"ids": own, "type": f"{own} type", "related_id": other}.get(field.name) or OF[field.name]
        yield field.name, found, "list" in str(field.type)


MEMBERS = [(word, *each) for word in SELECTIONS for each in names_of(word)]


@pytest.fixture(scope="module")
def many_at_once():
    """Room for as many exports as there are members."""
    before, exports_service.MOST_AT_WORK = exports_service.MOST_AT_WORK, 1_000
    yield
    exports_service.MOST_AT_WORK = before


def named(api, organization, name):
    """A project with one of each that a selection may name, by kind."""
    project = api.made("Projects", {"name": name, "organization": organization})
    dataset = Dataset(api, project, pictures=False)
    track, boxes = dataset.annotate()
    return project, {
        "media": dataset.video,
        "localization": boxes[0],
        "state": track,
        "section": api.made(f"Sections/{project}", {"name": "s", "path": "s"}),
        "version": dataset.version,
        "media type": dataset.video_type,
        "localization type": dataset.box_type,
        "state type": dataset.track_type,
    }


def test_members_of_all_kinds_are_known():
    assert len(MEMBERS) > 20


@pytest.mark.slow
def test_ids_of_other_projects_are_refused_as_missing_ones(api, organization, many_at_once):
    project, own = named(api, organization, "own")
    other, foreign = named(api, organization, "other")
    assert other != project
    for number, (word, member, kind, is_list) in enumerate(MEMBERS):
        path, body = ("Exports", {"format": "csv"}) if number % 3 else ("Datasets", {"name": f"{word} {member}"})
        for given, status in ((foreign[kind], 400), (MISSING, 400), (own[kind], 201)):
            said = api.post(f"{path}/{project}", {**body, word: {member: [given] if is_list else given}})
            assert said.status == status, (word, member, said.body)
            assert status == 201 or said.message == f"{word}.{member}: the project has no {kind} {given}."


@pytest.mark.slow
def test_ids_of_an_earlier_commit_may_be_deleted_by_now(api, organization, many_at_once):
    project, own = named(api, organization, "earlier")
    before = api.made(f"Datasets/{project}", {"name": "v"})
    api.drain()
    seq = api.get(f"Dataset/{before}").json["seq"]
    assert api.delete(f"Media/{own['media']}").status == 200
    body = {"format": "csv", "localizations": {"media_ids": [own["media"]]}}
    assert api.post(f"Exports/{project}", body).status == 400
    assert api.post(f"Exports/{project}", body | {"seq": seq}).status == 201


def test_what_is_hidden_is_refused_as_what_is_missing(api, project, guest, allow, many_at_once):
    place = Place(api, project)
    allow(mask_of(Level.VIEW), media=place.media[0])
    for hidden, open_, member in (
        (place.media[1], place.media[0], "media_ids"),
        (place.boxes[1], place.boxes[0], "ids"),
    ):
        said = [
            guest.post(f"Exports/{project}", {"format": "csv", "localizations": {member: [number]}})
            for number in (hidden, MISSING, open_)
        ]
        assert [each.status for each in said] == [400, 400, 201]
        assert said[0].message.replace(str(hidden), "") == said[1].message.replace(str(MISSING), "")
