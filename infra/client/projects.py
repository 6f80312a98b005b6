"""A project and selections of its media, localizations, states, leaves and files, read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from . import display, failures, tables
from .failures import SERVICE_ERROR, Failure

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .client import AsyncClient, Client
    from .types import (
        File,
        FileQuery,
        Leaf,
        LeafQuery,
        Localization,
        LocalizationListQuery,
        Media,
        MediaListQuery,
        State,
        StateQuery,
    )

T = TypeVar("T")
PAGE = 5_000
Rows = list[Any]


def windows(
    query: Mapping[str, Any], size: int, limit: int | None = None, *, by_position: bool = False
) -> Generator[dict[str, Any], Rows, None]:
    """The parameters of each page; it is sent the rows of the page.

    A page begins after the last id of the one before, so that rows written meanwhile shift nothing. Lists that are
    sorted are paged by position.
    """
    count, after, last = whole(query, "start") or 0, query.get("after"), 0
    before: Rows = []
    ends = [end for end in (whole(query, "stop"), None if limit is None else count + limit) if end is not None]
    end = min(ends, default=None)
    by_position = by_position or "sort_by" in query or "start" in query
    while True:  # once also where nothing is asked for: the service judges the filters
        most = size if end is None else max(min(size, end - count), 0)
        window = {"start": count, "stop": count + most} if by_position else {"after": after, "stop": most}
        rows = yield {**query, **window}
        count += len(rows)
        if len(rows) < most or (end is not None and count >= end):
            return
        if rows == before or (not by_position and rows[-1]["id"] <= last):
            raise repeated()
        after = last = rows[-1]["id"]
        before = rows


def repeated() -> Failure:
    """What ends a list whose pages do not."""
    return Failure("The service repeats a page of a list, which would have no end.", SERVICE_ERROR)


def whole(query: Mapping[str, Any], name: str) -> int | None:
    """A whole number of a query; None without. Raises Failure where it is none."""
    if (given := query.get(name)) is None:
        return None
    try:
        return max(int(given), 0)
    except (TypeError, ValueError):
        raise Failure(f"{name}: {given!r} is not a whole number.") from None


class _Asked(Generic[T]):
    """What a selection asks."""

    def __init__(self, kind: str, project: int, query: dict[str, Any], size: int = PAGE) -> None:
        if given := query.keys() & {"format", "operation"}:
            raise Failure(f"{min(given)}: a selection has objects; for other answers call client.get_{kind}_list.")
        self.kind, self.project, self.query, self.size = kind, project, query, size
        if isinstance(fields := query.get("fields"), list | tuple):
            self.query = {**query, "fields": ",".join(fields)}

    @property
    def _list(self) -> str:
        return f"get_{self.kind}_list"

    @property
    def _count(self) -> tuple[str, dict[str, Any]]:
        left_out = ("fields", "sort_by", "after", "start", "stop")
        kept = {name: value for name, value in self.query.items() if name not in left_out}
        return (self._list, {**kept, "operation": "count"}) if self.kind == "file" else (f"get_{self.kind}_count", kept)

    def _pages(self, size: int = 0) -> Generator[dict[str, Any], Rows, None]:
        fields = self.query.get("fields")
        needed = {} if fields is None or "id" in str(fields).split(",") else {"fields": f"id,{fields}"}
        return windows({**self.query, **needed}, size or self.size)


class Selection(_Asked[T]):
    """Some objects of a project, as the service has them when they are read: iterating reads page by page."""

    def __init__(self, client: Client, kind: str, project: int, query: dict[str, Any]) -> None:
        super().__init__(kind, project, query)
        self.client = client

    def pages(self) -> Iterator[list[T]]:
        """The objects in lists of at most `size`."""
        windows = self._pages()
        rows: Rows | None = None
        try:
            while True:
                rows = getattr(self.client, self._list)(self.project, **windows.send(cast("Rows", rows)))
                if rows:
                    yield rows
        except StopIteration:
            return

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page

    def scan(self) -> Iterator[Any]:
        """The objects as `pyarrow.RecordBatch`es, for what does not fit into memory."""
        for table in tables.pages(self.client, self.kind, self.project, self._pages(tables.PAGE)):
            yield from table.to_batches()

    def to_arrow(self) -> Any:
        """All objects as a `pyarrow.Table`."""
        pa = failures.library("pyarrow")
        return pa.concat_tables(tables.pages(self.client, self.kind, self.project, self._pages(tables.PAGE)))

    def to_pandas(self) -> Any:
        """All objects as a `pandas.DataFrame`."""
        failures.library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """All objects as a `polars.DataFrame`."""
        return failures.library("polars").from_arrow(self.to_arrow())

    def count(self) -> int:
        """How many match."""
        name, query = self._count
        return int(getattr(self.client, name)(self.project, **query))

    def _repr_html_(self) -> str:
        first = getattr(self.client, self._list)(self.project, **{**self.query, "stop": 10})
        return display.table(first, self.count())


class AsyncSelection(_Asked[T]):
    """As `Selection`, for programs with an event loop."""

    def __init__(self, client: AsyncClient, kind: str, project: int, query: dict[str, Any]) -> None:
        super().__init__(kind, project, query)
        self.client = client

    async def pages(self) -> AsyncIterator[list[T]]:
        """The objects in lists of at most `size`."""
        windows = self._pages()
        rows: Rows | None = None
        while True:
            try:
                asked = windows.send(cast("Rows", rows))
            except StopIteration:
                return
            rows = await getattr(self.client, self._list)(self.project, **asked)
            if rows:
                yield rows

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for row in page:
                yield row

    async def count(self) -> int:
        """How many match."""
        name, query = self._count
        return int(await getattr(self.client, name)(self.project, **query))


class Project:
    """A project: its objects by the filters of docs/guides/queries.md."""

    def __init__(self, client: Client, number: int) -> None:
        self.client, self.id = client, number

    def media(self, **query: Unpack[MediaListQuery]) -> Selection[Media]:
        """Images and videos."""
        return Selection(self.client, "media", self.id, dict(query))

    def localizations(self, **query: Unpack[LocalizationListQuery]) -> Selection[Localization]:
        """Boxes, lines, dots and polygons."""
        return Selection(self.client, "localization", self.id, dict(query))

    def states(self, **query: Unpack[StateQuery]) -> Selection[State]:
        """States of media and frames, and tracks."""
        return Selection(self.client, "state", self.id, dict(query))

    def leaves(self, **query: Unpack[LeafQuery]) -> Selection[Leaf]:
        """Leaves of label trees."""
        return Selection(self.client, "leaf", self.id, dict(query))

    def files(self, **query: Unpack[FileQuery]) -> Selection[File]:
        """Files that are no media."""
        return Selection(self.client, "file", self.id, dict(query))

    def frame(self, media: int, frame: int = 0, *, label: str | None = None, **query: Any) -> display.Frame:
        """A frame of a media with its localizations, as notebooks show it; `label` is the attribute beside shapes."""
        return display.Frame.read(self.client, self.id, media, frame, label=label, **query)

    def write(
        self,
        table: Any,
        kind: Literal["localization", "state", "leaf"] = "localization",
        *,
        dry_run: bool = False,
        parallel: int = 4,
    ) -> tables.Written:
        """Make the objects of a project what a table says: columns as `to_arrow` has them.

        A row with an `id`, or with the `elemental_id` of an existing object (of its `version`, if the row has one),
        changes that object, where it differs; `delete` deletes it. Any other row creates an object, 500 at once, all or
        none. A column that is not there, or has no value, changes nothing.

        Args:
            table: of pyarrow, polars or pandas, anything with an Arrow stream, or a list of dicts.
            kind: what the rows are.
            dry_run: only compare, and tell what would be done.
            parallel: requests at once.
        """
        return tables.write(self.client, kind, self.id, table, is_dry=dry_run, parallel=parallel)


class AsyncProject:
    """As `Project`, for programs with an event loop."""

    def __init__(self, client: AsyncClient, number: int) -> None:
        self.client, self.id = client, number

    def media(self, **query: Unpack[MediaListQuery]) -> AsyncSelection[Media]:
        """Images and videos."""
        return AsyncSelection(self.client, "media", self.id, dict(query))

    def localizations(self, **query: Unpack[LocalizationListQuery]) -> AsyncSelection[Localization]:
        """Boxes, lines, dots and polygons."""
        return AsyncSelection(self.client, "localization", self.id, dict(query))

    def states(self, **query: Unpack[StateQuery]) -> AsyncSelection[State]:
        """States of media and frames, and tracks."""
        return AsyncSelection(self.client, "state", self.id, dict(query))

    def leaves(self, **query: Unpack[LeafQuery]) -> AsyncSelection[Leaf]:
        """Leaves of label trees."""
        return AsyncSelection(self.client, "leaf", self.id, dict(query))
