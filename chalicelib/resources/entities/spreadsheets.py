"""The CSV form of lists: users' addresses and names of media instead of ids.

Applies to the streamed CSV of media, localizations and states.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from chalicelib.access import users, view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import USER
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.storage.dynamodb import records

USERS = ("user", "created_by", "modified_by")


class _Named(msgspec.Struct):
    name: str | None = None


_named = msgspec.json.Decoder(_Named)


class Presenter:
    """Replaces the ids of users and media in a document by addresses and names.

    Of a user whom the caller does not know (`users.is_known`) it is the user name. An id stays for a guest, if its user
    is deleted, or if the caller may not see the media. A state of several media has a list of names. Nothing is read
    before the first document.
    """

    def __init__(self, view: view_queries.View, scope: Scope) -> None:
        self._view = view
        self._scope = scope
        self._user = cache(self._name_of_user)
        self._name = cache(self._column)
        self._seen = cache(self._visible)

    def __call__(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document for a spreadsheet."""
        shown = dict(document)
        for member in USERS:
            if isinstance(number := shown.get(member), int):
                shown[member] = self._user(number)
        match shown.get("media"):
            case int(number) | [int(number)]:
                shown["media"] = self._name(number)
            case list(numbers):
                shown["media"] = [self._name(number) for number in numbers]
        return shown

    def _column(self, number: int) -> int | str:
        document = self._view.document(Kind.MEDIA, number)
        seen = self._seen()
        if document is None or (seen is not None and number not in seen):
            return number
        return _named.decode(document).name or number

    def _name_of_user(self, number: int) -> int | str:
        caller = self._scope.caller
        user = None if caller.is_guest else records.maybe(USER, number)
        if user is None or not user.email:
            return number
        return user.email if users.is_known(caller, user) else user.username

    def _visible(self) -> frozenset[int] | None:
        """The media that the caller may see; None for all."""
        if Kind.MEDIA not in self._scope.terms(self._view.project):
            return None
        everything = filters.parse(Kind.MEDIA, MediaQuery(archive_lifecycle="all"), None)
        return frozenset(view_queries.ids(self._view, everything, self._scope))
