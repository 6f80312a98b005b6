"""Merge what several people drew on a frame: pure functions.

Shapes of all layers are joined to objects, of each layer one shape at most; each object and its class are put to the
vote of the layers that cover the frame; what is kept gets the place in the middle of its shapes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import dist
from typing import Any, Literal

import msgspec

from chalicelib.core.models.entities import Geometry
from chalicelib.resources.quality.matching import Shape, match, similarity
from chalicelib.resources.quality.shapes import Row

_SLACK = 1e-9
_AVERAGED = {"box": ("x", "y", "width", "height"), "dot": ("x", "y"), "line": ("x", "y", "u", "v")}
"""By kind, the members whose weighted mean is the place of the object."""
_REFINING = ("mask", "angle", "form", "closed", "holes", "visible")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A localization of a layer: its document, and how it is compared."""

    row: Row
    shape: Shape


Object = dict[int, Drawn]
"""By layer, the shape that shows the same object."""
Outcome = Literal["kept", "dropped", "undecided"]


def objects_of(layers: Mapping[int, Sequence[Drawn]], threshold: float, reach: float) -> list[Object]:
    """Join the shapes of a frame to objects: best pairs first, of each layer one shape at most.

    Args:
        layers: the shapes by layer.
        threshold: the smallest similarity of a pair.
        reach: the distance of dots and lines at which their similarity is 0.
    """
    pairs = [
        (-pair.similarity, (first, pair.reference), (second, pair.other))
        for first, second in combinations(layers, 2)
        for pair in match(_shapes(layers[first]), _shapes(layers[second]), threshold, reach)
    ]
    groups = {(layer, index): {layer: index} for layer, some in layers.items() for index in range(len(some))}
    for _, one, two in sorted(pairs):
        ours, theirs = groups[one], groups[two]
        if not ours.keys() & theirs.keys():
            ours |= theirs
            groups |= dict.fromkeys(theirs.items(), ours)
    found = {id(group): group for group in groups.values()}.values()
    return [{layer: layers[layer][index] for layer, index in group.items()} for group in found]


def _shapes(some: Sequence[Drawn]) -> list[Shape]:
    return [drawn.shape for drawn in some]


def decide(found: Object, weights: Mapping[int, float], agreement: float) -> tuple[Outcome, str]:
    """Whether an object is there, and its class.

    Args:
        found: the object.
        weights: of the layers that cover its frame.
        agreement: the share of the weight that has to be exceeded, 0.5 or more.
    """
    there = sum(weights[layer] for layer in found)
    share = there / sum(weights.values())
    if share < 1 - agreement - _SLACK:
        return "dropped", ""
    if share <= agreement + _SLACK:
        return "undecided", ""
    votes: defaultdict[str, float] = defaultdict(float)
    for layer, drawn in found.items():
        votes[drawn.shape.label] += weights[layer]
    label = max(votes, key=lambda each: votes[each])
    return ("kept", label) if votes[label] / there > agreement + _SLACK else ("undecided", "")


def merge(found: Object, label: str, weights: Mapping[int, float], reach: float) -> tuple[Row, dict[str, Any]]:
    """The one shape that the shapes of an object's class are merged into.

    Boxes, dots and lines are averaged by weight. Of refined and other shapes it is the one that is most similar to the
    others. Of each attribute it is the value with most weight.

    Returns:
        the localization that is most similar to the others; the geometry and the attributes of the object.
    """
    winners = [(drawn, weights[layer]) for layer, drawn in sorted(found.items()) if drawn.shape.label == label]
    middle = max(
        winners,
        key=lambda each: sum(weight * similarity(each[0].shape, other.shape, reach) for other, weight in winners),
    )[0]
    geometry = {name: getattr(middle.row, name) for name in Geometry.__struct_fields__}
    of_type = [(drawn, weight) for drawn, weight in winners if drawn.shape.kind == middle.shape.kind]
    names = _AVERAGED.get(middle.shape.kind, ())
    if names and all(getattr(drawn.row, name) is None for drawn, _ in of_type for name in _REFINING):
        total = sum(weight for _, weight in of_type)
        places = [(_place(drawn.row, names, middle.row), weight) for drawn, weight in of_type]
        geometry |= {name: sum(place[at] * weight for place, weight in places) / total for at, name in enumerate(names)}
    return middle.row, {**geometry, "attributes": _attributes(winners, middle.row)}


def _place(row: Row, names: Sequence[str], middle: Row) -> list[float]:
    """The coordinates of a row; a line that was drawn from its other end is turned."""
    place = [getattr(row, name) or 0.0 for name in names]
    if "u" not in names:
        return place
    x, y, u, v = place
    left, top = middle.x or 0.0, middle.y or 0.0
    begin, end = (left, top), (left + (middle.u or 0.0), top + (middle.v or 0.0))
    straight = dist((x, y), begin) + dist((x + u, y + v), end)
    turned = dist((x, y), end) + dist((x + u, y + v), begin)
    return place if straight <= turned else [x + u, y + v, -u, -v]


def _attributes(winners: Sequence[tuple[Drawn, float]], middle: Row) -> dict[str, Any]:
    found = {}
    for name in middle.attributes:
        votes: defaultdict[bytes, float] = defaultdict(float)
        votes[msgspec.json.encode(middle.attributes[name])] = _SLACK
        for drawn, weight in winners:
            votes[msgspec.json.encode(drawn.row.attributes.get(name))] += weight
        found[name] = msgspec.json.decode(max(votes, key=lambda value: votes[value]))
    return found
