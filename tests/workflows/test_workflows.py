"""Manifests: what is refused at registration, and how a manifest becomes a graph."""

from __future__ import annotations

import copy

import pytest
import yaml

from chalicelib.errors import BadInput, TooLarge
from chalicelib.workflows import conditions, manifests
from chalicelib.workflows.checks import Engine, check
from chalicelib.workflows.expansion import arguments_of, expand
from chalicelib.workflows.nodes import Result

FORK = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: fork-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: greeting, value: hello}]}
  templates:
    - name: main
      steps:
        - - name: left
            template: say
            arguments: {parameters: [{name: what, value: "{{workflow.parameters.media_ids}}"}]}
          - {name: right, template: say, arguments: {parameters: [{name: what, value: "b"}]}}
        - - {name: join, template: say, arguments: {parameters: [{name: what, value: "c"}]}}
    - name: say
      inputs: {parameters: [{name: what}]}
      container: {image: alpine, command: [echo], args: ["{{workflow.parameters.greeting}} {{inputs.parameters.what}}"]}
"""


def document(text: str = FORK) -> dict:
    return yaml.safe_load(text)


def template(**more) -> str:
    """A manifest of one template."""
    return yaml.safe_dump(
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "spec": {"entrypoint": "a", "templates": [{"name": "a", **more}]},
        }
    )


def graph(text: str, results: dict[str, Result] | None = None, **parameters):
    workflow = manifests.workflow(check(text, Engine.BATCH))
    return expand(workflow, arguments_of(workflow, parameters.items()), results or {}, name="n", uid="u")


def chain(levels: int, value: str) -> str:
    """A manifest of templates within templates; each gives the next one a value made of its own."""
    variable = {"inputs": {"parameters": [{"name": "x"}]}}

    def call(number: int, given: str) -> list:
        return [[{"name": "s", "template": f"t{number}", "arguments": {"parameters": [{"name": "x", "value": given}]}}]]

    templates = [
        {"name": "main", "steps": call(0, "aaaaaaaa")},
        *({"name": f"t{number}", **variable, "steps": call(number + 1, value)} for number in range(levels)),
        {"name": f"t{levels}", **variable, "container": {"image": "a", "args": ["{{inputs.parameters.x}}"]}},
    ]
    return yaml.safe_dump(
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "spec": {"entrypoint": "main", "templates": templates},
        }
    )


class TestBounds:
    def test_values_that_double_at_each_level_are_refused_before_they_fill_the_memory(self):
        assert len(graph(chain(40, "{{inputs.parameters.x}}")).nodes) == 42
        with pytest.raises(BadInput, match="the values of its variables may have"):
            graph(chain(20, "{{inputs.parameters.x}}" * 2))  # 8 million characters

    def test_templates_within_templates_have_a_depth(self):
        with pytest.raises(BadInput, match="levels deep"):
            graph(chain(300, "{{inputs.parameters.x}}"))


class TestSyntax:
    def test_an_error_has_line_and_column(self):
        with pytest.raises(BadInput, match=r"line 20, column \d"):
            check(FORK + "garbage at column 0\nmore\n", Engine.CLUSTER)

    @pytest.mark.parametrize(
        "text", ["", "- a", "a", "\x00", "{a: b}: c", "&a [*a]", "a: !!python/object:x {}", b"\xff"]
    )
    def test_what_is_no_workflow_is_refused(self, text):
        with pytest.raises(BadInput, match="manifest"):
            check(text, Engine.CLUSTER)

    def test_aliases_that_multiply_are_refused(self):
        levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
        with pytest.raises(BadInput, match="values at most"):
            check("\n".join(levels), Engine.CLUSTER)

    def test_deep_and_endless_ones_are_refused(self):
        for text in ("a: " + "[" * 5000 + "]" * 5000, "a: &a {b: *a}"):
            with pytest.raises(BadInput):
                check(text, Engine.CLUSTER)

    def test_large_ones_are_refused(self):
        with pytest.raises(TooLarge):
            check("#" * 300_000, Engine.CLUSTER)


class TestStructure:
    @pytest.mark.parametrize(
        ("path", "value", "says"),
        [
            ("kind", "CronWorkflow", "kind must be Workflow"),
            ("apiVersion", "v1", "apiVersion"),
            ("spec.entrypoint", "nowhere", "entrypoint: there is no template 'nowhere'"),
            ("spec.entrypoint", None, "entrypoint"),
            ("spec.templates", [], "templates are missing"),
            ("spec.templates.1.name", "main", "two templates"),
            ("spec.templates.1.container", None, "exactly one of"),
            ("spec.templates.1.script", {"image": "a", "source": "b"}, "container and script"),
            ("spec.templates.1.container.image", 7, r"spec.templates\[...\].container.image|container.image"),
            ("spec.templates.0.steps.0.0.template", "nothing", "template 'nothing'"),
            ("spec.templates.0.steps.0.1.name", "left", "two steps"),
        ],
    )
    def test_what_cannot_run_anywhere_is_refused(self, path, value, says):
        found = document()
        place = found
        *steps, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
        for step in steps:
            place = place[step]
        place[last] = value
        for engine in Engine:
            with pytest.raises(BadInput, match=says):
                check(yaml.safe_dump(found), engine)

    def test_a_cycle_is_refused(self):
        tasks = [
            {"name": "x", "template": "b", "dependencies": ["y"]},
            {"name": "y", "template": "b", "dependencies": ["x"]},
        ]
        found = yaml.safe_load(template(dag={"tasks": tasks}))
        found["spec"]["templates"].append({"name": "b", "container": {"image": "a"}})
        with pytest.raises(BadInput, match="never end: x, y"):
            check(yaml.safe_dump(found), Engine.CLUSTER)


CONTAINER = {"image": "alpine", "command": ["true"]}


class TestWhatBatchTakes:
    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ({"suspend": {}}, "suspend"),
            ({"resource": {"action": "create"}}, "resource"),
            ({"container": CONTAINER, "sidecars": [{"image": "a"}]}, "sidecars"),
            ({"container": CONTAINER, "initContainers": [{"image": "a"}]}, "initContainers"),
            ({"container": CONTAINER, "synchronization": {}}, "synchronization"),
            ({"container": {**CONTAINER, "volumeDevices": [{"name": "a"}]}}, "volumeDevices"),
            ({"container": {**CONTAINER, "env": [{"name": "a", "valueFrom": {}}]}}, "valueFrom"),
            ({"container": {**CONTAINER, "resources": {"limits": {"nvidia.com/gpu": 1}}}}, "nvidia.com/gpu"),
            ({"container": {**CONTAINER, "args": ["{{=1+1}}"]}}, "expressions"),
            ({"container": {**CONTAINER, "args": ["{{node.name}}"]}}, "variable"),
            (
                {"container": CONTAINER, "retryStrategy": {"limit": 2, "retryPolicy": "OnTransientError"}},
                "OnTransientError",
            ),
            ({"container": CONTAINER, "retryStrategy": {"limit": 2, "expression": "true"}}, "expression"),
            (
                {"container": CONTAINER, "outputs": {"parameters": [{"name": "o", "valueFrom": {"path": "/o"}}]}},
                "folder",
            ),
            ({"container": CONTAINER, "inputs": {"artifacts": [{"name": "i", "path": "/a/b", "git": {}}]}}, "git"),
            ({"steps": [[{"name": "s", "template": "a"}]]}, "use themselves"),
            ({"steps": [[{"name": "s", "template": "a", "continueOn": {"failed": True}}]]}, "continueOn"),
            ({"steps": [[{"name": "s", "template": "a", "onExit": "a"}]]}, "onExit"),
            (
                {
                    "dag": {
                        "tasks": [{"name": "s", "template": "a"}, {"name": "t", "template": "a", "depends": "s.Failed"}]
                    }
                },
                "depends",
            ),
        ],
    )
    def test_what_it_cannot_do_is_refused_by_name(self, more, says):
        with pytest.raises(BadInput, match=says) as caught:
            check(template(**more), Engine.BATCH)
        assert "manifest: " in caught.value.message

    @pytest.mark.parametrize("name", ["volumeClaimTemplates", "hooks", "suspend", "podSpecPatch"])
    def test_so_are_members_of_the_workflow(self, name):
        found = yaml.safe_load(template(container=CONTAINER))
        found["spec"][name] = [{}]
        with pytest.raises(BadInput, match=f"{name} is not supported by AWS Batch"):
            check(yaml.safe_dump(found), Engine.BATCH)
        check(yaml.safe_dump(found), Engine.CLUSTER)

    def test_what_changes_nothing_is_taken(self):
        found = yaml.safe_load(
            template(container=CONTAINER, nodeSelector={"gpu": "no"}, metadata={"labels": {"a": "b"}})
        )
        found["spec"] |= {"ttlStrategy": {"secondsAfterCompletion": 30}, "podGC": {"strategy": "OnPodCompletion"}}
        check(yaml.safe_dump(found), Engine.BATCH)


class TestGraphs:
    def test_two_parallel_steps_and_a_join(self):
        found = graph(FORK, media_ids="1,2")
        left, right, join = "main.0.left", "main.0.right", "main.1.join"
        assert list(found.nodes) == ["main", left, right, join]
        assert found.nodes["main"].children == [left, right]
        assert found.nodes[left].children == found.nodes[right].children == [join]
        assert found.nodes[join].needs == (left, right)
        assert found.nodes[left].container.args == ["hello 1,2"]
        assert all(node.is_ready for node in found.nodes.values() if node.is_pod)
        assert found.phase is None

    def test_phases_follow_the_results(self):
        ids = ["main.0.left", "main.0.right", "main.1.join"]
        done = {number: Result(phase="Succeeded") for number in ids}
        assert graph(FORK, done, media_ids="1").phase == "Succeeded"
        failed = {**done, ids[0]: Result(phase="Failed")}
        found = graph(FORK, failed, media_ids="1")
        assert found.nodes[ids[2]].phase == "Omitted"
        assert found.phase == "Failed"
        assert graph(FORK, {ids[0]: Result(phase="Failed")}, media_ids="1").phase is None

    LOOP = template(
        steps=[
            [{"name": "list", "template": "list"}],
            [
                {
                    "name": "each",
                    "template": "work",
                    "withParam": "{{steps.list.outputs.result}}",
                    "when": "{{item}} != skip",
                    "arguments": {"parameters": [{"name": "x", "value": "{{item}}"}]},
                }
            ],
            [
                {
                    "name": "sum",
                    "template": "work",
                    "arguments": {"parameters": [{"name": "x", "value": "{{steps.each.outputs.parameters.y}}"}]},
                }
            ],
        ]
    )

    def loop(self) -> str:
        found = yaml.safe_load(self.LOOP)
        found["spec"]["templates"] += [
            {"name": "list", "script": {"image": "python", "command": ["python"], "source": "print([1])"}},
            {
                "name": "work",
                "inputs": {"parameters": [{"name": "x"}]},
                "container": {**CONTAINER, "args": ["{{inputs.parameters.x}}"]},
                "outputs": {"parameters": [{"name": "y", "valueFrom": {"path": "/out/y", "default": "0"}}]},
            },
        ]
        return yaml.safe_dump(found)

    def test_a_loop_over_what_a_step_printed_is_known_afterwards(self):
        first = graph(self.loop())
        assert list(first.nodes) == ["a", "a.0.list", "a.1.each"]
        assert first.nodes["a.0.list"].is_ready
        assert first.nodes["a.0.list"].keeps_text
        assert not first.nodes["a.1.each"].is_ready
        results = {"a.0.list": Result(phase="Succeeded", text='["p", "skip", 7]')}
        second = graph(self.loop(), results)
        assert [number for number, node in second.nodes.items() if node.is_ready] == ["a.1.each.0", "a.1.each.2"]
        assert second.nodes["a.1.each.1"].phase == "Skipped"
        assert second.nodes["a.1.each.2"].container.args == ["7"]
        assert not second.nodes["a.2.sum"].is_ready

    def test_outputs_of_a_loop_are_a_list(self):
        text = self.loop().replace("skip", "nothing")
        results = {
            "a.0.list": Result(phase="Succeeded", text="[1, 2]"),
            "a.1.each.0": Result(phase="Succeeded", outputs={"y": "10"}),
            "a.1.each.1": Result(phase="Succeeded", outputs={"y": "20"}),
        }
        found = graph(text, results)
        assert found.nodes["a.2.sum"].container.args == ['["10", "20"]']
        assert found.nodes["a.2.sum"].needs == ("a.1.each.0", "a.1.each.1")

    def test_nothing_follows_a_list_that_never_came(self):
        found = graph(self.loop(), {"a.0.list": Result(phase="Failed")})
        assert found.phase == "Failed"
        assert {node.phase for number, node in found.nodes.items() if number not in ("a", "a.0.list")} == {"Omitted"}

    def test_what_is_no_list_says_so(self):
        with pytest.raises(BadInput, match="JSON list"):
            graph(self.loop(), {"a.0.list": Result(phase="Succeeded", text="nonsense")})

    def test_a_dag_with_conditions_inner_steps_and_files(self):
        tasks = [
            {"name": "make", "template": "make"},
            {"name": "no", "template": "use", "dependencies": ["make"], "when": "{{workflow.parameters.flag}} == yes"},
            {
                "name": "use",
                "template": "inner",
                "depends": "make && no",
                "arguments": {"artifacts": [{"name": "f", "from": "{{tasks.make.outputs.artifacts.f}}"}]},
            },
        ]
        file = {"name": "f", "path": "/in/f"}
        found = yaml.safe_load(template(dag={"tasks": tasks}))
        found["spec"]["templates"] += [
            {"name": "make", "container": CONTAINER, "outputs": {"artifacts": [{"name": "f", "path": "/out/f"}]}},
            {"name": "use", "container": CONTAINER, "inputs": {"artifacts": [{**file, "optional": True}]}},
            {
                "name": "inner",
                "inputs": {"artifacts": [{"name": "f"}]},
                "steps": [
                    [
                        {
                            "name": "s",
                            "template": "use",
                            "arguments": {"artifacts": [{"name": "f", "from": "{{inputs.artifacts.f}}"}]},
                        }
                    ]
                ],
            },
        ]
        made = graph(yaml.safe_dump(found), flag="no")
        assert made.nodes["a.no"].phase == "Skipped"
        inner = made.nodes["a.use.0.s"]
        assert (inner.inputs[0].node, inner.inputs[0].name, inner.inputs[0].path) == ("a.make", "f", "/in/f")
        assert inner.needs == ("a.make",)
        done = {number: Result(phase="Succeeded") for number in ("a.make", "a.use.0.s")}
        assert graph(yaml.safe_dump(found), done, flag="no").phase == "Succeeded"

    def test_too_many_nodes_are_refused(self):
        found = document()
        found["spec"]["templates"][0]["steps"][0][0]["withItems"] = list(range(600))
        with pytest.raises(BadInput, match="500 nodes"):
            graph(yaml.safe_dump(found), media_ids="1")

    def test_an_unknown_variable_is_named(self):
        with pytest.raises(BadInput, match="media_ids"):
            graph(FORK)

    def test_expanding_changes_nothing(self):
        found = manifests.workflow(document())
        before = copy.deepcopy(found)
        expand(found, {"media_ids": "1", "greeting": "x"}, {}, name="n", uid="u")
        assert found == before


class TestConditions:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("heads == heads", True),
            ("heads != heads", False),
            ("10 > 9", True),
            ("10.0 == 10", True),
            ("'a b' == 'a b' && !(1 > 2)", True),
            ("false || true", True),
            ("'' == ''", True),
            ("abc =~ '^a.*c$'", True),
            ("abc !~ x", True),
            ("true", True),
        ],
    )
    def test_they_mean_what_they_say(self, text, value):
        assert conditions.holds(text) is value

    @pytest.mark.parametrize(
        "text", ["", "a", "a ==", "(a == a", "a == a b", "'a", "1 && true", "a =~ '(a)\\1'", "(" * 99]
    )
    def test_what_is_none_is_refused(self, text):
        with pytest.raises(BadInput, match="when"):
            conditions.holds(text)
