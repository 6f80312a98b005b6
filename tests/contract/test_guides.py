"""Requests that guides and decisions show are of operations that exist, and answered with the status that they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from chalicelib.api.catalogue import OPERATIONS

DOCS = Path(__file__).parents[2] / "docs"
_REQUEST = re.compile(r"^\s+(GET|POST|PUT|PATCH|DELETE) (/rest/[^\s?]*)")
_ANSWER = re.compile(r"^\s+([1-5]\d\d)\b")
ROUTES = [
    (operation.method, re.compile(re.sub(r"\{\w+\}", "[^/]+", operation.path)), operation) for operation in OPERATIONS
]


def shown() -> Iterator[tuple[str, str, str, int | None]]:
    """Each request: where it stands, its method and path, and the status that stands below."""
    for page in sorted(DOCS.rglob("*.md")):
        if "decisions" in page.parts or "reference" in page.parts:
            continue
        request = None
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if found := _REQUEST.match(line):
                if request:
                    yield *request, None
                request = f"{page.relative_to(DOCS)}:{number}", found[1], found[2]
            elif request and (answer := _ANSWER.match(line)):
                yield *request, int(answer[1])
                request = None
            elif not line.startswith("    "):
                if request:
                    yield *request, None
                request = None


def test_guides_show_requests_of_operations_with_their_status():
    wrong, count = [], 0
    for place, method, path, status in shown():
        known = [operation for verb, route, operation in ROUTES if verb == method and route.fullmatch(path)]
        count += 1
        if not known:
            wrong.append(f"{place}: no operation answers {method} {path}")
        elif status is not None and status < 400 and status not in {operation.success for operation in known}:
            wrong.append(f"{place}: {method} {path} answers {known[0].success}, not {status}")
    assert wrong == [], "\n".join(wrong)
    assert count > 50
