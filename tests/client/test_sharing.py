"""Frozen versions for other tools, with stand-ins that take what the libraries' documentation says."""

from __future__ import annotations

import io
import pickle
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from infra.client.client import Client
from infra.client.configuration import Profile
from infra.client.failures import Failure
from infra.client.training import frames as client_frames
from infra.client.training import sharing
from infra.client.training.samples import Sample

BOX = {"x": 0.25, "y": 0.5, "width": 0.5, "height": 0.25, "attributes": {"Species": "Cod"}}
DOT = {"x": 0.5, "y": 0.5, "attributes": {"Species": "Hare"}}
SAMPLES = [Sample(7, 0, (BOX, DOT)), Sample(7, 3, ()), Sample(8, 0, ({**BOX, "attributes": {}},))]


class Frames:
    """Pictures of 8 × 4 pixels whose brightness tells which frame it is."""

    read_count = 0

    def read(self, media, frame):
        self.read_count += 1
        return np.full((4, 8, 3), 10 * media + frame, np.uint8)


@pytest.fixture
def library(monkeypatch):
    """Puts a stand-in in the place of a library that is not installed here."""

    def make(name, **members):
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)

    return make


def test_hugging_face_gets_rows_of_object_detection(library):
    class Dataset(list):
        @classmethod
        def from_generator(cls, generator, *, features, gen_kwargs):
            made = cls(generator(**gen_kwargs))
            assert all(row.keys() == features.keys() for row in made)
            return made

    library(
        "datasets", Dataset=Dataset, Features=dict, Value=str, Image=str, Sequence=lambda of, length=-1: (of, length)
    )
    made = sharing.huggingface(SAMPLES, Frames(), "Species")
    assert [(row["media"], row["frame"]) for row in made] == [(7, 0), (7, 3), (8, 0)]
    assert made[0]["objects"] == {"bbox": [[2.0, 2.0, 4.0, 1.0]], "category": ["Cod"]}
    assert made[1]["objects"] == {"bbox": [], "category": []}
    assert made[2]["objects"]["category"] == [""]
    picture = Image.open(io.BytesIO(made[1]["image"]["bytes"]))
    assert (picture.size, picture.getpixel((0, 0))) == ((8, 4), (73, 73, 73))


def test_fiftyone_gets_pictures_and_relative_boxes_and_writes_pictures_once(library, tmp_path):
    class Held(dict):
        def __init__(self, **members):
            super().__init__(members)

    class Dataset:
        def __init__(self, name):
            self.name, self.samples = name, []

        def add_samples(self, samples):
            self.samples += samples

    kinds = {"Sample": Held, "Detection": SimpleNamespace, "Detections": SimpleNamespace}
    library("fiftyone", Dataset=Dataset, **kinds)
    frames = Frames()
    for _ in range(2):
        made = sharing.fiftyone(SAMPLES, frames, "Species", tmp_path, name="dive 1")
    assert (made.name, len(made.samples), frames.read_count) == ("dive 1", 3, 3)
    first = made.samples[0]
    [detection] = first["ground_truth"].detections
    assert (detection.label, detection.bounding_box) == ("Cod", [0.25, 0.5, 0.5, 0.25])
    assert Image.open(first["filepath"]).getpixel((0, 0)) == (70, 70, 70)


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(Failure, match="pip install datasets"):
        sharing.huggingface([], Frames(), "Species")


def test_the_library_itself_reads_frames_of_a_client_and_their_samples(tmp_path, monkeypatch):
    """It pickles what it is given, to know the same data again."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    pytest.importorskip("datasets", reason="datasets is not in the lock")
    frames = client_frames.Frames(Client(Profile("http://127.0.0.1:9", "a")), tmp_path)
    monkeypatch.setattr(client_frames.Frames, "read", lambda _, media, frame: Frames().read(media, frame))
    made = sharing.huggingface(SAMPLES, frames, "Species")
    assert made[0]["objects"] == {"bbox": [[2.0, 2.0, 4.0, 1.0]], "category": ["Cod"]}
    assert made[2]["image"].getpixel((0, 0)) == (80, 80, 80)


def test_frames_go_to_another_process_without_their_connections(tmp_path):
    frames = client_frames.Frames(Client(Profile("http://127.0.0.1:9", "a")), tmp_path)
    copied = pickle.loads(pickle.dumps(frames))
    assert (copied._client.profile, copied._folder) == (Profile("http://127.0.0.1:9", "a"), tmp_path)
