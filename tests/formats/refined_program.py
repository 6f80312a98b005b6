"""Reads refined shapes of exports with datumaro; runs in an environment of its own (`test_oracles.py`).

Takes a folder with an export in `<format>` each as its argument, and prints for each the annotations that it finds:
`[[kind, class, numbers], …]`. Numbers are, of a mask, its pixels as places in the picture row by row; else the points.
"""

import json
import logging
import sys
from pathlib import Path

NAMES = {"coco": "coco", "cvat": "cvat", "masks": "voc_segmentation"}


def annotations(form, place):
    """The annotations that datumaro finds."""
    import numpy as np
    from datumaro.components.annotation import AnnotationType
    from datumaro.components.dataset import Dataset

    folder = next(place.rglob("annotations.xml")).parent if form == "cvat" else place
    found = Dataset.import_from(str(folder), NAMES[form])
    classes = [each.name for each in found.categories()[AnnotationType.label]]
    for item in found:
        for each in item.annotations:
            if each.attributes.get("outside"):
                continue
            label = classes[each.label] if each.label is not None else ""
            if each.type is AnnotationType.mask:
                yield "mask", label, np.flatnonzero(each.image).tolist()
            elif each.type in (AnnotationType.polyline, AnnotationType.polygon, AnnotationType.points):
                yield each.type.name, label, list(map(float, each.points))


def main():
    """Read, and print."""
    logging.disable(logging.WARNING)
    top = Path(sys.argv[1])
    found = {place.name: list(annotations(place.name, place)) for place in sorted(top.iterdir())}
    sys.stdout.write("\n" + json.dumps(found))


main()
