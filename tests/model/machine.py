"""What the state machines share: a project of their own, two people who write in it, and how they are run."""

from __future__ import annotations

import itertools
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import ProjectSpec
from tests.service import Api, join, new_user

CHECKED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
BY_NIGHT = 100
"""Histories; fewer go with every commit."""
_numbers = itertools.count(1)


class TwoWriters(RuleBasedStateMachine):
    """A project of an owner, in which another may do everything as well; `api` asks as one of them."""

    def found(self, word: str) -> Api:
        """Make the project, of a name that begins with a word and nobody else's has; its owner."""
        owner, editor = new_user(is_staff=True), new_user()
        assert owner.user
        self.label = f"{word}_{next(_numbers)}_{os.getpid()}"
        organization = owner.made("Organizations", {"name": self.label})
        spec = ProjectSpec(name=self.label, organization=organization)
        self.project = projects_service.create_project(spec, owner.user.id, "No Access").id
        join(editor, self.project, "Full Control")
        self.writers: list[Api] = [owner, editor]
        self.api = owner
        return owner

    def ask(self, method: str, path: str, body: Any = None, *, status: int = 200, **query: Any) -> Any:
        said = self.api.ask(method, path, body, **query)
        assert said.status == status, (said.status, said.body)
        return said.json

    def write_as(self, who: int) -> int:
        self.api = self.writers[who]
        assert self.api.user
        return self.api.user.id


def run(machine: type[TwoWriters], examples: int, steps: int) -> None:
    """Let so many histories of so many steps happen: the same by every commit, others by night."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=examples < BY_NIGHT,
            suppress_health_check=CHECKED,
            print_blob=True,
            database=None,
        ),
    )
