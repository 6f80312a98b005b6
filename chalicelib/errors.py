"""Every error a caller can get.

    LimnError                500, never raised itself
    ├── BadInput             400  the request breaks a rule; the message names the field and the rule
    ├── Unauthenticated      401  no credentials, or credentials that are not valid
    ├── Forbidden            403  signed in, may know of the thing, may not do this to it
    ├── NotFound             404  there is none, or none this caller may know of
    ├── WrongMethod          405  the path exists, the method does not
    ├── Conflict             409  somebody else was faster
    ├── Gone                 410  there was such a thing, and it is over
    ├── WrongVersion         412  the request speaks a version of a protocol that is not spoken here
    ├── TooLarge             413  more bytes, items or pixels than allowed
    ├── WrongContent         415  the body is not of the type that is taken here
    ├── TooMany              429  too many requests; Retry-After says when to try again
    ├── Damaged              460  the body is not what its checksum says (tus 1.0)
    └── Unavailable          503  a part we depend on is away; nothing was changed

The body is always `{"message": ..., "details": ...}`. Anything else that is raised is our own bug: the dispatcher
answers 500 with a request id and nothing of the cause.
"""

from __future__ import annotations

from typing import ClassVar


class LimnError(Exception):
    """What a caller did or met; `message` says it in a sentence, `details` gives the cause or `"None"`."""

    status: ClassVar[int] = 500

    def __init__(self, message: str, details: str = "None") -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class BadInput(LimnError):
    """The request breaks a rule that its message names."""

    status = 400


class Unauthenticated(LimnError):
    """No credentials where they are needed, or credentials that are not valid."""

    status = 401

    def __init__(self, message: str = "Authentication credentials were not provided.") -> None:
        super().__init__(message)


class Forbidden(LimnError):
    """The caller may not do this."""

    status = 403

    def __init__(self, message: str = "You do not have permission to perform this action.") -> None:
        super().__init__(message)


class NotFound(LimnError):
    """There is no such thing, or none that this caller may know of."""

    status = 404

    @classmethod
    def of(cls, what: str, key: object) -> NotFound:
        """The usual sentence for a missing thing: its kind and the key it was asked for by."""
        return cls(f"No {what} matches {key}.")


class WrongMethod(LimnError):
    """The path exists but not with this method."""

    status = 405

    def __init__(self, method: str, path: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"Operation {method} not found for {path}", f"Allowed: {', '.join(allowed)}")
        self.allowed = allowed


class Conflict(LimnError):
    """Somebody else changed or claimed the thing first; reading again and retrying may succeed."""

    status = 409


class Gone(LimnError):
    """There was such a thing, and it will not come again."""

    status = 410


class WrongVersion(LimnError):
    """The request speaks a version of a protocol that is not spoken here."""

    status = 412


class TooLarge(LimnError):
    """More bytes, items or pixels than are allowed; the message gives the limit."""

    status = 413


class WrongContent(LimnError):
    """The body is not of the type that is taken here."""

    status = 415


class TooMany(LimnError):
    """Too many requests; `retry_after` is in how many seconds one may succeed, 0 where that is not known."""

    status = 429

    def __init__(self, message: str, details: str = "None", *, retry_after: int = 0) -> None:
        super().__init__(message, details)
        self.retry_after = retry_after


class Damaged(LimnError):
    """The body is not what its checksum says."""

    status = 460


class Unavailable(LimnError):
    """Something we depend on does not answer.

    Where the message does not say that nothing was changed, what was asked may have been done: its answer was lost.
    """

    status = 503
