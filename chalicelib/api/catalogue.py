"""The catalogue of all operations, in the order in which they are shown.

A new group of operations is a new line here. Tests check that ids and routes are unique and that every operation is
documented.
"""

from __future__ import annotations

from importlib import import_module

from chalicelib.http.operation import Operation
from chalicelib.http.read_back import with_read_back

_MODULES = (
    "accounts.operations",
    "organizations.operations",
    "organizations.affiliation_operations",
    "identity_providers.operations",
    "audit_log.operations",
    "erasures.operations",
    "usage.operations",
    "accounts.invitation_operations",
    "accounts.session_operations",
    "accounts.token_operations",
    "access_tokens.operations",
    "access_tokens.device_operations",
    "second_factors.operations",
    "passkeys.operations",
    "permissions.group_operations",
    "buckets.operations",
    "jobs.cluster_operations",
    "hosted_templates.operations",
    "projects.operations",
    "projects.membership_operations",
    "types.operations",
    "types.attribute_operations",
    "versions.operations",
    "sections.operations",
    "uploads.operations",
    "bucket_sources.operations",
    "media.operations",
    "media.files.operations",
    "transcodes.operations",
    "algorithms.operations",
    "applets.operations",
    "jobs.operations",
    "analyses.operations",
    "annotators.operations",
    "imports.operations",
    "frames.operations",
    "graphics.operations",
    "clips.operations",
    "temporary_files.operations",
    "files.operations",
    "annotations.localization_operations",
    "annotations.state_operations",
    "leaves.operations",
    "comments.operations",
    "tasks.operations",
    "quality.operations",
    "consensus.operations",
    "honeypots.operations",
    "inbox.operations",
    "point_samples.operations",
    "measures.operations",
    "exports.operations",
    "datasets.operations",
    "statistics.operations",
    "statistics.counting_operations",
    "rewrites.operations",
    "telemetry.operations",
    "change_logs.operations",
    "events.operations",
    "events.history_operations",
    "restores.operations",
    "webhooks.operations",
    "webhooks.rule_operations",
    "email.operations",
    "bookmarks.operations",
    "favorites.operations",
    "announcements.operations",
    "permissions.operations",
    "permalinks.operations",
    "share_links.operations",
    "email.notify_operations",
    "health.operations",
)
"""Modules of `chalicelib.resources` with operations."""

OPERATIONS: tuple[Operation, ...] = with_read_back(
    operation for name in _MODULES for operation in import_module(f"chalicelib.resources.{name}").OPERATIONS
)
"""The operations of the API: all that the schema document describes."""
