"""Where the objects of exports and of versions of datasets are."""

from __future__ import annotations

import msgspec

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix
from chalicelib.core.models.datasets import ExportWork, StoredVersion
from chalicelib.resources.exports.messages import WorkKind
from chalicelib.resources.exports.schemas import ExportSpec
from chalicelib.storage.objects import objects

_spec = msgspec.json.Decoder(ExportSpec).decode


def folder(work: ExportWork) -> ObjectPrefix:
    """The folder of an export or a version."""
    return folder_of("dataset" if isinstance(work, StoredVersion) else "export", work.project, work.uid)


def folder_of(kind: WorkKind, project: int, uid: str) -> ObjectPrefix:
    """The folder of an export or a version, whose record may be gone."""
    prefix = object_keys.datasets_prefix if kind == "dataset" else object_keys.exports_prefix
    return prefix(project, uid)


def spec_key(work: ExportWork) -> ObjectKey:
    """The object of what was asked for, which may have megabytes of ids."""
    return folder(work) + "spec.json"


def plan_key(work: ExportWork) -> ObjectKey:
    """The settings that all parts share."""
    return folder(work) + "plan.json"


def parts_key(work: ExportWork) -> ObjectKey:
    """The plans of the parts, one after another."""
    return folder(work) + "parts.json"


def counts_key(work: ExportWork) -> ObjectKey:
    """The results of the parts of a version."""
    return folder(work) + "counts.json"


def part_key(work: ExportWork, index: int) -> ObjectKey:
    """A part of an archive."""
    return folder(work) + f"parts/{index:06d}"


def orders_key(work: ExportWork, index: int) -> ObjectKey:
    """The groups of a part whose pictures must be drawn."""
    return folder(work) + f"pictures/{index:06d}.orders"


def pictures_key(work: ExportWork, index: int) -> ObjectKey:
    """The pictures of a part."""
    return folder(work) + f"pictures/{index:06d}"


def archive_key(work: ExportWork) -> ObjectKey:
    """The archive."""
    return folder(work) + "archive.zip"


def rows_prefix(work: ExportWork) -> ObjectPrefix:
    """The folder of the rows of a version."""
    return folder(work).folder("rows")


def rows_key(work: ExportWork, index: int, table: str) -> ObjectKey:
    """A table of a part of a version."""
    return rows_prefix(work) + f"{index:06d}.{table}.parquet"


def spec_of(work: ExportWork) -> ExportSpec:
    """The body that ordered an export."""
    return _spec(objects.read(spec_key(work)))
