"""Share links: made for one thing of a project, opened by guests without an account, ended at once."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any

import msgspec

from chalicelib.access import passwords, rate_limits
from chalicelib.access.authentication import DAY, Caller, project_of
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.credentials import Credential, hash_of, key_of, new_token, pack_ids
from chalicelib.core.models.share_links import SHARE_LINK, ShareLink, ShareLinkSpec, ShareLinkUpdate, has_ended
from chalicelib.core.resource import given, now
from chalicelib.core.text.dates import read_date
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Forbidden, NotFound
from chalicelib.resources.share_links import targets
from chalicelib.settings import settings
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import attempts, credentials, ids, records
from chalicelib.storage.dynamodb.transactions import Transaction

TRIALS, TRIAL_SECONDS = 10, 600
"""Wrong passphrases of a link, and how long its passphrase then counts for nobody."""
SESSION_SECONDS = DAY
"""How long a guest looks on after opening a link; then it is opened again."""
SEARCH_SECONDS = 3600
"""The same of a search: what it finds is read when the link is opened."""
LONGEST_DAYS = 366


def create(project: Project, caller: Caller, spec: ShareLinkSpec) -> tuple[ShareLink, str]:
    """Make a link; returns it, and its address, which is shown once.

    Raises:
        BadInput: it names nothing, several things, or what is not in the project; or there are too many.
    """
    targets.check(project.id, spec)
    token = passwords.new_mailed_token()
    made = ShareLink(
        id=ids.reserve(SHARE_LINK.name)[0],
        project=project.id,
        user=caller.id,
        section=spec.section,
        media_ids=list(dict.fromkeys(spec.media_ids or ())),
        frames=spec.frames,
        view=spec.view,
        dataset=spec.dataset,
        search=spec.search,
        created_datetime=now(),
        token_hash=hash_of(token),
    )
    made = msgspec.structs.replace(made, **_members_of(spec), **targets.of_comment(project.id, spec.comment))
    concern(target=f"share link {made.id}")
    return records.create(SHARE_LINK, made), f"{settings().public_url}/#/shared/{token}"


def change(link: ShareLink, body: ShareLinkUpdate) -> None:
    """Change the members given; guests who have opened the link feel it with their next request."""
    members = _members_of(body)
    if not members:
        raise BadInput("Nothing to change: give name, passphrase, expires_datetime, most_openings or downloads.")
    records.edit(SHARE_LINK, link.id, lambda current: msgspec.structs.replace(current, **members))


def open_link(token: str, passphrase: str | None, caller: Caller) -> tuple[ShareLink, str, datetime]:
    """Open a link: the link, the token of a guest, and when that ends.

    Raises:
        NotFound: there is no such link, or it has ended.
        Forbidden: the passphrase is missing or wrong.
        TooMany: the caller opened too many.
    """
    rate_limits.check(rate_limits.LINK_OPENING, caller)
    link = records.get_claimed(SHARE_LINK, "token", hash_of(token))
    if link is None:
        raise _no_longer_valid()
    concern(project=link.project, target=f"share link {link.id}")
    _check_usable(link)
    _check_passphrase(link, passphrase)
    guest = new_token("guest", link.id)
    found = targets.media_found(link)
    end = clock.utc_now() + timedelta(seconds=SESSION_SECONDS if link.search is None else SEARCH_SECONDS)
    if link.expires_datetime is not None:
        end = min(end, datetime.fromisoformat(link.expires_datetime))
    credential = Credential(
        id=key_of(guest), kind="guest", holder=link.id, found=pack_ids(found), created_datetime=now()
    )

    def count(current: ShareLink) -> ShareLink:
        _check_usable(current)
        return msgspec.structs.replace(current, openings=current.openings + 1, last_opened_datetime=now())

    def admit(change: Transaction, _before: ShareLink, _after: ShareLink) -> None:
        credentials.put(change, credential, int(end.timestamp()), now()[:10])

    return records.edit(SHARE_LINK, link.id, count, also=admit), guest, end


def _check_usable(link: ShareLink) -> None:
    project_of(link.project)
    if has_ended(link) or (link.most_openings is not None and link.openings >= link.most_openings):
        raise _no_longer_valid()


def _no_longer_valid() -> NotFound:
    return NotFound("This link is not valid, or has ended.")


def _check_passphrase(link: ShareLink, passphrase: str | None) -> None:
    """Check a passphrase. A trial is counted before it is checked, so that parallel ones do not pass the limit."""
    if not link.passphrase_hash:
        return
    if not passphrase:
        raise Forbidden("passphrase: this link needs one.")
    began, key = time.monotonic(), f"share link|{link.id}"
    number = attempts.count(key, TRIALS, TRIAL_SECONDS, extend=True)
    if number is None or not passwords.is_match(link.passphrase_hash, passphrase):
        concern(kind="refusal")
        time.sleep(max(0.0, began + passwords.REFUSAL_SECONDS - time.monotonic()))
        raise Forbidden("passphrase: it is wrong, or was tried too often in the last ten minutes.")
    attempts.clear(key)


def _members_of(body: ShareLinkUpdate) -> dict[str, Any]:
    """The members of a body as they are stored."""
    wanted = ShareLinkUpdate.__struct_fields__
    members = {name: value for name, value in given(body).items() if name in wanted}
    if "passphrase" in members:
        passphrase = members.pop("passphrase")
        members["passphrase_hash"] = passwords.hash_password(passphrase) if passphrase else ""
        members["has_passphrase"] = bool(passphrase)
    if members.get("expires_datetime"):
        end = read_date("expires_datetime", members["expires_datetime"])
        moment, today = datetime.fromisoformat(end), clock.utc_now()
        if not today < moment <= today + timedelta(days=LONGEST_DAYS):
            raise BadInput(f"expires_datetime: it must be within {LONGEST_DAYS} days from now; null for no end.")
        members["expires_datetime"] = end
    return members
