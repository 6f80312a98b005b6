"""A frozen version of a dataset for PyTorch: `pip install '.[training]'` beside torch.

    dataset = limn.torch.Dataset(client, project=3, uid="5a0c…", folder=Path("cache"))
    loader = DataLoader(dataset, sampler=limn.torch.MediaSampler(dataset, seed=1), num_workers=4, collate_fn=list)

A sample is a picture, a tensor of 3 × height × width bytes, and the labels of its frame.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils import data

from .client import Client
from .training.frames import Frames
from .training.samples import Samples


class Dataset(data.Dataset[Any]):
    """The frames with labels of a version of a dataset."""

    def __init__(self, client: Client, project: int, uid: str, folder: Path) -> None:
        self._profile, self._folder = client.profile, folder
        self.samples = Samples.of(client, project, uid, folder)
        self._frames: Frames | None = None
        self._process = 0

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, place: int) -> tuple[Any, tuple[dict[str, Any], ...]]:
        if self._frames is None or self._process != os.getpid():  # connections are not shared with workers
            self._frames, self._process = Frames(Client(self._profile), self._folder / "frames"), os.getpid()
        sample = self.samples[place]
        picture = self._frames.read(sample.media, sample.frame)
        return torch.from_numpy(picture).permute(2, 0, 1), sample.labels

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_frames": None}


class MediaSampler(data.Sampler[int]):
    """The samples of one shard, shuffled by media: those of a media follow each other, as its frames are decoded.

    `shard` and `shards` are the rank and the number of processes that train together.
    """

    def __init__(self, dataset: Dataset, *, seed: int | None = None, shard: int = 0, shards: int = 1) -> None:
        self._order = dataset.samples.order(seed=seed, shard=shard, shards=shards)

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)
