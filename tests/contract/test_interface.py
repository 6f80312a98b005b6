"""The whole of `/schema` beside the interface that published clients know: `interface.json`, facts of seven versions.

`models`: class → member → its type and bounds; `old` members are of older versions. `operations`: method of the client
→ its route, the keyword of its body, its query parameters. Every difference is in `DIFFERENCES`, with its reason.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.served import document

KNOWN = json.loads((Path(__file__).parent / "interface.json").read_text())
DIFFERENCES = {
    "only in generated clients before 0.10.29, and no operation refers to it": (
        "AttributeAddition: missing",
        "AttributeBulkUpdate: missing",
        "AttributeDeletion: missing",
        "AttributeRename: missing",
        "DownloadUrl: missing",
        "IdList: missing",
        "AttributeValue: missing",
        "Color: missing",
    ),
    "a class that the generator named after the place of an unnamed schema; here the schema has a name": (
        "AttributeTypeUpdateAttributeTypeUpdate: missing",
        "AttributeTypeUpdateNewAttributeType: missing",
        "AttributeTypeUpdate.*: type AttributeTypeUpdate* is AttributeTypeChange",
        "InlineResponse*: missing",
        "JobSpecFailureEmailSpec: missing",
        "*.*email_spec: type JobSpecFailureEmailSpec is EmailSpec",
        "SectionBulkUpdatePathSubstitution: missing",
        "SectionBulkUpdate.path_substitution: type * is PathSubstitution",
    ),
    "a description of files of 2020, before media_files; no stored media has it": (
        "Media.file: missing",
        "Media.original: missing",
        "Media.segment_info: missing",
        "Media.thumbnail: missing",
        "Media.thumbnail_gif: missing",
    ),
    "an operation of object searches that the clients of then do not know": (
        "AttributeFilterSpec.operation: values *'polygon'*",
        "AttributeOperationSpec.operation: values *'polygon'*",
    ),
    "a secret or an address that responses do not show": (
        "Bucket.secret_key: missing",
        "S3StorageConfig.aws_secret_access_key: missing",
        "Localization.email: missing",
    ),
    "the answer of an old version to the creation of a transcode; CreateTranscode answers these members": (
        "Transcode.gid: missing",
        "Transcode.media_id: missing",
        "Transcode.message: missing",
        "Transcode.uid: missing",
    ),
    "accepted without effect, of any type": (
        "*.effective_permission: type int is object",
        "*.keep_original: type bool is object",
        "MediaType.keep_original: missing",
        "MediaSpec.progress_name: type str is object",
        "MediaUpdate.thumbnail*_url: type str is object",
        "LocalizationBulkDelete.*_attributes: type list[str] is object",
    ),
    "the same, more precisely": (
        "AlgorithmParameter.value: type object is float|int|str",
        "*.config: type object is dict(str, object)",
        "ColorMap.alpha_ranges: type dict(str, list) is dict(str, list[object])",
        "CreateResponse.id: type object is int|str",
        "CreateListResponse.id: type list[object] is list[int|str]",
        "*.profile: type object is dict(str, object)",
        "UserUpdate.set_profile_keys: type object is dict(str, object)",
        "TranscodeSpec.attributes: type object is dict(str, object)",
        "Transcode.spec: type TranscodeSpec is dict(str, object)",
    ),
    "true is accepted beside the text 'true'": ("AttributeTypeUpdate.global: type str is bool|str",),
    "an id like every other created_by; clients convert it to text": ("Version.created_by: type str is int",),
    "more than the contract's values is accepted: more stores, distances and codecs": (
        "*.live_sc: values *",
        "*.store_type: values *",
        "FloatArrayQuery.metric: values *",
        "ResolutionConfig.vcodec: values *",
    ),
    "the length of a text is `maxLength`; the contract's generator calls it max_items": ("*.file_format: length *",),
    "-1 means that there is none": ("MediaNext.next: at least *", "MediaPrev.prev: at least *"),
    "an id is 1 or more": ("*: at least None is 1",),
    "a number of frames, a frame or a flag is 0 or more; -1 stands for none": (
        "*: at least None is 0",
        "*: at least None is -1",
    ),
    "a flag is 0 or 1": ("*.send*ile: at most None is 1", "UserUpdate.clear_avatar: at most None is 1"),
    "a limit of the service (docs/limits.md)": (
        "*: length None is *",
        "*.port: at most None is 65535",
        "Media*.height: at most None is 65536",
        "Media*.width: at most None is 65536",
        "*.files_per_job: at most None is 1000000",
        "UploadPart.PartNumber: at most None is 10000",
        "RowProtection*.permission: at most *",
    ),
    "a creation cannot do without it": (
        "AffiliationSpec.*: required",
        "AlgorithmManifestSpec.*: required",
        "AppletSpec.name: required",
        "AttributeTypeDelete.*: required",
        "AttributeTypeSpec.*: required",
        "BookmarkSpec.*: required",
        "FavoriteSpec.*: required",
        "FileSpec.*: required",
        "FileTypeSpec.name: required",
        "GenericFileSpec.*: required",
        "LeafTypeSpec.name: required",
        "UploadCompletionSpec.*: required",
        "ConcatDefinition.id: required",
        "ResolutionConfig.resolution: required",
        "S3StorageConfig.*: required",
    ),
    "has a default": (
        "AnalysisSpec.data_query: optional",
        "BucketSpec.config: optional",
        "BucketSpec.store_type: optional",
        "JobSpec.media_ids: optional",
        "LiveDefinition.feeds: optional",
        "TranscodeSpec.?id: optional",
    ),
    "`like`, the id of a row, stands for the centre": ("FloatArrayQuery.center: optional",),
    "a gateway of an older deployment, not of this interface": ("get_anonymous_gateway_schema: missing",),
    "a parameter takes the older text form beside the id": ("*(after): type int is int|str",),
    "several ids may be given": ("get_version_list(media_id): type int is list[int]",),
}
"""Reason → the differences that it explains, as patterns."""
NEWER_KEYWORDS = {"update_algorithm": "algorithm_update_spec"}
"""Keywords that clients which read `/schema` know by a newer name than the generated ones."""
_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", None: "object"}
_ANSWERS = re.compile(r"(?!.*(Spec|Update|Query|Delete|Definition|Config|Service|Credentials)$)")
"""Responses say more of what is always there than the clients' classes do."""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return document()


