"""Stacks of CloudFormation: their state, what they made, changes and why one failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from botocore.exceptions import WaiterError

from infra.operating.failures import Failed

WAIT = {"Delay": 5, "MaxAttempts": 360}


class Stacks:
    """The stacks of an account and region."""

    def __init__(self, session: Any, say: Callable[[str], object]) -> None:
        self._session, self._say = session, say
        self._clouds = session.client("cloudformation")

    def status(self, stack: str) -> str:
        """The state of a stack; empty where there is none, or only a change set that was never executed."""
        found = self._described(stack)
        return "" if found is None else str(found["StackStatus"])

    def _described(self, stack: str) -> dict[str, Any] | None:
        try:
            [found] = self._clouds.describe_stacks(StackName=stack)["Stacks"]
        except self._clouds.exceptions.ClientError as failure:
            if "does not exist" not in str(failure):
                raise
            return None
        return None if found["StackStatus"] == "REVIEW_IN_PROGRESS" else dict(found)

    def _parameters(self, stack: str) -> set[str] | None:
        found = self._described(stack)
        return None if found is None else {each["ParameterKey"] for each in found.get("Parameters", [])}

    def _outputs(self, stack: str) -> dict[str, str]:
        [found] = self._clouds.describe_stacks(StackName=stack)["Stacks"]
        return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}

    def _reason(self, stack: str) -> str:
        """Why the last operation on a stack failed: its first failures, without what they had end."""
        found: list[str] = []
        for page in self._clouds.get_paginator("describe_stack_events").paginate(StackName=stack):
            for each in page["StackEvents"]:
                status, why = each.get("ResourceStatus", ""), each.get("ResourceStatusReason", "")
                if why == "User Initiated":
                    return "; ".join(found[-3:][::-1]) or "see its events"
                if status.endswith("FAILED") and "cancelled" not in why and each["LogicalResourceId"] != stack:
                    found.append(f"{each['LogicalResourceId']}: {why}")
        return "; ".join(found[-3:][::-1]) or "see its events"

    def _physical(self, stack: str, kinds: Sequence[str]) -> dict[str, list[str]]:
        """The names of what a stack made, by their type; empty where it is gone."""
        found: dict[str, list[str]] = {kind: [] for kind in kinds}
        if self._described(stack) is None:
            return found
        for page in self._clouds.get_paginator("list_stack_resources").paginate(StackName=stack):
            for each in page["StackResourceSummaries"]:
                if each["ResourceType"] in found and each.get("PhysicalResourceId"):
                    found[each["ResourceType"]].append(each["PhysicalResourceId"])
        return found

    def _is_change(self, stack: str, change: str) -> bool:
        """Wait for a change set; whether it would change anything."""
        for _ in range(WAIT["MaxAttempts"]):
            found = self._clouds.describe_change_set(StackName=stack, ChangeSetName=change)
            if found["Status"] == "CREATE_COMPLETE":
                return True
            if found["Status"] == "FAILED":
                reason = found.get("StatusReason", "")
                self._clouds.delete_change_set(StackName=stack, ChangeSetName=change)
                if "didn't contain changes" in reason or "No updates" in reason:
                    return False
                raise Failed(f"{stack}: {reason}")
            time.sleep(WAIT["Delay"])
        raise Failed(f"{stack}: CloudFormation does not come to an end with the change set {change}.")

    def _delete(self, stack: str) -> None:
        if self._parameters(stack) is None:
            self._say(f"{stack}: there is none")
            return
        self._say(f"{stack}: deleting")
        self._clouds.delete_stack(StackName=stack)
        self._wait("stack_delete_complete", stack)

    def _wait(self, what: str, stack: str) -> None:
        """Wait for the end of an operation. Raises Failed: it failed, or goes on after half an hour."""
        try:
            self._clouds.get_waiter(what).wait(StackName=stack, WaiterConfig=WAIT)
        except WaiterError as failure:
            status = self.status(stack)
            if status.endswith("_IN_PROGRESS"):
                raise Failed(f"{stack}: it goes on ({status}). Run the same command again when it has ended.") from None
            raise Failed(f"{stack}: {status}. {self._reason(stack)}") from failure
