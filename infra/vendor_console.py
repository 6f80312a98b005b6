"""The libraries of the console: published files of npm packages, copied to `chalicelib/console/vendor/`.

    python -m infra.vendor_console              copy the versions below again; needs npm and a network
    python -m infra.vendor_console --check      compare the copied files with versions.json

`versions.json` lists version, licence, the integrity that npm publishes for the package, and the SHA-256 of each copied
file. A file is copied as published, except that source map comments are removed, bare import specifiers become relative
ones, and scripts that set a global get an export.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent.parent / "chalicelib" / "console" / "vendor"
VERSIONS = FOLDER / "versions.json"


class Package(NamedTuple):
    """A package: its version, and the files that are copied, as path in the package → name here."""

    version: str
    files: dict[str, str]
    exports: str = ""
    """The global that a script sets, which becomes the default export."""


PACKAGES = {
    "preact": Package("11.2.0", {"dist/preact.mjs": "preact.js", "hooks/dist/hooks.mjs": "preact-hooks.js"}),
    "htm": Package("3.1.1", {"dist/htm.mjs": "htm.js"}),
    "@preact/signals-core": Package("1.14.5", {"dist/signals-core.mjs": "signals-core.js"}),
    "@preact/signals": Package("2.11.4", {"dist/signals.mjs": "signals.js"}),
    "uplot": Package("1.6.32", {"dist/uPlot.iife.min.js": "uplot.js", "dist/uPlot.min.css": "uplot.css"}, "uPlot"),
    "uqr": Package("0.1.3", {"dist/index.mjs": "uqr.js"}),
}
SPECIFIERS = {"preact": "./preact.js", "preact/hooks": "./preact-hooks.js", "@preact/signals-core": "./signals-core.js"}
_IMPORT = re.compile(r"""(\bfrom\s*|\bimport\s*)(["'])([^"']+)\2""")
_SOURCE_MAP = re.compile(r"\s*(//# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+ \*/)\s*\Z")


def main() -> None:
    """Copy or check.

    Raises:
        SystemExit: a file differs from versions.json, or a package from its published integrity.
    """
    if "--check" in sys.argv[1:]:
        if wrong := differences():
            sys.exit(f"not as versions.json says: {', '.join(wrong)}")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    versions = {name: _copy(name, package) for name, package in PACKAGES.items()}
    VERSIONS.write_text(json.dumps(versions, indent=2, ensure_ascii=False) + "\n")


def differences() -> list[str]:
    """The names of files that are not as versions.json says: changed, missing, or not listed.

    The declarations beside them (`.d.ts`, for `make check-console`) are our own.
    """
    listed: dict[str, str] = {}
    for package in json.loads(VERSIONS.read_text()).values():
        listed |= package["files"]
    files = (path for path in FOLDER.iterdir() if path != VERSIONS and not path.name.endswith(".d.ts"))
    found = {path.name: _sha256(path.read_bytes()) for path in files}
    return sorted(name for name in listed.keys() | found.keys() if listed.get(name) != found.get(name))


def _copy(name: str, package: Package) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", f"{name}@{package.version}", "--json", "--silent"]
        packed = subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 constants
        [description] = json.loads(packed.stdout)
        content = (Path(folder) / description["filename"]).read_bytes()
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
        if integrity != description["integrity"]:
            sys.exit(f"{name}: the package does not have its integrity")
        with tarfile.open(Path(folder) / description["filename"]) as archive:
            archive.extractall(folder, filter="data")
        root = Path(folder) / "package"
        hashes = {}
        for source, target in package.files.items():
            text = _rewrite((root / source).read_text(), package.exports if target.endswith(".js") else "")
            (FOLDER / target).write_text(text)
            hashes[target] = _sha256(text.encode())
        return {
            "version": package.version,
            "licence": json.loads((root / "package.json").read_text())["license"],
            "integrity": integrity,
            "files": hashes,
            "licence_text": next(root.glob("LICENSE*")).read_text(),
        }


def _rewrite(text: str, exported: str) -> str:
    text = _SOURCE_MAP.sub("\n", text)
    if exported:
        return f"{text}\nexport default {exported};\n"
    return _IMPORT.sub(lambda found: f'{found[1]}"{SPECIFIERS.get(found[3], found[3])}"', text)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
