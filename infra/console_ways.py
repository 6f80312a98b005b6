"""Where in the console each operation is, or why it is not there; `make docs` writes it to docs/console-operations.md.

The modules of the console are read for the paths that they call. What is declared here are the names of places, and the
reasons for operations that no module calls.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from chalicelib.api.console import FOLDER
from chalicelib.http.operation import Operation

_ANNOTATE = "The annotation view"
PLACES = {
    "draw/": _ANNOTATE,
    "player/": _ANNOTATE,
    "views/annotate": _ANNOTATE,
    "store.js": "Any view of a project, and the sign-in",
    "ui/announcements.js": "Above every view",
    "ui/bell.js": "The bell",
    "ui/bookmarks.js": "The star: bookmarks",
    "ui/copy_media.js": "Media › a selection › Copy to a project",
    "ui/facets.js": "Media and Crops: filters",
    "ui/files.js": "Files of algorithms, applets, imports and the project",
    "ui/leaf_tree.js": "Manage › Label trees",
    "ui/point_samples.js": "Media › the search or a selection › Draw points; the annotation view",
    "ui/restore.js": "Undo after a deletion",
    "ui/sections.js": "Media: folders and saved searches",
    "ui/share.js": "Media › a selection or folder › Share",
    "ui/thread.js": "Comments",
    "uploads.js": "Upload",
    "views/applet.js": "Manage › Applets › Open",
    "views/comments.js": "Team › Comments",
    "views/crops.js": "Crops",
    "views/device.js": "The page for the code of a device",
    "views/jobs.js": "Jobs",
    "views/manage.js": "Manage",
    "views/manage_files.js": "Manage › Files",
    "views/manage_history.js": "Manage › History",
    "views/manage_leaves.js": "Manage › Label trees",
    "views/manage_taxa.js": "Manage › Label trees › Import taxa",
    "views/manage_mail.js": "Manage › Members › Write a mail",
    "views/manage_protections.js": "Manage › Members › Row protections",
    "views/manage_shares.js": "Manage › Share links",
    "views/manage_sources.js": "Manage › Bucket sources",
    "views/manage_types.js": "Manage › Types",
    "views/manage_webhooks.js": "Manage › Webhooks; the organization",
    "views/map.js": "Map",
    "views/media.js": "Media",
    "views/organization": "The organization",
    "views/profile": "The profile",
    "views/projects.js": "Projects",
    "views/quality": "Team › Quality",
    "views/review": "Review",
    "views/public.js": "Public projects",
    "views/shared.js": "The page of a share link",
    "views/sign_in.js": "The sign-in",
    "views/statistics": "Statistics",
    "views/consensus": "Team › Tasks",
    "views/tasks": "Team › Tasks",
    "views/team_head.js": "Team",
    "views/transfers": "Import and export",
    "views/work.js": "Team › My work",
}
"""The place of a module, or of all whose paths begin so."""

FILLED = {
    "draw/feed.js": ("Localizations", "States"),
    "draw/sync.js": ("Localization", "State"),
    "store.js": (
        *("MediaTypes", "LocalizationTypes", "StateTypes", "LeafTypes", "FileTypes", "Versions", "Memberships"),
        "Sections",
    ),
    "views/manage_types.js": ("MediaType", "LocalizationType", "StateType", "LeafType", "FileType"),
    "views/manage_webhooks.js": ("Webhooks", "OrganizationWebhooks"),
    "views/organization_records.js list": ("Groups", "JobClusters", "HostedTemplates"),
    "views/organization_records.js one": ("Group", "JobCluster", "HostedTemplate"),
    "views/review_annotations.js": ("Localization", "State"),
    "views/transfers.js": ("Export", "Import"),
}
"""What a module puts in for the first part of a path that is not written out, such as `${word}/${id}`; where it has
several, by the expression that stands there."""

_SINGLE = "The list, which the console reads, has all members of it."
_ELEMENTAL = "For programs that know an annotation by its elemental id; the console knows ids."
_MANY = "For programs: the console asks by filters, or changes one or the selected ones at a time."
_FILES_OF_MEDIA = "Uploads and transcodes write the files of media; by hand they would not fit the frames."
_OLDER = "Only older clients call it; the console calls what replaced it."
_MODELS = "The operator who serves a model registers it, by the command line or a program."
_TRACKS = "The console merges and trims tracks in its own document, where that can be undone."
_OPERATOR = "For operators and their machines."
_INVITED = (
    "People are invited by mail; the page that the mailed link opens accepts. An invitation is deleted and sent anew."
)
_ANEW = "It is deleted and made anew."
_BY_JOBS = (
    "Jobs report themselves; the console cancels all jobs of a launch, and uploads ask for transcodes by an older path."
)
_DEVICES = "Programs call it; the person confirms their code on a page of the console."
_LATER = "For programs; the console has no page for it yet."
REASONS = {
    _SINGLE: (
        *("GetUser", "GetAffiliation", "GetIdentityProvider", "GetInvitation", "GetAccessToken", "GetBucket"),
        *("GetGroup", "GetJobCluster", "GetHostedTemplate", "GetMembership", "GetSection", "GetBucketSource"),
        *("GetMediaType", "GetLocalizationType", "GetStateType", "GetLeafType", "GetFileType", "GetTranscode"),
        *("GetAlgorithm", "GetJob", "GetAnnotator", "GetImport", "GetTemporaryFile", "GetFile", "GetLeaf"),
        *("GetComment", "GetDataset", "GetWebhook", "GetTriggerRule", "GetBookmark", "GetFavorite", "GetShareLink"),
        *("GetRowProtection", "GetConsensusLayer", "GetErasure"),
    ),
    _ELEMENTAL: tuple(
        f"{verb}{kind}ByElementalId" for kind in ("Localization", "State") for verb in ("Get", "Update", "Delete")
    ),
    _MANY: (
        *("UpdateSectionList", "DestroySectionListApi", "GetMediaCountById", "GetMediaStats"),
        *("UpdateStateList", "DeleteStateList", "GetStateCount", "GetStateCountById", "GetLeafListById"),
        *("GetLeafCount", "GetLeafCountById", "UpdateLeafList", "DeleteLeafList", "GetStatisticsById"),
        *("DestroyRowProtectionListApi", "UpdateAnnotationFrames", "UpdateAttributeValues", "UpdateFileUrls"),
        *(
            "UpdateTelemetryValues",
            "GetFrameTelemetry",
            "GetClonedMedia",
            "DeleteMedia",
            "CreateTemporaryFile",
        ),
    ),
    _FILES_OF_MEDIA: tuple(
        name
        for kind in ("Video", "Image", "Audio", "Auxiliary")
        for name in (f"Get{kind}FileList", *(f"{verb}{kind}File" for verb in ("Create", "Get", "Update", "Delete")))
    ),
    _OLDER: (
        *("MoveVideo", "AlgorithmLaunch", "LeafSuggestion", "ReplaceAttributeType"),
        *("GetAnalysisList", "CreateAnalysis", "GetAnalysis", "UpdateAnalysis", "DeleteAnalysis", "GetSectionAnalysis"),
    ),
    _MODELS: (
        *("CreateAnnotator", "UpdateAnnotator", "DeleteAnnotator", "TrackObjects", "ComputeEmbeddings", "Embed"),
    ),
    _TRACKS: ("MergeStates", "TrimStateEnd"),
    _OPERATOR: (
        *("Notify", "HealthCheck", "HealthCheckFull", "BackChannelLogout", "CreateUser", "ResetSecondFactor"),
        "DeleteOrganization",
    ),
    _DEVICES: ("CreateDeviceAuthorization", "CreateDeviceToken"),
    _INVITED: ("CreateAffiliation", "UserExists", "UpdateInvitation", "AcceptInvitation"),
    _ANEW: ("UpdateFavorite", "UpdateShareLink"),
    _BY_JOBS: ("UpdateJob", "DeleteJob", "Transcode", "DeleteTranscodeList", "DeleteTranscode"),
    _LATER: (
        "UpdateTaskWorkflow",
        *("UpdateStereoMeasurements", "GetOrganizationUploadInfo"),
    ),
}
"""Why no module of the console calls some operations."""

_METHODS = {"get": "GET", "blob": "GET", "pages": "GET", "address": "GET", "patch": "PATCH", "put": "PUT"}
_METHODS |= {"post": "POST", "del": "DELETE"}
_HOLE = re.compile(r"(\$\{[^}]*\})")
_CALL = re.compile(
    r"\b(?:(?P<verb>get|blob|pages|address|post|patch|put|del)|request)\(\s*"
    r'(?(verb)|"(?P<method>[A-Z]+)",\s*)(?P<path>path\b|"[^"]+"|`(?:[^`$]|\$\{[^}]*\})+`)'
)


def callers(operations: Iterable[Operation]) -> dict[str, list[str]]:
    """The modules of the console that call each operation, by its id; none that no module calls."""
    routes = [(each, re.sub(r"\{\w+\}", "0", each.path).removeprefix("/rest/")) for each in operations]
    found = defaultdict[str, list[str]](list)
    for module in modules():
        text = (FOLDER / module).read_text()
        for method, pattern in _calls(module, text):
            for operation, route in routes:
                if operation.method == method and pattern.fullmatch(route) and module not in found[operation.id]:
                    found[operation.id].append(module)
    return {name: names for name, names in found.items() if names}


def modules() -> list[str]:
    """The modules of the console, as paths in its folder."""
    paths = (path.relative_to(FOLDER).as_posix() for path in sorted(FOLDER.rglob("*.js")))
    return [path for path in paths if not path.startswith("vendor/")]


def _calls(module: str, text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    for call in _CALL.finditer(text):
        method = call["method"] or _METHODS[call["verb"]]
        path = call["path"].strip('"`') if call["path"] != "path" else "${path}/${id}"
        parts = _HOLE.split(path)
        holes = ["[^/]+" if part.startswith("${") else re.escape(part) for part in parts]
        if path.startswith("${"):
            words = "|".join(FILLED.get(f"{module} {parts[1][2:-1]}") or FILLED.get(module, ()))
            if words:
                yield method, re.compile("".join([holes[0], f"(?:{words})", *holes[2:]]))
        else:
            yield method, re.compile("".join(holes))


def place(module: str) -> str | None:
    """The place of a module: that of the longest beginning of its path; None where there is none."""
    known = [start for start in PLACES if module.startswith(start)]
    return PLACES[max(known, key=len)] if known else None


def page(operations: Iterable[Operation]) -> str:
    """The text of docs/console-operations.md: a table for each tag, with the place or the reason of each operation."""
    operations = tuple(operations)
    called = callers(operations)
    why = {name: reason for reason, names in REASONS.items() for name in names}
    rows = defaultdict[str, list[str]](list)
    for each in operations:
        places = dict.fromkeys(place(module) or module for module in called.get(each.id, ()))
        where = ", ".join(places) or f"*{why.get(each.id, 'Nowhere.')}*"
        rows[each.tag or "Other"].append(f"| {each.id} | {where} |")
    there = sum(each.id in called for each in operations)
    head = (
        "# Operations in the console\n\nMade from the console's modules by `make docs`; do not edit.\n\n"
        f"Of {len(operations)} operations the console calls {there}. For each of the others there is a reason.\n"
    )
    tables = ("\n".join([f"## {tag}", "", "| operation | where |", "|---|---|", *lines]) for tag, lines in rows.items())
    return "\n".join([head, "\n\n".join(tables), ""])
