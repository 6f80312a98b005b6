"""What people do to media, in random histories: each with what the model makes of it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.model.annotation_model import Doc, same
from tests.model.annotation_world import World, flags, picks

NEXT = {("live", "to_archive"): "to_archive", ("to_archive", "to_live"): "live"}
"""The archive states that a wish leads to; without the upkeep, none is ever archived."""


class MediaRules(World):
    """A project whose media come, change and go with what lies on them."""

    @precondition(lambda self: len(self.media) < 4)
    @rule(who=flags, name=st.sampled_from("abc"))
    def create_media(self, who: int, name: str) -> None:
        self.write_as(who)
        self.make_media(name)

    @rule(
        who=flags,
        picked=st.lists(picks, min_size=1, max_size=3),
        text=st.one_of(st.none(), st.sampled_from(["", "x", 0, False])),
        wish=st.sampled_from([None, "to_archive", "to_live"]),
        one=st.booleans(),
        off=st.sampled_from([0, 0, 0, 1]),
    )
    def patch_media(self, who: int, picked: list[int], text: Any, wish: str | None, one: bool, off: int) -> None:
        user = self.write_as(who)
        numbers = sorted({self.media[pick % len(self.media)] for pick in picked[: 1 if one else None]})
        body: Doc = {} if text is None else {"attributes": {"text": text}}
        body |= {"archive_state": wish} if wish else {}
        if not body:
            return
        if one:
            self.ask("PATCH", f"Media/{numbers[0]}", body)
        else:
            status = 400 if off else 200
            count = len(numbers) + off
            self.ask("PATCH", f"Medias/{self.project}", {"ids": numbers, **body}, status=status, count=count)
            if off:
                return
        numbers.sort(key=lambda number: (self.model.media[number]["name"], number))
        before = {number: self.model.media[number] for number in numbers}
        edited = [number for number in before if text is not None and not same(before[number]["text"], text)]
        moved = [number for number in before if (before[number]["archive_state"], wish) in NEXT]
        for number in {*edited, *moved}:
            row = before[number]
            state = NEXT.get((row["archive_state"], wish), row["archive_state"])
            value = text if number in edited else row["text"]
            self.model.media[number] = {**row, "text": value, "archive_state": state, "modified_by": user}
        entry: Any = ({"text": before[edited[0]]["text"]}, {"text": text}) if edited else ({}, {})
        if one and moved:
            state = before[moved[0]]["archive_state"]
            entry = ({**entry[0], "_archive_state": state}, {**entry[1], "_archive_state": NEXT[state, wish]})
            self.model.tell("media", moved, entry)
            return
        self.model.tell("media", edited, entry)
        for number in moved:
            state = before[number]["archive_state"]
            self.model.tell("media", [number], ({"_archive_state": state}, {"_archive_state": NEXT[state, wish]}))

    @precondition(lambda self: len(self.media) > 1)
    @rule(who=flags, picked=st.lists(picks, min_size=1, max_size=2), one=st.booleans())
    def delete_media(self, who: int, picked: list[int], one: bool) -> None:
        self.write_as(who)
        numbers = sorted({self.media[pick % len(self.media)] for pick in picked[: 1 if one else None]})
        numbers = numbers[: len(self.media) - 1]
        if one:
            self.ask("DELETE", f"Media/{numbers[0]}")
        else:
            self.ask("DELETE", f"Medias/{self.project}", {"ids": numbers}, count=len(numbers))
        self.model.delete_media(numbers)
        self.ask("GET", f"Media/{numbers[0]}", status=404)

    @rule(who=flags, picked=st.lists(picks, min_size=1, max_size=2))
    def undo_a_deletion_of_media(self, who: int, picked: list[int]) -> None:
        self.write_as(who)
        numbers = sorted({self.media[pick % len(self.media)] for pick in picked})
        self.undone(lambda: self.ask("DELETE", f"Medias/{self.project}", {"ids": numbers}))
