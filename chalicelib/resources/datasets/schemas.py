"""Bodies and answers of versions of datasets."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.models.datasets import WorkStatus
from chalicelib.core.models.jobs import JobProgress
from chalicelib.core.resource import Description, Id, Name, Resource, Timestamp
from chalicelib.resources.exports.schemas import Selection


class DatasetSpec(Selection, kw_only=True):
    """What creates a version: a name, and a selection."""

    names: ClassVar = {"versions": "version", "sections": "section"}

    name: Name
    description: Description = ""


class Dataset(Resource, kw_only=True):
    """A version of a dataset: rows as they were at a commit. It is kept until it is deleted."""

    uid: str
    id: Annotated[str, Meta(description="The same as `uid`.")]
    project: int
    user: int
    name: str
    description: str
    status: WorkStatus
    message: Annotated[str, Meta(description="Why it failed.")]
    created_datetime: Timestamp
    seq: Annotated[int, Meta(description="The commit.")]
    selection: Annotated[dict[str, Any] | None, Meta(description="What was selected; in GetDataset only.")] = None
    progress: Annotated[JobProgress, Meta(description="In parts.")]
    media: Annotated[int, Meta(description="How many media it holds.")]
    labels: Annotated[int, Meta(description="With those that tracks have between their localizations.")]
    size: Annotated[int, Meta(description="Bytes of its Parquet files.")]


class DatasetCreated(Resource, kw_only=True):
    """The answer to the creation of a version."""

    message: str
    id: str
    uid: str


class DatasetRow(Resource, kw_only=True):
    """A localization or a state as it was frozen. Types, classes and layers are named, as they were named then."""

    id: int
    media: Annotated[int, Meta(description="Id of the media.")]
    elemental_id: str
    type: Annotated[str, Meta(description="The name of its type.")] = ""
    kind: Annotated[str | None, Meta(description="Of a localization: box, line, dot or poly.")] = None
    association: Annotated[str | None, Meta(description="Of a state: media, frame or track.")] = None
    frame: int | None = None
    x: Annotated[float | None, Meta(description="In fractions, as of localizations.")] = None
    y: Annotated[float | None, Meta(description="In fractions, as of localizations.")] = None
    width: Annotated[float | None, Meta(description="In fractions, as of localizations.")] = None
    height: Annotated[float | None, Meta(description="In fractions, as of localizations.")] = None
    u: Annotated[float | None, Meta(description="In fractions, as of localizations.")] = None
    v: Annotated[float | None, Meta(description="In fractions, as of localizations.")] = None
    points: Annotated[list[list[float]] | None, Meta(description="Of a poly, in fractions.")] = None
    refined: Annotated[dict[str, Any] | None, Meta(description="What refines the shape.")] = None
    class_name: Annotated[str, Meta(description="Its class.")] = ""
    track: Annotated[str | None, Meta(description="The key of the track of a localization.")] = None
    key: Annotated[str | None, Meta(description="The key of a state.")] = None
    version: Annotated[str, Meta(description="The name of its layer.")] = ""
    attributes: Annotated[dict[str, Any], Meta(description="Values of attributes by name.")] = {}


class RowsQuery(Resource, kw_only=True):
    """Which rows of a version of a dataset."""

    names: ClassVar = {"media_id": "media"}

    media_id: Annotated[Id, Meta(description="The media that they are on.")]
    table: Annotated[Literal["localizations", "states"], Meta(description="Which rows.")] = "localizations"


class Difference(Resource, kw_only=True):
    """What changed in one table: the numbers of rows, and the ids of the first of them."""

    added: Annotated[int, Meta(description="How many rows were added.")]
    changed: Annotated[int, Meta(description="How many rows were changed.")]
    removed: Annotated[int, Meta(description="How many rows were removed.")]
    added_ids: Annotated[list[int], Meta(description="Ids of the first rows that were added.")]
    changed_ids: Annotated[list[int], Meta(description="Ids of the first rows that were changed.")]
    removed_ids: Annotated[list[int], Meta(description="Ids of the first rows that were removed.")]


class Comparison(Resource, kw_only=True):
    """What an earlier version lacks, has otherwise, and has in addition, compared with a later one."""

    base: Annotated[str, Meta(description="Name or uid of the earlier version.")]
    other: Annotated[str, Meta(description="Name or uid of the later version.")]
    media: Difference
    localizations: Difference
    states: Difference


class ComparisonQuery(Resource, kw_only=True):
    """The version to compare with."""

    base: Annotated[str, Meta(min_length=1, max_length=128, description="Name or uid of the earlier version.")]
    most_ids: Annotated[int, Meta(ge=0, le=10_000, description="Most ids of each list.")] = 100
