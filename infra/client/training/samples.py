"""The samples of a frozen version of a dataset: frames with their labels, in an order that shuffles and shards.

    dataset = Samples.of(client, project=3, uid="5a0c…", folder=Path("cache"))
    sample = dataset[0]
    sample.media, sample.frame, sample.labels

A version never changes, so what was downloaded once is kept in the folder. Nothing here needs PyTorch.
"""

from __future__ import annotations

import json
import random
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..cli import datasets
from ..failures import INCOMPLETE, Failure

if TYPE_CHECKING:
    from ..client import Client

Label = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """A frame of a media, and its localizations in fractions of the picture."""

    media: int
    frame: int
    labels: tuple[Label, ...] = field(default=(), compare=False)


class Samples(Sequence[Sample]):
    """Samples in the order of media and frames."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = sorted(samples, key=lambda each: (each.media, each.frame))

    @classmethod
    def of(cls, client: Client, project: int, uid: str, folder: Path) -> Samples:
        """The frames with labels of a version of a dataset; downloaded where the folder does not have it.

        Raises:
            Failure: there is no such version, or it cannot be exported.
        """
        place = folder / f"{uid}.zip"
        if not place.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _download(client, project, uid, place)
        with zipfile.ZipFile(place) as archive:
            return cls(list(samples_of(archive)))

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, place: Any) -> Any:
        return self._samples[place]

    def order(self, *, seed: int | None = None, shard: int = 0, shards: int = 1) -> list[int]:
        """The places of one shard's samples: media whole, so that each fragment is decoded by one worker, once.

        Args:
            seed: shuffles the media, and keeps the order of the frames in each; None keeps all in order.
            shard: the number of the shard, from 0.
            shards: how many there are; each sample is in one.

        Raises:
            Failure: there is no such shard.
        """
        if not 0 <= shard < shards:
            raise Failure(f"shard: {shard} is not one of 0 to {shards - 1}.")
        by_media: dict[int, list[int]] = {}
        for place, each in enumerate(self._samples):
            by_media.setdefault(each.media, []).append(place)
        media = list(by_media)
        if seed is not None:
            random.Random(seed).shuffle(media)  # noqa: S311 an order, no secret
        loads, mine = [0] * shards, set[int]()
        for number in sorted(media, key=lambda each: -len(by_media[each])):  # the longest first: shards of like length
            lightest = loads.index(min(loads))
            loads[lightest] += len(by_media[number])
            if lightest == shard:
                mine.add(number)
        return [place for number in media if number in mine for place in by_media[number]]


def samples_of(archive: zipfile.ZipFile) -> Iterator[Sample]:
    """The frames with labels in an export as JSON lines."""
    with archive.open("media.jsonl") as file:
        ids = {row["key"]: int(row["id"]) for row in map(json.loads, file)}
    found: dict[tuple[int, int], list[Label]] = {}
    with archive.open("localizations.jsonl") as file:
        for row in map(json.loads, file):
            found.setdefault((ids[row["media"]], int(row["frame"])), []).append(row)
    for (media, frame), labels in found.items():
        yield Sample(media, frame, tuple(labels))


def _download(client: Client, project: int, uid: str, place: Path) -> None:
    made = client.create_export(project, {"format": "jsonl", "dataset": uid, "frames": "none"})["uid"]
    pause = 0.1
    while not datasets.is_over(found := cast("dict[str, Any]", client.get_export(made))):
        time.sleep(pause)
        pause = min(pause * 1.5, 5)
    if found["status"] != "succeeded":
        raise Failure(found.get("message") or f"The export {found['status']}.", INCOMPLETE)
    datasets.download(client, lambda: cast("dict[str, Any]", client.get_export(made)), place, lambda _: None)


def write_predictions(client: Client, project: int, rows: Any, *, model: str, version: str) -> Any:
    """Write predictions as a layer of their own, which has the model and its version as its name.

    Args:
        client: the service.
        project: the project.
        rows: a table of localizations, as `Project.write` takes it, without `version`.
        model: the name of the model.
        version: its version.

    Returns:
        what was written. A layer of this name is written to again.
    """
    from .. import tables

    name = f"{model} {version}"
    layers = {each["name"]: each["id"] for each in client.get_version_list(project)}
    layer = layers.get(name)
    if layer is None:
        layer = int(client.create_version(project, {"name": name, "description": f"Predictions of {name}."})["id"])
    made = ({**row, "version": layer} for row in tables.rows_of(rows))
    return tables.write(client, "localization", project, list(made), is_dry=False, parallel=4)
