"""What was done in a mirror's folder comes into the project: tried first, never twice, not over changes of others."""

from __future__ import annotations

import json

import pytest

from infra.client import uploads
from infra.client.configuration import Profile
from infra.client.failures import INCOMPLETE, USAGE
from infra.client.mirrors.back import Back
from infra.client.mirrors.folder import Folder
from infra.client.mirrors.mirror import Mirror
from tests.client.test_mirror import picture
from tests.client.test_upload import Died, Dying


@pytest.fixture
def boxes(add, api, project):
    """Three boxes with a note on one picture; their ids, and the specification of another."""
    media = add("a.png", picture(1))
    kind = {"name": "Box", "dtype": "box", "media_types": [add.type]}
    attributes = [{"name": "Note", "dtype": "string"}, {"name": "Depth", "dtype": "float"}]
    box = api.made(f"LocalizationTypes/{project}", {**kind, "attribute_types": attributes})
    spec = {"type": box, "media_id": media, "frame": 0, "x": 0.5, "y": 0.25, "width": 0.25, "height": 0.25}
    ids = api.made(f"Localizations/{project}", [{**spec, "attributes": {"Note": str(n), "Depth": n}} for n in range(3)])
    return ids, spec


def edit(folder, change):
    """Change the rows of a folder as a program does."""
    place = folder / "localizations.jsonl"
    rows = change([json.loads(line) for line in place.read_text().splitlines()])
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))


def by_id(api, project):
    return {row["id"]: row for row in api.get(f"Localizations/{project}").json}


def changed(spec):
    """A change of the first row, a new one, and none of the third."""

    def change(rows):
        rows[0]["x"], rows[0]["attributes"] = 0.125, {"Note": "seen", "Depth": None}
        return [*rows[:2], {**spec, "attributes": {"Note": "new"}}]

    return change


@pytest.mark.slow
def test_changes_are_told_first_and_then_sent(limn, signed_in, api, boxes, tmp_path):
    ids, spec = boxes
    folder = tmp_path / "m"
    assert limn("mirror", folder).status == 0
    assert limn("mirror", folder, "--back").out == "would be sent: 0 new files\n"
    before = by_id(api, signed_in)
    edit(folder, changed(spec))
    (folder / "media" / "new.png").write_bytes(picture(9))
    (folder / "media" / "notes.txt").write_text("no media")
    tried = limn("mirror", folder, "--back", "--delete")
    assert tried.out == (
        "would be sent: 1 new files, 1 localizations created, 1 localizations updated, 1 localizations deleted\n"
    ), tried.err
    assert by_id(api, signed_in) == before
    kept = limn("mirror", folder)
    assert "was changed. Send it by --back --apply" in kept.err
    sent = limn("mirror", folder, "--back", "--apply", "--delete")
    assert sent.status == 0, sent.err
    now = by_id(api, signed_in)
    assert (now[ids[0]]["x"], now[ids[0]]["attributes"]) == (0.125, {"Note": "seen", "Depth": None})
    assert now[ids[1]] == before[ids[1]]
    assert ids[2] not in now
    [new] = now.keys() - set(ids)
    assert (now[new]["attributes"]["Note"], len(now)) == ("new", 3)
    api.drain()
    [media] = api.get(f"Medias/{signed_in}", name="new.png").json
    assert f"{media['id']}_new.png" in [path.name for path in (folder / "media").iterdir()]
    assert limn("mirror", folder).status == 0
    assert limn("mirror", folder, "--back", "--delete").out == "would be sent: 0 new files\n"
    assert (folder / "media" / f"{media['id']}_new.png").read_bytes() == picture(9)


def test_what_the_project_changed_too_stays_and_is_told(limn, signed_in, api, boxes, tmp_path):
    ids, spec = boxes
    folder = tmp_path / "m"
    assert limn("mirror", folder).status == 0
    edit(folder, changed(spec))
    assert api.patch(f"Localization/{ids[0]}", {"attributes": {"Note": "theirs"}}).status == 200
    assert api.delete(f"Localization/{ids[2]}", {}).status == 200
    ran = limn("mirror", folder, "--back", "--apply", "--delete")
    assert (ran.status, f"localizations {ids[0]}: It was changed in the project" in ran.out) == (INCOMPLETE, True)
    now = by_id(api, signed_in)
    assert (now[ids[0]]["x"], now[ids[0]]["attributes"]["Note"], len(now)) == (0.5, "theirs", 3)
    edit(folder, lambda rows: [{**rows[0], "id": 10**9}, rows[1], rows[1]])
    ran = limn("mirror", folder, "--back")
    assert [word in ran.out for word in ("line 1: id 1000000000 is not of this mirror", "line 3: id", "missing")] == [
        True
    ] * 3


def test_what_cannot_be_meant_is_refused(limn, signed_in, tmp_path):
    folder = tmp_path / "m"
    assert "Run this first: limn mirror" in limn("mirror", folder, "--back").err
    assert limn("mirror", folder, "--apply").status == USAGE
    assert limn("mirror", folder).status == 0
    (folder / "localizations.jsonl").write_text("[1]\n")
    assert "localizations.jsonl, line 1: give one JSON object." in limn("mirror", folder, "--back").err


@pytest.mark.slow
@pytest.mark.parametrize("is_after", [False, True])
def test_a_run_that_dies_at_any_request_goes_on_and_sends_nothing_twice(
    config, service, api, project, boxes, tmp_path, is_after
):
    ids, spec = boxes
    profile, folder = Profile(service, api.token, project), tmp_path / "m"

    def run(at):
        client, journal = Dying(profile, at, is_after=is_after), uploads.Journal()
        try:
            return Back(client, project, Folder(folder), journal, parallel=1).run(apply=True)
        except Died:
            return None
        finally:
            journal.close()

    for at in range(1, 20):
        (folder / "localizations.jsonl").unlink(missing_ok=True)
        Mirror(Dying(profile, 0, is_after=False), project, Folder(folder)).run()
        before = by_id(api, project)
        edit(folder, lambda rows, n=at: [*rows[:1], {**rows[1], "x": n / 64}, *rows[2:], {**spec, "x": n / 64}])
        (folder / "media" / f"new{at}.png").write_bytes(picture(at))
        first = run(at)
        second = first or run(0)
        assert second.refused == []
        now = by_id(api, project)
        assert now[ids[1]]["x"] == at / 64
        assert len(now) == len(before) + 1
        assert len(api.get(f"Medias/{project}", name=f"new{at}.png").json) == 1
        if first:
            break
    else:
        pytest.fail("a run takes more requests than were tried")


def test_a_mirror_that_died_before_its_record_leaves_no_new_file(client, add, project, config, tmp_path):
    media = add("a.png", picture(1))
    Mirror(client, project, Folder(tmp_path)).run()
    with Folder(tmp_path).open(f"{client.profile.url} project {project}"):
        (tmp_path / "media" / f"{media}_b.png").write_bytes(picture(1))
    journal = uploads.Journal()
    assert Back(client, project, Folder(tmp_path), journal).run(apply=True).files == []
    journal.close()
