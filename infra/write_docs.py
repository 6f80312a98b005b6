"""`make docs`: writes docs/reference.md from the declarations."""

from __future__ import annotations

import os
from pathlib import Path

from infra.local import aws


def main() -> None:
    """Write the reference; AWS in memory stands in for the tables that the modules ask for when they are imported."""
    with aws.start():
        from infra.local.deploy import deploy

        os.environ.update(deploy(aws.REGION))
        from chalicelib.api.catalogue import OPERATIONS
        from chalicelib.api.reference import reference

        target = Path(__file__).parent.parent / "docs" / "reference.md"
        target.write_text(reference(OPERATIONS))
        print(f"{target.name}: {len(OPERATIONS)} operations")


if __name__ == "__main__":
    main()
