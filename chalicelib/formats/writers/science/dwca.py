"""Darwin Core Archive, as OBIS and GBIF take it: `event.txt` is the core, `occurrence.txt` extends it.

An event is a media, an occurrence a track on one media, or a label without a track; `organismID` is the track, which
several cameras may see. An attribute whose name is a term of `TERMS`, whatever its case, fills that column, of a label
before its track; a geopos attribute gives the decimal coordinates, the first datetime of a media its `eventDate`.
`AphiaID`, of a label or of the leaf with the name of its class, becomes the `scientificNameID` of WoRMS; the leaf gives
rank and authority, too. All other attributes are `dynamicProperties`, as JSON. Labels without
a class are left out. Files are tab-separated, UTF-8, with a header.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import msgspec

from chalicelib.formats import manifest
from chalicelib.formats.model import Attributes, Dataset, Group, Label, Layout, Media, Section, Sink, State, fixed_files
from chalicelib.formats.model import split_picture_path as picture_path
from chalicelib.formats.writers.geojson import position

__all__ = ["BY_FRAMES", "always", "layout", "picture_path", "write"]
BY_FRAMES = False
DWC = "http://rs.tdwg.org/dwc/terms/"
_PLACE = ("decimalLatitude", "decimalLongitude", "geodeticDatum")
TERMS = {
    "event.txt": (
        "eventID", "parentEventID", "eventDate", "eventRemarks", *_PLACE, "coordinateUncertaintyInMeters", "locality",
        "habitat", "waterBody", "country", "minimumDepthInMeters", "maximumDepthInMeters",
        "minimumElevationInMeters", "maximumElevationInMeters", "samplingProtocol", "sampleSizeValue",
        "sampleSizeUnit", "dynamicProperties",
    ),
    "occurrence.txt": (
        "eventID", "occurrenceID", "organismID", "basisOfRecord", "occurrenceStatus", "scientificName",
        "scientificNameID", "scientificNameAuthorship", "taxonID", "taxonRank", "kingdom", "phylum", "class", "order",
        "family", "genus", "vernacularName", "individualCount", "organismQuantity", "organismQuantityType", "sex",
        "lifeStage", "behavior", "identifiedBy", "identificationQualifier", "identificationRemarks",
        "occurrenceRemarks", *_PLACE, "associatedMedia", "dynamicProperties",
    ),
}  # fmt: skip
"""The columns of each file."""
_ROWS = {"event.txt": f"{DWC}Event", "occurrence.txt": f"{DWC}Occurrence"}
_APHIA = "urn:lsid:marinespecies.org:taxname:"
_encode = msgspec.json.Encoder(order="sorted").encode


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 ids are elemental
    """Write one part; see `model.Format`."""
    classes, left_out = set(dataset.classes), 0
    for group in groups:
        media = group.media
        manifest.write(group, sink)
        sink.append("event.txt", "rows", _line("event.txt", _event(dataset, media)))
        tracks = {state.key: state for state in group.states if state.association == "track"}
        seen: set[str] = set()
        for label in group.labels:
            if not label.class_name or label.class_name not in classes:
                left_out += 1
                continue
            if label.track is not None:
                if label.track in seen:
                    continue
                seen.add(label.track)
            state = tracks.get(label.track) if label.track is not None else None
            more = {**(state.attributes if state else {}), **label.attributes}
            event = _event_id(media)
            number = (state.id if state else label.id) or label.track or label.frame
            given = {
                "eventID": event,
                "occurrenceID": _urn(_occurrence(label, state, event), f"{event}:{number}"),
                "organismID": _urn(state.elemental_id, state.key) if state else "",
                "basisOfRecord": "MachineObservation",
                "occurrenceStatus": "present",
                "scientificName": label.class_name,
                "individualCount": 1,
                "associatedMedia": media.name,
                **_taxon(dataset.taxa.get(label.class_name, {})),
            }
            place = position({**dataset.state_attributes, **dataset.label_attributes}, more)
            sink.append(
                "occurrence.txt", "rows", _line("occurrence.txt", _filled("occurrence.txt", given, more, place))
            )
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:
    """Both tables have a header; the two descriptions follow from the dataset alone."""
    if path == "meta.xml":
        return (_meta(),)
    if path == "eml.xml":
        return (_eml(dataset),)
    return ("\t".join(TERMS[path]).encode() + b"\n", Section("rows"))


always = fixed_files("meta.xml", "eml.xml", *TERMS)


def _event(dataset: Dataset, media: Media) -> dict[str, Any]:
    dates = [media.attributes.get(name) for name, dtype in dataset.media_attributes.items() if dtype == "datetime"]
    given = {
        "eventID": _event_id(media),
        "parentEventID": media.section,
        "eventDate": next(filter(None, dates), ""),
        "eventRemarks": media.name,
    }
    return _filled("event.txt", given, media.attributes, position(dataset.media_attributes, media.attributes))


def _event_id(media: Media) -> str:
    return _urn(media.elemental_id, media.key)


def _taxon(leaf: Attributes) -> dict[str, Any]:
    """The columns that the leaf of a class gives."""
    aphia = leaf.get("AphiaID")
    names = {"taxonID": "taxonID", "rank": "taxonRank", "authority": "scientificNameAuthorship"}
    found = {term: leaf[name] for name, term in names.items() if name in leaf}
    return found | ({"scientificNameID": f"{_APHIA}{aphia}"} if aphia else {})


def _occurrence(label: Label, state: State | None, event: str) -> str:
    """The UUID of an occurrence; empty for none. A track on several media is an occurrence of each."""
    if state is None:
        return label.elemental_id
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{state.elemental_id} {event}")) if state.elemental_id else ""


def _urn(elemental_id: str, otherwise: str) -> str:
    return f"urn:uuid:{elemental_id}" if elemental_id else otherwise


def _filled(
    path: str, given: Mapping[str, Any], attributes: Attributes, place: tuple[float, float] | None
) -> dict[str, Any]:
    """The columns of a row: what is given, then attributes of the same names, the place, and the rest as JSON."""
    terms = {term.casefold(): term for term in TERMS[path] if term not in ("eventID", "occurrenceID")}
    made, rest = dict(given), {}
    for name, value in attributes.items():
        if value in (None, ""):
            continue
        if (term := terms.get(name.casefold())) is not None:
            made[term] = value
        elif name.casefold() == "aphiaid" and path == "occurrence.txt":
            made["scientificNameID"] = f"{_APHIA}{value}"
        else:
            rest[name] = value
    if place is not None:
        made |= {"decimalLongitude": place[0], "decimalLatitude": place[1]}
    if "decimalLatitude" in made:
        made.setdefault("geodeticDatum", "WGS84")
    return made | ({"dynamicProperties": _encode(rest).decode()} if rest else {})


def _line(path: str, row: Mapping[str, Any]) -> bytes:
    """A line of a table: tabs and ends of lines in texts become blanks, as the format has no quotes here."""
    cells = ("" if row.get(term) is None else str(row[term]) for term in TERMS[path])
    return "\t".join(" ".join(cell.split()) for cell in cells).encode() + b"\n"


def _meta() -> bytes:
    parts = ['<archive xmlns="http://rs.tdwg.org/dwc/text/" metadata="eml.xml">']
    for path, terms in TERMS.items():
        kind, identity = ("core", "id") if path == "event.txt" else ("extension", "coreid")
        parts.append(
            f'<{kind} encoding="UTF-8" fieldsTerminatedBy="\\t" linesTerminatedBy="\\n" fieldsEnclosedBy="" '
            f'ignoreHeaderLines="1" rowType="{_ROWS[path]}"><files><location>{path}</location></files>'
            f'<{identity} index="0"/>'
        )
        parts += [f'<field index="{at}" term="{DWC}{term}"/>' for at, term in enumerate(terms)]
        parts.append(f"</{kind}>")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{"".join(parts)}</archive>\n'.encode()


def _eml(dataset: Dataset) -> bytes:
    """The description of the dataset, which its publisher completes: contacts and the licence are not known here."""
    name = escape(dataset.name) or "Dataset"
    day = escape(dataset.created[:10])
    identity = quoteattr(str(dataset.source.get("export") or dataset.name))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<eml:eml xmlns:eml="https://eml.ecoinformatics.org/eml-2.2.0" system="limn" '
        f"packageId={identity}><dataset><title>{name}</title><creator><organizationName>{name}</organizationName></creator>"
        f"<pubDate>{day}</pubDate><contact><organizationName>{name}</organizationName></contact></dataset></eml:eml>\n"
    ).encode()
