"""Archives of imports, and the requests that import them."""

from __future__ import annotations

import io
import json
import zipfile

from chalicelib.core.keys import object_keys
from chalicelib.storage.objects import objects


def zipped(files):
    """A zip of files by name: bytes, text, or JSON."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            text = body if isinstance(body, bytes | str) else json.dumps(body)
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), text)
    return out.getvalue()


def uploaded(api, project, body, name="dataset.zip"):
    """The key of an upload of a user."""
    organization = api.get(f"Project/{project}").json["organization"]
    key = object_keys.upload_key(organization, project, api.user.id, name, "2026-01-01")
    objects.write(key, body)
    return key.path


def imported(api, project, files, format_, **more):
    """The import of an archive after all its messages were worked off."""
    key = uploaded(api, project, files if isinstance(files, bytes) else zipped(files))
    said = api.post(f"Imports/{project}", {"format": format_, "key": key, **more})
    assert said.status == 201, said.body
    api.drain()
    return api.get(f"Import/{said.json['uid']}").json
