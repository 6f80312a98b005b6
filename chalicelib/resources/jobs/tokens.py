"""The tokens of jobs: each run has one of its own, for its project, at most at the level that its algorithm declares.

It is made with its run and ends with it. No user's own token reaches an engine or a step.
"""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.access.authentication import Caller
from chalicelib.core.models.credentials import Credential, key_of, new_token
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.resources.jobs.engines.base import WorkflowRefused
from chalicelib.resources.jobs.runs import Run
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import credentials
from chalicelib.storage.dynamodb.transactions import Transaction

PURPOSE = "token of a job"
LONGEST_SECONDS = 90 * 24 * 3600
"""A job that its engine never ends has no token after that."""


def issue(runs: Sequence[Run], caller: Caller, level: Level, launches: int) -> dict[str, Credential]:
    """Give each run a token, encrypted in it; the credentials by the uid of the run, to be stored with it.

    `launches` is how many launches by trigger rules led to them.
    """
    made = {}
    for run in runs:
        token = new_token("job", caller.id)
        run.sealed = sealing.seal(token.encode(), PURPOSE)
        run.credential = key_of(token)
        made[run.uid] = Credential(
            id=run.credential,
            kind="job",
            user=caller.id,
            username=caller.username,
            holder=run.uid,
            projects=[run.project],
            level=level,
            launches=launches,
            created_datetime=now(),
        )
    return made


def store(change: Transaction, credential: Credential) -> None:
    """Add the credential of a run to the transaction that stores the run."""
    credentials.put(change, credential, int(clock.seconds()) + LONGEST_SECONDS)


def token_of(run: Run) -> str:
    """The token of a run. Raises WorkflowRefused for a run of a release whose runs had none of their own."""
    if not run.credential:
        raise WorkflowRefused("It was launched before jobs had tokens of their own; launch it again.")
    return sealing.unseal(run.sealed, PURPOSE).decode()
