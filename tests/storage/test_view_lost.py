"""What goes from a view with a type or a version stays away, whatever is committed later and from where it started."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.core.log.commits import GONE, Change, Commit
from chalicelib.core.models.definitions import LocalizationType, MediaType, StateType
from chalicelib.storage.view.view import View
from tests.query.query_rig import box, media, state, type_of, version
from tests.query.query_worlds import PROJECT, SEEDS, change_of, commit
from tests.storage.commits import contents, reopened
from tests.sweeps import examples

STRUCT = {
    DefinitionKind.MEDIA_TYPE: (MediaType, {"dtype": "video"}),
    DefinitionKind.LOCALIZATION_TYPE: (LocalizationType, {"dtype": "box"}),
    DefinitionKind.STATE_TYPE: (StateType, {"association": "Media"}),
}
KINDS = (Kind.MEDIA, Kind.LOCALIZATION, Kind.STATE)
GOING = (*STRUCT, DefinitionKind.VERSION)


class Project:
    """Writers who may have read a definition before it went, and what a reader must see: the rule, plainly."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.commits: list[Commit] = []
        self.there: dict[DefinitionKind, set[int]] = {kind: set() for kind in GOING}
        self.known: dict[DefinitionKind, list[int]] = {kind: [] for kind in GOING}
        self.things: dict[Kind, dict[int, Any]] = {kind: {} for kind in KINDS}
        self.lost: set[int] = set()
        self.made: list[int] = []
        self.last = 0
        for kind in GOING:
            self.define(kind)
            self.define(kind)

    def put(self, *changes: Change) -> None:
        self.commits.append(commit(len(self.commits) + 1, list(changes)))

    def number(self) -> int:
        self.last += 1
        return self.last

    def define(self, kind: DefinitionKind) -> None:
        number = self.number()
        if kind is DefinitionKind.VERSION:
            made: Any = version(number)
        else:
            struct, more = STRUCT[kind]
            made = type_of(struct, number, [], **more)
        self.there[kind].add(number)
        self.known[kind].append(number)
        self.put(change_of(kind.value, made))

    def retire(self) -> None:
        kind = self.rng.choice(GOING)
        if not self.there[kind]:
            return
        number = self.rng.choice(sorted(self.there[kind]))
        self.there[kind].discard(number)
        if kind is DefinitionKind.MEDIA_TYPE:
            self.lost |= {each.id for each in self.things[Kind.MEDIA].values() if each.type == number}
        self.put(Change(kind.value, number, GONE))
        self.settle()

    def settle(self) -> None:
        for kind in KINDS:
            self.things[kind] = {number: each for number, each in self.things[kind].items() if self.is_seen(kind, each)}

    def is_seen(self, kind: Kind, thing: Any) -> bool:
        if thing.type not in self.there[TYPE_OF[kind]]:
            return False
        if kind is Kind.MEDIA:
            return True
        on = set(thing.media) if kind is Kind.STATE else {thing.media}
        on_lost = bool(on & self.lost) and not on & self.things[Kind.MEDIA].keys()
        return thing.version in self.there[DefinitionKind.VERSION] and not on_lost

    def write(self) -> None:
        """A new thing, or another writing of one, of any definition there ever was."""
        changes = []
        for _ in range(self.rng.choice([1, 1, 4])):
            kind = self.rng.choice(KINDS)
            of, layer = self.rng.choice(self.known[TYPE_OF[kind]]), self.rng.choice(self.known[DefinitionKind.VERSION])
            again = kind is not Kind.MEDIA and self.things[kind] and self.rng.randrange(3) == 0
            number = self.rng.choice(sorted(self.things[kind])) if again else self.number()
            if kind is Kind.MEDIA:
                thing: Any = media(number, type=of)
                self.made.append(number)
            elif not self.made:
                continue
            elif kind is Kind.LOCALIZATION:
                thing = box(number, type=of, media=self.rng.choice(self.made), version=layer)
            else:
                on = list({self.rng.choice(self.made) for _ in range(2)})
                thing = state(number, type=of, media=on, version=layer)
            changes.append(change_of(kind.value, thing))
            self.things[kind].pop(number, None)
            if self.is_seen(kind, thing):
                self.things[kind][number] = thing
            if kind is Kind.MEDIA and number not in self.things[kind]:
                self.made.pop()  # nobody knows of it
        if changes:
            self.put(*changes)

    def bury(self) -> None:
        """The queue tells of what nobody has seen for a while."""
        hidden = [number for number in self.lost if self.rng.randrange(2)]
        if hidden:
            self.put(*(Change("media", number, GONE) for number in hidden))


def seen(view: View) -> dict[Kind, set[int]]:
    return {kind: {row[0] for row in view.store.run(f'SELECT id FROM "{kind}"')} for kind in KINDS}


@pytest.mark.slow
@examples(4, 300, SEEDS)
def test_every_view_of_a_log_comes_to_the_rule(seed: int):
    rng = Random(seed)
    made = Project(rng)
    step = View(PROJECT)
    snapshot: View | None = None
    for turn in range(24):
        rng.choice([made.write, made.write, made.write, made.retire, made.bury])()
        step.apply(made.commits)
        assert seen(step) == {kind: set(things) for kind, things in made.things.items()}
        if turn == 12:
            snapshot = reopened(step)
    assert snapshot is not None
    snapshot.apply(made.commits)
    replayed = View(PROJECT)
    replayed.apply(made.commits)
    assert contents(snapshot) == contents(replayed) == contents(step)
    for view in (step, snapshot, replayed):
        view.close()


def test_preview_lists_exactly_the_deleted_ids():
    made = Project(Random(5))
    for _ in range(200):
        made.write()
    view = View(PROJECT)
    view.apply(made.commits)
    assert all(len(things) > 10 for things in made.things.values())
    for kind in GOING:
        number = made.known[kind][0]
        before = seen(view)
        seq, going = view.ids_of_definition(kind, number)
        assert seq == view.seq
        view.apply([commit(view.seq + 1, [Change(kind.value, number, GONE)])])
        after = seen(view)
        assert {each: before[each] - after[each] for each in going} == {each: set(ids) for each, ids in going.items()}
        assert all(before[each] == after[each] for each in KINDS if each not in going)
        assert any(going.values())
