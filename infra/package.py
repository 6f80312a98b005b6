"""`make package`: what a deployment consists of, in `build/`.

    deployment.zip    the API: app.py, chalicelib and what they import, packed by Chalice
    media.zip         the same for the operations that decode media, with FFmpeg instead of DuckDB
    transcode.zip …   one for each queue function: functions, chalicelib and what they import
    app.json          the stack of API and functions: Chalice's template with functions.yaml and alarms.yaml merged in
    stateful.json     the stack of what the service keeps
    batch.json        the stack of where algorithms without a job cluster run; optional
    analytics.json    the stack of the tables for Athena; optional

Dependencies are wheels of the versions in requirements.txt for Lambda's Linux, whatever this machine is: pip takes them
from its cache or from `PIP_FIND_LINKS` where there is no network. Chalice would pick them for the Python it runs on, so
it gets them ready in `vendor/`, and an empty list to fetch.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra.stack.merging import merged
from infra.templates import ANALYTICS, BATCH, STATEFUL, load

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build"
PYTHON = "3.13"
"""Lambda's runtime. Chalice and all wheels are ready for 3.14 too: `--python 3.14`."""
LARGEST_UNPACKED = 250 * 1024 * 1024
"""Lambda's limit on the contents of a zip."""
MAX_SHARE = 0.8
"""The largest share of it that a zip may take, so that the next release of a library does not stop deployment."""
LARGEST_TEMPLATE = 1024 * 1024
"""CloudFormation's limit on a template that lies in S3."""
MACHINES = {"x86_64": "x86_64", "arm64": "aarch64"}

# Chalice's command line and what only that needs; the API gets Chalice's own run-time part from Chalice.
_TOOLS = frozenset(
    {
        *("ansicon", "blessed", "chalice", "click", "editor", "inquirer", "jinxed", "pip", "readchar", "runs"),
        *("setuptools", "wcwidth", "wheel", "xmod"),
        "pycparser",  # reads C where modules of cffi are built
    }
)
_API_ONLY = frozenset({"swagger-ui-bundle", "joserfc", "jinja2", "markupsafe", "luqum", "ply"})
_SEARCHES = frozenset({"luqum", "ply"})
"""What reads search strings; the queries of exports and of webhooks have them."""
_TEMPLATES = frozenset({"jinja2", "markupsafe"})
"""What renders hosted templates; the rules of the webhook function launch algorithms that have one."""
_SERVICES = frozenset({"batch", "dynamodb", "events", "kms", "s3", "secretsmanager", "sesv2", "sqs", "sts"})
"""The services whose descriptions botocore keeps, of some 400: 2 MB instead of 28."""
_IMPORTS = frozenset({"pi-heif"})
"""What only the import of images needs, which is the transcode function's."""
_PICTURES = frozenset({"av", "pillow"}) | _IMPORTS
_VIEWS = frozenset({"duckdb", "fsspec", "simsimd"})
"""What reads views. FFmpeg and DuckDB together fill a zip, so no function has both (decision 195)."""
_MEDIA = _PICTURES | _VIEWS
_QUEUES = frozenset({"aws-lambda-powertools"})
"""What the functions of queues and schedules use."""


@dataclass(frozen=True)
class Artifact:
    """A zip: its name, and the distributions of requirements.txt that it does without."""

    name: str
    without: frozenset[str]


