"""Honeypots: the sets of tasks that have them, and the scores of people. For members with Full Control."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import PROJECT, record_of_project
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.honeypots import service as honeypots_service
from chalicelib.resources.honeypots.schemas import HoneypotScoreQuery, HoneypotScoreUpdate
from chalicelib.resources.tasks.honeypot_schemas import HONEYPOT_SCORE, HONEYPOT_SET, HoneypotScore, HoneypotSet
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Honeypots")
SET = record_of_project(HONEYPOT_SET, "uid")
SCORE = record_of_project(HONEYPOT_SCORE, "uid")


@OPERATIONS.get("/rest/Honeypots/{project}", "GetHoneypotSetList", needs=Permission.FULL, addresses=PROJECT)
def list_sets(call: Call[Project, NoQuery, None]) -> list[HoneypotSet]:
    """The sets of tasks of a project that have honeypots, oldest first."""
    return sorted(records.list_children(HONEYPOT_SET, call.project), key=lambda each: each.created_datetime)


@OPERATIONS.delete("/rest/Honeypot/{uid}", "DeleteHoneypotSet", needs=Permission.FULL, addresses=SET)
def delete_set(call: Call[HoneypotSet, NoQuery, None]) -> MessageResponse:
    """End the honeypots of a set: its scores are deleted, suspended people get its tasks, and the reference is shown.

    The tasks stay, as ordinary ones.
    """
    honeypots_service.delete_set(call.target)
    return MessageResponse(message=f"Honeypots {call.target.uid} deleted!")


@OPERATIONS.get("/rest/HoneypotScores/{project}", "GetHoneypotScoreList", needs=Permission.FULL, addresses=PROJECT)
def list_scores(call: Call[Project, HoneypotScoreQuery, None]) -> list[HoneypotScore]:
    """The scores of people on the honeypots of a project, with their latest results."""
    return honeypots_service.list_scores(call.project, call.query)


@OPERATIONS.patch("/rest/HoneypotScore/{uid}", "UpdateHoneypotScore", needs=Permission.FULL, addresses=SCORE)
def change_score(call: Call[HoneypotScore, NoQuery, HoneypotScoreUpdate]) -> HoneypotScore:
    """Let a person have tasks of a set again, or no more. A person who is let again is judged by new results only."""
    return honeypots_service.suspend(call.target) if call.body.suspended else honeypots_service.reinstate(call.target)
