"""Eight writers and eight containers on one project, while its log is compacted away behind them."""

from __future__ import annotations

import threading

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.models.entities import Localization
from chalicelib.maintenance import compaction
from chalicelib.query import check, parse
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.dynamodb import entities, ids, steps
from chalicelib.storage.dynamodb.steps import RowChange
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import archive, log
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.snapshot.snapshot_records import pointer
from chalicelib.storage.view.view import View
from tests.query.query_rig import box, type_of, types
from tests.query.query_worlds import change_of
from tests.watching import Picture, Watch, steps_of

pytestmark = pytest.mark.slow

WRITERS = [f"w{number}" for number in range(8)]
KEPT = 40
"""Commits that are left behind the snapshot; a container that sleeps longer has to begin anew."""


def picture(view: View) -> Picture:
    """What a container sees of every writer."""
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery()), view.definitions)
    found = [msgspec.json.decode(document) for document in view.documents(query)]
    assert len({each["id"] for each in found}) == len(found)
    seen: dict[str, tuple[int, set[int]]] = {who: (0, set()) for who in WRITERS}
    for attributes in (each["attributes"] for each in found):
        _, mine = seen[attributes["who"]]
        if attributes["is marker"]:
            seen[attributes["who"]] = (attributes["n"], mine)
        else:
            assert attributes["n"] not in mine
            mine.add(attributes["n"])
    return seen


@pytest.mark.parametrize(
    ("rounds", "seconds"), [(14, 0.0), pytest.param(0, 60.0, marks=pytest.mark.nightly)], ids=["short", "a minute"]
)
def test_every_reader_sees_every_acknowledged_write_at_once_and_in_order(rounds, seconds):
    project = ids.reserve("project")[0]
    change = Transaction()
    defined = type_of(LocalizationType, 1, types(who="string", n="int", is_marker="bool"), dtype="box")
    change.log(project, 7, [change_of("localization_type", defined)])
    change.run()
    markers = {who: ids.reserve(Kind.LOCALIZATION)[0] for who in WRITERS}
    boxes: dict[tuple[str, int], int] = {}

    def thing(number: int, who: str, n: int, *, is_marker: bool) -> Localization:
        made = box(number, {"who": who, "n": n, "is marker": is_marker})
        return msgspec.structs.replace(made, project=project)

    for who, number in markers.items():
        entities.create(Kind.LOCALIZATION, [thing(number, who, 0, is_marker=True)], user=7)

    def write(who: str, verb: str, n: int) -> None:
        if verb == "make":
            (number,) = ids.reserve(Kind.LOCALIZATION)
            entities.create(Kind.LOCALIZATION, [thing(number, who, n, is_marker=False)], user=7)
            boxes[who, n] = number
        elif verb == "mark":
            marker = thing(markers[who], who, n, is_marker=True)
            entities.edit(Kind.LOCALIZATION, markers[who], lambda _: marker, user=7)
        else:
            row = entities.get_stored(Kind.LOCALIZATION, boxes[who, n])
            steps.apply(project, [RowChange(Kind.LOCALIZATION, row, None)], user=7, edits=[])

    def container(nap: float):
        views = Views(log.read_after, begin=snapshots.begin)
        pause = threading.Event()

        def take():
            pause.wait(nap)
            return picture(views.current(project))

        return take

    def compact() -> None:
        compaction.compact(project, force=True)
        found = pointer(project)
        assert found
        log.forget(project, range(max(1, found.seq - 3 * KEPT), found.seq - KEPT))

    watch = Watch(WRITERS)
    # Half of them ask all the time, the others now and then.
    readers = [container(nap) for nap in (0.0, 0.0, 0.0, 0.0, 0.05, 0.2, 0.5, 1.0)]
    watch.run(write, readers, rounds=rounds, seconds=seconds, beside=[compact])
    assert len(watch.pictures) > len(readers)
    compact()
    numbers = [commit.seq for commit in archive.history(project)]
    assert numbers == list(range(1, log.last(project, fresh=True) + 1))


def test_the_watch_notices():
    assert [steps_of(*each) for each in [(0, set()), (0, {1}), (1, {1}), (10, set(range(1, 11)))]] == [0, 1, 3, 30]
    window = set(range(2, 12))
    assert steps_of(10, window | {1}) == 31
    assert steps_of(11, window | {1}) == 32
    assert steps_of(11, window) == 33
    for wrong in [(1, {2}), (3, {1, 3}), (0, {1, 2}), (2, {1}), (11, window - {2})]:
        with pytest.raises(AssertionError):
            steps_of(*wrong)
