"""The one dispatcher: from a request to a response, by the operation's declaration alone.

The order of checks is the same for every operation: route → credentials (401) → is the addressed record or entity
visible to the caller (404) → permission (403) → decode and validate (400, 413) → are references in the body visible
(400) → the handler. Where the body says what the path addresses, it is decoded before. Every LimnError becomes its
status and `{message, details}`; any other error is a bug: 500 with the request's id, without the cause.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import msgspec

from chalicelib.access import effective_permission, rate_limits, references, view_queries
from chalicelib.access.authentication import (
    Caller,
    WrongNetwork,
    authorization_of,
    caller_of,
    membership_key,
    read_ahead,
)
from chalicelib.access.identities import public_projects
from chalicelib.access.scope import Scope
from chalicelib.core.log.commits_read import Read, commits_read
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Level, Permission, Verdict, decide, name_of_level
from chalicelib.core.time.deadline import REQUEST_SECONDS, time_limit
from chalicelib.core.usage_limits import check_exhausted
from chalicelib.errors import Forbidden, LimnError, NotFound, Unauthenticated
from chalicelib.http import idempotency, read_back
from chalicelib.http.bounds import check_encoding
from chalicelib.http.decoding import decode_body, decode_path, decode_query, name_member
from chalicelib.http.encoding import SAFE_IN_BROWSERS, HttpAnswer, encode, encode_refusal, fitting, negotiate
from chalicelib.http.operation import GUESTS, Call, Located, Operation
from chalicelib.http.reports import auditing
from chalicelib.query.parsers.parameters import ListQuery
from chalicelib.queues.base import of_tenant
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import ahead
from chalicelib.storage.dynamodb.progress import usage
from chalicelib.storage.objects import objects, presigned

COMMIT_HEADER = "Limn-Commit"
"""The number of the project's commit that a list or count shows: the events after it are not in the list.

After a write it is the number of the last commit that the request made.
"""
GUEST_SECONDS = 300
"""The longest life of the URLs of objects that guests of share links get."""
log = logging.getLogger("limn.api")


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as API Gateway passes it: path variables still quoted, headers with lower-case names."""

    method: str
    path: str
    variables: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    id: str = ""
    network_address: str = ""


def dispatch(operation: Operation, request: Request) -> HttpAnswer:
    """Serve one request. Never raises."""
    with (
        time_limit(REQUEST_SECONDS),
        ahead.reading(),
        view_queries.looking_ahead(),
        presigned.lifetimes(),
        chain.drafting(chain.Draft()),
        commits_read() as read,
    ):
        try:
            return idempotency.once(operation, request, lambda: _complete(operation, request, read))
        except LimnError as error:
            refused = encode_refusal(operation, error, request.headers)
            return replace(refused, headers={**SAFE_IN_BROWSERS, **refused.headers, **operation.always})


def _complete(operation: Operation, request: Request, read: Read) -> HttpAnswer:
    """The response with the headers that all have."""
    answer = _served(operation, request, read)
    shown = {} if read.shown is None else {COMMIT_HEADER: str(read.shown)}
    headers = {**SAFE_IN_BROWSERS, **answer.headers, **shown, **operation.always}
    return HttpAnswer(status=answer.status, headers=headers, body=answer.body)


def _served(operation: Operation, request: Request, read: Read) -> HttpAnswer:
    body = None
    try:
        call = admit(operation, request)
        body = call.body
        auditing.begin(operation, call)
        if call.unchanged is None or body.answers_unchanged:
            with of_tenant(f"organization-{call.organization}" if call.organization else f"user-{call.caller.id}"):
                result = operation.handler(call)
        else:
            result = _nothing_changed(operation, call.unchanged)
        auditing.finish()
        usage.count(call.project, "requests")
        result = effective_permission.add_masks(call.scope, result)
        if operation.is_reversible and read.written and "change" in getattr(result, "__struct_fields__", ()):
            result = msgspec.structs.replace(result, change=read.written)
        return within_limit(encode(operation, result, request.query, request.headers))
    except LimnError as error:
        shown = name_member(error, body) if isinstance(error, NotFound) else error
        return encode_refusal(operation, _audited(operation, request, error) or shown, request.headers)
    except Exception:
        log.exception("%s failed", operation.id, extra={"request": request.id, "operation": operation.id})
        wrong = LimnError("Something went wrong on our side.", f"request {request.id}")
        return encode_refusal(operation, wrong, request.headers)


