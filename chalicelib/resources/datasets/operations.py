"""Versions of datasets: freeze a query under a name, list, compare, delete. CreateExport exports one by its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.datasets import DATASET, StoredVersion
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, Found, NoQuery, Operation, ReadsNothingAhead
from chalicelib.resources.datasets import comparing
from chalicelib.resources.datasets import service as datasets_service
from chalicelib.resources.datasets.schemas import Comparison, ComparisonQuery, Dataset, DatasetCreated, DatasetSpec
from chalicelib.resources.exports import service as exports_service
from chalicelib.storage.dynamodb import records

TAG = "Datasets"


@dataclass(frozen=True, kw_only=True)
class _Visible(ReadsNothingAhead):
    """`/rest/Dataset/{uid}`: a version that the caller may see whole; for others it does not exist."""

    what: str = DATASET.name
    variables: dict[str, type] = field(default_factory=lambda: {"uid": str})

    def find(self, path: dict[str, Any], body: Any = None) -> Found[Any]:  # noqa: ARG002 the path says it
        """The version, or NotFound."""
        version = records.get(DATASET, path["uid"])
        return Found(thing=version, project=version.project)

    def level(self, scope: Scope, found: Found[Any]) -> Level:
        """The caller's level in the project, if the version is visible."""
        level = scope.project_level(found.project or 0, self.what, lambda: found.thing)
        if level is Level.NONE or not exports_service.is_visible(found.thing, scope):
            return Level.NONE
        return level


ONE = _Visible()


def freeze_dataset(call: Call[Project, NoQuery, DatasetSpec]) -> DatasetCreated:
    """Freeze a selection."""
    version = datasets_service.freeze(call.target, call.scope, call.body)
    return DatasetCreated(message=f"Version {version.name} started!", id=version.uid, uid=version.uid)


def list_datasets(call: Call[Project, NoQuery, None]) -> list[Dataset]:
    """The versions of the project."""
    return [datasets_service.as_response(each) for each in datasets_service.list_versions(call.project, call.scope)]


def get_dataset(call: Call[StoredVersion, NoQuery, None]) -> Dataset:
    """One version."""
    return datasets_service.as_response(call.target, whole=True)


def compare_datasets(call: Call[StoredVersion, ComparisonQuery, None]) -> Comparison:
    """Compare two versions."""
    base = exports_service.find_version(call.project, call.scope, call.query.base)
    other = exports_service.find_version(call.project, call.scope, call.target.uid)
    return comparing.compare(base, other, call.query.most_ids)


def delete_dataset(call: Call[StoredVersion, NoQuery, None]) -> MessageResponse:
    """Delete a version with its rows."""
    exports_service.remove_work(call.target, "dataset")
    return MessageResponse(message=f"Dataset {call.target.uid} deleted!")


OPERATIONS = (
    Operation(
        id="CreateDataset",
        method="POST",
        path="/rest/Datasets/{project}",
        summary="Freeze media and annotations at a commit under a name, as a version of a dataset.",
        details="The rows are kept as Parquet files, whatever happens to the project's data, until the version is "
        "deleted. Pictures are not kept: an export makes them from the media as they are then.",
        needs=Permission.EDIT,
        addresses=WITHIN_PROJECT,
        body=DatasetSpec,
        returns=DatasetCreated,
        handler=freeze_dataset,
        tag=TAG,
    ),
    Operation(
        id="GetDatasetList",
        method="GET",
        path="/rest/Datasets/{project}",
        summary="The versions of datasets of a project, oldest first.",
        details="With fine-grained permissions, a caller who may not see the whole project sees only versions of their "
        "own.",
        needs=Permission.VIEW,
        addresses=WITHIN_PROJECT,
        returns=list[Dataset],
        handler=list_datasets,
        tag=TAG,
    ),
    Operation(
        id="GetDataset",
        method="GET",
        path="/rest/Dataset/{uid}",
        summary="One version of a dataset, and what was selected.",
        needs=Permission.VIEW,
        addresses=ONE,
        returns=Dataset,
        handler=get_dataset,
        tag=TAG,
    ),
    Operation(
        id="CompareDatasets",
        method="GET",
        path="/rest/DatasetComparison/{uid}",
        summary="What was added, changed and removed from an earlier version of a dataset to this one.",
        needs=Permission.VIEW,
        addresses=ONE,
        query=ComparisonQuery,
        returns=Comparison,
        handler=compare_datasets,
        tag=TAG,
    ),
    Operation(
        id="DeleteDataset",
        method="DELETE",
        path="/rest/Dataset/{uid}",
        summary="Delete a version of a dataset with its rows.",
        needs=Permission.EDIT,
        addresses=ONE,
        returns=MessageResponse,
        handler=delete_dataset,
        tag=TAG,
    ),
)
