"""What a served model is asked and answers, whatever the convention."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")
Kind = Literal["detector", "interactor", "tracker", "embedder"]


class Model:
    """A model: a subclass has the method of its kind.

    Attributes:
        kind: what it does.
        name, version: as drafts remember it.
        prompts: what an interactor takes.
    """

    kind: Kind = "detector"
    name: str = "model"
    version: str | None = None
    prompts: tuple[str, ...] = ()

    def detect(self, image: Any, stream: str) -> dict[str, list[dict[str, Any]]]:
        """Detect: boxes and classes in the convention limn. Pictures with the same `stream` follow one another."""
        raise NotImplementedError

    def embed_picture(self, image: Any) -> Any:
        """Embed a picture once for an interactor; `segment` gets the result."""
        raise NotImplementedError

    def segment(self, picture: Any, points: list[dict[str, Any]], box: dict[str, float] | None) -> tuple[Any, float]:
        """Segment by clicks in fractions: a mask of the picture's size, and its confidence."""
        raise NotImplementedError

    def track(self, image: Any, boxes: list[dict[str, float]], states: list[Any] | None) -> tuple[list[Any], list[Any]]:
        """Track: boxes in fractions (None for a lost object) and states. Without states, tracking starts at `boxes`."""
        raise NotImplementedError

    def embed(self, images: list[Any]) -> list[list[float]]:
        """Embed: a vector for each picture."""
        raise NotImplementedError


class Recent(Generic[T]):
    """The last things by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        """The thing of a key; None where it is not there any more."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: str, thing: T) -> T:
        """Keep a thing; the one that was not used for longest goes."""
        with self._lock:
            self._kept[key] = thing
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return thing

    def find(self, key: str, make: Callable[[], T]) -> T:
        """The thing of a key, made where it is not there."""
        found = self.get(key)
        return self.put(key, make()) if found is None else found
