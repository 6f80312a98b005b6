"""Known vulnerabilities of what the lock names, by the database of advisories at osv.dev.

    python -m infra.audit               a part of `make check`: without a network it says so, and finds nothing
    python -m infra.audit --strict      `make audit`: who cannot ask, fails

One request with names and versions of the packages, nothing else. An advisory that does not concern us stands in
ACCEPTED, with why; one that is not found any more has to go from there.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import requests

LOCKS = ("requirements.txt", "requirements-dev.txt")
DATABASE = "https://api.osv.dev/v1/querybatch"
SECONDS = (3, 15)
"""To wait for a connection, and for the answer."""
ACCEPTED: dict[str, str] = {}
"""Advisory → why it may stand."""
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    """An advisory about a version of a package."""

    package: str
    version: str
    advisory: str

    def __str__(self) -> str:
        """As it is printed."""
        return f"{self.package} {self.version}: {self.advisory}"


def pinned(folder: Path) -> list[tuple[str, str]]:
    """Names and versions of all that the locks of a folder name."""
    return sorted({pair for lock in LOCKS for pair in _PINNED.findall((folder / lock).read_text())})


def ask(packages: list[tuple[str, str]], database: str = DATABASE) -> list[Finding]:
    """What is known of packages.

    Raises:
        requests.RequestException: the database cannot be reached.
        ValueError: what came back is no answer.
    """
    queries = [{"package": {"name": name, "ecosystem": "PyPI"}, "version": version} for name, version in packages]
    said = requests.post(database, json={"queries": queries}, timeout=SECONDS)
    said.raise_for_status()
    try:
        results = said.json()["results"]
        return sorted(
            Finding(name, version, advisory["id"])
            for (name, version), result in zip(packages, results, strict=True)
            for advisory in result.get("vulns", [])
        )
    except (KeyError, TypeError, AttributeError, ValueError) as failure:
        raise ValueError(f"{database} answers with something else: {said.text[:200]}") from failure


def main(arguments: list[str] | None = None, *, folder: Path = Path(), database: str = DATABASE) -> int:
    """Print what is known and not accepted, and what is accepted and not known; not 0 where there is any."""
    parser = argparse.ArgumentParser(description="Ask for known vulnerabilities of what the lock names.")
    parser.add_argument("--strict", action="store_true", help="fail where the database cannot be reached")
    strict: bool = parser.parse_args(arguments).strict
    packages = pinned(folder)
    try:
        found = ask(packages, database)
    except (requests.RequestException, ValueError) as failure:
        sys.stderr.write(f"audit: skipped: the database does not answer ({type(failure).__name__})\n")
        return int(strict)
    known = {each.advisory for each in found}
    wrong = [str(each) for each in found if each.advisory not in ACCEPTED]
    wrong += [f"{advisory} is accepted and not known any more" for advisory in ACCEPTED if advisory not in known]
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    sys.stdout.write(f"audit: {len(packages)} packages, {len(found)} advisories, {len(found) - len(wrong)} accepted\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
