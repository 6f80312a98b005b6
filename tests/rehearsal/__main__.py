"""`make rehearse`: build, deploy, use, destroy, deploy again, upgrade; the figures go into docs/deployment.md.

`python -m tests.rehearsal --built` takes the zips of the rehearsal before.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import boto3

from infra import package
from tests.rehearsal.deployment import LACKING, STAGE, Rehearsed, Server, Stage

PLACE = package.ROOT / "build" / "rehearsal"
DOCUMENT = package.ROOT / "docs" / "deployment.md"
BEGIN, END = "<!-- rehearsal: begin -->", "<!-- rehearsal: end -->"
CLIENT = "awslambdaric==4.2.2"


def main() -> int:
    """Rehearse; 1 where something does not work."""
    began = time.monotonic()
    build, client = PLACE / "build", PLACE / "client"
    if "--built" not in sys.argv:
        _say("building")
        shutil.rmtree(PLACE, ignore_errors=True)
        run(sys.executable, "-m", "infra.package", "--stage", STAGE, "--into", str(build))
    python = package.interpreter(package.PYTHON)
    if python is None:
        _say(f"there is no Python {package.PYTHON} here, for which the zips are built")
        return 1
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--upgrade",
        "--target",
        str(client),
        CLIENT,
    )
    built = time.monotonic() - began
    server = Server(PLACE / "moto.log")
    try:
        return _rehearse(build, client, server, began, built)
    finally:
        server.stop()


def _rehearse(build: Path, client: Path, server: Server, began: float, built: float) -> int:
    from tests.rehearsal.journey import Journey, is_alive

    deployment = Rehearsed(STAGE, boto3.Session(), _say)
    given = {"EmailSender": "limn@example.org", "RequestsPerSecond": "50"}
    deployment.up(build, given)
    stage = Stage(build, client, server.places)
    try:
        before = _contents(build / "code")
        took = Journey(stage).play()
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
    write(f"The last rehearsal took {minutes:.0f} minutes, {built / 60:.1f} of them to build.\n\n{figures}")
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
    rows = ["| function | zip, MB unpacked | of 262 | cold start, s | memory, MB | of | disk, MB | of | invocations |"]
    rows.append("|---|---|---|---|---|---|---|---|---|")
    for name, each in sorted(stage.functions.items()):
        with zipfile.ZipFile(build / f"{'deployment' if name == 'api' else name}.zip") as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        peaks = each.peaks
        rows.append(
            f"| {name} | {size / 1e6:.0f} | {size / package.LARGEST_UNPACKED:.0%} | {max(peaks.cold, default=0):.1f} | "
            f"{peaks.memory / 2**20:.0f} | {each.memory >> 20} | {peaks.disk / 2**20:.0f} | {each.disk >> 20} | "
            f"{peaks.invocations} |"
        )
    lengths = sorted(((each.peaks.event, name) for name, each in stage.functions.items()), reverse=True)[:3]
    answers = sorted(((each.peaks.answer, name) for name, each in stage.functions.items()), reverse=True)[:3]
    largest = "; ".join(f"{size:,} ({name})" for size, name in [*lengths, *answers])
    jobs = ", ".join(f"{name} {seconds:.0f}" for name, seconds in took.items())
    lacking = "\n".join(f"- {what}: {how}" for what, how in LACKING.items())
    return (
        "\n".join(rows)
        + f"\n\nThe three largest events and the three largest answers, in bytes of JSON of 6,291,456: {largest}. "
        f"Seconds of each job: {jobs}.\n\nWhat moto lacks, and what checks it:\n\n{lacking}\n"
    )


def write(text: str) -> None:
    """Put the figures into the document."""
    document = DOCUMENT.read_text()
    head, _, rest = document.partition(BEGIN)
    _, _, tail = rest.partition(END)
    DOCUMENT.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")


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
