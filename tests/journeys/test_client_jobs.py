"""Algorithms as the published client uses them, on the local stack as it comes; and a step that attacks it."""

from __future__ import annotations

import time
import uuid
from types import SimpleNamespace

import pytest
import requests
import tator
import yaml
from tator.openapi.tator_openapi.exceptions import ApiException

from tests.infra.local.steps import manifest, python, shell

pytestmark = pytest.mark.slow

SECONDS = 120


@pytest.fixture(scope="module")
def stack(shared_stack):
    return shared_stack


@pytest.fixture(scope="module")
def world(stack):
    """The client, and a project with a type of videos and two of them."""
    api = tator.get_api(host=stack.place["url"], token=stack.place["token"])
    organization = api.create_organization(organization_spec={"name": uuid.uuid4().hex}).id
    project = api.create_project(project_spec={"name": "p", "organization": organization}).id
    counter = {"name": "test_int", "dtype": "int", "default": 42}
    kind = api.create_media_type(
        project, media_type_spec={"name": "v", "dtype": "video", "attribute_types": [counter]}
    ).id
    specs = [{"type": kind, "name": f"{n}.mp4", "section": "s", "md5": "", "attributes": {}} for n in range(2)]
    media = [api.create_media_list(project, body=[spec]).id[0] for spec in specs]
    return SimpleNamespace(api=api, organization=organization, project=project, media=media, user=api.whoami().id)


def url_of(world, data):
    """A URL of the service's own storage."""
    upload = world.api.get_upload_info(world.project)
    requests.put(upload.urls[0], data=data, timeout=30).raise_for_status()
    return world.api.get_download_info(world.project, download_info_spec={"keys": [upload.key]})[0].url


def register(world, text="", **more):
    """Register an algorithm with a manifest; its name."""
    if text:
        saving = {"name": "m.yaml", "upload_url": url_of(world, text.encode())}
        more["manifest"] = world.api.save_algorithm_manifest(world.project, algorithm_manifest_spec=saving).url
    name = f"Algorithm {uuid.uuid4()}"
    spec = {"name": name, "user": world.user, "files_per_job": 10, "categories": [], "parameters": [], **more}
    world.api.register_algorithm(world.project, algorithm_spec=spec)
    return name


def launch(world, name, media, **more):
    spec = {"algorithm_name": name, "media_ids": media, **more}
    return world.api.create_job_list(world.project, job_spec=spec)


def ended(world, uid):
    """A job once it has ended, as the client waits for it."""
    end = time.monotonic() + SECONDS
    while (job := world.api.get_job(uid)).status not in ("Succeeded", "Failed", "Error"):
        assert time.monotonic() < end, job
        time.sleep(0.3)
    return job


def lines_of(stack, uid):
    headers = {"Authorization": f"Token {stack.place['token']}"}
    answer = requests.get(f"{stack.place['url']}/rest/JobLog/{uid}?lines=1000", headers=headers, timeout=30)
    answer.raise_for_status()
    return answer.json()["lines"]


COUNT_UP = """
import os, sys, tator
url, token, project, media = sys.argv[1:]
api = tator.get_api(host=url.removesuffix("/rest"), token=token)
for number in map(int, media.split(",")):
    value = api.get_media(number).attributes["test_int"]
    api.update_media(number, media_update={"attributes": {"test_int": value + 1}})
"""


def test_a_launch_executes_the_manifest_with_the_parameters_of_the_job(world):
    words = [f"{{{{workflow.parameters.{name}}}}}" for name in ("rest_url", "rest_token", "project_id", "media_ids")]
    step = {
        "name": "main",
        "container": {"image": "org/any:1", "command": ["python3"], "args": ["-c", COUNT_UP, *words]},
    }
    name = register(world, manifest(step))
    answer = launch(world, name, world.media)
    assert answer.message == f"Algorithm {name} started successfully!"
    [uid] = answer.id
    assert ended(world, uid).status == "Succeeded"
    assert [world.api.get_media(number).attributes["test_int"] for number in world.media] == [43, 43]
    assert launch(world, name, []).id == []
    with pytest.raises(ApiException, match="404"):
        launch(world, "Unknown", world.media)


