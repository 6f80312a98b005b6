"""Tasks: who gets which, leases, states, what others see."""

import pytest

from chalicelib.resources.tasks import leases
from chalicelib.resources.tasks.schemas import TASK
from chalicelib.storage.dynamodb import records
from tests.resources.media.samples import media_type
from tests.service import join, new_user


def videos(api, project, count, frames=None):
    type_ = media_type(project)
    made = [api.made(f"Medias/{project}", {"type": type_, "name": f"{n}.mp4", "md5": ""}) for n in range(count)]
    for number in made if frames else ():
        api.patch(f"Media/{number}", {"num_frames": frames, "fps": 25})
    return made


def member(project, level="Can Edit"):
    user = new_user()
    join(user, project, level)
    return user


def made(api, project, media, **members):
    return api.post(f"Tasks/{project}", {"name": "survey", "media_ids": media, **members}).json["id"]


class TestCreation:
    def test_each_media_and_copy_is_a_task(self, api, project):
        media = videos(api, project, 2)
        made(api, project, media, copies=3, checklist=["sharp?"], instructions="Box all fish.")
        found = api.get(f"Tasks/{project}").json
        assert sorted((task["media_id"], task["copy"]) for task in found) == [(m, c) for m in media for c in (1, 2, 3)]
        assert {task["state"] for task in found} == {"to do"}
        assert found[0]["checklist"] == [{"text": "sharp?", "done": False}]

    def test_spans_cover_all_frames_and_share_the_overlap(self, api, project):
        media = videos(api, project, 1, frames=25)
        made(api, project, media, frames=10, overlap=2)
        spans = [(task["start_frame"], task["end_frame"]) for task in api.get(f"Tasks/{project}").json]
        assert spans == [(0, 9), (8, 17), (16, 24)]

    def test_a_repeated_request_adds_only_what_is_missing(self, api, project):
        media = videos(api, project, 3)
        made(api, project, media[:2])
        answer = api.post(f"Tasks/{project}", {"name": "survey", "media_ids": media}).json
        assert (len(answer["id"]), answer["existing"]) == (1, 2)

    @pytest.mark.parametrize(
        ("members", "named"),
        [
            ({}, "media_ids"),
            ({"media_ids": [1], "media_query": "type=1"}, "media_ids"),
            ({"media_ids": [1], "copies": 0}, "copies"),
            ({"media_ids": [1], "overlap": 3}, "overlap"),
            ({"media_ids": [1], "frames": 3, "overlap": 3}, "overlap"),
            ({"media_ids": [1], "due_datetime": "soon"}, "due_datetime"),
        ],
    )
    def test_a_wrong_body_is_refused_by_name(self, api, project, members, named):
        videos(api, project, 1)
        answer = api.post(f"Tasks/{project}", {"name": "survey", **members})
        assert (answer.status, named in str(answer.json)) == (400, True)

    def test_media_of_another_project_are_not_found(self, api, project):
        assert api.post(f"Tasks/{project}", {"name": "survey", "media_ids": [10**9]}).status == 404

    def test_only_full_control_makes_tasks(self, api, project):
        body = {"name": "survey", "media_ids": videos(api, project, 1)}
        assert member(project, "Can Execute").post(f"Tasks/{project}", body).status == 403


class TestLeases:
    def test_the_same_person_gets_the_task_that_is_held(self, api, project):
        made(api, project, videos(api, project, 3))
        first = api.post(f"NextTask/{project}", {}).json
        again = api.post(f"NextTask/{project}", {}).json
        assert first["id"] == again["id"]
        assert (first["state"], first["assignee"]) == ("in progress", api.user.id)

    def test_nobody_gets_two_copies_of_a_unit(self, api, project):
        made(api, project, videos(api, project, 1), copies=2)
        first = api.post(f"NextTask/{project}", {}).json
        assert api.patch(f"Task/{first['id']}", {"state": "to review"}).status == 200
        assert api.post(f"NextTask/{project}", {}).status == 404
        assert member(project).post(f"NextTask/{project}", {}).json["copy"] != first["copy"]

    def test_a_lease_that_ends_is_handed_to_another(self, api, project):
        (number,) = made(api, project, videos(api, project, 1))
        ada, grace = member(project), member(project)
        assert ada.post(f"NextTask/{project}", {}).json["id"] == number
        assert grace.post(f"NextTask/{project}", {}).status == 404

        def expired(task):
            task.leased_until = "2020-01-01T00:00:00.000Z"
            return task

        records.edit(TASK, number, lambda task: expired(records.get(TASK, number)))
        assert grace.post(f"NextTask/{project}", {}).json["assignee"] == grace.user.id
        assert ada.patch(f"Task/{number}", {"state": "to review"}).status in (403, 404)

    def test_a_renewal_moves_the_end_of_the_lease(self, api, project):
        made(api, project, videos(api, project, 1))
        task = api.post(f"NextTask/{project}", {"lease_seconds": 60}).json
        renewed = api.patch(f"Task/{task['id']}", {"lease_seconds": 600}).json
        assert renewed["leased_until"] > task["leased_until"]


