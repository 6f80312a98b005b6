"""Versions of datasets: freeze, show, delete. The steps of exports do the work (`resources/exports/steps.py`)."""

from __future__ import annotations

import uuid

import msgspec

from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.datasets import DATASET, StoredVersion
from chalicelib.core.resource import now, shared
from chalicelib.resources.datasets.schemas import Dataset, DatasetSpec
from chalicelib.resources.exports import places
from chalicelib.resources.exports import service as exports_service
from chalicelib.resources.exports.schemas import ExportSpec
from chalicelib.storage.dynamodb import records

_OF_SELECTION = ("localizations", "states", "media", "sections", "versions", "seq")


def freeze(project: Project, scope: Scope, spec: DatasetSpec) -> StoredVersion:
    """Keep what a selection finds at a commit under a name.

    Raises:
        BadInput: a query is not valid, the name is taken, or the project has as many versions as allowed.
        TooMany: the user has as many unfinished exports and versions as allowed.
    """
    wanted = ExportSpec(format="parquet", name=spec.name, **{name: getattr(spec, name) for name in _OF_SELECTION})
    seq, snapshot = exports_service.check_selection(project.id, scope, wanted)
    exports_service.check_room(project.id, scope.caller.id)
    if records.get_claimed(DATASET, "name", f"{project.id}|{spec.name}") is not None:
        raise exports_service.name_is_taken(spec.name)  # before `start` sends a message
    version = StoredVersion(
        uid=str(uuid.uuid4()),
        project=project.id,
        user=scope.caller.id,
        name=spec.name,
        description=spec.description,
        created_datetime=now(),
        seq=seq,
        snapshot=snapshot,
    )
    exports_service.start(version, "dataset", wanted)
    return version


def list_versions(project: int, scope: Scope) -> list[StoredVersion]:
    """The versions of a project that a caller may see, oldest first."""
    found = [each for each in records.list_children(DATASET, project) if exports_service.is_visible(each, scope)]
    return sorted(found, key=lambda each: (each.created_datetime, each.uid))


def as_response(version: StoredVersion, *, whole: bool = False) -> Dataset:
    """A version as a response has it; with `whole` what was selected."""
    selection = None
    if whole:
        spec = msgspec.to_builtins(places.spec_of(version))
        selection = {name: spec[name] for name in _OF_SELECTION if spec.get(name) is not None}
    progress = exports_service.progress_of(version)
    return Dataset(id=version.uid, progress=progress, selection=selection, **shared(version, Dataset))
