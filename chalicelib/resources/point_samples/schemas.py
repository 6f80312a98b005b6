"""The structs of sampled points."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.resource import Id, Resource
from chalicelib.resources.comments.schemas import Region

Frame = Annotated[int, Meta(ge=0, le=2**53)]
Every = Annotated[int, Meta(ge=1, le=2**31)]


class PointSampleSpec(Resource, kw_only=True):
    """The body that draws points on frames."""

    names: ClassVar = {"media_ids": "media", "version": "version"}

    type: Annotated[Id, Meta(description="The localization type of the points; its dtype is dot.")]
    media_ids: Annotated[list[Id] | None, Meta(description="The media.")] = None
    media_query: Annotated[
        str | None, Meta(description="Parameters of GetMediaList, as in an address, instead of `media_ids`.")
    ] = None
    frame: Annotated[Frame | None, Meta(description="The frame; 0 where neither `frame` nor `every` is given.")] = None
    every: Annotated[Every | None, Meta(description="Points on each frame whose number is a multiple of this.")] = None
    method: Annotated[
        Literal["random", "stratified", "grid"],
        Meta(
            description=(
                "`random`: uniform over the region. `stratified`: one at random in each cell of a grid. "
                "`grid`: the centres of the cells."
            )
        ),
    ] = "random"
    count: Annotated[int, Meta(ge=1, le=1_000, description="Points of each frame.")] = 50
    seed: Annotated[int, Meta(ge=0, lt=2**53, description="The same seed draws the same points.")] = 0
    region: Annotated[Region | None, Meta(description="Where the points lie; the whole frame without it.")] = None
    version: Annotated[Id | None, Meta(description="The version of the points.")] = None


class PointSamplesCreated(Resource, kw_only=True):
    """The answer to a sample."""

    message: str
    id: Annotated[list[int], Meta(description="Ids of the points, media by media and frame by frame.")]
    frames: Annotated[int, Meta(description="How many frames have points.")]