def _audited(operation: Operation, request: Request, error: LimnError) -> LimnError | None:
    """Write the entry of a refusal in the audit log; the error where it cannot be written."""
    try:
        auditing.refuse(operation, decode_path(operation, request.variables), error)
    except NotFound:
        return None
    except LimnError as failure:
        return failure
    return None


def admit(operation: Operation, request: Request) -> Call[Any, Any, Any]:
    """All checks before the handler: the caller, the addressed entity or record, and the permission.

    Raises:
        LimnError: the caller lacks the permission, or the request breaks a rule.
    """
    _read_ahead(operation, request)
    caller = _caller(operation, request)
    if caller.signed_in:
        ahead.expect(lambda project: [membership_key(caller.id, project)])
    if not caller.signed_in and operation.needs is not Permission.ANYONE:
        caller = _reader(operation, request, caller) or _refuse()
    _check_credential(operation, caller)
    scope = Scope.from_caller(caller, operation.needs.level)
    path = decode_path(operation, request.variables)
    is_told_by_path = operation.addresses is None or operation.addresses.locate_by is None
    found, level = Located[Any](target=None), Level.NONE
    if is_told_by_path:
        try:
            found, level = _allowed(operation, scope, path, None)
        except NotFound:
            reader = None if caller.is_guest else _reader(operation, request, caller)
            if reader is None:
                raise
            caller, scope = reader, Scope.from_caller(reader, operation.needs.level)
            _check_credential(operation, caller)
            found, level = _allowed(operation, scope, path, None)
    accept = negotiate(operation, request.query, request.headers)
    query = decode_query(operation, request.query)
    sent_back: dict[str, read_back.SentBack] = {}
    if request.body:
        check_encoding(request.headers)
    body = decode_body(operation, request.body, request.headers.get("content-type"), sent_back, query)
    if not is_told_by_path:
        found, level = _allowed(operation, scope, path, body)
    references.check(scope, found.project or 0, query, body)
    call: Call[Any, Any, Any] = Call(
        caller=caller,
        target=found.target,
        project=found.project or 0,
        organization=found.organization or 0,
        level=level,
        scope=scope,
        path=path,
        query=query,
        body=body,
        accept=accept,
        headers=dict(request.headers),
    )
    if sent_back:
        shown = _shown(operation, call)
        read_back.check(sent_back, operation.read_back.same, shown)
        call = replace(call, unchanged=None if msgspec.to_builtins(body) else shown)
    return call


def _allowed(operation: Operation, scope: Scope, path: dict[str, Any], body: Any) -> tuple[Located[Any], Level]:
    """What the path addresses, and the caller's level there, if the caller may.

    Raises:
        NotFound, Unauthenticated, Forbidden: the caller may not, or there is nothing.
    """
    found: Located[Any] = Located(target=None)
    level = Level.NONE
    if operation.addresses is not None:
        found = _addressed(operation, path, body)
        auditing.address(operation, path, found)
        level = operation.addresses.level(scope, found)
    caller = scope.caller
    match decide(operation.needs, signed_in=caller.signed_in, is_staff=caller.is_staff, level=level):
        case Verdict.UNKNOWN:
            hidden = _not_there(operation, path)
            hidden.is_hidden = True
            raise hidden
        case Verdict.NOT_SIGNED_IN:
            raise Unauthenticated
        case Verdict.FORBIDDEN:
            raise refusal(operation.needs, level)
        case Verdict.ALLOWED:
            if operation.spends and isinstance(found.target, Project):
                check_exhausted(found.target.exhausted, operation.spends)
            return found, level


def _caller(operation: Operation, request: Request) -> Caller:
    """The caller, who is recorded for the audit log."""
    try:
        caller = caller_of(request.headers, request.network_address)
    except WrongNetwork as wrong:
        auditing.identify(operation, wrong.caller)
        raise
    auditing.identify(operation, caller)
    return caller


