"""No number, comment, task, mail, event or file shows what its reader may not see.

Each reader reads all that the declarations offer; then the owner changes what is hidden from that reader, in ways drawn
at random; then the reader reads the same again.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from chalicelib.access.masks import mask_of
from chalicelib.core.permissions import Level
from chalicelib.resources.notifications import service as notifications_service
from tests.contract.secrets import FORMATS, Reader, Secrets
from tests.service import Api

_NO_HISTORY = ("Comment/", "Task/")
KINDS = ("members", "parted", "guests")


@pytest.fixture
def secrets_of(request, monkeypatch) -> Callable[[str], tuple[Secrets, list[Reader]]]:
    monkeypatch.setattr(notifications_service, "MAIL_DELAY", 0)

    def make(kind: str) -> tuple[Secrets, list[Reader]]:
        if kind == "parted":
            request.getfixturevalue("fine_grained")
        secrets = Secrets()
        return secrets, getattr(secrets, kind)()

    return make


def check(secrets: Secrets, reader: Reader, chance: random.Random, formats: tuple[str, ...]) -> None:
    """Plant something that is hidden from a reader; nothing that the reader reads may change."""
    files = {name: secrets.exported(reader.api, name) for name in formats} if reader.api.user else {}
    before = secrets.read(reader)
    planted = secrets.plant(reader, chance)
    after = secrets.read(reader)
    changed = [name for name, said in before.items() if said != after[name]]
    assert changed == [], reader.name
    assert [name for name, (_, body) in after.items() if reader.mark.encode() in body] == [], reader.name
    closed = (401, 403, 404)
    assert [path for path in planted if reader.api.get(path).status not in closed] == [], reader.name
    histories = [f"History/{secrets.project}/{path.lower()}" for path in planted if not path.startswith(_NO_HISTORY)]
    assert [path for path in histories if reader.api.get(path).status not in closed] == [], reader.name
    assert not any(reader.mark in mail for mail in secrets.mails(reader)), reader.name
    for name, texts in files.items():
        assert secrets.exported(reader.api, name) == texts, (reader.name, name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_hidden_changes_without_a_trace(kind, secrets_of):
    secrets, readers = secrets_of(kind)
    chance = random.Random(kind)
    for reader in readers:
        check(secrets, reader, chance, ("csv", "dwca"))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_hidden_changes_without_a_trace_many_times(kind, secrets_of):
    secrets, readers = secrets_of(kind)
    for seed in range(3):
        chance = random.Random(f"{kind} {seed}")
        for reader in chance.sample(readers, len(readers)):
            check(secrets, reader, chance, FORMATS[seed::3])


@pytest.mark.slow
def test_who_may_see_it_reads_it_everywhere(secrets_of):
    """The same reads by the owner: the check above finds what it looks for."""
    secrets, (reader, *_) = secrets_of("members")
    owner = Reader("owner", secrets.owner, reader.places, mark=reader.mark)
    before = secrets.read(owner)
    secrets.plant(owner, random.Random(1))
    after = secrets.read(owner)
    changed = {name.partition(" ")[0] for name, said in before.items() if said != after[name]}
    assert changed >= {
        "GetLocalizationList", "GetLocalizationCount", "GetStateList", "GetStateCount", "GetStatistics", "GetEventList",
        "GetChangeLogList", "GetCommentList", "GetSightings", "LocalizationCount", "FindForReview", "GetVersionList",
    }  # fmt: skip
    assert reader.mark in secrets.exported(secrets.owner, "csv")


class TestVersionsOfDatasets:
    """What was frozen before a layer was hidden is not read from the version either."""

    @pytest.fixture(scope="class")
    @classmethod
    def frozen(cls) -> tuple[Secrets, Api, str]:
        secrets = Secrets()
        reader = secrets.member("Can Edit")
        uid = reader.made(f"Datasets/{secrets.project}", {"name": "mine", "media": {"ids": secrets.media}})
        secrets.owner.drain()
        assert b"truth" in reader.get(f"DatasetRows/{uid}", media_id=secrets.media[0]).body
        secrets.hide_truth()
        return secrets, reader, uid

    def test_its_rows_are_left_out(self, frozen):
        secrets, reader, uid = frozen
        said = reader.get(f"DatasetRows/{uid}", media_id=secrets.media[0])
        assert said.status == 200
        assert b"cod" in said.body
        assert b"truth" not in said.body

    def test_an_export_of_it_leaves_them_out(self, frozen):
        secrets, reader, _ = frozen
        text = secrets.exported(reader, "csv", dataset="mine")
        assert ("cod" in text, "truth" in text) == (True, False)
        assert "truth" in secrets.exported(secrets.owner, "csv", dataset="mine")

    def test_a_comparison_does_not_count_them(self, frozen):
        secrets, reader, _ = frozen
        hidden = secrets.draw(secrets.media[0], secrets.truth, "cod")
        secrets.draw(secrets.media[0], secrets.base, "cod")
        later = reader.made(f"Datasets/{secrets.project}", {"name": "later", "media": {"ids": secrets.media}})
        secrets.owner.drain()
        found = reader.get(f"DatasetComparison/{later}", base="mine").json["localizations"]
        assert (found["added"], found["removed"], found["changed"]) == (1, 0, 0)
        assert hidden not in found["added_ids"]

    def test_versions_of_others_are_not_listed(self, frozen):
        secrets, reader, uid = frozen
        listed = {each["uid"] for each in reader.get(f"Datasets/{secrets.project}").json}
        assert (uid in listed, secrets.dataset in listed) == (True, False)
        assert reader.get(f"Dataset/{secrets.dataset}").status == 404
        assert len(secrets.owner.get(f"Datasets/{secrets.project}").json) > 1


@pytest.mark.parametrize("finish", ["to do", "to review"])
def test_what_others_do_is_no_event_of_their_tasks(finish):
    secrets = Secrets()
    ada, grace = secrets.member("Can Edit"), secrets.member("Can Edit")
    task = {"name": "one", "media_ids": secrets.media[:1]}
    (number,) = secrets.owner.made(f"Tasks/{secrets.project}", task)
    assert ada.post(f"NextTask/{secrets.project}", {"name": "one"}).json["id"] == number

    def tasks(who: Api) -> list[int]:
        events = who.get(f"Events/{secrets.project}", kinds="task", limit=1000).json["events"]
        return [each["data"]["ids"][0] for each in events]

    assert ada.patch(f"Task/{number}", {"state": finish}).status == 200
    assert (number in tasks(ada), number in tasks(secrets.owner)) == (True, True)
    assert (number in tasks(grace)) == (grace.get(f"Task/{number}").status == 200) == (finish == "to do")


def test_a_media_is_deleted_with_hidden_annotations_and_without_a_word_of_them(fine_grained):
    secrets = Secrets()
    who = secrets.outsider(mask_of(Level.TRANSFER), section=secrets.section)
    secrets.hide_truth()
    box = secrets.track(secrets.media[0], secrets.truth, "truth")
    said = who.delete(f"Media/{secrets.media[0]}")
    assert said.status == 200, said.body
    assert b"truth" not in said.body
    assert secrets.owner.get(f"State/{box}").status == 404