API_FUNCTIONS = {
    "api": Artifact("deployment", _TOOLS | _QUEUES | _IMPORTS | {"av"}),
    "media": Artifact("media", _TOOLS | _QUEUES | _API_ONLY | _IMPORTS | _VIEWS),
}
"""The zips of the functions behind the gateway, by `Operation.function`; all hold the same code."""
QUEUE_FUNCTIONS = (
    Artifact("transcode", _TOOLS | _API_ONLY | _VIEWS),
    Artifact("clip", _TOOLS | _API_ONLY | _IMPORTS | _VIEWS),
    Artifact("dataset", _TOOLS | _IMPORTS | {"av"} | (_API_ONLY - _SEARCHES)),
    Artifact("source", _TOOLS | _API_ONLY | _VIEWS),
    Artifact("email", _TOOLS | _API_ONLY | _MEDIA),
    Artifact("purge", _TOOLS | _API_ONLY | _PICTURES),
    Artifact("webhook", _TOOLS | _PICTURES | (_API_ONLY - _SEARCHES - _TEMPLATES)),
    Artifact("compact", _TOOLS | _API_ONLY | _PICTURES),
    Artifact("jobs", _TOOLS | _MEDIA | (_API_ONLY - _SEARCHES)),
    Artifact("upkeep", _TOOLS | _API_ONLY | _PICTURES),
)


def main() -> None:
    """Build everything and say how large it is."""
    parser = argparse.ArgumentParser(prog="make package", description="Build zips and templates into build/.")
    parser.add_argument("--stage", default="dev")
    parser.add_argument("--architecture", default="x86_64", choices=sorted(MACHINES))
    parser.add_argument("--python", default=PYTHON, help="the version of Lambda's runtime")
    parser.add_argument("--into", default=BUILD, type=Path, help="the folder, which is emptied first")
    given = parser.parse_args()
    os.environ.update(placeholders() | dict(os.environ))  # the declarations are read with the settings
    build: Path = given.into
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    # All that a zip may need is installed once and copied from there.
    installed = install(pins(given.python, given.architecture), given.python, given.architecture, build)
    chalice_template = package_api(installed, given.stage, build, given.python)
    made: dict[frozenset[str], Path] = {}
    for artifact in QUEUE_FUNCTIONS:
        target = build / f"{artifact.name}.zip"
        if artifact.without in made:
            shutil.copy(made[artifact.without], target)
        else:
            package_function(artifact, installed, target, given.python)
            made[artifact.without] = target
    template = merged(chalice_template)
    for name, value in (
        ("Architecture", given.architecture),
        ("Runtime", f"python{given.python}"),
        ("Stage", given.stage),
    ):
        template["Parameters"][name]["Default"] = value
    write_template(build / "app.json", template)
    for path in (STATEFUL, BATCH, ANALYTICS):
        beside = load(path)
        beside["Parameters"]["Stage"]["Default"] = given.stage
        write_template(build / f"{path.stem}.json", beside)
    shutil.rmtree(build / "work")
    report(build)


def pins(python: str, architecture: str) -> dict[str, str]:
    """The distributions that requirements.txt names for Lambda: canonical name to `name==version --hash=…`.

    pip reads markers for the Python it runs on, so they are read here.
    """
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "os_name": "posix",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": MACHINES[architecture],
    }
    found: dict[str, str] = {}
    lock = re.sub(r"#.*", "", (ROOT / "requirements.txt").read_text()).replace("\\\n", "")
    for line in filter(None, map(str.strip, lock.splitlines())):
        text, *hashes = map(str.strip, line.split("--hash="))
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            pin = [f"{requirement.name}{requirement.specifier}", *hashes]
            found[canonicalize_name(requirement.name)] = " --hash=".join(pin)
    return found


def install(wanted: dict[str, str], python: str, architecture: str, build: Path) -> dict[str, Path]:
    """Unpack the wheels for Lambda, each into a folder of its own.

    Returns:
        The folder of each distribution, without what is only for tools: entry points, caches, tests of its own.
    """
    _say(f"taking wheels for Python {python} on {architecture}")
    wheels = build / "work" / "wheels"
    # Amazon Linux 2023 has glibc 2.34
    platforms = [f"manylinux_2_{minor}_{MACHINES[architecture]}" for minor in range(34, 16, -1)]
    platforms.append(f"manylinux2014_{MACHINES[architecture]}")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python, "--dest", str(wheels)]
    command += [word for platform in platforms for word in ("--platform", platform)]
    pinned = build / "work" / "requirements.txt"
    pinned.parent.mkdir(parents=True, exist_ok=True)
    pinned.write_text("".join(f"{pin}\n" for name, pin in wanted.items() if name not in _TOOLS))
    command += ["--require-hashes", "--requirement", str(pinned)]
    subprocess.run(command, check=True)  # noqa: S603 nothing of it comes from outside
    folders: dict[str, Path] = {}
    for wheel in sorted(wheels.glob("*.whl")):
        name = canonicalize_name(wheel.name.partition("-")[0])
        folders[name] = build / "work" / "installed" / name
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folders[name])
        _unfold(folders[name])
        _prune(folders[name])
    return folders


