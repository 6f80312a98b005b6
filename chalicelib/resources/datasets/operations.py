"""Versions of datasets: freeze a query under a name, list, compare, delete. CreateExport exports one by its name."""

from __future__ import annotations

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.datasets import DATASET, StoredVersion
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT, record_of_project, visible_only
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.datasets import comparing
from chalicelib.resources.datasets import rows as dataset_rows
from chalicelib.resources.datasets import service as datasets_service
from chalicelib.resources.datasets.schemas import (
    Comparison,
    ComparisonQuery,
    Dataset,
    DatasetCreated,
    DatasetRow,
    DatasetSpec,
    RowsQuery,
)
from chalicelib.resources.exports import service as exports_service

OPERATIONS = Operations(tag="Datasets")


ONE = visible_only(record_of_project(DATASET, "uid"), exports_service.is_visible)


@OPERATIONS.post(
    "/rest/Datasets/{project}",
    "CreateDataset",
    needs=Permission.EDIT,
    addresses=WITHIN_PROJECT,
    audits="export",
    spends=("bytes",),
)
def freeze_dataset(call: Call[Project, NoQuery, DatasetSpec]) -> DatasetCreated:
    """Freeze media and annotations at a commit under a name, as a version of a dataset.

    The rows are kept as Parquet files, whatever happens to the project's data, until the version is deleted. Pictures
    are not kept: an export makes them from the media as they are then.
    """
    version = datasets_service.freeze(call.target, call.scope, call.body)
    return DatasetCreated(message=f"Version {version.name} started!", id=version.uid, uid=version.uid)


@OPERATIONS.get("/rest/Datasets/{project}", "GetDatasetList", needs=Permission.VIEW, addresses=WITHIN_PROJECT)
def list_datasets(call: Call[Project, NoQuery, None]) -> list[Dataset]:
    """The versions of datasets of a project, oldest first.

    With fine-grained permissions, a caller who may not see the whole project sees only versions of their own.
    """
    return [datasets_service.as_response(each) for each in datasets_service.list_versions(call.project, call.scope)]


@OPERATIONS.get("/rest/Dataset/{uid}", "GetDataset", needs=Permission.VIEW, addresses=ONE)
def get_dataset(call: Call[StoredVersion, NoQuery, None]) -> Dataset:
    """One version of a dataset, and what was selected."""
    return datasets_service.as_response(call.target, whole=not call.caller.is_guest)


@OPERATIONS.get("/rest/DatasetRows/{uid}", "GetDatasetRows", needs=Permission.VIEW, addresses=ONE)
def list_rows(call: Call[StoredVersion, RowsQuery, None]) -> list[DatasetRow]:
    """The localizations or states of a version on one of its media, as they were frozen, by id.

    With fine-grained permissions, rows are left out that the caller may not see by now.
    """
    table, media = call.query.table, call.query.media_id
    found = dataset_rows.list_rows(call.target, table, media)
    if call.caller.is_guest:
        return found
    kind = Kind.LOCALIZATION if table == "localizations" else Kind.STATE
    seen = call.scope.visible_ids(call.project, kind, [row.id for row in found])
    return [row for row in found if row.id in seen]


@OPERATIONS.get("/rest/DatasetComparison/{uid}", "CompareDatasets", needs=Permission.VIEW, addresses=ONE)
def compare_datasets(call: Call[StoredVersion, ComparisonQuery, None]) -> Comparison:
    """What was added, changed and removed from an earlier version of a dataset to this one."""
    base = exports_service.find_version(call.project, call.scope, call.query.base)
    other = exports_service.find_version(call.project, call.scope, call.target.uid)
    return comparing.compare(base, other, call.query.most_ids, call.scope)


@OPERATIONS.delete("/rest/Dataset/{uid}", "DeleteDataset", needs=Permission.EDIT, addresses=ONE)
def delete_dataset(call: Call[StoredVersion, NoQuery, None]) -> MessageResponse:
    """Delete a version of a dataset with its rows."""
    exports_service.remove_work(call.target, "dataset")
    return MessageResponse(message=f"Dataset {call.target.uid} deleted!")