def _shown(operation: Operation, call: Call[Any, Any, Any]) -> dict[str, Any]:
    """What the GET of the operation's path answers to the caller now; nothing where that is not the caller's to see."""
    get = operation.read_back.shown_by
    assert get is not None, operation.id  # noqa: S101 nothing is sent back otherwise
    found = Located(target=call.target, project=call.project, organization=call.organization)
    if get.addresses is not None and get.addresses is not operation.addresses:
        found = _addressed(get, call.path, None)
    level = get.addresses.level(call.scope, found) if get.addresses is not None else Level.NONE
    if (
        decide(get.needs, signed_in=call.caller.signed_in, is_staff=call.caller.is_staff, level=level)
        != Verdict.ALLOWED
    ):
        return {}
    asked = replace(call, target=found.target, query=get.query(), body=None, accept=None, headers={})
    result = effective_permission.add_masks(call.scope, get.handler(asked))
    shown: dict[str, Any] = msgspec.json.decode(encode(get, result, {}, {}).body)
    return shown


def _nothing_changed(operation: Operation, shown: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a change whose body repeats the present values, as clients send them back."""
    answer: dict[str, Any] = {"message": read_back.UNCHANGED}
    return answer | ({"object": shown} if "object" in operation.returns.__struct_encode_fields__ else {})


def _reader(operation: Operation, request: Request, caller: Caller) -> Caller | None:
    """The reader of the public project that the path leads to, in place of a caller whom nothing else lets in."""
    if operation.id not in GUESTS:
        return None
    try:
        found = _addressed(operation, decode_path(operation, request.variables), None)
    except NotFound:
        return None
    return public_projects.reader(found.project or 0, caller)


def _refuse() -> NoReturn:
    raise Unauthenticated


def _check_credential(operation: Operation, caller: Caller) -> None:
    """Raise Forbidden where the caller's credential is not for the operation; URLs for guests live short.

    Raises:
        TooMany: too many requests of guests came from the network address.
    """
    if caller.credential and caller.is_limited and not operation.takes(caller.credential):
        raise Forbidden(f"The credential of this request does not reach {operation.id}.")
    if caller.is_guest:
        rate_limits.check_guest(caller)
        presigned.shorten(GUEST_SECONDS)


def _read_ahead(operation: Operation, request: Request) -> None:
    """Read the caller's token and the addressed record or entity in one call, before either is looked at.

    The new commits of a project whose entities are listed are read at the same time.
    """
    if (address := operation.addresses) is None:
        return
    try:
        path = decode_path(operation, request.variables)
    except NotFound:
        return  # answered after the credentials are checked
    authorization = authorization_of(request.headers)
    if authorization and issubclass(operation.query, ListQuery) and "project" in path:
        view_queries.look_ahead(int(path["project"]))
    read_ahead(authorization, lambda user: address.ahead(path, user))


def _addressed(operation: Operation, path: dict[str, Any], body: Any) -> Located[Any]:
    """The addressed record or entity; where it is missing, the error of one that the caller may not see."""
    assert operation.addresses is not None  # noqa: S101 the caller looked
    try:
        return operation.addresses.find(path, body)
    except NotFound:
        if not operation.addresses.kind:
            raise
        raise _not_there(operation, path) from None


def _not_there(operation: Operation, path: dict[str, Any]) -> NotFound:
    """The same for what does not exist and for what the caller may not see: ids cannot be probed."""
    what = operation.addresses.kind.replace("_", " ") if operation.addresses else ""
    return NotFound(f"No {what or 'object'} {' '.join(map(str, path.values()))} for this user.")


def refusal(needs: Permission, level: Level) -> Forbidden:
    """The error for a caller without the needed permission: it names the needed level and the caller's."""
    held = name_of_level(needs, level)
    return Forbidden(
        f"You do not have permission to perform this action: it needs {needs.value!r}, and you have {held!r}."
    )


def within_limit(answer: HttpAnswer) -> HttpAnswer:
    """The response, or a redirect to its object because it is too large for a function to return."""
    if len(answer.body) <= fitting():
        return answer
    encoding = answer.headers.get("Content-Encoding")
    url = objects.put_answer(answer.body, answer.headers["Content-Type"], encoding, presigned.longest())
    return HttpAnswer(status=303, headers={"Location": url}, body=b"")