def test_jobs_are_listed_by_group_and_deleted_one_by_one_by_group_and_all(world):
    name = register(world, manifest(shell("main", "sleep 60")))
    uids = [launch(world, name, world.media).id[0] for _ in range(10)]
    api, project = world.api, world.project
    first, second = (api.get_job(uid) for uid in uids[:2])
    assert (first.uid, first.project, first.user, first.media_ids) == (uids[0], project, world.user, world.media)
    api.delete_job(first.uid)
    with pytest.raises(ApiException, match="404"):
        api.get_job(first.uid)
    assert [job.uid for job in api.get_job_list(project, gid=second.gid)] == [second.uid]
    api.delete_job_list(project, gid=second.gid)
    assert api.get_job_list(project, gid=second.gid) == []
    assert {job.uid for job in api.get_job_list(project)} >= set(uids[2:])
    assert len(api.get_job_list(project, media_id=[world.media[0]])) >= 8
    api.delete_job_list(project)
    assert api.get_job_list(project) == []


def test_algorithms_and_applets_are_rendered_from_hosted_templates(world):
    api = world.api
    document = yaml.safe_load(manifest(python("main", "print('MESSAGE', '{{workflow.parameters.gid}}')")))
    source = document["spec"]["templates"][0]["script"]
    source["source"] = (
        source["source"]
        .replace("MESSAGE", "{{ message }}")
        .replace("{{workflow.parameters.gid}}", "{% raw %}{{workflow.parameters.gid}}{% endraw %}")
    )
    spec = {
        "name": "echo", "url": url_of(world, yaml.safe_dump(document).encode()),
        "tparams": [{"name": "message", "value": "hi"}],
    }  # fmt: skip
    template = api.create_hosted_template(world.organization, hosted_template_spec=spec).id
    assert [found.name for found in api.get_hosted_template_list(world.organization)] == ["echo"]
    name = register(world, template=template, tparams=[{"name": "message", "value": "ho"}])
    [algorithm] = [found for found in api.get_algorithm_list(world.project) if found.name == name]
    assert "print('ho'" in api.get_algorithm(algorithm.id).rendered
    [uid] = launch(world, name, world.media).id
    assert ended(world, uid).status == "Succeeded"
    api.update_algorithm(
        algorithm.id, algorithm_update_spec={"name": f"{name} 2", "user": world.user, "files_per_job": 1}
    )
    api.delete_algorithm(algorithm.id)

    page = {"name": "page", "url": url_of(world, b"<p>{{ word }}</p>"), "tparams": []}
    other = api.create_hosted_template(world.organization, hosted_template_spec=page).id
    word = [{"name": "word", "value": "shark"}]
    made = {"name": "a", "description": "", "categories": [], "template": other, "tparams": word}
    applet = api.register_applet(world.project, applet_spec=made).id
    assert api.get_applet(applet).rendered == "<p>shark</p>"
    saved = api.save_generic_file(
        world.project, generic_file_spec={"name": "a.html", "upload_url": url_of(world, b"<p>whale</p>")}
    ).url
    plain = api.register_applet(
        world.project, applet_spec={"name": "b", "description": "", "html_file": saved, "categories": []}
    ).id
    assert api.get_applet_list(world.project)[-1].id == plain
    api.update_applet(plain, applet_spec={"name": "c", "description": "", "html_file": saved})
    assert api.get_applet(plain).name == "c"
    for number in (applet, plain):
        api.delete_applet(number)
    for number in (template, other):
        api.delete_hosted_template(number)
    assert api.get_hosted_template_list(world.organization) == []


