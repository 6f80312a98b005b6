"""Members of projects and organizations that say what is open to everybody."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

PublicState = Annotated[
    Literal["listed", "unlisted"],
    Meta(
        description="Whether anybody may read the project without an account, and whether GetPublicProjectList has it; "
        "null for members only. Set by administrators of the organization with Full Control of the project."
    ),
]
PublicDownloads = Annotated[
    bool, Meta(description="Whether readers of a public project can download originals and attachments.")
]
ForbidsPublic = Annotated[
    bool, Meta(description="Whether its projects are for members only; those that are public are closed meanwhile.")
]
