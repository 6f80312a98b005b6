"""Trigger rules: which events launch which algorithm."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.webhooks import rules
from chalicelib.resources.webhooks.operations import TAG
from chalicelib.resources.webhooks.schemas import RULE, Rule, RuleSpec, RuleUpdate


def make_rule(call: Call[Project, NoQuery, RuleSpec]) -> Rule:
    """Make a rule; it sees later events."""
    return rules.create(call.project, call.body, call.caller)


def change_rule(call: Call[Rule, NoQuery, RuleUpdate], members: dict[str, Any]) -> dict[str, Any]:
    """Replace the given members."""
    return rules.change(call.target, members, call.caller) if members else members


OPERATIONS = record_operations(
    RecordResource(
        kind=RULE,
        tag=TAG,
        audits="policy",
        read=Permission.VIEW,
        write=Permission.FULL,
        spec=RuleSpec,
        update=RuleUpdate,
        store=make_rule,
        check_change=change_rule,
        remove=lambda call: rules.remove(call.target),
    )
)
