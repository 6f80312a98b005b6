"""Share links: show a section or media to guests without an account."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.share_links import SHARE_LINK, ShareLink, ShareLinkSpec, ShareLinkUpdate
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, Timestamp, timestamp
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import PROJECT, record_of_project
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.share_links import service as share_links_service
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(
    tag="Share links", needs=Permission.FULL, addresses=record_of_project(SHARE_LINK), audits="share"
)


class ShareLinkCreated(Resource, kw_only=True):
    """A new share link and its address, which is never shown again."""

    message: str
    id: int
    url: Annotated[str, Meta(description="The address that guests open in a browser.")]
    object: ShareLink


class GuestSpec(Resource, kw_only=True):
    """What a guest opens a link with."""

    token: Annotated[str, Meta(min_length=1, max_length=200, description="The last part of the address.")]
    passphrase: Annotated[str, Meta(max_length=200)] | None = None


class Guest(Resource, kw_only=True):
    """The token of a guest, and what it shows."""

    token: Annotated[str, Meta(description="For the Authorization header; it ends with the link.")]
    project: int
    name: Annotated[str, Meta(description="The name of the link.")]
    section: int | None = None
    media_ids: list[int] = []
    expires_datetime: Timestamp


@OPERATIONS.get("/rest/ShareLinks/{project}", "GetShareLinkList", addresses=PROJECT)
def list_links(call: Call[Project, NoQuery, None]) -> list[ShareLink]:
    """The share links of a project, ended ones among them."""
    return records.list_linked(SHARE_LINK, "project", call.project)


@OPERATIONS.post("/rest/ShareLinks/{project}", "CreateShareLink", addresses=PROJECT)
def create_link(call: Call[Project, NoQuery, ShareLinkSpec]) -> ShareLinkCreated:
    """Make a link that shows a section, or media, with their annotations to whoever opens it.

    Guests need no account. They see these media with all layers of annotations and nothing else of the project, change
    nothing, and get URLs of files for five minutes at a time.
    """
    made, url = share_links_service.create(call.target, call.caller, call.body)
    return ShareLinkCreated(message=f"Share link {made.id} created!", id=made.id, url=url, object=made)


@OPERATIONS.get("/rest/ShareLink/{id}", "GetShareLink")
def get_link(call: Call[ShareLink, NoQuery, None]) -> ShareLink:
    """One share link, without its address."""
    return call.target


@OPERATIONS.patch("/rest/ShareLink/{id}", "UpdateShareLink")
def update_link(call: Call[ShareLink, NoQuery, ShareLinkUpdate]) -> MessageResponse:
    """Change the name, passphrase or end of a share link, or how often it can be opened."""
    share_links_service.change(call.target, call.body)
    return MessageResponse(message=f"Share link {call.target.id} updated successfully!")


@OPERATIONS.delete("/rest/ShareLink/{id}", "DeleteShareLink")
def delete_link(call: Call[ShareLink, NoQuery, None]) -> MessageResponse:
    """End a share link, at once for guests who have opened it, too."""
    records.remove(SHARE_LINK, call.target.id)
    return MessageResponse(message=f"Share link {call.target.id} deleted successfully!")


@OPERATIONS.post("/rest/Guest", "OpenShareLink", needs=Permission.ANYONE, addresses=None, status=200)
def open_link(call: Call[None, NoQuery, GuestSpec]) -> Guest:
    """Open a share link: the answer has the token of a guest, for a day at most."""
    link, token, end = share_links_service.open_link(call.body.token, call.body.passphrase, call.caller)
    return Guest(
        token=token,
        project=link.project,
        name=link.name,
        section=link.section,
        media_ids=link.media_ids,
        expires_datetime=timestamp(end),
    )
