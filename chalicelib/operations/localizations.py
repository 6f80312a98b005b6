"""Localizations: shapes on images and video frames (`spec/4` §10)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.domain.annotation_bodies import LocalizationChanged, LocalizationDelete
from chalicelib.domain.entities import Localization, LocalizationSpec, LocalizationUpdate
from chalicelib.domain.kinds import Kind
from chalicelib.operations.annotation_operations import AnnotationResource, annotation_operations
from chalicelib.query.annotation_bodies import LocalizationBulkDelete, LocalizationBulkUpdate
from chalicelib.query.bodies import LocalizationIdQuery
from chalicelib.query.parameters import LocalizationQuery


class CountedLocalizationQuery(LocalizationQuery, kw_only=True):
    """The parameters of bulk changes."""

    count: Annotated[int, Meta(ge=0, description="How many must match; otherwise nothing happens.")] | None = None


OPERATIONS = annotation_operations(
    AnnotationResource(
        kind=Kind.LOCALIZATION,
        word="Localization",
        tag="Localizations",
        stored=Localization,
        spec=LocalizationSpec,
        update=LocalizationUpdate,
        changed=LocalizationChanged,
        query=LocalizationQuery,
        counted=CountedLocalizationQuery,
        id_query=LocalizationIdQuery,
        bulk_update=LocalizationBulkUpdate,
        bulk_delete=LocalizationBulkDelete,
        delete=LocalizationDelete,
    )
)
