"""Honeypots: nothing tells them apart, their scores are exact, and who is below the threshold gets no more."""

import itertools
from itertools import islice
from types import SimpleNamespace

import pytest

from chalicelib.core.resource import now
from chalicelib.resources.honeypots import service as honeypots_service
from chalicelib.resources.tasks import honeypots, leases
from chalicelib.resources.tasks.messages import ScoreTask
from chalicelib.resources.tasks.schemas import TASK
from chalicelib.settings import override
from chalicelib.storage.dynamodb import records
from tests.resources.media.samples import media_type
from tests.service import join, new_user

FOUND = {"x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
ELSEWHERE = {**FOUND, "x": 0.7}


def test_no_more_spans_are_drawn_than_a_request_has(monkeypatch):
    """A media says any number of frames: a span for each of 2⁵³ would fill the memory."""
    drawn = []
    spans = (drawn.append(number) or (1, number, number) for number in itertools.count())
    monkeypatch.setattr(honeypots, "select", lambda *_: [None])
    monkeypatch.setattr(honeypots, "_rank", lambda _, unit: unit)
    found = SimpleNamespace(spec=SimpleNamespace(share=None, media_ids=[1]), project=1)
    units, known = honeypots.draw(None, found, [], lambda _: islice(spans, 10_000), 5)
    assert len(units) == len(known) == len(drawn) == 6


class Survey:
    """A project with eight media, of four of which a layer has the truth: a box each."""

    def __init__(self, api, project):
        self.api, self.project = api, project
        video = media_type(project)
        specs = [{"type": video, "name": f"{n}.mp4", "md5": ""} for n in range(8)]
        self.media = [api.made(f"Medias/{project}", spec) for spec in specs]
        self.kind = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [video]})
        self.truth, self.layer = (api.made(f"Versions/{project}", {"name": name}) for name in ("truth", "work"))
        self.known = self.media[::2]
        for media in self.known:
            self.draw(api, media, self.truth)

    def draw(self, who, media, version, **place):
        spec = {"media_id": media, "type": self.kind, "version": version, "frame": 0, **FOUND, **place}
        return who.post(f"Localizations/{self.project}", [spec]).json["id"][0]

    def make(self, media=None, **honeypots):
        wanted = {"reference": self.truth, "least": 2, **honeypots}
        if not {"share", "media_ids"} & wanted.keys():
            wanted["media_ids"] = self.known
        body = {"name": "set", "media_ids": media or self.media, "versions": [self.layer], "honeypots": wanted}
        return self.api.post(f"Tasks/{self.project}", body)

    def member(self, level="Can Edit"):
        user = new_user()
        join(user, self.project, level)
        return user

    def work(self, who, place, most=99):
        """Do the tasks that wait: the media in the order in which they were handed out."""
        done = []
        while len(done) < most:
            answer = who.post(f"NextTask/{self.project}", {})
            if answer.status == 404:
                break
            task = answer.json
            if task["media_id"] in self.known:
                self.draw(who, task["media_id"], self.layer, **place)
            assert who.patch(f"Task/{task['id']}", {"state": "to review"}).status == 200
            done.append(task["media_id"])
            self.api.drain()
        return done

    def scores(self, **query):
        return self.api.get(f"HoneypotScores/{self.project}", **query).json


@pytest.fixture
def survey(api, project, monkeypatch):
    monkeypatch.setattr(leases, "SCORE_DELAY", 0)
    with override(score_spread=1):
        yield Survey(api, project)


