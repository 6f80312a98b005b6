"""What ends a command, and the exit status of each."""

from __future__ import annotations

import importlib
import json
import shutil
import traceback
from collections.abc import Collection
from http import HTTPStatus
from pathlib import Path
from typing import Any

SERVICE_ERROR = 1
"""The service failed, or answered what this command does not understand."""
USAGE = 2
"""The command line is wrong, or a file that it names cannot be read or written."""
NOT_PERMITTED = 3
"""401 or 403: no token, a token that ended, or a missing permission."""
NOT_FOUND = 4
"""404 or 410."""
REFUSED = 5
"""Any other 4xx: the service refused the request, and says why."""
NO_CONNECTION = 6
"""The service could not be reached, or did not answer in time."""
INCOMPLETE = 7
"""Part of the work failed: a file was not uploaded, rows were refused, a job failed."""
INTERRUPTED = 130
ROOM = 1024**3
"""Free bytes of a disk below which downloads stop."""


def check_target(option: str, path: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is asked of the service.

    Raises:
        Failure: its folder does not exist, or it is a folder.
    """
    if path is None:
        return
    if path.is_dir():
        raise Failure(f"{option}: {path} is a folder. Give a file.")
    if not path.parent.is_dir():
        raise Failure(f"{option}: there is no folder {path.parent}.")


def check_room(folder: Path) -> None:
    """Raise NoRoom if the disk of a folder has less than `ROOM` left: a download may have no end."""
    if shutil.disk_usage(folder).free < ROOM:
        raise NoRoom(f"{folder}: less than 1 GiB of the disk would be left. Make room, or choose another disk.")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise Failure unless a value is one of the choices."""
    if value not in choices:
        raise Failure(f"{name}: {value!r} is not one of {', '.join(choices)}.")


def check_parallel(parallel: int) -> None:
    """Raise Failure unless at least one thing may be done at once."""
    if parallel < 1:
        raise Failure(f"parallel: {parallel} is below 1.")


def library(name: str, package: str | None = None) -> Any:
    """A module of a library that is installed beside `limn`.

    Raises:
        Failure: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        package = package or name.partition(".")[0]
        raise Failure(f"This needs the library {package}: pip install {package}") from None


def read_json(path: Path, text: str | None = None) -> Any:
    """The JSON of a file, or of its text where that was read.

    Raises:
        Failure: it is not JSON.
        OSError: the file cannot be read.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8") if text is None else text)
    except ValueError as error:
        raise Failure(f"{path} is not JSON: {error}") from None


def of_shape(error: Exception) -> Failure:
    """The failure for an answer of another shape than the service's, such as a list in the place of an object.

    It says where in this client that was noticed, for it may be an error of the client's own.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    message = f"The service answers what this command does not understand: {type(error).__name__}: {error}"
    return Failure(message[:500] + place, SERVICE_ERROR)


def of_file(error: OSError) -> Failure:
    """The failure for a file of this machine that cannot be read or written."""
    place = f"{error.filename}: " if error.filename else ""
    return Failure(f"{place}{error.strerror or error}")


class Failure(Exception):
    """Ends a command with a message and an exit status."""

    def __init__(self, message: str, status: int = USAGE, **members: Any) -> None:
        super().__init__(message)
        self.message, self.status, self.members = message, status, members


class NoRoom(Failure):
    """The disk has too little room for a download."""


def of_answer(status: int, message: str, **members: Any) -> Failure:
    """The failure for an HTTP status above 399, with further members."""
    code = SERVICE_ERROR
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        code = NOT_PERMITTED
    elif status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        code = NOT_FOUND
    elif HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        code = REFUSED
    return Failure(message, code, http_status=status, **members)