class TestStates:
    def test_a_rejection_needs_a_reason_and_hands_the_task_out_again(self, api, project):
        (number,) = made(api, project, videos(api, project, 1))
        ada = member(project)
        ada.post(f"NextTask/{project}", {})
        ada.patch(f"Task/{number}", {"state": "to review"})
        reviewed = api.post(f"NextTask/{project}", {"stage": "review"}).json
        assert (reviewed["id"], reviewed["leased_by"]) == (number, api.user.id)
        assert api.patch(f"Task/{number}", {"state": "rejected"}).status == 400
        assert api.patch(f"Task/{number}", {"state": "rejected", "reason": "too loose"}).json["reason"] == "too loose"
        assert ada.post(f"NextTask/{project}", {}).json["id"] == number

    def test_nobody_reviews_their_own_work(self, api, project):
        made(api, project, videos(api, project, 1))
        task = api.post(f"NextTask/{project}", {}).json
        api.patch(f"Task/{task['id']}", {"state": "to review"})
        assert api.post(f"NextTask/{project}", {"stage": "review"}).status == 404

    def test_a_transition_needs_its_level(self, api, project):
        made(api, project, videos(api, project, 1))
        ada, grace = member(project), member(project)
        task = ada.post(f"NextTask/{project}", {}).json
        ada.patch(f"Task/{task['id']}", {"state": "to review"})
        assert grace.post(f"NextTask/{project}", {"stage": "review"}).status == 404
        assert ada.patch(f"Task/{task['id']}", {"state": "done"}).status == 403

    def test_a_transition_that_is_not_declared_is_refused(self, api, project):
        (number,) = made(api, project, videos(api, project, 1))
        answer = api.patch(f"Task/{number}", {"state": "done"})
        assert (answer.status, "in progress" in answer.json["message"]) == (400, True)

    def test_a_project_has_states_of_its_own(self, api, project):
        states = [
            {"name": "new", "stage": "open"},
            {"name": "busy", "stage": "active"},
            {"name": "ok", "stage": "closed"},
        ]
        steps = [{"source": "new", "target": "busy"}, {"source": "busy", "target": "ok", "level": "Can Edit"}]
        assert api.patch(f"TaskWorkflow/{project}", {"states": states, "transitions": steps}).status == 200
        (number,) = made(api, project, videos(api, project, 1))
        assert api.post(f"NextTask/{project}", {}).json["state"] == "busy"
        assert api.patch(f"Task/{number}", {"state": "ok"}).json["state"] == "ok"
        answer = api.patch(f"TaskWorkflow/{project}", {"states": states[:2], "transitions": steps[:1]})
        assert (answer.status, "ok" in answer.json["message"]) == (400, True)

    def test_checklists_are_ticked_by_number(self, api, project):
        made(api, project, videos(api, project, 1), checklist=["sharp?", "complete?"])
        task = api.post(f"NextTask/{project}", {}).json
        ticked = api.patch(f"Task/{task['id']}", {"checklist": [True, False]}).json
        assert [item["done"] for item in ticked["checklist"]] == [True, False]
        assert api.patch(f"Task/{task['id']}", {"checklist": [True]}).status == 400


