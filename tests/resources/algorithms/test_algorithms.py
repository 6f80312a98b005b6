"""Algorithms: saving manifests, registration with every rule of it, changes, deletion, names across projects."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import ProjectSpec
from chalicelib.resources.uploads import fetching
from chalicelib.settings import override
from chalicelib.storage.objects import owners
from tests import objects
from tests.resources.jobs.media import media_of
from tests.service import new_user

MANIFEST = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: say-}
spec:
  entrypoint: say
  templates:
    - name: say
      container: {image: alpine, command: [echo], args: ["{{workflow.parameters.media_ids}}"]}
"""
_numbers = itertools.count(1)


def uploaded(project: int, text: str | bytes = MANIFEST) -> str:
    """The URL of something uploaded."""
    key = f"_uploads/2026-01-01/{owners.organization_of(project)}/{project}/1/file{next(_numbers)}.yaml"
    objects.write(key, text if isinstance(text, bytes) else text.encode())
    return objects.presign_get(key, 600)


def saved(api, project: int, text: str | bytes = MANIFEST) -> str:
    """The name of a manifest that was saved."""
    said = api.post(f"SaveAlgorithmManifest/{project}", {"name": "a.yaml", "upload_url": uploaded(project, text)})
    assert said.status == 201, said.body
    return said.json["url"]


def spec(api, project: int, **more) -> dict:
    """A registration that is in order."""
    wanted = {"name": f"algorithm {next(_numbers)}", "user": api.user.id, "files_per_job": 1, **more}
    if "manifest" not in wanted and "template" not in wanted:
        wanted["manifest"] = saved(api, project)
    return {name: value for name, value in wanted.items() if value is not None}


@pytest.fixture
def hosted_template(api, organization, monkeypatch):
    """Makes a hosted template that gives a text; what it was asked with is on the function."""

    def make(text: str, **more) -> int:
        monkeypatch.setattr(fetching, "fetch_url", lambda *_: text.encode())
        url = "https://templates.example.org/a.yaml"
        return api.made(f"HostedTemplates/{organization}", {"name": "t", "url": url, **more})

    with override(allowed_origins=["https://templates.example.org"]):
        yield make


class TestSaving:
    def test_each_save_has_a_name_of_its_own(self, api, project):
        body = {"name": "test.yaml", "upload_url": uploaded(project)}
        urls = [api.post(f"SaveAlgorithmManifest/{project}", body).json["url"] for _ in range(2)]
        assert urls[0] != urls[1]
        assert all(url.startswith(f"{project}/test_") and url.endswith(".yaml") for url in urls)

    @pytest.mark.parametrize(
        "url", ["not_there", "https://example.org/a.yaml", "http://127.0.0.1:1/a", "file:///etc/passwd"]
    )
    def test_what_may_not_be_fetched_is_refused(self, api, project, url):
        for path in ("SaveAlgorithmManifest", "SaveGenericFile"):
            said = api.post(f"{path}/{project}", {"name": "a", "upload_url": url})
            assert said.status == 403
            assert "not from an allowed origin" in said.message

    def test_what_is_not_there_is_refused(self, api, project):
        url = objects.presign_get(
            f"_uploads/2026-01-01/{owners.organization_of(project)}/{project}/1/nothing.yaml", 600
        )
        assert api.post(f"SaveAlgorithmManifest/{project}", {"name": "a", "upload_url": url}).status == 400

    def test_names_lead_out_of_no_folder(self, api, project):
        body = {"name": "../../x/../y z.yaml", "upload_url": uploaded(project)}
        url = api.post(f"SaveAlgorithmManifest/{project}", body).json["url"]
        assert url.startswith(f"{project}/y_z_")
        assert url.count("/") == 1

    def test_a_control_character_in_a_name_is_refused(self, api, project):
        body = {"name": "y\n.yaml", "upload_url": uploaded(project)}
        for path in ("SaveAlgorithmManifest", "SaveGenericFile"):
            said = api.post(f"{path}/{project}", body)
            assert said.status == 400
            assert said.json["details"].startswith("name: must be one line")

    def test_it_takes_can_transfer(self, member, project):
        body = {"name": "a.yaml", "upload_url": uploaded(project)}
        assert member("Can Edit").post(f"SaveAlgorithmManifest/{project}", body).status == 403
        assert member("Can Transfer").post(f"SaveAlgorithmManifest/{project}", body).status == 201


