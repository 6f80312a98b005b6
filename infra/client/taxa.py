"""Lists of taxa as WoRMS and GBIF publish them: the table Taxon of a Darwin Core Archive, or the table alone.

No network: the file is one that was downloaded. Rows name their parent, those of synonyms the accepted taxon.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from .failures import Failure

ATTRIBUTES: tuple[Any, ...] = (
    {"name": "taxonID", "dtype": "string", "description": "Identifier of the taxon in its list."},
    {"name": "AphiaID", "dtype": "int", "description": "Number of the taxon in WoRMS."},
    {"name": "rank", "dtype": "string", "description": "Rank, such as species."},
    {"name": "authority", "dtype": "string", "description": "Who named it, and when."},
    {"name": "synonyms", "dtype": "string", "description": "Other names of it, separated by semicolons."},
)
"""The attributes of the leaves of a list."""
LONGEST_NAME = 255
"""Characters of the name of a leaf."""
_TABLE = re.compile(r"(.*/)?taxon\.(txt|tsv|csv)", re.IGNORECASE)
_WORMS = "urn:lsid:marinespecies.org:taxname:"
_APHIA = re.compile(r".*marinespecies\.org.*[:/=](\d{1,12})")
_LONGEST_FIELD = 4 * 1024 * 1024


@dataclass(frozen=True)
class Taxon:
    """A taxon of a list."""

    id: str
    name: str
    """Without its authority."""
    rank: str = ""
    authority: str = ""
    parent: str = ""
    accepted: str = ""
    """The id of the accepted taxon of a synonym; empty of an accepted one."""
    aphia: int | None = None


@dataclass
class Taxa:
    """A list of taxa."""

    accepted: dict[str, Taxon] = field(default_factory=dict)
    """By id."""
    synonyms: list[Taxon] = field(default_factory=list)
    skipped: int = 0
    """Rows without an id or name."""

    def accepted_names(self) -> dict[str, str]:
        """The accepted name of each synonym; not of names that are those of an accepted taxon, or of several."""
        names = {taxon.name for taxon in self.accepted.values()}
        found: defaultdict[str, set[str]] = defaultdict(set)
        for each in self.synonyms:
            if (of := self.accepted.get(each.accepted)) is not None and each.name not in names:
                found[each.name].add(of.name)
        return {name: next(iter(of)) for name, of in found.items() if len(of) == 1}

    def names_of(self) -> dict[str, list[str]]:
        """The synonyms of each accepted taxon, by its id, sorted."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for each in self.synonyms:
            found[each.accepted].add(each.name)
        return {of: sorted(names) for of, names in found.items()}

    def levels(self, within: Iterable[str] = ()) -> Iterator[list[tuple[Taxon, str]]]:
        """The accepted taxa with the ids of their parents, level by level; of roots the parent is empty.

        Args:
            within: names whose taxa are the roots; without any, those whose parent is not in the list.

        Raises:
            Failure: the list has no taxon of a name.
        """
        below: defaultdict[str, list[Taxon]] = defaultdict(list)
        for taxon in self.accepted.values():
            below[taxon.parent if taxon.parent in self.accepted and taxon.parent != taxon.id else ""].append(taxon)
        chosen = set(within)
        level = [(taxon, "") for taxon in below[""]]
        if chosen:
            level = [(taxon, "") for taxon in self.accepted.values() if taxon.name in chosen]
            if missing := chosen - {taxon.name for taxon, _ in level}:
                raise Failure(f"The list has no accepted taxon {min(missing)!r}.")
        seen: set[str] = set()
        while level:
            seen.update(taxon.id for taxon, _ in level)
            yield level
            level = [(each, taxon.id) for taxon, _ in level for each in below[taxon.id] if each.id not in seen]


def read(path: Path) -> Taxa:
    """The taxa of a file. Raises Failure where it is no table of taxa."""
    found = Taxa()
    try:
        with _opened(path) as text:
            for row in _rows(text, path):
                _add_row(found, row)
    except (UnicodeDecodeError, zipfile.BadZipFile, csv.Error) as error:
        raise Failure(f"{path}: {error}") from None
    if not found.accepted:
        raise Failure(f"{path}: it has no accepted taxon.")
    return found


def attributes_of(taxon: Taxon, synonyms: Iterable[str]) -> dict[str, Any]:
    """The values of the attributes of a leaf."""
    given = {"taxonID": taxon.id, "AphiaID": taxon.aphia, "rank": taxon.rank, "authority": taxon.authority}
    given["synonyms"] = "; ".join(synonyms)
    return {name: value for name, value in given.items() if value not in (None, "")}


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    if not zipfile.is_zipfile(path):
        with path.open(encoding="utf-8-sig", newline="") as text:
            yield text
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if _TABLE.fullmatch(name)]
        if len(names) != 1:
            raise Failure(f"{path}: the archive has {len(names)} files taxon.txt, .tsv or .csv; it must have one.")
        with archive.open(names[0]) as raw:
            yield io.TextIOWrapper(raw, "utf-8-sig", newline="")


def _rows(text: IO[str], path: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(_LONGEST_FIELD)
    head = text.readline()
    is_tab = "\t" in head
    dialect: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if is_tab else {}
    names = [_term(name) for name in next(csv.reader([head], **dialect), [])]
    is_worms = "aphiaid" in names and "taxonid" not in names
    names = ["taxonid" if is_worms and name == "aphiaid" else name for name in names]
    if "taxonid" not in names or "scientificname" not in names:
        raise Failure(f"{path}: its first line has no taxonID (or AphiaID) and scientificName; it is no table of taxa.")
    for values in csv.reader(text, **dialect):
        row = dict(zip(names, (value.strip() for value in values), strict=False))
        if is_worms and row.get("taxonid"):
            row["taxonid"] = _WORMS + row["taxonid"]
        yield row


def _term(name: str) -> str:
    """The term of a column: the last part of a URI, whatever its case."""
    term = re.split(r"[/:#]", name.strip().strip('"'))[-1].casefold()
    return {"authority": "scientificnameauthorship"}.get(term, term)


def _add_row(found: Taxa, row: dict[str, str]) -> None:
    own, name = row.get("taxonid", ""), row.get("scientificname", "")
    authority = row.get("scientificnameauthorship", "")
    name = row.get("canonicalname") or (name.removesuffix(authority).strip() if authority else name)
    if not own or not name or len(name) > LONGEST_NAME:
        found.skipped += 1
        return
    accepted = row.get("acceptednameusageid", "")
    number = _APHIA.fullmatch(own) or _APHIA.fullmatch(row.get("scientificnameid", ""))
    taxon = Taxon(
        id=own,
        name=name,
        rank=row.get("taxonrank", "").lower(),
        authority=authority,
        parent=row.get("parentnameusageid", ""),
        accepted=accepted if accepted != own else "",
        aphia=int(number[1]) if number else None,
    )
    if taxon.accepted:
        found.synonyms.append(taxon)
    else:
        found.accepted[own] = taxon
