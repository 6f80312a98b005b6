"""Who is told of jobs that fail."""

from tests.resources.jobs.test_jobs import launched, media_of


def test_a_failed_job_is_told_to_its_launcher_once_and_one_that_succeeds_is_not(api, project, algorithm, cluster):
    uids = [launched(api, project, algorithm, media_ids=media_of(project))["uid"][0] for _ in range(2)]
    for uid, phase in zip(uids, ("Succeeded", "Failed"), strict=True):
        cluster.move(uid, phase)
        for _ in range(2):
            api.get(f"Job/{uid}")
    (notice,) = api.get("Notifications").json
    assert (notice["topic"], notice["project"]) == ("jobs", project)
    assert notice["text"].startswith("A job of ")
