"""Calls of a team: comments, tasks, quality reports, sampled points."""

from __future__ import annotations

from chalicelib.core.resource import now
from chalicelib.resources.honeypots import service as honeypots_service
from chalicelib.resources.tasks.messages import ScoreTask
from tests.service import Api, join, new_user


def team(api: Api, project: int, media: int) -> None:
    """Make the calls, on media that has localizations."""
    comments(api, project, media)
    tasks(api, project, media)
    quality(api, project)
    honeypots(api, project, media)
    dots = {"name": "Point", "dtype": "dot", "media_types": [api.get(f"Media/{media}").json["type"]]}
    points = api.post(f"LocalizationTypes/{project}", dots).json["id"]
    body = {"media_ids": [media], "type": points, "method": "stratified", "count": 4}
    api.post(f"PointSamples/{project}", body)
    api.delete(f"Localizations/{project}", {}, type=points)
    api.delete(f"LocalizationType/{points}")


def comments(api: Api, project: int, media: int) -> None:
    text = {"text": "Is this a cod?", "media_id": media, "frame": 3}
    first = api.post(f"Comments/{project}", text).json["id"]
    api.post(f"Comments/{project}", {"text": "A pollack.", "parent": first})
    api.get(f"Comments/{project}", media_id=media)
    api.patch(f"Comment/{first}", {"resolved": True})
    api.get(f"Comment/{first}")
    api.delete(f"Comment/{first}")
    notifications(api, project, media)


def notifications(api: Api, project: int, media: int) -> None:
    member = new_user()
    join(member, project, "Can Edit")
    text = {"text": f"Is this a cod? @{api.user.username}", "media_id": media}
    first = member.post(f"Comments/{project}", text).json["id"]
    api.patch("NotificationSettings", {"mentions": "mail", "jobs": "daily"})
    api.get("NotificationSettings")
    api.get("Notifications")
    api.patch("Notifications", {})
    api.delete(f"Comment/{first}")


def tasks(api: Api, project: int, media: int) -> None:
    api.post(f"Tasks/{project}", {"name": "May", "media_ids": [media], "instructions": "Box **all** fish."})
    api.get(f"TaskWorkflow/{project}")
    api.patch(f"TaskWorkflow/{project}", {"transitions": api.get(f"TaskWorkflow/{project}").json["transitions"]})
    task = api.post(f"NextTask/{project}", {}).json["id"]
    api.get(f"Tasks/{project}")
    api.patch(f"Task/{task}", {"state": "to review"})
    api.get(f"Task/{task}")
    api.get(f"TaskCounts/{project}")
    api.delete(f"Task/{task}")


def quality(api: Api, project: int) -> None:
    trial = api.post(f"Versions/{project}", {"name": "Trial"}).json["id"]
    first = api.get(f"Versions/{project}").json[0]["id"]
    report = api.post(f"QualityReports/{project}", {"reference": first, "versions": [trial]}).json["uid"]
    api.get(f"QualityReports/{project}")
    api.drain()
    api.get(f"QualityReport/{report}")
    api.delete(f"QualityReport/{report}")
    layer = api.post(f"ConsensusLayers/{project}", {"name": "Agreed", "versions": [first, trial]}).json["uid"]
    api.get(f"ConsensusLayers/{project}")
    api.drain()
    agreed = api.get(f"ConsensusLayer/{layer}").json["version"]
    api.delete(f"ConsensusLayer/{layer}")
    api.delete(f"Version/{agreed}")
    api.delete(f"Version/{trial}")


def honeypots(api: Api, project: int, media: int) -> None:
    reference = api.get(f"Versions/{project}").json[0]["id"]
    layer = api.post(f"Versions/{project}", {"name": "Work"}).json["id"]
    known = {"reference": reference, "media_ids": [media], "least": 1}
    api.post(f"Tasks/{project}", {"name": "June", "media_ids": [media], "versions": [layer], "honeypots": known})
    task = api.post(f"NextTask/{project}", {"name": "June"}).json
    api.patch(f"Task/{task['id']}", {"state": "to review"})
    honeypots_service.score(ScoreTask(task=task["id"], user=task["assignee"], at=now()))
    found = api.get(f"Honeypots/{project}").json[0]["uid"]
    score = api.get(f"HoneypotScores/{project}").json[0]["uid"]
    api.patch(f"HoneypotScore/{score}", {"suspended": False})
    api.delete(f"Honeypot/{found}")
    api.delete(f"Task/{task['id']}")
    api.delete(f"Version/{layer}")
