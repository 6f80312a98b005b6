"""Applets and the files they show; analyses."""

from __future__ import annotations

import pytest

from chalicelib.api import site
from chalicelib.http.dispatch import Request, dispatch
from chalicelib.settings import settings
from tests import objects
from tests.resources.algorithms.test_algorithms import hosted_template, uploaded  # noqa: F401 a fixture
from tests.resources.algorithms.test_algorithms import saved as saved_manifest
from tests.resources.algorithms.test_algorithms import spec as algorithm_spec
from tests.workflows.test_workflows import FORK

PAGE = "<html><script>fetch('/rest/Projects')</script>hello</html>"


def saved(api, project: int, text: str = PAGE, name: str = "page.html") -> str:
    said = api.post(f"SaveGenericFile/{project}", {"name": name, "upload_url": uploaded(project, text)})
    assert said.status == 201, said.body
    return said.json["url"]


def served(api, project: int, name: str):
    """What a browser gets at `/media/{project}/{name}`."""
    headers = {"authorization": f"Token {api.token}"} if api.token else {}
    variables = {"project": str(project), "name": name}
    request = Request(method="GET", path=f"/media/{project}/{name}", variables=variables, headers=headers)
    return dispatch(site.PROJECT_FILES[0], request)


class TestFiles:
    def test_what_was_saved_is_told(self, api, project):
        url = uploaded(project, PAGE)
        said = api.post(f"SaveGenericFile/{project}", {"name": "test.html", "upload_url": url}).json
        assert (said["name"], said["project"], said["upload_url"]) == ("test.html", project, url)
        assert said["url"].startswith(f"{project}/test_")
        assert said["url"].endswith(".html")

    def test_the_origin_is_checked_before_the_name(self, api, project):
        assert api.post(f"SaveGenericFile/{project}", {"upload_url": "https://example.org/a"}).status == 403
        said = api.post(f"SaveGenericFile/{project}", {"upload_url": uploaded(project)})
        assert said.status == 400
        assert "'name'" in said.json["details"]

    def test_a_page_runs_as_an_origin_of_its_own(self, api, project):
        name = saved(api, project).partition("/")[2]
        said = served(api, project, name)
        assert said.status == 200
        assert said.body == PAGE.encode()
        assert said.headers["Content-Type"].startswith("text/html")
        policy = said.headers["Content-Security-Policy"]
        assert "sandbox allow-scripts" in policy
        assert "allow-same-origin" not in policy
        assert "default-src 'none'" in policy
        assert said.headers["X-Content-Type-Options"] == "nosniff"

    def test_what_browsers_need_not_show_is_downloaded(self, api, project):
        for name in ("a.svgz.exe", "a.css", "a.js", "a.mjs", "a.wasm", "a.xsl", "a.xhtml", "a"):
            found = served(api, project, saved(api, project, "x", name).partition("/")[2])
            assert found.headers["Content-Disposition"] == "attachment", name
            assert found.headers["Content-Type"] == "application/octet-stream", name

    def test_only_members_get_it(self, api, project, stranger, nobody):
        name = saved(api, project).partition("/")[2]
        assert served(stranger, project, name).status == 404
        assert served(nobody, project, name).status == 401
        for bad in ("nothing.html", "..%2F..%2Fx", "%2e%2e"):
            assert served(api, project, bad).status == 404

    def test_large_ones_are_refused(self, api, project):
        body = {"name": "a.html", "upload_url": uploaded(project, b"x" * 4_000_001)}
        assert api.post(f"SaveGenericFile/{project}", body).status == 413


