"""As `stocked`, but no child can be made ready."""

import os

from tests.video.stocked import state, warm_up

__all__ = ["rehearse", "state", "warm_up"]


def rehearse() -> None:
    os.abort()
