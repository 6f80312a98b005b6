"""Share links: show one thing of a project to guests without an account."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.share_links import (
    SHARE_LINK,
    FrameSpan,
    SharedView,
    ShareLink,
    ShareLinkSpec,
    ShareLinkUpdate,
)
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
    """The body with which a guest opens a link."""

    token: Annotated[str, Meta(min_length=1, max_length=200, description="The last part of the address.")]
    passphrase: Annotated[str, Meta(max_length=200)] | None = None


class Guest(Resource, kw_only=True):
    """The token of a guest, and what it shows."""

    token: Annotated[str, Meta(description="For the Authorization header; it ends with the link.")]
    project: int
    name: Annotated[str, Meta(description="The name of the link.")]
    section: int | None = None
    media_ids: list[int] = []
    frames: Annotated[FrameSpan | None, Meta(description="The frames that it shows.")] = None
    view: Annotated[SharedView | None, Meta(description="What the player shows.")] = None
    dataset: Annotated[str | None, Meta(description="The uid of the version of a dataset that it shows.")] = None
    search: Annotated[int | None, Meta(description="The saved search or list whose media it shows.")] = None
    comment: Annotated[int | None, Meta(description="The first comment of the thread that it shows.")] = None
    downloads: Annotated[bool, Meta(description="Whether originals and attachments can be downloaded.")] = False
    expires_datetime: Timestamp


@OPERATIONS.get("/rest/ShareLinks/{project}", "GetShareLinkList", addresses=PROJECT)
def list_links(call: Call[Project, NoQuery, None]) -> list[ShareLink]:
    """The share links of a project, ended ones among them."""
    return records.list_linked(SHARE_LINK, "project", call.project)


@OPERATIONS.post("/rest/ShareLinks/{project}", "CreateShareLink", addresses=PROJECT)
def create_link(call: Call[Project, NoQuery, ShareLinkSpec]) -> ShareLinkCreated:
    """Make a link that shows a part of the project to whoever opens it.

    A folder, media, a span of frames, a view of the player, a version of a dataset, a saved search, or the thread of a
    comment. Guests need no account. They see the media that it leads to with their annotations and nothing else of the
    project, change nothing, and get URLs of files for five minutes at a time. Of a span of frames they get pictures of
    these frames and no file; of a dataset the rows that were frozen; of a search what it finds when they open the link.
    """
    made, url = share_links_service.create(call.target, call.caller, call.body)
    return ShareLinkCreated(message=f"Share link {made.id} created!", id=made.id, url=url, object=made)


@OPERATIONS.get("/rest/ShareLink/{id}", "GetShareLink")
def get_link(call: Call[ShareLink, NoQuery, None]) -> ShareLink:
    """One share link, without its address."""
    return call.target


@OPERATIONS.patch("/rest/ShareLink/{id}", "UpdateShareLink")
def update_link(call: Call[ShareLink, NoQuery, ShareLinkUpdate]) -> MessageResponse:
    """Change the name, passphrase or end of a share link, how often it can be opened, or what can be downloaded."""
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
        frames=link.frames,
        view=link.view,
        dataset=link.dataset,
        search=link.search,
        comment=link.comment,
        downloads=link.downloads,
        expires_datetime=timestamp(end),
    )
