"""What this process shows of itself to other processes of its user."""

from __future__ import annotations

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def hide() -> None:
    """Close the memory and the environment of this process, which hold credentials, to processes of the same user.

    Linux makes the files of the process in `/proc` root's, and refuses `ptrace` and core dumps. A program that this
    process starts is not hidden.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
