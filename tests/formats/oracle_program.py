"""Reads exports with datumaro and labelformat; runs in an environment of theirs (`test_oracles.py`).

Takes a folder with an export in `<reader>/<format>` each as its argument, and prints for each the boxes that the reader
finds: `[[picture without extension, class, [left, top, width, height]], …]`.
"""

import json
import logging
import sys
from pathlib import Path


def datumaro(form, place):
    """The boxes that datumaro finds."""
    from datumaro.components.annotation import AnnotationType
    from datumaro.components.dataset import Dataset

    names = {"coco": "coco_instances", "yolo": "yolo", "voc": "voc_detection", "mot": "mot_seq", "cvat": "cvat"}
    folders = [place] if form in ("coco", "yolo", "voc") else sorted(each.parent for each in place.rglob(MARKS[form]))
    for folder in folders:
        found = Dataset.import_from(str(folder), names[form])
        classes = [each.name for each in found.categories()[AnnotationType.label]]
        for item in found:
            # An annotation of COCO with an outline is a polygon and a box of one id.
            boxes = {each.id for each in item.annotations if each.type is AnnotationType.bbox and form == "coco"}
            for each in item.annotations:
                is_double = each.type is AnnotationType.polygon and each.id in boxes
                is_left_out = is_double or each.attributes.get("outside")  # the end of a track
                if each.type in (AnnotationType.bbox, AnnotationType.polygon) and not is_left_out:
                    key = (
                        item.id
                        if form in ("coco", "yolo", "voc")
                        else f"{folder.name}/{item.attributes.get('frame', item.id)}"
                    )
                    yield key, classes[each.label], list(map(float, each.get_bbox()))


MARKS = {"mot": "seqinfo.ini", "cvat": "annotations.xml"}


def labelformat(form, place):
    """The boxes that labelformat finds."""
    from labelformat.formats import (
        COCOObjectDetectionInput,
        PascalVOCObjectDetectionInput,
        YOLOv8ObjectDetectionInput,
    )

    if form == "coco":
        inputs = [COCOObjectDetectionInput(each) for each in sorted(place.glob("annotations/*.json"))]
    elif form == "yolo":
        inputs = [YOLOv8ObjectDetectionInput(place / "data.yaml", split) for split in ("train", "val")]
    else:
        inputs = [PascalVOCObjectDetectionInput(place / "Annotations", "cod,eel")]
    for each in inputs:
        for label in each.get_labels():
            for found in label.objects:
                box = found.box
                corner = [box.xmin, box.ymin, box.xmax - box.xmin, box.ymax - box.ymin]
                yield Path(label.image.filename).stem, found.category.name, list(map(float, corner))


def main():
    """Read, and print."""
    logging.disable(logging.WARNING)
    top = Path(sys.argv[1])
    found = {
        f"{reader.__name__} {place.name}": list(reader(place.name, place))
        for reader in (datumaro, labelformat)
        for place in sorted((top / reader.__name__).iterdir())
    }
    sys.stdout.write("\n" + json.dumps(found))


main()