class TestRegistration:
    def test_what_was_given_comes_back(self, api, project):
        wanted = spec(
            api,
            project,
            description="d",
            categories=["x"],
            parameters=[{"name": "a", "value": "b"}, {"name": "n", "value": 1.5}],
        )
        number = api.made(f"Algorithms/{project}", {**wanted, "cluster": None})
        seen = api.get(f"Algorithm/{number}").json
        assert {name: seen[name] for name in wanted} == wanted
        assert seen["cluster"] is None
        assert "sealed" not in seen
        assert [item["id"] for item in api.get(f"Algorithms/{project}").json] == [number]

    @pytest.mark.parametrize("name", ["name", "user", "manifest", "files_per_job"])
    def test_what_is_required_is_required(self, api, project, name):
        wanted = spec(api, project)
        del wanted[name]
        said = api.post(f"Algorithms/{project}", wanted)
        assert said.status == 400
        assert name in said.json["details"]

    def test_rules_of_its_members(self, api, project):
        for change, status in [
            ({"files_per_job": 0}, 400),
            ({"user": 10**9}, 404),
            ({"cluster": 10**9}, 404),
            ({"manifest": "ghost"}, 400),
            ({"manifest": f"{project}/ghost.yaml"}, 400),
            ({"manifest": f"{project}/../{project}/x.yaml"}, 400),
            ({"template": 10**9}, 400),
            ({"parameters": [{"name": "a"}]}, 400),
        ]:
            said = api.post(f"Algorithms/{project}", spec(api, project) | change)
            assert said.status == status, (change, said.body)

    def test_a_manifest_of_another_project_is_not_there(self, api, project, organization):
        other = projects_service.create_project(
            ProjectSpec(name="other", organization=organization), api.user.id, "No Access"
        ).id
        manifest = saved(api, other)
        assert api.post(f"Algorithms/{project}", spec(api, project, manifest=manifest)).status == 400

    def test_a_syntax_error_has_line_and_column(self, api, project):
        said = api.post(
            f"Algorithms/{project}", spec(api, project, manifest=saved(api, project, MANIFEST + "garbage\na: b"))
        )
        assert said.status == 400
        assert "line 10, column" in said.message or "line 11, column" in said.message

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("spec:", "spec:\n  hooks: {exit: {template: say}}", "line 6: spec: hooks is not supported by AWS Batch"),
            ("- name: say", "- name: say\n      daemon: true", "line 9: template 'say': daemon is not supported"),
            (
                "{image: alpine,",
                "{image: alpine, securityContext: {a: 1},",
                "line 9: template 'say': container: securityContext is not",
            ),
            ("media_ids}}", "media_ids}} {{=1+1}}", "line 8: template 'say': expressions {{=…}} are not supported"),
        ],
    )
    def test_without_a_cluster_the_launch_says_what_batch_cannot_do(self, api, project, organization, old, new, says):
        manifest = saved(api, project, MANIFEST.replace(old, new))
        wanted = spec(api, project, manifest=manifest)
        api.made(f"Algorithms/{project}", wanted)
        said = api.post(f"Jobs/{project}", {"algorithm_name": wanted["name"], "media_ids": media_of(project)})
        assert said.status == 400
        assert says in said.message

    def test_without_a_cluster_the_user_must_be_staff(self, api, project, member):
        said = api.post(f"Algorithms/{project}", spec(api, project, user=member("Can Edit").user.id))
        assert said.status == 403

    def test_a_cluster_of_another_organization_is_not_there(self, api, project):
        other = api.made("Organizations", {"name": f"other {next(_numbers)}"})
        cluster = api.made(f"JobClusters/{other}", {"name": "c", "host": "h", "port": 443, "token": "t", "cert": "c"})
        assert api.post(f"Algorithms/{project}", spec(api, project, cluster=cluster)).status == 404


