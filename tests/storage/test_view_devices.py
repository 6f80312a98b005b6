"""Files of views: what was written here lies over what lies in objects, whatever the cache has room for."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from random import Random

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput, NotFound, Unavailable
from chalicelib.http.encoding import encode_error
from chalicelib.query import check, parse
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.database import store as stores
from chalicelib.storage.view.database.devices import CHUNK, Cache, Device, Extent, overlaid
from chalicelib.storage.view.database.documents import Document, Documents, PackCache
from chalicelib.storage.view.database.engine import _Handle, engine
from chalicelib.storage.view.view import View
from tests.query.query_worlds import PROJECT, commit
from tests.storage.commits import contents, reopened
from tests.storage.test_view import Log, box_type, boxed, found


def fetching(objects: dict[str, bytes]):
    return lambda key, offset, length: objects[key][offset : offset + length]


@pytest.mark.parametrize("room", [1, 5, 100])
@pytest.mark.parametrize("first", [0, 12_288])
def test_a_device_reads_as_a_file_in_memory_would(room: int, first: int):
    rng = Random(room + first)
    expected = bytearray(rng.randbytes(5 * CHUNK + 777))
    half = 2 * CHUNK + 99
    objects = {"a": b"..." + bytes(expected[half:]), "b": bytes(expected[:half])}
    extents = [Extent(half, len(expected) - half, "a", 3), Extent(0, half, "b", 0)]
    device = Device(Cache(room * CHUNK), fetching(objects), extents, len(expected), first)
    for turn in range(150):
        offset, length = rng.randrange(len(expected)), rng.randrange(3 * CHUNK)
        if turn % 3 == 0:
            data = rng.randbytes(length)
            device.write(offset, data)
            expected[offset : offset + length] = data
        elif turn % 50 == 1:
            size = rng.randrange(3 * CHUNK, 7 * CHUNK)
            device.truncate(size)
            expected = expected[:size] + bytes(size - len(expected[:size]))
        elif turn % 3 == 1:
            device.prefetch([(offset, length), (rng.randrange(10 * CHUNK), 5)])
        assert device.read(offset, length) == expected[offset : offset + length]
        assert device.size == len(expected)
    written = device.written_ranges()
    objects["c"] = b"".join(device.read(start, length) for start, length in written)
    places, at = [], 0
    for start, length in written:
        places.append(Extent(start, length, "c", at))
        at += length
    after = Device(Cache(CHUNK), fetching(objects), overlaid(extents, places, device.size), device.size)
    assert after.read(0, device.size) == expected


def test_an_object_that_ends_too_early_is_an_error():
    device = Device(Cache(CHUNK), fetching({"a": b"short"}), [Extent(0, 100, "a", 0)], 100)
    with pytest.raises(OSError, match="were expected"):
        device.read(0, 10)


def test_threads_that_share_a_handle_read_where_each_sought():
    """DuckDB reads by a seek and then a read: between the two, another of its threads may seek."""
    device = Device(Cache(4 * CHUNK))
    device.write(0, bytes(range(200)))
    handle = _Handle(device, "rb")
    handle.seek(50)
    other: list[bytes] = []

    def read_elsewhere() -> None:
        handle.seek(100)
        other.append(handle.read(3))

    thread = threading.Thread(target=read_elsewhere)
    thread.start()
    thread.join()
    assert handle.read(3) == bytes([50, 51, 52])
    assert other == [bytes([100, 101, 102])]


def test_documents_come_back_from_their_places():
    rng = Random(3)
    documents = Documents(Device(Cache(50 * CHUNK)), PackCache(20_000))
    bodies = [rng.randbytes(rng.choice([0, 10, 500, 60_000])) for _ in range(300)]
    places = [documents.add(body, number, number % 3) for number, body in enumerate(bodies)]
    some = [rng.randrange(300) for _ in range(1000)] + list(range(280, 300))
    for _ in range(2):
        found = documents.get([places[number] for number in some])
        assert [(each.body, each.type, each.seen) for each in found] == [(bodies[n], n, n % 3) for n in some]
        documents.seal()


@pytest.mark.parametrize("is_sealed", [False, True])
def test_a_revised_document_takes_the_place_of_its_former_self(is_sealed):
    cache = PackCache(20_000)
    documents = Documents(Device(Cache(50 * CHUNK)), cache)
    places = [documents.add(b"old", number, 0) for number in range(3)]
    if is_sealed:
        documents.seal()
    assert documents.bodies(places) == [b"old"] * 3
    for revised in (b"revised", b"revised again"):
        documents.remember(places[1], Document(revised, 1, 2))
        assert documents.bodies(places) == [b"old", revised, b"old"]
        assert documents.get(places[1:2]) == [Document(revised, 1, 2)]
    cache.resize(0)
    assert cache.memory == 0


def grown(rows: int = 3000) -> View:
    """A view of a type with two attributes and so many boxes, in a file."""
    view = View(PROJECT)
    view.apply([commit(1, [box_type(n="int", s="string")])])
    view.apply([commit(2, [boxed(n, {"n": n, "s": f"{n * 7919 % 1000} text"}) for n in range(1, rows + 1)])])
    view.compress()
    return view


class TestStore:
    @pytest.fixture(autouse=True)
    def _no_small_stores(self, monkeypatch):
        """Every view lies in objects, however small."""
        monkeypatch.setattr(stores, "SMALL", 0)

    def test_a_failure_of_s3_is_told_as_such_and_heals(self, monkeypatch):
        view = reopened(grown())
        fetch, view.store.database._fetch = view.store.database._fetch, None

        def fails(*_):
            raise Unavailable("S3 is away")

        view.store.database._fetch = fails
        with pytest.raises(Unavailable, match="cannot be read now"):
            found(view, attribute=["n::5"])
        with pytest.raises(Unavailable):
            view.apply([commit(3, [boxed(1, {"n": 9})])])
        view.store.database._fetch = fetch
        assert found(view, attribute=["n::5"]) == [5]
        view.apply([commit(3, [boxed(1, {"n": 5})])])
        assert found(view, attribute=["n::5"]) == [1, 5]
        assert not view.is_broken

    def test_a_view_whose_objects_are_gone_begins_anew(self, monkeypatch):
        log = Log()
        log.append(PROJECT, [box_type(n="int")])
        log.append(PROJECT, [boxed(n, {"n": n}) for n in range(1, 2000)])
        old = reopened(Views(log.read_after).current(PROJECT))

        def gone(*_):
            raise NotFound("swept")

        old.store.database._fetch = gone
        views = Views(log.read_after, begin=lambda project: old if not old.is_broken else View(project))
        with pytest.raises(Unavailable):
            found(views.current(PROJECT), attribute=["n::5"])
        assert found(views.current(PROJECT), attribute=["n::5"]) == [5]

    @pytest.mark.slow
    def test_a_wrong_map_of_blocks_costs_time_only(self, monkeypatch):
        before = grown()
        wrong = {"n": [0, 7, 10**6], "s": [3], "id": [-1]}
        monkeypatch.setattr(stores, "_blocks_of", lambda *_: {name: list(blocks) for name, blocks in wrong.items()})
        assert contents(reopened(before)) == contents(before)

    @pytest.mark.slow
    def test_the_blocks_of_a_query_are_fetched_at_once(self, monkeypatch):
        """Holds on the locked version of DuckDB: `pragma_storage_info` names the blocks that a scan reads."""
        view = reopened(grown(60_000))
        device = view.store.database
        assert not device.is_local
        view.count(check(parse(Kind.LOCALIZATION, LocalizationQuery(after=10)), view.definitions))
        loads: list[int] = []
        load = device._load
        monkeypatch.setattr(device, "_load", lambda chunks: loads.append(len(chunks)) or load(chunks))
        query = check(parse(Kind.LOCALIZATION, LocalizationQuery(attribute=["s::7 text"])), view.definitions)
        assert view.count(query) == 60
        assert len([each for each in loads if each]) <= 1
        assert sum(loads) * CHUNK < device.size / 2

    @pytest.mark.slow
    def test_readers_and_a_writer_at_once_over_a_small_cache(self, monkeypatch):
        view = reopened(grown(20_000))
        monkeypatch.setattr(view.store.engine.cache, "_most", 3)
        failures: list[BaseException] = []

        def read(seed: int) -> None:
            rng = Random(seed)
            try:
                for _ in range(25):
                    number = rng.randrange(100, 20_000)
                    assert found(view, attribute=[f"n::{number}"]) == [number]
                    assert view.document(Kind.LOCALIZATION, number) is not None
            except BaseException as failure:  # noqa: BLE001 told to the main thread
                failures.append(failure)

        threads = [threading.Thread(target=read, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for number in range(60):
            view.apply([commit(view.seq + 1, [boxed(each, {"n": each + 10**6}) for each in range(1, 60)])])
            if number % 20 == 0:
                view.compress()
        for thread in threads:
            thread.join(120)
        assert not failures
        assert found(view, attribute=["n::1000007"]) == [7]


class TestContainer:
    @pytest.mark.slow
    def test_many_projects_share_threads_and_give_back_what_they_took(self):
        from chalicelib.storage.view.cache import resident
        from tests.bench.thousands import threads

        log = Log()
        for project in range(1, 41):
            log.append(project, [box_type(n="int"), *(boxed(number, {"n": number}) for number in range(1, 20))])
        views = Views(log.read_after, memory=10**12)
        views.current(1)
        before, devices = threads(), len(engine()._devices)
        memory = resident()
        for project in range(2, 41):
            assert found(views.current(project), attribute=["n::7"]) == [7]
        assert threads() <= before + 2
        assert resident() - memory < 40 * 3_000_000
        views._memory = 0
        views.current(1)
        assert len(views._views) == 1
        assert len(engine()._devices) <= devices

    def test_a_refresh_that_is_cut_off_keeps_what_it_followed(self, monkeypatch):
        from chalicelib.storage.view import cache

        log = Log()
        log.append(1, [box_type(n="int")])
        for number in range(1, 30):
            log.append(1, [boxed(number)])
        monkeypatch.setattr(cache, "COMMITS_PER_TRANSACTION", 10)
        monkeypatch.setattr(cache, "FOLLOW_SECONDS", -1.0)
        views = Views(log.read_after, memory=10**12)
        for seq in (10, 20):
            with pytest.raises(Unavailable, match="grown faster") as refusal:
                views.current(1)
            assert views._views[1].seq == seq
            assert encode_error(refusal.value).headers["Retry-After"] == "1"
        assert len(found(views.current(1))) == 29


class TestGroups:
    """A grouping by a million different values."""

    GROUPS = (
        "SELECT g, count(*) AS n, count(*) OVER () AS every FROM (SELECT md5(i::VARCHAR) || md5((i + 1)::VARCHAR) AS g"
        " FROM range({rows}) t(i)) GROUP BY g ORDER BY n DESC, g LIMIT 1000"
    )

    @contextmanager
    def room(self, memory: int, disk: int):
        """So many bytes of memory and disk beside what is held now, which other tests may have left."""
        root = engine()._root
        [(held,)] = root.execute("SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT FROM duckdb_memory()").fetchall()
        [(spilled,)] = root.execute("SELECT coalesce(sum(size), 0)::BIGINT FROM duckdb_temporary_files()").fetchall()
        before = root.execute(
            "SELECT value FROM duckdb_settings() WHERE name IN ('memory_limit', 'max_temp_directory_size')"
            " ORDER BY name"
        ).fetchall()
        root.execute(f"SET memory_limit = '{held + memory}B'")
        root.execute(f"SET max_temp_directory_size = '{spilled + disk}B'")
        try:
            yield
        finally:
            root.execute(f"SET max_temp_directory_size = '{before[0][0]}'")
            root.execute(f"SET memory_limit = '{before[1][0]}'")

    @pytest.mark.nightly
    def test_a_million_groups_are_made_in_bounded_memory(self):
        store = grown(1).store
        with self.room(200_000_000, 500_000_000):
            rows = store.run(self.GROUPS.format(rows=1_000_000))
        assert (len(rows), rows[0][2]) == (1000, 1_000_000)

    def test_groups_that_take_too_much_memory_are_refused_with_what_to_do(self):
        store = grown(1).store
        with self.room(12_000_000, 1_000_000), pytest.raises(BadInput, match="needs more memory than one may take"):
            store.run(self.GROUPS.format(rows=300_000))
        assert len(store.run(self.GROUPS.format(rows=10))) == 10
