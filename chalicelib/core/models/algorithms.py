"""Algorithms, applets and the files they are made of, and analyses."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from chalicelib.core.models.integrations import Parameter
from chalicelib.core.permissions import ProjectLevelName
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import ONE_LINE, Id, Name, Resource, Summary, Timestamp

Category = Annotated[str, Meta(max_length=128)]
Categories = Annotated[list[Category], Meta(max_length=100)]
FileUrl = Annotated[str, Meta(min_length=1, max_length=1024)]
Templated = Annotated[list[Parameter], Meta(max_length=100)]
DataQuery = Annotated[str, Meta(min_length=1, max_length=4096)]
FilesPerJob = Annotated[int, Meta(ge=1, le=1_000_000)]
JobLevel = Annotated[
    ProjectLevelName,
    Meta(
        description="The highest level of the token of its jobs, `Can Execute` by default. It is at most the level of "
        "the caller, and it falls to that level when the caller changes what runs."
    ),
]


class AlgorithmManifestSpec(Resource, kw_only=True):
    """An uploaded manifest, to be stored with the project."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=256,
            pattern=ONE_LINE,
            description="Name of the file; the saved file gets another one with the same extension.",
        ),
    ]
    upload_url: FileUrl


class AlgorithmManifest(Resource, kw_only=True):
    """Where a manifest is stored: the value of `manifest` when an algorithm is registered."""

    url: Annotated[str, Meta(description="Path of the saved file, for `manifest` of an algorithm.")]


class GenericFileSpec(Resource, kw_only=True):
    """An uploaded file, to be stored with the project. The origin of its URL is checked before its name."""

    accepts: ClassVar = {"url": "upload_url"}
    required_later: ClassVar = frozenset({"name"})

    name: Annotated[str, Meta(min_length=1, max_length=256, pattern=ONE_LINE)] | None = None
    upload_url: FileUrl


class GenericFile(Resource, kw_only=True):
    """A file of a project: its `url` is the value of `html_file` when an applet is registered."""

    name: str
    project: int
    upload_url: str
    url: Annotated[str, Meta(description="Path of the saved file, for `html_file` of an applet.")]


class AlgorithmParameter(Resource, kw_only=True):
    """A parameter of a workflow."""

    name: Annotated[
        str, Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_-]+$(?!\n)", description="Name of the parameter.")
    ]
    value: Annotated[
        Annotated[str, Meta(max_length=16_384)] | int | float, Meta(description="Value, a string or a number.")
    ]


class AlgorithmUpdateSpec(Resource, kw_only=True):
    """The body of a PATCH of an algorithm. A null is not a change: clients send nulls for members they leave out."""

    is_whole: ClassVar = True

    name: Name | None = None
    user: Id | None = None
    description: Summary | None = None
    manifest: FileUrl | None = None
    cluster: Id | None = None
    files_per_job: FilesPerJob | None = None
    categories: Categories | None = None
    parameters: Annotated[list[AlgorithmParameter], Meta(max_length=200)] | None = None
    template: Id | None = None
    tparams: Templated | None = None
    headers: Templated | None = None
    extended_info: dict[str, Any] | None = None
    level: JobLevel | None = None


class AlgorithmSpec(AlgorithmUpdateSpec, kw_only=True):
    """The body that registers an algorithm: with a manifest that was saved before, or with a hosted template."""

    name: Annotated[Name, Meta(description="Name, unique across all projects.")]
    user: Annotated[Id, Meta(description="Id of a member of the project.")]
    files_per_job: FilesPerJob


class Algorithm(Resource, kw_only=True):
    """A registered algorithm. `rendered` is the manifest that its template currently gives."""

    hidden: ClassVar = frozenset({"sealed", "approver", "digest"})

    id: int
    project: int
    name: Name
    user: int
    description: str = ""
    manifest: str | None = None
    cluster: int | None = None
    files_per_job: int
    categories: list[str] = []
    parameters: list[AlgorithmParameter] = []
    template: int | None = None
    tparams: list[Parameter] = []
    rendered: str | None = None
    extended_info: dict[str, Any] = {}
    sealed: Annotated[str, Meta(description="The headers that its template is fetched with, sealed.")] = ""
    level: JobLevel = "Can Execute"
    approver: Annotated[int, Meta(description="The user who last set what it runs.")] = 0
    digest: Annotated[str, Meta(description="The SHA-256 of what it ran then; empty where it could not be had.")] = ""
    effective_permission: int = 0


class AppletUpdate(Resource, kw_only=True):
    """The body of a PATCH of an applet."""

    name: Name | None = None
    description: Summary | None = None
    html_file: FileUrl | None = None
    categories: Categories | None = None
    template: Id | None = None
    tparams: Templated | None = None
    headers: Templated | None = None


class AppletSpec(AppletUpdate, kw_only=True):
    """The body that registers an applet: with a page that was saved before, or with a hosted template."""

    name: Name


class Applet(Resource, kw_only=True):
    """A page shown inside a project. `rendered` is the page that its template currently gives."""

    hidden: ClassVar = frozenset({"sealed"})

    id: int
    project: int
    name: Name
    description: str = ""
    html_file: str | None = None
    categories: list[str] = []
    template: int | None = None
    tparams: list[Parameter] = []
    rendered: str | None = None
    sealed: str = ""
    created_datetime: Timestamp
    effective_permission: int = 0


class AnalysisSpec(Resource, kw_only=True):
    """The body that creates an analysis: a search whose matches are counted, and its name."""

    name: Name
    data_query: DataQuery = "*"


class AnalysisUpdate(Resource, kw_only=True):
    """The body of a PATCH of an analysis."""

    name: Name | None = None
    data_query: DataQuery | None = None


class Analysis(Resource, kw_only=True):
    """A count that is shown on the page of a project."""

    id: int
    project: int
    name: Name
    data_query: DataQuery = "*"


ALGORITHM = RecordKind(
    name="algorithm",
    struct=Algorithm,
    parent=("project", "project"),
    claims=lambda algorithm: {"name": algorithm.name.casefold()},
)
APPLET = RecordKind(name="applet", struct=Applet, parent=("project", "project"))
ANALYSIS = RecordKind(name="analysis", struct=Analysis, parent=("project", "project"))
