"""Checks exports with kwcoco, python-dwca-reader, frictionless and ifdo, in their environment (`test_oracles.py`).

Prints for each document of KWCOCO the errors and warnings of its check, for each event the number of occurrences, and
what is wrong with the tables of Camtrap DP, and of each item of an iFDO the number of shapes.
"""

import json
import logging
import sys
import warnings
from pathlib import Path

import kwcoco
from dwca.read import DwCAReader
from frictionless import Package, system
from ifdo import iFDO

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
top = Path(sys.argv[1])
found = {"kwcoco": {}, "dwca": {}, "camtrapdp": {}, "ifdo": {}}
for path in sorted((top / "kwcoco").glob("*.kwcoco.json")):
    checked = kwcoco.CocoDataset(str(path)).validate(verbose=0)
    found["kwcoco"][path.name] = [str(each) for each in [*checked["errors"], *checked["warnings"]]]
with DwCAReader(str(top / "dwca")) as archive:
    for row in archive:
        found["dwca"][row.id] = len(row.extensions)
with system.use_context(trusted=True):
    package = Package(str(top / "camtrapdp" / "datapackage.json"))
    report = package.validate()
    found["camtrapdp"] = {
        "errors": report.flatten(["code", "note", "message"]),
        "rows": {task.name: task.stats["rows"] for task in report.tasks},
    }
for name, items in iFDO.load(top / "ifdo" / "ifdo.json").image_set_items.items():
    own = items if isinstance(items, list) else [items]
    found["ifdo"][name] = sum(len(each.coordinates) for item in own for each in item.image_annotations)
sys.stdout.write("\n" + json.dumps(found))
