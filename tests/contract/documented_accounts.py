"""Calls of the operations on accounts, members and what is personal, as the reference shows them."""

from __future__ import annotations

import base64
import time
import uuid
from typing import Any

from chalicelib.core.values import one_time_codes
from chalicelib.resources.accounts import administration
from chalicelib.settings import override
from tests.resources.accounts.authenticator import Authenticator
from tests.resources.media.samples import uploaded
from tests.service import Api, new_user


def records(api: Api, plural: str, one: str, parent: int, body: Any, change: Any) -> int:
    """List, create, read and change a record; its id."""
    number = api.post(f"{plural}/{parent}", body).json["id"]
    api.get(f"{plural}/{parent}")
    api.get(f"{one}/{number}")
    api.patch(f"{one}/{number}", change)
    return number


def accounts(api: Api) -> None:
    name = f"grace{uuid.uuid4().hex[:6]}"
    body = {
        "username": name,
        "password": "Correct-horse-9",
        "first_name": "Grace",
        "last_name": "Hopper",
        "email": f"{name}@example.org",
    }
    number = api.post("Users", body).json["id"]
    token, api.token = api.token, ""
    made = api.post("Token", {"username": name, "password": "Correct-horse-9", "name": "laptop"}).json
    api.token = made["token"]
    tokens = api.get("Token").json
    api.patch(f"User/{number}", {"password": "Battery-staple-8", "current_password": "Correct-horse-9"})
    secret = api.post("SecondFactor", {"password": "Battery-staple-8"}).json["secret"]
    present = one_time_codes.code_at(base64.b32decode(secret), int(time.time() // one_time_codes.STEP_SECONDS))
    codes = api.put("SecondFactor", {"code": present}).json["recovery_codes"]
    api.get("SecondFactor")
    api.delete("SecondFactor", {"code": codes[0]})
    passkeys(api, "Battery-staple-8")
    devices(api)
    api.delete("Token", id=tokens[0]["id"])
    api.token = token
    api.delete(f"SecondFactor/{number}")
    api.post("PasswordReset", {"email": f"{name}@example.org"})
    api.get("Users", username=name)
    api.get("User/Exists", username=name)
    api.get("User/GetCurrent")
    api.get(f"User/{number}")
    api.patch(f"User/{number}", {"last_name": "Murray Hopper"})
    api.get("HealthCheck")
    api.get("HealthCheckFull")
    api.get("Announcements")


def passkeys(api: Api, password: str) -> None:
    phone = Authenticator()
    number = api.post("Passkeys", phone.make(api.post("PasskeyRegistration", {"password": password}).json)).json["id"]
    api.get("Passkeys")
    token, api.token = api.token, ""
    api.headers = {"limn-session": "1"}
    asked = api.post("PasskeyChallenge")
    api.headers["cookie"] = asked.headers["Set-Cookie"].partition(";")[0]
    api.post("PasskeySession", phone.sign(asked.json))
    api.headers, api.token = {}, token
    api.patch(f"Passkey/{number}", {"name": "old phone"})
    api.delete(f"Passkey/{number}")


def devices(api: Api) -> None:
    token, api.token = api.token, ""
    codes = api.post("DeviceAuthorizations", {"name": "limn on lab-3", "level": "Can Edit"}).json
    api.token = token
    api.get("DeviceAuthorization", user_code=codes["user_code"])
    api.patch("DeviceAuthorization", {"user_code": codes["user_code"], "decision": "approve"})
    api.token = ""
    api.post("DeviceToken", {"device_code": codes["device_code"]})
    api.token = token


def people(api: Api, organization: int, project: int) -> None:
    api.get("Organizations")
    api.get(f"Organization/{organization}")
    api.patch(f"Organization/{organization}", {"name": "Institute of Reefs"})
    api.get(f"OrganizationUploadInfo/{organization}")
    api.get(f"AuditLog/{organization}", kind="policy", stop=1)
    api.get(f"Usage/{organization}")
    guest = new_user()
    assert guest.user
    number = records(
        api,
        "Affiliations",
        "Affiliation",
        organization,
        {"user": guest.user.id, "permission": "Member"},
        {"permission": "Admin"},
    )
    group = records(
        api,
        "Groups",
        "Group",
        organization,
        {"name": "Annotators", "initial_members": [guest.user.id]},
        {"name": "Reviewers"},
    )
    api.delete(f"Group/{group}")
    invited = records(
        api,
        "Invitations",
        "Invitation",
        organization,
        {"email": "ines@example.org", "permission": "Member"},
        {"permission": "Admin"},
    )
    api.delete(f"Invitation/{invited}")
    api.get("Projects")
    api.get(f"Project/{project}")
    api.patch(f"Project/{project}", {"summary": "Transects of May and June"})
    member = records(
        api,
        "Memberships",
        "Membership",
        project,
        {"user": guest.user.id, "permission": "Can Edit"},
        {"permission": "Can Transfer"},
    )
    rule = api.post("RowProtections", {"project": project, "user": guest.user.id, "permission": 7}).json["id"]
    api.get("RowProtections", project=project)
    api.get(f"RowProtection/{rule}")
    api.patch(f"RowProtection/{rule}", {"permission": 3})
    api.delete(f"RowProtection/{rule}")
    leaving = new_user()
    assert leaving.user
    api.post(f"Affiliations/{organization}", {"user": leaving.user.id, "permission": "Member"})
    erasure = api.post(f"Erasures/{organization}", {"user": leaving.user.id}).json["id"]
    api.get(f"Erasures/{organization}")
    api.get(f"Erasure/{erasure}")
    api.post("RowProtections", {"project": project, "user": guest.user.id, "permission": 7})
    api.delete("RowProtections", project=project, user=guest.user.id)
    api.delete(f"Membership/{member}")
    api.delete(f"Affiliation/{number}")
    cluster = {"name": "GPU cluster", "host": "cluster.example.org", "port": 6443, "token": "…", "cert": "…"}
    number = records(api, "JobClusters", "JobCluster", organization, cluster, {**cluster, "name": "Old GPU cluster"})
    api.delete(f"JobCluster/{number}")


def personal(api: Api, project: int, kinds: dict[str, int], media: int) -> None:
    number = records(
        api,
        "Bookmarks",
        "Bookmark",
        project,
        {"name": "Last visited", "uri": f"/{project}/annotation/{media}"},
        {"name": "Cod at 0:03"},
    )
    api.delete(f"Bookmark/{number}")
    favorite = {
        "name": "Cod",
        "type": kinds["box"],
        "page": 1,
        "values": {"Species": "Gadus morhua"},
        "entity_type_name": "Localization",
    }
    number = records(api, "Favorites", "Favorite", project, favorite, {"name": "Atlantic cod"})
    api.delete(f"Favorite/{number}")
    url = uploaded(api, project, b"depth,count\n10,3\n", "counts.csv")
    number = api.post(
        f"TemporaryFiles/{project}", {"name": "counts.csv", "url": url, "lookup": "counts", "hours": 24}
    ).json["id"]
    api.get(f"TemporaryFiles/{project}")
    api.get(f"TemporaryFile/{number}")
    api.delete(f"TemporaryFile/{number}")
    api.delete(f"TemporaryFiles/{project}", expired=0)
    number = records(
        api,
        "Files",
        "File",
        project,
        {"name": "Report of May", "description": "PDF", "type": kinds["file"], "attributes": {}},
        {"description": "Final"},
    )
    api.delete(f"File/{number}")
    assert api.user
    api.post(f"Email/{project}", {"recipients": [api.user.email], "subject": "Survey", "text": "It is done."})
    with override(notify_address="operator@example.org"):
        api.post("Notify", {"message": "The survey is done."})
    administration.announce("Maintenance", "We are down on Sunday.", username=api.user.username)
    [announced] = [each["id"] for each in api.get("Announcements").json][:1]
    api.delete(f"Announcement/{announced}")
