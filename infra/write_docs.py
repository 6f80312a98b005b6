"""`make docs`: writes docs/reference/, the operations of the client, and the index of docs/decisions/.

A decision begins with its title, an empty line, and one line with theme and status:

    # 55. A query has a budget and a time limit

    Theme: Log, view and queries. Status: in force.

A status is `in force`, `replaced by NNN`, or `withdrawn`.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

THEMES = (
    "Log, view and queries",
    "Storage and objects",
    "Interface and messages",
    "Permissions and security",
    "Media",
    "Annotations and assistance",
    "Jobs, events and datasets",
    "Console and command line",
    "The local stack",
    "Code, tests and packaging",
)
_HEAD = re.compile(
    r"# (?P<number>\d+)\. (?P<title>.+)\n\n"
    r"Theme: (?P<theme>.+?)\. Status: (?P<status>in force|replaced by \d+|withdrawn)\.\n"
)
_INTRODUCTION = """# Decisions

Half a page each, for what a newcomer would otherwise ask. A decision that changes gets a new entry. The status of the
old one names it, until what still helps a reader is in the new one and the old file goes. Numbers are not given again.
This index is written by `make docs` from the first lines of the files.
"""


def decisions_index(folder: Path) -> str:
    """Return the text of the index: a table for each theme, in the order of `THEMES`.

    Raises:
        ValueError: A decision does not begin with title, theme and status, or has an unknown theme.
    """
    rows: dict[str, list[str]] = {theme: [] for theme in THEMES}
    for path in sorted(folder.glob("[0-9]*.md")):
        head = _HEAD.match(path.read_text())
        if head is None or head["theme"] not in rows:
            raise ValueError(f"{path.name}: begin with title, theme and status, as the other decisions do")
        number = int(head["number"])
        rows[head["theme"]].append(f"| {number} | [{head['title']}]({path.name}) | {head['status']} |")
    parts = [_INTRODUCTION]
    for theme, lines in rows.items():
        if lines:
            parts.append("\n".join([f"## {theme}", "", "| | decision | status |", "|---|---|---|", *lines]) + "\n")
    return "\n".join(parts)


def main() -> None:
    """Write the pages; AWS in memory stands in for the tables that modules ask for when they are imported."""
    from infra.emulator import aws

    with aws.start():
        from infra.local.deploy import deploy

        os.environ.update(deploy(aws.REGION))
        from chalicelib.api.catalogue import OPERATIONS
        from chalicelib.api.reference import reference
        from infra import console_ways, write_client

        write_client.write(OPERATIONS)
        folder = Path(__file__).parent.parent / "docs" / "reference"
        read = (json.loads((folder / name).read_text()) for name in ("examples.json", "client-models.json"))
        pages = reference(OPERATIONS, *read)
        for old in folder.glob("*.md"):
            old.unlink()
        for name, text in pages.items():
            (folder / name).write_text(text)
        decisions = folder.parent / "decisions"
        (decisions / "README.md").write_text(decisions_index(decisions))
        (folder.parent / "console-operations.md").write_text(console_ways.page(OPERATIONS))
        print(f"docs/reference: {len(OPERATIONS)} operations on {len(pages)} pages")


if __name__ == "__main__":
    main()
