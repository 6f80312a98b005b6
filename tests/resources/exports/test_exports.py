"""Exports, through HTTP."""

import pytest

from tests.resources.exports.samples import Dataset, document


@pytest.fixture
def dataset(api, project):
    return Dataset(api, project, pictures=False)


def test_coco_has_boxes_polygons_keypoints_and_tracks(dataset):
    track, _ = dataset.annotate()
    archive, export = dataset.export(format="coco", classes={"attribute": "Species"})
    made = document(archive, "annotations/instances_all.json")
    assert [each["name"] for each in made["categories"]] == ["box", "cod", "dot", "eel", "line"]
    print(made, export)
