"""The declaration of an operation: the source of route, decoding, permission, document, reference and matrix test.

    OPERATIONS = Operations(tag="Files")

    @OPERATIONS.patch("/rest/File/{id}", "UpdateFile", needs=Permission.EDIT, addresses=entity(Kind.FILE))
    def update_file(call: Call[File, NoQuery, FileUpdate]) -> MessageResponse:
        ...

The annotations tell the types of the query, the body and the answer; the docstring is what the reference says of the
operation. A handler gets one `Call` and returns a Resource, a list of them, a scalar, or an `Answer` with bytes of its
own. Before it runs, the dispatcher has decoded and validated the request, found the addressed record or entity, and
checked the permission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from chalicelib.access.authentication import Caller
from chalicelib.access.scope import Scope
from chalicelib.core.log.audit import AuditKind
from chalicelib.core.models.credentials import Credential
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.resource import Resource
from chalicelib.core.usage_limits import LimitName
from chalicelib.http.read_back import NOTHING, Catalogue, ReadBack
from chalicelib.storage.dynamodb.ahead import RowKey

T = TypeVar("T")
Q = TypeVar("Q")
B = TypeVar("B")
H = TypeVar("H", bound=Callable[..., Any])


class NoQuery(Resource):
    """The operation has no query parameters."""


@dataclass(frozen=True, kw_only=True)
class Located(Generic[T]):
    """The addressed record or entity, and its project or organization."""

    target: T
    project: int | None = None
    organization: int | None = None


@dataclass(frozen=True, kw_only=True)
class Address(Generic[T]):
    """How a path leads to the addressed record or entity, and the caller's level there.

    Attributes:
        kind: the word of the addressed kind, as in keys; empty where no membership is checked.
        locate: the record or entity of the path's variables; raises NotFound.
        locate_by: the same from the variables and the body, where the path alone does not determine its kind.
        level: the caller's level there; `inside` that for its content, see `addresses.within`.
        variables: the path's variables: name → int or str.
        ahead: the rows that `locate` and `level` will probably read, as far as the path and a probable user tell.
    """

    kind: str
    locate: Callable[[dict[str, Any]], Located[T]]
    locate_by: Callable[[dict[str, Any], Any], Located[T]] | None = None
    level: Callable[[Scope, Located[T]], Level]
    inside: Callable[[Scope, Located[T]], Level] | None = None
    variables: dict[str, type] = field(default_factory=lambda: {"id": int})
    ahead: Callable[[dict[str, Any], int | None], list[RowKey]] = lambda _path, _user: []

    def find(self, path: dict[str, Any], body: Any = None) -> Located[T]:
        """The record or entity, or NotFound."""
        return self.locate_by(path, body) if self.locate_by else self.locate(path)


@dataclass(frozen=True, kw_only=True)
class Call(Generic[T, Q, B]):
    """One request that may be served.

    Attributes:
        caller: the caller; `Caller.anonymous()` where the operation is open to anyone.
        target: the addressed record or entity; None where the operation addresses nothing.
        project: the id of the project it belongs to; 0 where it belongs to none.
        organization: the id of the organization it belongs to; 0 where it belongs to none.
        level: the caller's level there.
        scope: what the caller may reach, for queries and for rows that the handler reads or writes.
        path: the path's variables, unquoted and converted.
        query: the query parameters; body: the decoded body (None where optional and absent).
        accept: the requested format: `json`, `jsonl`, `csv`, or an image format for pictures.
        headers: the request's headers, lower-case names.
        unchanged: what the GET of the path answers, where the body only names members of it as they are.
    """

    caller: Caller
    target: T
    project: int
    organization: int
    level: Level
    scope: Scope
    path: dict[str, Any]
    query: Q
    body: B
    accept: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    unchanged: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response whose bytes a handler made itself: documents from the view, a picture, a redirect."""

    status: int = 200
    content_type: str = "application/json"
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Present = Callable[[dict[str, Any]], dict[str, Any]]
"""A document converted for human readers."""


@dataclass(frozen=True, kw_only=True)
class Documents:
    """A list response as JSON documents, one per item, in order: the dispatcher joins them in the requested format.

    `columns` are the attributes that become columns of their own in CSV and Arrow, with their dtypes; `present`
    converts a document for CSV; `members` are the other columns of an empty list, where they are not all that its items
    have. `headers` are added to the response.
    """

    documents: Iterable[bytes]
    columns: Mapping[str, str] = field(default_factory=dict)
    present: Present | None = None
    members: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


