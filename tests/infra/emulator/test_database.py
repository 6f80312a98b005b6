"""The database of the local stack: what it acknowledged is there, and what it cannot vouch for it refuses."""

import contextlib
import random
import shutil
import threading

import pytest

from infra.emulator.s3 import contents, index
from infra.emulator.s3.contents import BLOCK, Body, Content
from infra.emulator.sqlite import database
from infra.emulator.sqlite.database import NAME, Database
from infra.emulator.sqlite.integrity import ACKNOWLEDGED, CannotStore, Damaged, checksum
from tests.faults import figures

FLIPS = 60
LOG = f"{NAME}-wal"


def fill(store, count=120):
    """Rows, documents and messages of all sizes."""
    for number in range(count):
        doc = b"%d" % number * (1 + number * 13 % 700)
        crc = checksum(1, b"key%d" % number, b"", doc)
        store.write("INSERT OR REPLACE INTO rows VALUES (1, ?, x'', ?, ?)", b"key%d" % number, doc, crc)
        store.documents("things").put(str(number), {"number": number})
        crc = checksum(0, b"id%d" % number, b"queue", doc)
        store.write(
            "INSERT OR REPLACE INTO messages (id, queue, due, delayed, doc, crc) VALUES (?, 'queue', ?, 0, ?, ?)",
            f"id{number}", number, doc, crc,
        )  # fmt: skip
    store.sync()


def everything(store):
    tables = ("tab, pk, sk, doc FROM rows", "space, key, doc FROM documents WHERE space != 'state'", "* FROM messages")
    return [sorted(store.read(f"SELECT {table}")) for table in tables], store.documents("things").items()


def copy(directory, target):
    """The files as a process that is killed now would leave them."""
    shutil.copytree(directory, target, ignore=shutil.ignore_patterns("*-shm"))
    return target


