"""Comparisons of layers that wait to be made: a report, a consensus, a honeypot."""

import pytest

from chalicelib.resources.tasks import leases
from chalicelib.settings import override
from tests.service import join, new_user


def order_comparisons(owner, things, versions):
    """Order a report and a consensus of some layers."""
    body = {"versions": versions, "media_ids": [things["media"]]}
    for path, more in (("QualityReports", {}), ("ConsensusLayers", {"name": "agreed"})):
        assert owner.post(f"{path}/{things['project']}", {**body, **more}).status == 201


def hand_in_honeypot(owner, things, media, layer, reference):
    """A member hands in a honeypot, whose layer lacks what the reference has, and holds another one of the set."""
    place, editor = things["project"], new_user()
    join(editor, place, "Can Edit")
    box = {"media_id": media, "type": things["localization_type"], "version": reference}
    specs = [{**box, "frame": frame, "x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1} for frame in (0, 10)]
    assert owner.post(f"Localizations/{place}", specs).status == 201
    honeypots = {"reference": reference, "media_ids": [media], "least": 1}
    body = {"name": "known", "media_ids": [media], "frames": 10, "versions": [layer]}
    assert owner.post(f"Tasks/{place}", {**body, "honeypots": honeypots}).json["honeypots"] == 2
    first = editor.post(f"NextTask/{place}", {"name": "known"}).json
    with pytest.MonkeyPatch.context() as patch, override(score_spread=1):
        patch.setattr(leases, "SCORE_DELAY", 0)
        assert editor.patch(f"Task/{first['id']}", {"state": "to review"}).status == 200
    assert editor.post(f"NextTask/{place}", {"name": "known"}).status == 200