SESSIONS = frozenset({"CreateSession", "DeleteSession"})
"""Operations that keep a credential in a browser and take it away; they give it nothing."""
GUESTS = frozenset(
    {
        *("GetProject", "GetVersionList", "GetVersion", "GetSectionList", "GetSection", "GetStatistics"),
        *(f"Get{kind}Type{ending}" for kind in ("Media", "Localization", "State") for ending in ("", "List")),
        *(f"Get{kind}{ending}{by}" for kind in ("Media", "Localization", "State") for ending in ("List", "Count")
          for by in ("", "ById")),
        *("GetMedia", "GetLocalization", "GetState", "GetMediaNext", "GetMediaPrev", "GetFrame", "GetFrameTimes"),
        *("GetCommentList", "GetComment", "GetDataset", "GetDatasetRows"),
    }
)  # fmt: skip
"""The operations that guests of share links and readers of public projects may call.

They read, and their scope leaves out what is not shown.
"""
NOT_AUDITED = frozenset({"Localizations", "States", "Comments", "Personal", "Temporary files", "Pages"})
"""Groups whose deletions are not in the audit log: annotations are in the change log, which is kept as long."""
GROUPS: set[str] = set()
"""The groups of operations: the tags of all that were declared."""
Handler = Callable[[Call[Any, Any, Any]], Any]


@dataclass(frozen=True, kw_only=True)
class OneOf:
    """A body or response that has one of several shapes, in order of preference."""

    options: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation of the interface; most are declared by a decorator of `Operations`.

    Attributes:
        id: the CamelCase name clients derive their method names from.
        method, path: the route; `{name}` are path variables.
        summary: one sentence for the reference; `details` more of it.
        needs: the permission; there is no operation without one.
        addresses: the address of the path; None where the path addresses no record or entity.
        query: a Resource whose members are the query parameters.
        body: the type of the body, `OneOf(...)`, `bytes` for a body as it came, of whatever type it says it is, or
            None; `body_required` is false where it may be absent.
        returns: the type of the answer: a Resource, `list[Resource]`, int, bool, `OneOf(...)`, a content type such as
            `"image/*"`, or None for no declared shape.
        schema_body, schema_answer: the types that `/schema` shows instead, where clients build a keyword or class from
            the contract's name: a PATCH of an applet takes `applet_spec`.
        status: of success; 201 for POST by default.
        tags: its group in the reference.
        legacy: an operation that only older clients call.
        lends_writing: whether its answer lets the caller write, as presigned URLs of uploads do.
        scoped: whether a credential with limits, such as that of a job, may call it; by default where it needs a level,
            which the credential caps, or only reads.
        audits: what its entries in the audit log are about; see `audited`.
        spends: what it uses more of; it is refused where the project has reached a limit of that.
        makes: the name of what the ids of the answer identify ("Job"), where the id of the operation does not say it.
        is_past_gone: whether it answers 410 for what was there once, such as changes that are no longer kept.
        reversible: whether Restore undoes it, so that its answer has the number of its change; every DELETE's has.
        function: the Lambda function that serves it: `api`, or `media`, which has FFmpeg and no DuckDB (decision 195).
    """

    id: str
    method: str
    path: str
    summary: str
    needs: Permission
    handler: Handler
    addresses: Address[Any] | None = None
    query: type[Resource] = NoQuery
    body: Any = None
    body_required: bool = True
    returns: Any = None
    schema_body: Any = None
    schema_answer: Any = None
    status: int = 0
    details: str = ""
    tag: str = ""
    legacy: bool = False
    scoped: bool | None = None
    lends_writing: bool = False
    audits: AuditKind | None = None
    spends: tuple[LimitName, ...] = ()
    makes: str = ""
    is_past_gone: bool = False
    reversible: bool = False
    function: Literal["api", "media"] = "api"
    formats: tuple[str, ...] = ()
    """The values of `?format=` beside json: ("jsonl", "csv") for entity lists, picture formats for pictures."""
    always: Mapping[str, str] = field(default_factory=dict)
    """Headers of every response, including errors."""
    catalogue: Catalogue | None = field(default=None, compare=False, repr=False)
    """All operations, among them this one."""

    def __post_init__(self) -> None:
        """Note the group."""
        if self.tag:
            GROUPS.add(self.tag)

    @cached_property
    def read_back(self) -> ReadBack:
        """The members of answers that its bodies may name."""
        return self.catalogue.members_of(self) if self.catalogue else NOTHING

    @cached_property
    def all_formats(self) -> tuple[str, ...]:
        """The formats of its response, the default first: every list also has jsonl and csv, every GET pprint."""
        if isinstance(self.returns, str):
            return self.formats
        lists = ("jsonl", "csv") if get_origin(self.returns) is list else ()
        indented = ("pprint",) if self.method == "GET" and self.returns is not None else ()
        return tuple(dict.fromkeys(("json", *lists, *self.formats, *indented)))

    @property
    def is_reversible(self) -> bool:
        """Whether its answer has the number of its change, where it made one."""
        return self.reversible or self.method == "DELETE"

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing, and gives no right to: a PUT `…ById` reads what its body chooses."""
        if self.method == "PUT":
            return self.id.endswith("ById")
        return self.method in ("GET", "HEAD", "OPTIONS") and not self.lends_writing

    def takes(self, credential: Credential) -> bool:
        """Whether a credential with limits may call it."""
        if credential.kind == "guest":
            # what is open to anybody and leads to something, as permalinks do, follows rules of its own
            return self.id in GUESTS or (self.needs is Permission.ANYONE and self.is_read and self.addresses is None)
        if self.id in SESSIONS:
            return True
        if self.needs is Permission.STAFF or not credential.allows(self.tag, is_read=self.is_read):
            return False
        if self.scoped is not None:
            return self.scoped
        return self.needs.level > Level.NONE or self.is_read or credential.is_whole

    @cached_property
    def audited(self) -> AuditKind | None:
        """What its entries in the audit log are about; None where it has none: it reads, or changes annotations."""
        if self.is_read:
            return None
        if self.audits is None and self.method == "DELETE" and self.tag not in NOT_AUDITED:
            return "deletion"
        return self.audits

    @property
    def success(self) -> int:
        """The status of a success."""
        return self.status or (201 if self.method == "POST" else 200)