class TestNames:
    def test_they_are_unique_across_projects_and_freed_with_them(self, api, project, organization):
        wanted = spec(api, project)
        api.made(f"Algorithms/{project}", wanted)
        again = api.post(f"Algorithms/{project}", wanted)
        assert again.status == 400
        assert "unique" in again.message
        other = projects_service.create_project(
            ProjectSpec(name="other", organization=organization), api.user.id, "No Access"
        ).id
        there = spec(api, other, name=wanted["name"])
        assert api.post(f"Algorithms/{other}", there).status == 400
        api.delete(f"Project/{project}")
        assert api.post(f"Algorithms/{other}", there).status == 201

    @pytest.mark.slow
    def test_of_eight_projects_at_once_one_gets_it(self, api, project, organization):
        others = [api.made("Projects", {"name": f"p{index}", "organization": organization}) for index in range(7)]
        bodies = [(number, spec(api, number)) for number in (project, *others)]
        for _ in range(3):
            name = f"raced {next(_numbers)}"
            with ThreadPoolExecutor(8) as pool:
                said = list(pool.map(lambda one: api.post(f"Algorithms/{one[0]}", {**one[1], "name": name}), bodies))  # noqa: B023
            assert sorted(one.status for one in said) == [201] + [400] * 7
            listed = [item["name"] for number, _ in bodies for item in api.get(f"Algorithms/{number}").json]
            assert listed.count(name) == 1

    @pytest.mark.slow
    def test_of_eight_renamed_at_once_one_gets_it(self, api, project):
        numbers = [api.made(f"Algorithms/{project}", spec(api, project)) for _ in range(8)]
        name = f"raced {next(_numbers)}"
        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda number: api.patch(f"Algorithm/{number}", {"name": name}).status, numbers))
        assert sorted(said) == [200] + [400] * 7

    def test_a_renamed_one_frees_its_name(self, api, project):
        wanted = spec(api, project)
        number = api.made(f"Algorithms/{project}", wanted)
        assert api.patch(f"Algorithm/{number}", {"name": f"renamed {next(_numbers)}"}).status == 200
        second = api.made(f"Algorithms/{project}", wanted)
        assert api.patch(f"Algorithm/{number}", {"name": wanted["name"]}).status == 400
        assert api.delete(f"Algorithm/{second}").status == 200
        assert api.patch(f"Algorithm/{number}", {"name": wanted["name"]}).status == 200


class TestChanges:
    def test_only_what_is_given_changes(self, api, project):
        number = api.made(f"Algorithms/{project}", spec(api, project, description="d", categories=["x"]))
        before = api.get(f"Algorithm/{number}").json
        said = api.patch(f"Algorithm/{number}", {"manifest": "coolfile.yaml", "files_per_job": 7, "description": None})
        assert said.status == 200, said.body
        assert api.get(f"Algorithm/{number}").json == before | {"manifest": "coolfile.yaml", "files_per_job": 7}

    def test_parameters_are_replaced(self, api, project):
        number = api.made(f"Algorithms/{project}", spec(api, project, parameters=[{"name": "a", "value": 1}]))
        api.patch(f"Algorithm/{number}", {"parameters": [{"name": "b", "value": "2"}]})
        assert api.get(f"Algorithm/{number}").json["parameters"] == [{"name": "b", "value": "2"}]

    def test_nothing_to_change_is_refused(self, api, project):
        number = api.made(f"Algorithms/{project}", spec(api, project))
        assert api.patch(f"Algorithm/{number}", {}).status == 400

    def test_a_user_who_is_not_staff_needs_a_cluster(self, api, project, member):
        number = api.made(f"Algorithms/{project}", spec(api, project))
        assert api.patch(f"Algorithm/{number}", {"user": member("Can Edit").user.id}).status == 403

    def test_one_whose_cluster_was_deleted_can_still_be_changed(self, api, project, organization, member):
        given = {"name": "gone", "host": "h", "port": 443, "token": "t", "cert": "c"}
        cluster = api.made(f"JobClusters/{organization}", given)
        number = api.made(f"Algorithms/{project}", spec(api, project, cluster=cluster))
        assert api.delete(f"JobCluster/{cluster}").status == 200
        assert api.patch(f"Algorithm/{number}", {"user": api.user.id}).status == 200
        said = api.patch(f"Algorithm/{number}", {"user": member("Can Edit").user.id})
        assert (said.status, "staff" in said.message) == (403, True)

    @pytest.mark.parametrize(("member", "status"), [("cluster", 404), ("template", 400)])
    def test_a_change_names_no_cluster_or_template_that_does_not_exist(self, api, project, member, status):
        number = api.made(f"Algorithms/{project}", spec(api, project))
        said = api.patch(f"Algorithm/{number}", {member: 10**9})
        assert (said.status, str(10**9) in said.message) == (status, True)

    def test_a_change_names_no_cluster_that_was_deleted(self, api, project, organization):
        given = {"name": "gone", "host": "h", "port": 443, "token": "t", "cert": "c"}
        number = api.made(f"Algorithms/{project}", spec(api, project))
        cluster = api.made(f"JobClusters/{organization}", given)
        assert api.delete(f"JobCluster/{cluster}").status == 200
        assert api.patch(f"Algorithm/{number}", {"cluster": cluster}).status == 404

    def test_deletion_takes_the_manifest_along(self, api, project, organization):
        manifest = saved(api, project)
        number = api.made(f"Algorithms/{project}", spec(api, project, manifest=manifest))
        key = f"{organization}/{project}/generic/{manifest.partition('/')[2]}"
        assert objects.size(key)
        assert api.delete(f"Algorithm/{number}").message == "Registered algorithm deleted successfully!"
        assert objects.size(key) is None
        assert api.get(f"Algorithm/{number}").status == 404
        assert api.get(f"Algorithms/{project}").json == []