def test_job_clusters_are_kept_with_their_secrets_for_administrators(world):
    api = world.api
    spec = {"name": "c", "host": "cluster.example", "port": 4000, "token": "t", "cert": "pem"}
    number = api.create_job_cluster(world.organization, job_cluster_spec=spec).id
    found = api.get_job_cluster(number)
    assert {name: getattr(found, name) for name in spec} == spec
    changed = api.update_job_cluster(number, job_cluster_spec={**spec, "name": "d"})
    assert changed.message == f"Job Cluster {number} successfully updated!"
    assert [each.name for each in api.get_job_cluster_list(world.organization)] == ["d"]
    assert api.delete_job_cluster(number).message == "Job cluster deleted successfully!"
    with pytest.raises(ApiException):
        api.get_job_cluster(number)


ATTACK = """
import glob, json, os, sys, urllib.error, urllib.request
url, s3, home, token, other = sys.argv[1:]

def attempt(what, do):
    try:
        print(what, "GOT", do())
    except (OSError, ValueError, IndexError) as error:
        print(what, "refused", type(error).__name__, getattr(error, "code", ""))

def ask(method, path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    with urllib.request.urlopen(urllib.request.Request(url + path, data, headers, method=method), timeout=30) as said:
        return said.read()[:2000]

def ask_s3(key, secret):
    import boto3
    from botocore.exceptions import ClientError
    keys = {"aws_access_key_id": key, "aws_secret_access_key": secret}
    client = boto3.client("s3", endpoint_url=s3, region_name="us-east-1", **keys)
    try:
        return [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]
    except ClientError as error:
        raise OSError(str(error))

mine = {"Authorization": "Token " + token}
attempt("token file", lambda: open(home + "/.limn/local.json").read())
attempt("step of another", lambda: glob.glob(home + "/.limn/jobs/logs/*")[0])
attempt("s3 key", lambda: open(home + "/.limn/data/signing-key").read())
attempt("rows", lambda: open(home + "/.limn/data/limn.sqlite", "rb").read(16))
attempt("environments", lambda: [open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/environ")][0])
attempt("parent", lambda: open("/proc/%d/environ" % os.getppid(), "rb").read())
attempt("outbox", lambda: ask("GET", "/outbox?format=json"))
attempt("operator page", lambda: ask("POST", "/local/admin", {"key": "", "command": ["users"]}))
attempt("well-known key", lambda: ask_s3("AKIALIMNLOCALSTACK00", "limn-local-stack-secret-key-is-no-secret"))
attempt("token of another", lambda: ask("POST", "/rest/Token", {"username": other, "password": ""}, **mine))
attempt("reset", lambda: ask("PATCH", "/rest/User/1", {"password": "taken-over-1", "reset_token": "x"}))
attempt("other jobs", lambda: glob.glob(home + "/.limn/jobs/*/*")[0])
print("own", json.loads(ask("GET", "/rest/User/GetCurrent", **mine))["username"])
"""


def test_a_step_gets_no_token_but_that_of_its_launcher(stack, world):
    """It looks where tokens, keys and mails of others are: files, processes, the outbox, the S3 port, the API."""
    requests.post(f"{stack.place['url']}/rest/PasswordReset", json={"email": "admin@example.org"}, timeout=30)
    values = [stack.place["url"], stack.place["s3_url"], str(stack.home), "{{workflow.parameters.rest_token}}", "admin"]
    step = {"name": "main", "container": {"image": "a", "command": ["python3"], "args": ["-c", ATTACK, *values]}}
    [uid] = launch(world, register(world, manifest(step)), world.media).id
    assert ended(world, uid).status == "Succeeded", lines_of(stack, uid)
    lines = lines_of(stack, uid)
    assert [line for line in lines if " GOT " in line] == []
    assert len([line for line in lines if " refused " in line]) == 12, lines
    assert "own admin" in lines
    outbox = requests.get(f"{stack.place['outbox_url']}&format=json", timeout=30)
    assert outbox.status_code == 200  # the person who started the stack reads it
