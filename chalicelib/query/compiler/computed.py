"""Numbers that depend on other entities, and so are no columns of the view, as SQL."""

# ruff: noqa: S608 statements are made here, of our own words; every value is a parameter

from __future__ import annotations

from chalicelib.core.kinds import Kind


def computed(kind: Kind, column: str, alias: str) -> str | None:
    """The value of a number that depends on other entities, and so is no column; None for any other."""
    if (kind, column) == (Kind.STATE, "duration"):
        return _track_duration(alias)
    if (kind, column) == (Kind.STATE, "length"):
        return _track_length(alias)
    if (kind, column) == (Kind.LOCALIZATION, "area"):
        size = f"(SELECT m.width * m.height FROM media m WHERE m.id = {alias}.media)"
        return f"coalesce({alias}.mask_area::DOUBLE, {alias}.share * {size})"
    return None


def _track_duration(alias: str) -> str:
    """The seconds of a track, from its frames and the rate of its first media."""
    rate = f"(SELECT CASE WHEN m.fps > 0 THEN m.fps END FROM media m WHERE m.id = {alias}.media[1])"
    return f"({alias}.num_frames / {rate})"


def _track_length(alias: str) -> str:
    """The localizations of a track without those that only begin a gap of it: these have no place."""
    gaps = (
        f"SELECT count(*) FROM (SELECT unnest({alias}.localizations) AS id) e"
        " JOIN localization g ON g.id = e.id WHERE g.x IS NULL AND g.points IS NULL"
    )
    return f"({alias}.length - ({gaps}))"