def flip(path, dice):
    """Another bit of a file than before; the file as it is then."""
    content = bytearray(path.read_bytes())
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)
    return bytes(content)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A directory that was closed, one that was not, and what both hold."""
    directory = tmp_path_factory.mktemp("saved")
    store = Database(directory / "live")
    fill(store)
    held = everything(store)
    copy(directory / "live", directory / "killed")
    store.close()
    copy(directory / "live", directory / "stopped")
    return directory, held


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "name"),
    [("stopped", NAME), ("stopped", ACKNOWLEDGED), ("killed", NAME), ("killed", LOG), ("killed", ACKNOWLEDGED)],
)
def test_a_flipped_bit_is_found_or_changes_nothing(saved, tmp_path, way, name):
    directory, held = saved
    dice, found = random.Random(f"{way} {name}"), 0
    for number in range(FLIPS):
        place = copy(directory / way, tmp_path / str(number))
        flipped = flip(place / name, dice)
        store = refusal = None
        try:
            store = Database(place)
        except Damaged as damaged:
            refusal = damaged
        if store is not None:
            assert everything(store) == held
            store.close()
            continue
        found += 1
        assert str(place) in str(refusal)
        assert name == NAME or (place / name).read_bytes() == flipped
        assert way != "killed" or (place / LOG).stat().st_size == (directory / way / LOG).stat().st_size
        assert not list(place.glob("*.kept"))
    figures.note("flipped bits of files", f"{way} {name}", FLIPS)
    figures.note("flipped bits that were named", f"{way} {name}", found)
    # a killed process leaves all pages in the log, which stand before those of the database
    assert found > FLIPS / 4 or (way, name) == ("killed", NAME)


def test_a_log_that_is_cut_or_lost_is_found(saved, tmp_path):
    directory, _ = saved
    for number, size in enumerate((0, 4096, 100_000)):
        place = copy(directory / "killed", tmp_path / str(number))
        log = place / LOG
        log.write_bytes(log.read_bytes()[:size])
        with pytest.raises(Damaged, match=r"ends at write 0, and write \d+ was acknowledged"):
            Database(place)
    (place / NAME).unlink()
    with pytest.raises(Damaged, match=f"{NAME} is damaged: it is missing"):
        Database(place)


def test_a_torn_end_is_no_damage(saved, tmp_path):
    directory, held = saved
    store = Database(copy(directory / "killed", tmp_path / "live"))
    for number in range(50):
        store.documents("torn").put(str(number), "x" * 500)  # committed, not acknowledged
    place = copy(tmp_path / "live", tmp_path / "torn")
    store.close()
    log = place / LOG
    log.write_bytes(log.read_bytes()[:-5000] + b"\x00" * 700)
    again = Database(place)
    torn = again.documents("torn").items()
    assert [name for name, _ in torn] == sorted(str(number) for number in range(len(torn)))
    assert len(torn) < 50
    again.documents("torn").clear()
    assert everything(again)[1] == held[1]
    again.close()


def test_a_full_disk_refuses_writes_and_loses_none(tmp_path):
    store = Database(tmp_path)
    store.write(f"PRAGMA max_page_count = {store.one('PRAGMA page_count')[0] + 40}")
    spaces, stored = store.documents("things"), -1

    def put():
        with store.transaction():
            spaces.put(str(stored + 1), "x" * 3000)
            spaces.put("last", stored + 1)
        store.sync()

    with contextlib.suppress(CannotStore):
        while True:
            put()
            stored += 1
    assert "full" in store.problem()
    assert spaces.get("last") == stored > 10
    with pytest.raises(CannotStore):
        spaces.put("more", "x" * 10_000)
    store.write("PRAGMA max_page_count = 100000")
    assert not store.problem()
    spaces.put("more", "x" * 10_000)
    store.close()
    again = Database(tmp_path)
    assert [name for name, _ in again.documents("things").items() if name.isdigit()] == sorted(
        map(str, range(stored + 1))
    )
    again.close()


def test_a_transaction_is_stored_whole_or_not_at_all(tmp_path):
    store = Database(tmp_path)
    things = store.documents("things")

    def fail(name):
        with store.transaction():
            things.put(name, 1)
            with store.transaction():
                things.put(f"{name} within", 1)
            raise LookupError

    with pytest.raises(LookupError):
        fail("a")
    with store.transaction():
        things.put("c", 1)
        with contextlib.suppress(LookupError):
            fail("d")
    assert [name for name, _ in things.items()] == ["c"]
    store.close()


def test_one_synchronization_serves_all_that_wait_for_it(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(database.os, "fdatasync", lambda _: calls.append(threading.get_ident()))
    store = Database(tmp_path)
    store.documents("things").put("a", 1)
    store.sync()
    store.sync()
    assert len(calls) == 1
    store.close()


def test_threads_that_wait_for_a_synchronization_share_the_next(tmp_path, monkeypatch):
    calls, entered, go_on = [], threading.Event(), threading.Event()

    def synchronize(_):
        calls.append(1)
        entered.set()
        assert go_on.wait(30)

    store = Database(tmp_path)
    monkeypatch.setattr(database.os, "fdatasync", synchronize)

    def work(number):
        store.documents("things").put(str(number), 1)
        store.sync()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    threads[0].start()
    assert entered.wait(30)
    for thread in threads[1:]:
        thread.start()
    while len(store.documents("things")) < 8:
        """The others write while the first synchronizes."""
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert len(calls) == 2
    store.close()


def test_what_was_committed_before_the_disk_was_full_is_acknowledged(tmp_path, monkeypatch):
    store = Database(tmp_path)
    things = store.documents("things")
    things.put("a", "x")

    def full(*_):
        raise CannotStore("full")

    with monkeypatch.context() as patched:
        patched.setattr(store.state, "put", full)
        store.sync()  # answered: it is written through to the disk
    store.sync()
    store.close()
    again = Database(tmp_path)
    assert again.documents("things").items() == [("a", "x")]
    again.close()


def test_the_journal_of_an_earlier_commit_is_written_into_its_tables(tmp_path):
    store = Database(tmp_path)
    for key in (b"a", b"b"):
        store.change_rows([], [(1, key, b"", b"old", checksum(1, key, b"", b"old"))])
    store.documents("journal").put(f"{0:020}", [(1, b"a", b"", b"new"), (1, b"b", b"", None), (1, b"c", b"", b"new")])
    store.close()
    again = Database(tmp_path)
    assert again.read("SELECT pk, doc FROM rows ORDER BY pk") == [(b"a", b"new"), (b"c", b"new")]
    assert len(again.documents("journal")) == 0
    again.close()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(contents.FILES, "directory", tmp_path)
    # what a test finds damaged is not what the tests behind it find
    for member in ("damage", "failure"):
        monkeypatch.setattr(database.current(), member, getattr(database.current(), member))
    return tmp_path


def stored(data):
    body = Body()
    for start in range(0, len(data), 100_000):
        body.write(data[start : start + 100_000])
    return body.finish()


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 17])
def test_a_content_is_read_by_ranges(files, size):
    data = random.Random(size).randbytes(size)
    content = stored(data)
    dice = random.Random(1)
    with content.open() as reader:
        assert b"".join(reader.blocks(0, size)) == data
        for _ in range(20):
            start, length = dice.randrange(size + 1), dice.randrange(size + 1)
            assert b"".join(reader.blocks(start, length)) == data[start : start + length]


def test_a_flipped_bit_of_a_content_is_found_where_it_is_read(files):
    content = stored(bytes(3 * BLOCK))
    path = files / content.name
    damaged = bytearray(path.read_bytes())
    damaged[BLOCK + 5] = 1
    path.write_bytes(damaged)
    with content.open() as reader:
        assert b"".join(reader.blocks(2 * BLOCK, BLOCK)) == bytes(BLOCK)
        with pytest.raises(Damaged, match=content.name):
            b"".join(reader.blocks(BLOCK, 1))
    path.write_bytes(bytes(2 * BLOCK))
    with pytest.raises(Damaged, match=content.name), Content(content.name, content.size, content.sums).open() as reader:
        b"".join(reader.blocks(2 * BLOCK + 5, 1))


def test_any_flipped_bit_of_a_content_is_found(files):
    dice = random.Random(1)
    content = stored(dice.randbytes(3 * BLOCK + 7))
    path = files / content.name
    whole = path.read_bytes()
    for _ in range(FLIPS):
        flip(path, dice)
        with pytest.raises(Damaged, match=content.name), content.open() as reader:
            b"".join(reader.blocks(0, content.size))
        path.write_bytes(whole)
    figures.note("flipped bits of files", "a stored object", FLIPS)
    figures.note("flipped bits that were named", "a stored object", FLIPS)


def test_a_content_that_the_disk_does_not_take_leaves_nothing(files, monkeypatch):
    body = Body()
    body.write(b"x" * 100)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(contents.os, "fsync", full)
    with pytest.raises(CannotStore, match="No space left"):
        body.finish()
    body.close()
    assert list(files.iterdir()) == []


def test_a_replaced_content_is_removed_when_its_row_survives_a_loss_of_power(files, tmp_path, monkeypatch):
    store = Database(tmp_path / "data")
    monkeypatch.setattr(database, "_current", [store])
    events = []
    fdatasync, remove = database.os.fdatasync, contents.FILES.remove
    monkeypatch.setattr(database.os, "fdatasync", lambda file: (fdatasync(file), events.append("synchronized")))
    monkeypatch.setattr(contents.FILES, "remove", lambda name: (remove(name), events.append("removed")))
    monkeypatch.setattr(index, "_document", lambda _, name, **__: documents[name])
    row = {"size": 1, "sums": b""}
    for content in ("first", "second"):
        documents = {"key": {**row, "content": content}}
        (files / content).write_bytes(b"x")
        with index.storing():
            index.touch("bucket", "key")
    assert events == ["synchronized", "removed"]
    assert (files / "second").exists()
    store.close()
