"""A team at work on a deployed stage: people, layers compared, telemetry, guests, usage; then an end of all that."""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from typing import Any

import boto3

from tests.core.test_klv import flight, transport
from tests.rehearsal.containers import Ended
from tests.rehearsal.deployment import Stage
from tests.resources.accounts.authenticator import Authenticator

PASSWORD = "correct horse battery"
PURGED_SECONDS = 900


class Team:
    """Steps on a project with a video that others may use."""

    stage: Stage
    organization: int
    project_id: int
    video_type: int
    box_type: int
    video: int
    member: str
    leaver: int
    exported: str
    imported: str

    def passkeys(self) -> None:
        """A passkey is registered, and signs in alone."""
        ask, key = self.stage.ask, Authenticator()
        asked = ask("POST", "PasskeyRegistration", {"password": PASSWORD})
        place = {"host": asked["host"], "origin": f"https://{asked['host']}"}
        ask("POST", "Passkeys", key.make(asked, **place))
        browser = {"limn-session": "1", "Authorization": ""}
        asked = ask("POST", "PasskeyChallenge", headers=browser)
        browser["cookie"] = self.stage.headers["Set-Cookie"].partition(";")[0]
        ask("POST", "PasskeySession", key.sign(asked, **place), headers=browser)
        assert "Set-Cookie" in self.stage.headers

    def people(self) -> None:
        """An identity provider makes a user, who is let in; a colleague mentions somebody, who is told by mail."""
        ask = self.stage.ask
        token = ask("POST", "AccessTokens", {"name": "Okta", "operations": ["scim"]})["token"]
        name = f"{uuid.uuid4().hex[:8]}@reef.example.org"
        person = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": name, "active": True}
        person |= {"name": {"givenName": "Ines", "familyName": "Reyes"}, "emails": [{"primary": True, "value": name}]}
        scim = {"Authorization": f"Token {token}", "Content-Type": "application/scim+json"}
        self.leaver = int(ask("POST", f"/scim/v2/{self.organization}/Users", person, headers=scim)["id"])
        ask("POST", f"Memberships/{self.project_id}", {"user": self.leaver, "permission": "Can Edit"})
        member = ask("GET", "User/GetCurrent", headers=self.as_member())["id"]
        ask("POST", f"Memberships/{self.project_id}", {"user": member, "permission": "Can Edit"})
        ask("PATCH", "NotificationSettings", {"mentions": "mail"})
        ask("DELETE", f"Export/{self.exported}")
        ask("DELETE", f"Import/{self.imported}")
        assert self._mentioned() == 1  # after a minute, when what was deleted is looked for again

    def digest(self) -> None:
        """Another mention waits for the mail of the day, which the upkeep orders."""
        self.stage.ask("PATCH", "NotificationSettings", {"mentions": "daily"})
        assert self._mentioned() == 0
        before = sent_mails()
        for _ in range(2):
            self.stage.schedule("upkeep")
            self.stage.drain()
        assert sent_mails() == before + 1

    def _mentioned(self) -> int:
        """How many mails go out when the second member mentions the first."""
        before, mention = sent_mails(), {"text": f"look @ada {uuid.uuid4()}", "media_id": self.video}
        self.stage.ask("POST", f"Comments/{self.project_id}", mention, headers=self.as_member())
        self.stage.drain()
        return sent_mails() - before

    def as_member(self) -> dict[str, str]:
        """The headers of the second member."""
        return {"Authorization": f"Token {self.member}"}

    def quality(self) -> None:
        """Two layers are compared and agreed on, and a honeypot of a set of tasks is scored."""
        ask, place = self.stage.ask, self.project_id
        layers = [ask("POST", f"Versions/{place}", {"name": name})["id"] for name in ("one", "two")]
        box = {"media_id": self.video, "type": self.box_type, "x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1}
        boxes = [{**box, "version": layer, "frame": frame} for layer in layers for frame in (0, 10)]
        ask("POST", f"Localizations/{place}", boxes)
        body = {"versions": layers, "media_ids": [self.video]}
        report = ask("POST", f"QualityReports/{place}", body)["uid"]
        agreed = ask("POST", f"ConsensusLayers/{place}", {**body, "name": "agreed"})["uid"]
        layer = ask("POST", f"Versions/{place}", {"name": "tasks"})["id"]
        tasks = {"name": "known", "media_ids": [self.video], "frames": 10, "versions": [layer]}
        ask(
            "POST",
            f"Tasks/{place}",
            {**tasks, "honeypots": {"reference": layers[0], "media_ids": [self.video], "least": 1}},
        )
        given = ask("POST", f"NextTask/{place}", {"name": "known"}, headers=self.as_member())["id"]
        ask("PATCH", f"Task/{given}", {"state": "to review"}, headers=self.as_member())
        self.stage.drain()
        for path in (f"QualityReport/{report}", f"ConsensusLayer/{agreed}"):
            said = ask("GET", path)
            assert said["status"] == "succeeded", said

    def telemetry(self) -> None:
        """KLV in MPEG-TS is read at a frame."""
        ask = self.stage.ask
        start = {"entity_type": "MediaType", "addition": {"name": "Start", "dtype": "datetime"}}
        ask("POST", f"AttributeType/{self.video_type}", start)
        key = self.stage.upload(self.project_id, "flight.ts", transport(flight()), media=self.video)
        ask("POST", f"AuxiliaryFiles/{self.video}?role=attachment", {"path": key, "name": "flight.ts"})
        ask("PATCH", f"FrameInstant/{self.video}", {"frame": 0, "instant": "2026-05-01T12:00:00Z"})
        assert ask("GET", f"FrameTelemetry/{self.video}?frame=25")["file"] == "flight.ts"
        assert ask("GET", f"Telemetry/{self.video}")["files"] == ["flight.ts"]

    def guests(self) -> None:
        """A share link is opened by a guest, who sees its media."""
        link = self.stage.ask("POST", f"ShareLinks/{self.project_id}", {"media_ids": [self.video]})
        nobody = {"Authorization": ""}
        guest = self.stage.ask("POST", "Guest", {"token": link["url"].rpartition("/")[2]}, headers=nobody)["token"]
        said = self.stage.ask("GET", f"Media/{self.video}?presigned=60", headers={"Authorization": f"Token {guest}"})
        assert said["media_files"]["streaming"]

    def usage(self) -> None:
        """What was used is counted."""
        rows = self.stage.ask("GET", f"Usage/{self.organization}")
        assert any(row["project"] == self.project_id for row in rows), rows

    def purge(self) -> None:
        """A type goes, many rows change at once, a person is erased, and the project is deleted with all in it."""
        ask = self.stage.ask
        kind = ask("POST", f"LeafTypes/{self.project_id}", {"name": "going"})["id"]
        ask("POST", f"Leaves/{self.project_id}", {"name": "going", "type": kind})
        ask("DELETE", f"LeafType/{kind}")
        with suppress(Ended):  # moto may take longer than a request has; then the message ends the change
            ask("PATCH", f"Localizations/{self.project_id}?type={self.box_type}", {"attributes": {"Species": "b"}})
        erasure = ask("POST", f"Erasures/{self.organization}", {"user": self.leaver})["id"]
        ask("DELETE", f"Project/{self.project_id}")
        end, wanted = time.monotonic() + PURGED_SECONDS, {"FinishBulkChange", "ErasePerson", "DeleteRetired"}
        # all of that begins later, when nothing can still write
        while not wanted <= self.stage.driven or ask("GET", f"Erasure/{erasure}")["status"] != "Completed":
            self.stage.deliver("purge", 1)
            assert time.monotonic() < end, f"{wanted - self.stage.driven} are not done, or the person is not erased"
            time.sleep(0.5)
        ask("GET", f"Project/{self.project_id}", status=404)


def sent_mails() -> int:
    """How many mails SES has sent."""
    return int(boto3.client("ses").get_send_quota()["SentLast24Hours"])


def signed_in(stage: Stage, name: str) -> Any:
    """The token of a user."""
    return stage.ask("POST", "Token", {"username": name, "password": PASSWORD})["token"]
