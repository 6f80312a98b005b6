"""The view follows the log: whatever the history, it answers as one built from what is there now."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random
from unittest.mock import patch

import msgspec
import pytest

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import GONE, Change
from chalicelib.core.models.definitions import LocalizationType, MediaType
from chalicelib.core.models.entities import Media
from chalicelib.core.resource import answer
from chalicelib.errors import BadInput
from chalicelib.query import check, evaluate, parse
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.view import apply_log
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.view import Gap, View
from tests.infra.local.steps import wait_until
from tests.query.query_rig import box, media, type_of, types
from tests.query.query_worlds import PROJECT, SEEDS, World, change_of, commit, world
from tests.query.random_queries import Asker
from tests.sweeps import examples


def box_type(number: int = 1, **dtypes: str) -> Change:
    return change_of("localization_type", type_of(LocalizationType, number, types(**dtypes), dtype="box"))


def boxed(number: int, attributes=None, **more) -> Change:
    return change_of("localization", box(number, attributes, **more))


def gone(kind: str, number: int) -> Change:
    return Change(kind, number, GONE)


def found(view: View, **given) -> list[int]:
    return view.ids(check(parse(Kind.LOCALIZATION, LocalizationQuery(**given)), view.definitions))


@pytest.fixture
def view() -> View:
    made = View(PROJECT)
    made.apply([commit(1, [box_type(n="int", s="string"), boxed(1, {"n": 1, "s": "a"}), boxed(2, {"n": 2})])])
    return made


class TestApply:
    def test_changes_and_deletions(self, view: View):
        view.apply([commit(2, [boxed(1, {"n": 5}), gone("localization", 2)]), commit(3, [boxed(3, {"n": 5})])])
        assert view.seq == 3
        assert found(view) == [1, 3]
        assert found(view, attribute=["n::5"]) == [1, 3]
        assert view.exists(Kind.LOCALIZATION, [1, 2, 3, 4]) == {1, 3}

    def test_the_last_of_several_changes_of_one_thing_counts(self, view: View):
        view.apply([commit(2, [boxed(1, {"n": 7}), gone("localization", 1)]), commit(3, [boxed(1, {"n": 8})])])
        view.apply([commit(4, [gone("localization", 9), boxed(9), gone("localization", 9)])])
        assert found(view, attribute=["n::8"]) == [1]
        assert found(view) == [1, 2]

    def test_commits_already_applied_are_passed_over(self, view: View):
        view.apply([commit(1, [gone("localization", 1)]), commit(2, [boxed(3)])])
        assert found(view) == [1, 2, 3]

    def test_a_missing_commit_is_noticed_and_nothing_changes(self, view: View):
        with pytest.raises(Gap):
            view.apply([commit(2, [boxed(8)]), commit(4, [boxed(9)])])
        assert view.seq == 1
        assert found(view) == [1, 2]
        view.apply([commit(2, [boxed(8)])])
        assert found(view) == [1, 2, 8]

    def test_a_broken_commit_changes_nothing(self, view: View):
        broken = Change("localization", 9, msgspec.Raw(b'{"id": 9}'))
        with pytest.raises(msgspec.ValidationError):
            view.apply([commit(2, [box_type(n="string", z="int"), boxed(8, {"z": 1}), broken])])
        assert view.seq == 1
        assert found(view, attribute_gte=["n::1"]) == [1, 2]
        view.apply([commit(2, [box_type(n="int", z="int"), boxed(8, {"z": 1})])])
        assert found(view, attribute=["z::1"]) == [8]

    def test_documents_are_what_answers_emit(self, view: View):
        thing = box(7, {"n": 3, "deep": {"x": [1, None]}, "ü": "€"}, x=0.5)
        view.apply([commit(2, [change_of("localization", thing)])])
        query = check(parse(Kind.LOCALIZATION, LocalizationQuery(after=6)), view.definitions)
        (document,) = view.documents(query)
        assert msgspec.json.decode(document) == answer(thing)
        assert view.document(Kind.LOCALIZATION, 7) == document
        assert view.document(Kind.LOCALIZATION, 8) is None

    def test_many_at_once(self, view: View):
        view.apply([commit(2, [boxed(number, {"n": number}) for number in range(1, 3001)])])
        assert found(view, attribute_gt=["n::2998"]) == [2999, 3000]
        view.apply([commit(3, [gone("localization", number) for number in range(1, 3001, 2)])])
        assert len(found(view)) == 1500

    def test_a_tag_that_an_earlier_release_stored_under_one_name_is_shown_under_both(self, view: View, monkeypatch):
        tagged = change_of("media", media(1, attributes={"tator_user_sections": "a", "note": "svc_user_sections"}))
        with monkeypatch.context() as earlier:
            earlier.setattr(Media, "also_attributes", {})
            view.apply([commit(2, [tagged])])
        document = view.document(Kind.MEDIA, 1)
        assert document is not None
        assert msgspec.json.decode(document)["attributes"] == {
            "tator_user_sections": "a", "svc_user_sections": "a", "note": "svc_user_sections",
        }  # fmt: skip


class TestDefinitions:
    def test_an_attribute_added_later_finds_the_values_that_were_there(self, view: View):
        view.apply([commit(2, [boxed(3, {"late": "x", "n": 1})])])
        with pytest.raises(BadInput):
            found(view, attribute=["late::x"])
        view.apply([commit(3, [box_type(n="int", late="string")])])
        assert found(view, attribute=["late::x"]) == [3]

    @pytest.mark.parametrize(
        ("dtype", "value", "text"),
        [
            ("bool", True, "true"),
            ("float", 1e-9, "1e-9"),
            ("datetime", "2020-01-02T03:04:05+01:00", "2020-01-02T02:04:05"),
            ("enum", "é", "é"),
            ("int", 2**62, str(2**62)),
        ],
    )
    def test_values_of_every_dtype_are_found_later(self, view: View, dtype, value, text):
        view.apply([commit(2, [boxed(3, {"late": value})]), commit(3, [box_type(late=dtype)])])
        assert found(view, attribute=[f"late::{text}"]) == [3]

    def test_places_and_vectors_are_found_later(self, view: View):
        view.apply([commit(2, [boxed(3, {"g": [8.0, 48.0]})]), commit(3, [box_type(g="geopos", v="float_array")])])
        assert found(view, attribute_distance=["g::1::48::8"]) == [3]

    def test_a_rename_with_its_things(self, view: View):
        view.apply([commit(2, [box_type(m="int", s="string"), boxed(1, {"m": 1}), boxed(2, {"m": 2})])])
        assert found(view, attribute_gt=["m::0"]) == [1, 2]
        with pytest.raises(BadInput):
            found(view, attribute_gt=["n::0"])

    def test_a_changed_dtype(self, view: View):
        view.apply([commit(2, [box_type(n="float", s="enum")])])
        assert found(view, attribute_lt=["n::1.5"]) == [1]
        assert found(view, attribute=["s::a"]) == [1]

    def test_a_deleted_attribute_leaves_nothing_to_the_next_one(self, view: View):
        view.apply([commit(2, [box_type(s="string")]), commit(3, [box_type(s="string", other="int")])])
        assert found(view, attribute_null=["other::false"]) == []

    def test_types_share_columns_without_mixing_them_up(self, view: View):
        view.apply([commit(2, [box_type(2, k="int", n="string"), boxed(3, {"k": 1, "n": "1"}, type=2)])])
        assert found(view, attribute=["n::1"]) == [1, 3]
        assert found(view, attribute=["k::1"]) == [3]
        assert found(view, attribute_null=["k::true"]) == [1, 2]

    def test_a_deleted_type_takes_its_things_along(self, view: View):
        view.apply([commit(2, [box_type(2, n="int"), boxed(3, {"n": 1}, type=2)])])
        view.apply([commit(3, [gone("localization_type", 1)])])
        assert found(view) == [3]
        assert view.exists(Kind.LOCALIZATION, [1, 2, 3]) == {3}

    def test_things_may_come_before_their_type(self):
        view = View(PROJECT)
        view.apply([commit(1, [boxed(1, {"n": 4}), boxed(2)])])
        assert found(view) == [1, 2]
        view.apply([commit(2, [box_type(n="int")])])
        assert found(view, attribute=["n::4"]) == [1]


def history(first: World, second: World, rng: Random) -> list[Change]:
    """Changes that lead from one world to another, in any order in which they may come.

    With a definition goes what is of it: nothing is committed before what it names. Media types stay, for what lies on
    their media would go too, and these worlds name media that there are not (test_view_lost.py).
    """
    changes = []
    for kind, definitions in first.definitions.by_kind.items():
        if kind is DefinitionKind.MEDIA_TYPE:
            continue
        changes += [gone(kind, number) for number in definitions.keys() - second.definitions.by_kind[kind].keys()]
    for kind, things in first.things.items():
        changes += [gone(kind, n) for n in {each.id for each in things} - {each.id for each in second.things[kind]}]
    for each in second.commits():
        changes += each.changes
    rng.shuffle(changes)
    return sorted(changes, key=_earliest)


def _earliest(change: Change) -> int:
    if change.is_definition:
        return 0 if change.is_gone else 1
    return 2


@pytest.mark.slow
@examples(5, 500, SEEDS)
def test_any_history_comes_to_the_same_as_its_end(seed: int):
    for fewest in (1, 400):  # rows made in columns, and one by one
        with patch.object(apply_log, "_FEWEST_IN_COLUMNS", fewest):
            check_history(Random(seed))


def check_history(rng: Random) -> None:
    view = View(PROJECT)
    now = world(rng)
    view.apply(now.commits())
    for _ in range(2):
        then, now = now, world(rng)
        changes = history(then, now, rng)
        cuts = sorted(rng.sample(range(len(changes) + 1), min(3, len(changes))))
        parts = [changes[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(changes)], strict=True)]
        commits = [commit(view.seq + place, part) for place, part in enumerate(parts, 1)]
        if rng.random() < 0.5:
            view.apply(commits)
        else:
            for each in commits:
                view.apply([each])
    asker = Asker(rng, now.definitions)
    for kind in rng.choices(list(Kind), k=10):
        try:
            query = check(parse(kind, *asker.question(kind)), view.definitions)
        except BadInput:
            continue
        assert view.ids(query) == evaluate.ids(query, now.things)
    view.close()


class Log:
    """A log in memory, and who read it from where."""

    def __init__(self) -> None:
        self.commits: dict[int, list] = {}
        self.lock = threading.Lock()
        self.reads = 0

    def append(self, project: int, changes: list[Change]) -> int:
        with self.lock:
            commits = self.commits.setdefault(project, [])
            commits.append(commit(len(commits) + 1, changes))
            return len(commits)

    def read_after(self, project: int, seq: int):
        with self.lock:
            self.reads += 1
            return list(self.commits.get(project, ()))[seq:]


class TestViews:
    def test_a_view_is_current(self):
        log = Log()
        views = Views(log.read_after, memory=10**9)
        assert not views.is_loaded(1)
        log.append(1, [box_type(), boxed(1)])
        view = views.current(1)
        assert found(view) == [1]
        assert views.is_loaded(1)
        log.append(1, [boxed(2)])
        assert views.current(1) is view
        assert found(view) == [1, 2]
        views.drop(1)
        assert not views.is_loaded(1)

    def test_long_logs_are_applied_in_parts(self):
        log = Log()
        log.append(1, [box_type()])
        for number in range(1, 700):
            log.append(1, [boxed(number)])
        assert len(found(Views(log.read_after, memory=10**9).current(1))) == 699

    @pytest.mark.slow
    def test_the_least_recently_used_goes_first(self):
        log = Log()
        for project in (1, 2, 3):
            log.append(project, [box_type(), *(boxed(number) for number in range(1, 50))])
        views = Views(log.read_after, memory=0)
        first = views.current(1)
        views.current(2)
        assert [views.is_loaded(project) for project in (1, 2)] == [False, True]
        assert len(found(first)) == 49  # who still holds it may go on reading
        assert len(found(views.current(1))) == 49
        room = Views(log.read_after, memory=2, measure=lambda: len(room._views))
        for project in (1, 2, 1, 3):
            room.current(project)
        assert [room.is_loaded(project) for project in (1, 2, 3)] == [True, False, True]

    def test_a_view_catches_up_beside_requests(self):
        log = Log()
        log.append(1, [box_type(), boxed(1)])
        views = Views(log.read_after, memory=10**9)
        assert views.seq_of(1) is None
        view = views.current(1)
        log.append(1, [boxed(2)])
        assert views.seq_of(1) == 1
        views.catch_up(1)
        wait_until(lambda: views.seq_of(1) == 2 and not views._catching_up)
        assert found(view) == [1, 2]

    def test_a_view_that_the_log_has_outrun_begins_anew(self):
        log = Log()
        log.append(1, [box_type(), boxed(1)])
        views = Views(log.read_after, memory=10**9)
        old = views.current(1)
        log.append(1, [boxed(2)])

        def expired(project: int, seq: int):
            return log.read_after(project, seq + 1 if seq else 0)

        log.append(1, [boxed(3)])
        views._read_after = expired
        new = views.current(1)
        assert new is not old
        assert found(new) == [1, 2, 3]

    def test_a_failed_reading_reaches_its_caller_and_the_next_succeeds(self):
        log = Log()
        log.append(1, [box_type(), boxed(1)])

        def fails(project: int, seq: int):
            raise ConnectionError

        views = Views(fails, memory=10**9)
        with pytest.raises(ConnectionError):
            views.current(1)
        views._read_after = log.read_after
        assert found(views.current(1)) == [1]

    @pytest.mark.slow
    def test_eight_threads_read_what_they_wrote(self):
        log = Log()
        log.append(1, [change_of("media_type", type_of(MediaType, 1, [], dtype="video")), box_type(n="int")])
        log.append(1, [change_of("media", media(1))])
        views = Views(log.read_after, memory=10**9)

        def work(me: int) -> None:
            for round_ in range(25):
                number = me * 1000 + round_
                log.append(1, [boxed(number, {"n": me})])
                if round_ % 5 == 4:
                    log.append(1, [box_type(**{"n": "int", f"extra_{me}": "string"})])
                view = views.current(1)
                mine = found(view, attribute=[f"n::{me}"])
                assert mine == [me * 1000 + each for each in range(round_ + 1)]

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(1, 9)))
        assert len(found(views.current(1))) == 200

    @pytest.mark.slow
    def test_readers_see_commits_whole(self):
        log = Log()
        log.append(1, [box_type(n="int")])
        views = Views(log.read_after, memory=10**9)
        stop = threading.Event()
        torn: list[object] = []

        def read() -> None:
            try:
                while not stop.is_set():
                    view = views.current(1)
                    query = check(parse(Kind.LOCALIZATION, LocalizationQuery()), view.definitions)
                    values = [msgspec.json.decode(each)["attributes"]["n"] for each in view.documents(query)]
                    if len(set(values)) > 1 or len(values) not in (0, 20):
                        torn.append(values)
            except BaseException as error:  # noqa: BLE001
                torn.append(error)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        for value in range(40):
            log.append(1, [boxed(number, {"n": value}) for number in range(1, 21)])
            views.current(1)
        stop.set()
        for reader in readers:
            reader.join()
        assert torn == []
