"""Permalinks: addresses of media's files that do not expire; the URLs that they redirect to do."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from chalicelib.access import authentication
from chalicelib.access.scope import Scope
from chalicelib.core.keys import key_forms
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import MEDIA_TYPE
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import ImageDefinition, VideoDefinition
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.resource import Resource
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Forbidden, NotFound, Unauthenticated
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Answer, Call, Operations
from chalicelib.resources.uploads import fetching
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.objects import objects, owners

OPERATIONS = Operations(tag="Media")


SECONDS = 86_400
_OF_DTYPE = {"video": "streaming", "image": "image"}


class PermalinkQuery(Resource, kw_only=True):
    """Which file of the media."""

    element: Annotated[
        Literal["auto", "streaming", "archival", "audio", "image", "thumbnail", "thumbnail_gif"],
        Meta(description="The role of the file; auto: the streaming file of a video, the picture of an image."),
    ] = "auto"
    quality: Annotated[int, Meta(ge=0, description="Wanted height in pixels: the nearest there is.")] = 720


@OPERATIONS.get(
    "/rest/Permalink/{id}",
    "GetPermalink",
    needs=Permission.ANYONE,
    addresses=plain(lambda path: entities.maybe(Kind.MEDIA, path["id"]), id=int),
    status=301,
)
def get_permalink(call: Call[Media | None, PermalinkQuery, None]) -> Answer:
    """Redirect to a file of a media.

    For members of its project, and for everyone where the user called anonymous is one. The answer is a redirect to a
    URL that is valid for 24 hours. A file that lies elsewhere is redirected to where its origin is one that the
    deployment or the organization lists; elsewhere it is 404.
    """
    media = call.target
    if media is None or not _may_see(call.scope, media):
        if not call.caller.signed_in:
            raise Unauthenticated
        raise NotFound.of("Media", call.path["id"])
    path = _choose(media, call.query)
    if path is None:
        raise NotFound(f"Media {media.id} has no file of the element {call.query.element}.")
    if key_forms.is_url(path):
        location = _redirectable(media, path)
    else:
        key = owners.authorize(media, [path]).get(path)
        if key is None:
            raise NotFound(f"Media {media.id} names a file that is not its own: {path!r}.")
        location = objects.presign_get(key, SECONDS)
    # the permalink is permanent, the URL that it redirects to is not
    return Answer(status=301, headers={"Location": location, "Cache-Control": "no-store"})


def _redirectable(media: Media, url: str) -> str:
    """A URL of a file elsewhere, if its origin is one that callers may be sent to: the service is no open redirect.

    Raises:
        NotFound: the origin is not listed, or what was stored is not a URL of http or https.
    """
    try:
        plain = origins.normalize(url, "path")
        fetching.check_origin(plain, owners.organization_of(media.project))
    except (BadInput, Forbidden) as refusal:
        message = f"The file of media {media.id} lies at an origin that this deployment does not list."
        raise NotFound(message, refusal.message) from None
    return plain


def _may_see(scope: Scope, media: Media) -> bool:
    """Whether the caller may see the media, or everybody may: the user called anonymous."""
    readers = [scope, *(Scope.from_caller(public, Level.VIEW) for public in [authentication.anonymous()] if public)]
    return any(each.project_level(media.project, Kind.MEDIA.value, lambda: media) > Level.NONE for each in readers)


def _choose(media: Media, query: PermalinkQuery) -> str | None:
    element: str | None = query.element
    if element == "auto":
        element = _OF_DTYPE.get(records.get(MEDIA_TYPE, media.type).dtype)
    entries = getattr(media.media_files, element, None) if media.media_files and element else None
    if not entries:
        return None
    if isinstance(entries[0], VideoDefinition | ImageDefinition):
        entries = sorted(entries, key=lambda entry: abs(entry.resolution[0] - query.quality))
    return str(entries[0].path)
