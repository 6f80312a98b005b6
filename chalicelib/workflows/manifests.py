"""Manifests: workflows as users write them, the part of Argo's Workflow resource that the service reads.

`parse` reads the YAML; `workflow` converts it to the Structs below. Other members are left to the engine: `checks` says
which of them each engine supports.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import yaml
from msgspec import Meta, Struct, field

from chalicelib.core.text import bounded_yaml
from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput, TooLarge

MAX_MANIFEST_BYTES = 256 * 1024
"""Maximum bytes of a manifest."""
MOST_VALUES = 20_000


class Located(dict[str, Any]):
    """A mapping of a manifest that records the lines of its members."""

    lines: dict[str, int]


class _Loader(bounded_yaml.Loader):
    """The safe loader with `Located` mappings."""

    def construct_located(self, node: yaml.MappingNode) -> Iterator[Located]:
        """Construct a mapping as the safe loader does: first empty, for references to it, then filled."""
        found = Located()
        found.lines = {key.value: key.start_mark.line + 1 for key, _ in node.value if isinstance(key, yaml.ScalarNode)}
        yield found
        found.update(self.construct_mapping(node))


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_located)

_UNITS = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40} | {
    "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12
}  # fmt: skip
_DURATION = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,8})m)?(?:([0-9]{1,9})s)?")
Scalar = str | bool | int | float
Named = Annotated[str, Meta(min_length=1, max_length=128)]


class _Part(Struct, kw_only=True, rename="camel", frozen=True):
    """Base of the Structs: members have Argo's names."""


class Parameter(_Part, frozen=True, kw_only=True):
    """A parameter: of the workflow, of a template's inputs or outputs, or an argument."""

    name: Named
    value: Scalar | None = None
    default: Scalar | None = None
    value_from: dict[str, Any] | None = None


class Artifact(_Part, frozen=True, kw_only=True):
    """A file input or output of a step."""

    name: Named
    path: str | None = None
    source: str | None = field(name="from", default=None)
    raw: dict[str, Any] | None = None
    optional: bool = False


class Values(_Part, frozen=True, kw_only=True):
    """Parameters and artifacts: inputs, outputs or arguments."""

    parameters: list[Parameter] = []
    artifacts: list[Artifact] = []


class EnvVar(_Part, frozen=True, kw_only=True):
    """A variable of a container's environment."""

    name: Named
    value: str | None = None


class Resources(_Part, frozen=True, kw_only=True):
    """Resource requests of a container: `cpu`, `memory` and others such as `nvidia.com/gpu`."""

    limits: dict[str, str | int | float] = {}
    requests: dict[str, str | int | float] = {}


class VolumeMount(_Part, frozen=True, kw_only=True):
    """Where a container has a volume of the template or of the workflow."""

    name: Named
    mount_path: Named
    sub_path: str | None = None
    read_only: bool = False


class Volume(_Part, frozen=True, kw_only=True):
    """A folder that one step has for itself (`emptyDir`); other kinds are a cluster's."""

    name: Named
    empty_dir: dict[str, Any] | None = None


class VolumeClaimTemplate(_Part, frozen=True, kw_only=True):
    """A work folder that the steps of a run share: `metadata.name`, and its size in `spec`."""

    metadata: dict[str, Any] = {}
    spec: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The name by which containers mount it."""
        return str(self.metadata.get("name"))

    @property
    def size(self) -> str:
        """How much it may hold, such as `10Gi`; empty for no limit of its own."""
        requests = (self.spec.get("resources") or {}).get("requests") or {}
        return str(requests.get("storage") or "")


class Container(_Part, frozen=True, kw_only=True):
    """The container to run: an image with a command; `source` is a script's text."""

    image: Annotated[str, Meta(min_length=1)]
    command: list[str] = []
    args: list[str] = []
    env: list[EnvVar] = []
    resources: Resources | None = None
    volume_mounts: list[VolumeMount] = []
    working_dir: str | None = None
    source: str | None = None


class Sequence(_Part, frozen=True, kw_only=True):
    """The numbers over which a step runs: `count` of them from `start` (0) on, or up to `end`; a text of each."""

    count: int | str | None = None
    start: int | str | None = None
    end: int | str | None = None
    format: str | None = None


class Step(_Part, frozen=True, kw_only=True):
    """A step of `steps` or a task of `dag`."""

    name: Named
    template: str | None = None
    arguments: Values = Values()
    when: str | None = None
    with_items: list[Any] | None = None
    with_param: str | None = None
    with_sequence: Sequence | None = None
    dependencies: list[str] = []
    depends: str | None = None


class Dag(_Part, frozen=True, kw_only=True):
    """Tasks with dependencies."""

    tasks: Annotated[list[Step], Meta(min_length=1)]


class Retry(_Part, frozen=True, kw_only=True):
    """The retry limit of a step."""

    limit: int | str | None = None
    retry_policy: str = "OnFailure"