def type_of(member: dict[str, Any]) -> str:
    if "$ref" in member:
        return str(member["$ref"]).rpartition("/")[2]
    if options := member.get("anyOf") or member.get("oneOf"):
        return "|".join(sorted(map(type_of, options)))
    if member.get("type") == "array":
        return f"list[{type_of(member.get('items', {}))}]"
    if member.get("type") == "object":
        inner = member.get("additionalProperties")
        return f"dict(str, {type_of(inner) if isinstance(inner, dict) else 'object'})"
    return _TYPES[member.get("type")]


def members(models: dict[str, dict[str, str]], schemas: dict[str, Any]) -> Iterator[str]:
    """The differences of the classes."""
    for model, known in models.items():
        if model not in schemas:
            yield f"{model}: missing"
            continue
        properties, required = schemas[model].get("properties", {}), schemas[model].get("required", ())
        for name, told in known.items():
            if name not in properties:
                yield f"{model}.{name}: missing"
                continue
            yield from (f"{model}.{name}: {each}" for each in details(told, properties[name]))
            if (
                "old" not in told.split(", ")
                and not _ANSWERS.match(model)
                and ("required" in told) != (name in required)
            ):
                yield f"{model}.{name}: {'required' if name in required else 'optional'}"


def details(told: str, member: dict[str, Any]) -> Iterator[str]:
    """The differences of one member."""
    type_, *rules = re.split(r", (?=one of|at |length|required|old)", told)
    if type_of(member) != type_:
        yield f"type {type_} is {type_of(member)}"
    values = next((set(rule.removeprefix("one of ").split("|")) for rule in rules if rule.startswith("one of")), set())
    shown = {str(value) for value in member.get("enum", ()) if value is not None}
    if values != shown:
        yield f"values {sorted(values)} are {sorted(shown)}"
    for rule, keyword in (("at least", "minimum"), ("at most", "maximum"), ("length", "maxItems")):
        bound = next((each.split()[-1] for each in rules if each.startswith(rule)), None)
        shown_bound = f"{member[keyword]:g}" if keyword in member else None
        if bound != shown_bound:
            yield f"{rule} {bound} is {member.get(keyword)}"


def parameters(operations: dict[str, Any], paths: dict[str, Any]) -> Iterator[str]:
    """The differences of the operations."""
    for name, known in operations.items():
        method, _, path = known["route"].partition(" ")
        operation = paths.get(path, {}).get(method.lower())
        if operation is None:
            yield f"{name}: missing"
            continue
        found = {each["name"]: type_of(each["schema"]) for each in operation["parameters"] if each["in"] == "query"}
        for parameter, type_ in known["query"].items():
            if parameter not in found:
                yield f"{name}({parameter}): missing"
            elif found[parameter] != type_:
                yield f"{name}({parameter}): type {type_} is {found[parameter]}"
        yield from (f"{name}({old}): missing" for old in known.get("old", ()) if old not in found)


def test_every_difference_from_the_clients_interface_has_a_reason(schema):
    found = {
        *members(KNOWN["models"], schema["components"]["schemas"]),
        *parameters(KNOWN["operations"], schema["paths"]),
    }
    patterns = [pattern for each in DIFFERENCES.values() for pattern in each]

    def matching(pattern: str) -> set[str]:
        return {each for each in found if fnmatchcase(each, pattern.replace("[", "[[]"))}

    explained = {pattern: matching(pattern) for pattern in patterns}
    assert found - set().union(*explained.values()) == set()
    assert [pattern for pattern, each in explained.items() if not each] == []


def test_methods_of_the_published_client_take_the_arguments_of_the_interface(schema):
    """The newest client reads its methods from `/schema`: path variables first, then the body, then keywords."""
    client_module = pytest.importorskip("tator.openapi.client")
    client = client_module.OpenAPIClient.__new__(client_module.OpenAPIClient)
    client.schema, client._cache = schema, {}
    client._endpoints = client._parse_schema()
    by_route = {f"{each['method']} {each['path']}": name for name, each in client._endpoints.items()}
    for known in KNOWN["operations"].values():
        if (name := by_route.get(known["route"])) is None:  # a difference of the test above
            continue
        taken = list(inspect.signature(getattr(client, name)).parameters)
        path = re.findall(r"{(\w+)}", known["route"])
        assert taken[: len(path)] == path, name
        if known["body"]:
            assert taken[len(path)] in (NEWER_KEYWORDS.get(name, known["body"]), "body"), name
        assert set(taken) >= {*known["query"], *known.get("old", ())}, name
