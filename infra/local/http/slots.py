"""The requests that run at the same time: so many, and of one tenant a quarter of them.

    with slots.turn(tenant) as turn:     waits for a slot
        ...
        turn.give_back()                 from another thread: the request was answered 504, though its work goes on

The slot of such a request serves others at once. It still counts for its tenant until its work ends, so that work that
nobody waits for any more stays within the tenant's share.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from types import TracebackType
from typing import Self
from weakref import WeakValueDictionary

from chalicelib.errors import Unavailable


class SlotTimeout(Unavailable):
    """No slot was free, or the function took longer than API Gateway waits."""

    status = 504


class Slots:
    """The slots of a gateway. `most` in all, `share` of one tenant."""

    def __init__(self, most: int, share: int) -> None:
        self.most, self.share = most, share
        self.free = threading.Semaphore(most)
        self._shares: WeakValueDictionary[Hashable, threading.Semaphore] = WeakValueDictionary()
        self._lock = threading.Lock()

    def turn(self, tenant: Hashable, seconds: float) -> Turn:
        """A turn of a tenant's, which waits for a slot for some seconds; one of None has no share."""
        if tenant is None:
            return Turn(self.free, threading.Semaphore(1), seconds)
        with self._lock:
            share = self._shares.get(tenant)
            if share is None:
                share = self._shares[tenant] = threading.Semaphore(self.share)
        return Turn(self.free, share, seconds)

    def take_all(self, seconds: float) -> None:
        """Wait until no request runs, and let no other begin."""
        end = time.monotonic() + seconds
        for _ in range(self.most):
            self.free.acquire(timeout=max(0.0, end - time.monotonic()))


class Turn:
    """The turn of one request. Raises SlotTimeout where no slot is free in its time, or it was given back before."""

    def __init__(self, free: threading.Semaphore, share: threading.Semaphore, seconds: float) -> None:
        self._free, self._share = free, share
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._is_over = self._has_slot = False

    def __enter__(self) -> Self:
        """Wait for a slot."""
        self._acquire(self._share)
        try:
            self._acquire(self._free)
        except SlotTimeout:
            self._share.release()
            raise
        with self._lock:
            self._has_slot = True
        if self._is_over:
            self.__exit__(None, None, None)
            raise _timeout()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Free the slot, and the tenant's share of it."""
        self.give_back()
        self._share.release()

    def give_back(self) -> None:
        """Free the slot, if it is not free yet; the work of the request still counts for its tenant."""
        with self._lock:
            self._is_over = True
            has_slot, self._has_slot = self._has_slot, False
        if has_slot:
            self._free.release()

    def _acquire(self, semaphore: threading.Semaphore) -> None:
        if not semaphore.acquire(timeout=max(0.0, self._end - time.monotonic())):
            raise _timeout()


def _timeout() -> SlotTimeout:
    return SlotTimeout("Endpoint request timed out")