class TestCreation:
    def test_a_refused_request_makes_no_set_and_hides_nothing(self, survey):
        wanted = {"reference": survey.truth, "media_ids": survey.known, "least": 2}
        body = {"name": "set", "media_ids": survey.media, "versions": [survey.layer], "honeypots": wanted, "overlap": 3}
        assert survey.api.post(f"Tasks/{survey.project}", body).status == 400
        assert survey.api.get(f"Honeypots/{survey.project}").json == []
        assert {each["id"] for each in survey.member().get(f"Versions/{survey.project}").json} >= {survey.truth}

    def test_known_media_are_mixed_with_the_others(self, survey):
        made = survey.make().json
        assert (len(made["id"]), made["honeypots"]) == (8, 4)
        tasks = survey.api.get(f"Tasks/{survey.project}").json
        assert sorted(task["media_id"] for task in tasks) == sorted(survey.media)
        # the ids do not follow the order of the selection
        assert [task["media_id"] for task in tasks] != survey.media

    def test_a_share_of_the_units_is_drawn_and_a_repetition_draws_the_same(self, survey):
        first = survey.make(share=0.2).json
        assert (len(first["id"]), first["honeypots"]) == (5, 1)  # four ordinary ones
        again = survey.make(share=0.2).json
        assert (again["id"], again["existing"], again["honeypots"]) == ([], 5, 0)

    def test_further_requests_keep_the_share_and_need_not_repeat_it(self, survey):
        assert survey.make(media=survey.media[:4], share=0.5).json["honeypots"] == 2
        body = {"name": "set", "media_ids": survey.media, "versions": [survey.layer]}
        answer = survey.api.post(f"Tasks/{survey.project}", body).json
        assert (len(answer["id"]), answer["existing"], answer["honeypots"]) == (4, 4, 2)

    @pytest.mark.parametrize(
        ("members", "named"),
        [
            ({"share": 0.2, "media_ids": [1]}, "honeypots"),
            ({"share": 2}, "share"),
            ({"least": 5, "last": 3}, "least"),
            ({"class_attribute": "None such"}, "class_attribute"),
            ({"media_ids": []}, "media_ids"),
        ],
    )
    def test_a_wrong_body_is_refused_by_name(self, survey, members, named):
        answer = survey.make(**members)
        assert (answer.status, named in str(answer.json)) == (400, True)
        assert survey.api.get(f"Tasks/{survey.project}").json == []

    def test_a_reference_of_another_project_is_not_found(self, survey):
        assert survey.make(reference=10**9).status == 404

    def test_each_copy_needs_a_layer_that_is_not_the_reference(self, survey):
        wanted = {"reference": survey.truth, "media_ids": survey.known}
        body = {"name": "set", "media_ids": survey.media, "honeypots": wanted}
        for versions in ([], [survey.truth]):
            answer = survey.api.post(f"Tasks/{survey.project}", {**body, "versions": versions})
            assert (answer.status, "versions" in str(answer.json)) == (400, True)

    def test_honeypots_do_not_come_to_a_set_that_has_tasks_or_others(self, survey):
        body = {"name": "set", "media_ids": survey.media[:1], "versions": [survey.layer]}
        survey.api.post(f"Tasks/{survey.project}", body)
        assert survey.make().status == 400
        other = {"name": "other", "media_ids": survey.media, "versions": [survey.layer]}
        wanted = {"reference": survey.truth, "share": 0.2}
        assert survey.api.post(f"Tasks/{survey.project}", {**other, "honeypots": wanted}).status == 201
        answer = survey.api.post(f"Tasks/{survey.project}", {**other, "honeypots": {**wanted, "share": 0.3}})
        assert (answer.status, "other" in str(answer.json)) == (400, True)


class TestSecrecy:
    def test_a_worker_reads_the_same_of_all_tasks(self, survey):
        survey.make()
        ada = survey.member()
        tasks = ada.get(f"Tasks/{survey.project}").json
        own = {"id", "media_id"}
        assert len(tasks) == 8
        assert len({str({name: value for name, value in task.items() if name not in own}) for task in tasks}) == 1
        assert not any("honeypot" in name or "scored" in name for task in tasks for name in task)

    def test_the_reference_is_hidden_in_lists_by_id_and_by_name(self, survey):
        box = survey.draw(survey.api, survey.known[0], survey.truth, frame=5)
        ada = survey.member()
        path = f"Localizations/{survey.project}"
        assert len(ada.get(path).json) == 5
        survey.make()
        assert ada.get(path).json == []
        assert ada.get(f"LocalizationCount/{survey.project}").json == 0
        assert ada.get(f"Localization/{box}").status == 404
        assert ada.get(f"Version/{survey.truth}").status == 404
        assert survey.truth not in [each["id"] for each in ada.get(f"Versions/{survey.project}").json]
        spec = {"media_id": survey.media[1], "type": survey.kind, "version": survey.truth, "frame": 0, **FOUND}
        assert ada.post(path, [spec]).status == 400
        found = survey.api
        assert len(found.get(path).json) == 5
        assert found.get(f"Localization/{box}").status == 200

    def test_only_full_control_reads_scores(self, survey):
        survey.make()
        ada = survey.member("Can Execute")
        assert ada.get(f"HoneypotScores/{survey.project}").status == 403
        assert ada.get(f"Honeypots/{survey.project}").status == 403
        (found,) = survey.api.get(f"Honeypots/{survey.project}").json
        assert (found["name"], found["spec"]["reference"], "seed" in found) == ("set", survey.truth, False)

    def test_every_task_of_the_set_is_sent_to_be_scored(self, survey):
        survey.make()
        survey.api.drain()
        ada = survey.member()
        for _ in range(8):
            task = ada.post(f"NextTask/{survey.project}", {}).json
            ada.patch(f"Task/{task['id']}", {"state": "to review"})
        assert survey.api.drain() == 8


