"""The table schemas of Camtrap DP 1.0 as its documentation states them: type, bounds and words of each column.

`name:type`, with `!` where a value is required, `a..b` for bounds and `a/b` for words.
"""

from __future__ import annotations

import re

_FEATURES = (
    *("roadPaved", "roadDirt", "trailHiking", "trailGame", "roadUnderpass", "roadOverpass", "roadBridge", "culvert"),
    *("burrow", "nestSite", "carcass", "waterSource", "fruitingTree"),
)
_COLUMNS = {
    "deployments": """
        deploymentID:string! locationID:string locationName:string latitude:number!-90..90 longitude:number!-180..180
        coordinateUncertainty:integer1.. deploymentStart:datetime! deploymentEnd:datetime! setupBy:string
        cameraID:string cameraModel:string cameraDelay:integer0.. cameraHeight:number0.. cameraDepth:number0..
        cameraTilt:integer-90..90 cameraHeading:integer0..360 detectionDistance:number0.. timestampIssues:boolean
        baitUse:boolean
        featureType:string={roads}
        habitat:string deploymentGroups:string deploymentTags:string deploymentComments:string
    """,
    "media": """
        mediaID:string! deploymentID:string! captureMethod:string=activityDetection/timeLapse timestamp:datetime!
        filePath:string! filePublic:boolean! fileName:string fileMediatype:string! exifData:any favorite:boolean
        mediaComments:string
    """,
    "observations": """
        observationID:string! deploymentID:string! mediaID:string eventID:string eventStart:datetime! eventEnd:datetime!
        observationLevel:string!=media/event observationType:string!=animal/human/vehicle/blank/unknown/unclassified
        cameraSetupType:string=setup/calibration scientificName:string count:integer1..
        lifeStage:string=adult/subadult/juvenile sex:string=female/male behavior:string individualID:string
        individualPositionRadius:number0.. individualPositionAngle:number-90..90 individualSpeed:number0..
        bboxX:number0..1 bboxY:number0..1 bboxWidth:number1e-15..1 bboxHeight:number1e-15..1
        classificationMethod:string=human/machine classifiedBy:string classificationTimestamp:datetime
        classificationProbability:number0..1 observationTags:string observationComments:string
    """,
}
_FIELD = re.compile(
    r"(?P<name>\w+):(?P<type>[a-z]+)(?P<needed>!?)"
    r"(?:(?P<low>[-0-9.e]+?)\.\.(?P<high>\d*))?(?:=(?P<words>\S+))?"
)
_KEYS = {"deployments": "deploymentID", "media": "mediaID", "observations": "observationID"}
_PATTERNS = {"filePath": r"^(?=^[^./~])(^((?!\.{2}).)*$).*$", "fileMediatype": r"^(image|video|audio)/.*$"}


def schema_of(table: str) -> dict[str, object]:
    """The Table Schema of a table."""
    fields = [
        _field(found.groupdict(), table)
        for found in map(_FIELD.fullmatch, _COLUMNS[table].format(roads="/".join(_FEATURES)).split())
    ]
    refers = {"deployments": (), "media": ("deployments",), "observations": ("deployments", "media")}[table]
    return {
        "fields": fields,
        "missingValues": [""],
        "primaryKey": _KEYS[table],
        "foreignKeys": [
            {"fields": _KEYS[each], "reference": {"resource": each, "fields": _KEYS[each]}} for each in refers
        ],
    }


def _field(found: dict[str, str | None], table: str) -> dict[str, object]:
    name, bounds = found["name"], {}
    if found["needed"]:
        bounds["required"] = True
    if name == _KEYS[table]:
        bounds["unique"] = True
    for member, word in (("minimum", found["low"]), ("maximum", found["high"])):
        if word:
            bounds[member] = float(word) if found["type"] == "number" else int(word)
    if found["words"]:
        bounds["enum"] = found["words"].split("/")
    if name in _PATTERNS:
        bounds["pattern"] = _PATTERNS[name]
    more = {"format": "%Y-%m-%dT%H:%M:%S%z"} if found["type"] == "datetime" else {}
    return {"name": name, "type": found["type"], "constraints": bounds, **more}
