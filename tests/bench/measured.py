"""The local stack that says what its memory holds: `python -m tests.bench.measured` for `python -m infra.local`.

On SIGUSR2 it writes what it counted into `LIMN_HOME/memory.json`: objects by type since its start, blocks and threads.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

MOST = 40
"""Types that are told, the most frequent first."""
_FILE = "memory.json"


def sample(stack):
    """Ask a stack that runs as this module; bytes that it has in memory, and what it counted."""
    path, pid = stack.home / _FILE, stack._process.pid
    path.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR2)
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    counted = json.loads(path.read_text()) if path.exists() else {}
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {"bytes": next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS")), **counted}


def _count(*_):
    gc.collect()
    types = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    target = Path(os.environ["LIMN_HOME"]) / _FILE
    told = {
        "objects": sum(types.values()),
        "blocks": sys.getallocatedblocks(),
        "heap": _heap(),
        "sqlite": _sqlite(),
        **_views(),
        "threads": threading.active_count(),
        "types": dict(types.most_common(MOST)),
    }
    part = target.with_suffix(".part")
    part.write_text(json.dumps(told))
    part.rename(target)


def _views():
    """Bytes that DuckDB holds of the views, and of documents that are kept unpacked: `LIMN_VIEW_MEMORY` bounds both."""
    from chalicelib.storage.view.database import engine

    held = engine._engine
    return {"duckdb": held.memory if held else 0, "documents": held.packs.memory if held else 0}


def told(found):
    """What a sample counted, as a line: bytes in MB, and the most frequent types of objects since the start."""
    sizes = {**{f"heap {name}": size for name, size in found["heap"].items()}, **_of_views(found)}
    types = ", ".join(f"{count:,} {name}" for name, count in list(found["types"].items())[:4])
    held = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in sizes.items())
    return f"{held} MB; {found['blocks']:,} blocks of Python; {types}"


def _of_views(found):
    return {name: found[name] for name in ("duckdb", "documents", "sqlite")}


def _sqlite():
    """Bytes that SQLite has in memory: pages of the emulator's file, 8 MB a connection at most, and statements."""
    found = re.search(r"/\S*(?:libsqlite3\.so|_sqlite3\.)\S*", Path("/proc/self/maps").read_text())
    library = ctypes.CDLL(found.group()) if found else None
    if library is None or not hasattr(library, "sqlite3_memory_used"):
        return 0
    library.sqlite3_memory_used.restype = ctypes.c_int64
    return int(library.sqlite3_memory_used())


def _heap():
    """What the C library's heaps hold: bytes in use, bytes that are free, and bytes of large blocks."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "open_memstream"):
        return {}
    text, size = ctypes.c_char_p(), ctypes.c_size_t()
    library.open_memstream.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(library.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    library.malloc_info(0, stream)
    library.fclose(stream)
    told = (text.value or b"").decode().rpartition("</heap>")[2]
    found = {
        name: int(value) for name, value in re.findall(r'<(?:total|system) type="(\w+)"[^>]*? size="(\d+)"/>', told)
    }
    return {
        "free": found.get("fast", 0) + found.get("rest", 0),
        "mapped": found.get("mmap", 0),
        "taken": found.get("current", 0),
    }


def main():
    """Run the local stack, and count when asked."""
    from infra.local.__main__ import main as serve

    signal.signal(signal.SIGUSR2, _count)
    serve()


if __name__ == "__main__":
    main()
