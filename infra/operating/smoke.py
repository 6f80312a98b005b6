"""`python -m infra.deploy smoke URL`: the main job of a deployed service, in a project that is deleted at the end.

It uses the API alone, as a client does: a token of a user who may create projects is in LIMN_TOKEN. A step that fails
says which, and what the service answered; the project is deleted all the same.
"""

from __future__ import annotations

import io
import json
import time
import uuid
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from infra.operating.failures import Failed

PATIENCE = 300.0
"""Seconds that a transcode may take: its function starts cold, and an account may run few at once."""
FRAMES, SIZE = 50, (160, 120)


class Broken(Failed):
    """A step did not work; the message says which, and what the service said."""


class Smoke:
    """The steps, each with what those before it made."""

    def __init__(self, url: str, token: str, say: Callable[[str], object] = print, patience: float = PATIENCE) -> None:
        self._url, self._token, self._say, self._patience = url.rstrip("/"), token, say, patience
        self._project = 0

    def run(self, organization: int) -> None:
        """Do all steps. Raises Broken."""
        if not self._url.startswith(("http://", "https://")):
            raise Broken(f"url: {self._url!r} is no address; give the output EndpointURL, https://…")
        if not self._token:
            raise Broken("LIMN_TOKEN is not set; give the token of a user who administers the organization.")
        began, wrong = time.monotonic(), ""
        try:
            self._main_job(organization)
        except Broken as failure:
            wrong = f"{failure}\n"
        if self._project:
            try:
                self._step("delete", lambda: self._ask("DELETE", f"Project/{self._project}"))
            except Broken as failure:
                wrong += f"{failure}\nThe project {self._project} is still there."
        if wrong:
            raise Broken(wrong.strip())
        self._say(f"all of it works; {time.monotonic() - began:.0f} s")

    def _main_job(self, organization: int) -> None:
        self._step("health", lambda: self._ask("GET", "HealthCheckFull"))
        body = {"name": f"smoke {uuid.uuid4()}", "organization": organization}
        self._project = self._step("project", lambda: self._ask("POST", "Projects", body))["id"]
        media = self._step("upload", self._upload)
        self._step("transcode", lambda: self._wait(media))
        self._step("frame", lambda: self._picture(media))
        self._step("boxes", lambda: self._annotate(media))

    def _step(self, name: str, act: Callable[[], Any]) -> Any:
        began = time.monotonic()
        try:
            found = act()
        except URLError as failure:
            raise Broken(f"{name}: {self._url} does not answer: {failure.reason}") from failure
        except (Broken, OSError, KeyError, ValueError) as failure:
            raise Broken(f"{name}: {failure}") from failure
        self._say(f"ok    {name:<10} {time.monotonic() - began:6.1f} s")
        return found

    def _ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """The answer, which is of a type; JSON is read."""
        headers = {"Authorization": f"Token {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._url}/rest/{path}", data, headers, method=method)  # noqa: S310 the operator's address
        try:
            with urlopen(request, timeout=40) as answer:  # noqa: S310
                text, said = answer.read(), answer.headers.get_content_type()
        except HTTPError as refusal:
            raise Broken(f"{method} {path}: {refusal.code} {refusal.read()[:300].decode(errors='replace')}") from None
        if said != kind:
            raise Broken(f"{method} {path}: {said} came, not {kind}. Is {self._url} the output EndpointURL?")
        return json.loads(text) if kind == "application/json" else text

    def _upload(self) -> int:
        kind = self._ask("POST", f"MediaTypes/{self._project}", {"name": "Video", "dtype": "video"})["id"]
        info, data = self._ask("GET", f"UploadInfo/{self._project}?filename=smoke.mp4"), _video()
        with urlopen(Request(info["urls"][0], data, {"Content-Type": "video/mp4"}, method="PUT"), timeout=60):  # noqa: S310
            pass
        [download] = self._ask("POST", f"DownloadInfo/{self._project}", {"keys": [info["key"]]})
        spec = {"type": kind, "gid": str(uuid.uuid4()), "uid": str(uuid.uuid1()), "url": download["url"]}
        spec |= {"name": "smoke.mp4", "md5": "", "size": len(data)}
        return int(self._ask("POST", f"Transcodes/{self._project}", spec)["media_id"])

    def _wait(self, media: int) -> None:
        end = time.monotonic() + self._patience
        while not (self._ask("GET", f"Media/{media}").get("media_files") or {}).get("streaming"):
            if time.monotonic() > end:
                raise Broken(f"no streaming file after {self._patience:.0f} s; see the log of the transcode function")
            time.sleep(min(3.0, self._patience / 10))

    def _picture(self, media: int) -> None:
        if not self._ask("GET", f"GetFrame/{media}?frames=7&format=png", kind="image/png").startswith(b"\x89PNG"):
            raise Broken("the frame is not a PNG")

    def _annotate(self, media: int) -> None:
        types = [each["id"] for each in self._ask("GET", f"MediaTypes/{self._project}")]
        box = {"name": "Box", "dtype": "box", "media_types": types}
        kind = self._ask("POST", f"LocalizationTypes/{self._project}", box)["id"]
        shape = {"media_id": media, "type": kind, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
        self._ask("POST", f"Localizations/{self._project}", [{**shape, "frame": n} for n in range(FRAMES)])
        if (count := self._ask("GET", f"LocalizationCount/{self._project}")) != FRAMES:
            raise Broken(f"{count} boxes are counted of {FRAMES}")


def _video() -> bytes:
    """A short grey video."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as file:
        stream = file.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for number in range(FRAMES):
            frame = av.VideoFrame(*SIZE, "yuv420p")
            frame.pts = number
            for plane in frame.planes:
                plane.update(bytes([128]) * plane.buffer_size)
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return out.getvalue()
