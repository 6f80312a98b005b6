"""What becomes of jobs that nobody wants any more: cancelled, left behind by their project, or old."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.models.jobs import JOB, StoredJob, TranscodeSpec
from chalicelib.core.resource import now
from chalicelib.errors import Conflict
from chalicelib.resources.jobs import cleanup, status_sync
from chalicelib.resources.jobs import service as jobs_service
from chalicelib.resources.jobs.engines import kubernetes
from chalicelib.resources.jobs.runs import RUN
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects as service_objects
from functions import jobs as function
from tests import objects
from tests.resources.jobs import clusters
from tests.resources.jobs.media import media_of
from tests.resources.jobs.test_jobs import launched


@pytest.mark.slow
def test_a_status_that_cannot_be_stored_does_not_keep_others_from_being(api, project, algorithm, cluster, monkeypatch):
    uids = [launched(api, project, algorithm, media_ids=[number])["uid"][0] for number in media_of(project, 3)]
    for uid in uids:
        cluster.move(uid, "Succeeded")
    store = status_sync._store_status

    def refuse_second(run, status):
        if run.uid == uids[1]:
            raise Conflict("The job has too many concurrent updates; nothing was changed. Retry.")
        return store(run, status)

    monkeypatch.setattr(status_sync, "_store_status", refuse_second)
    status_sync.sweep(30)
    assert [records.get(RUN, uid).phase == "Succeeded" for uid in uids] == [True, False, True]


class TestCancellation:
    @pytest.mark.slow
    def test_a_deleted_job_is_gone_at_once_here_and_there(self, api, project, algorithm, cluster):
        said = launched(api, project, algorithm)
        assert api.delete(f"Job/{said['uid'][0]}").status == 200
        assert api.get(f"Job/{said['uid'][0]}").status == 404
        assert len(cluster.workflows) == 3
        assert api.delete(f"Job/{said['uid'][0]}").status == 404

    @pytest.mark.slow
    def test_many_by_group_media_or_project(self, api, project, algorithm, cluster):
        first, second = launched(api, project, algorithm), launched(api, project, algorithm)
        assert api.delete(f"Jobs/{project}", gid=first["gid"], media_id=media_of(project, 10)[9:]).message == (
            f"Deleted 1 jobs for project {project}!"
        )
        assert api.delete(f"Jobs/{project}", gid=first["gid"]).status == 200
        assert api.get(f"Jobs/{project}", gid=first["gid"]).json == []
        assert len(api.get(f"Jobs/{project}").json) == len(second["uid"])
        assert api.delete(f"Jobs/{project}").message == f"Deleted 4 jobs for project {project}!"
        assert api.get(f"Jobs/{project}").json == []
        assert cluster.workflows == {}

    @pytest.mark.slow
    def test_it_takes_can_execute_and_strangers_see_nothing(self, api, project, algorithm, member, stranger):
        uid = launched(api, project, algorithm)["uid"][0]
        assert member("Can Transfer").delete(f"Job/{uid}").status == 403
        assert member("View Only").get(f"Job/{uid}").status == 200
        assert stranger.get(f"Job/{uid}").status == 404

    def test_a_cluster_that_is_away_hears_of_it_later(self, api, project, algorithm, cluster):
        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
        cluster.fault = clusters.broken
        assert api.delete(f"Job/{uid}").status == 200
        assert api.get(f"Job/{uid}").status == 404
        assert api.get(f"Jobs/{project}").json == []
        cluster.fault = None
        cleanup.sweep(30)
        assert cluster.workflows == {}

    @pytest.mark.slow
    def test_one_that_is_just_being_handed_over_is_ended_when_its_cluster_has_it(
        self, api, project, algorithm, cluster, monkeypatch
    ):
        taken, deleted = threading.Event(), threading.Event()
        ask = kubernetes.Cluster._ask

        def slowly(self, method, *more, **named):
            if method == "POST":
                taken.set()
                assert deleted.wait(10)
            return ask(self, method, *more, **named)

        monkeypatch.setattr(kubernetes.Cluster, "_ask", slowly)
        launching = threading.Thread(
            target=launched, args=(api, project, algorithm), kwargs={"media_ids": media_of(project)}
        )
        launching.start()
        assert taken.wait(10)
        assert api.delete(f"Jobs/{project}").message == f"Deleted 1 jobs for project {project}!"
        deleted.set()
        launching.join()
        assert api.get(f"Jobs/{project}").json == []
        assert len(cluster.workflows) == 1
        function.handler({}, None)
        assert cluster.workflows == {}
        assert records.list_children(RUN, project) == []

    def test_one_that_was_not_handed_over_never_is(self, api, project, algorithm, cluster):
        cluster.fault = clusters.broken
        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]
        before = records.get(RUN, uid)
        assert api.delete(f"Job/{uid}").status == 200
        cluster.fault = None
        assert [run.message for run in status_sync.current([before])]  # somebody who read it before it was deleted
        assert cluster.workflows == {}


class TestFiles:
    @pytest.mark.slow
    def test_what_a_launch_stored_goes_with_its_last_job(self, api, project, organization, algorithm):
        first, *others = launched(api, project, algorithm)["uid"]
        prefix = f"{organization}/{project}/jobs/"
        assert len(list(objects.under(prefix))) == 1
        objects.write(f"{prefix}{first}/output", b"x")
        api.delete(f"Job/{first}")
        assert [key.rpartition("/")[2] for key in objects.under(prefix)] == ["workflow.json"]
        for uid in others:
            api.delete(f"Job/{uid}")
        assert list(objects.under(prefix)) == []


class TestDeletedProjects:
    def purged(self, project, organization):
        purging.purge(PurgeProject(id=str(uuid.uuid4()), project=project, organization=organization), 60)

    @pytest.mark.slow
    def test_their_workflows_are_ended_once_and_again(self, api, project, organization, algorithm, cluster):
        launched(api, project, algorithm)
        assert api.delete(f"Project/{project}").status == 200
        for _ in range(2):
            self.purged(project, organization)
            assert cluster.workflows == {}
            assert records.list_children(RUN, project) == []
            assert list(objects.under(f"{organization}/{project}/")) == []

    @pytest.mark.slow
    def test_a_cluster_that_is_away_hears_of_it_from_the_schedule(self, api, project, organization, algorithm, cluster):
        launched(api, project, algorithm)
        api.delete(f"Project/{project}")
        cluster.fault = clusters.broken
        self.purged(project, organization)
        assert len(cluster.workflows) == 4
        cluster.fault = None
        function.handler({}, None)
        assert cluster.workflows == {}
        assert records.list_children(RUN, project) == []

    def test_a_project_that_was_not_deleted_after_all_keeps_its_jobs(self, api, project, algorithm, cluster):
        launched(api, project, algorithm)
        self.purged(project, records.get(PROJECT, project).organization)
        assert len(cluster.workflows) == 4


class TestOldJobs:
    @pytest.fixture
    def finished(self, api, project, algorithm, cluster):
        """Two jobs, the first of which has finished; their uids."""
        first, second = launched(api, project, algorithm, media_ids=media_of(project, 4))["uid"]
        cluster.move(first, "Succeeded")
        assert api.get(f"Job/{first}").json["status"] == "Succeeded"
        return first, second

    @pytest.mark.slow
    @pytest.mark.parametrize("late", [1, 2, 17, 31])
    def test_they_are_kept_for_days_and_then_removed(self, api, project, cluster, finished, late):
        last = datetime.now(UTC) + timedelta(days=30)
        for minute in range(60):
            cleanup.expire(last.replace(minute=minute))
        assert len(api.get(f"Jobs/{project}").json) == 2
        for minute in range(30):
            cleanup.expire((last + timedelta(days=late)).replace(minute=minute))
        assert [job["uid"] for job in api.get(f"Jobs/{project}").json] == [finished[1]]
        assert api.get(f"Job/{finished[0]}").status == 404
        assert len(cluster.workflows) == 1

    def test_one_that_goes_on_does_not_grow_old(self, finished):
        assert records.get(RUN, finished[1]).finished_on is None
        assert records.get(RUN, finished[0]).finished_on == datetime.now(UTC).date().isoformat()

    @pytest.mark.slow
    def test_transcodes_grow_as_old(self, api, project):
        def stored(status, **more):
            job = StoredJob(
                uid=str(uuid.uuid1()), gid=str(uuid.uuid1()), project=project, user=api.user.id, media=7,
                start_time=now(), spec=TranscodeSpec(url="x"), status=status, **more,
            )  # fmt: skip
            return records.create(JOB, job).uid

        ended, going = stored("succeeded", stop_time=now()), stored("running")
        moment = datetime.now(UTC)
        cleanup.expire(moment + timedelta(days=30))
        assert api.get(f"Job/{ended}").status == 200
        cleanup.expire(moment + timedelta(days=31))
        assert api.get(f"Job/{ended}").status == 404
        assert api.get(f"Job/{going}").status == 200


class TestDeath:
    """Whoever removes a job may die after each step; the schedule finishes."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("place", "name"), [(records, "drop"), (service_objects, "remove"), (kubernetes.Cluster, "stop")]
    )
    def test_in_the_middle(self, api, project, organization, algorithm, cluster, monkeypatch, place, name):
        uid = launched(api, project, algorithm, media_ids=media_of(project))["uid"][0]

        def die(*_args, **_more):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(place, name, die)
            with pytest.raises(KeyboardInterrupt):
                jobs_service.remove_many(project, None, None, UNRESTRICTED)
        assert api.get(f"Job/{uid}").status == 404
        function.handler({}, None)
        assert cluster.workflows == {}
        assert records.list_children(RUN, project) == []
        assert list(objects.under(f"{organization}/{project}/jobs/")) == []


@pytest.mark.slow
def test_many_are_removed_in_few_questions(api, project, algorithm, monkeypatch):
    launched(api, project, algorithm)
    asked = []
    linked = records.list_linked
    monkeypatch.setattr(records, "list_linked", lambda *given: asked.append(given) or linked(*given))
    jobs_service.remove_many(project, None, None, UNRESTRICTED)
    assert len(asked) == 1
