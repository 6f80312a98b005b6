"""Localizations: shapes on images and video frames."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Localization, LocalizationSpec, LocalizationUpdate
from chalicelib.query.parsers.annotation_bodies import LocalizationBulkDelete, LocalizationBulkUpdate
from chalicelib.query.parsers.bodies import LocalizationIdQuery
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.resources.annotations.operations import AnnotationResource, annotation_operations
from chalicelib.resources.annotations.schemas import LocalizationChanged, LocalizationDelete


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
