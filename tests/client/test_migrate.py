"""Moving a project in: what came is equal, a second run continues, what is refused is named."""

from __future__ import annotations

import json

import pytest

from chalicelib.core.models.definitions import ResolutionConfig
from infra import client as limn_client
from infra.client import failures
from infra.client.configuration import Profile
from infra.client.migration import migration
from infra.client.migration.ledger import Ledger
from infra.client.migration.media import OURS
from infra.client.migration.move import Move, Options
from infra.client.migration.source import GentleClient
from tests.client.moving import ATTRIBUTES, fill, upload
from tests.resources.media.samples import media_type, transcode, video
from tests.service import join, new_project, new_user

MANIFEST = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
spec:
  entrypoint: main
  templates:
  - name: main
    container: {image: "alpine:3", command: ["true"]}
"""


@pytest.fixture
def world(service, api, project):
    with limn_client.Client(Profile(service, api.token, project)) as client:
        yield client, fill(client, api, project, 7)


@pytest.fixture
def there(api, organization):
    """An empty project of the same user."""
    return new_project(api)


@pytest.fixture
def mover(service, api, project, there, tmp_path):
    """Runs the migration."""

    def run(*, place="state.sqlite", **options):
        with (
            GentleClient(Profile(service, api.token)) as source,
            limn_client.Client(Profile(service, api.token)) as target,
        ):
            trial = options.pop("trial", False)
            ledger = Ledger(tmp_path / place)
            try:
                return migration.run(Move(source, project, target, there, ledger, Options(**options), is_trial=trial))
            finally:
                ledger.close()

    return run


def plain(rows, drop=()):
    """Rows without what names the project they are in, by elemental id."""
    own = {
        "id",
        "project",
        "type",
        "meta",
        "version",
        "media",
        "created_datetime",
        "modified_datetime",
        "parent",
        *drop,
    }
    own |= {"primary_section", "media_files", "localizations", "archive_status_date", "thumbnail_image", "path"}
    found = [{name: value for name, value in row.items() if name not in own} for row in rows]
    for row in found:
        row["attributes"] = {n: v for n, v in row["attributes"].items() if not n.startswith(OURS) and v is not None}
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.mark.slow
def test_a_project_arrives_as_it_is(world, mover, api, project, there):
    client, made = world
    report = mover(page=7)
    assert (report["refused"], migration.is_complete(report)) == ([], True), report
    assert report["counts"]["localization"]["source"] == len(made.boxes) + 1
    for kind in ("media", "localization", "state", "file"):
        left, right = (list(getattr(client.project(each), _plural(kind))()) for each in (project, there))
        assert plain(left) == plain(right), kind
    names = [{each["name"]: each for each in client.get_version_list(each)} for each in (project, there)]
    assert names[1]["Review"]["bases"] == [names[1]["Baseline"]["id"]]
    assert [each["path"].split(".", 1)[1] for each in client.project(there).leaves()] == [
        "Animal",
        "Animal.Fish",
        "Animal.Fish.Cod",
    ]
    # A layer hides what was deleted in it over its base.
    merged = [
        len(client.get_localization_list(number, version=[versions["Review"]["id"]], merge=1))
        for number, versions in zip((project, there), names, strict=True)
    ]
    assert merged[0] == merged[1]
    sections = {each["name"]: each for each in client.get_section_list(there)}
    assert sections["Deep"]["object_search"]["operations"][0]["value"] == sections["Dive 1"]["id"]
    media = {each["name"]: each["id"] for each in client.project(there).media()}
    assert len(client.get_media_list(there, section=sections["Deep"]["id"])) == 2
    assert sections["Best"]["media"] == [media["0.png"], media["1.png"]]
    [bookmark] = client.get_bookmark_list(there)
    assert bookmark["uri"] == f"/{there}/annotation/{media['1.png']}?frame=0"
    [box] = [each for each in client.get_localization_type_list(there) if each["name"] == "Box"]
    assert client.get_media_type_list(there)[0]["default_box"] == box["id"]
    old, new = (client.get_media(each, presigned=60)["media_files"] for each in (made.media[0], media["0.png"]))
    for role in ("image", "thumbnail"):
        assert client.read_bytes(old[role][0]["path"]) == client.read_bytes(new[role][0]["path"])
    [file] = client.project(there).files()
    [link] = client.get_download_info(there, {"keys": [file["path"]]})
    assert client.read_bytes(link["url"]) == b"a report"


def _plural(kind):
    return kind if kind == "media" else f"{kind}s"


@pytest.mark.slow
def test_a_second_run_brings_what_is_new_and_nothing_twice(world, mover, api, project, there):
    client, made = world
    mover()
    before = [
        list(getattr(client.project(there), _plural(kind))()) for kind in ("media", "localization", "state", "file")
    ]
    assert migration.is_complete(mover())
    after = [
        list(getattr(client.project(there), _plural(kind))()) for kind in ("media", "localization", "state", "file")
    ]
    assert before == after
    box = {"media_id": made.media[0], "frame": 0, "type": made.types.box, "x": 0, "y": 0, "width": 1, "height": 1}
    api.made(f"Localizations/{project}", [box])
    report = mover()
    assert report["counts"]["localization"]["target"] == len(before[1]) + 1
    assert migration.is_complete(report)


@pytest.mark.slow
@pytest.mark.usefixtures("world")
def test_counts_of_the_target_are_those_before_and_the_copies(mover, api, project, there):
    """What is there more or less than that is told: a copy that was deleted, or an object that no run made."""
    kind = api.made(f"FileTypes/{there}", {"name": "Minutes"})
    body = {"name": "own", "description": "", "type": kind}
    api.made(f"Files/{there}", body)
    report = mover()
    assert migration.is_complete(report), report["counts"]
    counted = report["counts"]["file"]
    assert (counted["before"], counted["copied"], counted["target"]) == (1, 1, 2)
    api.made(f"Files/{there}", body)
    report = mover()
    assert (report["counts"]["file"]["agrees"], report["counts"]["media"]["agrees"]) == (False, True)
    assert "3 here, 1 before, 1 compared; THEY DIFFER" in migration.summary(report)


class Died(Exception):
    """The process ends here."""


@pytest.mark.slow
def test_a_run_that_dies_anywhere_is_continued_without_duplicates(world, service, api, project, there, tmp_path):
    """Each run dies after some requests to the target, carried out and not heard of; a later one ends."""
    client, _ = world

    class Mortal(limn_client.Client):
        left = 0

        def _call(self, entry, *given):
            answer = super()._call(entry, *given)
            if not entry.is_read:
                self.left -= 1
                if self.left < 0:
                    raise Died
            return answer

    for lives in [*range(1, 60, 3), 10_000]:
        with GentleClient(Profile(service, api.token)) as source, Mortal(Profile(service, api.token)) as target:
            target.left = lives
            ledger = Ledger(tmp_path / "state.sqlite")
            try:
                report = migration.run(Move(source, project, target, there, ledger, Options(page=7, parallel=1)))
                break
            except Died:
                continue
            finally:
                ledger.close()
    assert lives < 10_000
    assert migration.is_complete(report), report
    for kind in ("media", "localization", "state", "file"):
        left, right = (list(getattr(client.project(each), _plural(kind))()) for each in (project, there))
        assert plain(left) == plain(right), kind


@pytest.mark.slow
def test_a_trial_writes_nothing_and_tells_who_is_unknown(world, mover, service, api, project, there):
    client, made = world
    other = new_user()
    join(other, project, "Can Edit")
    report = mover(trial=True, people={other.user.username: "nobody-of-this-name"})
    assert report["counts"]["localization"]["source"] == len(made.boxes) + 1
    assert any("nobody-of-this-name" in each["reason"] for each in report["remarks"])
    assert report["refused"] == []
    assert (client.get_media_list(there), client.get_section_list(there)) == ([], [])
    assert [each["name"] for each in client.get_localization_type_list(there)] == []


@pytest.mark.slow
def test_authors_are_named_by_the_mapping_file(world, mover, api, project, there):
    client, made = world
    ann, bob = new_user(), new_user()
    join(ann, project, "Can Edit")
    box = {"media_id": made.media[0], "frame": 0, "type": made.types.box, "x": 0, "y": 0, "width": 1, "height": 1}
    element = "6f2b1c9e-2f0e-4c57-9c39-0a4d6f1f8a11"
    assert ann.post(f"Localizations/{project}", [{**box, "elemental_id": element}]).status == 201
    mover(people={ann.user.username: bob.user.username}, members=True)
    [copy] = client.get_localization_list_by_id(there, {"elemental_ids": [element]})
    assert copy["created_by"] == bob.user.id
    levels = {each["user"]: each["permission"] for each in client.get_membership_list(there)}
    assert levels[bob.user.id] == "Can Edit"


@pytest.mark.slow
def test_what_the_target_refuses_is_named_and_comes_when_the_cause_is_gone(world, mover, api, project, there):
    """The target has a type of that name whose attribute takes less; boxes that keep to it come."""
    client, made = world
    narrow = [{**each, **({"maximum": 0.5} if each["name"] == "Depth" else {})} for each in ATTRIBUTES]
    picture = api.made(f"MediaTypes/{there}", {"name": "Picture", "dtype": "image", "attribute_types": ATTRIBUTES})
    body = {"name": "Box", "dtype": "box", "media_types": [picture], "attribute_types": narrow}
    api.made(f"LocalizationTypes/{there}", body)
    report = mover()
    deep = [
        each["id"]
        for each in client.project(project).localizations(type=made.types.box)
        if (each["attributes"].get("Depth") or 0) > 0.5
    ]
    refused = {each["id"]: each["reason"] for each in report["refused"] if each["kind"] == "localization"}
    assert sorted(refused) == sorted(deep) != []
    assert all("Depth" in reason for reason in refused.values())
    assert not migration.is_complete(report)
    [type_] = [each for each in client.get_localization_type_list(there) if each["name"] == "Box"]
    change = {
        "entity_type": "LocalizationType",
        "current_name": "Depth",
        "attribute_type_update": {"dtype": "float", "maximum": 1.0},
    }
    assert api.patch(f"AttributeType/{type_['id']}", change).status == 200
    assert migration.is_complete(mover())


@pytest.mark.slow
def test_the_command_reports_and_keeps_its_state(
    world, limn, service, api, project, there, tmp_path, monkeypatch, config
):
    from infra.client import configuration

    profile = Profile(service, api.token, there)
    configuration.write(configuration.Configuration("default", {"default": profile}))
    words = ("migrate", "--from", service, "--from-project", project, "--rate", 0)
    trial = limn(*words, "--trial")
    assert (trial.status, "32" in trial.out) == (0, False), trial.err
    assert "localization:  31 to copy" in trial.out
    assert not list(config.parent.glob("migrations/*"))
    ran = limn(*words, "--report", tmp_path / "report.json")
    assert ran.status == 0, ran.err + ran.out
    assert "localization:  31 there, 31 copied, 0 refused; 31 here, 0 before" in ran.out
    assert json.loads((tmp_path / "report.json").read_text())["counts"]["media"]["agrees"]
    same = limn("migrate", "--from", service, "--from-project", there)
    assert same.status == failures.USAGE
    assert "the same project" in same.err


def test_a_source_is_asked_at_its_rate(service, api):
    import time

    with GentleClient(Profile(service, api.token), rate=50) as client:
        began = time.monotonic()
        for _ in range(6):
            client.whoami()
        assert time.monotonic() - began >= 5 / 50
        assert client.requests == 6


def test_full_control_is_needed_to_name_authors(service, api, project, tmp_path):
    there = new_project(api)
    other = new_user()
    join(other, there, "Can Transfer")
    ledger = Ledger(tmp_path / "state.sqlite")
    with (
        GentleClient(Profile(service, api.token)) as source,
        limn_client.Client(Profile(service, other.token)) as target,
        pytest.raises(limn_client.Failure, match="Full Control"),
    ):
        migration.run(Move(source, project, target, there, ledger, Options()))
    ledger.close()


@pytest.mark.slow
def test_videos_have_the_same_frames_and_groups_name_the_copies(service, api, project, there, mover):
    type_ = media_type(project, streaming_config=[ResolutionConfig(resolution=32)])
    film = transcode(api, project, type_, video(30, 96, 64)).json["media_id"]
    api.drain()
    multi = media_type(project, "multi")
    both = api.made(f"Medias/{project}", {"type": multi, "name": "both", "md5": ""})
    assert api.patch(f"Media/{both}", {"multi": {"ids": [film], "layout": [1, 1]}}).status == 200
    report = mover()
    assert migration.is_complete(report), report
    with limn_client.Client(Profile(service, api.token)) as client:
        media = {each["name"]: each for each in client.project(there).media()}
        [shown] = media["both"]["media_files"]["ids"]
        copy = client.get_media(shown)
        assert (copy["num_frames"], copy["project"]) == (30, there)
        for frame in (0, 11, 29):
            left, right = (api.get(f"GetFrame/{each}", frames=frame, format="png") for each in (film, shown))
            assert (left.status, left.body) == (200, right.body)


@pytest.mark.slow
def test_algorithms_come_with_their_manifests(service, api, project, mover):
    with limn_client.Client(Profile(service, api.token)) as client:
        url = upload(client, project, "count.yaml", MANIFEST.encode())
        saved = client.save_algorithm_manifest(project, {"name": "count.yaml", "upload_url": url})["url"]
        body = {"name": f"count {project}", "user": api.user.id, "manifest": saved, "files_per_job": 2}
        assert api.post(f"Algorithms/{project}", body).status == 201
        # Names of algorithms are unique in a service, so in this one the copy is refused, after its manifest was saved.
        [refused] = [each for each in mover()["refused"] if each["kind"] == "algorithm"]
        assert "name" in refused["reason"]


@pytest.mark.slow
def test_an_older_generation_answers_fewer_members_and_pages_by_position(world, service, api, project, there, tmp_path):
    """Its rows have no elemental ids and no marks, and its media do not begin after an id."""
    _client, made = world

    class Older(GentleClient):
        def _call(self, entry, path, query, body):
            if entry.name == "get_media_list":
                if query.pop("after", None) is not None:
                    raise limn_client.Failure("after: it is a name.", failures.REFUSED)
                query.pop("archive_lifecycle", None)
            rows = super()._call(entry, path, query, body)
            lost = ("elemental_id", "mark", "parent", "variant_deleted", "master_section", "refinements", "skeleton")
            for row in (
                rows if isinstance(rows, list) and entry.name not in ("get_membership_list", "get_leaf_list") else ()
            ):
                for name in lost:
                    row.pop(name, None)
            return rows

    for _ in range(2):
        with Older(Profile(service, api.token)) as source, limn_client.Client(Profile(service, api.token)) as target:
            ledger = Ledger(tmp_path / "state.sqlite")
            report = migration.run(Move(source, project, target, there, ledger, Options(page=7)))
            ledger.close()
        assert report["refused"] == []
        counts = {kind: each["target"] for kind, each in report["counts"].items()}
        assert counts == {"media": 3, "localization": len(made.boxes) + 2, "state": 1, "leaf": 3, "file": 1}


@pytest.mark.slow
def test_files_are_referred_to_where_they_lie(world, mover, api, organization, project, there):
    client, made = world
    base = "https://media.example.org"
    assert api.patch(f"Organization/{organization}", {"allowed_origins": [base]}).status == 200
    mover(files="refer", refer_to=base)
    key = client.get_media(made.media[0])["media_files"]["image"][0]["path"]
    copies = {each["name"]: each for each in client.project(there).media()}
    image = copies["0.png"]["media_files"]["image"][0]
    assert (image["path"], image["reference_only"]) == (f"{base}/{key}", 1)
