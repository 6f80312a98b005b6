"""The mail that SES took: stored before the call is answered."""

from __future__ import annotations

import time
from typing import Any

from moto.ses.models import RawMessage, SESBackend

from infra.emulator.sqlite import database
from infra.emulator.sqlite.documents import Documents

_MEMBERS = ("id", "source", "destinations", "raw_data")
_original: list[Any] = []


class Sent(list[Any]):
    """The mails that SES took, in the place of moto's list: each is stored before the call is answered."""

    def __init__(self, region: str) -> None:
        super().__init__()
        self._region = region

    @property
    def _documents(self) -> Documents:
        """The documents of the database that is open now: the emulator may have restarted since."""
        return database.current().documents(f"mails/{self._region}")

    def append(self, mail: Any) -> None:
        """Store a mail; those of the simple interface, which the service does not use, are kept in memory only."""
        if isinstance(mail, RawMessage):
            number = f"{time.time_ns():020d} {mail.id}"
            self._documents.put(number, [getattr(mail, name) for name in _MEMBERS])
        super().append(mail)

    def restore(self) -> int:
        """Restore the stored mails. Returns their number."""
        self[:] = [RawMessage(*members) for _, members in self._documents.items()]
        return len(self)

    def clear(self) -> None:
        """Remove all mails."""
        self._documents.clear()
        super().clear()


def restore(backend: SESBackend) -> int:
    """Bring the stored mails of a region back; how many there are."""
    return backend.sent_messages.restore() if isinstance(backend.sent_messages, Sent) else 0


def install() -> None:
    """Give the SES backends made from now on a stored list of what was sent."""
    if _original:
        return
    _original.append(SESBackend.__init__)

    def init(self: SESBackend, region_name: str, account_id: str) -> None:
        _original[0](self, region_name, account_id)
        self.sent_messages = Sent(region_name)

    SESBackend.__init__ = init


def uninstall() -> None:
    """Put moto back as it was."""
    if _original:
        SESBackend.__init__ = _original.pop()
