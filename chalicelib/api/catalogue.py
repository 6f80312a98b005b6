"""The catalogue of all operations: an explicit tuple, in the order in which they are shown.

A new group of operations is a new line here. Tests check that ids and routes are unique and that every operation is
documented.
"""

from __future__ import annotations

from chalicelib.http.operation import Operation
from chalicelib.resources.accounts import invitation_operations, token_operations
from chalicelib.resources.accounts import operations as accounts_operations
from chalicelib.resources.algorithms import operations as algorithms_operations
from chalicelib.resources.analyses import operations as analyses_operations
from chalicelib.resources.annotations import localization_operations, state_operations
from chalicelib.resources.annotators import operations as annotators_operations
from chalicelib.resources.announcements import operations as announcements_operations
from chalicelib.resources.applets import operations as applets_operations
from chalicelib.resources.bookmarks import operations as bookmarks_operations
from chalicelib.resources.bucket_sources import operations as bucket_sources_operations
from chalicelib.resources.buckets import operations as buckets_operations
from chalicelib.resources.change_logs import operations as change_logs_operations
from chalicelib.resources.clips import operations as clips_operations
from chalicelib.resources.datasets import operations as datasets_operations
from chalicelib.resources.email import notify_operations
from chalicelib.resources.email import operations as email_operations
from chalicelib.resources.events import history_operations
from chalicelib.resources.events import operations as events_operations
from chalicelib.resources.exports import operations as exports_operations
from chalicelib.resources.favorites import operations as favorites_operations
from chalicelib.resources.files import operations as files_operations
from chalicelib.resources.frames import operations as frames_operations
from chalicelib.resources.graphics import operations as graphics_operations
from chalicelib.resources.health import operations as health_operations
from chalicelib.resources.hosted_templates import operations as hosted_templates_operations
from chalicelib.resources.imports import operations as imports_operations
from chalicelib.resources.jobs import cluster_operations
from chalicelib.resources.jobs import operations as jobs_operations
from chalicelib.resources.leaves import operations as leaves_operations
from chalicelib.resources.media import file_operations
from chalicelib.resources.media import operations as media_operations
from chalicelib.resources.media import statistics_operations as media_statistics_operations
from chalicelib.resources.organizations import affiliation_operations
from chalicelib.resources.organizations import operations as organizations_operations
from chalicelib.resources.permalinks import operations as permalinks_operations
from chalicelib.resources.permissions import group_operations as permissions_group_operations
from chalicelib.resources.permissions import operations as permissions_operations
from chalicelib.resources.projects import membership_operations
from chalicelib.resources.projects import operations as projects_operations
from chalicelib.resources.restores import operations as restores_operations
from chalicelib.resources.rewrites import operations as rewrites_operations
from chalicelib.resources.sections import operations as sections_operations
from chalicelib.resources.statistics import operations as statistics_operations
from chalicelib.resources.temporary_files import operations as temporary_files_operations
from chalicelib.resources.transcodes import operations as transcodes_operations
from chalicelib.resources.types import attribute_operations
from chalicelib.resources.types import operations as types_operations
from chalicelib.resources.uploads import operations as uploads_operations
from chalicelib.resources.versions import operations as versions_operations
from chalicelib.resources.webhooks import operations as webhooks_operations
from chalicelib.resources.webhooks import rule_operations

OPERATIONS: tuple[Operation, ...] = (
    *accounts_operations.OPERATIONS,
    *organizations_operations.OPERATIONS,
    *affiliation_operations.OPERATIONS,
    *invitation_operations.OPERATIONS,
    *token_operations.OPERATIONS,
    *permissions_group_operations.OPERATIONS,
    *buckets_operations.OPERATIONS,
    *cluster_operations.OPERATIONS,
    *hosted_templates_operations.OPERATIONS,
    *projects_operations.OPERATIONS,
    *membership_operations.OPERATIONS,
    *types_operations.OPERATIONS,
    *attribute_operations.OPERATIONS,
    *versions_operations.OPERATIONS,
    *sections_operations.OPERATIONS,
    *uploads_operations.OPERATIONS,
    *bucket_sources_operations.OPERATIONS,
    *media_operations.OPERATIONS,
    *file_operations.OPERATIONS,
    *media_statistics_operations.OPERATIONS,
    *transcodes_operations.OPERATIONS,
    *algorithms_operations.OPERATIONS,
    *applets_operations.OPERATIONS,
    *jobs_operations.OPERATIONS,
    *analyses_operations.OPERATIONS,
    *annotators_operations.OPERATIONS,
    *imports_operations.OPERATIONS,
    *frames_operations.OPERATIONS,
    *graphics_operations.OPERATIONS,
    *clips_operations.OPERATIONS,
    *temporary_files_operations.OPERATIONS,
    *files_operations.OPERATIONS,
    *localization_operations.OPERATIONS,
    *state_operations.OPERATIONS,
    *leaves_operations.OPERATIONS,
    *exports_operations.OPERATIONS,
    *datasets_operations.OPERATIONS,
    *statistics_operations.OPERATIONS,
    *rewrites_operations.OPERATIONS,
    *change_logs_operations.OPERATIONS,
    *events_operations.OPERATIONS,
    *history_operations.OPERATIONS,
    *restores_operations.OPERATIONS,
    *webhooks_operations.OPERATIONS,
    *rule_operations.OPERATIONS,
    *email_operations.OPERATIONS,
    *bookmarks_operations.OPERATIONS,
    *favorites_operations.OPERATIONS,
    *announcements_operations.OPERATIONS,
    *permissions_operations.OPERATIONS,
    *permalinks_operations.OPERATIONS,
    *notify_operations.OPERATIONS,
    *health_operations.OPERATIONS,
)
"""The operations of the API: all that the schema document describes."""