class Operations(list[Operation]):
    """The operations of a module, in the order shown; its decorators declare handlers. See the module's docstring.

    A decorator takes the path, the id and other members of `Operation`. What neither it nor `defaults` name is read
    from the handler: `query` and `body` from its `Call` (a body `X | None` may be absent), `returns` from its return
    annotation, `summary` from the first line of its docstring and `details` from the paragraphs before `Raises:`.
    Where a handler serves several operations, the decorator nearest to it is declared first.
    """

    def __init__(self, **defaults: Any) -> None:
        super().__init__()
        self.defaults = defaults

    def get(self, path: str, name: str, *, by_ids: type[Resource] | None = None, **members: Any) -> Callable[[H], H]:
        """Declare a GET; with `by_ids`, the type of its body, also the PUT `{name}ById`, which chooses by ids."""
        declare = self.declare("GET", path, name, **members)
        if by_ids is None:
            return declare
        summary = f"The same as {name}, of those that the body chooses by ids or an object search."
        chosen = {**members, "summary": summary, "details": "", "body": by_ids}
        also = self.declare("PUT", path, f"{name}ById", **chosen)

        def declare_both(handler: H) -> H:
            return also(declare(handler))

        return declare_both

    def post(self, path: str, name: str, **members: Any) -> Callable[[H], H]:
        """Declare a POST."""
        return self.declare("POST", path, name, **members)

    def put(self, path: str, name: str, **members: Any) -> Callable[[H], H]:
        """Declare a PUT."""
        return self.declare("PUT", path, name, **members)

    def patch(self, path: str, name: str, **members: Any) -> Callable[[H], H]:
        """Declare a PATCH."""
        return self.declare("PATCH", path, name, **members)

    def delete(self, path: str, name: str, **members: Any) -> Callable[[H], H]:
        """Declare a DELETE."""
        return self.declare("DELETE", path, name, **members)

    def declare(self, method: str, path: str, name: str, **members: Any) -> Callable[[H], H]:
        """Declare an operation of any method."""

        def append(handler: H) -> H:
            known = _members_of(handler) | self.defaults | members
            self.append(Operation(id=name, method=method, path=path, handler=handler, **known))
            return handler

        return append


def _members_of(handler: Callable[..., Any]) -> dict[str, Any]:
    """What a handler tells of its operation."""
    hints = get_type_hints(handler, include_extras=True)
    _, query, body = get_args(next(iter(hints.values())))
    summary, _, details = (handler.__doc__ or "").partition("\n")
    returns, kinds = hints["return"], get_args(body)
    optional = type(None) in kinds
    if optional:
        (body,) = (kind for kind in kinds if kind is not type(None))
    return {
        "query": NoQuery if query is Any else query,
        "body": None if body in (type(None), Any) else body,
        "body_required": not optional,
        "returns": None if returns in (Answer, Documents) else returns,
        "summary": summary,
        "details": " ".join(details.partition("Raises:")[0].split()),
    }
