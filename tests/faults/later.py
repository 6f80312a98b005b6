"""Work that is due in days, done now."""

from datetime import UTC, datetime

import pytest

from chalicelib.core.resource import timestamp
from chalicelib.maintenance import upkeep
from chalicelib.resources.media.files import archiving


def later(passed, do):
    """Do something as if so much time had passed, for all that asks what is due."""

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + passed

    with pytest.MonkeyPatch.context() as patch:
        for module in (upkeep, archiving):
            patch.setattr(module, "datetime", Later)
        patch.setattr(upkeep, "now", lambda: timestamp(Later.now(UTC)))
        do()
