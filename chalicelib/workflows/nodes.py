"""The graph of a workflow's run: nodes, their inputs and outputs, and the results of submitted nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

    def add(self, node: Node) -> Node:
        """Add a node. Raises BadInput if there are too many."""
        if len(self.nodes) >= MOST_NODES:
            raise BadInput(f"manifest: a workflow may have {MOST_NODES} nodes.")
        self.nodes[node.id] = node
        return node

    @property
    def phase(self) -> str | None:
        """The phase of the run, which is that of the first node; None while it runs."""
        return next(iter(self.nodes.values())).phase

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


def folders_of(workflow: Workflow, pod: Container) -> Iterable[Folder]:
    """The folders of a container. Raises BadInput for a size that is none."""
    claims = {claim.name: claim for claim in workflow.spec.volume_claim_templates}
    for mount in pod.volume_mounts:
        claim = claims.get(mount.name)
        size = int(quantity(claim.size)) if claim and claim.size else None
        yield Folder(path=mount.mount_path, name=mount.name, is_shared=claim is not None, size=size)
