"""The objects that a media names, and the attribute that names its folder."""

from __future__ import annotations

from chalicelib.core.entities import MediaFiles

TAG_ATTRIBUTE = "tator_user_sections"
"""The attribute of a media with the tag of its folder; empty where it is in no folder."""
ROLES = ("streaming", "archival", "audio", "image", "thumbnail", "thumbnail_gif", "attachment")
"""The roles whose entries name objects."""


def is_ready(files: MediaFiles | None) -> bool:
    """Whether a media has a video to play or an image to show.

    An image that is only referred to is there once its import found its size.
    """
    if files is None:
        return False
    return bool(files.streaming) or any("://" not in each.path or each.size is not None for each in files.image or ())


def keys_of(files: MediaFiles | None) -> set[str]:
    """The keys of all objects that the files of a media name, without URLs."""
    found = set()
    for role in ROLES:
        for entry in getattr(files, role, None) or []:
            found |= {entry.path, getattr(entry, "segment_info", None)}
    if files and files.bucket_object:
        found |= {files.bucket_object.path, files.bucket_object.frame_table}
    return {key for key in found if key and "://" not in key}
