"""Checks exports with kwcoco and python-dwca-reader; runs in an environment of theirs (`test_oracles.py`).

Prints for each document of KWCOCO the errors and warnings of its check, and for each event the number of occurrences.
"""

import json
import logging
import sys
import warnings
from pathlib import Path

import kwcoco
from dwca.read import DwCAReader

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
top = Path(sys.argv[1])
found = {"kwcoco": {}, "dwca": {}}
for path in sorted((top / "kwcoco").glob("*.kwcoco.json")):
    checked = kwcoco.CocoDataset(str(path)).validate(verbose=0)
    found["kwcoco"][path.name] = [str(each) for each in [*checked["errors"], *checked["warnings"]]]
with DwCAReader(str(top / "dwca")) as archive:
    for row in archive:
        found["dwca"][row.id] = len(row.extensions)
sys.stdout.write("\n" + json.dumps(found))
