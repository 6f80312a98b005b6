"""The parameters, bodies and answer of checked bulk changes."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from chalicelib.core.resource import Resource, shown
from chalicelib.core.responses import Change
from chalicelib.query.parsers.entities import EntityIdQuery, EntityQuery
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.telemetry.schemas import FileName, JoinRule, Start, TimeColumn, Tolerance

Count = Annotated[int, Meta(ge=0)] | None
DryRun = Annotated[bool, Meta(description="Only answer what would change, and what would be refused.")]
Url = Annotated[str, Meta(min_length=8, max_length=2000), shown("^https?://")]
_FARTHEST = 2**31
Frame = Annotated[int, Meta(ge=0, lt=_FARTHEST)]


class FramesQuery(EntityQuery, kw_only=True):
    """The annotations whose frames change."""

    kind: Annotated[Literal["localization", "state"], Meta(description="The kind of the annotations.")] = "localization"
    dry_run: DryRun = False
    count: Annotated[Count, Meta(description="How many must match; otherwise nothing is changed.")] = None


class FramesUpdate(EntityIdQuery, kw_only=True):
    """The new frames: all shifted by an offset, or mapped by a table."""

    shift: Annotated[
        Annotated[int, Meta(gt=-_FARTHEST, lt=_FARTHEST)] | None, Meta(description="Added to each frame.")
    ] = None
    frames: Annotated[
        Annotated[list[Annotated[list[Frame], Meta(min_length=2, max_length=2)]], Meta(min_length=1)] | None,
        Meta(description="Pairs of a frame and its new number. A frame that is not in the table is refused."),
    ] = None


class ValuesQuery(Resource, kw_only=True):
    """The entities that the rows of a CSV name."""

    kind: Annotated[
        Literal["localization", "state", "media", "leaf", "file"], Meta(description="The kind of the entities.")
    ] = "localization"
    dry_run: DryRun = False


class FileUrlsQuery(MediaQuery, kw_only=True):
    """The media whose files have new URLs."""

    dry_run: DryRun = False
    count: Annotated[Count, Meta(description="How many must match; otherwise nothing is changed.")] = None


class FileUrlsUpdate(Resource, kw_only=True):
    """The prefix of URLs to replace. Only files by reference (`reference_only`) have URLs."""

    old: Annotated[Url, Meta(description="The beginning of a URL, such as `https://old.example.org/videos/`.")]
    new: Annotated[Url, Meta(description="What replaces it.")]


class TelemetryQuery(EntityQuery, kw_only=True):
    """The annotations or media that get values."""

    kind: Annotated[
        Literal["localization", "state", "media"],
        Meta(description="The kind of the entities; media get the values at their first frame."),
    ] = "localization"
    dry_run: DryRun = False
    count: Annotated[Count, Meta(description="How many must match; otherwise nothing is changed.")] = None


class TelemetryUpdate(EntityIdQuery, kw_only=True):
    """The telemetry and the attributes that it sets."""

    file: Annotated[FileName, Meta(description="The name of an attachment of the media: CSV, NMEA 0183, GPX or KLV.")]
    columns: Annotated[
        dict[str, str | Annotated[list[str], Meta(min_length=2, max_length=2)]],
        Meta(max_length=50, description="By attribute: its column; of a place, longitude and latitude."),
    ]
    time: TimeColumn = "time"
    start: Start = None
    join: JoinRule = "preceding"
    tolerance: Tolerance = None


class Refusal(Resource, kw_only=True):
    """An entity that cannot be changed like that."""

    id: Annotated[int, Meta(description="Its id.")]
    reason: Annotated[str, Meta(description="The member, the rule and what would be accepted.")]


class RewriteAnswer(Resource, kw_only=True, omit_defaults=False):
    """What changed, or of a dry run, would change."""

    message: str
    matched: Annotated[int, Meta(description="How many entities were selected.")]
    changed: Annotated[int, Meta(description="How many of them change.")]
    refused: Annotated[int, Meta(description="How many cannot be changed like that; with any, nothing is changed.")]
    refusals: Annotated[list[Refusal], Meta(description="The first hundred of them.")]
    change: Change = None
