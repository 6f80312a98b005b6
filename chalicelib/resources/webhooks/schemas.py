"""Webhooks, their deliveries, and rules: the structs of bodies, records and answers."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.models.integrations import Url
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Name, Resource, Timestamp, shown
from chalicelib.resources.events.events import KINDS

MOST_TYPES = 50
LONGEST_KEPT = 168
"""Hours for which a replaced secret may stay valid."""
MOST_DELIVERIES = 500

_ONE = "|".join(sorted(name.replace(".", r"\.") for name in KINDS if "." in name))
_ALL = "|".join(sorted(name for name in KINDS if "." not in name))
Pattern = Annotated[str, Meta(min_length=1, max_length=100), shown(rf"^(\*|limn\.(\*|{_ONE}|({_ALL})\.\*))$")]
Patterns = Annotated[
    list[Pattern],
    Meta(
        min_length=1,
        max_length=MOST_TYPES,
        description="Types of events: `limn.media.ready`, `limn.localization.*` or `*`.",
    ),
]
Filter = Annotated[
    str,
    Meta(
        max_length=4096,
        description="Parameters of the list of the one kind that `types` names, such as `?attribute_gt=Depth::10`. "
        "Only entities that match when the event is delivered are sent; deletions always are.",
    ),
]
Active = Annotated[bool, Meta(description="Whether it works. Setting it makes the caller its owner.")]


class WebhookUpdate(Resource, kw_only=True):
    """The body of a PATCH of a webhook."""

    name: Name | None = None
    url: Annotated[Url, Meta(description="https at a public address; redirects are not followed.")] | None = None
    types: Patterns | None = None
    query: Filter | UnsetType | None = UNSET
    active: Active | None = None


class WebhookSpec(WebhookUpdate, kw_only=True):
    """The body that registers a webhook."""

    name: Name
    url: Annotated[Url, Meta(description="https at a public address; redirects are not followed.")]
    types: Patterns
    query: Filter | None = None


# `token_invalid` is of rules of earlier releases, which kept a token
DisabledReason = Literal[
    "gone",
    "failing",
    "owner_lost_access",
    "algorithm_missing",
    "algorithm_changed",
    "launches_itself",
    "token_invalid",
    "refused",
    "query_refused",
    "error",
]
Details = Annotated[str, Meta(description="What refused it, such as the rule that the query breaks.")]


class Webhook(Resource, kw_only=True):
    """A server that gets the events of a project, or of the projects of an organization."""

    hidden: ClassVar = frozenset({"sealed", "sealed_before"})

    id: int
    project: int | None = None
    organization: int | None = None
    name: Name
    url: Url
    types: list[str]
    query: str | None = None
    active: bool = True
    user: Annotated[int, Meta(description="The owner: only events that this user may see are sent.")]
    created: Timestamp
    disabled_reason: Annotated[
        DisabledReason | None,
        Meta(
            description="`gone`: the server answered 410. `failing`: it did not accept an event for three days. "
            "`owner_lost_access`: the owner may no longer register webhooks here. `query_refused`: the query breaks a "
            "rule by now; events since then are sent once it is changed and the webhook is active again."
        ),
    ] = None
    disabled_details: Details | None = None
    disabled_at: Timestamp | None = None
    previous_secret_until: Annotated[
        Timestamp | None, Meta(description="Until then messages are also signed with the secret before.")
    ] = None
    sealed: str = ""
    """The secret, sealed."""
    sealed_before: str = ""
    effective_permission: int = 0


class WebhookCreated(Resource, kw_only=True):
    """The id of a new webhook, and its secret, which is never shown again."""

    message: str
    id: int
    secret: Annotated[str, Meta(description="`whsec_` and 32 random bytes in base64.")]


class RotationSpec(Resource, kw_only=True):
    """How long the present secret stays valid beside the new one."""

    keep_hours: Annotated[
        int,
        Meta(ge=0, le=LONGEST_KEPT, description="Hours for which the present secret stays valid beside the new one."),
    ] = 24


class SecretRotated(Resource, kw_only=True):
    """The new secret, which is never shown again."""

    message: str
    secret: Annotated[str, Meta(description="The new secret; it is not shown again.")]
    previous_secret_until: Annotated[
        Timestamp | None, Meta(description="Time until which the old secret is valid, ISO 8601; null if it is not.")
    ] = None


class DeliveryQuery(Resource, kw_only=True):
    """A page of deliveries."""

    stop: Annotated[int, Meta(ge=1, le=MOST_DELIVERIES, description="The number of deliveries.")] = 100
    before: (
        Annotated[str, Meta(max_length=64, description="`page` of the last delivery of the page before.")] | None
    ) = None
    failed: Annotated[int, Meta(ge=0, le=1, description="1: only failed ones.")] = 0


class Delivery(Resource, kw_only=True):
    """One attempt to send an event. Deliveries are kept for seven days."""

    page: Annotated[str, Meta(description="For `before`, to list what came earlier.")] = ""
    time: Timestamp
    project: int
    event: Annotated[str, Meta(description="The id of the event, and `webhook-id` of the message.")]
    type: Annotated[str, Meta(description="Type of the event.")]
    attempt: Annotated[int, Meta(description="From 1; 0 for one that was asked for by redelivery or ping.")]
    status: Annotated[int | None, Meta(description="The HTTP status; absent where there was no answer.")] = None
    milliseconds: Annotated[int, Meta(description="How long the receiver took.")] = 0
    excerpt: Annotated[str, Meta(description="The beginning of the answer, or why there was none.")] = ""
    next_attempt: Annotated[
        Timestamp | None, Meta(description="Time of the next attempt, ISO 8601; null if no attempt is planned.")
    ] = None


class RedeliverySpec(Resource, kw_only=True):
    """What to send again: one event, or all from a point on, in order. Give one of the three."""

    event: Annotated[str, Meta(min_length=3, max_length=64, description="The id of an event.")] | None = None
    after: (
        Annotated[str, Meta(min_length=1, max_length=32, description="A position in the feed: all after it.")] | None
    ) = None
    since: Annotated[str, Meta(max_length=40, description="A time (ISO 8601): all commits from then on.")] | None = None
    project: Annotated[Id, Meta(description="For a webhook of an organization: of which project.")] | None = None


class RuleUpdate(Resource, kw_only=True):
    """The body of a PATCH of a trigger rule."""

    name: Name | None = None
    types: Patterns | None = None
    query: Filter | UnsetType | None = UNSET
    algorithm: Annotated[Name | None, Meta(description="The name of a registered algorithm of the project.")] = None
    annotator: Annotated[Id | None, Meta(description="Id of an annotator, in place of an algorithm.")] = None
    every: Annotated[
        Annotated[int, Meta(ge=1, le=100_000)] | None, Meta(description="Of an annotator: use every n-th frame.")
    ] = None
    active: Active | None = None


class RuleSpec(RuleUpdate, kw_only=True):
    """The body that makes a trigger rule."""

    name: Name
    types: Patterns
    query: Filter | None = None


class Rule(Resource, kw_only=True):
    """Launches an algorithm or annotator on each media that an event is about, once for each media."""

    hidden: ClassVar = frozenset({"digest"})

    id: int
    project: int
    name: Name
    types: list[str]
    query: str | None = None
    algorithm: Name | None = None
    annotator: Annotated[int | None, Meta(description="Id of the annotator that is run instead.")] = None
    every: Annotated[int, Meta(description="Of an annotator: every n-th frame is used.")] = 1
    active: bool = True
    user: Annotated[int, Meta(description="The owner, as whom the algorithm is launched.")]
    created: Timestamp
    disabled_reason: Annotated[
        DisabledReason | None,
        Meta(
            description="`algorithm_changed`: somebody else changed what the algorithm or annotator runs; making the "
            "rule active again approves that. `launches_itself`: its jobs make media that launch it again. "
            "`owner_lost_access`: the owner may no longer launch algorithms here."
        ),
    ] = None
    disabled_details: Details | None = None
    disabled_at: Timestamp | None = None
    failing_since: Annotated[Timestamp | None, Meta(description="Since when each attempt has failed.")] = None
    last_error: Annotated[str, Meta(description="Why the last attempt failed; it is tried again.")] | None = None
    digest: Annotated[str, Meta(description="The SHA-256 of what the algorithm ran when the owner approved it.")] = ""
    effective_permission: int = 0


RULE = RecordKind(name="triggerrule", struct=Rule, title="TriggerRule", parent=("project", "project"))
WEBHOOK = RecordKind(name="webhook", struct=Webhook, links={"project": "project", "organization": "organization"})
