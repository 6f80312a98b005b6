"""Frames and labels for training: the pixels of GetFrame, and every sample once."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from PIL import Image

from chalicelib.core.models.definitions import ResolutionConfig
from infra.client.failures import Failure
from infra.client.training.frames import Frames, stream_of
from infra.client.training.samples import Sample, Samples, write_predictions
from tests.resources.media.samples import media_type, transcode, video


@pytest.fixture
def film(api, project):
    """A video of 75 frames with two streaming files."""
    type_ = media_type(project, streaming_config=[ResolutionConfig(resolution=32), ResolutionConfig(resolution=64)])
    said = transcode(api, project, type_, video(75, 96, 64)).json
    api.drain()
    return said["media_id"]


def shown(api, media, frame):
    said = api.get(f"GetFrame/{media}", frames=frame, format="png")
    assert said.status == 200, said.body
    return np.asarray(Image.open(io.BytesIO(said.body)).convert("RGB"))


@pytest.mark.slow
def test_frames_are_those_of_get_frame_pixel_by_pixel_and_are_fetched_once(client, api, film, tmp_path):
    frames = Frames(client, tmp_path)
    for number in (0, 1, 24, 25, 26, 49, 74, 3):
        assert np.array_equal(frames.read(film, number), shown(api, film, number)), number
    assert frames.fetched > 0
    again = Frames(client, tmp_path)
    assert np.array_equal(again.read(film, 26), shown(api, film, 26))
    assert again.fetched == 0
    with pytest.raises(Failure, match="no frame 75"):
        frames.read(film, 75)


def test_spans_are_found_by_frame():
    boxes = [{"name": name, "offset": 10 * n, "size": 10} for n, name in enumerate(("ftyp", "moov"))]
    for n, (first, count) in enumerate(((0, 25), (25, 25), (50, 3))):
        boxes.append({"name": "moof", "offset": 20 + 20 * n, "size": 10, "frame_start": first, "frame_samples": count})
        boxes.append({"name": "mdat", "offset": 30 + 20 * n, "size": 10})
    stream = stream_of("u", {"segments": boxes})
    assert stream.header == 20
    assert [stream.span_of(frame).start for frame in (0, 24, 25, 50, 52)] == [20, 20, 40, 60, 60]
    with pytest.raises(Failure):
        stream.span_of(53)


@pytest.mark.parametrize(("shards", "seed"), list(itertools.product((1, 2, 3, 7), (None, 1, 2))))
def test_shards_have_every_sample_once_and_media_whole(shards, seed):
    samples = Samples([Sample(media, frame) for media in range(1, 7) for frame in range(media * 3)])
    orders = [samples.order(seed=seed, shard=shard, shards=shards) for shard in range(shards)]
    assert sorted(itertools.chain(*orders)) == list(range(len(samples)))
    for order in orders:
        media = [samples[place].media for place in order]
        runs = [number for number, _ in itertools.groupby(media)]
        assert len(runs) == len(set(runs))
        assert all(
            [samples[place].frame for place in group] == sorted(samples[place].frame for place in group)
            for group in [[place for place in order if samples[place].media == number] for number in runs]
        )
    assert orders == [samples.order(seed=seed, shard=shard, shards=shards) for shard in range(shards)]
    with pytest.raises(Failure, match="shard: "):
        samples.order(shard=shards, shards=shards)


@pytest.mark.slow
def test_a_frozen_version_gives_its_samples_and_predictions_go_into_a_layer(client, api, project, film, tmp_path):
    types = [each["id"] for each in api.get(f"MediaTypes/{project}").json]
    kind = api.made(f"LocalizationTypes/{project}", {"name": "Box", "dtype": "box", "media_types": types})
    corners = dict.fromkeys(("x", "y", "width", "height"), 0.25)
    boxes = [{"type": kind, "media_id": film, "frame": frame, **corners} for frame in (3, 3, 60)]
    api.made(f"Localizations/{project}", boxes)
    uid = client.create_dataset(project, {"name": "v1"})["uid"]
    api.drain()
    api.made(f"Localizations/{project}", boxes[:1])  # after the version was frozen
    made = client.create_export

    def create(*given):
        answer = made(*given)
        api.drain()
        return answer

    client.create_export = create
    samples = Samples.of(client, project, uid, tmp_path)
    assert [(each.media, each.frame, len(each.labels)) for each in samples] == [(film, 3, 2), (film, 60, 1)]
    assert samples[0].labels[0]["x"] == 0.25
    client.create_export = None
    assert list(Samples.of(client, project, uid, tmp_path)) == list(samples)
    rows = [{"type": kind, "media_id": film, "frame": 60, **corners}]
    done = write_predictions(client, project, rows, model="fishnet", version="2")
    write_predictions(client, project, rows, model="fishnet", version="2")
    assert len(done.created) == 1
    [layer] = [each["id"] for each in client.get_version_list(project) if each["name"] == "fishnet 2"]
    assert client.project(project).localizations(version=[layer]).count() == 2


@pytest.mark.slow
def test_pytorch_gets_the_same_pixels_from_workers(client, api, project, film, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not in the lock")
    from infra.client import torch as limn_torch

    samples = Samples([Sample(film, frame) for frame in (3, 30, 60)])
    monkeypatch.setattr(Samples, "of", classmethod(lambda *_: samples))
    dataset = limn_torch.Dataset(client, project, "uid", tmp_path)
    sampler = limn_torch.MediaSampler(dataset, seed=1)
    loader = torch.utils.data.DataLoader(dataset, sampler=sampler, batch_size=1, collate_fn=list, num_workers=0)
    for place, [(picture, _)] in zip(sampler, loader, strict=True):
        assert np.array_equal(picture.permute(1, 2, 0).numpy(), shown(api, film, samples[place].frame))
