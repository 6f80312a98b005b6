"""Localizations: shapes on images and video frames."""

from __future__ import annotations

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Localization, LocalizationSpec, LocalizationUpdate
from chalicelib.query.parsers.annotation_bodies import LocalizationBulkDelete, LocalizationBulkUpdate
from chalicelib.query.parsers.bodies import LocalizationIdQuery
from chalicelib.query.parsers.parameters import LocalizationListQuery, LocalizationQuery
from chalicelib.resources.annotations.operations import AnnotationResource, annotation_operations
from chalicelib.resources.annotations.schemas import LocalizationChanged, LocalizationDelete

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
        list_query=LocalizationListQuery,
        id_query=LocalizationIdQuery,
        bulk_update=LocalizationBulkUpdate,
        bulk_delete=LocalizationBulkDelete,
        delete=LocalizationDelete,
    )
)
