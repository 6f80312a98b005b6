"""Job clusters: what is sent to Kubernetes, and how what it says is read."""

from __future__ import annotations

import base64
import functools
import json
import socket
import tempfile
import time
from pathlib import Path

import msgspec
import pytest
import yaml

from chalicelib.core.models.integrations import JobCluster
from chalicelib.resources.jobs.engines import kubernetes
from chalicelib.resources.jobs.engines.base import EngineUnavailable, Submission, WorkflowRefused
from chalicelib.resources.jobs.runs import Run
from chalicelib.settings import override
from chalicelib.storage import sealing
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
        assert clusters.wrong_shape(sent, is_strict=True) is None
        assert sent["metadata"]["name"] == run().id
        assert "generateName" not in sent["metadata"]
        assert sent["metadata"]["labels"]["limn-project"] == "2"

    def test_a_time_of_grace_becomes_a_patch_of_the_pod_and_other_unknown_members_pass(self):
        document = yaml.safe_load(FORK)
        document["spec"]["templates"][1] |= {"terminationGracePeriodSeconds": 40, "later": {"a": 1}}
        sent = kubernetes.workflow_of(run(), document, [])
        template = sent["spec"]["templates"][1]
        assert json.loads(template["podSpecPatch"]) == {"terminationGracePeriodSeconds": 40}
        assert "terminationGracePeriodSeconds" not in template
        assert template["later"] == {"a": 1}
        assert clusters.wrong_shape(sent) is None
        assert "later" in clusters.wrong_shape(sent, is_strict=True)

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
        with pytest.raises(WorkflowRefused):
            kubernetes.namespace_in({"metadata": {"namespace": "../kube-system"}})


class TestWhatIsRead:
    def test_a_workflow_without_status_runs(self):
        assert kubernetes.status_of({"metadata": {}}).phase == "Running"

    @pytest.mark.parametrize("status", [7, {"nodes": 7}, {"nodes": {"a": 7}}, {"compressedNodes": "!"}])
    def test_what_is_none_is_an_error_of_a_known_kind(self, status):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            kubernetes.status_of({"status": status})

    def test_unknown_phases_and_times_do_no_harm(self):
        found = kubernetes.status_of({"status": {"phase": "Dancing", "startedAt": "yesterday"}})
        assert (found.phase, found.start_time) == ("Running", None)


class TestCertificates:
    def test_pem_and_base64_of_it_are_read(self, tmp_path):
        ca, _ = clusters.certificates(tmp_path)
        for text in (ca, base64.b64encode(ca.encode()).decode()):
            assert kubernetes._context(text).cert_store_stats()["x509_ca"] == 1

    @pytest.mark.parametrize("text", ["nonsense", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----", "é"])
    def test_what_is_none_is_refused(self, text):
        with pytest.raises(WorkflowRefused):
            kubernetes._context(text)


class TestHosts:
    @pytest.mark.parametrize(
        "host",
        ["x\r\ny", "a b", "user@host", "host/path", "host?query", "http://host", "a:b:c:443", "host#x", "[zz]"],
    )
    def test_what_is_no_host_is_refused_when_it_is_registered(self, api, organization, host):
        said = api.post(f"JobClusters/{organization}", cluster_spec(host))
        assert said.status == 400
        assert "host" in said.message

    @pytest.mark.parametrize(
        "host",
        [
            *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "10.1.2.3", "169.254.169.254", "[::1]"),
            *("::1", "[::ffff:127.0.0.1]", "[fd00::1]", "0.0.0.0", "https://127.0.0.1", "100.64.0.1", "inside.example"),
        ],
    )
    def test_inside_the_operators_network_it_is_refused_in_every_form(self, api, organization, hosts, host):
        hosts["inside.example"] = "10.0.0.7"
        said = api.post(f"JobClusters/{organization}", cluster_spec(host))
        assert said.status == 400
        assert "no public address" in said.message

    def test_a_change_is_checked_as_a_registration_is(self, api, organization):
        number = api.made(f"JobClusters/{organization}", cluster_spec("k8s.example.org"))
        assert api.patch(f"JobCluster/{number}", cluster_spec("127.0.0.1")).status == 400

    def test_a_name_that_leads_inside_later_is_not_connected_to(self, monkeypatch):
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            listening.settimeout(0.2)
            port = listening.getsockname()[1]
            with pytest.raises(EngineUnavailable) as refused:
                engine("localhost", port).statuses([order()], time.monotonic() + 5)
            with pytest.raises(TimeoutError):
                listening.accept()
        assert "cannot be used at the moment" in str(refused.value)

    @pytest.mark.slow
    def test_open_closed_and_other_ports_are_told_by_the_same_sentence(self, tmp_path):
        sentences = set()
        with socket.socket() as listening, socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            ports = [listening.getsockname()[1], closed.getsockname()[1]]
            for allowed in ([], [f"https://127.0.0.1:{port}" for port in ports]):
                for port in ports:
                    with override(service_origins=allowed), pytest.raises(EngineUnavailable) as away:
                        engine("127.0.0.1", port).statuses([order()], time.monotonic() + 0.5)
                    sentences.add(str(away.value))
        assert sentences == {"The job cluster c cannot be used at the moment."}


def cluster_spec(host: str, port: int = 6443) -> dict:
    return {"name": "c", "host": host, "port": port, "token": "t", "cert": certificate()}


@functools.cache
def certificate() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return clusters.certificates(Path(folder))[0]


def engine(host: str, port: int) -> kubernetes.Cluster:
    secrets = msgspec.json.encode({"token": "t", "cert": certificate()})
    sealed = sealing.seal(secrets, kubernetes.PURPOSE)
    return kubernetes.Cluster(JobCluster(id=1, organization=1, name="c", host=host, port=port, sealed=sealed))


def order() -> Submission:
    return Submission(run=run(), document=dict, parameters=list, claim=lambda: (run(), False))
