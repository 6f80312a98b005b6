"""What AWS Batch makes of each member of Argo's Workflow, and what works there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from chalicelib.errors import BadInput
from chalicelib.workflows import manifests, support
from chalicelib.workflows.checks import Engine, check
from chalicelib.workflows.expansion import END, arguments_of, expand
from chalicelib.workflows.nodes import Result
from tests.sweeps import sweep

MEMBERS = json.loads((Path(__file__).parents[1] / "data" / "argo_members.json").read_text())
OF_OTHER_RELEASES = {"spec": {"podPriority"}, "template": {"priority", "terminationGracePeriodSeconds"}}
"""Members that Argo's schema of the list does not have, and servers take."""
RUN = {"image": "alpine", "command": ["true"]}


def manifest(*templates: dict[str, Any], **spec: Any) -> str:
    """A manifest whose entrypoint is the first template."""
    body = {"entrypoint": templates[0]["name"], "templates": list(templates), **spec}
    return yaml.safe_dump({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": body})


def graph(text: str, results: dict[str, Result] | None = None, **more: Any):
    workflow = manifests.workflow(check(text, Engine.BATCH))
    return expand(workflow, arguments_of(workflow, ()), results or {}, name="n", uid="u", **more)


def steps(**member: Any) -> dict[str, Any]:
    return {"name": "main", "steps": [[{"name": "s", "template": "say", **member}]]}


SAY = {
    "name": "say",
    "inputs": {"parameters": [{"name": "what", "value": "nothing"}]},
    "container": {**RUN, "args": ["{{inputs.parameters.what}}"]},
}
GIVEN = {"arguments": {"parameters": [{"name": "what", "value": "{{item}}"}]}}


@sweep("part", MEMBERS)
def test_each_member_of_argos_schema_works_has_no_effect_or_is_refused(part):
    works, accepted = support.WORKS[part], support.ACCEPTED.get(part, frozenset())
    refused = support.REFUSED.get(part, {}).keys()
    assert works | accepted | refused == set(MEMBERS[part]["members"]) | OF_OTHER_RELEASES.get(part, set())
    assert not works & accepted
    assert not (works | accepted) & refused


@pytest.mark.parametrize("engine", [Engine.BATCH, Engine.LOCAL])
def test_a_refusal_names_member_engine_and_reason(engine):
    text = manifest({"name": "a", "container": RUN, "sidecars": [{"image": "b"}]})
    with pytest.raises(
        BadInput, match=rf"template 'a': sidecars is not supported by {engine}: a step has one container"
    ):
        check(text, engine)
    assert check(text, Engine.CLUSTER)


def test_refused_members_that_ask_for_nothing_are_harmless():
    check(manifest({"name": "a", "container": RUN, "sidecars": [], "daemon": False}, hostNetwork=False), Engine.BATCH)


def test_a_member_that_argo_does_not_have_is_refused_with_the_nearest_one():
    with pytest.raises(BadInput, match=r"retryStrategie .* no such member here. Did you mean 'retryStrategy'\?"):
        check(manifest({"name": "a", "container": RUN, "retryStrategie": {}}), Engine.BATCH)


class TestSequences:
    @pytest.mark.parametrize(
        ("sequence", "items"),
        [
            ({"count": 3}, ["0", "1", "2"]),
            ({"count": "2", "start": "5"}, ["5", "6"]),
            ({"start": 2, "end": 0, "format": "f%02d.png"}, ["f02.png", "f01.png", "f00.png"]),
            ({"count": "{{workflow.parameters.n}}"}, ["0", "1"]),
            ({"count": 0}, []),
        ],
    )
    def test_a_step_runs_for_each_number(self, sequence, items):
        main = steps(withSequence=sequence, **GIVEN)
        found = graph(manifest(main, SAY, arguments={"parameters": [{"name": "n", "value": 2}]}))
        pods = [node for node in found.nodes.values() if node.is_pod]
        assert [pod.container.args for pod in pods] == [[item] for item in items]

    @pytest.mark.parametrize(
        "sequence",
        [{}, {"count": 1, "end": 2}, {"count": "x"}, {"count": 501}, {"end": 10**30}, {"count": 1, "format": "%s%d"}],
    )
    def test_what_is_no_sequence_is_refused(self, sequence):
        with pytest.raises(BadInput, match="withSequence"):
            graph(manifest(steps(withSequence=sequence, **GIVEN), SAY))

    def test_one_way_says_for_what_a_step_runs(self):
        with pytest.raises(BadInput, match="one of withItems"):
            check(manifest(steps(withSequence={"count": 1}, withItems=[1], **GIVEN), SAY), Engine.BATCH)


class TestTheEnd:
    TEXT = manifest(
        {"name": "main", "container": RUN},
        {"name": "tell", "container": {**RUN, "args": ["{{workflow.status}}", "{{workflow.failures}}"]}},
        onExit="tell",
    )

    def test_it_runs_once_all_else_has_ended_and_is_told_how(self):
        assert END not in graph(self.TEXT).nodes
        for phase, failures in (("Succeeded", 0), ("Failed", 1)):
            found = graph(self.TEXT, {"main": Result(phase=phase)})
            assert found.nodes[END].is_ready
            assert found.nodes[END].container.args[0] == phase
            assert len(json.loads(found.nodes[END].container.args[1])) == failures
            assert found.phase is None

    @pytest.mark.parametrize(
        ("main", "end", "whole"),
        [
            ("Succeeded", "Succeeded", "Succeeded"),
            ("Succeeded", "Failed", "Failed"),
            ("Failed", "Succeeded", "Failed"),
        ],
    )
    def test_a_run_is_as_good_as_its_worst_part(self, main, end, whole):
        found = graph(self.TEXT, {"main": Result(phase=main), END: Result(phase=end)})
        assert found.phase == whole

    def test_its_template_must_be_there_and_need_nothing(self):
        with pytest.raises(BadInput, match="onExit: there is no template 'x'"):
            check(manifest({"name": "main", "container": RUN}, onExit="x"), Engine.BATCH)
        needy = {"name": "x", "inputs": {"parameters": [{"name": "p"}]}, "container": RUN}
        with pytest.raises(BadInput, match="onExit: nothing gives its parameter 'p'"):
            check(manifest({"name": "main", "container": RUN}, needy, onExit="x"), Engine.BATCH)


class TestTime:
    def test_what_has_not_ended_when_the_time_of_the_run_is_over_has_failed(self):
        text = manifest(
            {"name": "main", "steps": [[{"name": "a", "template": "x"}], [{"name": "b", "template": "x"}]]},
            {"name": "x", "container": RUN},
            activeDeadlineSeconds="5m",
        )
        found = graph(text, is_late=True)
        assert {node.task: node.phase for node in found.nodes.values()} == {
            "main": "Failed",
            "a": "Failed",
            "b": "Omitted",
        }
        done = graph(text, {"main.0.a": Result(phase="Succeeded"), "main.1.b": Result(phase="Succeeded")}, is_late=True)
        assert done.phase == "Succeeded"

    @pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("1h2m3s", 3723), (7, 7)])
    def test_a_timeout_bounds_the_time_of_a_step(self, text, seconds):
        found = graph(manifest({"name": "a", "container": RUN, "timeout": str(text), "activeDeadlineSeconds": 9999}))
        assert found.nodes["a"].seconds == seconds

    def test_what_is_no_duration_is_refused(self):
        for more in ({"timeout": "soon"}, {"timeout": "h"}):
            with pytest.raises(BadInput, match="no duration"):
                check(manifest({"name": "a", "container": RUN, **more}), Engine.BATCH)
        with pytest.raises(BadInput, match="activeDeadlineSeconds: '5x' is no duration"):
            check(manifest({"name": "a", "container": RUN}, activeDeadlineSeconds="5x"), Engine.BATCH)


