"""The script that runs an annotator on the media of one job: a step of a workflow, with the standard library only.

`service.manifest` embeds its text in a workflow. Boxes that an earlier run of the same job wrote are deleted first, so
the script can be repeated after any failure.
"""
# ruff: noqa: T201, S310

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

TRIES = 4
MOST_AT_ONCE = 500


def ask(method: str, path: str, body: Any = None, **query: Any) -> Any:
    """The answer of the API, with retries if it is busy."""
    words = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
    url = f"{os.environ['HOST']}/rest/{path}" + (f"?{words}" if words else "")
    headers = {"Authorization": f"Token {os.environ['TOKEN']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    for left in reversed(range(TRIES)):
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")[:1000]
            if (error.code < 500 and error.code != 429) or not left:  # noqa: PLR2004
                raise SystemExit(f"{method} {path}: {error.code} {said}") from None
        except OSError as error:
            if not left:
                raise SystemExit(f"{method} {path}: {error}") from None
        time.sleep(2.0 ** (TRIES - left))
    return None


def main() -> None:
    """Annotate each media, and report how many are done."""
    numbers = [int(number) for number in os.environ["MEDIA"].split(",")]
    annotator, version, kind = (int(os.environ[name]) for name in ("ANNOTATOR", "VERSION", "TYPE"))
    start, every = int(os.environ["START"]), int(os.environ["EVERY"])
    for done, number in enumerate(numbers):
        media = ask("GET", f"Media/{number}")
        length = max(1, media.get("num_frames") or 1)
        stop = min(length, int(os.environ["STOP"] or length))
        project = media["project"]
        ask("DELETE", f"Localizations/{project}", media_id=number, version=version, type=kind)
        found: list[dict[str, Any]] = []
        for frame in range(start, stop, every):
            answer = ask("POST", f"Prediction/{number}", {"annotator": annotator, "frame": frame})
            found += [{**each, "media_id": number, "version": version} for each in answer["localizations"]]
        for first in range(0, len(found), MOST_AT_ONCE):
            ask("POST", f"Localizations/{project}", found[first : first + MOST_AT_ONCE])
        print(f"media {number}: {len(found)} boxes", flush=True)
        progress = {"done": done + 1, "total": len(numbers), "message": str(media.get("name"))[:200]}
        ask("PATCH", f"Job/{os.environ['JOB']}", {"progress": progress})


if __name__ == "__main__":
    main()
