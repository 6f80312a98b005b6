"""The served schema becomes TypeScript that compiles, by tools of the npm registry; skipped where there are none."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.served import document

pytestmark = pytest.mark.nightly
TYPES, COMPILER = "openapi-typescript@7", "typescript@5"


def npx(folder: Path, package: str, *words: str) -> str:
    """Run a program of a package; skip the test where it cannot be had."""
    program = shutil.which("npx")
    if program is None:
        pytest.skip("npx of Node is not installed.")
    had = [program, "--yes", "-p", package, "node", "--version"]
    if subprocess.run(had, cwd=folder, capture_output=True, timeout=300, check=False).returncode:
        pytest.skip(f"{package} cannot be had from the npm registry here.")
    ran = subprocess.run(
        [program, "--yes", "-p", package, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-3000:]
    return ran.stdout


def test_its_types_compile_and_hold_what_programs_write(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(document()))
    npx(tmp_path, TYPES, "openapi-typescript", "schema.json", "-o", "api.d.ts")
    (tmp_path / "program.ts").write_text(
        """
        import type { components, paths } from "./api";
        type Schemas = components["schemas"];
        const spec: Schemas["ImportSpec"]["first_pixel"] = 0;
        const made: Schemas["CreateResponse"] = { message: "", id: "a uid" };
        type Parameters = paths["/rest/Medias/{project}"]["get"]["parameters"];
        const query: NonNullable<Parameters["query"]> = { after: 7, name: "a" };
        // @ts-expect-error the first pixel is 0 or 1
        const wrong: Schemas["ImportSpec"]["first_pixel"] = 2;
        export { spec, made, query, wrong };
        """
    )
    npx(tmp_path, COMPILER, "tsc", "--noEmit", "--strict", "--skipLibCheck", "false", "program.ts")
