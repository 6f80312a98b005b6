"""What refinements of shapes cost a view: 100,000 plain boxes beside as many masks, turned boxes and ellipses.

python -m tests.bench.refined [ROWS]

Processor time: of applying a row of the log, and of the questions of `views.py`, in alternation; bytes of a document.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

import tests.bench.offline  # before anything reads the settings
import tests.service  # noqa: F401 starts AWS in this process
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change, Commit
from chalicelib.core.values import rle
from chalicelib.query import check, parse
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.dynamodb import ids
from chalicelib.storage.view.view import View
from tests.bench import views

WIDTH, HEIGHT = 1920, 1080
TIMES = 40


def blob() -> dict[str, Any]:
    """The mask of a box of `views.box`: a disc with a ragged border."""
    height, width = round(views_box("height") * HEIGHT), round(views_box("width") * WIDTH)
    y, x = np.mgrid[0:height, 0:width]
    angle = np.arctan2(y - height / 2, x - width / 2)
    edge = 0.8 + 0.1 * np.sin(9 * angle) + 0.05 * np.random.default_rng(1).random((height, width))
    found = np.hypot((y - height / 2) / height * 2, (x - width / 2) / width * 2) < edge
    return {"size": [height, width], "counts": rle.encode(rle.runs_of(found.astype(np.uint8).tobytes(order="F")))}


def views_box(member: str) -> float:
    """A member of every box of `views.box`."""
    found: float = msgspec.json.decode(views.box(1, random.Random(1), 1000).doc)[member]
    return found


def main() -> None:
    """Print a line for each figure: plain, refined, the ratio."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    mask = blob()
    refined: dict[str, list[dict[str, Any]]] = {
        "plain": [{}],
        "all refined": [{"mask": mask}, {"angle": 30.0}, {"form": "ellipse"}],
        "masks": [{"mask": mask}],
    }
    made = {name: filled(size, more) for name, more in refined.items()}
    print(f"{size:,} rows, a mask of {len(mask['counts'])} characters; processor time")
    line("", *made)
    line("apply a row, µs", *(f"{seconds / size * 1e6:.1f}" for _, seconds, _ in made.values()))
    line("document, bytes", *(f"{each / size:.0f}" for _, _, each in made.values()))
    asked = views.questions(size, random.Random(size))
    asked.append(("list of one media's", {"media_id": [3]}))
    for what, given in asked:
        if "related" in what or "section" in what:
            continue
        taken = together([question(view, given) for view, _, _ in made.values()])
        line(f"{what}, ms", *(f"{each * 1e3:.2f} ({each / taken[0]:.2f})" for each in taken))
    for what, given in (("$area above", {"attribute_gt": ["$area::9000"]}), ("$form", {"attribute": ["$form::mask"]})):
        taken = together([question(view, given) for view, _, _ in made.values()])
        line(f"{what}, ms", *(f"{each * 1e3:.2f}" for each in taken))


def filled(size: int, refinements: list[dict[str, Any]]) -> tuple[View, float, int]:
    """A view, the seconds that its boxes took, and the bytes of their documents."""
    project = ids.reserve("project")[0]
    view, seconds, bytes_ = View(project), 0.0, 0
    for commit in commits(project, size, refinements):
        began = time.process_time()
        view.apply([commit])
        if commit.seq > 2:
            seconds += time.process_time() - began
            bytes_ += sum(len(bytes(each.doc)) for each in commit.changes)
    return view, seconds, bytes_


def commits(project: int, size: int, refinements: list[dict[str, Any]]) -> Iterator[Commit]:
    """The log of `views.commits` with media of a size and refined boxes."""
    sized = {"width": WIDTH, "height": HEIGHT}
    for commit in views.commits(project, size, random.Random(size)):
        more = [sized] if commit.seq == 2 else refinements if commit.seq > 2 else [{}]
        changes = [merged(each, more[place % len(more)]) for place, each in enumerate(commit.changes)]
        yield views.commit_of(project, commit.seq, changes)


def merged(change: Change, more: dict[str, Any]) -> Change:
    """A change whose document has more members."""
    if not more:
        return change
    return msgspec.structs.replace(change, doc=views.raw({**msgspec.json.decode(change.doc), **more}))


def question(view: View, given: dict[str, Any]) -> Callable[[], None]:
    """Asks a question from its parameters to its answer."""
    query = LocalizationQuery(**given)

    def ask() -> None:
        checked = check(parse(Kind.LOCALIZATION, query, None), view.definitions)
        if given.get("stop") or "media_id" in given:
            view.documents(checked)
        else:
            view.count(checked)

    return ask


def together(asks: list[Callable[[], None]]) -> list[float]:
    """The least processor time of each, in alternation, after one that does not count."""
    taken: list[list[float]] = [[] for _ in asks]
    for turn in range(TIMES + 1):
        for place, ask in enumerate(asks):
            began = time.process_time()
            ask()
            if turn:
                taken[place].append(time.process_time() - began)
    return [min(each) for each in taken]


def line(what: str, *figures: str) -> None:
    """Print figures in columns."""
    print(what.ljust(32) + "".join(each.rjust(16) for each in figures), flush=True)


if __name__ == "__main__":
    main()
