"""`make docs`: writes docs/reference/ from the declarations."""

from __future__ import annotations

import json
import os
from pathlib import Path

from infra.local import aws


def main() -> None:
    """Write the pages; AWS in memory stands in for the tables that modules ask for when they are imported."""
    with aws.start():
        from infra.local.deploy import deploy

        os.environ.update(deploy(aws.REGION))
        from chalicelib.api.catalogue import OPERATIONS
        from chalicelib.api.reference import reference

        folder = Path(__file__).parent.parent / "docs" / "reference"
        pages = reference(OPERATIONS, json.loads((folder / "examples.json").read_text()))
        for old in folder.glob("*.md"):
            old.unlink()
        for name, text in pages.items():
            (folder / name).write_text(text)
        print(f"docs/reference: {len(OPERATIONS)} operations on {len(pages)} pages")


if __name__ == "__main__":
    main()
