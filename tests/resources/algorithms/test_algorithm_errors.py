"""Every documented error of registering and launching an algorithm, with its status and what it says."""

from __future__ import annotations

import pytest

from tests.resources.algorithms.test_algorithms import MANIFEST, saved, spec, uploaded
from tests.resources.algorithms.test_algorithms import hosted_template as _hosted_template
from tests.resources.jobs.media import media_of

hosted_template = _hosted_template
NOBODY = 10**9


def refused(said, status: int, *words: str) -> None:
    assert said.status == status, said.body
    text = f"{said.message} {said.json.get('details') or ''}"
    assert all(word in text for word in words), text


class TestRegistration:
    @pytest.mark.parametrize("name", ["name", "user", "manifest", "files_per_job"])
    def test_a_required_member_is_named(self, api, project, name):
        wanted = spec(api, project)
        del wanted[name]
        refused(api.post(f"Algorithms/{project}", wanted), 400, name, "required")

    @pytest.mark.parametrize(
        ("change", "status", "words"),
        [
            ({"user": NOBODY}, 404, ["User", str(NOBODY)]),
            ({"cluster": NOBODY}, 404, ["JobCluster", str(NOBODY)]),
            ({"template": NOBODY}, 400, ["template", str(NOBODY)]),
            ({"files_per_job": 0}, 400, ["files_per_job", "1"]),
            ({"files_per_job": -1}, 400, ["files_per_job", "1"]),
            ({"files_per_job": "many"}, 400, ["files_per_job", "int"]),
            ({"name": ""}, 400, ["name", "1"]),
            ({"name": "n" * 129}, 400, ["name", "128"]),
            ({"description": "d" * 1025}, 400, ["description", "1024"]),
            ({"categories": ["c" * 129]}, 400, ["categories", "128"]),
            ({"manifest": "ghost.yaml"}, 400, ["manifest", "ghost.yaml"]),
            ({"parameters": [{"name": "a"}]}, 400, ["parameters", "value"]),
            ({"parameters": [{"name": "a b", "value": 1}]}, 400, ["parameters", "name"]),
            ({"parameters": [{"name": "a", "value": [1]}]}, 400, ["parameters", "value"]),
        ],
        ids=str,
    )
    def test_a_member_that_breaks_a_rule_is_named(self, api, project, change, status, words):
        refused(api.post(f"Algorithms/{project}", spec(api, project) | change), status, *words)

    def test_an_unknown_project_is_not_found(self, api, project):
        refused(api.post(f"Algorithms/{NOBODY}", spec(api, project)), 404, f"No project {NOBODY} for this user.")

    def test_a_user_who_is_no_member_is_not_found(self, api, project, stranger):
        refused(api.post(f"Algorithms/{project}", spec(api, project, user=stranger.user.id)), 404, "User")

    def test_a_user_who_is_not_of_staff_needs_a_cluster(self, api, project, member):
        wanted = spec(api, project, user=member("Can Edit").user.id)
        refused(api.post(f"Algorithms/{project}", wanted), 403, "cluster", "staff")

    def test_a_name_that_is_taken(self, api, project):
        wanted = spec(api, project)
        api.made(f"Algorithms/{project}", wanted)
        for name in (wanted["name"], wanted["name"].upper()):
            refused(api.post(f"Algorithms/{project}", {**wanted, "name": name}), 400, "name", name, "unique")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("a: [b", ["manifest", "line 1, column"]),
            (MANIFEST + "garbage\na: b", ["manifest", "line 1"]),
            ("a: &a [*a]\n" * 2, ["manifest"]),
            (b"\xff\xfe\x00", ["manifest"]),
            ("", ["manifest"]),
            ("7", ["manifest"]),
            ("a: 1", ["manifest"]),
            (MANIFEST.replace("Workflow", "Pod"), ["manifest", "kind"]),
            (MANIFEST.replace("entrypoint: say", "entrypoint: sing"), ["manifest", "sing"]),
        ],
        ids=lambda value: repr(value)[:30],
    )
    def test_a_manifest_that_is_none(self, api, project, text, words):
        said = api.post(f"Algorithms/{project}", spec(api, project, manifest=saved(api, project, text)))
        refused(said, 400, *words)

    @pytest.mark.parametrize(
        ("text", "words"),
        [("a: [b", ["line 1"]), ("{% for %}", ["template"]), ("{{ a.__class__ }}", ["template"])],
    )
    def test_a_template_that_gives_none(self, api, project, hosted_template, text, words):
        number = hosted_template(text)
        refused(api.post(f"Algorithms/{project}", spec(api, project, template=number)), 400, *words)

    def test_a_template_that_cannot_be_fetched(self, api, project, hosted_template, monkeypatch):
        from chalicelib.errors import BadInput
        from chalicelib.resources.uploads import fetching

        number = hosted_template(MANIFEST)

        def away(*_):
            raise BadInput("url: nothing can be read from it.")

        monkeypatch.setattr(fetching, "fetch_url", away)
        refused(api.post(f"Algorithms/{project}", spec(api, project, template=number)), 400, "nothing can be read")

    def test_a_template_of_an_organization_that_one_does_not_administer(self, api, project, member, hosted_template):
        number = hosted_template(MANIFEST)
        other = member("Full Control")
        refused(other.post(f"Algorithms/{project}", spec(api, project, template=number)), 403, "administrative access")

    def test_a_manifest_that_cannot_be_fetched(self, api, project):
        body = {"name": "a.yaml", "upload_url": uploaded(project).replace("file", "nothing")}
        refused(api.post(f"SaveAlgorithmManifest/{project}", body), 400, "url", "no object")