class TestApplets:
    def test_one_is_registered_listed_changed_and_deleted(self, api, project, organization):
        first = saved(api, project)
        number = api.made(
            f"Applets/{project}", {"name": "n", "description": "", "html_file": first, "categories": ["c"]}
        )
        seen = api.get(f"Applet/{number}").json
        assert seen["html_file"] == f"/media/{first}"
        assert (seen["name"], seen["description"], seen["categories"]) == ("n", "", ["c"])
        second = saved(api, project)
        assert api.patch(f"Applet/{number}", {"html_file": second}).status == 200
        changed = api.get(f"Applet/{number}").json
        assert changed == seen | {"html_file": f"/media/{second}"}
        key = f"{organization}/{project}/generic/"
        assert objects.size(key + first.partition("/")[2]) is None
        other = api.made(f"Applets/{project}", {"name": "m", "html_file": f"/media/{second}"})
        assert [item["id"] for item in api.get(f"Applets/{project}").json] == [number, other]
        assert api.delete(f"Applet/{number}").status == 200
        assert objects.size(key + second.partition("/")[2])
        assert api.delete(f"Applet/{other}").status == 200
        assert objects.size(key + second.partition("/")[2]) is None
        assert api.get(f"Applets/{project}").json == []

    def test_a_file_is_removed_with_the_last_algorithm_or_applet_that_names_it(self, api, project):
        manifest = saved_manifest(api, project, FORK)
        algorithm = api.made(f"Algorithms/{project}", algorithm_spec(api, project, manifest=manifest))
        applets = [api.made(f"Applets/{project}", {"name": "a", "html_file": manifest}) for _ in range(2)]
        left = [f"Applet/{applets[0]}", f"Algorithm/{algorithm}", f"Applet/{applets[1]}"]
        found = []
        for path in left:
            found.append(api.ask("GET", f"/media/{manifest}").status)
            assert api.delete(path).status == 200
        assert (found, api.ask("GET", f"/media/{manifest}").status) == ([200, 200, 200], 404)

    @pytest.mark.parametrize("file", ["ghost.html", "{project}/ghost.html", "../x", ""])
    def test_a_file_that_was_not_saved_here_is_refused(self, api, project, file):
        body = {"name": "n", "html_file": file.format(project=project)}
        assert api.post(f"Applets/{project}", body).status == 400
        number = api.made(f"Applets/{project}", {"name": "n", "html_file": saved(api, project)})
        assert api.patch(f"Applet/{number}", body).status == 400

    def test_with_neither_file_nor_template_it_is_refused(self, api, project):
        assert api.post(f"Applets/{project}", {"name": "n"}).status == 400

    def test_a_template_is_rendered_without_running_anything(self, api, project, hosted_template):  # noqa: F811
        template = hosted_template("<b>{{ title|e }}</b>", tparams=[{"name": "title", "value": "<i>"}])
        number = api.made(f"Applets/{project}", {"name": "n", "template": template})
        assert api.get(f"Applet/{number}").json["rendered"] == "<b>&lt;i&gt;</b>"
        assert api.get(f"Applets/{project}").json[0]["rendered"] == "<b>&lt;i&gt;</b>"
        api.delete(f"HostedTemplate/{template}")
        seen = api.get(f"Applet/{number}").json
        assert (seen["rendered"], seen["template"]) == (None, None)

    def test_it_takes_can_execute(self, api, project, member):
        body = {"name": "n", "html_file": saved(api, project)}
        assert member("Can Transfer").post(f"Applets/{project}", body).status == 403
        assert member("Can Execute").post(f"Applets/{project}", body).status == 201


class TestAnalyses:
    def test_one_is_made_changed_and_deleted(self, api, project):
        number = api.made(f"Analyses/{project}", {"name": "n"})
        assert api.get(f"Analysis/{number}").json == {"id": number, "project": project, "name": "n", "data_query": "*"}
        assert api.patch(f"Analysis/{number}", {"data_query": "name:x*"}).status == 200
        assert api.get(f"Analyses/{project}").json[0]["data_query"] == "name:x*"
        assert api.delete(f"Analysis/{number}").status == 200
        assert api.get(f"Analysis/{number}").status == 404

    def test_what_is_no_query_is_refused(self, api, project):
        assert api.post(f"Analyses/{project}", {"name": "n", "data_query": "((("}).status == 400

    def test_levels(self, api, project, member):
        assert member("Can Execute").post(f"Analyses/{project}", {"name": "n"}).status == 403
        number = api.made(f"Analyses/{project}", {"name": "n"})
        assert member("Can Edit").patch(f"Analysis/{number}", {"name": "m"}).status == 200
        assert member("View Only").patch(f"Analysis/{number}", {"name": "m"}).status == 403

    def test_counts_are_of_media_or_of_their_annotations(self, api, project):
        from tests.resources.media import samples as media_samples

        kind = media_samples.media_type(project, "image")
        box = media_samples.box_type(project, kind)
        media = [
            api.made(f"Medias/{project}", {"type": kind, "name": f"{name}.jpg", "md5": "0" * 32}) for name in "abc"
        ]
        numbers = [one[0] if isinstance(one, list) else one for one in media]
        spec = {"type": box, "media_id": numbers[0], "frame": 0, "x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1}
        api.made(f"Localizations/{project}", [spec] * 5)
        for name, query in (("all", "*"), ("one", "$name:b.jpg"), ("none", "nothing:here")):
            api.made(f"Analyses/{project}", {"name": name, "data_query": query})
        assert api.get(f"SectionAnalysis/{project}").json == {"all": 5, "one": 1, "none": 0}
        assert api.get(f"SectionAnalysis/{project}", media_id=numbers[1:]).json == {"all": 2, "one": 1, "none": 0}
        assert api.get(f"SectionAnalysis/{project}", start=0, stop=1).json == {"all": 5, "one": 0, "none": 0}
        assert settings()
