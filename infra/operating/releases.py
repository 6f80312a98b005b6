"""Releases of a stage: which version of each function its aliases point to, and the way back to an earlier one.

A record of each release lies in the deployment bucket, `releases/<stage>/<time>.json`. To roll back is to point the
aliases to the versions of a record: nothing is built or sent, and the tables stay as they are (decision 206).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chalicelib import __version__
from infra.operating.failures import Failed
from infra.stack.merging import ALIAS

KEPT = 10
"""How many releases can be returned to. Lambda keeps 75 GB of code in a region, of which a release takes about one."""


@dataclass(frozen=True)
class Release:
    """The versions that one deployment published.

    Attributes:
        name: its time in UTC, such as `20261123T150000Z`.
        version: the version of Limn.
        functions: the published version of each function, by the function's name.
    """

    name: str
    version: str
    functions: dict[str, str]


class Releases:
    """The releases of one stage."""

    def __init__(self, session: Any, bucket: str, stage: str) -> None:
        """Begin.

        Args:
            session: boto3's.
            bucket: the deployment bucket.
            stage: its name.
        """
        self._s3, self._lambda = session.client("s3"), session.client("lambda")
        self._bucket, self._prefix = bucket, f"releases/{stage}/"

    def newest_first(self) -> list[Release]:
        """The releases that can be returned to."""
        return [self._read(key) for key in self._keys()[:KEPT]]

    def current(self, functions: Sequence[str]) -> dict[str, str]:
        """The version that the alias of each function points to; without functions that have no alias."""
        found = {}
        for name in functions:
            try:
                found[name] = str(self._lambda.get_alias(FunctionName=name, Name=ALIAS)["FunctionVersion"])
            except self._lambda.exceptions.ResourceNotFoundException:
                continue
        return found

    def record(self, functions: Sequence[str]) -> None:
        """Note what was deployed, unless the newest release is the same; delete versions that no record names."""
        current, known = self.current(functions), self.newest_first()
        if current and (not known or known[0].functions != current):
            name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
            body = json.dumps({"version": __version__, "functions": current}).encode()
            self._s3.put_object(Bucket=self._bucket, Key=f"{self._prefix}{name}.json", Body=body)
            known = [Release(name, __version__, current), *known][:KEPT]
        for key in self._keys()[KEPT:]:
            self._s3.delete_object(Bucket=self._bucket, Key=key)
        for function, version in current.items():
            self._prune(function, {version, *(each.functions.get(function, "") for each in known)})

    def roll_back(self, functions: Sequence[str], to: str | None = None) -> Release:
        """Point the aliases to an earlier release.

        Args:
            functions: the names of the stage's functions.
            to: the name of the release; None for the newest that is older than the present one.

        Returns:
            The release that is live now.

        Raises:
            Failed: there is no such release, or a version of it is gone. Nothing has changed then.
        """
        known, current = self.newest_first(), self.current(functions)
        recorded = {pair for each in known for pair in each.functions.items()}
        is_mixed = current.items() <= recorded and all(each.functions != current for each in known)
        if to is None and known and is_mixed:
            # a rollback was interrupted: the release before is that before either of two
            raise Failed(f"Functions are of several releases. Name one with --to: {', '.join(e.name for e in known)}.")
        if to is None:
            live = next((place for place, each in enumerate(known) if each.functions == current), -1)
            known = known[live + 1 :]
        wanted = next((each for each in known if to in (None, each.name)), None)
        if wanted is None:
            names = ", ".join(each.name for each in self.newest_first()) or "none"
            raise Failed(f"There is no release {to or 'before the present one'}. Releases: {names}.")
        changed = {name: number for name, number in wanted.functions.items() if current.get(name) != number}
        for name, number in changed.items():
            self._check(name, number)
        for name, number in changed.items():
            # weights of a canary would go on sending requests to the version that is left
            weights: Any = {"AdditionalVersionWeights": {}}
            self._lambda.update_alias(FunctionName=name, Name=ALIAS, FunctionVersion=number, RoutingConfig=weights)
        return wanted

    def forget(self) -> None:
        """Delete the records: the functions are gone, and their versions with them."""
        for key in self._keys():
            self._s3.delete_object(Bucket=self._bucket, Key=key)

    def _keys(self) -> list[str]:
        """The keys of all records, newest first; none where nothing was ever deployed in this account and region."""
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
        try:
            return sorted((each["Key"] for page in pages for each in page.get("Contents", [])), reverse=True)
        except self._s3.exceptions.NoSuchBucket:
            return []

    def _read(self, key: str) -> Release:
        held = json.loads(self._s3.get_object(Bucket=self._bucket, Key=key)["Body"].read())
        return Release(key.removeprefix(self._prefix).removesuffix(".json"), held["version"], held["functions"])

    def _check(self, name: str, number: str) -> None:
        try:
            self._lambda.get_function_configuration(FunctionName=name, Qualifier=number)
        except self._lambda.exceptions.ResourceNotFoundException:
            raise Failed(f"Version {number} of the function {name} is gone. Nothing was changed.") from None

    def _prune(self, function: str, kept: set[str]) -> None:
        pages = self._lambda.get_paginator("list_versions_by_function").paginate(FunctionName=function)
        numbers = [each["Version"] for page in pages for each in page["Versions"]]
        for number in set(numbers) - kept - {"$LATEST"}:
            self._lambda.delete_function(FunctionName=function, Qualifier=number)


def print_releases(releases: Sequence[Release], current: dict[str, str]) -> None:
    """Print releases, newest first, and which of them is live."""
    if not releases:
        print("Nothing has been deployed as this stage in this account and region.")
    for each in releases:
        print(f"{each.name}  Limn {each.version}{'  live' if each.functions == current else ''}")
