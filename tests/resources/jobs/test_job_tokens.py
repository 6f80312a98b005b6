"""The token of a job: made for it, for its project, at most at the level of its algorithm, and ended with it."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.core.models.credentials import key_of
from chalicelib.core.models.integrations import JOB_CLUSTER
from chalicelib.resources.accounts import administration
from chalicelib.resources.jobs import status_sync
from chalicelib.resources.jobs.engines.base import WorkflowRefused
from chalicelib.resources.jobs.runs import RUN
from chalicelib.storage.dynamodb import credentials, records
from tests import objects
from tests.resources.jobs.media import media_of
from tests.resources.jobs.test_jobs import launched, parameters
from tests.service import Api, join, new_project


@pytest.fixture
def job(api, project, algorithm, cluster):
    """A job of the api user: its uid, and a caller with its token."""
    uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
    return uid, Api(api.user, parameters(cluster.one(uid))["rest_token"])


def test_it_is_not_the_launchers_and_reaches_its_project_only(api, project, job):
    _, step = job
    other = new_project(api)
    assert step.token != api.token
    assert step.get(f"Project/{project}").status == 200
    assert step.get(f"Project/{other}").status == 404
    assert [each["id"] for each in step.get("Projects").json] == [project]
    assert step.get("Organizations").json == []
    assert step.get("User/GetCurrent").json["id"] == api.user.id


def test_it_works_at_can_execute_and_no_higher(api, project, job):
    uid, step = job
    assert step.patch(f"Job/{uid}", {"progress": {"done": 0, "total": 1}}).status == 200
    assert step.post(f"Sections/{project}", {"name": "made by a job"}).status == 201
    assert step.patch(f"Project/{project}", {"summary": "x"}).status == 403
    assert step.get(f"Project/{project}").json["permission"] == "Can Execute"
    assert step.post(f"Memberships/{project}", {"user": api.user.id, "permission": "View Only"}).status == 403


def test_it_changes_no_account_and_makes_no_token(api, project, organization, job):
    _, step = job
    tries = (
        step.get("Token"),
        step.delete("Token", id="0" * 16),
        step.patch(f"User/{api.user.id}", {"first_name": "x"}),
        step.post("Organizations", {"name": "of a job"}),
        step.post("Projects", {"name": "of a job", "organization": organization}),
        step.post("Notify", {"message": "x"}),
        step.post("RowProtections", {"project": project, "user": api.user.id, "permission": 255}),
    )
    assert [said.status for said in tries] == [403] * len(tries)


def test_an_algorithm_declares_a_lower_level(api, project, algorithm, cluster):
    number = api.get(f"Algorithms/{project}").json[0]["id"]
    assert api.patch(f"Algorithm/{number}", {"level": "View Only"}).status == 200
    uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
    step = Api(api.user, parameters(cluster.one(uid))["rest_token"])
    assert step.get(f"Sections/{project}").status == 200
    assert step.post(f"Sections/{project}", {"name": "x"}).status == 403


def test_nobody_declares_a_level_above_their_own(api, project, algorithm, member):
    number = api.get(f"Algorithms/{project}").json[0]["id"]
    editor = member("Can Edit")
    said = editor.patch(f"Algorithm/{number}", {"level": "Full Control"})
    assert (said.status, said.message.partition(":")[0]) == (403, "level")
    assert api.get(f"Algorithm/{number}").json["level"] == "Can Execute"


def test_a_change_of_what_runs_lowers_the_level_to_that_of_who_makes_it(api, project, algorithm, member):
    number = api.get(f"Algorithms/{project}").json[0]["id"]
    assert member("Can Edit").patch(f"Algorithm/{number}", {"parameters": []}).status == 200
    assert api.get(f"Algorithm/{number}").json["level"] == "Can Edit"
    assert member("Can Edit").patch(f"Algorithm/{number}", {"description": "the same"}).status == 200
    assert api.patch(f"Algorithm/{number}", {"level": "Full Control"}).status == 200
    assert api.get(f"Algorithm/{number}").json["level"] == "Full Control"


def test_no_parameter_sends_it_elsewhere_or_replaces_it(api, project, algorithm, cluster):
    lies = [{"name": name, "value": "https://evil.example"} for name in ("host", "rest_url", "rest_token", "tus_url")]
    uid = launched(api, project, algorithm, media_ids=media_of(project), extra_params=lies)["uid"][0]
    told = parameters(cluster.one(uid))
    assert "evil" not in str([told[lie["name"]] for lie in lies])


def test_it_ends_with_its_job(api, project, job, cluster):
    uid, step = job
    cluster.move(uid, "Succeeded")
    assert api.get(f"Job/{uid}").json["status"] == "Succeeded"
    assert step.get(f"Project/{project}").status == 401
    assert credentials.read(key_of(step.token)) is None


def test_it_ends_when_its_job_is_deleted(api, project, job):
    uid, step = job
    assert api.delete(f"Job/{uid}").status == 200
    assert step.get(f"Project/{project}").status == 401


def test_it_ends_with_the_account_and_the_membership_of_the_launcher(api, project, algorithm, member, cluster):
    launcher = member("Can Execute")
    uid = launched(launcher, project, algorithm, media_ids=media_of(project))["uid"][0]
    step = Api(launcher.user, parameters(cluster.one(uid))["rest_token"])
    assert step.get(f"Project/{project}").status == 200
    administration.set_active(launcher.user, active=False)
    assert step.get(f"Project/{project}").status == 401


def test_a_launcher_who_lost_their_level_lends_none_to_their_jobs(api, project, algorithm, member, cluster):
    launcher = member("Can Execute")
    uid = launched(launcher, project, algorithm, media_ids=media_of(project))["uid"][0]
    step = Api(launcher.user, parameters(cluster.one(uid))["rest_token"])
    [number] = [each["id"] for each in api.get(f"Memberships/{project}").json if each["user"] == launcher.user.id]
    assert api.patch(f"Membership/{number}", {"permission": "View Only"}).status == 200
    assert step.post(f"Sections/{project}", {"name": "x"}).status == 403


def test_a_token_with_a_wrong_checksum_is_nobodys(project, job):
    _, step = job
    wrong = f"{step.token[:-1]}{'0' if step.token[-1] != '0' else '1'}"
    assert Api(None, token=wrong).get(f"Project/{project}").status == 401


def test_a_run_hands_over_what_was_launched_only(api, project, job):
    uid, _ = job
    run = records.get(RUN, uid)
    objects.write(status_sync.manifest_key(run).path, b"{}")
    with pytest.raises(WorkflowRefused, match="manifest"):
        status_sync._submission(run, status_sync._Lease(uid)).document()
    moved = msgspec.structs.replace(run, address="other.example.org:443")
    with pytest.raises(WorkflowRefused, match="moved"):
        status_sync.submit(moved)


def test_a_run_of_an_earlier_release_gives_no_token_of_its_launcher_away(job):
    uid, _ = job
    run = msgspec.structs.replace(records.get(RUN, uid), credential="")
    with pytest.raises(WorkflowRefused, match="launch it again"):
        status_sync.parameters_of(run)


def test_a_stranger_to_the_project_with_a_job_elsewhere_stays_out(api, project, algorithm, member, cluster):
    launcher = member("Can Execute")
    other = new_project(api)
    join(launcher, other, "Full Control")
    uid = launched(launcher, project, algorithm, media_ids=media_of(project))["uid"][0]
    step = Api(launcher.user, parameters(cluster.one(uid))["rest_token"])
    assert step.get(f"Medias/{other}").status == 404


def test_the_cluster_of_another_organization_runs_nothing(api, project, algorithm, organization, cluster):
    number = api.get(f"JobClusters/{organization}").json[0]["id"]
    records.edit(JOB_CLUSTER, number, lambda found: msgspec.structs.replace(found, organization=10**9))
    said = api.post(f"Jobs/{project}", {"algorithm_name": algorithm, "media_ids": media_of(project, 10)})
    assert said.status == 400
    assert "not one of the project's organization" in said.json["message"]
    assert cluster.asked == []
