"""Members of bodies that could name an entity are declared: `names` of their Struct is what grants access."""

import re

import msgspec.inspect as shapes

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.operation import OneOf

NAMES_ONE = re.compile(
    r"(^|_)(ids?|parent|bases|media|localizations?|states?|sections?|versions?|files?)(_add|_del|_remove)?$"
)
FILTERS = {
    (f"{kind}IdQuery", member)
    for kind in ("Leaf", "Media", "Localization", "State")
    for member in ("ids", "media_ids", "localization_ids", "state_ids", "frame_state_ids")
} | {
    (f"{kind}Bulk{verb}", member)
    for kind in ("Leaf", "Media", "Localization", "State")
    for verb in ("Update", "Delete")
    for member in ("ids", "media_ids", "localization_ids", "state_ids", "frame_state_ids")
} | {
    (query, member)
    for query in ("EntityIdQuery", "FramesUpdate", "TelemetryUpdate")
    for member in ("ids", "media_ids", "localization_ids", "state_ids", "frame_state_ids")
} | {
    (f"{kind}Selection", member)
    for kind in ("Media", "Localization", "State")
    for member in (
        "ids", "media_id", "media_ids", "localization_ids", "state_ids", "frame_state_ids", "related_id", "section",
        "multi_section", "version",
    )
}  # fmt: skip
"""They narrow what is found; `test_nothing_outside_the_scope_is_ever_found` holds that they do no more."""
CHECKED_BY_HANDLERS = {
    # the ACL bit on what is protected is needed
    *(("RowProtectionSpec", name) for name in ("media", "localization", "state", "section", "version", "file")),
    # leaves are as open as their project
    *((name, "parent") for name in ("LeafSpec", "LeafUpdate")),
    # a reply is as open as its thread: `comments.service.visible`
    ("CommentSpec", "parent"),
    # the rows that are made are checked where they are made: `Scope.check`
    ("CloneMediaSpec", "dest_section_id"),
    # for full control of the project only; the version of an own membership opens nothing
    *((name, "default_version") for name in ("MembershipSpec", "MembershipUpdate")),
    # buckets of the organization, as its administrators set them
    *((name, "bucket_id") for name in (
        "UploadCompletionSpec", "VideoDefinition", "AudioDefinition", "ImageDefinition", "AuxiliaryFileDefinition"
    )),
    # set by the service; another than the one that is there is refused: `changes.py`
    ("BucketObject", "bucket_id"),
    # marks of the caller's own notifications
    ("NoticesRead", "ids"),
    # a type, and a flag
    *((name, "default_localization") for name in ("StateTypeSpec", "StateTypeUpdate")), ("NotifySpec", "send_as_file"),
}  # fmt: skip


def _undeclared(shape, seen=frozenset()):
    match shape:
        case shapes.StructType():
            if shape.cls in seen:
                return
            declared = getattr(shape.cls, "names", {})
            for field in shape.fields:
                yield from _undeclared(field.type, seen | {shape.cls})
                if field.name in declared or not _has_integers(field.type):
                    continue
                if NAMES_ONE.search(field.name):
                    yield shape.cls.__name__, field.name
        case shapes.Metadata():
            yield from _undeclared(shape.type, seen)
        case shapes.ListType() | shapes.CollectionType():
            yield from _undeclared(shape.item_type, seen)
        case shapes.UnionType():
            for option in shape.types:
                yield from _undeclared(option, seen)


def _has_integers(shape):
    match shape:
        case shapes.IntType() | shapes.FloatType():
            return True
        case shapes.Metadata():
            return _has_integers(shape.type)
        case shapes.ListType() | shapes.CollectionType():
            return _has_integers(shape.item_type)
        case shapes.UnionType():
            return any(map(_has_integers, shape.types))
    return False


def test_every_member_that_could_name_an_entity_is_declared():
    """An integer member called like an entity names one, or is listed here with the reason why not."""
    undeclared = set()
    for operation in OPERATIONS:
        body = operation.body
        for option in body.options if isinstance(body, OneOf) else [body]:
            if option not in (None, bytes):
                undeclared |= set(_undeclared(shapes.type_info(option)))
    assert undeclared - FILTERS - CHECKED_BY_HANDLERS == set(), "declare it in `names` of the Struct, or list it here"
