"""One of everything an operation may address, and somebody at every distance from it."""

from __future__ import annotations

import itertools
import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.access.groups import GROUP
from chalicelib.access.identities.providers import IDENTITY_PROVIDER
from chalicelib.core.models.algorithms import ALGORITHM, ANALYSIS, APPLET
from chalicelib.core.models.datasets import DATASET, EXPORT
from chalicelib.core.models.integrations import BUCKET, HOSTED_TEMPLATE, JOB_CLUSTER
from chalicelib.core.models.jobs import JOB
from chalicelib.core.models.personal import BOOKMARK, ERASURE, FAVORITE
from chalicelib.core.models.share_links import SHARE_LINK
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import now
from chalicelib.resources.accounts import administration
from chalicelib.resources.accounts.invitations import INVITATION
from chalicelib.resources.annotators.schemas import ANNOTATOR
from chalicelib.resources.bucket_sources.schemas import BUCKET_SOURCE
from chalicelib.resources.comments.schemas import COMMENT
from chalicelib.resources.consensus.schemas import CONSENSUS_LAYER
from chalicelib.resources.imports.schemas import IMPORT
from chalicelib.resources.quality.schemas import QUALITY_REPORT
from chalicelib.resources.tasks.honeypot_schemas import HONEYPOT_SCORE, HONEYPOT_SET
from chalicelib.resources.tasks.schemas import TASK
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE
from chalicelib.resources.webhooks.delivery import PURPOSE
from chalicelib.resources.webhooks.schemas import RULE, WEBHOOK, Webhook
from chalicelib.settings import settings
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import ids, records
from infra.emulator.dynamodb import rows
from tests.contract.examples import required_of
from tests.service import Api, affiliate, join, new_user

OTHERS: tuple[RecordKind[Any], ...] = (
    ALGORITHM, ANALYSIS, ANNOTATOR, APPLET, BOOKMARK, BUCKET_SOURCE, COMMENT, DATASET, EXPORT, FAVORITE, GROUP,
    HOSTED_TEMPLATE, IDENTITY_PROVIDER, IMPORT, INVITATION, SHARE_LINK, JOB, QUALITY_REPORT, RULE, TASK, TEMPORARY_FILE,
    CONSENSUS_LAYER, ERASURE, HONEYPOT_SET, HONEYPOT_SCORE,
)  # fmt: skip
"""Of which one is made straight in the table."""
LEVELS = ["View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control"]
_names = itertools.count(1)
_writes: Counter[str] = Counter()
TABLES = (settings().records_table, settings().entities_table, settings().log_table)


def is_own(operation: Any) -> bool:
    """Whether an operation addresses what does not exist for other users."""
    return operation.addresses is not None and operation.addresses.kind in (
        "bookmark",
        "favorite",
        "export",
        "quality_report",
        "consensus_layer",
    )


@dataclass(frozen=True)
class World:
    """A project in an organization, what is in them, and who is where."""

    owner: Api
    members: dict[str, Api]
    stranger: Api
    neighbour: Api
    """A member, with full control, of another project of another organization."""
    organization_member: Api
    inactive: Api
    """A member with full control whose account was switched off."""
    superuser: Api
    """Somebody of staff, who is a member of nothing."""
    things: dict[str, Any]
    """What addresses call a thing → its id."""

    def variables(self, operation: Any) -> dict[str, Any]:
        """The path variables with which an operation addresses the thing of this world."""
        if operation.addresses is None:
            return {}
        names = operation.addresses.variables
        if "elemental_id" in names:
            return {"version": self.things["version"], "elemental_id": self.things["elemental_id"]}
        if "kind" in names:
            return {"project": self.things["project"], "kind": "media", "id": self.things["media"]}
        what = "media" if operation.id == "GetPermalink" else operation.addresses.kind
        known = self.things.get(what)
        named = {"uid": known} if known is not None else {}
        return {name: named.get(name, self.things.get(name, known if known is not None else 1)) for name in names}

    def path(self, operation: Any) -> str:
        """The path with which an operation addresses the thing of this world."""
        variables = {name: str(value) for name, value in self.variables(operation).items()}
        return str(operation.path.format(**variables))

    def writes(self) -> Counter[str]:
        """How many rows of each table were written so far: a refused request adds none."""
        return Counter({table: _writes[table] for table in TABLES})


def _count(changes: list[rows.Change]) -> None:
    _writes.update(change[0].table for change in changes)


