"""Bookmarks: a user's own saved links in a project."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.personal import BOOKMARK, Bookmark, BookmarkSpec, BookmarkUpdate
from chalicelib.core.permissions import Permission
from chalicelib.core.records import padded
from chalicelib.core.resource import Resource
from chalicelib.http.addresses import own_record_of_project
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call
from chalicelib.storage.dynamodb import ids, records


class BookmarkQuery(Resource, kw_only=True):
    """By what bookmarks are narrowed: the exact name, in any case."""

    name: str | None = None


def list_bookmarks(call: Call[Project, BookmarkQuery, None]) -> list[Bookmark]:
    """The caller's own, by name."""
    own = records.list_children(BOOKMARK, call.project, f"{padded(call.caller.id)}|")
    wanted = call.query.name
    kept = [item for item in own if wanted is None or item.name.casefold() == wanted.casefold()]
    return sorted(kept, key=lambda bookmark: (bookmark.name, bookmark.id))


def make_bookmark(call: Call[Project, BookmarkQuery, BookmarkSpec]) -> Bookmark:
    """Keep a link for the caller."""
    number = ids.reserve(BOOKMARK.name)[0]
    bookmark = Bookmark(id=number, project=call.project, user=call.caller.id, name=call.body.name, uri=call.body.uri)
    return records.create(BOOKMARK, bookmark)


OPERATIONS = record_operations(
    RecordResource(
        kind=BOOKMARK,
        tag="Personal",
        address=own_record_of_project(BOOKMARK),
        read=Permission.VIEW,
        write=Permission.EDIT,
        query=BookmarkQuery,
        beside=BookmarkQuery,
        spec=BookmarkSpec,
        update=BookmarkUpdate,
        find=list_bookmarks,
        store=make_bookmark,
    )
)
