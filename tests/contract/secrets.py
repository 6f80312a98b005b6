"""Worlds with something hidden from each reader, and all that a reader can read of them.

What is hidden may change without a trace: whatever is planted there, a reader reads the same before and after. That
holds for counts, statistics and positions as it does for names, and needs no list of what an answer should contain.
"""

from __future__ import annotations

import io
import itertools
import json
import random
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, get_args

import msgspec

from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.formats.registry import FormatName
from chalicelib.http.operation import Operation
from chalicelib.storage.dynamodb import entities
from tests import objects
from tests.contract.examples import query_of
from tests.contract.world import World, build, is_own
from tests.resources.transcodes.test_transcodes import sent
from tests.service import Api, join, new_sibling, new_user

MARK = "hiddenmark"
READS = [
    each
    for each in OPERATIONS
    if each.method == "GET" and each.addresses is not None and each.addresses.kind != "organization"
]
BOX = {"x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
_NOT_OF_ENTITIES = {"GetUploadInfo"}
"""Answers that differ with each request."""
_VOLATILE = re.compile(rb'"next":"[0-9/]+"|"behind":[0-9]+|X-Amz-[A-Za-z]+=[^&"]*')
"""Positions in the log of a project, which tell that something was changed and not what; signatures."""
_TIMES = re.compile(r'"seq": ?[0-9]+|\d{4}-\d\d-\d\d(T[0-9:.]+Z?)?|[0-9a-f]{8}-[0-9a-f-]{27}')
"""What tells of an export when it was made, and at which position of the log."""
FORMATS: tuple[str, ...] = get_args(FormatName)
_names = itertools.count(1)


@dataclass
class Place:
    """Where annotations are hidden from a reader.

    Attributes:
        media: a media, shown or not; is_media: whether the media itself is hidden.
        version: a layer.
        frame: a frame of the media.
    """

    media: int
    version: int
    frame: int = 3
    is_media: bool = False


@dataclass
class Reader:
    """Somebody who reads, and where things are hidden from them."""

    name: str
    api: Api
    places: list[Place]
    mark: str = field(default_factory=lambda: f"{MARK}{next(_names)}x")
    """What is in all texts of what is hidden from this reader alone."""


class Secrets:
    """A project with media, layers and sections of which each reader sees a part."""

    def __init__(self) -> None:
        self.world: World = build()
        self.owner, self.things = self.world.owner, self.world.things
        self.project: int = self.things["project"]
        made, project = self.owner.made, self.project
        for kind, word in (("localization_type", "LocalizationType"), ("state_type", "StateType"),
                           ("media_type", "MediaType")):  # fmt: skip
            added = {"entity_type": word, "addition": {"name": "Species", "dtype": "string"}}
            assert self.owner.post(f"AttributeType/{self.things[kind]}", added).status == 201
        score = {"entity_type": "LocalizationType", "addition": {"name": "Score", "dtype": "float"}}
        assert self.owner.post(f"AttributeType/{self.things['localization_type']}", score).status == 201
        self.section = made(f"Sections/{project}", {"name": "open"})
        self.closed = made(f"Sections/{project}", {"name": "closed"})
        self.media = [self.new_media(self.section, "shown") for _ in range(2)]
        self.far = self.new_media(self.closed, "far")
        self.layers = [made(f"Versions/{project}", {"name": name}) for name in ("copy one", "copy two")]
        self.truth = made(f"Versions/{project}", {"name": "truth"})
        self.base = self.things["version"]
        for media, version in itertools.product(self.media, [self.base, *self.layers]):
            self.draw(media, version, "cod", frame=12)
            self.track(media, version, "cod")
        self.draw(self.media[0], self.truth, "truth")
        self.comment = made(f"Comments/{project}", {"media_id": self.media[0], "frame": 12, "text": "look"})
        body = {"name": "first", "media": {"ids": self.media}}
        self.dataset = made(f"Datasets/{project}", body)
        self.owner.drain()
        assert self.owner.get(f"Dataset/{self.dataset}").json["status"] == "succeeded"
        shown = self.owner.get(f"Localizations/{project}", media_id=self.media[0], version=self.base).json[0]
        state = self.owner.get(f"States/{project}", media_id=self.media[0], version=self.base).json[0]
        self.things |= {"media": self.media[0], "localization": shown["id"], "state": state["id"]}
        self.things |= {"section": self.section, "comment": self.comment, "dataset": self.dataset}
        self.things["elemental_id"] = shown["elemental_id"]

    # --- what is in the world ----------------------------------------------------------------------------------------

    def new_media(self, section: int | None, name: str) -> int:
        body = {"type": self.things["media_type"], "name": f"{name} {next(_names)}.mp4", "md5": ""}
        body |= {"attributes": {"Species": name}} | ({"section_id": section} if section else {})
        found: int = self.owner.made(f"Medias/{self.project}", body)
        entities.edit(Kind.MEDIA, found, lambda row: msgspec.structs.replace(row, num_frames=40), user=1)
        return found

    def draw(self, media: int, version: int, species: str, frame: int = 3, **more: Any) -> int:
        body = {"media_id": media, "type": self.things["localization_type"], "version": version, "frame": frame}
        body |= {**BOX, "attributes": {"Species": species, "Score": 0.5}, **more}
        found: int = self.owner.made(f"Localizations/{self.project}", [body])[0]
        return found

    def track(self, media: int, version: int, species: str, **more: Any) -> int:
        body = {"media_ids": [media], "type": self.things["state_type"], "version": version}
        body |= {"attributes": {"Species": species}, **more}
        found: int = self.owner.made(f"States/{self.project}", [body])[0]
        return found

    # --- readers -----------------------------------------------------------------------------------------------------

    def members(self) -> list[Reader]:
        """Readers of a project without fine-grained permissions: layers are hidden from them."""
        worker, editor, viewer, copier = (
            self.member(level) for level in ("Can Execute", "Can Edit", "View Only", "Can Edit")
        )
        pair = {"name": "pair", "media_ids": self.media[1:], "copies": 2, "versions": self.layers}
        assert self.owner.post(f"Tasks/{self.project}", pair).status == 201
        task = copier.post(f"NextTask/{self.project}", {"name": "pair"}).json
        other = next(each for each in self.layers if each != task["version"])
        self.hide_truth()
        truths = [Place(media, self.truth) for media in self.media]
        readers = [
            Reader(name, api, truths) for name, api in (("worker", worker), ("editor", editor), ("viewer", viewer))
        ]
        return [*readers, Reader("copier", copier, [Place(self.media[1], other), *truths])]

    def hide_truth(self) -> None:
        """Honeypots hide the layer of their reference."""
        honeypots = {"reference": self.truth, "media_ids": self.media[:1]}
        body = {"name": "set", "media_ids": self.media, "versions": self.layers[:1], "honeypots": honeypots}
        said = self.owner.post(f"Tasks/{self.project}", body)
        assert said.status == 201, said.body

    def parted(self) -> list[Reader]:
        """Readers with fine-grained permissions on a part of the project each."""
        self.hide_truth()
        far = [Place(self.far, self.base, is_media=True), Place(self.far, self.layers[0], is_media=True)]
        truth = Place(self.media[0], self.truth)
        transfer, view = mask_of(Level.TRANSFER), mask_of(Level.VIEW)
        other = Place(self.media[1], self.base, is_media=True)
        return [
            Reader("of a section", self.outsider(transfer, section=self.section), [*far, truth]),
            Reader("of a media", self.outsider(view, media=self.media[0]), [*far, other, truth]),
            Reader("of a layer", self.outsider(view, version=self.layers[0]), [far[0], other, truth]),
        ]

    def guests(self) -> list[Reader]:
        """Guests of each kind of link."""
        self.hide_truth()
        first, second = self.media
        base, layer = self.base, self.layers[0]
        far = Place(self.far, base, is_media=True)
        other = Place(second, base, is_media=True)
        early, late = Place(first, base, 3), Place(first, layer, 25)
        truth = Place(first, self.truth, 12)
        search = {"attribute": "$name", "operation": "eq", "value": self.owner.get(f"Media/{first}").json["name"]}
        found = self.owner.made(f"Sections/{self.project}", {"name": "search", "object_search": search})
        frames = {"media_id": first, "start": 10, "stop": 20}
        specs: list[tuple[str, dict[str, Any], list[Place]]] = [
            ("media", {"media_ids": [first]}, [far, other, truth]),
            ("section", {"section": self.section}, [far, truth]),
            ("frames", {"frames": frames}, [far, other, early, late, truth]),
            (
                "view",
                {"view": {"media_id": first, "frame": 12, "versions": [layer]}},
                [far, other, Place(first, base, 12)],
            ),
            ("comment", {"comment": self.comment}, [far, other, early]),
            ("dataset", {"dataset": self.dataset}, [far, early, late]),
            ("search", {"search": found}, [far, truth]),
        ]
        readers = []
        for name, spec, places in specs:
            said = self.owner.post(f"ShareLinks/{self.project}", spec)
            assert said.status == 201, said.body
            token = said.json["url"].rpartition("/")[2]
            guest = Api(None, Api(None).post("Guest", {"token": token}).json["token"])
            readers.append(Reader(f"link to {name}", guest, places))
        assert self.owner.patch(f"Project/{self.project}", {"public": "unlisted"}).status == 200
        return [*readers, Reader("of the public project", Api(None), [truth])]

    def member(self, level: str) -> Api:
        made = new_user()
        join(made, self.project, level)
        made.patch("NotificationSettings", {"mentions": "mail", "tasks": "mail"})
        return made

    def outsider(self, mask: int, **on: int) -> Api:
        """A user who sees the project, and one thing in it."""
        made = new_user()
        assert made.user
        join(made, new_sibling(self.owner, self.project), "View Only")
        for place, bits in (({"project": self.project}, EXIST | READ), (on, mask)):
            self.owner.made("RowProtections", {**place, "user": made.user.id, "permission": bits})
        made.patch("NotificationSettings", {"mentions": "mail", "tasks": "mail"})
        return made

    # --- planting ----------------------------------------------------------------------------------------------------

    def plant(self, reader: Reader, chance: random.Random) -> list[str]:
        """Change what is hidden from a reader; the paths of what is new there."""
        found: list[str] = []
        mark = reader.mark
        for place in reader.places:
            box = self.draw(place.media, place.version, mark, place.frame)
            state = self.track(place.media, place.version, mark)
            found += [f"Localization/{box}", f"State/{state}"]
            for number in [
                self.draw(place.media, place.version, mark, place.frame) for _ in range(chance.randrange(3))
            ]:
                change = {"x": 0.3, "attributes": {"Species": f"{mark} again"}}
                assert self.owner.patch(f"Localization/{number}", change).status == 200
                if chance.random() < 0.5:
                    assert self.owner.delete(f"Localization/{number}").status == 200
            mention = f"{mark} @{reader.api.user.username}" if reader.api.user else mark
            comments: list[dict[str, Any]] = [{"localization_id": box}, {"state_id": state}]
            comments += [{"media_id": place.media}] if place.is_media else []
            for target in comments:
                comment = self.owner.made(f"Comments/{self.project}", {"text": mention, **target})
                found.append(f"Comment/{comment}")
                self.owner.made(f"Comments/{self.project}", {"text": mention, "parent": comment})
                assert self.owner.patch(f"Comment/{comment}", {"resolved": True}).status == 200
            if place.is_media:
                found += self.change_media(mark, place, chance)
        if self.truth in {place.version for place in reader.places}:
            change = {"description": f"{mark} {next(_names)}"}
            assert self.owner.patch(f"Version/{self.truth}", change).status == 200
            found.append(f"Version/{self.truth}")
        self.owner.drain()
        return found

    def change_media(self, mark: str, place: Place, chance: random.Random) -> list[str]:
        change = {"name": f"{mark} {next(_names)}.mp4", "attributes": {"Species": f"{mark} media"}}
        assert self.owner.patch(f"Media/{place.media}", change).status == 200
        task = {"name": f"{mark} {next(_names)}", "media_ids": [place.media], "instructions": mark}
        (number,) = self.owner.made(f"Tasks/{self.project}", task)
        paths = [f"Media/{place.media}", f"Task/{number}"]
        if place.media == self.far:
            new = self.new_media(self.closed, mark)
            self.draw(new, place.version, mark)
            paths.append(f"Media/{new}")
            if chance.random() < 0.5:
                assert self.owner.delete(f"Media/{new}").status == 200
        return paths

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self, reader: Reader) -> dict[str, tuple[int, bytes]]:
        """The name of each read → its status and content for a reader."""
        return {name: (status, body) for name, status, body in self._read(reader)}

    def exported(self, api: Api, name: str, **spec: Any) -> str:
        """The files of an export that a reader makes and deletes, without times and its id."""
        uid = api.made(f"Exports/{self.project}", {"format": name, **spec})
        self.owner.drain()
        assert api.get(f"Export/{uid}").json["status"] == "succeeded", api.get(f"Export/{uid}").body
        archive = zipfile.ZipFile(io.BytesIO(objects.read(f"_exports/{self.project}/{uid}/archive.zip")))
        text = "".join(f"{each}: {archive.read(each)!r}" for each in sorted(archive.namelist()))
        assert api.delete(f"Export/{uid}").status == 200
        return _TIMES.sub("", text.replace(uid, ""))

    def mails(self, reader: Reader) -> list[str]:
        """The mails that a reader got."""
        address = reader.api.user.email if reader.api.user else ""
        return [mail.as_string() for mail in sent() if address in str(mail["To"])] if address else []

    def _read(self, reader: Reader) -> Iterator[tuple[str, int, bytes]]:
        for operation in READS:
            if operation.id in _NOT_OF_ENTITIES or is_own(operation):
                continue
            yield self.ask(reader.api, operation, query_of(operation))
        for word, query in self.queries(reader.mark):
            operation = next(each for each in READS if each.id == word)
            yield self.ask(reader.api, operation, query_of(operation) | query)
        for name, path, body in self.bodies(reader.mark):
            said = reader.api.ask("PUT" if "ById" in name else "POST", path, body)
            yield f"{name} {body}", said.status, said.body
        if reader.api.user:
            said = reader.api.post(f"QualityReports/{self.project}", {"versions": [self.base, self.layers[0]]})
            self.owner.drain()
            path = f"QualityReport/{said.json.get('id')}"
            report = reader.api.get(path).json
            reader.api.delete(path)
            results = {name: report.get(name) for name in ("status", "results", "compared", "alpha")}
            yield "quality report", said.status, json.dumps(results).encode()
        said = reader.api.get("Notifications")
        yield "notifications", said.status, said.body

    def ask(self, api: Api, operation: Operation, query: dict[str, Any]) -> tuple[str, int, bytes]:
        said = api.get(self.world.path(operation), **query)
        return f"{operation.id} {query}", said.status, _VOLATILE.sub(b"", said.body)

    def queries(self, mark: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Reads that search for what is hidden, or count by it."""
        marked = {"attribute": f"Species::{mark}"}
        related = {"related_attribute": f"Species::{mark}"}
        for kind in ("Media", "Localization", "State"):
            for ending in ("List", "Count"):
                yield f"Get{kind}{ending}", marked
                yield f"Get{kind}{ending}", related
                yield f"Get{kind}{ending}", {"search": f"Species:{mark}*"}
                yield f"Get{kind}{ending}", {"sort_by": "-$id", "start": 0, "stop": 1}
                if kind != "Media":
                    for query in ({"version": self.truth}, {"show_all_marks": 1}, {"show_deleted": 1}, {"merge": 1},
                                  {"media_id": self.far}, {"exclude_parents": 1}, {"after": 0}):  # fmt: skip
                        yield f"Get{kind}{ending}", query
        for kind in ("media", "localization", "state"):
            for group in (
                "Species",
                "$type",
                "$created_by",
                *(("$version", "$media") if kind != "media" else ("$section",)),
            ):
                yield "GetStatistics", {"kind": kind, "group_by": group}
            yield "GetStatistics", {"kind": kind, **related}
            yield "GetStatistics", {"kind": kind, "facets": "Species,$created_datetime"}
        binned = {"kind": "localization", "group_by": "$frame::5", "media_id": self.media[0], "fill": 1}
        yield "GetStatistics", {**binned, "measure": "count,maxn,distinct::Species,cover::Species"}
        yield "GetStatistics", {"kind": "localization", "group_by": "$media.Species", "measure": "mean::Score,maxn"}
        yield "GetVersionList", {"media_id": self.media[0]}
        for kind in ("Localization", "State", "Media"):
            yield "GetChangeLogList", {"entity_type": kind.lower()}
        for kinds in ("localization", "comment", "task", "version", "section", "media"):
            yield "GetEventList", {"kinds": kinds, "limit": 1000}
        yield "GetEventList", {"limit": 1000}
        yield "GetCommentList", {"mentions": 1}
        yield "GetTaskCounts", {"name": "pair"}
        for word in ("GetSightings", "GetSpeciesAccumulation"):
            yield word, {"label": "Species", "unit": "Species"}
            yield word, {"label": "Species", "media_query": "sort_by=$id"}
        yield "GetSightings", {"label": "Species", "interpolate": 1, "every": 3}
        yield "GetMediaNext", related
        yield "GetMediaStats", related

    def bodies(self, mark: str) -> Iterator[tuple[str, str, Any]]:
        """Reads by a body."""
        project = self.project
        for count in ("Localizations", "LocalizationCount", "States", "Medias", "MediaCount"):
            search = {"attribute": "Species", "operation": "icontains", "value": mark}
            yield f"{count} ById", f"{count}/{project}", {"object_search": search}
        yield "Statistics ById", f"Statistics/{project}", {"media_ids": [*self.media, self.far]}
        uncertain = {"order": "uncertain", "type": self.things["localization_type"], "attribute": "Score"}
        yield "FindForReview", f"ReviewQueue/{project}", uncertain
