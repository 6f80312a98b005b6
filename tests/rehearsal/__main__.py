"""`make rehearse`: build, deploy, use, destroy, deploy again, upgrade; the figures go into docs/deployment.md.

`python -m tests.rehearsal --built` takes the zips of the rehearsal before; `--no-figures` leaves the document as it is.
"""

from __future__ import annotations

import functools
import operator
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import boto3

from infra import package
from tests.rehearsal.containers import LARGEST_PAYLOAD
from tests.rehearsal.deployment import LACKING, STAGE, Rehearsed, Server, Stage

PLACE = package.ROOT / "build" / "rehearsal"
DOCUMENT = package.ROOT / "docs" / "deployment.md"
BEGIN, END = "<!-- rehearsal: begin -->", "<!-- rehearsal: end -->"
CLIENT = "awslambdaric==4.2.2"


def main() -> int:
    """Rehearse; 1 where something does not work."""
    if sys.platform != "linux":
        _say("it measures processes by /proc, which Linux has")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which ends the server too
    began = time.monotonic()
    build, client, python = PLACE / "build", PLACE / "client", runtime()
    if "--built" not in sys.argv:
        _say(f"building for Python {python}")
        shutil.rmtree(PLACE, ignore_errors=True)
        run(sys.executable, "-m", "infra.package", "--stage", STAGE, "--python", python, "--into", str(build))
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target", str(client))
    run(str(package.interpreter(python)), *pip, CLIENT)
    built = time.monotonic() - began
    server = Server(PLACE / "moto.log")
    try:
        return _rehearse(build, client, server, began, built)
    finally:
        server.stop()


def _rehearse(build: Path, client: Path, server: Server, began: float, built: float) -> int:
    from tests.rehearsal import commands
    from tests.rehearsal.journey import Journey, is_alive
    from tests.resources.webhooks.receiver import Receiver

    receiver, deployment = Receiver(), Rehearsed(STAGE, boto3.Session(), _say)
    given = {"EmailSender": "limn@example.org", "RequestsPerSecond": "50"}
    given |= {"StoreOrigins": server.url, "ServiceOrigins": receiver.url}
    commands.run("infra.deploy", "check", STAGE, *(f"{name}={value}" for name, value in given.items()))
    deployment.up(build, given)
    stage = Stage(build, client, server.places)
    try:
        before = _contents(build / "code")
        took = Journey(stage, receiver).play()
        is_alive(stage)
        token = stage.token
        changed = [path for path, stamp in _contents(build / "code").items() if before.get(path) != stamp]
        assert not changed, f"functions wrote into their code: {changed[:3]}"
        figures = _figures(stage, build, took)
    finally:
        stage.close()
    _say("destroying, then deploying again on the same data")
    deployment.down(data=False)
    deployment.up(build, given)
    _ask_again(build, client, server, token)
    _say("deploying the next version, then pointing back to the one before")
    live = deployment.releases.current(deployment.functions())
    deployment.up(build, {"RequestsPerSecond": "60"})
    _ask_again(build, client, server, token)
    after = deployment.releases.current(deployment.functions())
    assert set(live.items()).isdisjoint(after.items()), "a version stayed live through a deployment"
    deployment.roll_back()
    assert deployment.releases.current(deployment.functions()) == live
    _ask_again(build, client, server, token)
    _say("destroying with all data")
    deployment.down(data=True)
    assert not boto3.client("dynamodb").list_tables()["TableNames"]
    assert not [name for name in boto3.client("sqs").list_queues().get("QueueUrls", []) if f"limn-{STAGE}" in name]
    minutes = (time.monotonic() - began) / 60
    took_all = f"took {minutes:.0f} minutes, {built / 60:.1f} of them to build for Python {runtime()}"
    if "--no-figures" not in sys.argv:
        write(f"The last rehearsal {took_all}.\n\n{figures}")
    _say(f"all of it works; {minutes:.1f} minutes")
    return 0


def _ask_again(build: Path, client: Path, server: Server, token: str) -> None:
    stage = Stage(build, client, server.places)
    try:
        stage.token = token
        assert stage.ask("GET", "Projects") is not None
    finally:
        stage.close()


def _figures(stage: Stage, build: Path, took: dict[str, float]) -> str:
    rows: list[tuple[object, ...]] = []
    for name, each in sorted(stage.functions.items()):
        with zipfile.ZipFile(build / f"{'deployment' if name == 'api' else name}.zip") as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        peaks, share, cold = each.peaks, f"{size / package.LARGEST_UNPACKED:.0%}", max(each.peaks.cold, default=0)
        memory = (peaks.memory >> 20, each.memory >> 20, peaks.disk >> 20, each.disk >> 20)
        rows.append((name, f"{size / 1e6:.0f}", share, f"{cold:.1f}", *memory, peaks.invocations))
    head = "function | zip, MB unpacked | of 262 | cold start, s | memory, MB | of | disk, MB | of | invocations"
    parts = [
        _table(head, rows),
        f"The six largest events and answers, of the {LARGEST_PAYLOAD:,} bytes that Lambda takes:",
    ]
    for what in ("events", "answers"):
        sizes: Counter[str] = functools.reduce(operator.or_, (getattr(f.peaks, what) for f in stage.functions.values()))
        parts.append(_table(f"{what} of | bytes of JSON", [(name, f"{size:,}") for name, size in sizes.most_common(6)]))
    parts.append(f"Seconds of each step: {', '.join(f'{name} {seconds:.0f}' for name, seconds in took.items())}.")
    lacking = "\n".join(f"- {what}: {how}" for what, how in LACKING.items())
    return "\n\n".join([*parts, "What moto lacks, and what checks it:", lacking, ""])


def _table(head: str, rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, " | ".join("---" for _ in head.split("|")), *(" | ".join(map(str, row)) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def write(text: str) -> None:
    """Put the figures into the document."""
    document = DOCUMENT.read_text()
    head, _, rest = document.partition(BEGIN)
    _, _, tail = rest.partition(END)
    DOCUMENT.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")


def runtime() -> str:
    """The version of Python to build for: Lambda's, or where this machine has none, that of this process."""
    return package.PYTHON if package.interpreter(package.PYTHON) else f"{sys.version_info[0]}.{sys.version_info[1]}"


def run(*words: str) -> None:
    """Run a program to its end."""
    subprocess.run(words, cwd=package.ROOT, check=True)


def _contents(folder: Path) -> dict[str, float]:
    own = [each for each in folder.iterdir() if each.suffix not in (".log", ".tmp")]
    files = [path for each in own for path in each.rglob("*") if path.is_file()]
    # machines with certificate authorities of their own add them to every bundle that they find
    return {str(path): path.stat().st_mtime for path in files if path.name != "cacert.pem"}


def _say(what: str) -> None:
    print(f"rehearse: {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
