"""How many records of each kind there may be: one line for every kind (`docs/limits.md` repeats it).

Requests read records whole: all favorites of a user, all row protections of a project. So each kind that callers create
has a number, refused with 400 beyond it (`storage/dynamodb/limits.py`). A kind without a line here cannot be declared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MEGABYTES = 100
"""All records of a kind of one owner, such as the sections of a project, together: lists answer with all of them."""


@dataclass(frozen=True, kw_only=True)
class Most:
    """The maximum number of records of one owner.

    Attributes:
        number: how many.
        owner: what has them, as in `A project may have at most 20 webhooks.`
        link: the member whose value the counted records share, one of the kind's links. None: they share the parent.
        begins: makes the prefix of the sort keys of the counted records from a new one. None: all of the parent count.
        may_grow: whether a record may grow after the limit of bytes is reached, because the service goes on with it.
    """

    number: int
    owner: str = "project"
    link: str | None = None
    begins: Callable[[Any], str] | None = None
    may_grow: bool = False


@dataclass(frozen=True)
class Elsewhere:
    """A kind without a number, and the reason: what bounds it, or that no request reads its records whole."""

    reason: str


def _of_user(record: Any) -> str:
    return f"{record.user:012d}|"


_OF_USER = "user in a project"
_TYPES = Elsewhere("1,000 of a project, all kinds together: MOST_TYPES in resources/types/attributes.py")
LIMITS: dict[str, tuple[Most, ...] | Elsewhere] = {
    "accesstoken": (Most(number=50, owner="user"),),
    "affiliation": (Most(number=5_000, owner="organization"), Most(number=1_000, owner="user", link="user")),
    "algorithm": (Most(number=1_000),),
    "analysis": (Most(number=100),),
    "announcement": Elsewhere("made by the operator, by command"),
    "annotator": (Most(number=100),),
    "applet": (Most(number=500),),
    "bookmark": (Most(number=1_000, owner=_OF_USER, begins=_of_user),),
    "bucket": (Most(number=500, owner="organization"),),
    "bucket_source": (Most(number=20), Most(number=1_000, owner="bucket of one name", link="bucket_name")),
    "comment": (Most(number=50_000),),
    "dataset": (Most(number=1_000, may_grow=True),),
    "erasure": (Most(number=10_000, owner="organization", link="organization"),),
    "export": (Most(number=5_000, may_grow=True),),
    "favorite": (Most(number=1_000, owner=_OF_USER, begins=_of_user),),
    "file_type": _TYPES,
    "group": (Most(number=1_000, owner="organization"),),
    "hidden_layers": Elsewhere("one of a member of a project"),
    "honeypotscore": Elsewhere("one of a member of a project and a set of tasks"),
    "honeypotset": (Most(number=1_000),),
    "hostedtemplate": (Most(number=500, owner="organization"),),
    "identity": Elsewhere("one of a user with each identity provider"),
    "identityprovider": (Most(number=20, owner="organization"),),
    "import": (Most(number=5_000, may_grow=True),),
    "inbox": Elsewhere("one of a user"),
    "invitation": (Most(number=5_000, owner="organization"),),
    "job": (Most(number=100_000, may_grow=True),),
    "jobcluster": (Most(number=100, owner="organization"),),
    "leaf_type": _TYPES,
    "localization_type": _TYPES,
    "media_type": _TYPES,
    "membership": (Most(number=5_000), Most(number=5_000, owner="user", link="user")),
    "organization": (Most(number=200, owner="user", link="created_by"),),
    "passwordreset": Elsewhere("read by token; mails are limited for an address and a caller"),
    "project": (Most(number=5_000, owner="organization", link="organization"),),
    "consensus_layer": (Most(number=1_000, may_grow=True),),
    "quality_report": (Most(number=1_000, may_grow=True),),
    "rowprotection": (
        Most(number=5_000, owner="project or organization"),
        Most(number=5_000, owner="subject", link="allowed"),
    ),
    "run": (Most(number=50_000, may_grow=True),),
    "scimuser": Elsewhere("one of a user whom a provider made or took over, with an affiliation each"),
    "section": (Most(number=50_000),),
    "share_link": (Most(number=500, link="project"),),
    "state_type": _TYPES,
    "task": (Most(number=100_000, may_grow=True),),
    "taskworkflow": Elsewhere("one of a project"),
    "temporary_file": (Most(number=10_000),),
    "token": Elsewhere("twenty of a user: another ends the oldest"),
    "triggerrule": (Most(number=20),),
    "unlock": Elsewhere("read by token; one for each mail about a lock, which are limited"),
    "user": Elsewhere("read by id or name; registration is limited, and only the operator lists all"),
    "version": (Most(number=5_000),),
    "webhook": (Most(number=20, link="project"), Most(number=20, owner="organization", link="organization")),
}


def limits_of(name: str) -> tuple[Most, ...]:
    """The limits of a kind by its word; none for a kind that is bounded elsewhere.

    Raises:
        AssertionError: it has no line here.
    """
    if name not in LIMITS:
        raise AssertionError(f"{name}: say in core/record_limits.py how many there may be.")
    found = LIMITS[name]
    return () if isinstance(found, Elsewhere) else found