class TestTemplates:
    TEXT = MANIFEST.replace('"{{workflow.parameters.media_ids}}"', '"{{ message }}"')

    def test_one_is_rendered_with_parameters(self, api, project, hosted_template):
        template = hosted_template(self.TEXT, tparams=[{"name": "message", "value": "hi"}])
        number = api.made(f"Algorithms/{project}", spec(api, project, template=template))
        assert 'args: ["hi"]' in api.get(f"Algorithm/{number}").json["rendered"]
        api.patch(f"Algorithm/{number}", {"tparams": [{"name": "message", "value": "ho"}]})
        assert 'args: ["ho"]' in api.get(f"Algorithm/{number}").json["rendered"]

    @pytest.mark.parametrize("text", ["{{ missing }}", "{% if %}", "not: [a, workflow", "a: {{ message.__class__ }}"])
    def test_what_gives_no_manifest_is_refused(self, api, project, hosted_template, text):
        template = hosted_template(text, tparams=[{"name": "message", "value": "hi"}])
        assert api.post(f"Algorithms/{project}", spec(api, project, template=template)).status == 400

    def test_only_administrators_of_its_organization_use_it(self, api, project, member, hosted_template):
        template = hosted_template(self.TEXT, tparams=[{"name": "message", "value": "hi"}])
        other = member("Full Control")
        said = other.post(f"Algorithms/{project}", spec(api, project, template=template))
        assert said.status == 403

    def test_headers_never_come_back(self, api, project, organization, monkeypatch, hosted_template):
        template = hosted_template(self.TEXT, tparams=[{"name": "message", "value": "hi"}])
        cluster = api.made(
            f"JobClusters/{organization}", {"name": "c", "host": "h", "port": 1, "token": "t", "cert": "c"}
        )
        number = api.made(f"Algorithms/{project}", spec(api, project, cluster=cluster))
        said = api.patch(
            f"Algorithm/{number}", {"headers": [{"name": "X", "value": "planted-secret"}], "template": template}
        )
        assert said.status == 200, said.body
        seen = api.get(f"Algorithm/{number}")
        assert b"planted-secret" not in seen.body
        assert "headers" not in seen.json

    def test_headers_of_its_use_override_its_own(self, api, project, monkeypatch, hosted_template):
        from contextlib import contextmanager
        from types import SimpleNamespace

        asked = []
        by_http = fetching.fetch_url

        @contextmanager
        def answer(url, _most, _organization, headers):
            asked.append(headers)
            yield SimpleNamespace(status=200, headers={}, stream=lambda _: [self.TEXT.encode()])

        own = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
        template = hosted_template(self.TEXT, tparams=[{"name": "message", "value": "hi"}], headers=own)
        monkeypatch.setattr(fetching, "fetch_url", by_http)
        monkeypatch.setattr(fetching, "open_url", answer)
        more = {"template": template, "headers": [{"name": "B", "value": "3"}]}
        number = api.made(f"Algorithms/{project}", spec(api, project, **more))
        assert asked == [{"A": "1", "B": "3"}]
        assert "hi" in api.get(f"Algorithm/{number}").json["rendered"]
        api.delete(f"HostedTemplate/{template}")
        seen = api.get(f"Algorithm/{number}").json
        assert (seen["template"], seen["rendered"]) == (None, None)


class TestWhoMay:
    def test_members_read_and_editors_write(self, api, project, member):
        number = api.made(f"Algorithms/{project}", spec(api, project))
        viewer = member("View Only")
        assert viewer.get(f"Algorithm/{number}").status == 200
        assert viewer.patch(f"Algorithm/{number}", {"description": "x"}).status == 403
        assert viewer.delete(f"Algorithm/{number}").status == 403
        assert new_user().get(f"Algorithm/{number}").status == 404