class TestParallelism:
    def test_limits_count_the_pods_within_a_node(self):
        inner = {"name": "inner", "parallelism": 1, "steps": [[{"name": n, "template": "x"} for n in "ab"]]}
        main = {"name": "main", "steps": [[{"name": "i", "template": "inner"}, {"name": "c", "template": "x"}]]}
        found = graph(manifest(main, inner, {"name": "x", "container": RUN}, parallelism=2))
        a, b, c = (found.nodes[number] for number in ("main.0.i.0.a", "main.0.i.0.b", "main.0.c"))
        assert found.has_room(a, [])
        assert not found.has_room(b, [a.id])
        assert found.has_room(c, [a.id])
        assert not found.has_room(b, [c.id, "main.0.d"])

    def test_none_is_refused(self):
        with pytest.raises(BadInput, match="parallelism is 0"):
            check(manifest({"name": "a", "container": RUN}, parallelism=0), Engine.BATCH)


class TestDefaults:
    def test_each_template_has_what_the_workflow_says_for_all(self):
        text = manifest(
            {"name": "main", "steps": [[{"name": "s", "template": "x"}]]},
            {"name": "x", "container": RUN, "retryStrategy": {"limit": 1}},
            {"name": "y", "container": {"image": "other"}},
            templateDefaults={"activeDeadlineSeconds": 60, "container": {"image": "busybox", "command": ["true"]}},
            retryStrategy={"limit": 3},
        )
        main, x, y = check(text, Engine.BATCH)["spec"]["templates"]
        assert "retryStrategy" not in main
        assert "container" not in main
        assert (x["retryStrategy"], y["retryStrategy"]) == ({"limit": 1}, {"limit": 3})
        assert y["container"] == {"image": "other", "command": ["true"]}
        assert y["activeDeadlineSeconds"] == 60

    def test_a_template_within_a_step_is_one_of_the_list(self):
        main = {"name": "main", "steps": [[{"name": "s", "inline": {"container": {**RUN, "args": ["x"]}}}]]}
        assert graph(manifest(main)).nodes["main.0.s"].container.args == ["x"]

    def test_a_target_leaves_out_tasks_that_it_does_not_need(self):
        tasks = [{"name": n, "template": "x", "dependencies": d} for n, d in (("a", []), ("b", ["a"]), ("c", []))]
        dag = {"tasks": tasks, "target": "b", "failFast": False}
        found = graph(manifest({"name": "main", "dag": dag}, {"name": "x", "container": RUN}))
        assert {node.task for node in found.nodes.values()} == {"main", "a", "b"}
        with pytest.raises(BadInput, match="there is no task 'z'"):
            check(
                manifest({"name": "main", "dag": {**dag, "target": "z"}}, {"name": "x", "container": RUN}), Engine.BATCH
            )


