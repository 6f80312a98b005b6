"""Files that belong to no media, algorithms with their manifests, bookmarks and favourites of the caller."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from ..exchange import Request
from ..failures import Failure
from . import source
from .media import copy_object
from .move import Move, first_id, given
from .source import Row

ALGORITHM = ("name", "description", "files_per_job", "categories", "parameters", "extended_info", "level")
FAVORITE = ("name", "values", "page", "entity_type_name")
_MEDIA_PAGE = re.compile(r"^(.*?/)(\d+)/annotation/(\d+)(.*)\Z")
_PROJECT_PAGE = re.compile(r"^(.*?/)(\d+)(/project-detail.*)\Z")


def move_files(move: Move) -> None:
    """Files of file types, with their objects."""
    types = move.ledger.targets(
        "file_type", (each["id"] for each in move.source.get_file_type_list(move.source_project))
    )
    for page in source.pages(move.source, "file", move.source_project, 0, 500):
        known = move.ledger.targets("file", (row["id"] for row in page))
        for row in page:
            if row["id"] in known:
                continue
            move.ledger.forgive("file", [row["id"]])
            if row["type"] not in types:
                move.ledger.refuse("file", row["id"], f"Its type {row['type']} was not copied.")
            elif not move.is_trial:
                move.attempt("file", row, _move_file, move, row, types[row["type"]])


def _move_file(move: Move, row: Row, type_: int) -> int:
    """A file; that of an interrupted run is found by its elemental id and completed."""
    there = (
        move.target.get_file_list(move.target_project, elemental_id=row["elemental_id"])
        if row.get("elemental_id")
        else []
    )
    if there:
        target = int(there[0]["id"])
    else:
        values = {name: value for name, value in (row.get("attributes") or {}).items() if value is not None}
        body: Any = {**given(row, ("name", "elemental_id")), "description": row.get("description") or "", "type": type_}
        target = first_id(
            move.target.create_file(move.target_project, {**body, "attributes": values, **move.author(row)})
        )
    if row.get("path") and move.options.files != "none":
        [link] = move.source.get_download_info(move.source_project, {"keys": [row["path"]]})
        key, _ = copy_object(move, link["url"], f"file {row['id']}", file_id=target)
        move.target.update_file(target, {"path": key})
    return target


def move_algorithms(move: Move) -> None:
    """Algorithms, with the manifests that they name. Clusters, templates and secret headers do not come."""
    there = {each["name"]: each["id"] for each in move.target.get_algorithm_list(move.target_project)}
    for row in move.source.get_algorithm_list(move.source_project):
        move.ledger.forgive("algorithm", [row["id"]])
        if move.is_trial:
            continue
        if row["name"] in there:
            move.ledger.record("algorithm", {row["id"]: there[row["name"]]})
            continue
        move.attempt("algorithm", row, _move_algorithm, move, row)


def _move_algorithm(move: Move, row: Any) -> int:
    if not row.get("manifest"):
        raise Failure("It runs a hosted template: make that in the target's organization, and register it there.", 5)
    body: Any = given(row, ALGORITHM)
    body["user"] = move.ledger.target("user", row.get("user")) or move.target.whoami()["id"]
    name = PurePosixPath(row["manifest"]).name
    manifest = _manifest(move, row["manifest"])
    upload = move.target.get_upload_info(move.target_project, num_parts=1, filename=name)
    move.target.put_bytes(upload["urls"][0], manifest)
    [link] = move.target.get_download_info(move.target_project, {"keys": [upload["key"]]})
    saved = move.target.save_algorithm_manifest(move.target_project, {"name": name, "upload_url": link["url"]})
    made = first_id(move.target.register_algorithm(move.target_project, {**body, "manifest": saved["url"]}))
    if row.get("cluster"):
        move.ledger.remark("algorithm", row["id"], "Its cluster is one of the source; choose one of the target.")
    return made


def _manifest(move: Move, place: str) -> bytes:
    """The text of a manifest, which the service has below `/media`."""
    profile = move.source.profile
    path = place.partition("://")[2].partition("/")[2] if "://" in place else place.lstrip("/")
    request = Request(
        "GET",
        f"{profile.url}/media/{path.removeprefix('media/')}",
        headers={"Authorization": f"Token {profile.token}"},
    )
    found: bytes = move.source.exchanged(request).content
    return found


def move_own(move: Move) -> None:
    """Bookmarks and favourites of the caller: the interface shows nobody those of others."""
    there = {(each["name"], each["uri"]) for each in move.target.get_bookmark_list(move.target_project)}
    for row in move.source.get_bookmark_list(move.source_project):
        uri = _uri(move, row["uri"])
        if move.is_trial or (row["name"], uri) in there:
            continue
        body: Any = {"name": row["name"], "uri": uri}
        move.attempt("bookmark", row, _create, move.target.create_bookmark, move, body)
    favorites = {each["name"] for each in move.target.get_favorite_list(move.target_project)}
    for each in move.source.get_favorite_list(move.source_project):
        kind = "state_type" if each.get("entity_type_name") == "State" else "localization_type"
        type_ = move.ledger.target(kind, each["type"])
        if move.is_trial or each["name"] in favorites:
            continue
        if type_ is None:
            move.ledger.refuse("favorite", each["id"], f"Its type {each['type']} was not copied.")
            continue
        chosen: Any = {**given(each, FAVORITE), "type": type_}
        move.attempt("favorite", each, _create, move.target.create_favorite, move, chosen)


def _create(create: Callable[[int, Row], Any], move: Move, body: Row) -> int:
    return first_id(create(move.target_project, body))


def _uri(move: Move, uri: str) -> str:
    """The address of a page of the console, with the ids of the target; another address stays."""
    if (found := _MEDIA_PAGE.match(uri)) and int(found[2]) == move.source_project:
        media = move.ledger.target("media", int(found[3]))
        return f"{found[1]}{move.target_project}/annotation/{media}{found[4]}" if media else uri
    if (found := _PROJECT_PAGE.match(uri)) and int(found[2]) == move.source_project:
        return f"{found[1]}{move.target_project}{found[3]}"
    return uri
