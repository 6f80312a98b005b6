"""The kinds of entities and definitions in a project's log."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """A kind of entity: it has attributes and queries. Its value is its word in keys, logs and messages."""

    MEDIA = "media"
    LOCALIZATION = "localization"
    STATE = "state"
    LEAF = "leaf"
    FILE = "file"

    @property
    def is_annotation(self) -> bool:
        """Whether it annotates media, in a version, with marks and tombstones."""
        return self in (Kind.LOCALIZATION, Kind.STATE)


class DefinitionKind(StrEnum):
    """A kind of record that readers of entities need: its changes are committed to the project's log, too."""

    MEDIA_TYPE = "media_type"
    LOCALIZATION_TYPE = "localization_type"
    STATE_TYPE = "state_type"
    LEAF_TYPE = "leaf_type"
    FILE_TYPE = "file_type"
    VERSION = "version"
    SECTION = "section"


TYPE_OF = {
    Kind.MEDIA: DefinitionKind.MEDIA_TYPE,
    Kind.LOCALIZATION: DefinitionKind.LOCALIZATION_TYPE,
    Kind.STATE: DefinitionKind.STATE_TYPE,
    Kind.LEAF: DefinitionKind.LEAF_TYPE,
    Kind.FILE: DefinitionKind.FILE_TYPE,
}