class TestFolders:
    @pytest.mark.parametrize("path", ["../x", "/x", "a/../b", "a//b", "{{inputs.parameters.x}}", "."])
    def test_a_folder_within_a_volume_stays_there(self, path):
        mounts = [{"name": "w", "mountPath": "/work", "subPath": path}]
        text = manifest(
            {"name": "a", "volumes": [{"name": "w", "emptyDir": {}}], "container": {**RUN, "volumeMounts": mounts}}
        )
        with pytest.raises(BadInput, match="subPath"):
            check(text, Engine.BATCH)

    def test_a_mount_within_another_is_refused_where_both_have_volumes_of_their_own(self):
        mounts = [{"name": "w", "mountPath": "/all"}, {"name": "w", "mountPath": "/part", "subPath": "a"}]
        text = manifest(
            {"name": "a", "volumes": [{"name": "w", "emptyDir": {}}], "container": {**RUN, "volumeMounts": mounts}}
        )
        with pytest.raises(BadInput, match="within another mount"):
            check(text, Engine.BATCH)

    def test_a_working_folder_needs_a_command(self):
        with pytest.raises(BadInput, match="workingDir needs a command"):
            check(manifest({"name": "a", "container": {"image": "x", "workingDir": "/work"}}), Engine.BATCH)
