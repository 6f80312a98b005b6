"""The errors that a caller can get.

    LimnError                500, never raised itself
    ├── BadInput             400  the request breaks a rule; the message names the field and the rule
    │   └── Taken            400  something else has the name; the body has `"rule": "taken"`
    ├── Unauthenticated      401  no credentials, or invalid credentials
    ├── Forbidden            403  authenticated, but without the permission
    ├── NotFound             404  it does not exist, or is not visible to the caller
    ├── WrongMethod          405  the path exists, the method does not
    ├── Conflict             409  another request was faster
    ├── Gone                 410  it existed, and has ended
    │   └── Expired          410  changes that are no longer kept; the body says where to begin again
    ├── WrongVersion         412  the protocol version of the request is not supported
    ├── TooLarge             413  more bytes, items or pixels than allowed
    ├── WrongContent         415  the content type of the body is not supported
    ├── TooMany              429  too many requests; Retry-After says when to try again
    ├── Damaged              460  the body does not match its checksum (tus 1.0)
    └── Unavailable          503  a dependency does not respond; nothing was changed

The body is always `{"message": ..., "details": ...}`, and perhaps further members. Any other exception is a bug: the
dispatcher returns 500 with a request id, without the cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class LimnError(Exception):
    """The base of errors: `message` is a sentence, `details` gives the cause; empty where the message has it."""

    status: ClassVar[int] = 500
    more: Mapping[str, object] = {}
    """Further members of the body."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.details = details


def reason_of(failure: Exception, *, has_details: bool = False) -> str:
    """Why background work failed, in at most 1,000 characters, for the `message` of its record."""
    if isinstance(failure, LimnError):
        return f"{failure.message} {failure.details if has_details else ''}".strip()[:1000]
    told = str(failure) if type(failure).__name__ in ("Died", "GiveUp", "Retry") else type(failure).__name__
    return f"Something went wrong on our side: {told}."[:1000]


class BadInput(LimnError):
    """The request breaks a rule, which the message names."""

    status = 400


class Taken(BadInput):
    """Something else has the name, the path or the address. Programs know it by `"rule": "taken"` in the body."""

    more: Mapping[str, object] = {"rule": "taken"}


class Unauthenticated(LimnError):
    """Credentials are missing where they are needed, or invalid."""

    status = 401

    def __init__(self, message: str = "Authentication credentials were not provided.") -> None:
        super().__init__(message)


class Forbidden(LimnError):
    """The caller does not have the permission."""

    status = 403

    def __init__(self, message: str = "You do not have permission to perform this action.") -> None:
        super().__init__(message)


class NotFound(LimnError):
    """The object does not exist, or is not visible to the caller."""

    status = 404
    key: object = None
    """The key of the object, where `of` made the error."""
    is_hidden: bool = False
    """Whether the object exists and the caller may not know it."""

    @classmethod
    def of(cls, kind: str, key: object) -> NotFound:
        """The usual message for a missing object: its kind and its key."""
        made = cls(f"No {kind} matches {key}.")
        made.key = key
        return made


class WrongMethod(LimnError):
    """The path exists, but not with this method."""

    status = 405

    def __init__(self, method: str, path: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"Operation {method} not found for {path}", f"Allowed: {', '.join(allowed)}")
        self.allowed = allowed


class Conflict(LimnError):
    """Another request changed or claimed the object first; reading again and retrying may succeed."""

    status = 409


class Modified(LimnError):
    """The object was modified since the caller read it; a retry of the same request cannot succeed."""

    status = 409


class Gone(LimnError):
    """The object existed, and will not exist again."""

    status = 410


class Expired(Gone):
    """Changes that a reader continues from are no longer kept; `more` says where to begin again."""

    def __init__(self, message: str, details: str, *, begin: int, oldest: int) -> None:
        super().__init__(message, details)
        self.begin, self.oldest = begin, oldest
        self.more = {"begin": begin, "oldest": oldest}


class WrongVersion(LimnError):
    """The protocol version of the request is not supported."""

    status = 412


class TooLarge(LimnError):
    """More bytes, items or pixels than allowed; the message gives the limit."""

    status = 413


class WrongContent(LimnError):
    """The content type of the body is not supported."""

    status = 415


class TooMany(LimnError):
    """Too many requests; `retry_after` is the number of seconds until one may succeed, 0 where that is unknown."""

    status = 429

    def __init__(self, message: str, details: str = "", *, retry_after: int = 0) -> None:
        super().__init__(message, details)
        self.retry_after = retry_after


class Damaged(LimnError):
    """The body does not match its checksum."""

    status = 460


class Unavailable(LimnError):
    """A dependency does not respond; `retry_after` as in `TooMany`.

    Where the message does not say that nothing was changed, the request may have taken effect: its response was lost.
    """

    status = 503

    def __init__(self, message: str, details: str = "", *, retry_after: int = 0) -> None:
        super().__init__(message, details)
        self.retry_after = retry_after
