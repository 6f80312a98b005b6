"""Job clusters: what is sent to Kubernetes, and how what it says is read."""

from __future__ import annotations

import base64

import pytest
import yaml

from chalicelib.resources.jobs.engines import kubernetes
from chalicelib.resources.jobs.engines.base import Refused
from chalicelib.resources.jobs.runs import Run
from tests.resources.jobs import clusters
from tests.workflows.test_workflows import FORK


def run(**more) -> Run:
    return Run(
        id="alg-1-proj-2-usr-3-name-a-x7k2p",
        uid="u",
        gid="g",
        project=2,
        organization=1,
        user=3,
        algorithm=1,
        algorithm_name="a",
        created="2026-01-02T03:04:05.678Z",
        **more,
    )


class TestWhatIsSent:
    def test_it_has_the_shape_of_a_workflow(self):
        sent = kubernetes.workflow_of(run(), yaml.safe_load(FORK), [("media_ids", "1,2"), ("uid", "u")])
        assert clusters.wrong_shape(sent) is None
        assert sent["metadata"]["name"] == run().id
        assert "generateName" not in sent["metadata"]
        assert sent["metadata"]["labels"]["limn-project"] == "2"

    def test_ours_win_over_the_manifests_own_parameters_and_numbers_become_text(self):
        document = yaml.safe_load(FORK)
        own = [{"name": "uid", "value": "mine"}, {"name": "n", "value": 3}, {"name": "later"}]
        document["spec"]["arguments"]["parameters"] = own
        sent = kubernetes.workflow_of(run(), document, [("uid", "u")])
        assert sent["spec"]["arguments"]["parameters"] == [
            {"name": "n", "value": "3"},
            {"name": "later"},
            {"name": "uid", "value": "u"},
        ]
        assert own[0]["value"] == "mine"

    def test_a_namespace_must_be_one(self):
        assert kubernetes.namespace_in({"metadata": {"namespace": "argo"}}) == "argo"
        with pytest.raises(Refused):
            kubernetes.namespace_in({"metadata": {"namespace": "../kube-system"}})


class TestWhatIsRead:
    def test_a_workflow_without_status_runs(self):
        assert kubernetes.standing_of({"metadata": {}}).phase == "Running"

    @pytest.mark.parametrize("status", [7, {"nodes": 7}, {"nodes": {"a": 7}}, {"compressedNodes": "!"}])
    def test_what_is_none_is_an_error_of_a_known_kind(self, status):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            kubernetes.standing_of({"status": status})

    def test_unknown_phases_and_times_do_no_harm(self):
        found = kubernetes.standing_of({"status": {"phase": "Dancing", "startedAt": "yesterday"}})
        assert (found.phase, found.start_time) == ("Running", None)


class TestCertificates:
    def test_pem_and_base64_of_it_are_read(self, tmp_path):
        ca, _ = clusters.certificates(tmp_path)
        for text in (ca, base64.b64encode(ca.encode()).decode()):
            assert kubernetes._context(text).cert_store_stats()["x509_ca"] == 1

    @pytest.mark.parametrize("text", ["nonsense", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----", "é"])
    def test_what_is_none_is_refused(self, text):
        with pytest.raises(Refused):
            kubernetes._context(text)