class TestScores:
    def test_planted_errors_are_found_exactly(self, survey):
        survey.make(minimum=0)
        ada = survey.member()
        plan = [{}, ELSEWHERE, {}, {}]
        for _ in survey.media:
            task = ada.post(f"NextTask/{survey.project}", {}).json
            if task["media_id"] in survey.known:
                place = plan[survey.known.index(task["media_id"])]
                survey.draw(ada, task["media_id"], survey.layer, **place)
                if task["media_id"] == survey.known[3]:
                    survey.draw(ada, task["media_id"], survey.layer, frame=9)
            ada.patch(f"Task/{task['id']}", {"state": "to review"})
        survey.api.drain()
        (score,) = survey.scores()
        by_media = {each["media_id"]: each for each in score["results"]}
        counts = [[by_media[media][name] for name in ("matched", "missing", "extra")] for media in survey.known]
        assert counts == [[1, 0, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]]
        assert score["score"] == pytest.approx((1 + 0 + 1 + 2 / 3) / 4)
        assert (score["user"], score["suspended_datetime"]) == (ada.user.id, None)

    def test_the_last_results_count(self, survey):
        survey.make(minimum=0, last=2)
        ada = survey.member()
        survey.work(ada, {})
        (score,) = survey.scores()
        assert len(score["results"]) == 2

    def test_a_message_that_comes_again_changes_nothing(self, survey):
        survey.make(minimum=0)
        ada = survey.member()
        survey.work(ada, {})
        (before,) = survey.scores()
        for result in before["results"]:
            message = ScoreTask(task=result["task"], user=ada.user.id, at=result["handed_in"])
            honeypots_service.score(message)
        assert survey.scores() == [before]

    def test_a_task_that_was_not_handed_in_has_no_score(self, survey):
        survey.make()
        ada = survey.member()
        task = ada.post(f"NextTask/{survey.project}", {}).json
        honeypots_service.score(ScoreTask(task=task["id"], user=ada.user.id, at=now()))
        assert survey.scores() == []


class TestSuspension:
    def test_who_is_below_the_threshold_gets_no_more_and_the_manager_is_told(self, survey):
        survey.make()
        ada, grace = survey.member(), survey.member()
        done = survey.work(ada, ELSEWHERE)
        assert len([media for media in done if media in survey.known]) == 2
        (score,) = survey.scores(suspended="true")
        assert (score["score"], score["user"]) == (0, ada.user.id)
        assert ada.post(f"NextTask/{survey.project}", {"name": "set"}).status == 404
        assert ada.post(f"NextTask/{survey.project}", {}).status == 404
        (notice,) = survey.api.get("Notifications").json
        assert (notice["topic"], ada.user.username in notice["text"]) == ("quality", True)
        assert notice["link"] == f"#/projects/{survey.project}/quality/people"
        for user in (ada, grace):
            assert [each for each in user.get("Notifications").json if each["topic"] == "quality"] == []
        assert survey.work(grace, {}) != []

    def test_what_a_suspended_person_holds_returns(self, survey):
        survey.make()
        ada, grace = survey.member(), survey.member()
        (score,) = self._suspended(survey, ada)
        assert survey.api.patch(f"HoneypotScore/{score['uid']}", {"suspended": False}).json["results"] == []
        held = ada.post(f"NextTask/{survey.project}", {}).json
        assert held["assignee"] == ada.user.id
        survey.api.patch(f"HoneypotScore/{score['uid']}", {"suspended": True})
        task = records.get(TASK, held["id"])
        assert (task.state, task.stage, task.assignee, task.leased_by) == ("to do", "open", None, None)
        assert held["media_id"] in survey.work(grace, {})

    def test_a_manager_lets_a_person_again_who_is_judged_anew(self, survey):
        survey.make()
        ada = survey.member()
        (score,) = self._suspended(survey, ada)
        old = [ScoreTask(task=each["task"], user=ada.user.id, at=each["handed_in"]) for each in score["results"]]
        survey.api.patch(f"HoneypotScore/{score['uid']}", {"suspended": False})
        for message in old:  # delivered once more
            honeypots_service.score(message)
        (after,) = survey.scores()
        assert (after["results"], after["suspended_datetime"]) == ([], None)
        assert survey.work(ada, {}) != []
        assert survey.scores()[0]["score"] == 1
        assert survey.api.get("Notifications").json == []

    def test_a_crash_before_the_tasks_returned_is_made_good(self, survey, monkeypatch):
        survey.make(least=1)
        ada = survey.member()

        def die(_):
            raise RuntimeError

        task = None
        while task is None or task["media_id"] not in survey.known:
            task = ada.post(f"NextTask/{survey.project}", {}).json
            ada.patch(f"Task/{task['id']}", {"state": "to review"})
        found = records.get(TASK, task["id"])
        message = ScoreTask(task=found.id, user=ada.user.id, at=now())
        held = ada.post(f"NextTask/{survey.project}", {}).json
        with monkeypatch.context() as patch:
            patch.setattr(honeypots_service, "_return_tasks", die)
            with pytest.raises(RuntimeError):
                honeypots_service.score(message)
        assert records.get(TASK, held["id"]).assignee == ada.user.id
        honeypots_service.score(message)
        assert records.get(TASK, held["id"]).assignee is None
        assert len(survey.api.get("Notifications").json) == 1

    def test_the_end_of_the_honeypots_shows_the_reference_and_lets_all_again(self, survey):
        survey.make()
        ada = survey.member()
        self._suspended(survey, ada)
        (found,) = survey.api.get(f"Honeypots/{survey.project}").json
        assert survey.api.delete(f"Honeypot/{found['uid']}").status == 200
        assert survey.scores() == []
        assert ada.get(f"Version/{survey.truth}").status == 200
        assert ada.post(f"NextTask/{survey.project}", {}).status == 200

    @staticmethod
    def _suspended(survey, who):
        survey.work(who, ELSEWHERE)
        return survey.scores(suspended="true")
