"""A project with annotations to export, and its archives opened."""

from __future__ import annotations

import io
import json
import zipfile

from chalicelib.core.models.definitions import ResolutionConfig
from tests import objects
from tests.resources.media.samples import media_type, picture, transcode, uploaded, video


class Dataset:
    """A video and two images with boxes, a polygon, a dot, a line, and a track with a gap."""

    def __init__(self, api, project, clip=None, *, pictures=True):
        self.api, self.project = api, project
        self.video_type = media_type(project, streaming_config=[ResolutionConfig(resolution=64)])
        self.image_type = media_type(project, "image")
        both = [self.video_type, self.image_type]
        species = {"name": "Species", "dtype": "enum", "choices": ["cod", "eel"]}
        place = {"name": "Place", "dtype": "geopos"}

        def type_(dtype, *attributes):
            body = {"name": dtype, "dtype": dtype, "media_types": both, "attribute_types": list(attributes)}
            return api.made(f"LocalizationTypes/{project}", body)

        self.box_type, self.poly_type = type_("box", species, place), type_("poly", species)
        self.line_type, self.dot_type = type_("line"), type_("dot")
        track = {"name": "Track", "association": "Localization", "media_types": both, "attribute_types": [species]}
        self.track_type = api.made(f"StateTypes/{project}", track)
        self.video = self.add_video(clip or video(30, keyframes=10)) if pictures else self.add_bare("clip.mp4")
        self.images = [self.add_image(name) if pictures else self.add_bare(name) for name in ("a b.jpg", "c.jpg")]
        self.version = api.get(f"Versions/{project}").json[0]["id"]

    def add_video(self, clip, **more):
        number = transcode(self.api, self.project, self.video_type, clip, **more).json["media_id"]
        self.api.drain()
        return number

    def add_image(self, name):
        url = uploaded(self.api, self.project, picture(200, 100), name)
        spec = {"type": self.image_type, "name": name, "md5": "", "url": url}
        number = self.api.made(f"Medias/{self.project}", spec)
        self.api.drain()
        return number

    def add_bare(self, name, **more):
        type_ = self.video_type if name.endswith("mp4") else self.image_type
        spec = {"type": type_, "name": name, "md5": "", "width": 200, "height": 100, "num_frames": 30, "fps": 25.0}
        return self.api.made(f"Medias/{self.project}", {**spec, **more})

    def annotate(self):
        """Add the annotations; the ids of the track and of its boxes."""
        self.box(self.images[0], 0, (0.25, 0.5, 0.5, 0.25), Species="cod", Place=[10.5, 54.25])
        poly = {"points": [[0.1, 0.1], [0.5, 0.1], [0.5, 0.9]], "Species": "eel"}
        self.add(self.poly_type, self.images[0], 0, **poly)
        self.add(self.line_type, self.images[0], 0, x=0.5, y=0.5, u=0.25, v=-0.25)
        self.add(self.dot_type, self.images[0], 0, x=0.5, y=0.5)
        members = [self.box(self.video, frame, (frame / 40, 0.25, 0.25, 0.5)) for frame in (0, 1, 10)]
        spec = {"type": self.track_type, "media_ids": [self.video], "localization_ids": members, "Species": "eel"}
        self.track = self.api.made(f"States/{self.project}", spec)[0]
        return self.track, members

    def box(self, media, frame, shape, **attributes):
        return self.add(
            self.box_type, media, frame, **dict(zip(("x", "y", "width", "height"), shape, strict=True)), **attributes
        )

    def add(self, type_, media, frame, **members):
        return self.api.made(
            f"Localizations/{self.project}", {"type": type_, "media_id": media, "frame": frame, **members}
        )[0]

    def export(self, api=None, **spec):
        """The archive of an export, and the export."""
        api = api or self.api
        said = api.post(f"Exports/{self.project}", spec)
        assert said.status == 201, said.body
        api.drain()
        export = api.get(f"Export/{said.json['uid']}").json
        assert export["status"] == "succeeded", export
        return opened(self.project, export["uid"]), export


def opened(project, uid):
    archive = zipfile.ZipFile(io.BytesIO(objects.read(f"_exports/{project}/{uid}/archive.zip")))
    assert archive.testzip() is None
    return archive


def document(archive, path):
    return json.loads(archive.read(path))
