"""The folder of one local stack, `.limn`, which one process holds at a time; and what else keeps it from starting."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

LOCK = "lock"
PLACE = "local.json"
"""Where everything is and how to get in. It is written anew by each start."""
PREVIOUS = ("dynamodb.log", "s3")
"""What earlier releases kept in `.limn/data`."""


class CannotStart(Exception):
    """Why the stack does not start and what to do about it, in one sentence or two."""


def read_place(home: Path) -> dict[str, str]:
    """What the last start left in `local.json`; nothing where there is no such file, or it is damaged."""
    try:
        found = json.loads((home / PLACE).read_bytes())
    except (OSError, ValueError):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}


class Folder:
    """`.limn`, from `hold` until the process ends."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "data"
        self._lock = -1

    def lock(self, holder: str) -> None:
        """Create the folder and keep all other processes out of it.

        Args:
            holder: the name of the process, for the message that others get.

        Raises:
            CannotStart: another process holds it, or it cannot be written.
        """
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            with suppress(PermissionError):  # a folder of another user, who decides about it
                self.home.chmod(0o700)  # in it are the database, its keys and all objects
            self._lock = os.open(self.home / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as failure:
            raise CannotStart(
                f"{self.home} cannot be written: {failure.strerror}. LIMN_HOME names another place for it."
            ) from failure
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            other = os.pread(self._lock, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(self._lock)
            raise CannotStart(
                f"{self.home} is in use by {other}. Stop it, or give this one a folder of its own with LIMN_HOME."
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"process {os.getpid()} ({holder})\n".encode(), 0)

    def hold_temporary(self) -> None:
        """Keep temporary files in a folder of this stack, and remove those of a run that was killed.

        Raises:
            CannotStart: the folder cannot be made, or somebody else made it.
        """
        name = hashlib.sha256(str(self.home.resolve()).encode()).hexdigest()[:16]
        place = Path(tempfile.gettempdir()) / f"limn-{name}"
        try:
            if place.is_symlink() or (place.exists() and place.lstat().st_uid != os.getuid()):
                raise CannotStart(f"{place} was made by somebody else. Remove it, or name another place with TMPDIR.")
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=0o700, exist_ok=True)  # a child of the killed run may still write there
        except OSError as failure:
            raise CannotStart(f"{place} cannot be made: {failure.strerror}. TMPDIR names another place.") from failure
        tempfile.tempdir = os.environ["TMPDIR"] = str(place)

    def empty(self) -> None:
        """Remove all of it but the lock. Raises CannotStart: something cannot be removed."""
        try:
            for each in self.home.iterdir():
                if each.is_dir() and not each.is_symlink():
                    shutil.rmtree(each)
                elif each.name != LOCK:
                    each.unlink()
        except OSError as failure:
            raise CannotStart(f"{failure.filename} cannot be removed: {failure.strerror}.") from failure

    def refuse_previous(self) -> None:
        """Leave the data of a release alone that kept it in another form. Raises CannotStart: there is such data."""
        found = [name for name in PREVIOUS if (self.data / name).exists()]
        if found:
            raise CannotStart(
                f"{self.data / found[0]} is of an earlier release, which this one does not read. Start that release "
                f"and copy what you need with a client; then move {self.data} away, or name another folder with "
                "LIMN_HOME."
            )


def demand_ports(host: str, *ports: int) -> None:
    """Raise CannotStart unless the ports can be listened on."""
    for port in ports:
        try:
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
        except OSError as failure:
            raise port_refusal(host, port, failure) from None


def port_refusal(host: str, port: object, failure: OSError) -> CannotStart:
    """What is said where a port cannot be listened on."""
    return CannotStart(
        f"port {port} of {host} cannot be used: {failure.strerror or failure}. PORT=9000 make run takes "
        "another, and the one after it for S3; HOST names another address."
    )


def read_port(text: str) -> int:
    """The port that PORT names. Raises CannotStart where it or the next one is not a port."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65535:  # noqa: PLR2004 -- S3 is on the next one
        raise CannotStart(f"PORT is {text!r}; it must be a number from 1 to 65534.")
    return int(text)
