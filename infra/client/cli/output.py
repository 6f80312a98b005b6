"""Results on standard output, progress and errors on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from ..failures import Failure

_LINES = "\n\t"


class Output:
    """Where a command writes: text for people, or one JSON document for programs."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._out = Console(highlight=False, soft_wrap=True)
        self._errors = Console(stderr=True, highlight=False, soft_wrap=True)

    def result(self, document: Any, text: str = "") -> None:
        """The result of a command: the document with `--json`, else the text."""
        if self.as_json:
            sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        elif text:
            self._out.print(_plain(text, _LINES), markup=False)

    def table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
        """Rows as a table of some of their members; with `--json` whole."""
        if self.as_json:
            self.result(list(rows))
            return
        shown = Table(box=None, pad_edge=False, header_style="bold")
        for name in columns:
            shown.add_column(name, overflow="fold")
        for row in rows:
            shown.add_row(*("" if row.get(name) is None else _plain(row[name]) for name in columns))
        self._out.print(shown)

    def line(self, document: Any, text: str) -> None:
        """One of many results, written at once: a line of JSON, or of text."""
        sys.stdout.write((json.dumps(document, ensure_ascii=False) if self.as_json else _plain(text)) + "\n")
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """What a person may want to know, on standard error; nothing with `--json`."""
        if not self.as_json:
            self._errors.print(_plain(text, _LINES), markup=False)

    def tell(self, text: str) -> None:
        """What a person must do now, on standard error; with `--json` too."""
        self._errors.print(_plain(text, _LINES), markup=False, soft_wrap=True)

    def failure(self, failure: Failure) -> None:
        """Why the command ends, on standard error."""
        if self.as_json:
            document = {"error": failure.message, "exit_status": failure.status, **failure.members}
            sys.stderr.write(json.dumps(document, ensure_ascii=False) + "\n")
        else:
            self._errors.print(_plain(f"limn: {failure.message}", _LINES), markup=False)

    def transfer(self) -> Progress:
        """A progress display of bytes; hidden with `--json` and where standard error is no terminal."""
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        return Progress(*columns, console=self._errors, disable=not self._is_live(), transient=True)

    def counter(self) -> Progress:
        """A progress display of counts; hidden as `transfer` is."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        return Progress(*columns, console=self._errors, disable=not self._is_live(), transient=True)

    def _is_live(self) -> bool:
        return not self.as_json and self._errors.is_terminal


def _plain(value: Any, kept: str = "") -> str:
    """Text without the control characters that a terminal would obey, but for those that are kept."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() or sign in kept else "\N{REPLACEMENT CHARACTER}" for sign in text)
