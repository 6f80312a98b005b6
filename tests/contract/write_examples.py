"""`make docs`: writes docs/reference/examples.json from the calls of the documented survey."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.environment import VARIABLES

TARGET = Path(__file__).parents[2] / "docs" / "reference" / "examples.json"


def main() -> None:
    """Make the calls on a service in this process, and write them."""
    os.environ.update(VARIABLES)
    from tests.contract.documented_calls import examples, record

    TARGET.write_text(json.dumps(examples(record()), indent=1, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