def _prune(folder: Path) -> None:
    """Take away what a function never reads."""
    unread = ["tests/", "__pycache__/", "*.data/", "*.pyi", "*.pxd", "*.pyx", "*.h", "*.map", "*.dist-info/RECORD"]
    # what nothing here calls: DuckDB's interface of Spark, Pillow's fonts and windows, resources of boto3, other builds
    unread += ["duckdb/experimental/", "PIL/_imagingft.*", "PIL/_imagingtk.*", "pillow.libs/libfreetype-*"]
    unread += ["pillow.libs/libharfbuzz-*", "boto3/data/", "boto3/examples/", "swagger-ui-es-bundle*", "swagger-ui.js"]
    unread += ["swagger-ui-standalone-preset.js", "aws_lambda_powertools/event_handler/openapi/swagger_ui/"]
    for path in [path for pattern in unread for path in folder.rglob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    services = folder / "botocore" / "data"
    if services.is_dir():
        for path in services.iterdir():
            if path.is_dir() and path.name not in _SERVICES:
                shutil.rmtree(path)


def _unfold(folder: Path) -> None:
    """Move what a wheel keeps under `….data/purelib` and `platlib` to where an installer would put it."""
    for path in [*folder.glob("*.data/purelib"), *folder.glob("*.data/platlib")]:
        shutil.copytree(path, folder, dirs_exist_ok=True)


def package_api(installed: dict[str, Path], stage: str, build: Path, python: str) -> dict[str, Any]:
    """Have Chalice pack the app, add dependencies and bytecode for each function behind the gateway; its template."""
    _say("packing the API")
    project = build / "work" / "api"
    _copy_code(project, ("app.py", "chalicelib", ".chalice/config.json"))
    write = [sys.executable, "-c", "from chalicelib.api import site; site.build_schema()"]
    subprocess.run(write, check=True, cwd=project, env={**os.environ, "PYTHONPATH": ""})  # noqa: S603 nothing from outside
    (project / "requirements.txt").write_text("")
    out = build / "work" / "chalice"
    command = [str(Path(sys.executable).with_name("chalice")), "package", "--stage", stage, str(out)]
    subprocess.run(command, check=True, cwd=project, stdout=subprocess.DEVNULL)  # noqa: S603
    for artifact in API_FUNCTIONS.values():
        whole = build / "work" / artifact.name
        with zipfile.ZipFile(out / "deployment.zip") as archive:
            archive.extractall(whole)
        _copy_dependencies(artifact, installed, whole)
        write_zip(whole, build / f"{artifact.name}.zip", python)
    template: dict[str, Any] = json.loads((out / "sam.json").read_text())
    return template


def placeholders() -> dict[str, str]:
    """Variables with which the app can be imported where nothing of it is deployed."""
    from infra.local.deploy import variable

    return {**{variable(name): "unknown" for name in load(STATEFUL)["Outputs"]}, "AWS_DEFAULT_REGION": "us-east-1"}


def package_function(artifact: Artifact, installed: dict[str, Path], target: Path, python: str) -> None:
    """Pack a queue function; those that need the same are the same."""
    _say(f"packing {artifact.name}")
    folder = target.parent / "work" / artifact.name
    _copy_code(folder, ("chalicelib", "functions"))
    shutil.rmtree(folder / "chalicelib" / "console")  # the API alone serves it
    _copy_dependencies(artifact, installed, folder)
    write_zip(folder, target, python)


def write_zip(folder: Path, target: Path, python: str) -> None:
    """Pack a folder with its bytecode: the same contents are the same bytes, so an unchanged one is not sent again."""
    compile_sources(folder, python)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        for path in _files(folder):
            entry = zipfile.ZipInfo(str(path.relative_to(folder)), (2000, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if os.access(path, os.X_OK) else 0o644) << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, compresslevel=4)


def compile_sources(folder: Path, python: str) -> None:
    """Compile a folder for Lambda, whose disk takes no bytecode: every cold start would compile all that it imports.

    That is two thirds of the time to the first answer. It takes a Python of the very version; where this machine has
    none, the zips work and start later.
    """
    found = interpreter(python)
    if found is None:
        _say(f"there is no Python {python} here to compile for: cold starts will take a second longer")
        return
    words = [found, "-I", "-m", "compileall", "-q", "-q", "--invalidation-mode", "unchecked-hash"]
    words += ["-s", str(folder), "-p", "/var/task", str(folder)]
    # what cannot be compiled is of no use to anybody: examples, templates of code
    subprocess.run(words, check=False, env={**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S603 nothing from outside


def interpreter(python: str) -> str | None:
    """A Python of a version, such as 3.13; None where this machine has none."""
    name = f"python{python}"
    homes = sorted(Path.home().glob(f".pyenv/versions/{python}.*/bin/{name}"))
    here = sys.executable if python == f"{sys.version_info[0]}.{sys.version_info[1]}" else None
    for candidate in (*map(str, homes), shutil.which(name), here):
        # a shim of pyenv is there for every version that any project has
        if candidate and subprocess.run([candidate, "-V"], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return candidate
    return None


def _copy_code(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)


def _copy_dependencies(artifact: Artifact, installed: dict[str, Path], folder: Path) -> None:
    for name, source in installed.items():
        if name not in artifact.without:
            shutil.copytree(source, folder, dirs_exist_ok=True)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def write_template(path: Path, template: dict[str, Any]) -> None:
    """Write a template without a byte too many. Raises SystemExit: it is larger than CloudFormation takes."""
    text = json.dumps(template, separators=(",", ":"), ensure_ascii=False)
    if len(text.encode()) > LARGEST_TEMPLATE:
        sys.exit(f"{path.name} has {len(text.encode()):,} bytes; CloudFormation takes {LARGEST_TEMPLATE:,}")
    path.write_text(text)


def report(build: Path) -> None:
    """Print the sizes. Raises SystemExit: a zip holds more than its share of what Lambda takes."""
    print(f"\n{'':18}{'zipped':>10}{'unpacked':>12}{'of limit':>10}")
    too_large = []
    for path in sorted(build.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        share = unpacked / LARGEST_UNPACKED
        print(f"{path.name:18}{path.stat().st_size / 1e6:>7.1f} MB{unpacked / 1e6:>9.1f} MB{share:>9.0%}")
        if share > MAX_SHARE:
            too_large.append(path.name)
    for path in sorted(build.glob("*.json")):
        print(
            f"{path.name:18}{path.stat().st_size / 1e3:>7.1f} kB{'':12}{path.stat().st_size / LARGEST_TEMPLATE:>9.0%}"
        )
    if too_large:
        sys.exit(f"above {MAX_SHARE:.0%} of the {LARGEST_UNPACKED:,} bytes that Lambda takes: {', '.join(too_large)}")


def _say(message: str) -> None:
    print(f"package: {message}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failed:
        print(f"package: {' '.join(map(str, failed.cmd))[:120]}… ended with {failed.returncode}.", file=sys.stderr)
        sys.exit(
            "Where it is pip: without a network, name a folder of wheels in PIP_FIND_LINKS and set PIP_NO_INDEX=1."
        )