def build() -> World:  # noqa: PLR0915 one of everything
    """Make it, through the API where that is the shorter way."""
    if _count not in rows.listeners:
        rows.listeners.append(_count)
    owner = new_user(is_staff=True)
    assert owner.user
    things: dict[str, Any] = {}
    organization = owner.made("Organizations", {"name": f"world {next(_names)} {uuid.uuid4().hex[:6]}"})
    project = owner.made("Projects", {"name": "world", "organization": organization})
    things |= {"organization": organization, "project": project, "user": owner.user.id}
    members = {level: new_user() for level in LEVELS}
    for level, member in members.items():
        join(member, project, level)
    things["affiliation"] = owner.get(f"Affiliations/{organization}").json[0]["id"]
    things["membership"] = owner.get(f"Memberships/{project}").json[0]["id"]
    things["version"] = owner.get(f"Versions/{project}").json[0]["id"]
    things["media_type"] = owner.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
    types = {"media_types": [things["media_type"]]}
    things["localization_type"] = owner.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", **types})
    things["state_type"] = owner.made(f"StateTypes/{project}", {"name": "s", "association": "Media", **types})
    things["leaf_type"] = owner.made(f"LeafTypes/{project}", {"name": "leaf"})
    things["file_type"] = owner.made(f"FileTypes/{project}", {"name": "file"})
    # where an address reads the kind of type from the body, `examples` names this one
    things["type"] = things["file_type"]
    things["section"] = owner.made(f"Sections/{project}", {"name": "section"})
    media = {"type": things["media_type"], "name": "a.mp4", "md5": ""}
    things["media"] = owner.made(f"Medias/{project}", media)
    things["elemental_id"] = str(uuid.uuid4())
    box = {"media_id": things["media"], "type": things["localization_type"], "frame": 0}
    things["localization"] = owner.made(
        f"Localizations/{project}", {**box, "version": things["version"], "elemental_id": things["elemental_id"]}
    )[0]
    state = {"media_ids": [things["media"]], "type": things["state_type"], "elemental_id": things["elemental_id"]}
    things["state"] = owner.made(f"States/{project}", {**state, "version": things["version"]})[0]
    things["leaf"] = owner.made(f"Leaves/{project}", {"name": "leaf", "type": things["leaf_type"]})[0]
    file = {"name": "file", "description": "", "type": things["file_type"]}
    things["file"] = owner.made(f"Files/{project}", file)
    store = {"access_key": "a", "secret_key": "s", "endpoint_url": "https://s3.example.org", "region": "eu"}
    things[BUCKET.name] = owner.made(f"Buckets/{organization}", {"name": "bucket", **store})
    cluster = {"name": "cluster", "host": "c.example.org", "port": 443, "token": "t", "cert": "c"}
    things[JOB_CLUSTER.name] = owner.made(f"JobClusters/{organization}", cluster)
    for kind in OTHERS:
        if kind.name not in things:
            things[kind.name] = _minimal(kind, things)
    things["uid"] = things[JOB.name]
    hook = {"name": "hook", "url": "https://192.0.2.1/hook", "types": ["*"], "user": owner.user.id, "created": now()}
    things[WEBHOOK.name] = ids.reserve(WEBHOOK.name)[0]
    sealed = sealing.seal(b"whsec_AAAA", PURPOSE)
    records.create(WEBHOOK, Webhook(id=things[WEBHOOK.name], project=project, sealed=sealed, **hook))
    neighbour, other = new_user(is_staff=True), "another world"
    elsewhere = neighbour.made("Organizations", {"name": f"{other} {uuid.uuid4().hex[:6]}"})
    neighbour.made("Projects", {"name": other, "organization": elsewhere})
    organization_member = new_user()
    affiliate(organization_member, organization)
    inactive = new_user()
    join(inactive, project, "Full Control")
    administration.set_active(inactive.user, active=False)
    superuser = new_user(is_staff=True)
    return World(owner, members, new_user(), neighbour, organization_member, inactive, superuser, things)


def _minimal(kind: RecordKind[Any], things: dict[str, Any]) -> Any:
    """The id of a new record with nothing but what its Struct requires."""
    members = required_of(kind.struct)
    members |= {name: things[name] for name in ("project", "organization", "user") if name in members}
    members |= {name: things["media"] for name in ("media_id",) if name in members}
    members |= {"type": things["localization_type"]} if kind is FAVORITE else {}
    for name in ("created_datetime", "modified_datetime", "eol_datetime", "start_time"):
        if name in members:
            members[name] = now() if name != "eol_datetime" else "2999-01-01T00:00:00.000Z"
    # some are unique across all worlds
    members |= {name: str(uuid.uuid4()) for name in ("name", "registration_token") if name in members}
    members |= {"token_hash": str(uuid.uuid4())} if kind is SHARE_LINK else {}
    number = str(uuid.uuid4()) if kind.identity == "uid" else ids.reserve(kind.name)[0]
    members[kind.identity] = number
    records.create(kind, msgspec.convert(members, kind.struct))
    return number