class TestVisibility:
    def test_people_see_their_own_copy_alone(self, api, project):
        made(api, project, videos(api, project, 1), copies=2)
        ada, grace = member(project), member(project)
        first, second = (who.post(f"NextTask/{project}", {}).json["id"] for who in (ada, grace))
        assert [task["id"] for task in ada.get(f"Tasks/{project}").json] == [first]
        assert grace.get(f"Task/{first}").status == 404
        assert {task["id"] for task in api.get(f"Tasks/{project}").json} == {first, second}

    def test_counts_are_by_person_and_state(self, api, project):
        made(api, project, videos(api, project, 3))
        ada = member(project)
        ada.post(f"NextTask/{project}", {})
        counts = {
            (each.get("assignee"), each["state"]): each["count"] for each in api.get(f"TaskCounts/{project}").json
        }
        assert counts == {(None, "to do"): 2, (ada.user.id, "in progress"): 1}


def test_pauses_are_no_time_spent(api, project):
    (number,) = made(api, project, videos(api, project, 1))
    api.post(f"NextTask/{project}", {})
    task = records.get(TASK, number)
    since = leases._since_action
    at = leases.parse_date(task.active_at)
    assert since(task, at + leases.timedelta(seconds=90)) == 90
    assert since(task, at + leases.timedelta(seconds=leases.IDLE_SECONDS + 1)) == 0


class TestBlindness:
    @pytest.fixture
    def copies(self, api, project):
        """Two people with a copy each of one unit, in layers with a box each; a second media has a box in both, too."""
        media, other = videos(api, project, 2)
        video = api.get(f"Media/{media}").json["type"]
        spec = {"name": "b", "dtype": "box", "media_types": [video]}
        kind = api.made(f"LocalizationTypes/{project}", spec)
        scene = api.made(f"StateTypes/{project}", {"name": "s", "association": "Media", "media_types": [video]})
        layers = [api.made(f"Versions/{project}", {"name": name}) for name in ("one", "two")]
        place = {"type": kind, "frame": 0, "x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1}
        for layer in layers:
            boxes = [{**place, "media_id": each, "version": layer} for each in (media, other)]
            assert api.post(f"Localizations/{project}", boxes).status == 201
            state = {"type": scene, "media_ids": [media], "version": layer}
            assert api.post(f"States/{project}", [state]).status == 201
        made(api, project, [media], copies=2, versions=layers)
        people = [member(project), member(project)]
        return media, layers, people, [person.post(f"NextTask/{project}", {}).json for person in people]

    def seen(self, person, project, media, path="Localizations"):
        return sorted(each["version"] for each in person.get(f"{path}/{project}", media_id=media).json)

    def test_lists_counts_and_states_leave_out_the_other_copy_until_the_task_is_done(self, api, project, copies):
        media, layers, (ada, grace), (task, _) = copies
        assert self.seen(ada, project, media) == [task["version"]]
        assert self.seen(ada, project, media, "States") == [task["version"]]
        assert ada.get(f"LocalizationCount/{project}", media_id=media).json == 1
        (other,) = set(layers) - {task["version"]}
        assert ada.get(f"Localizations/{project}", version=other, media_id=media).json == []
        assert self.seen(grace, project, media) != self.seen(ada, project, media)
        assert self.seen(api, project, media) == layers
        ada.patch(f"Task/{task['id']}", {"state": "to review"})
        assert self.seen(ada, project, media) == [task["version"]]
        api.patch(f"Task/{task['id']}", {"state": "done"})
        assert self.seen(ada, project, media) == layers
        assert len(self.seen(grace, project, media)) == 1

    def test_other_media_of_the_layers_are_open(self, api, project, copies):
        _, _, (ada, _), _ = copies
        assert ada.get(f"LocalizationCount/{project}").json == 3
        assert ada.get(f"MediaCount/{project}").json == 2

    def test_a_deleted_or_given_back_task_blinds_nobody(self, api, project, copies):
        media, layers, (ada, grace), (task, second) = copies
        ada.patch(f"Task/{task['id']}", {"state": "to do"})
        assert self.seen(ada, project, media) == layers
        api.delete(f"Task/{second['id']}")
        assert self.seen(grace, project, media) == layers

    def test_what_a_crash_left_is_removed_with_the_next_task(self, api, project, copies):
        media, layers, (ada, _), (task, _) = copies
        records.remove(TASK, task["id"])
        assert len(self.seen(ada, project, media)) == 1
        ada.post(f"NextTask/{project}", {})
        assert self.seen(ada, project, media) == layers
