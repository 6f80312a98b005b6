"""Whatever is done to annotations: each element has one latest row, the log tells all of it, lists agree with rows."""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.storage.dynamodb import entities, transactions
from chalicelib.storage.log import log

BOX = Kind.LOCALIZATION
EVERYTHING = {"show_all_marks": 1, "show_deleted": 1, "merge": 0}


@pytest.fixture
def here(api, project):
    media_type = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
    of = {"media_types": [media_type], "attribute_types": [{"name": "n", "dtype": "int"}]}
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", **of})
    media = api.made(f"Medias/{project}", {"type": media_type, "name": "a", "md5": ""})
    layers = [api.made(f"Versions/{project}", {"name": name}) for name in "ab"]
    return api, project, {"type": box, "media_id": media, "frame": 0}, layers


def told(project):
    """The log's last word on every localization: its document, or None; and that each change is accounted for."""
    last = {}
    for commit in log.read_after(project, 0):
        named = {number for edit in commit.edits if edit.kind == BOX for number in edit.ids}
        for change in commit.changes:
            if change.kind == BOX:
                assert change.id not in last or change.id in named, "a change that no entry names"
                last[change.id] = None if change.is_gone else change
    return {number: change for number, change in last.items() if change}


def check(api, project):
    rows = {number: row.entity for number, row in entities.many(BOX, told(project)).items()}
    assert rows.keys() == told(project).keys()
    elements = defaultdict(list)
    for row in rows.values():
        elements[row.version, row.elemental_id].append(row)
    for marks in elements.values():
        assert [row.id for row in marks if row.latest] == [max(marks, key=lambda row: row.mark).id]
        assert len({row.mark for row in marks}) == len(marks)
    everything = api.get(f"Localizations/{project}", **EVERYTHING).json
    assert [box["id"] for box in everything] == sorted(rows)
    shown = [row.id for row in rows.values() if row.latest and not row.variant_deleted]
    assert [box["id"] for box in api.get(f"Localizations/{project}").json] == sorted(shown)
    for box in everything:
        assert box["mark"] == rows[box["id"]].mark
        assert box["version"] == rows[box["id"]].version
        assert box["attributes"] == rows[box["id"]].attributes


def step(api, project, spec, layers, names, chance):
    """One random request; its status."""
    many = f"Localizations/{project}"
    ids = [box["id"] for box in api.get(many, **EVERYTHING).json] or [1]
    one, some = chance.choice(ids), chance.sample(ids, min(len(ids), chance.randrange(1, 12)))
    name, layer, flag = chance.choice(names), chance.choice(layers), chance.choice([None, 0, 1])
    in_place = {} if flag is None else {"in_place": flag}
    attributes = {"attributes": {"n": chance.randrange(5)}}
    requests = [
        lambda: api.post(many, [{**spec, "version": layer, "elemental_id": chance.choice(names)} for _ in range(3)]),
        lambda: api.post(many, [spec] * 10),
        lambda: api.patch(f"Localization/{one}", {**attributes, **in_place}),
        lambda: api.patch(f"Localization/{one}", {"version": layer, **in_place}),
        lambda: api.patch(f"Localization/{one}", {"elemental_id": name, **in_place}),
        lambda: api.patch(f"Localization/{layer}/{name}", {**attributes, **in_place}),
        lambda: api.delete(f"Localization/{one}"),
        lambda: api.delete(f"Localization/{one}", {"prune": 1}),
        lambda: api.delete(f"Localization/{layer}/{name}"),
        lambda: api.patch(many, {"ids": some, **attributes, **in_place}),
        lambda: api.patch(many, {"ids": some, "new_version": layer, **in_place}),
        lambda: api.patch(many, {"ids": some[:3], "new_elemental_id": name, **in_place}),
        lambda: api.delete(many, {"ids": some}),
        lambda: api.delete(many, {"ids": some, "prune": 1}, **EVERYTHING),
    ]
    return chance.choice(requests)().status


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_after_random_requests_elements_lists_and_log_agree(here, seed):
    api, project, spec, layers = here
    chance = random.Random(seed)
    names = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(4)]
    for _ in range(40):
        assert step(api, project, spec, layers, names, chance) in (200, 201, 400, 404)
        check(api, project)


@pytest.mark.slow
def test_eight_at_once_break_nothing(here):
    api, project, spec, layers = here
    names = [str(uuid.uuid4()) for _ in range(3)]

    def work(seed):
        chance = random.Random(seed)
        return [step(api, project, spec, layers, names, chance) for _ in range(15)]

    with ThreadPoolExecutor(8) as pool:
        statuses = {status for done in pool.map(work, range(8)) for status in done}
    assert statuses <= {200, 201, 400, 404, 409}
    check(api, project)


@pytest.mark.slow
def test_a_bulk_change_that_was_killed_half_way_is_finished_by_repeating_it(here, monkeypatch):
    api, project, spec, _ = here
    numbers = api.made(f"Localizations/{project}", [spec] * 250)
    run, left = transactions.Transaction.run, [2]

    def die_later(change):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("killed")
        return run(change)

    body = {"ids": numbers, "attributes": {"n": 1}}
    with monkeypatch.context() as patch:
        patch.setattr(transactions.Transaction, "run", die_later)
        assert api.patch(f"Localizations/{project}", body).status == 500
    changed = api.get(f"LocalizationCount/{project}", attribute="n::1").json
    assert 0 < changed < 250
    check(api, project)
    assert api.patch(f"Localizations/{project}", body, count=250).status == 200
    assert api.get(f"LocalizationCount/{project}", attribute="n::1").json == 250