class TestLaunch:
    @pytest.mark.parametrize(
        ("change", "status", "words"),
        [
            ({"algorithm_name": "nothing"}, 404, ["Algorithm", "nothing"]),
            ({"algorithm_name": None}, 400, ["algorithm_name", "required"]),
            ({"media_ids": None}, 400, ["media_ids", "required"]),
            ({"media_ids": "all"}, 400, ["media_ids", "array"]),
            ({"media_ids": ["a"]}, 400, ["media_ids", "int"]),
            ({"media_query": "?type=no"}, 400, ["media_query", "type"]),
            ({"media_query": "?attribute=Depth"}, 400, ["attribute"]),
            ({"media_ids": list(range(1501))}, 400, ["501 jobs", "500"]),
            ({"extra_params": [{"name": "a"}]}, 400, ["extra_params", "value"]),
            ({"extra_params": [{"name": "a", "value": {}}]}, 400, ["extra_params", "value"]),
            ({"success_email_spec": {"recipients": []}}, 400, ["success_email_spec"]),
            (
                {"failure_email_spec": {"recipients": ["eve@example.org"], "subject": "s", "text": "t"}},
                400,
                ["eve@example.org", "member"],
            ),
        ],
        ids=lambda value: repr(value)[:40],
    )
    def test_a_member_that_breaks_a_rule_is_named_and_nothing_starts(
        self, api, project, algorithm, cluster, change, status, words
    ):
        body = {"algorithm_name": algorithm, "media_ids": media_of(project), **change}
        body = {name: value for name, value in body.items() if value is not None}
        refused(api.post(f"Jobs/{project}", body), status, *words)
        assert cluster.workflows == {}
        assert api.get(f"Jobs/{project}").json == []

    def test_an_algorithm_of_another_project_is_not_found(self, api, organization, algorithm):
        other = api.made("Projects", {"name": "other", "organization": organization})
        refused(
            api.post(f"Jobs/{other}", {"algorithm_name": algorithm, "media_ids": media_of(other)}),
            404,
            algorithm,
        )

    def test_an_algorithm_whose_cluster_was_deleted(self, api, project, organization, algorithm):
        [cluster] = api.get(f"JobClusters/{organization}").json
        assert api.delete(f"JobCluster/{cluster['id']}").status == 200
        assert api.get(f"Algorithms/{project}").json[0]["cluster"] is None
        refused(
            api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_ids": media_of(project)}),
            400,
            "cluster",
            "deleted",
        )
