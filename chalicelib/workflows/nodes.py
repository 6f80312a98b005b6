"""The graph of a workflow's run: nodes, their inputs and outputs, and the results of submitted nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from chalicelib.errors import BadInput
from chalicelib.workflows.manifests import Container, Workflow, quantity

MOST_NODES = 500
SUCCEEDED, FAILED, ERROR, SKIPPED, OMITTED = "Succeeded", "Failed", "Error", "Skipped", "Omitted"
PENDING, RUNNING = "Pending", "Running"
FINISHED = frozenset({SUCCEEDED, FAILED, ERROR, SKIPPED, OMITTED})
UNSUCCESSFUL = frozenset({FAILED, ERROR, OMITTED})


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a node that was submitted to an engine."""

    phase: str
    outputs: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    """Its standard output, if kept."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """An input file of a node: made by another node (`node`, `name`), or a text."""

    path: str
    node: str = ""
    name: str = ""
    text: str | None = None
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Output:
    """An output file of a node: a parameter, or an artifact."""

    name: str
    path: str
    is_parameter: bool
    default: str | None = None
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A folder of a node: of its own, or shared by the nodes of the run under a name, with its most bytes."""

    path: str
    name: str
    is_shared: bool = False
    size: int | None = None
    sub_path: str = ""
    is_read_only: bool = False


@dataclass(kw_only=True)
class Node:
    """A node of a graph."""

    id: str
    task: str
    template: str
    is_pod: bool
    phase: str | None = None
    needs: tuple[str, ...] = ()
    """Pods that must have succeeded before."""
    children: list[str] = field(default_factory=list)
    container: Container | None = None
    """Its container after variable substitution; None while values are unknown, and for other kinds of templates."""
    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    attempts: int = 1
    seconds: int | None = None
    grace: int | None = None
    """Seconds between SIGTERM and SIGKILL, where the manifest says so."""
    folders: tuple[Folder, ...] = ()
    keeps_text: bool = False
    """Whether other nodes use its standard output."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be submitted."""
        return self.is_pod and self.container is not None and self.phase is None


class Graph:
    """The nodes of a run, by id, in starting order."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.end: Node | None = None
        """The node of `onExit`, once the others have ended."""
        self.is_late = False
        """Whether something failed because the time of the run is over."""
        self.limits: dict[str, int] = {}
        """The most pods that run at once within a node, by its id; of the whole run under ""."""

    def add(self, node: Node) -> Node:
        """Add a node. Raises BadInput if there are too many."""
        if len(self.nodes) >= MOST_NODES:
            raise BadInput(f"manifest: a workflow may have {MOST_NODES} nodes.")
        self.nodes[node.id] = node
        return node

    @property
    def phase(self) -> str | None:
        """The phase of the run: of the first node, unless what `onExit` runs failed later; None while it runs."""
        phase = self.main_phase
        if self.end is None or self.end.phase is None:
            return phase if self.end is None else None
        return self.end.phase if phase == SUCCEEDED else phase

    @property
    def main_phase(self) -> str | None:
        """The phase of the first node."""
        return next(iter(self.nodes.values())).phase

    def has_room(self, node: Node, running: Collection[str]) -> bool:
        """Whether one more pod may run, beside those with some ids."""
        return all(
            sum(_is_within(each, place) for each in running) < most
            for place, most in self.limits.items()
            if _is_within(node.id, place)
        )

    def edges(self) -> None:
        """Set the children of every node: its successors, and for arrangements their first nodes."""
        for node in self.nodes.values():
            for need in node.needs:
                self.nodes[need].children.append(node.id)
            around = node.id
            while "." in around:
                around = around.rpartition(".")[0]
                if (outer := self.nodes.get(around)) is not None:
                    if outer.needs == node.needs:
                        outer.children.append(node.id)
                    break


def _is_within(number: str, place: str) -> bool:
    return not place or number.startswith(f"{place}.")


def folders_of(workflow: Workflow, pod: Container) -> Iterable[Folder]:
    """The folders of a container. Raises BadInput for a malformed size."""
    claims = {claim.name: claim for claim in workflow.spec.volume_claim_templates}
    for mount in pod.volume_mounts:
        claim = claims.get(mount.name)
        size = int(quantity(claim.size)) if claim and claim.size else None
        yield Folder(
            path=mount.mount_path,
            name=mount.name,
            is_shared=claim is not None,
            size=size,
            sub_path=mount.sub_path or "",
            is_read_only=mount.read_only,
        )