class Template(_Part, frozen=True, kw_only=True):
    """A template: a container, a script, or an arrangement of other templates."""

    name: Named
    inputs: Values = Values()
    outputs: Values = Values()
    container: Container | None = None
    script: Container | None = None
    steps: list[list[Step]] | None = None
    dag: Dag | None = None
    retry_strategy: Retry | None = None
    active_deadline_seconds: int | str | None = None
    timeout: str | None = None
    parallelism: int | None = None
    termination_grace_period_seconds: Annotated[int, Meta(ge=0)] | None = None
    volumes: list[Volume] = []

    @property
    def pod(self) -> Container | None:
        """The template's own container; None for one that arranges other templates."""
        return self.container or self.script

    @property
    def all_steps(self) -> list[Step]:
        """Its steps or tasks, in document order."""
        if self.dag is not None:
            return self.dag.tasks
        return [step for group in self.steps or [] for step in group]


class Spec(_Part, frozen=True, kw_only=True):
    """The `spec` of a workflow."""

    entrypoint: str | None = None
    templates: list[Template] = []
    arguments: Values = Values()
    on_exit: str | None = None
    parallelism: int | None = None
    active_deadline_seconds: int | str | None = None
    volumes: list[Volume] = []
    volume_claim_templates: list[VolumeClaimTemplate] = []


class Workflow(_Part, frozen=True, kw_only=True):
    """A complete manifest."""

    api_version: str
    kind: str
    metadata: dict[str, Any] = {}
    spec: Spec

    def template(self, name: str | None) -> Template | None:
        """The template with a name."""
        return next((template for template in self.spec.templates if template.name == name), None)


def parse(text: str | bytes) -> dict[str, Any]:
    """The single document of a manifest.

    Raises:
        TooLarge: it has more than `LARGEST` bytes.
        BadInput: it is not YAML, with line and column of the error; or it is not a mapping, or too large after its
            aliases are expanded.
    """
    data = text.encode() if isinstance(text, str) else text
    if len(data) > MAX_MANIFEST_BYTES:
        raise TooLarge(f"manifest: {MAX_MANIFEST_BYTES} bytes at most, not {len(data)}.")
    try:
        document = bounded_yaml.load(data.decode(), _Loader)
    except UnicodeDecodeError:
        raise BadInput("manifest: it is not text in UTF-8.") from None
    except yaml.MarkedYAMLError as error:
        raise _syntax(error) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput("manifest: it is not YAML.", str(error)[:500]) from None
    if not isinstance(document, dict):
        raise BadInput("manifest: it is no mapping with apiVersion, kind and spec.")
    for count, _ in enumerate(_values(document, 0)):
        if count > MOST_VALUES:
            raise BadInput(f"manifest: {MOST_VALUES} values at most.")
    return document


def workflow(document: dict[str, Any]) -> Workflow:
    """A manifest as a Struct. Raises BadInput, naming the place and the rule, if it has another form."""
    try:
        return msgspec.convert(document, Workflow)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        where = place.rstrip("`").lstrip(".") or "its top"
        raise BadInput(f"manifest: at {where}: {what.replace('`', '')}.") from None


def quantity(text: str) -> float:
    """A quantity of Kubernetes, such as `500m`, `2` or `10Gi`, as a number. Raises BadInput."""
    number, unit = next(((text[: -len(unit)], unit) for unit in _UNITS if text.endswith(unit)), (text, ""))
    try:
        found = float(number) * _UNITS.get(unit, 1.0)
    except ValueError:
        found = -1.0
    if not 0 <= found < math.inf:
        raise BadInput(f"{text[:100]!r} is no quantity, such as 500m, 2 or 10Gi.")
    return found


def seconds_of(value: int | str | None, where: str) -> int | None:
    """Seconds, as a number or in Go's form (`90s`, `5m`, `1h30m`). Raises BadInput."""
    if value is None or value == "":
        return None
    text = str(value)
    parts = _DURATION.fullmatch(text)
    if (seconds := natural(text)) is not None:
        return seconds
    if parts is None or not any(parts.groups()):
        raise BadInput(f"manifest: {where}: {text[:100]!r} is no duration, such as 90, 90s, 5m or 1h30m.")
    hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    return 3600 * hours + 60 * minutes + seconds


def line_of(value: Any, name: str) -> str:
    """`line 7: ` for a member of a manifest's mapping; empty if its line is not known."""
    line = getattr(value, "lines", {}).get(name)
    return f"line {line}: " if line else ""


def strings(value: Any) -> Iterator[str]:
    """Every text within a value of a manifest."""
    return (found for found in _values(value, 0) if isinstance(found, str))


def _values(value: Any, depth: int) -> Iterator[Any]:
    """Every value within another; aliases repeat their values."""
    if depth > bounded_yaml.DEEPEST:
        raise BadInput(f"manifest: nested more than {bounded_yaml.DEEPEST} levels deep.")
    yield value
    if isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str):
                raise BadInput(f"manifest: {str(name)[:100]!r} is no name: names are text.")
            yield from _values(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item, depth + 1)


def _syntax(error: yaml.MarkedYAMLError) -> BadInput:
    mark = error.problem_mark or error.context_mark
    place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    about = ", ".join(text for text in (error.context, error.problem) if text)
    return BadInput(f"manifest: YAML syntax error{place}: {about}.", str(error)[:1000])
