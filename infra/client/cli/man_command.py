"""Manual pages, made from the declarations of the commands."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import failures
from ..failures import Failure
from .sessions import Session

STATUSES = (
    "0 done; 1 the service failed; 2 wrong command line or configuration; 3 not signed in or not permitted; "
    "4 not found; 5 refused; 6 no connection; 7 part of the work failed; 130 interrupted."
)


def man(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder for the pages, such as ~/.local/share/man/man1.")],
) -> None:
    """Write the manual pages: limn(1), and one for each command."""
    if folder.exists() and not folder.is_dir():
        raise Failure(f"{folder} is a file. Give a folder.")
    session: Session = context.obj
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    try:
        for name, text in pages(context.find_root().command):
            (folder / name).write_text(text, encoding="utf-8")
            written.append(name)
    except OSError as error:
        raise failures.of_file(error) from None
    session.output.result({"pages": written}, f"{len(written)} pages in {folder}; read them with: man limn")


def pages(command: Any, path: tuple[str, ...] = ("limn",)) -> Iterator[tuple[str, str]]:
    """The manual pages of a command and of those below it: name of the file and its text."""
    below = getattr(command, "commands", {})
    yield f"{'-'.join(path)}.1", "\n".join(_page(command, path, below)) + "\n"
    for name, each in below.items():
        yield from pages(each, (*path, name))


def _page(command: Any, path: tuple[str, ...], below: dict[str, Any]) -> Iterator[str]:
    words = " ".join(path)
    first, _, rest = (command.help or "").strip().partition("\n\n")
    options = [
        each for each in command.params if each.param_type_name == "option" and not getattr(each, "hidden", False)
    ]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    yield f'.TH "{"-".join(path).upper()}" 1 "" "limn {_version()}"'
    yield f".SH NAME\n{_text('-'.join(path))} \\- {_text(first.partition('. ')[0].rstrip('.'))}"
    shown = " ".join(_argument(each) for each in arguments)
    yield f".SH SYNOPSIS\n.B {_text(words)}\n{'[OPTIONS] COMMAND' if below else f'[OPTIONS] {shown}'.strip()}"
    yield f".SH DESCRIPTION\n{_text(first)}"
    for paragraph in filter(None, rest.split("\n\n")):
        yield f".PP\n{_text(paragraph)}"
    if arguments:
        yield ".SH ARGUMENTS"
        yield from (f".TP\n.I {_argument(each)}\n{_text(getattr(each, 'help', None) or '')}" for each in arguments)
    if options:
        yield ".SH OPTIONS"
        yield from (f".TP\n.B {_text(', '.join(each.opts))}\n{_text(each.help or '')}" for each in options)
    if below:
        yield ".SH COMMANDS"
        for name, each in below.items():
            line = (each.help or "").strip().partition("\n")[0]
            yield f".TP\n.BR {_text('-'.join((*path, name)))} (1)\n{_text(line)}"
    yield f".SH EXIT STATUS\n{_text(STATUSES)}"
    if len(path) > 1:
        yield f".SH SEE ALSO\n.BR {_text('-'.join(path[:-1]))} (1)"


def _argument(parameter: Any) -> str:
    name = str(parameter.name).upper().rstrip("_")
    return f"{name}..." if parameter.nargs == -1 else name


def _text(text: str) -> str:
    """A text as roff takes it: hyphens as they are typed, and no line that begins with a control character."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def _version() -> str:
    try:
        return metadata.version("limn")
    except metadata.PackageNotFoundError:
        return ""
